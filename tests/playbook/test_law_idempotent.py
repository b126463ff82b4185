"""Law 3: a delta counts once, by its id and by its key."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Playbook, apply, dumps, loads
from tests.strategies import History, fold, histories


@given(histories(), st.data())
def test_a_delta_that_is_held_changes_nothing(history: History, data: st.DataObject) -> None:
    playbook = history.end
    again = data.draw(st.sampled_from(history.deltas))
    for held in (playbook, loads(dumps(playbook))):
        applied = apply(held, again)
        if held.holds(again.id):
            assert applied.playbook is held
            assert {receipt.status for receipt in applied.receipts} <= {"skipped"}
    assert dumps(fold(playbook, [*history.deltas, *history.deltas])) == dumps(playbook)


@given(histories(), st.data())
def test_of_deltas_with_one_key_the_first_admitted_counts(history: History, data: st.DataObject) -> None:
    playbook = history.end
    keyed = [delta for delta in history.deltas if delta.key and playbook.holds(delta.id)]
    for delta in keyed[:2]:
        again = replace(delta, id=data.draw(st.sampled_from(("00", "zz"))), operations=[*delta.operations, Add("s", "something else")])
        applied = apply(playbook, again)
        assert applied.playbook is playbook
        assert all(f"'{delta.id}' already holds the key" in receipt.reason for receipt in applied.receipts)


def test_a_key_without_effect_is_free_for_another_delta() -> None:
    skipped = apply(Playbook(), Delta("01", [Add("s", "")], key="run-1"))
    assert skipped.playbook == Playbook()
    assert len(apply(skipped.playbook, Delta("02", [Add("s", "text")], key="run-1")).playbook) == 1


def test_dumps_carries_the_ids_and_keys_held() -> None:
    playbook = fold(Playbook(), [Delta("01", [Add("s", "a")], key="run-1"), Delta("02", [Add("s", "b")])])
    read = loads(dumps(playbook))
    assert read.holds("01")
    assert read.holds("02")
    assert read.key_owner("run-1") == "01"
    assert read.key_owner("") is None
