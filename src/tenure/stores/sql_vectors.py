"""Vectors in a SQL database: rows that name their model, and a copy in memory to compare against.

A vector belongs to one text: whoever changes or retires a lesson removes its vectors in the same
transaction, and a vector that arrives for a text that has changed meanwhile is not stored.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, cast

from sqlalchemy import Connection, and_, bindparam, create_engine, delete, func, insert, select

from tenure.playbook.run import Run, Task
from tenure.ports import VECTOR_KINDS, Embedded, Near, Nearest, Unembedded, VectorKind
from tenure.stores import codec, rows, sql_memory_vectors
from tenure.stores.log_search import split_session_name
from tenure.stores.prepared import change, fetch
from tenure.stores.scopes import tenant
from tenure.stores.vectors import Block, Compared, best, lesson_text, nearest_of, pack, run_text, text_hash, unpack

CACHED_BYTES = 512 * 1024 * 1024
"""Vectors that a store holds in memory at most: 250,000 of 512 numbers. The set used last is always held."""

_LIVE = ("provisional", "active")
_AT_ONCE = 500

MOST_COMPARED = 100_000
"""Vectors of a memory's sessions, or of its entries, that are all compared with a question: 200 MB of 512 numbers each."""

NEWEST_COMPARED = 20_000
"""How many are compared where there are more: the newest. What the words of a question find is compared in any case."""


@dataclass(slots=True)
class _Held:
    """Vectors of one scope, kind, model and dimension in memory."""

    blocks: list[Block] = field(default_factory=list)
    newest: int = 0
    gone: set[int] = field(default_factory=set)

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.blocks)

    def add(self, block: Block) -> None:
        """Take more vectors. Blocks double in size, so that there are few of them and each is copied seldom."""
        self.blocks = [*self.blocks, block]
        while len(self.blocks) > 1 and len(self.blocks[-2]) < 2 * len(self.blocks[-1]):
            self.blocks = [*self.blocks[:-2], Block.joined(self.blocks[-2:])]


class Matrices:
    """The vectors that a store has read, kept for the next question. Threads share it.

    Rows only ever come, under rising numbers; one that is gone is noticed when it is a hit. So what is
    held stays right across transactions and processes, and each question reads only what is new.
    """

    def __init__(self, most_bytes: int = CACHED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: OrderedDict[tuple[str, str, str, int], _Held] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Memory of all vectors held."""
        with self._lock:
            return sum(held.nbytes for held in self._held.values())

    def read(self, connection: Connection, scope: str, kind: str, model: str, dimension: int) -> tuple[list[Block], set[int]]:
        """The vectors of a scope as blocks, and rows in them that are known to be gone."""
        key = (scope, kind, model, dimension)
        with self._lock:
            held = self._held.get(key, _Held())
            t = rows.vectors
            found = connection.execute(
                select(t.c.n, t.c.vector)
                .where(_mine(scope, kind=kind, model=model, dimension=dimension), t.c.n > held.newest)
                .order_by(t.c.n)
            )
            numbers, data = array("q"), bytearray()
            for some in found.partitions(4_096):
                numbers.extend(n for n, _ in some)
                data += b"".join(vector for _, vector in some)
            if numbers:
                held.add(Block(numbers, data, dimension))
                held.newest = numbers[-1]
            if not held.blocks:
                return [], set()
            self._held[key] = held
            self._held.move_to_end(key)
            for old in list(self._held)[:-1]:
                if sum(one.nbytes for one in self._held.values()) <= self._most_bytes:
                    break
                del self._held[old]
            return held.blocks, set(held.gone)

    def forget(self, scope: str, kind: str, model: str, dimension: int, gone: set[int]) -> None:
        """Leave rows out from now on; where a third is gone, all is read anew at the next question."""
        key = (scope, kind, model, dimension)
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return
            held.gone |= gone
            if len(held.gone) * 3 > sum(map(len, held.blocks)):
                del self._held[key]


def _mine(scope: str, **columns: object) -> Any:
    t = rows.vectors
    return and_(t.c.tenant == tenant(scope), t.c.scope == scope, *(t.c[name] == value for name, value in columns.items()))


def nearest(
    connection: Connection,
    scopes: Sequence[str],
    vector: Sequence[float],
    *,
    model: str,
    kind: VectorKind,
    limit: int,
    matrices: Matrices | None,
) -> Nearest:
    """What of some scopes is nearest to a vector.

    Args:
        connection: with an open transaction.
        scopes: of one tenant.
        vector: the question's.
        model, kind: what it is compared with.
        limit: how many hits at most.
        matrices: where vectors are kept; none reads them anew, as a writer must, whose rows others do not have.
    """
    packed = pack(vector)
    if not packed or limit < 1:
        return Nearest()
    dimension, question = len(vector), unpack(packed)
    hits: list[Near] = []
    every: list[Compared] = []
    compared = 0
    for scope in scopes:
        if kind in ("session", "entry") and _more_than(connection, scope, kind, model, dimension):
            newest = _newest(connection, scope, kind, model, dimension)
            now = best([newest], question, most=limit)
            there = _ids(connection, scope, kind, model, [row for row, _ in now.found])
            hits += [Near(id=there[row], cosine=cosine, scope=scope) for row, cosine in now.found]
            every.append(now)
            compared += now.count
            continue
        own = matrices or Matrices()
        most = limit
        while True:
            blocks, gone = own.read(connection, scope, kind, model, dimension)
            now = best(blocks, question, most=most, gone=gone)
            there = _ids(connection, scope, kind, model, [row for row, _ in now.found])
            missing = {row for row, _ in now.found if row not in there}
            if missing:
                # Numbers are given in the order of commits, so below the newest one that is seen here none is still to come.
                seen = int(connection.execute(select(func.max(rows.vectors.c.n))).scalar() or 0)
                own.forget(scope, kind, model, dimension, {row for row in missing if row <= seen})
            if len(there) >= limit or len(now.found) < most:
                break
            most *= 2
        hits += [Near(id=there[row], cosine=cosine, scope=scope) for row, cosine in now.found if row in there]
        every.append(now)
        compared += now.count - len(gone) if now.count else 0
    hits.sort(key=lambda near: (-near.cosine, near.id))
    whole = with_what_they_are(connection, kind, hits[:limit])
    return nearest_of(whole, every, compared=compared)


def _more_than(connection: Connection, scope: str, kind: str, model: str, dimension: int) -> bool:
    """Whether there are more vectors than are all compared."""
    t = rows.vectors
    mine = select(t.c.n).where(_mine(scope, kind=kind, model=model, dimension=dimension)).order_by(t.c.n)
    return connection.execute(mine.limit(1).offset(MOST_COMPARED)).scalar() is not None


def _newest(connection: Connection, scope: str, kind: str, model: str, dimension: int) -> Block:
    t = rows.vectors
    mine = select(t.c.n, t.c.vector).where(_mine(scope, kind=kind, model=model, dimension=dimension)).order_by(t.c.n.desc())
    found = connection.execute(mine.limit(NEWEST_COMPARED)).all()
    return Block([n for n, _ in found], b"".join(vector for _, vector in found), dimension)


def cosines(
    connection: Connection, scope: str, kind: VectorKind, ids: Collection[str], *, model: str, vector: Sequence[float]
) -> dict[str, float]:
    """The cosines of some of a scope with a vector, of those that have one, by id."""
    found: list[tuple[str, bytes]] = []
    wanted = sorted(ids)
    inside = _mine(scope, kind=kind, model=model, dimension=len(vector))
    for start in range(0, len(wanted), _AT_ONCE):
        some = select(rows.vectors.c.id, rows.vectors.c.vector).where(inside, rows.vectors.c.id.in_(wanted[start : start + _AT_ONCE]))
        found += [(one, packed) for one, packed in connection.execute(some)]
    if not found:
        return {}
    block = Block(range(len(found)), b"".join(packed for _, packed in found), len(vector))
    return {one: float(cosine) for (one, _), cosine in zip(found, block.cosines(vector), strict=True)}


def with_what_they_are(connection: Connection, kind: VectorKind, hits: Sequence[Near]) -> tuple[Near, ...]:
    """The hits with their lessons, or with the tools of their runs. What another transaction took out meanwhile is left out."""
    if kind in ("session", "entry"):
        return tuple(hits)
    found: dict[tuple[str, str], str] = {}
    t, said = (rows.lessons, rows.lessons.c.body) if kind == "lesson" else (rows.runs, rows.runs.c.tools)
    for scope in {near.scope for near in hits}:
        ids = [near.id for near in hits if near.scope == scope]
        for start in range(0, len(ids), _AT_ONCE):
            wanted = select(t.c.id, said).where(t.c.tenant == tenant(scope), t.c.scope == scope, t.c.id.in_(ids[start : start + _AT_ONCE]))
            found |= {(scope, one): text for one, text in connection.execute(wanted)}
    there = [near for near in hits if (near.scope, near.id) in found]
    if kind == "lesson":
        return tuple(replace(near, lesson=codec.lesson_from_json(found[near.scope, near.id])) for near in there)
    return tuple(replace(near, tools=frozenset(json.loads(found[near.scope, near.id]))) for near in there)


def _ids(connection: Connection, scope: str, kind: str, model: str, wanted: Sequence[int]) -> dict[int, str]:
    """Ids by row, of the rows that are there."""
    t = rows.vectors
    there: dict[int, str] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        # By number alone, and the rest looked at here: told more, the database would look through the whole scope.
        found = connection.execute(select(t.c.n, t.c.id, t.c.scope, t.c.kind, t.c.model).where(t.c.n.in_(some)))
        there |= {int(n): str(one) for n, one, *where in found if where == [scope, kind, model]}
    return there


def unembedded(
    connection: Connection, scope: str, model: str, *, dimension: int, limit: int, kinds: Collection[VectorKind], since: str
) -> list[Unembedded]:
    """What of a scope has no vector of a model: live lessons, runs, then sessions and entries of the memory."""
    found: list[Unembedded] = []
    v = rows.vectors
    for kind, table, body in (("lesson", rows.lessons, rows.lessons.c.body), ("run", rows.runs, rows.runs.c.body)):
        if len(found) >= limit:
            break
        if kind not in kinds:
            continue
        there = and_(v.c.tenant == table.c.tenant, v.c.scope == table.c.scope, v.c.kind == kind, v.c.model == model, v.c.id == table.c.id)
        if dimension:
            there = and_(there, v.c.dimension.in_((0, dimension)))
        inside = (table.c.tenant == tenant(scope), table.c.scope == scope)
        wanted = select(table.c.id, body).outerjoin(v, there).where(*inside, v.c.n.is_(None))
        wanted = wanted.where(rows.lessons.c.status.in_(_LIVE) if kind == "lesson" else rows.runs.c.revoked.is_(False))
        for one, text in connection.execute(wanted.order_by(table.c.n).limit(limit - len(found))):
            said = _text(kind, text)
            found.append(Unembedded(kind=cast("VectorKind", kind), id=one, text=said, text_hash=text_hash(said)))
    for memory_kind, texts_without in _OF_MEMORY:
        if memory_kind in kinds and len(found) < limit:
            there = _mine(scope, kind=memory_kind, model=model)
            there = and_(there, v.c.dimension.in_((0, dimension))) if dimension else there
            texts = texts_without(connection, scope, there, since=since, limit=limit - len(found))
            found += [Unembedded(kind=memory_kind, id=one, text=text, text_hash=text_hash(text)) for one, text in texts.items()]
    return found


_OF_MEMORY: tuple[tuple[VectorKind, Callable[..., dict[str, str]]], ...] = (
    ("session", sql_memory_vectors.sessions_without),
    ("entry", sql_memory_vectors.entries_without),
)


def _text(kind: str, body: str) -> str:
    if kind == "lesson":
        return lesson_text(codec.lesson_from_json(body))
    return run_text(Run(id="", task=Task(text=str(json.loads(body)["task"]["text"]))))


def put(connection: Connection, scope: str, model: str, vectors: Sequence[Embedded]) -> int:
    """Store vectors whose texts are still the ones they were made from; how many were."""
    stored = 0
    for start in range(0, len(vectors), _AT_ONCE):
        some = vectors[start : start + _AT_ONCE]
        for kind in VECTOR_KINDS:
            given = {one.id: one for one in some if one.kind == kind}
            texts = _texts(connection, scope, kind, list(given)) if given else {}
            fitting = [given[one] for one, said in texts.items() if text_hash(said) == given[one].text_hash]
            if not fitting:
                continue
            old = (_mine(scope, kind=kind, model=model), rows.vectors.c.id.in_([one.id for one in fitting]))
            connection.execute(delete(rows.vectors).where(*old))
            connection.execute(insert(rows.vectors), [_row(scope, model, one) for one in fitting])
            stored += len(fitting)
    return stored


def _texts(connection: Connection, scope: str, kind: VectorKind, ids: Sequence[str]) -> dict[str, str]:
    """What is embedded of some ids that are there, at most `_AT_ONCE`."""
    if kind == "session":
        return sql_memory_vectors.session_texts(connection, scope, [split_session_name(one) for one in ids])
    if kind == "entry":
        return sql_memory_vectors.entry_texts(connection, scope, ids)
    table = rows.lessons if kind == "lesson" else rows.runs
    wanted = select(table.c.id, table.c.body).where(table.c.tenant == tenant(scope), table.c.scope == scope, table.c.id.in_(ids))
    wanted = wanted.where(rows.lessons.c.status.in_(_LIVE) if kind == "lesson" else rows.runs.c.revoked.is_(False))
    return {str(one): _text(kind, body) for one, body in connection.execute(wanted)}


def _row(scope: str, model: str, one: Embedded) -> dict[str, object]:
    packed = pack(one.vector)
    return {
        "tenant": tenant(scope),
        "scope": scope,
        "kind": one.kind,
        "id": one.id,
        "model": model,
        "dimension": len(packed) // 4,
        "text_hash": one.text_hash,
        "vector": packed,
    }


_STALE = delete(rows.vectors).where(*(rows.vectors.c[name] == bindparam(name) for name in ("tenant", "scope", "kind", "id")))


def drop_stale(connection: Connection, scope: str, kind: VectorKind, ids: Sequence[str]) -> None:
    """Remove the vectors of texts that have changed or are no longer shown."""
    change(connection, _STALE, [{"tenant": tenant(scope), "scope": scope, "kind": kind, "id": one} for one in ids])


def drop_others(connection: Connection, scope: str, model: str) -> int:
    """Remove the vectors of all models but one; how many there were."""
    return int(connection.execute(delete(rows.vectors).where(_mine(scope), rows.vectors.c.model != model)).rowcount)


def has_any(connection: Connection, scopes: Sequence[str], model: str, dimension: int = 0) -> bool:
    """Whether one of some scopes of a tenant has a vector of a model; with a dimension, of that one or an empty one."""
    here: dict[str, object] = {"tenant": tenant(scopes[0]), "model": model, "dimension": dimension, "none": 0, "most": 1, "skipped": 0}
    statement = _any(len(scopes), bool(dimension))
    return bool(fetch(connection, statement, {**here, **{f"scope_{place}": scope for place, scope in enumerate(scopes)}}))


@lru_cache(maxsize=32)
def _any(scopes: int, of_dimension: bool) -> Any:
    t = rows.vectors
    inside = [t.c.tenant == bindparam("tenant"), t.c.scope.in_([bindparam(f"scope_{place}") for place in range(scopes)])]
    if of_dimension:
        inside.append(t.c.dimension.in_([bindparam("none"), bindparam("dimension")]))
    return select(t.c.id).where(*inside, t.c.model == bindparam("model")).limit(bindparam("most")).offset(bindparam("skipped"))


def counts(connection: Connection, scope: str, dimension: int = 0) -> dict[str, int]:
    """Vectors of a scope by model; with a dimension, those of another one are left out."""
    t = rows.vectors
    inside = and_(_mine(scope), t.c.dimension.in_((0, dimension))) if dimension else _mine(scope)
    found = connection.execute(select(t.c.model, func.count()).where(inside).group_by(t.c.model).order_by(t.c.model))
    return {model: int(size) for model, size in found}


_MADE = {"scope": "local/made", "kind": "lesson", "model": "made"}


def made_vectors(path: Path, count: int, dimension: int) -> None:
    """A database of made vectors and nothing else, for measuring; of 50 different ones in turn."""
    dice = Random("vectors")
    some = [pack([dice.gauss(0.0, 1.0) for _ in range(dimension)]) for _ in range(50)]
    said = {"tenant": tenant(_MADE["scope"]), **_MADE, "dimension": dimension, "text_hash": ""}
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        rows.vectors.create(connection)
        for start in range(0, count, 1_000):
            portion = range(start, min(count, start + 1_000))
            connection.execute(insert(rows.vectors), [{**said, "id": f"b-{n:06d}", "vector": some[n % len(some)]} for n in portion])
    engine.dispose()


def read_bytes(path: Path, dimension: int) -> int:
    """Memory that the vectors of `made_vectors` take once a question has been asked, in bytes."""
    matrices, engine = Matrices(), create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        matrices.read(connection, _MADE["scope"], _MADE["kind"], _MADE["model"], dimension)
    engine.dispose()
    return matrices.nbytes
