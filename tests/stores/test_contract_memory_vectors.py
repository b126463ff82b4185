"""Laws of every store: vectors of a memory's sessions and of entries of persons, and what they find in the raw log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tenure.memory_tree.entries import Entry
from tenure.ports import Embedded, Store
from tenure.stores import sql_vectors
from tests.memory_tree.trees import entry
from tests.stores.contract import fresh_scope

NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)
TALK = [
    entry(1, NOON, "Which strings for the violin?", session="a b", role="user"),
    entry(2, NOON, "Gut strings sound warm.", session="a b", role="assistant"),
    entry(3, NOON + timedelta(minutes=1), "And the bow?", session="a b", role="user"),
    entry(4, NOON + timedelta(days=1), "Tomatoes want sun.", role="user"),
    entry(5, NOON + timedelta(days=2), "Only told.", session="c", role="assistant"),
]
ABOUT, TOMATOES, TOLD = "2026-03-15 a b", "2026-03-16 ", "2026-03-17 c"


def kept(store: Store, entries: Sequence[Entry] = TALK, scope: str = "") -> str:
    scope = scope or fresh_scope()
    with store.writing(scope) as work:
        work.keep_entries(entries)
    return scope


def waiting(store: Store, scope: str, **more: object) -> dict[tuple[str, str], str]:
    with store.reading(scope) as look:
        return {(one.kind, one.id): one.text for one in look.unembedded("m", limit=1_000, **more)}  # type: ignore[arg-type]


def put(store: Store, scope: str, vectors: Mapping[str, Sequence[float] | None]) -> int:
    """Store vectors for what waits under these ids."""
    with store.reading(scope) as look:
        found = look.unembedded("m", limit=1_000)
    made = [Embedded(kind=one.kind, id=one.id, text_hash=one.text_hash, vector=vectors[one.id]) for one in found if one.id in vectors]
    with store.writing(scope) as work:
        return work.put_vectors("m", made)


def near(store: Store, scope: str, kind: str, vector: Sequence[float] = (1.0, 0.0)) -> list[str]:
    with store.reading(scope) as look:
        return [hit.id for hit in look.nearest(vector, model="m", kind=kind).hits]  # type: ignore[arg-type]


def found(store: Store, scope: str, text: str, vector: Sequence[float] | None, *, limit: int = 9) -> tuple[list[str], list[str]]:
    with store.reading(scope) as look:
        about, said = look.find_in_log(text, limit=limit, model="m", vector=vector)
        return [hit.id for hit in about.hits], [hit.id for hit in said.hits]


def crowd(count: int = 12) -> list[Entry]:
    """Sessions of which each says something else."""
    return [entry(100 + n, NOON + timedelta(minutes=n), f"thing{n}", session=f"s{n}", role="user") for n in range(count)]


def directions(entries: Sequence[Entry], near: str) -> dict[str, Sequence[float]]:
    """Vectors of entries and of their sessions: one points where the question does, the others elsewhere."""
    found: dict[str, Sequence[float]] = {}
    for place, one in enumerate(entries):
        found[one.id] = found[f"{one.day} {one.session}"] = (1.0, 0.0) if one.id == near else (0.01 * place, 1.0)
    return found


def test_what_waits_is_sessions_as_wholes_then_what_persons_said_the_newest_first(store: Store) -> None:
    scope = kept(store)
    assert list(waiting(store, scope).items()) == [
        (("session", TOLD), "Only told."),
        (("session", TOMATOES), "Tomatoes want sun."),
        (("session", ABOUT), "Which strings for the violin?\nAnd the bow?"),
        (("entry", "e0004"), "Tomatoes want sun."),
        (("entry", "e0003"), "And the bow?"),
        (("entry", "e0001"), "Which strings for the violin?"),
    ]
    assert list(waiting(store, scope, kinds=("entry",), since="2026-03-16")) == [("entry", "e0004")]
    assert list(waiting(store, scope, kinds=("session",), since="2026-03-17")) == [("session", TOLD)]
    assert waiting(store, scope, kinds=("lesson", "run")) == {}
    with store.reading(scope) as look:
        assert look.embeddable() == 6
        assert [one.id for one in look.unembedded("m", limit=2)] == [TOLD, TOMATOES]


def test_what_has_a_vector_waits_no_more_and_a_session_that_grows_waits_again(store: Store) -> None:
    scope = kept(store)
    assert put(store, scope, {ABOUT: [1.0, 0.0], TOLD: None, "e0001": [1.0, 0.0], "e0003": [0.0, 1.0]}) == 4
    assert set(waiting(store, scope)) == {("session", TOMATOES), ("entry", "e0004")}
    assert (near(store, scope, "session"), near(store, scope, "entry")) == ([ABOUT], ["e0001", "e0003"])
    kept(store, [entry(6, NOON + timedelta(minutes=2), "A new bow.", session="a b", role="user")], scope)
    assert near(store, scope, "session") == []
    assert set(waiting(store, scope)) == {("session", TOMATOES), ("session", ABOUT), ("entry", "e0004"), ("entry", "e0006")}
    assert near(store, scope, "entry") == ["e0001", "e0003"]


def test_a_vector_of_what_grew_or_went_meanwhile_is_not_stored(store: Store) -> None:
    scope = kept(store)
    with store.reading(scope) as look:
        asked = look.unembedded("m", limit=1_000)
    with store.writing(scope) as work:
        work.keep_entries([entry(6, NOON + timedelta(minutes=2), "A new bow.", session="a b", role="user")])
        work.drop_entries(["e0004"])
    made = [Embedded(kind=one.kind, id=one.id, text_hash=one.text_hash, vector=[1.0, 0.0]) for one in asked]
    with store.writing(scope) as work:
        assert work.put_vectors("m", made) == 3  # what was told, and the two entries of the session
    assert (near(store, scope, "session"), near(store, scope, "entry")) == ([TOLD], ["e0001", "e0003"])


def test_what_is_taken_out_leaves_no_vector_neither_its_own_nor_that_of_its_session(store: Store) -> None:
    scope = kept(store)
    put(store, scope, dict.fromkeys([ABOUT, TOMATOES, "e0001", "e0003", "e0004"], (1.0, 0.0)))
    with store.writing(scope) as work:
        work.drop_entries(["e0003"])
    assert (near(store, scope, "session"), near(store, scope, "entry")) == ([TOMATOES], ["e0001", "e0004"])
    with store.reading(scope) as look:
        assert dict(look.vector_counts()) == {"m": 3}


def test_a_session_that_is_filed_in_another_day_gets_another_vector_and_its_entries_keep_theirs(store: Store) -> None:
    scope = kept(store)
    put(store, scope, dict.fromkeys([ABOUT, TOMATOES, "e0001", "e0003", "e0004"], (1.0, 0.0)))
    with store.writing(scope) as work:
        work.refile({"e0003": "2026-03-16"})
    assert (near(store, scope, "session"), near(store, scope, "entry")) == ([TOMATOES], ["e0001", "e0003", "e0004"])
    assert ("session", "2026-03-16 a b") in waiting(store, scope)


def test_another_scope_is_never_near_and_counts_for_nothing(store: Store) -> None:
    mine, theirs = kept(store), kept(store)
    put(store, theirs, dict.fromkeys([ABOUT, "e0001"], (1.0, 0.0)))
    assert (near(store, mine, "session"), near(store, mine, "entry")) == ([], [])
    assert found(store, mine, "quite another thing", (1.0, 0.0)) == ([], [])
    with store.reading(mine) as look:
        assert dict(look.vector_counts()) == {}


def test_what_holds_no_word_of_the_question_is_found_where_its_meaning_stands_out(store: Store) -> None:
    entries = crowd()
    scope = kept(store, entries)
    assert found(store, scope, "quite another matter", (1.0, 0.0)) == ([], [])
    put(store, scope, directions(entries, near="e0107"))
    assert found(store, scope, "quite another matter", None) == ([], [])
    assert found(store, scope, "quite another matter", (1.0, 0.0)) == (["2026-03-15 s7"], ["e0107"])
    assert found(store, scope, "quite another matter", (-1.0, -1.0)) == ([], [])  # something is always nearest; here nothing stands out
    assert found(store, scope, "quite another matter", (1.0, 0.0, 0.0)) == ([], [])


def test_words_and_meaning_vote_together(store: Store) -> None:
    entries = [*crowd(), entry(200, NOON, "thing7 again", session="z", role="user")]
    scope = kept(store, entries)
    put(store, scope, directions(entries, near="e0200"))
    assert found(store, scope, "thing7", None)[1][0] == "e0107"
    sessions, said = found(store, scope, "thing7", (1.0, 0.0))
    assert (sessions[0], said[0]) == ("2026-03-15 z", "e0200")
    assert {"2026-03-15 s7", "e0107"} <= {*sessions, *said}


@pytest.mark.parametrize("bounded", [False, True])
def test_where_there_are_very_many_the_newest_and_what_words_find_are_compared(
    store: Store, monkeypatch: pytest.MonkeyPatch, bounded: bool
) -> None:
    if bounded:
        monkeypatch.setattr(sql_vectors, "MOST_COMPARED", 10)
        monkeypatch.setattr(sql_vectors, "NEWEST_COMPARED", 9)
    entries = crowd()
    scope = kept(store, entries)
    for one in entries:  # in order, so that it is known which are the newest
        put(
            store,
            scope,
            {name: vector for name, vector in directions(entries, near="e0111").items() if name in (one.id, f"{one.day} {one.session}")},
        )
    assert found(store, scope, "quite another matter", (1.0, 0.0)) == (["2026-03-15 s11"], ["e0111"])
    with store.reading(scope) as look:
        _, said = look.find_in_log("thing0", limit=9, model="m", vector=(1.0, 0.0))
        assert next(hit for hit in said.hits if hit.id == "e0100").cosine == pytest.approx(0.0, abs=1e-6)
        compared = look.nearest((1.0, 0.0), model="m", kind="entry").compared
    assert compared in ((9,) if bounded and "sql" in type(store).__module__ else (12,))
