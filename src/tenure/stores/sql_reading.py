"""Reading a scope in a SQL database.

The same for every database; what differs (text search, opening, locking) comes in as a `Dialect`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, or_, select

from tenure.governance import ledger as chain
from tenure.playbook.delta_json import delta_from_json
from tenure.playbook.folding import fold, folding_key
from tenure.playbook.lessons import Lesson, normalised
from tenure.playbook.notation import assemble, record_from_json
from tenure.playbook.records import Member, Record, read_lesson, root_of
from tenure.playbook.render import Core
from tenure.playbook.run import Run
from tenure.playbook.state import Playbook
from tenure.ports import VECTOR_KINDS, FailedReply, LedgerEntry, Nearest, Unembedded, VectorKind
from tenure.stores import codec, rows, sql_memory_vectors, sql_observations, sql_vectors
from tenure.stores.dialect import Dialect
from tenure.stores.expressions import is_shortened, whole_key
from tenure.stores.prepared import fetch, fetch_among, of_scope
from tenure.stores.scopes import parents, tenant
from tenure.stores.sql_draws import SqlDraws
from tenure.stores.sql_figures import SqlFigures
from tenure.stores.sql_grades import SqlGrades
from tenure.stores.sql_lessons import SqlLessons, portions
from tenure.stores.sql_memory import SqlMemory
from tenure.stores.sql_postponed import SqlPostponed
from tenure.stores.sql_removal import SqlRemoval
from tenure.stores.sql_shared import SqlShared
from tenure.stores.sql_waiting import SqlWaiting

_AT_ONCE = 500

_LAST = "\U0010ffff"
"""The greatest character: texts that begin alike end before it."""


class SqlReading(SqlLessons, SqlFigures, SqlDraws, SqlGrades, SqlRemoval, SqlPostponed, SqlShared, SqlWaiting, SqlMemory):
    """Reads one scope over an open connection (see `ports.Reading`)."""

    def __init__(self, connection: Connection, scope: str, dialect: Dialect) -> None:
        self._connection, self._scope, self._dialect = connection, scope, dialect
        self._wall = {"tenant": tenant(scope), "scope": scope}
        self._where = {f"where_{name}": value for name, value in self._wall.items()}
        self._records: dict[str, Record | None] = {}
        self._groups: dict[str, tuple[Member, ...]] = {}
        self._pointing: dict[str, frozenset[str]] = {}
        self._settings: dict[str, str] | None = None
        self._core_body: str | None = None

    @property
    def scope(self) -> str:
        """The scope."""
        return self._scope

    def _mine(self, table: Any, **columns: object) -> Any:
        """The condition that a row of a table is of this scope, and has these values."""
        conditions = [table.c[name] == value for name, value in {**self._wall, **columns}.items()]
        return and_(*conditions)

    def _rows(self, *columns: Any, **where: object) -> Any:
        """Columns of this scope's rows that have these values; the statement is built once per form."""
        return self._connection.execute(_selection(columns, tuple(where)), {**self._wall, **where})

    def _tuples(self, *columns: Any, **where: object) -> list[tuple[Any, ...]]:
        """`_rows` as plain tuples, for what every delta asks."""
        return fetch(self._connection, _selection(columns, tuple(where)), {**self._wall, **where})

    def _one(self, column: Any, **where: object) -> Any:
        return next((found for (found,) in self._tuples(column, **where)), None)

    # -- records: the view that the algebra works on ----------------------------------------------

    def record(self, key: str) -> Record | None:
        """The record under an id."""
        if key not in self._records:
            self._look_up_records((key,))
        return self._records[key]

    def group(self, group: str) -> tuple[Member, ...]:
        """The members of a group of equal texts."""
        if group not in self._groups:
            self._look_up_groups((group,))
        return self._groups[group]

    def pointing(self, key: str) -> Iterable[str]:
        """Keys of records whose pointer register names this id."""
        if key not in self._pointing:
            self._look_up_pointing((key,))
        return self._pointing[key]

    def _look_ahead(self, keys: Iterable[str], groups: Iterable[str]) -> None:
        """Fetch records, groups and pointers, and what they lead to, in a few statements instead of one for each."""
        wanted, grouped = set(keys), set(groups)
        while wanted or grouped:
            self._look_up_records(wanted)
            self._look_up_pointing(wanted)
            records = [record for key in wanted if (record := self._records[key]) is not None]
            grouped |= {record.admission.group for record in records if record.admission is not None}
            self._look_up_groups(grouped)
            near = {one for key in wanted for one in self._pointing[key]}
            near.update(member.key for group in grouped for member in self._groups[group])
            for record in records:
                near.update(claim.key for claim in record.claims)
                pointer = record.registers.get("pointer")
                near.add(pointer.value if pointer is not None and pointer.value else "")
                near.add(record.admission.name if record.admission is not None else "")
            wanted = {key for key in near if key and (key not in self._records or key not in self._pointing)}
            grouped = set()

    def _look_up_records(self, keys: Iterable[str]) -> None:
        unknown = [key for key in keys if key not in self._records]
        t = rows.records
        for some in portions(unknown):
            self._records.update(dict.fromkeys(some))
            for key, body in fetch_among(self._connection, (t.c.key, t.c.body), self._wall, "key", some):
                self._records[key] = record_from_json(body)

    def _look_up_groups(self, groups: Iterable[str]) -> None:
        unknown = [group for group in groups if group not in self._groups]
        t = rows.records
        for some in portions(unknown):
            found: dict[str, list[Member]] = {group: [] for group in some}
            columns = (t.c.group_key, t.c.delta_id, t.c.key, t.c.imported)
            for group, delta_id, key, imported in fetch_among(self._connection, columns, self._wall, "group_key", some):
                found[group].append(Member(delta_id, key, bool(imported)))
            self._groups.update((group, tuple(sorted(members))) for group, members in found.items())

    def _look_up_pointing(self, keys: Iterable[str]) -> None:
        unknown = [key for key in keys if key not in self._pointing]
        t = rows.records
        for some in portions(unknown):
            found: dict[str, set[str]] = {key: set() for key in some}
            for target, key in fetch_among(self._connection, (t.c.points_to, t.c.key), self._wall, "points_to", some):
                found[target].add(key)
            self._pointing.update((key, frozenset(some)) for key, some in found.items())

    def holds(self, delta_id: str) -> bool:
        """Whether a delta is part of the state."""
        return self._one(rows.ledger.c.version, delta_id=delta_id) is not None

    def key_owner(self, key: str) -> str | None:
        """Id of the delta that holds a delta key."""
        t = rows.ledger
        # Of deltas that share a key, which installations have put together since, one counts.
        found = self._tuples(t.c.effective, t.c.delta_id, delta_key=key)
        return max(found, key=lambda row: bool(row[0]))[1] if found else None

    # -- lessons: what is read of one alone -----------------------------------------------------------

    def lesson(self, lesson_id: str) -> Lesson | None:
        """The lesson an id stands for, through aliases."""
        body = self._one(rows.lessons.c.body, id=lesson_id)
        if body is not None:
            return codec.lesson_from_json(body)
        if self.record(lesson_id) is None:
            return None
        return read_lesson(self, root_of(self, lesson_id))

    def resolve(self, prefix: str) -> Sequence[str]:
        """Ids of lessons that begin with a text."""
        if self.record(prefix) is not None:
            return [prefix]
        t = rows.lessons
        found = select(t.c.id).where(self._mine(t), t.c.id >= prefix, t.c.id < f"{prefix}{_LAST}").order_by(t.c.id).limit(10)
        return list(self._connection.execute(found).scalars()) if prefix else []

    def about(self, subject: str) -> Lesson | None:
        """The lesson about a subject, live ones first."""
        if not subject:
            return None
        found = self._rows(rows.lessons.c.body, about=subject).scalars()
        order = {"active": 0, "provisional": 1, "held": 2, "retired": 3}
        return min((codec.lesson_from_json(body) for body in found), key=lambda one: (order[one.status], one.id), default=None)

    def playbook(self, version: int | None = None) -> Playbook:
        """The whole playbook, now or as it was."""
        if version is not None:
            merged, entries = self.merged(), self.ledger(until=version)
            order = sorted(entries, key=lambda one: folding_key(one.version, one.delta.id, one.digest, merged))
            return fold(entry.delta for entry in order).playbook
        r, d = rows.records, rows.ledger
        records = (record_from_json(body) for body in self._connection.execute(select(r.c.body).where(self._mine(r))).scalars())
        found = self._connection.execute(select(d.c.delta_id, d.c.delta_key).where(self._mine(d, effective=True)))
        deltas = {delta_id: key or "" for delta_id, key in found}
        for some in portions([one for one, key in deltas.items() if is_shortened(key)]):
            for one, payload in fetch_among(self._connection, (d.c.delta_id, d.c.payload), self._wall, "delta_id", some):
                deltas[one] = whole_key(deltas[one], payload) or ""
        return assemble(records, deltas, sql_observations.everything(self._connection, self._wall))

    # -- the ledger --------------------------------------------------------------------------------

    def version(self) -> int:
        """Arrival number of the newest delta."""
        return int(self._one(rows.scopes.c.version) or 0)

    def version_of(self, delta_id: str) -> int | None:
        """Arrival number of a delta."""
        found = self._one(rows.ledger.c.version, delta_id=delta_id)
        return None if found is None else int(found)

    def newest_delta_id(self) -> str:
        """The greatest delta id of the scope."""
        ((found,),) = fetch(self._connection, _NEWEST, self._wall)
        return str(found or "")

    def ledger(
        self, *, after: int = 0, until: int | None = None, newest_first: bool = False, limit: int | None = None
    ) -> Sequence[LedgerEntry]:
        """Deltas with their arrival numbers in a range."""
        t, s = rows.ledger, rows.ledger_texts
        wanted = select(t.c.version, t.c.writer, t.c.digest, t.c.payload).where(self._mine(t), t.c.version > after)
        texts_wanted = select(s.c.digest, s.c.text).where(self._mine(s), s.c.version > after)
        if until is not None:
            wanted, texts_wanted = wanted.where(t.c.version <= until), texts_wanted.where(s.c.version <= until)
        wanted = wanted.order_by(t.c.version.desc() if newest_first else t.c.version).limit(limit)
        found = self._connection.execute(wanted).all()
        if limit is not None and found:
            versions = [row.version for row in found]
            texts_wanted = texts_wanted.where(s.c.version >= min(versions), s.c.version <= max(versions))
        texts = {row.digest: row.text for row in self._connection.execute(texts_wanted)}
        return [_entry((row.version, row.writer, row.digest, row.payload), texts) for row in found]

    def _entries(self, versions: Iterable[int]) -> list[LedgerEntry]:
        """The deltas with these arrival numbers, oldest first."""
        t, s = rows.ledger, rows.ledger_texts
        wanted = sorted(versions)
        entries: list[LedgerEntry] = []
        for some in (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE)):
            said = fetch_among(self._connection, (s.c.digest, s.c.text), self._wall, "version", some)
            texts = {str(digest): str(text) for digest, text in said}
            columns = (t.c.version, t.c.writer, t.c.digest, t.c.payload)
            entries += [_entry(row, texts) for row in fetch_among(self._connection, columns, self._wall, "version", some)]
        return sorted(entries, key=lambda entry: entry.version)

    # -- runs ----------------------------------------------------------------------------------------

    def run(self, run_id: str) -> Run | None:
        """A kept run, whole."""
        body = self._one(rows.runs.c.body, id=run_id)
        if body is None:
            return None
        steps = sorted(self._rows(rows.steps.c.place, rows.steps.c.body, run_id=run_id).all())
        return codec.run_from_json(body, scope=self._scope, steps=tuple(codec.step_from_json(step) for _, step in steps))

    def runs(self, ids: Collection[str]) -> Mapping[str, Run]:
        """Kept runs, whole, by id in the order asked for."""
        t, s = rows.runs, rows.steps
        found: dict[str, Run] = {}
        for some in portions(list(dict.fromkeys(ids))):
            steps: dict[str, list[tuple[int, str]]] = {}
            for run_id, place, body in fetch_among(self._connection, (s.c.run_id, s.c.place, s.c.body), self._wall, "run_id", some):
                steps.setdefault(run_id, []).append((place, body))
            for run_id, body in fetch_among(self._connection, (t.c.id, t.c.body), self._wall, "id", some):
                told = tuple(codec.step_from_json(step) for _, step in sorted(steps.get(run_id, ())))
                found[run_id] = codec.run_from_json(body, scope=self._scope, steps=told)
        return {one: found[one] for one in ids if one in found}

    def steps_kept(self, run_id: str) -> int:
        """How many steps of a run are kept."""
        return int(self._one(rows.runs.c.steps, id=run_id) or 0)

    def run_ids(self, *, limit: int | None = None) -> Sequence[str]:
        """Ids of kept runs, newest first."""
        here = {**self._wall, "revoked": False} | ({} if limit is None else {"most": limit, "skipped": 0})
        return [one for (one,) in fetch(self._connection, _newest_runs(limit is not None), here)]

    def tasks_of(self, runs: Collection[str]) -> Mapping[str, str]:
        """What makes the tasks of kept runs the same, by run: the task's key, else its text."""
        t = rows.runs
        found: dict[str, str] = {}
        for some in portions(sorted(runs)):
            for run_id, key, body in fetch_among(self._connection, (t.c.id, t.c.task_key, t.c.body), self._wall, "id", some):
                found[run_id] = key or normalised(str(json.loads(body)["task"]["text"]))
        return found

    def learned_steps(self, run_id: str) -> int | None:
        """How many steps of a run were learned from; none if it was never learned, 0 if it had none to learn from."""
        found = self._rows(rows.runs.c.learned, id=run_id).one_or_none()
        return None if found is None or found.learned is None else int(found.learned)

    def runs_like(self, run: Run, *, limit: int = 8) -> Sequence[Run]:
        """Other kept runs of the same task, then successful ones of the same kind, newest first."""
        t = rows.runs
        ids: list[str] = []
        wanted = []
        if run.task.key:
            wanted.append(select(t.c.id).where(self._mine(t, task_key=run.task.key, revoked=False)))
        if run.task.kind:
            wanted.append(select(t.c.id).where(self._mine(t, task_kind=run.task.kind, success=True, revoked=False)))
        for one in wanted:
            ids.extend(self._connection.execute(one.where(t.c.id != run.id).order_by(t.c.arrived.desc()).limit(limit)).scalars())
        found = (self.run(run_id) for run_id in list(dict.fromkeys(ids))[:limit])
        return [one for one in found if one is not None]

    def verdict_waits(self, run_id: str) -> bool:
        """Whether its verdict came after it was learned from, and was only kept so far."""
        told = self._one(rows.runs.c.verdict_learned, id=run_id)
        return told is not None and not told

    def unlearned(self, *, limit: int = 100) -> Sequence[str]:
        """Ids of finished runs that were kept but not learned from, oldest first."""
        t = rows.runs
        waiting = or_(t.c.learned.is_(None), t.c.learned < t.c.steps, t.c.verdict_learned.is_(False))
        return list(
            self._connection.execute(
                select(t.c.id).where(self._mine(t, finished=True, revoked=False), waiting).order_by(t.c.arrived).limit(limit)
            ).scalars()
        )

    # -- vectors --------------------------------------------------------------------------------------

    def unembedded(
        self, model: str, *, dimension: int = 0, limit: int = 64, kinds: Collection[VectorKind] = VECTOR_KINDS, since: str = ""
    ) -> Sequence[Unembedded]:
        """What of the scope has no vector of a model."""
        return sql_vectors.unembedded(self._connection, self._scope, model, dimension=dimension, limit=limit, kinds=kinds, since=since)

    def embeddable(self) -> int:
        """How many texts of the scope are to have a vector."""
        counts = self.counts()
        return counts["live"] + counts["runs"] + sql_memory_vectors.count_texts(self._connection, self._scope)

    def nearest(self, vector: Sequence[float], *, model: str, kind: VectorKind = "lesson", limit: int = 100) -> Nearest:
        """What of the scope, and of lessons of its parents, is nearest to a vector."""
        scopes = (self._scope, *parents(self._scope)) if kind == "lesson" else (self._scope,)
        return self._dialect.nearest(self._connection, scopes, vector, model=model, kind=kind, limit=limit, writing=self._writing)

    def has_vectors(self, model: str, *, dimension: int = 0) -> bool:
        """Whether the scope or a parent has a vector of a model."""
        return sql_vectors.has_any(self._connection, self._line, model, dimension)

    def vector_counts(self, *, dimension: int = 0) -> Mapping[str, int]:
        """How many texts of the scope have a vector, by model; with a dimension, of that one, or are known to have none."""
        return sql_vectors.counts(self._connection, self._scope, dimension)

    # -- the rest ------------------------------------------------------------------------------------

    def failed_replies(self) -> Sequence[FailedReply]:
        """Replies that wait to be tried again, oldest first."""
        t = rows.failed_replies
        return [
            codec.failed_from_json(body)
            for body in self._connection.execute(select(t.c.body).where(self._mine(t)).order_by(t.c.id)).scalars()
        ]

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Live lessons and their estimated tokens by section."""
        t = rows.sizes
        found = self._tuples(t.c.section, t.c.lessons, t.c.tokens)
        return {section: (count, tokens) for section, count, tokens in found if count}

    def core(self, size: int = 0) -> Core | None:
        """The core last shown in contexts of a size."""
        return self._cores().get(size)

    def core_sizes(self) -> Sequence[int]:
        """Sizes of which a core is kept, that shown last at the end."""
        return list(self._cores())

    def _cores(self) -> Mapping[int, Core]:
        if self._core_body is None or self._writing:
            self._core_body = self._one(rows.cores.c.body) or ""
        return codec.cores_from_json(self._core_body) if self._core_body else {}

    def setting(self, name: str) -> str | None:
        """A setting of the scope."""
        if self._settings is None:
            self._settings = dict(self._tuples(rows.settings.c.name, rows.settings.c.value))
        return self._settings.get(name)

    def counts(self) -> Mapping[str, int]:
        """Sizes by name."""
        t = rows.lessons
        by_status = dict.fromkeys(("provisional", "active", "held", "retired"), 0)
        for status, size in self._connection.execute(select(t.c.status, func.count()).where(self._mine(t)).group_by(t.c.status)):
            by_status[status] = size

        def count(table: Any, **where: object) -> int:
            return int(self._connection.execute(select(func.count()).select_from(table).where(self._mine(table, **where))).scalar() or 0)

        return {
            "runs": count(rows.runs),
            "lessons": sum(by_status.values()),
            "live": by_status["provisional"] + by_status["active"],
            **by_status,
            "deltas": count(rows.ledger),
            "open": count(rows.held, state="open"),
            "failed_replies": count(rows.failed_replies),
            "memory_entries": count(rows.memory_entries),
            "memory_nodes": self._count_nodes(),
        }


def _entry(row: tuple[Any, ...], texts: Mapping[str, str]) -> LedgerEntry:
    version, writer, digest, payload = row
    return LedgerEntry(version=version, delta=delta_from_json(chain.unseal(payload, texts)), writer=writer, digest=digest)


@lru_cache(maxsize=256)
def _selection(columns: tuple[Any, ...], where: tuple[str, ...]) -> Any:
    """A select of columns of one table, for one scope and equal values; values come in when it is executed."""
    table = columns[0].table
    return select(*columns).where(*(table.c[name] == bindparam(name) for name in ("tenant", "scope", *where)))


@lru_cache(maxsize=2)
def _newest_runs(limited: bool) -> Any:
    """Ids of the runs of a scope, newest first."""
    t = rows.runs
    wanted = select(t.c.id).where(*(t.c[name] == bindparam(name) for name in ("tenant", "scope", "revoked"))).order_by(t.c.arrived.desc())
    return wanted.limit(bindparam("most")).offset(bindparam("skipped")) if limited else wanted


def _newest() -> Any:
    """The greatest delta id of a scope."""
    t = rows.ledger
    return select(func.max(t.c.delta_id)).where(*of_scope(t))


_NEWEST = _newest()
