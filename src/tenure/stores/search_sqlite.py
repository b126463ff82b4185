"""Search over passages in a SQLite file: FTS5 for words, packed vectors for meaning. Standard library alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock

from tenure.errors import StoreError
from tenure.fusion import ASIDE_WEIGHT, VECTOR_WEIGHT
from tenure.ports import Embedder, Found, Passage
from tenure.stores.passages import Indexed, Meaning, count_stems, embed, find, indexed, storable
from tenure.stores.scopes import check_scope
from tenure.stores.vectors import Block, unpack

BUSY_S = 60.0
"""How long a writer waits for another, in seconds."""

_AT_ONCE = 400
"""Values in one statement; older SQLite libraries take no more than 999."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS walls (n INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS passages (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    wall INTEGER NOT NULL REFERENCES walls,
    id TEXT NOT NULL,
    run TEXT NOT NULL,
    place INTEGER NOT NULL,
    length REAL NOT NULL,
    UNIQUE (wall, id)
);
CREATE INDEX IF NOT EXISTS passages_order ON passages (wall, run, place);
CREATE INDEX IF NOT EXISTS passages_length ON passages (wall, length);
CREATE TABLE IF NOT EXISTS passages_vectors (
    n INTEGER PRIMARY KEY REFERENCES passages, wall INTEGER NOT NULL, model TEXT NOT NULL, dimension INTEGER NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_vectors_model ON passages_vectors (wall, model, dimension);
CREATE VIRTUAL TABLE IF NOT EXISTS passages_words USING fts5(wall, said, aside, marks, tokenize = 'porter unicode61');
"""

_EXACT = 4.0
"""Weight of an identifier against a word when candidates are chosen. The order among them is made later."""


class _Shelf:
    """One scope, read through one connection (see `passages.Shelf`)."""

    def __init__(self, connection: sqlite3.Connection, wall: int) -> None:
        self._connection, self._wall = connection, wall

    def size(self) -> tuple[int, float]:
        """How many there are, and the sum of their lengths."""
        count, length = self._connection.execute("SELECT count(*), total(length) FROM passages WHERE wall = ?", (self._wall,)).fetchone()
        return int(count), float(length)

    def held_by(self, word: str) -> int:
        """How many hold a word or another with its stem."""
        match = self._inside(f"{{said aside}} : {_quoted(word)}")
        return int(self._connection.execute("SELECT count(*) FROM passages_words WHERE passages_words MATCH ?", (match,)).fetchone()[0])

    def holders(self, words: Sequence[str], marks: Sequence[str], most: int) -> Sequence[int]:
        """Rows that hold a word or a mark, those with marks first, then the likeliest by FTS5's own measure."""
        found: dict[int, None] = {}
        for columns, wanted in (("marks", marks), ("said aside", words)):
            if wanted:
                match = self._inside(f"{{{columns}}} : ({' OR '.join(map(_quoted, wanted))})")
                rows = self._connection.execute(
                    f"SELECT rowid FROM passages_words WHERE passages_words MATCH ? "
                    f"ORDER BY bm25(passages_words, 0.0, 1.0, {ASIDE_WEIGHT}, {_EXACT}), rowid LIMIT ?",
                    (match, most),
                )
                found.update(dict.fromkeys(int(row) for (row,) in rows))
        return list(found)

    def beside(self, rows: Collection[int], reach: int) -> Collection[int]:
        """Rows that stand near these in their groups."""
        near = set[int]()
        for some in _portions(rows):
            found = self._connection.execute(
                "SELECT other.n FROM passages AS one JOIN passages AS other ON other.wall = one.wall AND other.run = one.run "
                "AND other.place BETWEEN one.place - ? AND one.place + ? "
                f"WHERE one.n IN ({_marks(some)}) AND one.wall = ? AND one.run <> ''",
                (reach, reach, *some, self._wall),
            )
            near.update(int(row) for (row,) in found)
        return near.difference(rows)

    def take(self, rows: Collection[int]) -> Mapping[int, Indexed]:
        """The passages in rows; only this scope's, whatever the text index says."""
        kept: dict[int, Indexed] = {}
        for some in _portions(rows):
            found = self._connection.execute(
                "SELECT p.n, p.id, p.run, p.place, w.said, w.aside, w.marks FROM passages AS p JOIN passages_words AS w ON w.rowid = p.n "
                f"WHERE p.n IN ({_marks(some)}) AND p.wall = ?",
                (*some, self._wall),
            )
            for n, passage_id, run, place, said, aside, marks in found:
                kept[n] = Indexed(
                    id=passage_id, group=run, place=place, said=tuple(said.split()), aside=tuple(aside.split()), marks=tuple(marks.split())
                )
        return dict(sorted(kept.items()))

    def counts(self, kept: Mapping[int, Indexed], stems: Collection[str]) -> Mapping[int, Mapping[str, float]]:
        """How often each of these passages holds each stem."""
        return {row: count_stems(one, stems) for row, one in kept.items()}

    def cosines(self, model: str, vector: Sequence[float]) -> Mapping[int, float]:
        """Likeness of every row that has a vector of this model."""
        found = self._connection.execute(
            "SELECT n, vector FROM passages_vectors WHERE wall = ? AND model = ? AND dimension = ? ORDER BY n",
            (self._wall, model, len(vector)),
        ).fetchall()
        if not found:
            return {}
        block = Block([n for n, _ in found], b"".join(packed for _, packed in found), len(vector))
        return {n: float(cosine) for (n, _), cosine in zip(found, block.cosines(vector), strict=True)}

    def _inside(self, match: str) -> str:
        return f"(wall : wall{self._wall}) AND ({match})"


class SqliteSearch:
    """Passages in a SQLite file of their own (see `ports.Search`).

    Args:
        path: of the file, made where it is not there; `:memory:` for none.
        embedder: for search by meaning; none, keywords alone serve.
        vector_weight: share of the vector arm, 0 to 1. More than the default pays for long texts and a good embedder.

    Raises:
        StoreError: the file cannot be used.
    """

    def __init__(self, path: str = ":memory:", embedder: Embedder | None = None, *, vector_weight: float = VECTOR_WEIGHT) -> None:
        self._vector_weight = vector_weight
        self._embedder, self._path, self._turn = embedder, path, RLock()
        try:
            self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
            if path != ":memory:":
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as exc:
            raise StoreError(f"Search file {path} cannot be used: {exc}. Check the path and its permissions, or name another.") from exc

    def put(self, scope: str, passages: Sequence[Passage]) -> str:
        """Make passages findable, in place of those with the same ids; durable on return."""
        check_scope(scope)
        # The model is asked before the transaction: no one waits for it.
        vectors, note = embed(self._embedder, [passage.text for passage in passages])
        taken = [indexed(passage) for passage in passages]
        with self._transaction(write=True) as connection:
            connection.execute("INSERT OR IGNORE INTO walls (scope) VALUES (?)", (scope,))
            wall = _wall(connection, scope)
            for one, vector in zip(taken, vectors, strict=True):
                _remove(connection, wall, one.id)
                row = connection.execute(
                    "INSERT INTO passages (wall, id, run, place, length) VALUES (?, ?, ?, ?, ?)",
                    (wall, one.id, one.group, one.place, one.length),
                ).lastrowid
                connection.execute(
                    "INSERT INTO passages_words (rowid, wall, said, aside, marks) VALUES (?, ?, ?, ?, ?)",
                    (row, f"wall{wall}", " ".join(one.said), " ".join(one.aside), " ".join(one.marks)),
                )
                if vector and self._embedder is not None:
                    connection.execute(
                        "INSERT INTO passages_vectors (n, wall, model, dimension, vector) VALUES (?, ?, ?, ?, ?)",
                        (row, wall, self._embedder.name, len(vector) // 4, vector),
                    )
        return note

    def remove(self, scope: str, ids: Collection[str]) -> int:
        """Take passages out; how many there were."""
        check_scope(scope)
        with self._transaction(write=True) as connection:
            wall = _wall(connection, scope)
            return sum(_remove(connection, wall, one) for one in set(map(storable, ids))) if wall is not None else 0

    def find(self, scope: str, text: str, *, limit: int, smooth: bool = False) -> Found:
        """Passages of the scope that answer a text, best first."""
        check_scope(scope)
        (packed,), note = embed(self._embedder, [text], query=True)
        model = self._embedder.name if self._embedder is not None else ""
        with self._transaction(write=False) as connection:
            wall = _wall(connection, scope)
            if wall is None:
                return Found(note=note)
            shelf = _Shelf(connection, wall)
            meaning = Meaning(model=model, vector=unpack(packed) if packed else None, weight=self._vector_weight)
            hits = find(shelf, text, limit=limit, smooth=smooth, meaning=meaning)
        return Found(hits=hits, note=note)

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        with self._turn:
            try:
                self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield self._connection
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as exc:
                raise StoreError(f"Search file {self._path} cannot be used: {exc}. Nothing was changed.") from exc


def _wall(connection: sqlite3.Connection, scope: str) -> int | None:
    """The number that stands for a scope in the text index; none if nothing was ever put there."""
    found = connection.execute("SELECT n FROM walls WHERE scope = ?", (scope,)).fetchone()
    return int(found[0]) if found is not None else None


def _remove(connection: sqlite3.Connection, wall: int | None, passage_id: str) -> bool:
    found = connection.execute("SELECT n FROM passages WHERE wall = ? AND id = ?", (wall, passage_id)).fetchone()
    if found is None:
        return False
    for statement in (
        "DELETE FROM passages_vectors WHERE n = ?",
        "DELETE FROM passages_words WHERE rowid = ?",
        "DELETE FROM passages WHERE n = ?",
    ):
        connection.execute(statement, found)
    return True


def _quoted(word: str) -> str:
    """A word as an FTS5 string, in which nothing is syntax."""
    return '"' + word.replace('"', '""') + '"'


def _portions(rows: Collection[int]) -> Iterator[list[int]]:
    every = sorted(rows)
    for start in range(0, len(every), _AT_ONCE):
        yield every[start : start + _AT_ONCE]


def _marks(some: Sequence[int]) -> str:
    return ", ".join("?" * len(some))
