"""A tombstone of another installation takes out, and never puts in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.governance.lessening import common, is_less
from tenure.playbook.delta import Add, Delta, Retire, Tally
from tenure.playbook.lessons import Evidence
from tenure.playbook.removal import Gone, without
from tenure.playbook.subject import Subject

WHOLE = Delta(
    "01",
    [
        Add("s", "Ask Ann for the code", evidence=(Evidence(run="r1", step=0), Evidence(run="r2", step=1)), author="extractive"),
        Add("s", "Pay once", applies_when="Ann is away", id="s-2"),
        Tally("s-2", helpful=1, support=2, evidence=(Evidence(run="r1", step=2), Evidence(run="r2", step=2))),
        Retire("s-9", "Ann and Bob said so"),
    ],
    key="learn:r1:3:x",
    author="person:ann",
    cause="run",
    note="from Bob",
)
GONE = (
    Gone(subjects=(Subject("Ann"),)),
    Gone(subjects=(Subject("Bob"),)),
    Gone(runs=frozenset({"r2"})),
    Gone(runs=frozenset({"r1"})),
    Gone(everything=True),
)


@pytest.mark.parametrize("gone", GONE)
def test_what_forgetting_leaves_is_less(gone: Gone) -> None:
    less = without(WHOLE, gone)
    assert less != WHOLE
    assert is_less(less, WHOLE)
    assert not is_less(WHOLE, less)


@pytest.mark.parametrize(
    "other",
    [
        replace(WHOLE, operations=(*WHOLE.operations, Retire("s-2"))),
        replace(WHOLE, operations=(Add("s", "Pay twice"),)),
        replace(WHOLE, operations=(Add("s", "Pay twice [forgotten]"),)),
        replace(WHOLE, operations=(Add("s", "code the for Ann Ask", author="extractive"),)),
        replace(WHOLE, operations=WHOLE.operations[::-1]),
        replace(WHOLE, operations=(Tally("s-2", helpful=1, support=3),)),
        replace(WHOLE, operations=(Tally("s-2", helpful=0, support=2),)),
        replace(WHOLE, author="person:mallory"),
        replace(WHOLE, key="learn:r2:3:x"),
        replace(WHOLE, id="02"),
        replace(WHOLE, cause="review"),
    ],
)
def test_what_says_anything_else_is_not_less(other: Delta) -> None:
    assert not is_less(other, WHOLE)


@given(st.lists(st.sampled_from(GONE), max_size=3), st.lists(st.sampled_from(GONE), max_size=3))
def test_what_two_have_in_common_is_less_than_both(one: list[Gone], other: list[Gone]) -> None:
    ours, theirs = WHOLE, WHOLE
    for gone in one:
        ours = without(ours, gone)
    for gone in other:
        theirs = without(theirs, gone)
    both = common(ours, theirs)
    assert is_less(both, WHOLE)
    for gone in (*one, *other):
        assert without(both, gone).operations == both.operations
