"""The raw log of a memory in a SQLite file, for search: counts that stop early, and few rows read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from tenure.stores.log_search import COMMON, Said, session_name

_AT_ONCE = 400

LARGEST = 200_000
"""Entries that are counted: the weight of a word changes little beyond."""


class SqliteLog:
    """The log of one scope (see `log_search.Log`).

    Args:
        connection: inside a transaction.
        wall: the scope's number in the text index.
        scope: its tenant and itself.
    """

    def __init__(self, connection: Connection, wall: int, scope: tuple[str, str]) -> None:
        self._cursor = connection.connection.cursor()
        self._scope = scope
        self._inside = "" if self._alone() else f"(wall : wall{wall}) AND "

    def _alone(self) -> bool:
        """Whether no other scope has a memory in the database. Then its wall need not be asked for, which takes as long as all else."""
        ends = [
            self._cursor.execute(f"SELECT tenant, scope FROM memory_entries ORDER BY tenant {order}, scope {order} LIMIT 1").fetchone()
            for order in ("ASC", "DESC")
        ]
        return all(end is not None and tuple(end) == self._scope for end in ends)

    def size(self) -> int:
        """How many entries there are, `LARGEST` at most."""
        found = self._cursor.execute(
            "SELECT count(*) FROM (SELECT 1 FROM memory_entries WHERE tenant = ? AND scope = ? LIMIT ?)", (*self._scope, LARGEST)
        )
        return int(found.fetchone()[0])

    def held_by(self, word: str) -> int:
        """How many entries hold a word or another with its stem, one more than `COMMON` at most."""
        found = self._cursor.execute(
            "SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ?)",
            (f"{self._inside}(said : {_quoted(word)})", COMMON + 1),
        )
        return int(found.fetchone()[0])

    def holding(self, phrases: Sequence[str], *, limit: int, newest: bool, texts: bool) -> Sequence[Said]:
        """Entries that hold any of some words or phrases, the likeliest by FTS5's own measure first, or the newest."""
        match = f"{self._inside}(said : ({' OR '.join(map(_quoted, phrases))}))"
        order = "rowid DESC" if newest else "bm25(memory_words, 0.0, 1.0), rowid"
        found = self._cursor.execute(f"SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY {order} LIMIT ?", (match, limit))
        numbers = [int(row) for (row,) in found.fetchall()]
        # Only this scope's, whatever the text index says. The signs keep SQLite from reading all of the scope's rows for it.
        inside = f"e.n IN ({', '.join(map(str, numbers))}) AND +e.tenant = ? AND +e.scope = ?"
        kept = dict(self._said(inside, self._scope, texts=texts))
        return [kept[n] for n in numbers if n in kept]

    def said(self, ids: Sequence[str], *, texts: bool) -> Sequence[Said]:
        """Entries by their ids."""
        found: list[Said] = []
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            inside = f"e.tenant = ? AND e.scope = ? AND e.id IN ({', '.join('?' * len(some))})"
            found += [one for _, one in self._said(inside, (*self._scope, *some), texts=texts)]
        return found

    def _said(self, inside: str, values: Sequence[str], *, texts: bool) -> list[tuple[int, Said]]:
        text_of = "json_extract(e.body, '$.text')" if texts else "''"
        read = self._cursor.execute(
            f"SELECT e.n, e.id, e.day, e.session, e.own, w.said, {text_of} "
            f"FROM memory_entries AS e JOIN memory_words AS w ON w.rowid = e.n WHERE {inside}",
            tuple(values),
        )
        return [
            (int(n), Said(str(entry), session_name(str(day), str(session)), bool(own), tuple(str(said).split()), str(text)))
            for n, entry, day, session, own, said, text in read.fetchall()
        ]

    def bodies(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """What is kept of the entries in rows."""
        found = self._cursor.execute(
            f"SELECT n, body FROM memory_entries WHERE n IN ({', '.join(map(str, numbers))}) AND +tenant = ? AND +scope = ?", self._scope
        )
        return {int(n): str(body) for n, body in found.fetchall()}

    def on_day(self, day: str) -> Sequence[tuple[str, int]]:
        """Session and row of each entry of a day, in order."""
        found = self._cursor.execute(
            "SELECT session, n FROM memory_entries WHERE tenant = ? AND scope = ? AND day = ? ORDER BY at, id",
            (*self._scope, day),
        )
        return [(str(session), int(n)) for session, n in found.fetchall()]


def _quoted(word: str) -> str:
    """A word or phrase as an FTS5 string, in which nothing is syntax."""
    return '"' + word.replace('"', '""') + '"'
