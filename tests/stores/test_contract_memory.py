"""Laws of every store: what it keeps of a memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.periods import touched
from tenure.ports import Store
from tests.memory_tree.trees import build, entry, many_entries
from tests.stores.contract import fresh_scope

NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)


@given(entries=many_entries())
@settings(max_examples=25)
def test_entries_and_nodes_come_back_as_they_were_kept(store: Store, entries: list[Entry]) -> None:
    scope = fresh_scope()
    nodes, _ = build(entries)
    with store.writing(scope) as work:
        assert work.keep_entries(entries[::-1]) == len(entries)
        assert work.keep_entries(entries) == 0
    with store.reading(scope) as look:
        assert list(look.entries()) == sorted(entries, key=lambda one: one.order)
        assert list(look.memory_days()) == sorted({one.day for one in entries})
        assert set(look.stale_periods()) == set(touched([one.day for one in entries]))
        assert look.nodes("day") == []
    with store.writing(scope) as work:
        for node in nodes.values():
            work.keep_node(node)
    with store.reading(scope) as look:
        for node in nodes.values():
            assert look.node(node.period) == node
        assert [one.period.key for one in look.nodes("day")] == sorted({one.day for one in entries})


def test_an_event_counts_once_however_often_it_is_told(store: Store) -> None:
    scope, one = fresh_scope(), entry(1, NOON, "said", event="host-7")
    with store.writing(scope) as work:
        assert work.keep_entries([one, replace(one, id="other")]) == 1
    with store.writing(scope) as work:
        assert work.keep_entries([replace(one, id="third")]) == 0
        assert work.keep_entries([entry(2, NOON, "no event"), entry(3, NOON, "no event either")]) == 2


def test_what_was_written_is_found_by_the_next_look(store: Store) -> None:
    scope, other = fresh_scope(), fresh_scope()
    with store.writing(scope) as work:
        work.keep_entries([entry(1, NOON, "Converted the invoices"), entry(2, NOON, "請求書はPDF/Aで保存"), entry(3, NOON, "nothing")])
    with store.writing(other) as work:
        work.keep_entries([entry(4, NOON, "invoice of another scope")])
    with store.reading(scope) as look:
        assert [one.id for one in look.entries_holding(["invoice"], limit=9)] == ["e0001"]
        assert [one.id for one in look.entries_holding(["請求書"], limit=9)] == ["e0002"]
        assert look.entries_holding([], limit=9) == []


def test_a_late_entry_makes_the_nodes_above_it_stale_again(store: Store) -> None:
    scope, first = fresh_scope(), entry(1, NOON, "a")
    nodes, _ = build([first])
    with store.writing(scope) as work:
        work.keep_entries([first])
        for node in nodes.values():
            work.keep_node(node)
        assert work.stale_periods() == []
        work.keep_entries([entry(2, NOON, "late")])
        assert [one.key for one in work.stale_periods()] == ["2026-03-15", "2026-W11", "2026-03"]


@pytest.mark.parametrize("layer", ["scratchpad", "plan"])
def test_files_of_a_layer_are_written_over_and_removed(store: Store, layer: str) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.put_memory_file(layer, "a", "one")
        work.put_memory_file(layer, "b", "two")
        work.put_memory_file(layer, "a", "three\nlines")
    with store.writing(scope) as work:
        assert (work.memory_file(layer, "a"), list(work.memory_files(layer))) == ("three\nlines", ["a", "b"])
        work.put_memory_file(layer, "b", "")
        assert (work.memory_file(layer, "b"), list(work.memory_files(layer))) == ("", ["a"])
