"""The text index of lessons and of runs in PostgreSQL: words made in Python, an inverted index of rows, found by equality alone.

For each stem of a text there is a row: who holds it, how often, and in how long a text. Row-level security lets the server use an
index only with operators that tell nothing of rows that are not to be seen; those of its own text search are not among them,
equality is. So the index is a plain one on tenant, wall, stem and row, and each question costs what its own scopes hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from tenure.fusion import LENGTH_SHARE, SATURATION, Candidate, rarities
from tenure.stores.dialect import Searchable
from tenure.stores.expressions import short_key
from tenure.stores.weighing import MEASURED, Searched, asked_for, candidate, counted, settled
from tenure.terms import search_words, stem

_AT_ONCE = 200
"""Texts whose words go in by one statement."""

FEW = 8_000
"""Texts times words asked for up to which all that hold one are read and weighed: as many numbers come back at the very most."""


def put_searched(connection: Connection, table: Searchable, tenant: str, wall: int, new: Sequence[tuple[int, Searched]]) -> None:
    """Index rows that are not in the index."""
    cursor = connection.connection.cursor()
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        cursor.execute(
            f"INSERT INTO {table}_words (tenant, n, wall, said, asked, marks, length) "
            "SELECT %s, n, %s, said, asked, marks, length FROM "
            "unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::float8[]) AS new (n, said, asked, marks, length)",
            (
                tenant,
                wall,
                [row for row, _ in some],
                [one.said for _, one in some],
                [one.asked for _, one in some],
                [one.marks for _, one in some],
                [one.length for _, one in some],
            ),
        )
        held = [holding for row, one in some for holding in _holdings(row, one)]
        cursor.execute(
            f"INSERT INTO {table}_holders (tenant, wall, stem, n, times, length, own, marked) "
            "SELECT %s, %s, stem, n, times, length, own, marked FROM "
            "unnest(%s::text[], %s::bigint[], %s::real[], %s::real[], %s::bool[], %s::bool[]) "
            "AS new (stem, n, times, length, own, marked)",
            (tenant, wall, *(list(column) for column in zip(*held, strict=True))) if held else (tenant, wall, [], [], [], [], [], []),
        )


def _holdings(row: int, one: Searched) -> list[tuple[str, int, float, float, bool, bool]]:
    """What a text holds: stem, row, times, length of the text, whether its own words do, whether it is an identifier of its own."""
    own, marks, length = set(map(stem, one.said.split())), set(map(stem, one.marks.split())), one.length
    return [(short_key(root), row, times, length, root in own, root in marks) for root, times in counted(one).items()]


def _root(token: str) -> str:
    """What a word or an identifier is found by."""
    return short_key(stem(token))


def remove(connection: Connection, table: Searchable, tenant: str, rows: Collection[int]) -> None:
    """Take rows out of the index, be they there or not."""
    if not rows:
        return
    cursor = connection.connection.cursor()
    wanted = sorted(rows)
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        gone = cursor.execute(
            f"DELETE FROM {table}_words WHERE tenant = %s AND n = ANY(%s) RETURNING n, wall, said, asked, marks", (tenant, some)
        ).fetchall()
        held = [
            (int(wall), short_key(root), int(n))
            for n, wall, said, asked, marks in gone
            for root in counted(Searched(said=said, asked=asked, marks=marks))
        ]
        if held:
            cursor.execute(
                f"DELETE FROM {table}_holders AS h USING unnest(%s::bigint[], %s::text[], %s::bigint[]) AS gone (wall, stem, n) "
                "WHERE h.tenant = %s AND h.wall = gone.wall AND h.stem = gone.stem AND h.n = gone.n",
                (*(list(column) for column in zip(*held, strict=True)), tenant),
            )


def sharing(connection: Connection, tenant: str, wall: int, groups: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Rows of lessons whose own words are all those of at least one of the groups; each group goes by its rarest word."""
    wanted = [found for group in groups if (found := {_root(word) for part in group for word in search_words(part)})]
    if not wanted:
        return []
    cursor = connection.connection.cursor()
    every = sorted(set().union(*wanted))
    counted_up_to = 2_000
    held = dict(
        cursor.execute(
            "SELECT s.stem, (SELECT count(*) FROM (SELECT 1 FROM lessons_holders AS h "
            "WHERE h.tenant = %s AND h.wall = %s AND h.stem = s.stem LIMIT %s) AS few) FROM unnest(%s::text[]) AS s (stem)",
            (tenant, wall, counted_up_to, every),
        ).fetchall()
    )
    statements: list[str] = []
    values: list[Any] = []
    for group in wanted:
        rarest, *others = sorted(group, key=lambda root: (held[root], root))
        if not held[rarest]:
            continue
        same = " ".join(
            "AND EXISTS (SELECT 1 FROM lessons_holders AS o "
            "WHERE o.tenant = h.tenant AND o.wall = h.wall AND o.stem = %s AND o.n = h.n AND o.own)"
            for _ in others
        )
        statements.append(f"(SELECT h.n FROM lessons_holders AS h WHERE h.tenant = %s AND h.wall = %s AND h.stem = %s AND h.own {same})")
        values += [tenant, wall, rarest, *others]
    if not statements:
        return []
    found = cursor.execute(f"SELECT n FROM ({' UNION '.join(statements)}) AS found ORDER BY n LIMIT %s", (*values, limit))
    return [int(n) for (n,) in found.fetchall()]


class PostgresIndex:
    """The lessons or the runs inside some walls (see `weighing.Index`).

    Where they are few, one statement reads who holds what of a question, and all of them are weighed by it. Where they are many,
    the server counts and puts forward the likeliest, whose texts are read.

    Args:
        connection: inside a transaction.
        table: which of the two.
        walls: numbers of scopes, with the scopes.
        tenant: the tenant of them all.
        size: how many rows there are inside the walls.
        asked: the question, so that all of it is counted at once.
    """

    exact = False

    def __init__(self, connection: Connection, table: Searchable, walls: Mapping[int, str], *, tenant: str, size: int, asked: str) -> None:
        self._cursor = connection.connection.cursor()
        self._table, self._walls, self._tenant, self._size = table, walls, tenant, size
        self._held: dict[str, int] = {}
        self._holding: dict[int, dict[str, float]] = {}
        self._long: dict[int, float] = {}
        self._marked: dict[int, int] = {}
        self._lengths: list[float] | None = None
        tokens = asked_for(asked)
        self._few = size * len(tokens) <= FEW
        self._count(tokens)

    def _count(self, tokens: Collection[str]) -> None:
        roots = sorted({_root(token) for token in tokens} - self._held.keys())
        self._held |= dict.fromkeys(roots, 0)
        inside = "WHERE h.tenant = %s AND h.wall = ANY(%s) AND h.stem = ANY(%s)"
        values = (self._tenant, list(self._walls), roots)
        if not self._few:
            found = self._cursor.execute(f"SELECT h.stem, count(*) FROM {self._table}_holders AS h {inside} GROUP BY h.stem", values)
            self._held |= {str(root): int(count) for root, count in found.fetchall()}
            return
        # Numbers alone come back: a text costs more to read than all else of its row.
        found = self._cursor.execute(
            f"SELECT asked.place, h.n, h.times, h.length FROM {self._table}_holders AS h "
            f"JOIN unnest(%s::text[]) WITH ORDINALITY AS asked (stem, place) USING (stem) {inside}",
            (roots, *values),
        )
        for place, n, times, length in found.fetchall():
            root = roots[place - 1]
            self._held[root] += 1
            self._holding.setdefault(n, {})[root] = settled(times)
            self._long[n] = settled(length)

    def size(self) -> int:
        """How many there are."""
        return self._size

    def held_by(self, token: str) -> int:
        """How many hold a word, or another with its stem, or an identifier."""
        if _root(token) not in self._held:
            self._count([token])
        return self._held[_root(token)]

    def holders(self, tokens: Sequence[str], marks: Sequence[str], most: int) -> Collection[int]:
        """Rows that hold any of these: all of few, else the best by the measure of `weighing.weigh`, as single precision has it."""
        walls = list(self._walls)
        if marks:
            rows = self._cursor.execute(
                f"SELECT n, count(*) FROM {self._table}_holders WHERE tenant = %s AND wall = ANY(%s) AND stem = ANY(%s) AND marked "
                "GROUP BY n ORDER BY count(*) DESC, n LIMIT %s",
                (self._tenant, walls, list(map(_root, marks)), None if self._few else most),
            )
            self._marked = {int(n): int(count) for n, count in rows.fetchall()}
        if self._few:
            wanted = set(map(_root, (*tokens, *marks)))
            return [n for n, held in self._holding.items() if not wanted.isdisjoint(held)]
        found = dict.fromkeys(self._marked)
        weights = rarities({root: self._held[root] for root in {_root(token) for token in (*tokens, *marks)}}, self._size)
        lengths = self.lengths(MEASURED)
        mean = sum(lengths) / max(len(lengths), 1) or 1.0
        rows = self._cursor.execute(
            # The words are a condition of their own: by the join alone, a server without statistics reads all of the scope.
            f"SELECT h.n FROM {self._table}_holders AS h JOIN unnest(%s::text[], %s::float8[]) AS asked (stem, weight) USING (stem) "
            "WHERE h.tenant = %s AND h.wall = ANY(%s) AND h.stem = ANY(%s) "
            "GROUP BY h.n ORDER BY round(sum(asked.weight * h.times / (h.times + %s + %s * h.length)) * 1e5) DESC, h.n LIMIT %s",
            (
                list(weights),
                list(weights.values()),
                self._tenant,
                walls,
                list(weights),
                SATURATION * (1.0 - LENGTH_SHARE),
                SATURATION * LENGTH_SHARE / mean,
                most,
            ),
        )
        found.update(dict.fromkeys(int(n) for (n,) in rows.fetchall()))
        return found

    def lengths(self, most: int) -> Sequence[float]:
        """Lengths of so many of them, those whose names come first."""
        if self._lengths is None or len(self._lengths) < most:
            live = "AND t.status IN ('provisional', 'active')" if self._table == "lessons" else ""
            one = (
                f"(SELECT t.id, w.length FROM {self._table} AS t JOIN {self._table}_words AS w ON w.tenant = t.tenant AND w.n = t.n "
                f"WHERE t.tenant = %s AND t.scope = %s {live} ORDER BY t.id LIMIT %s)"
            )
            asked = [value for scope in self._walls.values() for value in (self._tenant, scope, most)]
            every = " UNION ALL ".join([one] * len(self._walls))
            found = self._cursor.execute(f"SELECT id, length FROM ({every}) AS found ORDER BY id LIMIT %s", (*asked, most))
            self._lengths = [settled(length) for _, length in found.fetchall()]
        return self._lengths[:most]

    def take(self, rows: Collection[int], wanted: Collection[str], marks: Collection[str]) -> Mapping[int, Candidate]:
        """The texts in rows, as they are weighed; only those inside the walls, whatever the text index says."""
        words = "" if self._few else f" JOIN {self._table}_words AS w ON w.tenant = t.tenant AND w.n = t.n"
        # By number alone, and the scope looked at here: told more, a server without statistics looks through the whole scope.
        found = self._cursor.execute(
            f"SELECT t.n, t.id, t.scope{'' if self._few else ', w.said, w.asked, w.marks'} FROM {self._table} AS t{words} "
            "WHERE t.tenant = %s AND t.n = ANY(%s)",
            (self._tenant, sorted(rows)),
        ).fetchall()
        inside = set(self._walls.values())
        if self._few:
            tokens = {short_key(token): token for token in wanted}
            return {n: self._candidate(n, str(one), tokens) for n, one, scope in found if scope in inside}
        return {
            int(n): candidate(str(one), Searched(said=said, asked=asked, marks=own_marks), wanted, marks)
            for n, one, scope, said, asked, own_marks in found
            if scope in inside
        }

    def _candidate(self, row: int, name: str, tokens: Mapping[str, str]) -> Candidate:
        """A text of few, by what was read of it."""
        return Candidate(
            key=name,
            counts={tokens[root]: times for root, times in self._holding[row].items() if root in tokens},
            length=self._long[row],
            identifiers=self._marked.get(row, 0),
        )
