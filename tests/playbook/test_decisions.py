"""Decisions on held changes are part of a playbook's history, and of nothing it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Playbook, apply, dumps, loads
from tenure.playbook.delta import DECISIONS, Decision
from tests.strategies import any_texts

_ONE = st.builds(
    lambda change, state, note: Decision(change=change, state=state, note=note), any_texts(1), st.sampled_from(DECISIONS), any_texts(2)
)
_DECISIONS = st.lists(_ONE, min_size=1, max_size=3)
BOOK = apply(Playbook(), Delta("01", [Add("s", "Check the units.", id="s-1")])).playbook


@given(_DECISIONS)
def test_a_delta_of_decisions_alone_is_remembered_and_changes_no_lesson(decisions: list[Decision]) -> None:
    delta = Delta("02", decisions=decisions)
    after = apply(BOOK, delta).playbook
    assert after.lessons == BOOK.lessons
    storable = all(
        text.isascii() or text.encode("utf-8", "ignore").decode() == text for one in decisions for text in (one.change, one.note)
    )
    assert after.holds("02") is storable  # half a character can be kept by no file
    assert apply(after, delta).playbook == after
    assert dumps(loads(dumps(after))) == dumps(after)


def test_deltas_of_decisions_arrive_in_any_order() -> None:
    one = Delta("02", [Add("s", "Check the dates.")], decisions=[Decision(change="h-1", state="approved")])
    two = Delta("03", decisions=[Decision(change="h-1", state="open")])
    forth = apply(apply(BOOK, one).playbook, two).playbook
    back = apply(apply(BOOK, two).playbook, one).playbook
    assert dumps(forth) == dumps(back)


def test_a_decision_that_is_none_stops_its_delta_with_a_reason() -> None:
    for strange in (Decision(change="h-1", state="perhaps"), {"change": "h-1", "state": "approved"}):
        found = apply(BOOK, Delta("02", [Add("s", "T")], decisions=[strange]))  # type: ignore[list-item]
        assert found.playbook is BOOK
        assert "decision" in found.receipts[0].reason
