"""Laws of every store: decisions in the ledger, held changes by id and by what they say, the proof of the chain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure import Add, Delta, Merge, Restore, Retire, Update
from tenure.playbook.delta import Decision, Operation
from tenure.playbook.statements import lesson_of, proposal_key, statement_key
from tenure.ports import HeldChange, Store
from tests.stores.contract import fresh_scope

DECISIONS = (Decision(change="h-1", state="approved", note="checked"), Decision(change="h-2", state="rejected"))
RULE = Add("s", "Retry a failed call at most 3 times.", status="held")
SAME = Add("t", "Please retry the failed call no more than three times.")
OTHER = Add("s", "Retry a failed call at most 5 times.")


def test_decisions_come_back_from_the_ledger_and_make_a_version_by_themselves(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        assert work.admit(Delta("01A", decisions=DECISIONS, author="person:ann", cause="review")).version == 1
        assert work.admit(Delta("01A", decisions=DECISIONS)).version is None
    with store.reading(scope) as look:
        (entry,) = look.ledger()
        assert (entry.delta.decisions, entry.delta.operations) == (DECISIONS, ())
        assert look.playbook().holds("01A")
        assert look.playbook() == look.playbook(1)
        assert look.check_ledger().ok
        assert look.check_ledger().entries == 1


def test_a_held_lesson_is_found_by_what_it_says_as_long_as_it_is_held(store: Store) -> None:
    scope = fresh_scope()
    key = statement_key(lesson_of(SAME))
    with store.writing(scope) as work:
        work.admit(Delta("01A", [replace(RULE, id="s-1"), replace(OTHER, id="s-2", status="held")]))
    with store.reading(scope) as look:
        assert [lesson.id for lesson in look.held_lessons()] == ["s-1", "s-2"]
        assert list(look.held_saying([key, "", "nobody says this"])) == ["s-1"]
        assert list(look.held_saying([])) == []
    changes: list[tuple[Operation, list[str]]] = [
        (Restore("s-1", status="provisional"), []),
        (Update("s-1", status="held"), ["s-1"]),
        (Update("s-1", text=OTHER.text), []),
        (Update("s-1", text=RULE.text), ["s-1"]),
        (Retire("s-1"), []),
    ]
    for number, (change, found) in enumerate(changes):
        with store.writing(scope) as work:
            work.admit(Delta(f"02{number}", [change]))
        with store.reading(scope) as look:
            assert list(look.held_saying([key])) == found, change


def test_an_open_change_is_found_by_what_it_would_do(store: Store) -> None:
    scope = fresh_scope()
    change = HeldChange(id="h-1", operation=Retire("s-1", "old"), reason="r", author="model:x", rule="untrusted-source", voices=("a", "b"))
    key = proposal_key(Retire("s-1", "for another reason"))
    with store.writing(scope) as work:
        work.hold(change)
        assert list(work.held_saying([key])) == ["h-1"]
        work.decide("h-1", state="rejected", decided="ann")
        assert list(work.held_saying([key])) == []
    with store.writing(scope) as work:
        assert work.held_change("h-1") == replace(change, state="rejected", decided="ann")
        work.amend(change, replace(change, id="h-2"))
    with store.reading(scope) as look:
        assert list(look.held_saying([key])) == ["h-1", "h-2"]
        assert look.held_named(["h-2", "h-9"]) == {"h-2": replace(change, id="h-2")}
        assert look.held_change("h-9") is None


def test_what_waits_stays_in_its_scope(store: Store) -> None:
    mine, other = fresh_scope(), fresh_scope()
    with store.writing(mine) as work:
        work.admit(Delta("01A", [replace(RULE, id="s-1")]))
        work.hold(HeldChange(id="h-1", operation=Retire("s-1"), reason="r", author="a"))
    with store.reading(other) as look:
        assert not look.held_saying([statement_key(lesson_of(RULE)), proposal_key(Retire("s-1"))])
        assert (look.held_lessons(), look.held_change("h-1"), look.held_named(["h-1"])) == ([], None, {})


def test_the_queue_is_told_oldest_first_whatever_the_ids(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        for one, at in (("a", "2026-01-03"), ("c", "2026-01-01"), ("b", "2026-01-02")):
            work.hold(HeldChange(id=one, operation=RULE, reason="", author="x", at=at))
    with store.reading(scope) as look:
        assert [change.id for change in look.held()] == ["c", "b", "a"]


@pytest.mark.parametrize("gone", [Retire("s-1"), Merge(("s-1",), "s-2")])
def test_a_queued_lesson_that_was_retired_or_merged_says_nothing_any_more(store: Store, gone: Operation) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.admit(Delta("01A", [replace(RULE, id="s-1"), replace(OTHER, id="s-2")]))
        work.hold(HeldChange(id="s-1", operation=replace(RULE, id="s-1"), reason="", author="x"))
        work.admit(Delta("01B", [gone]))
    with store.reading(scope) as look:
        assert list(look.held_saying([statement_key(lesson_of(SAME))])) == []
