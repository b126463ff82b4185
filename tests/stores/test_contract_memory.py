"""Laws of every store: what it keeps of a memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.periods import touched
from tenure.ports import Store
from tenure.stores import log_search
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
        assert [hit.id for hit in look.find_in_log("the invoice", limit=9)[1].hits] == ["e0001"]
        assert [hit.id for hit in look.find_in_log("請求書", limit=9)[1].hits] == ["e0002"]
        assert [hit.id for hit in look.find_in_log("PDF/A", limit=9)[1].hits] == ["e0002"]
        for nothing in ("", "zebra", '" OR wall:wall1 *'):
            sessions, said = look.find_in_log(nothing, limit=9)
            assert not sessions.hits
            assert not said.hits


def test_sessions_are_found_by_all_that_was_said_and_entries_by_what_persons_said(store: Store) -> None:
    scope = fresh_scope()
    asked = entry(1, NOON, "Which violin strings?", session="s 1", role="user")
    told = entry(2, NOON, "Gut strings sound warm on a violin.", session="s 1", role="assistant")
    other = entry(3, NOON, "Tomatoes want sun.", role="user")
    with store.writing(scope) as work:
        work.keep_entries([asked, told, other])
    with store.reading(scope) as look:
        sessions, said = look.find_in_log("a warm violin", limit=9)
        assert [hit.id for hit in sessions.hits] == ["2026-03-15 s 1"]
        assert [(hit.id, hit.group) for hit in said.hits] == [("e0001", "2026-03-15 s 1")]
        sessions, said = look.find_in_log("tomatoes", limit=9)
        assert [hit.id for hit in sessions.hits] == ["2026-03-15 "]
        assert look.find_in_log("gut", limit=9)[1].hits == ()


def test_sessions_of_a_day_come_by_their_place_each_in_order(store: Store) -> None:
    scope, later = fresh_scope(), NOON + timedelta(minutes=1)
    made = [
        entry(1, NOON, "first", session="b"),
        entry(2, NOON, "second", session="a"),
        entry(3, later, "third", session="b"),
        entry(4, later, "fourth"),
        entry(5, NOON + timedelta(days=1), "another day", session="b"),
    ]
    with store.writing(scope) as work:
        work.keep_entries(made[::-1])
    with store.reading(scope) as look:
        assert look.sessions_on("2026-03-15", ["b", "", "unknown"]) == {1: (made[0], made[2]), 3: (made[3],)}
        assert look.sessions_on("2026-03-15", ["a"]) == {2: (made[1],)}
        assert look.sessions_on("2026-03-18", ["a"]) == {}


def test_a_word_of_every_entry_finds_the_newest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search, "COMMON", 3)
    monkeypatch.setattr(log_search, "READ", 2)
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.keep_entries([entry(n, NOON + timedelta(minutes=n), "an invoice", session=f"s{n}") for n in range(1, 8)])
    with store.reading(scope) as look:
        assert {hit.id for hit in look.find_in_log("invoice", limit=9)[1].hits} == {"e0006", "e0007"}


def test_the_topics_of_all_months_are_those_of_their_nodes(store: Store) -> None:
    scope = fresh_scope()
    made = [entry(n, NOON + timedelta(days=30 * n), "violin strings", topic="music") for n in range(3)]
    nodes, _ = build(made)
    with store.writing(scope) as work:
        work.keep_entries(made)
        assert work.memory_topics() == []
        for node in nodes.values():
            work.keep_node(node)
        assert list(work.memory_topics()) == [topic for month in work.nodes("month") for topic in month.topics]
        assert len(work.memory_topics()) == 3


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


def test_entries_that_are_taken_out_are_found_no_more_and_what_was_made_of_them_is_due(store: Store) -> None:
    scope = fresh_scope()
    first, second = entry(1, NOON, "zebra one", event="e-1"), entry(2, NOON, "zebra two")
    nodes, _ = build([first, second])
    with store.writing(scope) as work:
        work.keep_entries([first, second])
        for node in nodes.values():
            work.keep_node(node)
        assert work.drop_entries([first.id, first.id, "unknown"]) == 1
        assert work.drop_entries([]) == 0
    with store.reading(scope) as look:
        assert [one.id for one in look.entries()] == [hit.id for hit in look.find_in_log("zebra", limit=9)[1].hits] == [second.id]
        assert [one.key for one in look.stale_periods()] == ["2026-03-15", "2026-W11", "2026-03"]
        assert look.node(touched([first.day])[0]) is not None  # what stands above is for the caller to build or drop
        assert look.check_memory() == []
        assert (look.counts()["memory_entries"], look.counts()["memory_nodes"]) == (1, 3)
    with store.writing(scope) as work:
        assert work.keep_entries([first]) == 1  # its id and its event are free again
        work.drop_entries([first.id, second.id])
        assert work.check_memory() == ["nodes of days without entries: 2026-03-15"]


def test_texts_of_all_layers_are_seen_at_once_and_a_scope_with_a_memory_alone_is_listed(store: Store) -> None:
    scope, noted, built = fresh_scope(), fresh_scope(), fresh_scope()
    with store.writing(scope) as work:
        work.put_memory_file("plan", "b", "two")
        work.put_memory_file("plan", "a", "one")
        work.put_memory_file("memory.built", "", "2026-03-15")
        assert list(work.memory_texts().items()) == [(("memory.built", ""), "2026-03-15"), (("plan", "a"), "one"), (("plan", "b"), "two")]
    with store.writing(noted) as work:
        work.keep_entries([entry(1, NOON, "said")])
    with store.writing(built) as work:
        work.put_memory_file("memory.built", "", "2026-03-15")
    assert {scope, noted} <= set(store.scopes())
    assert built not in store.scopes()


def test_nodes_are_due_when_that_is_said(store: Store) -> None:
    scope, periods = fresh_scope(), touched(["2026-03-15"])
    with store.writing(scope) as work:
        work.mark_stale(periods)
        work.mark_stale(periods)
        assert list(work.stale_periods()) == list(periods)
        assert work.counts()["memory_nodes"] == 0
