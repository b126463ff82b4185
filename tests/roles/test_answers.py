"""The built-in check: a label against the answer that a lesson states, and undecided where that cannot be told."""

from __future__ import annotations

import pytest

from tenure import Lesson, Outcome, Run, Task
from tenure.roles.answers import Labels, answers_in, applies, same_answer


def lesson(text: str, when: str = "") -> Lesson:
    return Lesson(id="a-1", section="s", text=text, applies_when=when)


def case(answer: str, text: str = "country=DE, sort=books") -> Run:
    return Run(id="r", task=Task(text=text), outcome=Outcome(success=True, signal="label", expected=answer))


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Use the tax code V7", ("V7",)),
        ("Use V7, not V19", ("V7", "V19")),
        ("use v7.", ("V7",)),
        ("Take V70", ()),
        ("The tag is Revenue From Contracts", ("Revenue From Contracts",)),
        ("The tag is Revenue", ("Revenue",)),
        ("答案是 V7", ("V7",)),
        ("", ()),
    ],
)
def test_a_lesson_states_a_label_whole_and_the_longer_of_two(text: str, stated: tuple[str, ...]) -> None:
    assert answers_in(text, ["V7", "V19", "Revenue", "Revenue From Contracts", ""]) == stated


@pytest.mark.parametrize(
    ("text", "answer", "right"),
    [
        ("Use V7", "V7", True),
        ("Use V7", " v7.", True),
        ("Use V7", "V19", False),
        ("Use V7 or V19", "V7", None),
        ("Check the country first", "V7", None),
        ("Use V7", "", None),
    ],
)
def test_a_label_decides_only_where_a_lesson_states_one_answer(text: str, answer: str, right: bool | None) -> None:
    assert Labels(["V7", "V19"]).would_be_right(lesson(text), case(answer)) is right


def test_conditions_of_fields_hold_exactly_and_those_of_words_as_before() -> None:
    assert applies(lesson("x", "country=DE and sort=books"), case("V7")) is True
    assert applies(lesson("x", "country=DE and sort=wine"), case("V7")) is False
    assert applies(lesson("x", "country=D"), case("V7")) is False
    assert applies(lesson("x", ""), case("V7")) is None
    assert applies(lesson("x", 'the task says "invoice"'), case("V7", "reconcile invoice 7")) is True
    assert applies(lesson("x", 'the task says "invoice"'), case("V7", "book a flight")) is False


@pytest.mark.parametrize(("one", "other", "same"), [("V7", "v7 ", True), ("a  b", "a b", True), ("4.0", "4", False), ("V7", "V70", False)])
def test_labels_are_compared_without_white_space_and_case(one: str, other: str, same: bool) -> None:
    assert same_answer(one, other) is same
