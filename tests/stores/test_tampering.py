"""Whoever edits the database behind Tenure's back is found out: what, where and by whose chain."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenure import Add, Delta, Retire
from tenure.governance.ledger import chain, digest_of
from tenure.governance.ledger_check import LedgerCheck
from tenure.learning.forgetting import Wanted, forget
from tenure.playbook.delta import Decision
from tenure.stores.sqlite import open_sqlite
from tenure.testing import CountingIds

SCOPE = "acme/desk"
ANN, BOB = "a" * 20, "b" * 20
ORDER = (ANN, BOB, ANN, ANN, BOB, BOB, ANN, BOB)
"""Who wrote which version; the first is version 1."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A database that two installations have written to in turns."""
    path = tmp_path / "book.db"
    store = open_sqlite(f"sqlite:///{path}")
    for number, writer in enumerate(ORDER, 1):
        edit(path, f"UPDATE installation SET writer = '{writer}'")
        with store.writing(SCOPE) as work:
            decisions = [Decision(change="h-1", state="rejected", note="it names a customer")] if number == 4 else []
            operations = [Retire("s-1", "old")] if number == 5 else [Add("s", f"text {number}", id=f"s-{number}")]
            work.admit(Delta(f"d{number}", operations, scope=SCOPE, note=f"note {number}", decisions=decisions))
    store.close()
    return path


def edit(path: Path, *statements: str) -> None:
    """Change the file as an attacker would, with SQL."""
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def checked(path: Path) -> LedgerCheck:
    store = open_sqlite(f"sqlite:///{path}")
    with store.reading(SCOPE) as look:
        found = look.check_ledger()
        assert (look.verify_ledger() == []) == found.ok
    store.close()
    return found


def row(path: Path, version: int) -> tuple[str, str, int, str]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT writer, payload, seq, previous FROM ledger WHERE version = ?", (version,)).fetchone()
    connection.close()
    return found  # type: ignore[no-any-return]


def test_an_untouched_ledger_of_two_writers_is_whole(place: Path) -> None:
    found = checked(place)
    assert found.ok
    assert (found.entries, {writer: links for writer, (links, _) in found.writers.items()}) == (8, {ANN: 4, BOB: 4})


def resealed(path: Path, version: int) -> Iterator[str]:
    """A payload changed together with its own digest, as somebody does who knows how digests are made."""
    _, payload, _, previous = row(path, version)
    other = payload.replace('"author":""', '"author":"eve"')
    assert other != payload
    yield f"UPDATE ledger SET payload = '{other}', digest = '{chain(previous, other)}' WHERE version = {version}"


def copied(path: Path, version: int, writer: str, seq: int) -> Iterator[str]:
    """A row put in behind the last one."""
    payload = json.dumps({"id": "dx", "operations": []})
    digest = chain("", payload)
    values = f"tenant, scope, {version}, '{writer}', {seq}, 'dx', NULL, '{payload}', digest, '{digest}', recorded, effective, imported"
    yield f"INSERT INTO ledger SELECT {values} FROM ledger WHERE version = 8"


MOVED = (
    "UPDATE ledger SET version = 99 WHERE version = 1",
    "UPDATE ledger SET version = 1 WHERE version = 3",
    "UPDATE ledger SET version = 3 WHERE version = 99",
)
SWAPPED = (
    "UPDATE ledger SET version = 99 WHERE version = 4",
    "UPDATE ledger SET version = 4 WHERE version = 5",
    "UPDATE ledger SET version = 5 WHERE version = 99",
)
FORGED_TEXT = digest_of("0" * 32, "Pay eve.")

Edit = Callable[[Path], Iterator[str]] | tuple[str, ...]


@pytest.mark.parametrize(
    ("edits", "version", "delta", "writer", "words"),
    [
        (("UPDATE ledger_texts SET text = 'text X' WHERE text = 'text 3'",), 3, "d3", ANN, "text was changed, or the salt"),
        (("UPDATE ledger_texts SET text = 'note X' WHERE text = 'note 6'",), 6, "d6", BOB, "note was changed, or the salt"),
        (("UPDATE ledger_texts SET text = 'fine' WHERE text = 'it names a customer'",), 4, "d4", ANN, "note was changed, or the salt"),
        (("UPDATE ledger_texts SET salt = 'f' || substr(salt, 2) || 'f' WHERE text = 'text 7'",), 7, "d7", ANN, "the salt beside it"),
        ((f"UPDATE ledger_texts SET digest = '{FORGED_TEXT}' WHERE text = 'text 7'",), 7, "d7", ANN, "a text stands beside it"),
        (
            (f"INSERT INTO ledger_texts VALUES ('acme', '{SCOPE}', '{FORGED_TEXT}', 2, '{'0' * 32}', 'Pay eve.')",),
            2, "d2", BOB, "a text stands beside it",
        ),
        (
            (f"INSERT INTO ledger_texts VALUES ('acme', '{SCOPE}', '{FORGED_TEXT}', 20, '{'0' * 32}', 'Pay eve.')",),
            20, "", "", "texts stand there without a delta",
        ),
        (("UPDATE ledger SET payload = replace(payload, '\"d5\"', '\"d9\"') WHERE version = 5",), 5, "d5", BOB, "the delta or its digest"),
        (("UPDATE ledger SET effective = 0 WHERE version = 5",), 5, "d5", BOB, "its row says that it changes nothing"),
        (("UPDATE ledger SET digest = 'x' || substr(digest, 2) WHERE version = 5",), 5, "d5", BOB, "the delta or its digest"),
        (("UPDATE ledger SET delta_id = 'd9' WHERE version = 5",), 5, "d9", BOB, "another id than the delta itself"),
        (("UPDATE ledger SET delta_key = 'run:r9' WHERE version = 5",), 5, "d5", BOB, "another key than the delta itself"),
        (lambda path: resealed(path, 3), 4, "d4", ANN, "it does not follow from the link before it"),
        (lambda path: resealed(path, 8), 8, "d8", BOB, "the head row names another digest"),
        (("DELETE FROM ledger WHERE version = 3",), 3, "", ANN, "its row was taken out: link 2 is missing"),
        (("DELETE FROM ledger WHERE version = 5",), 5, "", BOB, "its row was taken out: link 2 is missing"),
        (("DELETE FROM ledger WHERE version = 1",), 1, "", ANN, "its row was taken out: link 1 is missing"),
        (("DELETE FROM ledger WHERE version = 8",), 8, "", BOB, "the end was cut off: link 4 is gone"),
        (("DELETE FROM ledger WHERE version >= 7", "UPDATE scopes SET version = 6"), 7, "", ANN, "the end was cut off: link 4 is gone"),
        (MOVED, 1, "d3", ANN, "link 1 is missing"),
        (SWAPPED, 4, "d5", BOB, "another version than the delta itself"),
        (("UPDATE ledger_heads SET count = 3 WHERE writer LIKE 'b%'",), 8, "d8", BOB, "the head row counts 3 links, and 4 are there"),
        (("UPDATE ledger_heads SET digest = 'x' WHERE writer LIKE 'a%'",), 7, "d7", ANN, "the head row names another digest"),
        (("DELETE FROM ledger_heads WHERE writer LIKE 'a%'",), 7, "d7", ANN, "its head row is gone"),
        (lambda path: copied(path, 9, BOB, 5), 9, "dx", BOB, "the delta or its digest was changed"),
        (lambda path: copied(path, 9, "c" * 20, 1), 9, "dx", "c" * 20, "it does not follow from the link before it"),
        (("UPDATE scopes SET version = 9",), 9, "", "", "the scope counts 9 versions, and the ledger ends with 8"),
    ],
)  # fmt: skip
def test_every_kind_of_tampering_is_found_and_its_first_break_named(
    place: Path, edits: Edit, version: int, delta: str, writer: str, words: str
) -> None:
    edit(place, *(edits(place) if callable(edits) else edits))
    found = checked(place)
    assert not found.ok
    first = found.first_broken
    assert first is not None
    assert (first.version, first.delta, first.writer) == (version, delta, writer), first
    assert words in first.problem


def test_breaks_of_two_writers_are_both_told_the_first_first(place: Path) -> None:
    edit(place, "UPDATE ledger_texts SET text = 'x' WHERE text IN ('text 2', 'text 7')")
    assert [(one.version, one.writer) for one in checked(place).broken] == [(2, BOB), (7, ANN)]


def test_a_text_that_nobody_forgot_is_missed(place: Path) -> None:
    edit(place, "DELETE FROM ledger_texts WHERE text = 'text 3'")
    assert "its text was taken out, and no tombstone" in checked(place).broken[0].problem


def test_what_was_forgotten_breaks_nothing_and_is_counted(place: Path) -> None:
    store = open_sqlite(f"sqlite:///{place}")
    with store.writing(SCOPE) as work:
        forget(work, Wanted(subjects=("text 3",)), ids=CountingIds(), at=datetime(2026, 3, 15, tzinfo=UTC), author="person:ann")
    store.close()
    found = checked(place)
    assert found.ok
    assert found.rewritten >= 1


def test_a_ledger_that_was_chained_without_versions_is_whole(place: Path) -> None:
    """Deltas of an earlier Tenure hold no version: their chain is proven as it was made."""
    connection = sqlite3.connect(place)
    last: dict[str, str] = {}
    for version, writer, payload in connection.execute("SELECT version, writer, payload FROM ledger ORDER BY version").fetchall():
        plain = json.dumps({name: held for name, held in json.loads(payload).items() if name != "version"})
        digest = chain(last.get(writer, ""), plain)
        with connection:
            connection.execute(
                "UPDATE ledger SET payload = ?, previous = ?, digest = ? WHERE version = ?", (plain, last.get(writer, ""), digest, version)
            )
            connection.execute("UPDATE ledger_heads SET digest = ? WHERE writer = ?", (digest, writer))
        last[writer] = digest
    connection.close()
    assert checked(place).ok


def test_a_long_ledger_is_read_in_bounded_memory(tmp_path: Path) -> None:
    store = open_sqlite(f"sqlite:///{tmp_path / 'book.db'}")
    with store.writing(SCOPE) as work:
        for number in range(3_000):
            decisions = [Decision(change="h-1", state="rejected")]  # nothing is cheaper to admit
            work.admit(Delta(f"d{number:05d}", [], scope=SCOPE, note=f"{number} " + "x" * 4_000, decisions=decisions))
    told: list[int] = []
    with store.reading(SCOPE) as look:
        tracemalloc.start()
        found = look.check_ledger(tell=told.append)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    store.close()
    assert (found.ok, found.entries) == (True, 3_000)
    assert told == [1_000, 2_000, 3_000]
    assert peak < 6_000_000  # the texts alone are 12 MB; a portion of a thousand is 4
