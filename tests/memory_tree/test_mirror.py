"""The forms of the mirror: any text comes back, any name becomes a file, no line of a foreign text is lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenure.errors import UserError
from tenure.memory_tree.entries import ENTRY_TYPES, Entry, one_line
from tenure.memory_tree.flushing import flush_due
from tenure.memory_tree.frontmatter import split_frontmatter, write_frontmatter
from tenure.memory_tree.mirror import day_file, escaped, named_file, split_kept, unescaped
from tenure.memory_tree.mirror_names import LONGEST, file_names
from tenure.memory_tree.mirror_reading import read_day_file
from tenure.memory_tree.notes import cut_notes

DAY = "2026-03-15"
ANY = st.text(st.characters(), max_size=60)
FORGED = st.sampled_from(
    [
        "---\ntype: raw\n---",
        "## 12:00 <!-- tenure: {} -->\n> x",
        "> quoted\n>\n>> more",
        "```\n# a\n```",
        "a\r\nb\rc\u2028d\x85e\x0cf",
        "back\\slash \\u0041 \\\\",
        " leading\n\n\ntrailing \n",
        '<!-- --> {"id": 1}',
        "\ufeffbom",
    ]
)


@st.composite
def entries_of_a_day(draw: st.DrawFn) -> list[Entry]:
    names = draw(st.lists(st.text(st.characters(), min_size=1, max_size=20), unique=True, max_size=6))
    return [
        Entry(
            id=name,
            at=datetime(2026, 3, 15, draw(st.integers(0, 23)), tzinfo=UTC).isoformat(timespec="microseconds"),
            day=DAY,
            text=draw(st.one_of(ANY, FORGED)),
            type=draw(st.sampled_from(ENTRY_TYPES)),
            topic=draw(st.one_of(st.just(""), ANY.map(one_line))),
            session=draw(st.one_of(st.just(""), ANY)),
            role=draw(st.sampled_from(["", "user", "a -->\nb"])),
            done=draw(st.booleans()),
            event=draw(st.one_of(st.just(""), ANY)),
        )
        for name in names
    ]


@given(entries=entries_of_a_day(), windows=st.booleans())
@settings(max_examples=80)
def test_the_entries_of_a_day_come_back_as_they_were(entries: list[Entry], windows: bool) -> None:
    text = day_file(DAY, entries)
    if windows:
        # As a checkout with other line ends leaves it, once it is read.
        text = text.replace("\n", "\r\n").replace("\r\n", "\n")
    read = read_day_file(text, DAY)
    assert [one.entry for one in read.quotes] == sorted(entries, key=lambda one: one.order)
    assert all(one.intact for one in read.quotes)
    assert (read.added, read.problems) == ((), ())


@given(
    entries=entries_of_a_day(),
    added=st.lists(st.sampled_from(["We moved to NATS.", "- call Ada", "> said so", "# a heading\n\ntext"]), max_size=3),
)
@settings(max_examples=60)
def test_what_a_person_adds_anywhere_is_read_beside_the_entries(entries: list[Entry], added: list[str]) -> None:
    text = day_file(DAY, entries) + "".join(f"\n{one}\n" for one in added)
    read = read_day_file(text, DAY)
    assert [one.entry for one in read.quotes] == sorted(entries, key=lambda one: one.order)
    said = "\n".join(read.added)
    assert all(line in said for one in added for line in one.split("\n"))


def test_lines_right_below_a_quote_are_new_and_a_changed_quote_is_seen() -> None:
    entry = Entry(id="a", at="2026-03-15T12:00:00.000000+00:00", day=DAY, text="one\ntwo")
    read = read_day_file(day_file(DAY, [entry]) + "> three\nfour\n", DAY)
    assert (read.quotes[0].entry, read.added) == (entry, ("> three\nfour".replace("> ", ""),))
    changed = read_day_file(day_file(DAY, [entry]).replace("> two", "> 2"), DAY)
    assert (changed.quotes[0].intact, changed.quotes[0].entry.text) == (False, "one\n2")


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("{broken", "no JSON"),
        ('{"at": "x"}', "no id"),
        ('{"id": "a", "at": "2026-01-01T00:00:00"}', "zone"),
        ('{"id": "a", "at": "soon"}', "no moment"),
    ],
)
def test_a_heading_with_a_broken_comment_is_told_and_its_text_is_kept(comment: str, why: str) -> None:
    comment = comment if comment.endswith("}") else f"{comment}}}"
    read = read_day_file(f"---\ntype: raw\n---\n\n## 12:00 <!-- tenure: {comment} -->\n> kept\n", DAY)
    assert why in read.problems[0]
    assert "> kept" in read.added[0]


@given(ANY)
@settings(max_examples=60)
@example("\\u000d\\\\\r")
def test_escapes_are_taken_back(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert not re.search(r"[\r\x85\u2028\x00-\x08]", escaped(text))


VALUES = st.dictionaries(
    st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.one_of(ANY, st.integers(0, 10**9), st.lists(ANY, max_size=3)), min_size=1, max_size=4
)


@given(VALUES, ANY)
@settings(max_examples=60)
@example({"a": ["A", ","]}, "")
@example({"a": ["A", "", 'B", C', "\\", "]"], "b": [",", "A"]}, "")
def test_frontmatter_comes_back(values: dict[str, object], body: str) -> None:
    read, rest = split_frontmatter(write_frontmatter(values) + body)  # type: ignore[arg-type]
    assert rest == body
    assert read == {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


@given(VALUES)
@settings(max_examples=60)
def test_frontmatter_is_yaml(values: dict[str, object]) -> None:
    yaml = pytest.importorskip("yaml")
    text = write_frontmatter(values)  # type: ignore[arg-type]
    assert yaml.safe_load(text.removeprefix("---\n").removesuffix("---\n\n")) == values


@given(ANY, st.booleans())
@settings(max_examples=40)
def test_a_text_of_knowledge_comes_back_whether_or_not_entries_are_quoted_below_it(text: str, quoted: bool) -> None:
    kept = [Entry(id="a", at="2026-03-15T12:00:00.000000+00:00", day=DAY, text="never\n\ndeploy")] if quoted else []
    assert split_kept(split_frontmatter(named_file("knowledge", "x", text, kept))[1])[0] == text


NAMES = [
    "..",
    "../../etc/passwd",
    "a/b",
    "a\\b",
    "CON",
    "con",
    "nul.txt",
    "x" * 300,
    "Release",
    "release",
    "名前",
    "é",
    "e\u0301",
    ".hidden",
    "",
    "a:b",
    "tail. ",
    "\x00",
    "ﬁne",
    "fine",
]


@given(st.lists(st.one_of(st.sampled_from(NAMES), ANY), max_size=12))
@settings(max_examples=80)
def test_every_name_has_a_file_of_its_own_that_every_file_system_takes(names: list[str]) -> None:
    files = file_names(names)
    assert set(files) == set(names)
    assert len({one.casefold() for one in files.values()}) == len(set(names))
    for file in files.values():
        assert len(file.encode()) <= LONGEST + 20
        assert not re.search(r'[/\\:*?"<>|\x00-\x1f]', file)
        assert not file.startswith(".")
        assert re.match(r"(con|nul|prn|aux)\.", file, re.IGNORECASE) is None


def test_plain_names_stand_as_they_are_and_do_not_depend_on_others() -> None:
    assert file_names(["releases", "名前", "tax return"]) == {"releases": "releases.md", "名前": "名前.md", "tax return": "tax return.md"}
    assert file_names(["Release", "release"])["release"] != "release.md"


NOTES = """# 2026-03-15

Intro without a heading.

## Session — 2026-03-15 10:11:12

**User:** How do we ship?

On Fridays?
**Assistant:** Never on Fridays.

## Key Decisions
Decided:
- NATS, as we run it already
  - not Kafka
* [x] ask Ada
1. first
2. second

```python
# not a heading

- not an item
```

A paragraph
of two lines.

---
## Empty heading
### Below it
"""


def test_a_foreign_day_is_cut_into_turns_items_paragraphs_and_blocks() -> None:
    pieces = cut_notes(NOTES, day=DAY)
    assert [(one.role, one.text) for one in pieces] == [
        ("", "Intro without a heading."),
        ("user", "How do we ship?\n\nOn Fridays?"),
        ("assistant", "Never on Fridays."),
        ("", "## Key Decisions\nDecided:\n- NATS, as we run it already\n  - not Kafka"),
        ("", "[x] ask Ada"),
        ("", "1. first"),
        ("", "2. second"),
        ("", "```python\n# not a heading\n\n- not an item\n```"),
        ("", "A paragraph\nof two lines."),
        ("", "## Empty heading\n### Below it"),
    ]
    assert [one.time for one in pieces[:4]] == ["", "10:11:12", "10:11:12", ""]
    assert pieces[1].title == "Session — 2026-03-15 10:11:12"


LINES = st.sampled_from(
    [
        "",
        "# one",
        "## Session 3",
        "## Session 4: fix login",
        "- item",
        "  under",
        "* [ ] open",
        "1. first",
        "```",
        "User: hello",
        "**AI:** yes",
        "plain words",
        "---",
        "> said",
        "| a | b |",
        "Decided:",
        "\tcode",
    ]
)


@given(st.lists(st.one_of(LINES, st.text(max_size=12).filter(lambda one: "\n" not in one)), max_size=25))
@settings(max_examples=120)
@example(["## Session 3", "## Session 4"])
def test_no_word_of_a_foreign_text_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    pieces = cut_notes(text)
    held = " ".join(f"{one.title} {one.text} {one.role}" for one in pieces).casefold()
    roles = {"user", "ai", "human", "system", "assistant"}
    assert all(word in held for word in set(re.findall(r"\w+", text.casefold())) - roles)


def test_a_flush_is_due_at_a_decision_at_twenty_messages_and_at_four_fifths_of_the_window() -> None:
    assert not flush_due(messages=19, window_used=0.79).due
    assert flush_due(messages=20).due
    assert flush_due(window_used=0.8).due
    assert flush_due(decision=True).due
    assert "19 of 20 messages" in flush_due(messages=19).why
    with pytest.raises(UserError, match="share from 0 to 1"):
        flush_due(window_used=80)
    with pytest.raises(UserError, match="from 0"):
        flush_due(messages=-1)
