"""The memory of a scope, over a real store."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tenure import Tenure, UserError
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.periods import Period
from tenure.ranking import estimate_tokens
from tests.memory_tree.trees import history


class Told:
    """A clock that says what it is told."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Told:
    return Told(NOON)


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path, clock: Told) -> Tenure:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"
    return Tenure.open(url, scope="mine", clock=clock, embedder="none")


def _nodes(book: Tenure) -> list[object]:
    with book.store.reading(book.scope) as look:
        return [node for kind in ("day", "week", "month") for node in look.nodes(kind)]


def test_what_was_written_is_recalled_by_the_next_call_with_its_age(book: Tenure, clock: Told) -> None:
    book.memory.log("We convert each invoice at the invoice-date rate.", session="a", role="user")
    clock.moment += timedelta(days=20)
    found = book.memory.recall("at which rate are invoices converted?")
    assert [(one.where, one.age) for one in found.found] == [("2026-03-15#1", "2 w")]
    assert "invoice-date rate" in found.found[0].text


def test_nothing_found_is_said(book: Tenure) -> None:
    assert "empty" in book.memory.recall("zebra").note
    book.memory.log("about horses")
    assert "Nothing in the memory holds any word of this" in book.memory.recall("zebra").note


def test_secrets_are_gone_before_anything_is_kept(book: Tenure) -> None:
    book.memory.log("use AKIAABCDEFGHIJKLMNOP here", topic="keys")
    book.memory.write("working", "postgres://u:p4ss@h/db")
    book.memory.keep([Entry(id="x", at="2026-03-15T01:00:00.000000+00:00", day="2026-03-15", text="AKIAABCDEFGHIJKLMNOP")])
    book.memory.compact()
    with book.store.reading(book.scope) as look:
        said = repr((look.entries(), look.nodes("day"), look.memory_file("working"), book.memory.recall("use here")))
    assert "AKIA" not in said
    assert "p4ss" not in said


def test_an_event_told_three_times_is_one_entry(book: Tenure) -> None:
    kept = [book.memory.flush("summary of the session", event="compact-1") for _ in range(3)]
    assert [bool(one.compacted.built) for one in kept] == [True, False, False]
    with book.store.reading(book.scope) as look:
        assert len(look.entries()) == 1


def test_the_type_is_what_the_writer_set_whoever_speaks(book: Tenure) -> None:
    entry = book.memory.log("always use metric units", role="user")
    assert entry is not None
    assert entry.type == "log"
    with pytest.raises(UserError, match="no type of entry"):
        book.memory.log("x", type="assistant")


def test_a_node_is_fixed_when_its_day_is_over_and_opened_again_by_a_late_entry(book: Tenure, clock: Told) -> None:
    book.memory.log("first")
    book.memory.compact()
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert node.state == "tentative"
    clock.moment += timedelta(days=1)
    assert "2026-03-15" in book.memory.compact().built
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert (node.state, node.entries) == ("fixed", 1)
    assert book.memory.compact().built == ()
    book.memory.log("late", at=NOON + timedelta(hours=1))
    with book.store.reading(book.scope) as look:
        assert Period("day", "2026-03-15") in look.stale_periods()
    book.memory.compact()
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert (node.state, node.entries) == ("fixed", 2)


def test_the_tree_that_grew_is_the_tree_that_is_rebuilt_from_raw(book: Tenure, clock: Told) -> None:
    entries = history(40)
    clock.moment = datetime(2027, 1, 5, tzinfo=UTC)
    random.Random(7).shuffle(entries)
    for start in range(0, len(entries), 17):
        book.memory.keep(entries[start : start + 17])
        book.memory.compact()
    grown, root = _nodes(book), book.memory.root()
    book.memory.compact(all=True)
    assert _nodes(book) == grown
    assert book.memory.root() == root


def test_only_what_entries_arrived_in_is_built(book: Tenure, clock: Told) -> None:
    clock.moment = datetime(2027, 1, 5, tzinfo=UTC)
    book.memory.keep(history(60))
    book.memory.compact()
    book.memory.log("late", at=datetime(2026, 11, 12, tzinfo=UTC))
    assert book.memory.compact().built == ("2026-11-12", "2026-W46", "2026-11")


def test_days_begin_in_the_zone_of_the_scope(book: Tenure, clock: Told) -> None:
    book.memory.set_zone("Asia/Tokyo")
    clock.moment = datetime(2026, 3, 15, 16, tzinfo=UTC)
    entry = book.memory.log("late at night")
    assert entry is not None
    assert (entry.day, entry.at) == ("2026-03-16", "2026-03-15T16:00:00.000000+00:00")
    with pytest.raises(UserError, match="no zone"):
        book.memory.set_zone("Mars/Olympus")


@pytest.mark.parametrize(("layer", "most"), [("scratchpad", 150), ("working", 100), ("queue", 50)])
def test_texts_that_are_always_loaded_keep_their_caps(book: Tenure, layer: str, most: int) -> None:
    book.memory.write(layer, "line\n" * most)
    with pytest.raises(UserError, match=f"would have {most + 1} lines"):
        book.memory.write(layer, "line\n" * (most + 1))
    assert book.memory.read(layer) == "line\n" * most
    assert set(book.memory.start().layers) == {layer}


def test_knowledge_holds_what_a_person_said_to_keep_word_for_word(book: Tenure) -> None:
    book.memory.log("Never deploy on Fridays.", type="feedback", topic="releases")
    book.memory.write("knowledge", "How we ship.", name="releases")
    assert book.memory.read("knowledge", name="releases") == "How we ship.\n- 2026-03-15: Never deploy on Fridays."
    with pytest.raises(UserError, match="has a name"):
        book.memory.write("plan", "x")
    with pytest.raises(UserError, match="no layer 'notes'"):
        book.memory.write("notes", "x")


def test_a_checkpoint_is_one_entry_with_its_parts(book: Tenure) -> None:
    entry = book.memory.checkpoint(request="fix login", outcome="fixed in 3f2a", topic="login", event="t1")
    assert entry is not None
    assert entry.text == "Request: fix login\nOutcome: fixed in 3f2a"
    assert book.memory.checkpoint(request="fix login", outcome="again", event="t1") is None
    with pytest.raises(UserError, match="nothing to keep"):
        book.memory.checkpoint()


def test_the_root_of_a_start_is_under_its_cap(book: Tenure, clock: Told) -> None:
    clock.moment = datetime(2026, 11, 30, 20, tzinfo=UTC)
    book.memory.keep(history(400))
    root = book.memory.start().root
    assert estimate_tokens(root) <= 3_000
    assert len(root.splitlines()) <= 100
    assert "rule 0" in root
