"""Law 4: what changes nothing leaves no trace, and what is written reads back, byte for byte."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Lesson, Merge, Playbook, Retire, Tally, Update, apply, dumps, loads
from tenure.playbook.notation import Form
from tests.strategies import SECTIONS, History, fold, histories, playbooks, texts

FORMS: tuple[Form, ...] = ("json", "ace")

NOTHING: tuple[Any, ...] = (
    Add("s", ""),
    Add("s", "\udc80"),
    Update("nobody-1", text="x"),
    Update("nobody-1"),
    Tally("nobody-1", helpful=1),
    Merge(["nobody-1"], "nobody-2"),
    Merge([], "nobody-1"),
    Retire("nobody-1"),
    None,
)


@given(playbooks(), st.lists(st.sampled_from(NOTHING), max_size=3))
def test_a_delta_with_no_effect_leaves_no_trace(playbook: Playbook, operations: list[Any]) -> None:
    applied = apply(playbook, Delta("99", operations, key="a key"))
    assert applied.playbook is playbook
    assert dumps(applied.playbook) == dumps(playbook)
    assert {receipt.status for receipt in applied.receipts} <= {"skipped"}


@given(histories())
def test_json_reads_back_whole(history: History) -> None:
    playbook = history.end
    written = dumps(playbook)
    read = loads(written)
    assert dumps(read) == written
    assert read == playbook
    assert read.every_lesson == playbook.every_lesson


@given(histories())
def test_a_playbook_that_was_read_goes_on_like_the_one_that_was_written(history: History) -> None:
    written = history.start
    for delta in history.later:
        read, expected = apply(loads(dumps(written)), delta), apply(written, delta)
        assert read.receipts == expected.receipts
        assert dumps(read.playbook) == dumps(expected.playbook)
        written = expected.playbook
    read_playbook = loads(dumps(written))
    assert {key: found for key, found in read_playbook.pointers.items() if found} == {
        key: found for key, found in written.pointers.items() if found
    }
    assert dict(read_playbook.groups.items()) == dict(written.groups.items())


def carried(lessons: tuple[Lesson, ...]) -> list[tuple[object, ...]]:
    """What the exchange text carries of lessons."""
    return [(one.id, one.section, one.text, one.applies_when, one.tallies.helpful, one.tallies.harmful) for one in lessons]


@given(histories())
def test_the_exchange_text_reads_back(history: History) -> None:
    playbook = history.end
    written = dumps(playbook, "ace")
    read = loads(written)
    assert dumps(read, "ace") == written
    assert carried(read.lessons) == carried(playbook.lessons)
    assert dumps(loads(dumps(read)), "ace") == written


@given(texts(10), texts(8) | st.just(""), st.sampled_from(SECTIONS) | texts(3))
def test_any_text_reads_back_from_both_forms(text: str, condition: str, section: str) -> None:
    playbook = fold(
        Playbook(), [Delta("01", [Add(section, text, applies_when=condition), Add(section, f"another than {text}", id="ctx-1")])]
    )
    assert len(playbook.lessons) == 2
    for form in FORMS:
        written = dumps(playbook, form)
        # A file has bytes; they say the same.
        read = loads(written.encode("utf-8").decode("utf-8"))
        assert dumps(read, form) == written
        assert carried(read.lessons) == carried(playbook.lessons)


def test_one_megabyte_reads_back_from_both_forms() -> None:
    text = "多币种 \r\n## X\n[x-1] helpful=9 harmful=0 :: \x00 \u2028 'quote' \"quote\" \\ \n" * 20_000 + "end"
    playbook = fold(Playbook(), [Delta("01", [Add("s", text, applies_when=text), Add("s", "plain " * 200_000 + "end")])])
    for form in FORMS:
        written = dumps(playbook, form)
        assert carried(loads(written).lessons) == carried(playbook.lessons)
        assert dumps(loads(written), form) == written
