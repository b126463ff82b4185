"""The raw log of a memory in PostgreSQL, for search: counts that stop early, and few rows read (see `postgres_words`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import log1p
from typing import Any

from sqlalchemy import Connection

from tenure.stores.expressions import short_key
from tenure.stores.log_search import COMMON, Said, session_name
from tenure.terms import indexed_words, stem

LARGEST = 200_000
"""Entries that are counted: the weight of a word changes little beyond."""

_AT_ONCE = 500
_MOST_NEWEST = 20_000
"""Rows of a common word that are looked at for the newest."""


def _root(word: str) -> str:
    return short_key(stem(word))


def put_entries(connection: Connection, tenant: str, wall: int, new: Sequence[tuple[int, str]]) -> None:
    """Index entries of a memory that are not in the index."""
    cursor = connection.connection.cursor()
    for start in range(0, len(new), _AT_ONCE):
        some = [(row, indexed_words(said)) for row, said in new[start : start + _AT_ONCE]]
        cursor.execute(
            "INSERT INTO memory_words (tenant, n, wall, said) "
            "SELECT %s, n, %s, said FROM unnest(%s::bigint[], %s::text[]) AS new (n, said)",
            (tenant, wall, [row for row, _ in some], [" ".join(said) for _, said in some]),
        )
        held = [(root, row) for row, said in some for root in sorted(set(map(_root, said)))]
        cursor.execute(
            "INSERT INTO memory_holders (tenant, wall, stem, n) "
            "SELECT %s, %s, stem, n FROM unnest(%s::text[], %s::bigint[]) AS new (stem, n)",
            (tenant, wall, [root for root, _ in held], [row for _, row in held]),
        )


def remove_entries(connection: Connection, tenant: str, rows: Sequence[int]) -> None:
    """Take entries of a memory out of the index."""
    cursor = connection.connection.cursor()
    for start in range(0, len(rows), _AT_ONCE):
        gone = cursor.execute(
            "DELETE FROM memory_words WHERE tenant = %s AND n = ANY(%s) RETURNING n, wall, said",
            (tenant, list(rows[start : start + _AT_ONCE])),
        ).fetchall()
        held = [(int(wall), root, int(n)) for n, wall, said in gone for root in set(map(_root, said.split()))]
        if held:
            cursor.execute(
                "DELETE FROM memory_holders AS h USING unnest(%s::bigint[], %s::text[], %s::bigint[]) AS gone (wall, stem, n) "
                "WHERE h.tenant = %s AND h.wall = gone.wall AND h.stem = gone.stem AND h.n = gone.n",
                (*(list(column) for column in zip(*held, strict=True)), tenant),
            )


def indexed_entries(connection: Connection, tenant: str, wall: int) -> list[int]:
    """Rows of entries inside a wall that the index has."""
    found = connection.connection.cursor().execute("SELECT n FROM memory_words WHERE tenant = %s AND wall = %s", (tenant, wall))
    return [int(n) for (n,) in found.fetchall()]


class PostgresLog:
    """The log of one scope (see `log_search.Log`).

    Args:
        connection: inside a transaction.
        wall: the scope's number in the text index.
        scope: its tenant and itself.
    """

    def __init__(self, connection: Connection, wall: int, scope: tuple[str, str]) -> None:
        self._cursor = connection.connection.cursor()
        self._wall, self._scope = wall, scope
        self._size: int | None = None

    def size(self) -> int:
        """How many entries there are, `LARGEST` at most."""
        if self._size is None:
            ((self._size,),) = self._ask(
                "SELECT count(*) FROM (SELECT 1 FROM memory_entries WHERE tenant = %s AND scope = %s LIMIT %s) AS few",
                (*self._scope, LARGEST),
            )
        return int(self._size or 0)

    def held_by(self, word: str) -> int:
        """How many entries hold a word or another with its stem, one more than `COMMON` at most."""
        return self._held([_root(word)])[_root(word)]

    def _held(self, roots: Sequence[str]) -> dict[str, int]:
        found = self._ask(
            "SELECT s.stem, (SELECT count(*) FROM (SELECT 1 FROM memory_holders AS h "
            "WHERE h.tenant = %s AND h.wall = %s AND h.stem = s.stem LIMIT %s) AS few) FROM unnest(%s::text[]) AS s (stem)",
            (self._scope[0], self._wall, COMMON + 1, list(dict.fromkeys(roots))),
        )
        return {str(root): int(count) for root, count in found}

    def holding(self, phrases: Sequence[str], *, limit: int, newest: bool, texts: bool) -> Sequence[Said]:
        """Entries that hold all words of any of some phrases: those with most of them first, rare ones counting more, or the newest."""
        groups = [sorted(set(map(_root, phrase.split()))) for phrase in phrases]
        groups = [group for group in groups if group]
        if not groups:
            return ()
        held = self._held([root for group in groups for root in group])
        weights = [sum(log1p(self.size() / max(held[root], 1)) for root in group) for group in groups]
        given = [(number, root, weights[number], len(group)) for number, group in enumerate(groups) for root in group]
        inside = "h.tenant = %s AND h.wall = %s AND h.stem = asked.stem"
        holders = f"SELECT h.n FROM memory_holders AS h WHERE {inside} ORDER BY h.n DESC LIMIT {_MOST_NEWEST}"
        order = "n DESC" if newest else "sum(weight) DESC, n"
        found = self._ask(
            "SELECT n FROM (SELECT h.n, asked.place, min(asked.weight) AS weight "
            "FROM unnest(%s::int[], %s::text[], %s::float8[], %s::int[]) AS asked (place, stem, weight, words) "
            f"CROSS JOIN LATERAL ({holders}) AS h GROUP BY h.n, asked.place HAVING count(*) = min(asked.words)) AS held "
            f"GROUP BY n ORDER BY {order} LIMIT %s",
            (*(list(column) for column in zip(*given, strict=True)), self._scope[0], self._wall, limit),
        )
        numbers = [int(n) for (n,) in found]
        # Only this scope's, whatever the text index says.
        kept = dict(self._said("e.tenant = %s AND e.n = ANY(%s) AND e.scope = %s", (self._scope[0], numbers, self._scope[1]), texts=texts))
        return [kept[n] for n in numbers if n in kept]

    def said(self, ids: Sequence[str], *, texts: bool) -> Sequence[Said]:
        """Entries by their ids."""
        return [one for _, one in self._said("e.tenant = %s AND e.scope = %s AND e.id = ANY(%s)", (*self._scope, list(ids)), texts=texts)]

    def _said(self, inside: str, values: Sequence[object], *, texts: bool) -> list[tuple[int, Said]]:
        read = self._ask(
            f"SELECT e.n, e.id, e.day, e.session, e.own, w.said, {'e.body' if texts else 'NULL'} FROM memory_entries AS e "
            f"JOIN memory_words AS w ON w.tenant = e.tenant AND w.n = e.n WHERE {inside}",
            values,
        )
        return [
            (
                int(n),
                Said(str(one), session_name(day, session), bool(own), tuple(said.split()), str(json.loads(body)["text"]) if body else ""),
            )
            for n, one, day, session, own, said, body in read
        ]

    def bodies(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """What is kept of the entries in rows."""
        found = self._ask(
            "SELECT n, body FROM memory_entries WHERE tenant = %s AND n = ANY(%s) AND scope = %s",
            (self._scope[0], list(numbers), self._scope[1]),
        )
        return {int(n): str(body) for n, body in found}

    def on_day(self, day: str) -> Sequence[tuple[str, int]]:
        """Session and row of each entry of a day, in order."""
        found = self._ask(
            "SELECT session, n FROM memory_entries WHERE tenant = %s AND scope = %s AND day = %s ORDER BY at, id", (*self._scope, day)
        )
        return [(str(session), int(n)) for session, n in found]

    def _ask(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        return list(self._cursor.execute(statement, tuple(values)).fetchall())
