"""The text index of lessons and of runs in a SQLite file: FTS5 finds candidates and counts who holds a word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest

from sqlalchemy import Connection, text

from tenure.fusion import Candidate
from tenure.stores.dialect import Searchable
from tenure.stores.prepared import change
from tenure.stores.weighing import ASKED_WEIGHT, Searched, candidate, counted
from tenure.terms import indexed_words, search_words, stem

_EXACT = 4.0
"""Weight of an identifier against a word when candidates are chosen. The order among them is made later."""

FEW = 300
"""Texts inside the walls up to which all of them are read for a question."""

_REMOVAL = {table: text(f"DELETE FROM {table}_words WHERE rowid = :row") for table in ("lessons", "runs")}
_INSERTION = {
    table: text(f"INSERT INTO {table}_words (rowid, wall, said, asked, marks) VALUES (:row, :wall, :said, :asked, :marks)")
    for table in ("lessons", "runs")
}


def put_searched(connection: Connection, table: Searchable, wall: int, new: Sequence[tuple[int, Searched]]) -> None:
    """Index rows that are not in the index."""
    values = [{"row": row, "wall": f"wall{wall}", "said": one.said, "asked": one.asked, "marks": one.marks} for row, one in new]
    change(connection, _INSERTION[table], values)


def remove(connection: Connection, table: Searchable, rows: Collection[int]) -> None:
    """Take rows out of the index, be they there or not."""
    change(connection, _REMOVAL[table], [{"row": row} for row in rows])


def sharing(connection: Connection, wall: int, groups: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Rows of lessons that hold every word of at least one of the groups. Not ranked: that would cost more than finding them."""
    quoted = [" AND ".join(_quoted(word) for part in group for word in search_words(part)) for group in groups]
    any_of = " OR ".join(f"({one})" for one in quoted if one)
    if not any_of:
        return []
    match = f"(said : ({any_of})) AND (wall : wall{wall})"
    found = connection.exec_driver_sql(
        "SELECT rowid FROM lessons_words WHERE lessons_words MATCH ? ORDER BY rowid LIMIT ?", (match, limit)
    ).scalars()
    return [int(row) for row in found]


_ENTRY = text("INSERT INTO memory_words (rowid, wall, said) VALUES (:row, :wall, :said)")


def put_entries(connection: Connection, wall: int, new: Sequence[tuple[int, str]]) -> None:
    """Index entries of a memory that are not in the index."""
    change(connection, _ENTRY, [{"row": row, "wall": f"wall{wall}", "said": " ".join(indexed_words(said))} for row, said in new])


_NO_ENTRY = text("DELETE FROM memory_words WHERE rowid = :row")


def remove_entries(connection: Connection, gone: Sequence[int]) -> None:
    """Take entries of a memory out of the index; their words are gone once it was made anew (see `scrubbing`)."""
    change(connection, _NO_ENTRY, [{"row": row} for row in gone])


def indexed_entries(connection: Connection, wall: int) -> list[int]:
    """Rows of entries inside a wall that the index has."""
    found = connection.exec_driver_sql("SELECT rowid FROM memory_words WHERE memory_words MATCH ?", (f"wall : wall{wall}",))
    return [int(row) for row in found.scalars()]


class SqliteIndex:
    """The lessons or the runs inside some walls (see `weighing.Index`).

    Where they are few, all their texts are read, and Python counts: the text index holds those of every scope of the file, so that
    asking it costs more the more others have. Where they are many, it counts and puts forward the likeliest.

    Args:
        connection: inside a transaction.
        table: which of the two.
        walls: numbers of scopes, with the scopes.
        tenant: the tenant of them all.
        size: how many rows there are inside the walls.
    """

    exact = False

    def __init__(self, connection: Connection, table: Searchable, walls: Mapping[int, str], *, tenant: str, size: int) -> None:
        self._cursor = connection.connection.cursor()
        self._table, self._tenant, self._size = table, tenant, size
        self._scopes = sorted(walls.values(), key=len, reverse=True)  # nearest first
        self._texts = self._read() if size <= FEW else None
        if self._texts is None:
            scopes = self._cursor.execute("SELECT count(*) FROM (SELECT 1 FROM scopes LIMIT ?)", (len(walls) + 1,)).fetchone()[0]
            # Where nothing stands outside the walls, they need not be asked for, which takes as long as all else.
            alone = scopes == len(walls)
            self._inside = "" if alone else f"(wall : ({' OR '.join(f'wall{wall}' for wall in sorted(walls))})) AND "

    def _read(self) -> dict[int, tuple[str, Searched]]:
        """All texts inside the walls, with their names."""
        # The crossing looks each row up in the text index by its number, which is all that is quick there.
        wanted = (
            f"SELECT t.n, t.id, w.said, w.asked, w.marks FROM {self._table} AS t CROSS JOIN {self._table}_words AS w ON w.rowid = t.n "
            "WHERE t.tenant = ? AND t.scope = ?"
        )
        return {
            n: (one, Searched(said=said, asked=asked, marks=marks))
            for scope in self._scopes
            for n, one, said, asked, marks in self._cursor.execute(wanted, (self._tenant, scope)).fetchall()
        }

    def size(self) -> int:
        """How many there are."""
        return self._size

    def held_by(self, token: str) -> int:
        """How many hold a word, or another with its stem, or an identifier."""
        if self._texts is not None:
            root = stem(token)
            return sum(root in counted(one) for _, one in self._texts.values())
        found = self._cursor.execute(
            f"SELECT count(*) FROM {self._table}_words WHERE {self._table}_words MATCH ?",
            (f"{self._inside}({{said asked marks}} : {_quoted(token)})",),
        ).fetchone()
        return int(found[0])

    def holders(self, tokens: Sequence[str], marks: Sequence[str], most: int) -> Collection[int]:
        """Rows that hold any of these: all of few, else the likeliest by FTS5's own measure."""
        if self._texts is not None:
            wanted = set(map(stem, (*tokens, *marks)))
            return [row for row, (_, one) in self._texts.items() if not wanted.isdisjoint(counted(one))]
        found: dict[int, None] = {}
        name = f"{self._table}_words"
        for columns, asked in (("marks", marks), ("said asked marks", tokens)):
            if asked:
                match = f"{self._inside}({{{columns}}} : ({' OR '.join(map(_quoted, asked))}))"
                rows = self._cursor.execute(
                    f"SELECT rowid FROM {name} WHERE {name} MATCH ? "
                    f"ORDER BY bm25({name}, 0.0, 1.0, {ASKED_WEIGHT}, {_EXACT}), rowid LIMIT ?",
                    (match, most),
                )
                found.update(dict.fromkeys(int(row) for (row,) in rows.fetchall()))
        return found

    def lengths(self, most: int) -> Sequence[float]:
        """Lengths of so many of them, those whose names come first."""
        if self._texts is not None:
            return [one.length for _, one in nsmallest(most, self._texts.values(), key=lambda text: text[0])]
        live = "AND +t.status IN ('provisional', 'active') " if self._table == "lessons" else ""
        # The crossing keeps to the order of names, so that reading ends with the last one wanted.
        wanted = (
            f"SELECT t.id, w.said, w.asked FROM {self._table} AS t CROSS JOIN {self._table}_words AS w ON w.rowid = t.n "
            f"WHERE t.tenant = ? AND t.scope = ? {live}ORDER BY t.id LIMIT ?"
        )
        found = [row for scope in self._scopes for row in self._cursor.execute(wanted, (self._tenant, scope, most)).fetchall()]
        first = nsmallest(most, found, key=lambda row: str(row[0]))
        return [Searched(said=said, asked=asked).length for _, said, asked in first]

    def take(self, rows: Collection[int], wanted: Collection[str], marks: Collection[str]) -> Mapping[int, Candidate]:
        """The texts in rows, as they are weighed; only those inside the walls, whatever the text index says."""
        texts = self._texts if self._texts is not None else self._in_rows(rows)
        return {row: candidate(*texts[row], wanted, marks) for row in rows if row in texts}

    def _in_rows(self, rows: Collection[int]) -> dict[int, tuple[str, Searched]]:
        found = self._cursor.execute(
            f"SELECT t.n, t.id, w.said, w.asked, w.marks FROM {self._table} AS t JOIN {self._table}_words AS w ON w.rowid = t.n "
            f"WHERE t.n IN ({', '.join(str(int(row)) for row in sorted(rows))}) "
            f"AND t.tenant = ? AND t.scope IN ({', '.join('?' * len(self._scopes))})",
            (self._tenant, *self._scopes),
        ).fetchall()
        return {int(n): (str(one), Searched(said=said, asked=asked, marks=marks)) for n, one, said, asked, marks in found}


def _quoted(word: str) -> str:
    """A word as an FTS5 string, in which nothing is syntax."""
    return '"' + word.replace('"', '""') + '"'
