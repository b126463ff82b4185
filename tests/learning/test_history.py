"""Log, diff, blame and rollback, on the ledger."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import Add, Merge, Pin, Restore, Retire, Tally, Tenure, Update, UserError
from tenure.learning.history import blame, compare, find_lesson, find_version
from tenure.playbook.delta import Delta, Operation
from tenure.playbook.lessons import Evidence
from tenure.testing import open_trial


def seen(book: Tenure) -> list[tuple[object, ...]]:
    """What a playbook says, without times."""
    return [
        (one.id, one.section, one.text, one.applies_when, one.status, one.pinned, one.tallies, one.merged) for one in book.playbook.lessons
    ]


def three(book: Tenure) -> list[str]:
    receipts = book.apply([Add("s", "first rule"), Add("s", "second rule", applies_when="on Mondays"), Add("t", "third rule")]).receipts
    return [receipt.id for receipt in receipts]


def test_rollback_brings_back_what_was_and_is_itself_undone_by_a_rollback() -> None:
    with open_trial() as book:
        a, b, _c = three(book)
        before = seen(book)
        book.apply([Update(a, text="changed"), Retire(b), Tally(a, helpful=3), Pin(a), Add("s", "new one")])
        after = seen(book)
        book.rollback(1)
        assert seen(book) == before
        assert [entry.delta.cause for entry in _ledger(book)] == ["hand", "hand", "rollback"]
        book.rollback(2)
        assert seen(book) == after


def test_rollback_undoes_a_merge() -> None:
    with open_trial() as book:
        a, b, _c = three(book)
        before = seen(book)
        book.apply([Merge((a,), b, text="both rules")])
        book.rollback("-1")
        assert seen(book) == before


OPERATIONS = st.lists(
    st.one_of(
        st.builds(lambda i, t: ("update", i, t), st.integers(0, 2), st.sampled_from(["x", "y", "first rule"])),
        st.builds(lambda i, n: ("tally", i, n), st.integers(0, 2), st.integers(1, 4)),
        st.builds(lambda i: ("retire", i, 0), st.integers(0, 2)),
        st.builds(lambda i: ("restore", i, 0), st.integers(0, 2)),
        st.builds(lambda i: ("pin", i, 0), st.integers(0, 2)),
        st.builds(lambda i, j: ("merge", i, j), st.integers(0, 2), st.integers(0, 2)),
        st.builds(lambda t: ("add", 0, t), st.sampled_from(["first rule", "fourth", "fifth"])),
    ),
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(OPERATIONS, min_size=1, max_size=3))
def test_rolling_back_restores_the_earlier_reading_whatever_happened_since(deltas: list[list[tuple[str, int, object]]]) -> None:
    with open_trial() as book:
        ids = three(book)
        before = seen(book)
        for delta in deltas:
            made: dict[str, Callable[[int, Any], Operation]] = {
                "update": lambda i, t: Update(ids[i], text=t),
                "tally": lambda i, n: Tally(ids[i], helpful=n, shown=1),
                "retire": lambda i, _: Retire(ids[i]),
                "restore": lambda i, _: Restore(ids[i]),
                "pin": lambda i, _: Pin(ids[i]),
                "merge": lambda i, j: Merge((ids[i],), ids[j]),
                "add": lambda _, t: Add("s", t),
            }
            book.apply([made[kind](one, two) for kind, one, two in delta])
        book.rollback(1)
        now = {entry[0]: entry for entry in seen(book)}
        assert [now.get(entry[0]) for entry in before] == before
        assert len(now) == len(before)


def test_rollback_wins_over_deltas_whose_ids_somebody_chose() -> None:
    for chosen in ("zz-import", "~~~", "\U0010ffff"):
        with open_trial() as book:
            a, _b, _c = three(book)
            before = seen(book)
            book.apply(Delta(chosen, [Update(a, text="changed"), Pin(a), Tally(a, helpful=3)]))
            book.rollback(1)
            assert seen(book) == before
            book.apply([Update(a, text="changed again")])
            assert book.playbook.lesson(a).text == "changed again"  # type: ignore[union-attr]


def test_rollback_keeps_an_imported_lesson_that_was_imported_again_since() -> None:
    with open_trial() as book:
        book.apply([Add("s", "a rule", id="ctx-1")])
        before = seen(book)
        book.apply([Add("s", "a rule", id="ctx-1", evidence=(Evidence(run="r1", step=0),))])
        book.rollback(1)
        assert seen(book) == before


def test_rollback_joins_again_what_an_earlier_rollback_took_apart() -> None:
    with open_trial() as book:
        book.apply([Add("s", "a rule")])
        book.apply([Add("s", "a rule")])
        joined = seen(book)
        book.rollback(1)
        book.rollback(2)
        assert seen(book) == joined


def test_rollback_takes_an_imported_lesson_out_of_the_one_it_was_merged_into() -> None:
    with open_trial() as book:
        first = book.apply([Add("s", "a rule")]).receipts[0].id
        before = everything(book)
        book.apply([Add("s", "another rule", id="ctx-1")])
        book.apply([Merge(("ctx-1",), first)])
        book.rollback(1)
        assert everything(book) == before


ANY_OPERATION = st.tuples(
    st.sampled_from(["add", "update", "tally", "merge", "retire", "restore", "unmerge", "pin"]), st.integers(0, 5), st.integers(0, 5)
)


def _made(kind: str, one: int, two: int, ids: list[str]) -> Operation:
    if kind == "add":
        status = ("active", "provisional", "held")[(one + two) % 3]
        return Add("ab"[one % 2], "xyz"[two % 3], id=(None, "ctx-0", "ctx-1")[one % 3], status=status)
    named, other = (ids[one % len(ids)], ids[two % len(ids)]) if ids else ("none", "none")
    made: dict[str, Operation] = {
        "update": Update(named, text="uvx"[two % 3]),
        "tally": Tally(named, helpful=1),
        "merge": Merge((named,), other),
        "retire": Retire(named),
        "restore": Restore(named),
        "unmerge": Restore(named, unmerge=True),
        "pin": Pin(named, bool(two % 2)),
    }
    return made[kind]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(ANY_OPERATION, min_size=1, max_size=3), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_every_version_can_be_gone_back_to_in_any_order(deltas: list[list[tuple[str, int, int]]], chance: Random) -> None:
    with open_trial() as book:
        ids: list[str] = []
        states = {0: everything(book)}
        for delta in deltas:
            admitted = book.apply([_made(kind, one, two, ids) for kind, one, two in delta])
            ids += [receipt.id for receipt in admitted.receipts if receipt.status != "skipped" and receipt.id not in ids]
            if admitted.version is not None:
                states[admitted.version] = everything(book)
        order = [*states, *states]
        chance.shuffle(order)
        for version in order:
            book.rollback(version)
            assert everything(book) == states[version]


def everything(book: Tenure) -> list[tuple[object, ...]]:
    """What a playbook says, held lessons included, without times."""
    return [
        (one.id, one.section, one.text, one.applies_when, one.status, one.pinned, one.tallies, one.merged)
        for one in book.playbook.every_lesson
        if one.status != "retired"
    ]


def test_diff_names_what_was_added_changed_and_retired() -> None:
    with open_trial() as book:
        a, b, _c = three(book)
        book.apply([Update(a, text="changed"), Retire(b), Add("s", "new one")])
        with book.store.reading(book.scope) as reading:
            found = {one.change for one in compare(reading.playbook(1), reading.playbook())}
        assert found == {"changed", "retired", "added"}


def test_blame_lists_every_delta_that_touched_a_lesson() -> None:
    with open_trial() as book:
        a, b, _c = three(book)
        book.apply([Tally(b, helpful=1)])
        book.apply([Update(a, text="changed")])
        with book.store.reading(book.scope) as reading:
            found = blame(reading, a)
        assert [(one.entry.version, len(one.operations)) for one in found] == [(1, 1), (3, 1)]


@pytest.mark.parametrize("named", ["9", "-9", "no-such-delta", "", "1.5"])
def test_an_unknown_version_is_named_with_what_there_is(named: str) -> None:
    with open_trial() as book:
        three(book)
        with book.store.reading(book.scope) as reading, pytest.raises(UserError, match="versions 0 to 1 exist"):
            find_version(reading, named)


def test_a_lesson_is_found_by_the_beginning_of_its_id_when_that_is_unique() -> None:
    with open_trial() as book:
        a, _b, c = three(book)
        with book.store.reading(book.scope) as reading:
            assert find_lesson(reading, c[:5]).id == c
            with pytest.raises(UserError, match="fits 2 lessons"):
                find_lesson(reading, a[:2])


def _ledger(book: Tenure):  # type: ignore[no-untyped-def]
    with book.store.reading(book.scope) as reading:
        return reading.ledger()
