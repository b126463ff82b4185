"""Playbooks of other tools, read whole or refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Evidence, Merge, Pin, Playbook, Retire, Tally, Update, apply, dumps
from tenure.errors import UnreadableInput
from tenure.playbook.delta import Operation
from tenure.playbook.foreign import lesson_operations, read_foreign
from tests.strategies import History, any_texts, fold, histories


def adds(text: str) -> list[tuple[str, str]]:
    return [(operation.section, operation.text) for operation in read_foreign(text).operations if isinstance(operation, Add)]


# -- exchange and JSON forms ------------------------------------------------------------------------


def test_the_real_playbook_of_appworld_goes_in_whole_and_comes_out_unchanged(shared_data: Path) -> None:
    file = shared_data / "playbooks" / "appworld_online_trained_playbook.txt"
    if not file.exists():
        pytest.skip(f"needs {file.name}")
    text = file.read_bytes().decode("utf-8")
    found = read_foreign(text)
    assert (found.form, found.rejections) == ("ace", ())
    applied = apply(Playbook(), Delta("01", found.operations))
    assert {receipt.status for receipt in applied.receipts} == {"applied"}
    lines = [line for line in text.split("\n") if line.startswith("[")]
    assert len(applied.playbook) == len(lines) == 359
    assert {f"[{lesson.id}] {lesson.text}" for lesson in applied.playbook} == set(lines)
    assert len({lesson.text for lesson in applied.playbook}) == 337
    again = fold(Playbook(), [Delta("01", read_foreign(dumps(applied.playbook, "ace")).operations)])
    assert {f"[{lesson.id}] {lesson.text}" for lesson in again} == set(lines)


def test_a_playbook_without_headings_is_told_from_json() -> None:
    assert read_foreign("[ctx-00001] Always verify.\n[ctx-00002] helpful=1 harmful=0 :: Sum last.").operations == (
        Add("", "Always verify.", id="ctx-00001"),
        Add("", "Sum last.", id="ctx-00002"),
        Tally("ctx-00002", helpful=1),
    )


def test_lines_that_belong_to_no_lesson_are_named() -> None:
    found = read_foreign("My playbook\n## S\n[ctx-00001] Always verify.")
    assert found.rejections == ("line 1 belongs to no lesson: 'My playbook'",)


@pytest.mark.parametrize("wrap", [lambda entries: {"reasoning": "why", "operations": entries}, lambda entries: entries])
def test_ace_operations_are_read_one_by_one(wrap: Any) -> None:
    entries = [
        {"type": "ADD", "section": "sql", "content": 'quote "order"'},
        {"op": "UPDATE", "bullet_id": "sql-00001", "content": "new"},
        {"type": "TAG", "bullet_id": "sql-00001", "metadata": {"helpful": 1}},
        {"op": "FLY"},
        "no object",
        {"op": "DELETE", "id": "sql-00002"},
    ]
    found = read_foreign(json.dumps(wrap(entries)))
    assert found.form == "operations"
    assert found.operations == (
        Add("sql", 'quote "order"'),
        Update("sql-00001", text="new"),
        Tally("sql-00001", helpful=1),
        Retire("sql-00002"),
    )
    assert [said.partition(":")[0] for said in found.rejections] == ["operation 3", "operation 4"]


def test_entries_to_add_update_and_delete_are_read() -> None:
    held = {
        "new_entries": [{"section": "s", "content": "new"}, "bare text", 7],
        "update_entries": [{"id": "s-00001", "content": "changed"}, {"content": "which?"}],
        "delete_entries": ["s-00002", {"id": "s-00003", "reason": "wrong"}, None],
    }
    found = read_foreign(json.dumps(held))
    assert found.form == "entries"
    assert found.operations == (
        Add("s", "new"),
        Add("", "bare text"),
        Update("s-00001", text="changed"),
        Retire("s-00002", "deleted by the imported file"),
        Retire("s-00003", "wrong"),
    )
    assert len(found.rejections) == 3


@pytest.mark.parametrize("other", [None, 5, "text", {"a": 1}])
def test_entry_lists_that_are_no_lists_are_left_out(other: object) -> None:
    assert read_foreign(json.dumps({"new_entries": ["text"], "update_entries": other, "delete_entries": other})).operations == (
        Add("", "text"),
    )


FIRST_SKILL = {
    "section": "sql",
    "content": "Quote names.",
    "helpful": 3,
    "harmful": 1,
    "neutral": 0,
    "created_at": "2026-01-01",
    "status": "active",
}


@pytest.mark.parametrize(
    "held",
    [
        {"skills": {"sql-00001": FIRST_SKILL}, "sections": {"sql": ["sql-00001"]}, "next_id": 1},
        {"bullets": {"sql-00001": {"id": "sql-00001", **FIRST_SKILL}}},
        {"skills": [{"id": "sql-00001", **FIRST_SKILL}]},
    ],
)
def test_a_skillbook_is_read_with_its_counts(held: object) -> None:
    found = read_foreign(json.dumps(held))
    assert found.form == "skillbook"
    assert found.operations == (Add("sql", "Quote names.", id="sql-00001"), Tally("sql-00001", helpful=3, harmful=1))
    assert found.rejections == ()


def test_a_skillbook_that_splits_situation_and_insight_is_read() -> None:
    entries = {
        "ctx-1": {"section": "context", "issue": "dates in the past", "insight": "Ask for the year.", "helpful_count": 2, "active": True},
        "ctx-2": {"section": "harness", "issue": "The tool is slow.", "insight": None, "active": False},
    }
    assert read_foreign(json.dumps({"schema_version": "2", "skills": entries})).operations == (
        Add("context", "Ask for the year.", id="ctx-1", applies_when="dates in the past"),
        Tally("ctx-1", helpful=2),
        Add("harness", "The tool is slow.", id="ctx-2"),
        Retire("ctx-2", "retired where it was imported from"),
    )


def test_what_is_wrong_in_a_skillbook_is_said_and_the_rest_is_taken() -> None:
    entries = [
        {"id": "a-1", "content": "A", "helpful": "many"},
        {"content": "B", "helpful": 2},
        {"id": "c-1"},
        7,
        {"id": 9, "content": "D"},
    ]
    found = read_foreign(json.dumps({"skills": entries}))
    assert found.operations == (Add("", "A", id="a-1"), Add("", "B"))
    assert len(found.rejections) == 5


@given(histories())
def test_a_playbook_of_ours_is_taken_over_with_counts_and_standing(history: History) -> None:
    source = history.end
    if not source.every_lesson:
        return
    found = read_foreign(dumps(source))
    assert (found.form, found.rejections) == ("playbook", ())
    copy = fold(Playbook(), [Delta("99", found.operations, author="import:f")])

    def told(playbook: Playbook) -> list[tuple[object, ...]]:
        return [
            (
                one.id,
                one.section,
                one.text,
                one.applies_when,
                one.avoid,
                one.tool_order,
                one.about,
                one.kind,
                one.status,
                one.verdict,
                one.tallies,
                sorted(one.evidence),
                one.pinned,
            )
            for one in playbook.every_lesson
        ]

    assert told(copy) == told(source)


def test_a_lesson_is_put_elsewhere_with_all_it_has() -> None:
    made: list[Operation] = [
        Add(
            "s",
            "text",
            id="x-1",
            applies_when="when",
            kind="tool_rule",
            avoid="a",
            tool_order=("t",),
            about="b",
            evidence=(Evidence(run="r"),),
        ),
        Tally("x-1", helpful=2, support=3, withheld=1),
        Update("x-1", verdict="confirmed"),
        Pin("x-1"),
        Retire("x-1"),
    ]
    playbook = fold(Playbook(), [Delta("01", made)])
    lesson = playbook.every_lesson[0]
    assert fold(Playbook(), [Delta("01", lesson_operations(lesson))]).every_lesson == (lesson,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "No lesson was found"),
        ("\ufeff \n", "No lesson was found"),
        ("hello world", "No lesson was found"),
        ("# Title\n\nprose", "No lesson was found"),
        ("{}", "none of the keys that hold lessons .*it has: none"),
        ('{"a": 1, "b": 2}', "it has: a, b"),
        ('{"operations": [{"op":"ADD","section":"sql","text":"quo', "cut off: nothing of it was taken"),
        ('{"skills": {"a-1": {"content": "x"', "cannot be read"),
        ("[[1, 2", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"operations": []}', "No lesson was found"),
        ('{"tenure": "playbook/9", "records": []}', "not a playbook of format playbook/1"),
        (dumps(Playbook()), "No lesson was found"),
    ],
)
def test_what_holds_no_lesson_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=reason):
        read_foreign(text)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(("ADD", "text", "x-1", ""))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ("op", "type", "id", "text", "content", "section", "skills", "operations", "new_entries", "delete_entries", "helpful")
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_read_or_refused(held: object) -> None:
    for value in (
        {"operations": held},
        {"skills": held},
        {"new_entries": held, "update_entries": held, "delete_entries": held},
        held,
        {"tenure": held},
    ):
        try:
            found = read_foreign(json.dumps(value))
        except UnreadableInput:
            continue
        apply(Playbook(), Delta("01", found.operations))
        assert all(found.rejections)


@given(any_texts(14))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_foreign(text)
    except UnreadableInput:
        return
    applied = apply(Playbook(), Delta("01", found.operations))
    assert all(not isinstance(operation, Merge) for operation in found.operations)
    dumps(applied.playbook, "ace").encode("utf-8")


# -- lists of rules ---------------------------------------------------------------------------------

AGENTS = """\
---
description: house rules
globs:
  - "**/*.py"
---
# AGENTS.md

This repository holds the billing service.

## Commands

- Run `make test` before every commit.
- Build with:
  ```sh
  # not a heading
  - not a rule
  make build
  ```
  and check the log.
* Use tabs in Makefiles
  and nowhere else.
1. First ask.
2) Then act:
   - read the file
     - all of it
   - write it back

   Only then report.

- [ ] Keep the changelog.
- [x] Keep the licence.

```sh
- code outside a list is no rule
```

---

<!-- - a comment
- is no rule -->

### Style ###
+ No
lazy continuation.

More prose,
over two lines.
- Last rule
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "bom"])
def test_a_list_of_rules_is_read_rule_by_rule(start: str, end: str) -> None:
    found = read_foreign(start + AGENTS.replace("\n", end))
    assert found.form == "markdown"
    assert [(operation.section, operation.text) for operation in found.operations if isinstance(operation, Add)] == [
        ("Commands", "Run `make test` before every commit."),
        ("Commands", "Build with:\n```sh\n# not a heading\n- not a rule\nmake build\n```\nand check the log."),
        ("Commands", "Use tabs in Makefiles\nand nowhere else."),
        ("Commands", "First ask."),
        ("Commands", "Then act:\n- read the file\n  - all of it\n- write it back\n\nOnly then report."),
        ("Commands", "Keep the changelog."),
        ("Commands", "Keep the licence."),
        ("Style", "No\nlazy continuation."),
        ("Style", "Last rule"),
    ]
    assert found.rejections == (
        "line 8 is prose outside a list: 'This repository holds the billing service.'",
        "line 33 is prose outside a list: '```sh'",
        "line 46 is prose outside a list: 'More prose,'",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b", [("", "a"), ("", "b")]),
        ("- a\n\n- b\n\n\n- c", [("", "a"), ("", "b"), ("", "c")]),
        ("  - a\n  - b", [("", "a"), ("", "b")]),
        ("- a\n    - deep\n  - less deep\n- b", [("", "a\n  - deep\n- less deep"), ("", "b")]),
        ("-\n- \n- a", [("", "a")]),
        ("- a\n# T\n- b\n## U ##\n- c\n#no title\n- d", [("", "a"), ("T", "b"), ("U", "c\n#no title"), ("U", "d")]),
        ("## C#\n- a", [("C#", "a")]),
        ("* * *\n- a\n***\n- b", [("", "a"), ("", "b")]),
        ("10. ten\n11. eleven", [("", "ten"), ("", "eleven")]),
        ("- a ```not a fence``` b\n- c", [("", "a ```not a fence``` b"), ("", "c")]),
        ("- ~~~\n  - x\n  ~~~\n- b", [("", "~~~\n- x\n~~~"), ("", "b")]),
        ("- -1 is a number\n-2 is none", [("", "-1 is a number\n-2 is none")]),
        ("[1] see below\n- rule\n- [link](x) rule", [("", "rule"), ("", "[link](x) rule")]),
        ("- 日付は`YYYY-MM-DD`\n- كشف الحساب", [("", "日付は`YYYY-MM-DD`"), ("", "كشف الحساب")]),
        ("- a\n\tcontinued with a tab", [("", "a\ncontinued with a tab")]),
    ],
)
def test_rules_are_told_apart(text: str, expected: list[tuple[str, str]]) -> None:
    assert adds(text) == expected


@given(
    st.lists(st.sampled_from(("- a", "  - b", "c", "", "# T", "```", "~~~", "    d", "1. e", "<!--", "-->", "---", "\t- f")), max_size=12)
)
def test_no_line_of_a_rule_file_is_lost_in_silence(lines: list[str]) -> None:
    text = "\n".join(["- rule 0", *(f"{line} {place}" if line[-1:].isalpha() else line for place, line in enumerate(lines))])
    found = read_foreign(text)
    read = "\n".join(operation.text for operation in found.operations if isinstance(operation, Add))
    sections = {operation.section for operation in found.operations if isinstance(operation, Add)}
    commented = "<!--" in text or text.startswith("---")
    for place, line in enumerate(lines):
        if line[-1:].isalpha() and not line.startswith("#") and not commented:
            # In a rule, or in a paragraph whose first line is named.
            assert line.lstrip(" \t-1.") + f" {place}" in read or found.rejections
    assert sections
