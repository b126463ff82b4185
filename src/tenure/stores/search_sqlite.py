"""Search over passages in a SQLite file: FTS5 for words, packed vectors for meaning. Standard library alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from threading import RLock

from tenure.errors import StoreError
from tenure.fusion import ASIDE_WEIGHT, VECTOR_WEIGHT
from tenure.ports import Embedder, Found, Passage, PassagesEmbedded
from tenure.stores.passages import (
    AllCosines,
    Indexed,
    Meaning,
    count_stems,
    embed,
    embed_in_batches,
    find,
    indexed,
    missing_note,
    model_of,
    storable,
)
from tenure.stores.scopes import check_scope
from tenure.stores.vectors import Block, text_hash, unpack
from tenure.vectors import checked

BUSY_S = 60.0
"""How long a writer waits for another, in seconds."""

_AT_ONCE = 400
"""Values in one statement; older SQLite libraries take no more than 999."""

FORM = 1
"""Number of the file's form, kept as its `user_version`."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS walls (n INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS passages (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    wall INTEGER NOT NULL REFERENCES walls,
    id TEXT NOT NULL,
    run TEXT NOT NULL,
    place INTEGER NOT NULL,
    length REAL NOT NULL,
    text TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    UNIQUE (wall, id)
);
CREATE INDEX IF NOT EXISTS passages_order ON passages (wall, run, place);
CREATE INDEX IF NOT EXISTS passages_length ON passages (wall, length);
CREATE TABLE IF NOT EXISTS passages_vectors (
    n INTEGER NOT NULL REFERENCES passages,
    wall INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    text_hash TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (n, model)
);
CREATE INDEX IF NOT EXISTS passages_vectors_model ON passages_vectors (wall, model, dimension);
CREATE VIRTUAL TABLE IF NOT EXISTS passages_words USING fts5(wall, said, aside, marks, tokenize = 'porter unicode61');
"""

_UNEMBEDDED = (
    "FROM passages AS p WHERE NOT EXISTS (SELECT 1 FROM passages_vectors AS v "
    "WHERE v.n = p.n AND v.model = ? AND v.dimension = ? AND v.text_hash = p.text_hash) AND p.wall = ?"
)
"""Passages of a scope without a vector of a model that is of their present text."""

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

    def cosines(self, model: str, vector: Sequence[float]) -> AllCosines:
        """How like every row is that has a vector of this model."""
        found = self._connection.execute(
            "SELECT v.n, v.vector FROM passages_vectors AS v JOIN passages AS p ON p.n = v.n AND p.text_hash = v.text_hash "
            "WHERE v.wall = ? AND v.model = ? AND v.dimension = ? AND length(v.vector) = ? ORDER BY v.n",
            (self._wall, model, len(vector), 4 * len(vector)),
        ).fetchall()
        if not found:
            return AllCosines()
        block = Block([n for n, _ in found], b"".join(packed for _, packed in found), len(vector))
        return AllCosines({n: float(one) for (n, _), one in zip(found, block.cosines(vector), strict=True) if isfinite(one)})

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
        self._embedder, self._path, self._turn = checked(embedder) if embedder is not None else None, path, RLock()
        try:
            self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
            if path != ":memory:":
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
            (form,) = self._connection.execute("PRAGMA user_version").fetchone()
            if form not in (0, FORM):
                self._connection.close()
                raise StoreError(f"Search file {path} has form {form}; this version of Tenure reads form {FORM}. Name another, or upgrade.")
            self._connection.executescript(f"{_SCHEMA} PRAGMA user_version = {FORM};")
        except sqlite3.Error as exc:
            raise StoreError(f"Search file {path} cannot be used: {exc}. Check the path and its permissions, or name another.") from exc

    def put(self, scope: str, passages: Sequence[Passage]) -> str:
        """Make passages findable, in place of those with the same ids; durable on return."""
        check_scope(scope)
        # The model is asked before the transaction: no one waits for it.
        taken = [(indexed(one), storable(one.text), text_hash(one.text)) for one in passages]
        model = self._embedder.name if self._embedder is not None else ""
        known = self._embedded(scope, [one.id for one, _, _ in taken]) if model else {}
        new = list(dict.fromkeys(text for one, text, name in taken if known.get(one.id) != name))
        vectors, note = embed(self._embedder, new)
        made = dict(zip(new, vectors, strict=True)) if model and not note else {}
        _, dimension = model_of(self._embedder)
        with self._transaction(write=True) as connection:
            connection.execute("INSERT OR IGNORE INTO walls (scope) VALUES (?)", (scope,))
            wall = _wall(connection, scope)
            for one, text, name in taken:
                row = _keep(connection, wall, one, text, name)
                if text in made:
                    _keep_vector(connection, row, wall, model, dimension, name, made[text])
        return note

    def _embedded(self, scope: str, ids: Sequence[str]) -> dict[str, str]:
        """Of passages that have a vector of this embedder, the hashes of the texts it is of."""
        found: dict[str, str] = {}
        with self._transaction(write=False) as connection:
            for start in range(0, len(ids), _AT_ONCE):
                some = ids[start : start + _AT_ONCE]
                found.update(
                    connection.execute(
                        "SELECT p.id, v.text_hash FROM walls AS w JOIN passages AS p ON p.wall = w.n "
                        "JOIN passages_vectors AS v ON v.n = p.n AND v.model = ? AND v.dimension = ? AND v.text_hash = p.text_hash "
                        f"WHERE w.scope = ? AND p.id IN ({_marks(some)})",
                        (*model_of(self._embedder), scope, *some),
                    ).fetchall()
                )
        return found

    def embed_missing(self, scope: str, *, batch: int = 64, most: int | None = None) -> PassagesEmbedded:
        """Give a vector to every passage that has none of this embedder; each batch is durable before the next."""
        check_scope(scope)
        embedder = self._embedder
        if embedder is None:
            return PassagesEmbedded()
        model = embedder.name

        def waiting(size: int) -> list[tuple[int, str]]:
            with self._transaction(write=False) as connection:
                wall = _wall(connection, scope)
                rows = connection.execute(f"SELECT p.n, p.text {_UNEMBEDDED} ORDER BY p.n LIMIT ?", (*model_of(embedder), wall, size))
                return [(int(n), text) for n, text in rows]

        def keep(made: Sequence[tuple[int, str, bytes]]) -> None:
            with self._transaction(write=True) as connection:
                wall = _wall(connection, scope)
                for row, text, vector in made:
                    # The text may have been edited or taken out while the model worked.
                    found = connection.execute("SELECT text_hash FROM passages WHERE n = ? AND text = ?", (row, text)).fetchone()
                    if found is not None:
                        _keep_vector(connection, row, wall, model, embedder.dimension, str(found[0]), vector)

        done, failed = embed_in_batches(embedder, waiting, keep, batch=batch, most=most)
        with self._transaction(write=True) as connection:
            wall = _wall(connection, scope)
            (missing,) = connection.execute(f"SELECT count(*) {_UNEMBEDDED}", (*model_of(embedder), wall)).fetchone()
            dropped = 0
            if not missing:
                dropped = connection.execute("DELETE FROM passages_vectors WHERE wall = ? AND model <> ?", (wall, model)).rowcount
        return PassagesEmbedded(model=model, embedded=done, missing=int(missing), dropped=dropped, failed=failed)

    def remove(self, scope: str, ids: Collection[str]) -> int:
        """Take passages out; how many there were."""
        check_scope(scope)
        with self._transaction(write=True) as connection:
            wall = _wall(connection, scope)
            return sum(_remove(connection, wall, one) for one in set(map(storable, ids))) if wall is not None else 0

    def find(self, scope: str, text: str, *, limit: int, smooth: bool = False, widen: bool = False) -> Found:
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
            hits = find(shelf, text, limit=limit, smooth=smooth, meaning=meaning, widen=widen)
            if model and not note:
                (missing,) = connection.execute(f"SELECT count(*) {_UNEMBEDDED}", (*model_of(self._embedder), wall)).fetchone()
                note = missing_note(int(missing), shelf.size()[0], model)
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


def _keep(connection: sqlite3.Connection, wall: int | None, one: Indexed, text: str, name: str) -> int:
    """Keep a passage in place of the one with its id, and its vectors if they are of this text; its row."""
    found = connection.execute("SELECT n FROM passages WHERE wall = ? AND id = ?", (wall, one.id)).fetchone()
    if found is None:
        row = connection.execute(
            "INSERT INTO passages (wall, id, run, place, length, text, text_hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (wall, one.id, one.group, one.place, one.length, text, name),
        ).lastrowid
        assert row is not None
    else:
        row = int(found[0])
        connection.execute(
            "UPDATE passages SET run = ?, place = ?, length = ?, text = ?, text_hash = ? WHERE n = ?",
            (one.group, one.place, one.length, text, name, row),
        )
        connection.execute("DELETE FROM passages_words WHERE rowid = ?", (row,))
        connection.execute("DELETE FROM passages_vectors WHERE n = ? AND text_hash <> ?", (row, name))
    connection.execute(
        "INSERT INTO passages_words (rowid, wall, said, aside, marks) VALUES (?, ?, ?, ?, ?)",
        (row, f"wall{wall}", " ".join(one.said), " ".join(one.aside), " ".join(one.marks)),
    )
    return row


def _keep_vector(connection: sqlite3.Connection, row: int, wall: int | None, model: str, dimension: int, name: str, vector: bytes) -> None:
    """Keep a model's vector of a text; no bytes say that the model has none for it."""
    connection.execute(
        "INSERT OR REPLACE INTO passages_vectors (n, wall, model, dimension, text_hash, vector) VALUES (?, ?, ?, ?, ?, ?)",
        (row, wall, model, len(vector) // 4 or dimension, name, vector),
    )


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


def _marks(some: Sequence[object]) -> str:
    return ", ".join("?" * len(some))
