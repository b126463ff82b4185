"""Law 2: a playbook is the fold of a set of deltas, whatever their order."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Merge, Pin, Playbook, Restore, Retire, Tally, Update, dumps
from tenure.playbook.lessons import lesson_id
from tenure.playbook.records import component, root_of
from tests.strategies import History, fold, histories, orders


def bytes_of(playbook: Playbook) -> tuple[str, str]:
    return dumps(playbook), dumps(playbook, "ace")


@given(histories(), st.data())
def test_deltas_give_the_same_bytes_in_any_order(history: History, data: st.DataObject) -> None:
    expected = bytes_of(history.end)
    assert bytes_of(fold(history.start, reversed(history.later))) == expected
    assert bytes_of(fold(history.start, data.draw(orders(history.later)))) == expected


@given(histories(), st.integers(0, 2**16))
def test_operations_within_a_delta_give_the_same_bytes_in_any_order(history: History, seed: int) -> None:
    def mixed(delta: Delta) -> Delta:
        operations = list(delta.operations)
        Random(seed).shuffle(operations)
        return replace(delta, operations=operations)

    assert bytes_of(fold(Playbook(), map(mixed, history.deltas))) == bytes_of(history.end)


@given(histories())
def test_every_record_belongs_to_exactly_one_lesson_and_every_lesson_has_a_text(history: History) -> None:
    playbook = history.end
    parts = {lesson.id: component(playbook, lesson.id) for lesson in playbook.every_lesson}
    assert sorted(key for part in parts.values() for key in part) == sorted(playbook.records)
    assert all(root_of(playbook, key) == root for root, part in parts.items() for key in part)
    assert all(lesson.text.strip() for lesson in playbook.every_lesson)


BASE = fold(
    Playbook(),
    [
        Delta("02", [Add("s", "one", id="a-1"), Add("s", "two", id="b-1"), Add("s", "three", id="c-1"), Add("s", "four", id="d-1")]),
        Delta("04", [Merge(["b-1"], "a-1"), Retire("c-1")]),
    ],
)
ONE = lesson_id("01", "s", "five", 0)

SETS: dict[str, list[Delta]] = {
    "merge chain": [Delta("05", [Merge(["a-1"], "c-1")]), Delta("03", [Merge(["c-1"], "d-1")]), Delta("06", [Update("a-1", text="new")])],
    "merge cycle": [Delta("05", [Merge(["a-1"], "c-1")]), Delta("07", [Merge(["c-1"], "d-1")]), Delta("06", [Merge(["d-1"], "a-1")])],
    "merge and unmerge": [Delta("05", [Restore("b-1", unmerge=True)]), Delta("01", [Merge(["b-1"], "d-1")]), Delta("06", [Pin("b-1")])],
    "retire and restore": [Delta("06", [Restore("c-1")]), Delta("05", [Retire("c-1")]), Delta("07", [Add("s", "three")])],
    "re-add of a retired text": [
        Delta("05", [Add("s", "three")]),
        Delta("03", [Retire("c-1")]),
        Delta("01", [Add("s", "three", status="held")]),
    ],
    "tallies on aliases": [
        Delta("05", [Tally("b-1", helpful=2)]),
        Delta("01", [Tally("a-1", helpful=-1)]),
        Delta("03", [Tally("b-1", helpful=-3)]),
    ],
    "one imported id, two texts": [
        Delta("05", [Add("s", "p", id="x-1")]),
        Delta("03", [Add("s", "q", id="x-1")]),
        Delta("07", [Add("t", "p", id="x-1")]),
    ],
    "one imported id, two texts, each changed by its own delta": [
        Delta("05", [Add("s", "p", id="x-1"), Update("x-1", text="p two"), Merge(["x-1"], "d-1")]),
        Delta("03", [Add("s", "q", id="x-1"), Tally("x-1", helpful=1), Restore("x-1", unmerge=True)]),
    ],
    "equal texts in one section": [
        Delta("05", [Add("s", "five")]),
        Delta("01", [Add("s", " five\n")]),
        Delta("03", [Add("s", "five", id="x-1")]),
    ],
    "an export arrives before what it was made from": [
        Delta("05", [Add("s", "five", id=ONE), Update(ONE, applies_when="always")]),
        Delta("01", [Add("s", "five")]),
        Delta("03", [Add("s", "six", id=ONE)]),
    ],
    "each is imported under the id of the other": [
        Delta("01", [Add("s", "five", id=lesson_id("03", "s", "five", 0))]),
        Delta("03", [Add("s", "five", id=ONE)]),
        Delta("05", [Add("s", "five", id="x-1")]),
    ],
}


@pytest.mark.parametrize("name", SETS)
def test_hard_sets_give_the_same_bytes_in_every_order(name: str) -> None:
    results = {bytes_of(fold(BASE, order)) for order in permutations(SETS[name])}
    assert len(results) == 1
    assert all(lesson.text for lesson in fold(BASE, SETS[name]).every_lesson)
