"""Law 1: `apply` is pure and total."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenure import Add, Delta, Merge, Pin, Playbook, Receipt, Restore, Retire, Tally, Update, apply, dumps
from tenure.playbook.delta import Operation
from tenure.playbook.lessons import MOST_COUNTED, Evidence
from tests.strategies import LONE_SURROGATES, NAMES, History, any_deltas, fold, histories, playbooks, wrong_operations

STATUSES = {"applied", "merged", "held", "skipped"}


def check_receipts(receipts: tuple[Receipt, ...], delta: Delta) -> None:
    assert len(receipts) == len(delta.operations)
    for receipt in receipts:
        assert receipt.status in STATUSES
        assert isinstance(receipt.id, str)
        if receipt.status in ("merged", "held", "skipped"):
            assert receipt.reason


START = fold(Playbook(), [Delta("01A", [Add("invoices", "check units", id=name) for name in NAMES])])


@given(playbooks(), any_deltas())
def test_apply_answers_every_operation_of_any_well_typed_delta(playbook: Playbook, delta: Delta) -> None:
    before = dumps(playbook), dumps(playbook, "ace")
    applied = apply(playbook, delta)
    check_receipts(applied.receipts, delta)
    dumps(applied.playbook).encode("utf-8")
    dumps(applied.playbook, "ace").encode("utf-8")
    assert (dumps(playbook), dumps(playbook, "ace")) == before


@given(st.lists(wrong_operations(), max_size=4))
def test_wrong_types_are_receipts_and_harm_nothing(operations: list[Any]) -> None:
    good = Add("invoices", "Convert each line.")
    delta = Delta("01K", [good, *operations])
    applied = apply(START, delta)
    check_receipts(applied.receipts, delta)
    assert applied.receipts[0].status in ("applied", "merged")
    assert "Convert each line." in [lesson.text for lesson in applied.playbook.every_lesson]
    dumps(applied.playbook).encode("utf-8")
    dumps(applied.playbook, "ace").encode("utf-8")


@given(st.one_of(st.none(), st.integers(), st.floats(), st.binary(), st.lists(st.integers()), st.sampled_from(("", *LONE_SURROGATES))))
@example(object())
def test_a_delta_with_an_unusable_identity_is_skipped_whole(wrong: Any) -> None:
    made: list[Operation] = [Add("s", "text"), Tally(NAMES[0], helpful=1)]
    odd: Any = wrong or 0
    for delta in (Delta(wrong, made), Delta("01K", made, author=odd), Delta("01K", made, at=odd)):
        applied = apply(START, delta)
        assert applied.playbook is START
        assert [receipt.status for receipt in applied.receipts] == ["skipped", "skipped"]
        assert all(receipt.reason for receipt in applied.receipts)


@given(st.one_of(st.integers(), st.binary(), st.lists(st.integers()), st.sampled_from(LONE_SURROGATES)))
def test_a_key_that_is_no_text_is_a_reason(key: Any) -> None:
    receipt = apply(START, Delta("01K", [Add("s", "text")], key=key)).receipts[0]
    assert receipt.status == "skipped"
    assert "key" in receipt.reason


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (Add("s", ""), "empty text"),
        (Add("s", " \n\u2028\t"), "empty text"),
        (Add("s", "a\udc80b"), "half a character"),
        (Add("s", "text", kind="rule"), "unknown kind 'rule'"),
        (Add("s", "text", status="retired"), "unknown status 'retired'"),
        (Update("s-99999", text="B"), "unknown lesson 's-99999'"),
        (Update("ctx-1"), "nothing to change"),
        (Update("ctx-1", text=" "), "empty text"),
        (Tally("ctx-1"), "nothing to count"),
        (Tally("ctx-1", helpful=MOST_COUNTED + 1), "more than can be counted"),
        (Tally("ctx-1", evidence=(Evidence(run="r", step=-(10**400)),)), "not a list of places"),
        (Merge([], "ctx-1"), "no other known lesson to merge among no ids"),
        (Merge(["ctx-1"], "ctx-1"), "no other known lesson"),
        (Merge(["x-1", "x-2"], "ctx-1"), "'x-1', 'x-2'"),
        (Merge(["ctx-1"], "x-1"), "unknown lesson 'x-1'"),
        (Merge([1], "ctx-1"), "not a list of texts"),  # type: ignore[list-item]
        (Merge(7, "ctx-1"), "not a list of texts"),  # type: ignore[arg-type]
        (Merge(None, "ctx-1"), "not a list of texts"),  # type: ignore[arg-type]
        (Retire("x-1"), "unknown lesson 'x-1'"),
        (Restore("x-1", unmerge=True), "unknown lesson 'x-1'"),
        (Pin("x-1"), "unknown lesson 'x-1'"),
        (Pin("ctx-1", pinned="yes"), "not true or false"),  # type: ignore[arg-type]
        (Tally("ctx-1", helpful=True), "not a whole number"),
        ({"op": "ADD"}, "dict is not an operation"),
        (None, "NoneType is not an operation"),
    ],
)
def test_what_cannot_be_done_is_skipped_with_its_reason(operation: Any, reason: str) -> None:
    applied = apply(START, Delta("01K", [operation]))
    assert applied.playbook is START
    assert applied.receipts[0].status == "skipped"
    assert reason in applied.receipts[0].reason


@given(histories())
def test_receipts_come_one_for_each_operation_in_order(history: History) -> None:
    playbook = Playbook()
    for delta in history.deltas:
        applied = apply(playbook, delta)
        check_receipts(applied.receipts, delta)
        for operation, receipt in zip(delta.operations, applied.receipts, strict=True):
            # A strange operation in front moves every receipt by one and changes none.
            assert receipt.status == "skipped" or isinstance(operation, Add | Update | Tally | Merge | Retire | Restore | Pin)
        shifted = apply(playbook, replace(delta, operations=[None, *delta.operations]))  # type: ignore[list-item]
        assert shifted.receipts[1:] == applied.receipts
        assert dumps(shifted.playbook) == dumps(applied.playbook)
        playbook = applied.playbook


def test_a_text_of_one_megabyte_is_a_text_like_any_other() -> None:
    text = "Convert each line.\n## X\n[x-1] helpful=9 harmful=0 :: 多币种 \r\n\x00" * 20_000
    assert len(text.encode()) > 1_000_000
    applied = apply(Playbook(), Delta("01A", [Add("s", text)]))
    assert [lesson.text for lesson in applied.playbook] == [text]
