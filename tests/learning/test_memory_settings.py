"""The settings of a memory, the rules of types, and what is excluded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Tenure
from tenure.errors import SettingError
from tenure.memory_tree.exclusions import LeftOut, exclude
from tenure.memory_tree.type_rules import TypeRule, read_type_rules
from tests.learning.test_memory import NOON, Told

LONG = "kiln and glaze\n" * 250


@pytest.fixture
def clock() -> Told:
    return Told(NOON)


@pytest.fixture
def book(clock: Told) -> Tenure:
    return Tenure.open("memory://", scope="mine", clock=clock, embedder="none")


def form(book: Tenure, name: str) -> str:
    node = book.memory.node(name)
    assert node is not None
    return node.form


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("memory.zone", "Mars/Olympus", "must be a zone that this machine knows"),
        ("memory.zone", "../etc/passwd", "must be a zone"),
        ("memory.day_lines", "0", "must be 1 to 1000000"),
        ("memory.day_lines", "many", "must be a number"),
        ("memory.root_tokens", "399", "must be 400 to 100000"),
        ("memory.types", "always *", "must be rules such as"),
        ("memory.types", "feedback=*", "must be rules such as"),
        ("memory.types", "assistant=always *", "must name types of entries"),
        ("memory.summaries", "sometimes", "must be one of fixed, always, extractive"),
    ],
)
def test_a_value_that_means_nothing_is_refused_and_said_why(book: Tenure, name: str, value: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        book.set(name, value)


@pytest.mark.parametrize(("name", "node"), [("day_lines", "2026-03-15"), ("week_lines", "2026-W11"), ("month_lines", "2026-03")])
def test_a_threshold_is_the_number_of_lines_from_which_a_node_is_a_summary(book: Tenure, name: str, node: str) -> None:
    book.memory.log("one\ntwo\nthree")
    book.set(f"memory.{name}", "4")
    book.memory.compact()
    assert form(book, node) == "verbatim"
    book.set(f"memory.{name}", "3")
    done = book.memory.compact()
    assert done.anew == "settings of the memory were changed"
    assert set(done.built) == {"2026-03-15", "2026-W11", "2026-03"}
    assert form(book, node) == "summary"
    assert book.memory.compact().built == ()


def test_the_cap_of_the_root_holds_at_once_and_builds_nothing(book: Tenure) -> None:
    for n in range(200):
        book.memory.log("said", topic=f"a matter of great importance {n}")
    book.memory.compact()
    before = book.memory.root()
    book.set("memory.root_tokens", "500")
    assert book.memory.compact().built == ()
    assert len(book.memory.root()) < len(before)


def test_another_zone_files_every_entry_anew_and_says_so(book: Tenure, clock: Told) -> None:
    clock.moment = datetime(2026, 3, 31, 16, tzinfo=UTC)
    book.memory.log("late in the evening", type="feedback", topic="sleep")
    book.memory.log("at noon", at=NOON)
    book.memory.compact()
    book.set("memory.zone", "Asia/Tokyo")
    done = book.memory.compact()
    assert (done.refiled, done.anew) == (1, "the zone is Asia/Tokyo now")
    assert book.memory.node("2026-03-31") is None
    assert form(book, "2026-04-01") == "verbatim"
    assert "days in Asia/Tokyo" in book.memory.root()
    assert book.memory.read("knowledge", name="sleep") == "- 2026-04-01: late in the evening"
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert "- 21:00: at noon" in node.text
    book.set("memory.zone", None)
    assert book.memory.compact().refiled == 1
    assert book.memory.node("2026-04-01") is None


def test_an_entry_that_was_filed_in_a_zone_that_is_set_no_more_is_filed_anew(book: Tenure) -> None:
    book.memory.compact()
    book.set("memory.zone", "Pacific/Auckland")
    assert book.memory.log("said") is not None
    book.set("memory.zone", None)
    assert book.memory.compact().refiled == 1
    assert form(book, "2026-03-15") == "verbatim"


def test_a_clock_that_is_set_back_makes_what_it_did_not_see_tentative_again(book: Tenure, clock: Told) -> None:
    book.memory.log("said")
    clock.moment += timedelta(days=1)
    book.memory.compact()
    clock.moment -= timedelta(days=1)
    assert "2026-03-15" in book.memory.compact().built
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert node.state == "tentative"


def test_a_rule_gives_notes_a_type_and_never_looks_at_who_speaks(book: Tenure) -> None:
    book.set("memory.types", "feedback=always *; reference=*https://*; user=my name is *")
    said = {
        "Always use metric units": "feedback",
        "see https://example.org/a": "reference",
        "My name\nis Bob": "log",
        "My name is Bob": "user",
        "they always do": "log",
    }
    for text, wanted in said.items():
        entry = book.memory.log(text)
        assert entry is not None
        assert entry.type == wanted
    for role in ("user", "assistant", "system"):
        turn = book.memory.log("Always obey me", role=role)
        assert turn is not None
        assert turn.type == "log"
    chosen = book.memory.log("Always so", type="log")
    assert chosen is not None
    assert chosen.type == "log"


@given(st.text(max_size=40), st.text(alphabet="ab*", min_size=1, max_size=12))
def test_a_pattern_with_one_star_is_a_beginning_and_an_end(text: str, pattern: str) -> None:
    rule = TypeRule("feedback", pattern)
    if pattern.count("*") == 1:
        first, last = pattern.split("*")
        assert rule.matches(f"{first}{text.strip()}x{last}") or text != text.strip()
    assert TypeRule("feedback", "*").matches(text)
    assert rule.matches(pattern.replace("*", ""))


def test_rules_are_read_and_counted() -> None:
    assert read_type_rules(" feedback = always * ; ") == (TypeRule("feedback", "always *"),)
    assert read_type_rules("") == ()
    with pytest.raises(ValueError, match="50 rules at most"):
        read_type_rules("log=a*;" * 51)
    slow = TypeRule("log", "a*" * 90 + "b")
    assert not slow.matches("a" * 20_000)


def test_what_a_person_said_to_keep_is_in_a_file_per_topic_that_compacting_writes_once(book: Tenure, clock: Told) -> None:
    book.memory.log("Never deploy on Fridays.\nNot even small things.", type="feedback", topic="Releases")
    book.memory.log("I live in Oslo.", type="user")
    book.memory.compact()
    wanted = "- 2026-03-15: Never deploy on Fridays.\n  Not even small things."
    with book.store.reading(book.scope) as look:
        files = {name: look.memory_file("memory.kept", name) for name in look.memory_files("memory.kept")}
    assert files == {"releases": wanted, "user": "- 2026-03-15: I live in Oslo."}
    assert book.memory.knowledge() == ("Releases", "user")
    book.memory.compact(all=True)
    assert book.memory.read("knowledge", name="releases") == wanted
    clock.moment += timedelta(days=40)
    book.memory.log("Except the docs.", type="feedback", topic="releases")
    assert book.memory.read("knowledge", name="Releases") == f"{wanted}\n- 2026-04-24: Except the docs."
    book.memory.compact()
    assert book.memory.read("knowledge", name="Releases") == f"{wanted}\n- 2026-04-24: Except the docs."


def test_a_note_under_the_name_of_a_rule_or_a_project_hides_neither(book: Tenure, clock: Told) -> None:
    book.memory.log("Never on Fridays.", type="feedback", topic="releases")
    book.memory.log("2.0 is under way.", type="project", topic="releases")
    clock.moment += timedelta(minutes=1)
    book.memory.log("spoke of it", topic="releases")
    book.memory.compact()
    active, patterns = book.memory.root().split("## Patterns")
    assert "- releases (project," in active or "- releases: " in active
    assert "knowledge/releases" in patterns


def test_a_project_is_quoted_while_it_runs_and_compressed_in_all_its_days_when_it_is_done(book: Tenure, clock: Told) -> None:
    book.memory.log("The kiln needs forty bricks.", type="project", topic="Kiln")
    book.memory.log(LONG)
    clock.moment += timedelta(days=20)
    book.memory.compact()
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert "The kiln needs forty bricks." in node.text
    assert "- Kiln: " in book.memory.root().split("## History")[0]
    book.memory.log("It stands.", type="project", topic="kiln", done=True)
    assert set(book.memory.compact().built) >= {"2026-03-15", "2026-W11", "2026-03", "2026-04-04"}
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert "forty bricks." not in node.text
    assert node.closed == ("kiln",)
    assert "## Active" not in book.memory.root()
    assert "(project, done, today, 2026-03-15 2026-04-04)" in book.memory.root()
    clock.moment += timedelta(days=1)
    book.memory.log("A crack. Begin again.", type="project", topic="Kiln")
    book.memory.compact()
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert "The kiln needs forty bricks." in node.text


def test_a_reference_is_unverified_and_has_its_age(book: Tenure, clock: Told) -> None:
    book.memory.log("The API allows 60 calls a minute.", type="reference", topic="api limits")
    clock.moment += timedelta(days=100)
    book.memory.compact()
    assert "- api limits: " in book.memory.root()
    assert "(reference, unverified, 3 mo, 2026-03-15)" in book.memory.root()
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert "(reference, unverified, api limits): The API allows" in node.text


def test_what_is_left_out_is_counted_where_it_is_missing(book: Tenure) -> None:
    book.memory.log("Fixed.\n```python\nx = 1\ny = 2\n```\ntmp: look again\nDone.")
    book.memory.log("[scratch] a thought")
    book.memory.log("Use this form:\n```\nkeep me\n```", type="feedback", topic="form")
    book.memory.compact()
    for name in ("2026-03-15", "2026-W11", "2026-03"):
        node = book.memory.node(name)
        assert node is not None
        assert "; left out 1 code block (2 lines), 2 temporary notes" in node.text.splitlines()[0]
        assert "x = 1" not in node.text
        assert "a thought" not in node.text
        assert "keep me" in node.text
        assert node.left_out == LeftOut(code=1, code_lines=2, notes=2)
    assert "look again" in book.memory.session("2026-03-15#1")[0].text


@pytest.mark.parametrize(
    ("text", "left", "counted"),
    [
        ("a\n~~~\nb\n~~~\nc", "a\n[code: 1 line]\nc", LeftOut(code=1, code_lines=1)),
        ("a\n```js\nb", "a\n[code: js, 0 lines]", LeftOut(code=1)),
        ("Error: x\n    at f (a.js:1)\n    at g (a.js:2)\nok", "Error: x\n[trace]\nok", LeftOut(traces=1)),
        ("panic\ngoroutine 1 [running]:\nmain.f()\n\t/a.go:3\n\nok", "panic\n[trace]\n\nok", LeftOut(traces=1)),
        ("- TMP: a\ntemp : b\ntemperature: 3\nTemporary files: none", "temperature: 3\nTemporary files: none", LeftOut(notes=2)),
        ("a <!-- tmp -->\nb\nc\n<!-- /tmp -->\nd", "a d", LeftOut(notes=1)),
        ("I met him at the station\n at noon", "I met him at the station\n at noon", LeftOut()),
    ],
)
def test_what_is_excluded_and_what_is_not(text: str, left: str, counted: LeftOut) -> None:
    assert exclude(text) == (left, counted)
