"""Reading a scope in a SQL database.

The same for every database; what differs (text search, opening, locking) comes in as a `Dialect`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from sqlalchemy import Connection, and_, bindparam, func, or_, select

from tenure.governance import ledger as chain
from tenure.playbook.apply import apply
from tenure.playbook.lessons import Brief, Lesson, Tallies
from tenure.playbook.notation import assemble, record_from_json
from tenure.playbook.records import Member, Record, read_lesson, root_of
from tenure.playbook.render import Core
from tenure.playbook.run import Run
from tenure.playbook.state import Playbook
from tenure.ports import CaseHit, FailedReply, HeldChange, Hit, LedgerEntry
from tenure.stores import codec, rows
from tenure.stores.scopes import parents, tenant

LIVE = ("provisional", "active")
"""Statuses of lessons that an agent can be shown."""

_AT_ONCE = 500


def _some(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Ids in portions that a statement can hold."""
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))


class Dialect(Protocol):
    """What differs between databases."""

    def put_words(self, connection: Connection, row: int, wall: int, lesson: Lesson, asked: str) -> None:
        """Make a lesson searchable in place of what was there; a lesson that is not live stops being so."""
        ...

    def find_words(self, connection: Connection, walls: Sequence[int], query: Sequence[str], limit: int) -> Sequence[tuple[int, float]]:
        """Rows of live lessons inside the walls that hold words of a query, with scores above 0, best first."""
        ...

    def put_task(self, connection: Connection, row: int, wall: int, asked: str) -> None:
        """Make a run searchable by its task's input."""
        ...

    def find_tasks(self, connection: Connection, wall: int, query: Sequence[str], limit: int) -> Sequence[tuple[int, float]]:
        """Rows of runs inside the wall whose task holds words of a query, with scores above 0, best first."""
        ...

    def salt(self) -> str:
        """Fresh randomness for the digest of one text, hex."""
        ...

    def now(self) -> str:
        """The present moment, ISO 8601."""
        ...


class SqlReading:
    """Reads one scope over an open connection (see `ports.Reading`)."""

    def __init__(self, connection: Connection, scope: str, dialect: Dialect) -> None:
        self._connection, self._scope, self._dialect = connection, scope, dialect
        self._wall = {"tenant": tenant(scope), "scope": scope}
        self._records: dict[str, Record | None] = {}
        self._settings: dict[str, str] | None = None

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

    def _one(self, column: Any, **where: object) -> Any:
        return self._rows(column, **where).scalar()

    # -- records: the view that the algebra works on ----------------------------------------------

    def record(self, key: str) -> Record | None:
        """The record under an id."""
        if key not in self._records:
            body = self._one(rows.records.c.body, key=key)
            self._records[key] = None if body is None else record_from_json(body)
        return self._records[key]

    def group(self, group: str) -> tuple[Member, ...]:
        """The members of a group of equal texts."""
        t = rows.records
        found = self._rows(t.c.delta_id, t.c.key, t.c.imported, group_key=group)
        return tuple(sorted(Member(delta_id, key, bool(imported)) for delta_id, key, imported in found))

    def pointing(self, key: str) -> Iterable[str]:
        """Keys of records whose pointer register names this id."""
        return frozenset(self._rows(rows.records.c.key, points_to=key).scalars())

    def holds(self, delta_id: str) -> bool:
        """Whether a delta is part of the state."""
        return self._one(rows.ledger.c.version, delta_id=delta_id) is not None

    def key_owner(self, key: str) -> str | None:
        """Id of the delta that holds a delta key."""
        found = self._one(rows.ledger.c.delta_id, delta_key=key)
        return None if found is None else str(found)

    # -- lessons ---------------------------------------------------------------------------------

    def lessons(self, *, live: bool = True) -> Sequence[Lesson]:
        """The scope's lessons, sorted by id."""
        return self._lessons_of(self._scope, live=live)

    def _lessons_of(self, scope: str, *, live: bool) -> list[Lesson]:
        t = rows.lessons
        wanted = select(t.c.body).where(t.c.tenant == tenant(scope), t.c.scope == scope).order_by(t.c.id)
        if live:
            wanted = wanted.where(t.c.status.in_(LIVE))
        return sorted((codec.lesson_from_json(body) for body in self._connection.execute(wanted).scalars()), key=lambda lesson: lesson.id)

    def briefs(self) -> Sequence[Brief]:
        """What is needed to rank the scope's live lessons, sorted by id."""
        t = rows.lessons
        columns = (
            t.c.id,
            t.c.section,
            t.c.pinned,
            t.c.created,
            t.c.updated,
            t.c.helpful,
            t.c.harmful,
            t.c.neutral,
            t.c.support,
            t.c.tokens,
        )
        wanted = select(*columns).where(self._mine(t), t.c.status.in_(LIVE)).order_by(t.c.id)
        return [
            Brief(
                id=lesson_id,
                section=section,
                pinned=bool(pinned),
                created=created,
                updated=updated,
                tallies=Tallies(helpful=helpful, harmful=harmful, neutral=neutral, support=support),
                tokens=tokens,
            )
            for lesson_id, section, pinned, created, updated, helpful, harmful, neutral, support, tokens in self._connection.execute(wanted)
        ]

    def named(self, ids: Collection[str]) -> Mapping[str, Lesson]:
        """The scope's lessons with these ids, whatever their status."""
        t = rows.lessons
        found: dict[str, Lesson] = {}
        for some in _some(sorted(ids)):
            for lesson_id, body in self._connection.execute(select(t.c.id, t.c.body).where(self._mine(t), t.c.id.in_(some))):
                found[lesson_id] = codec.lesson_from_json(body)
        return found

    def since(self, version: int) -> Sequence[Lesson]:
        """Live lessons that came after a version, in the order in which they came."""
        t = rows.lessons
        wanted = select(t.c.body).where(self._mine(t), t.c.came > version, t.c.status.in_(LIVE)).order_by(t.c.came, t.c.id)
        return [codec.lesson_from_json(body) for body in self._connection.execute(wanted).scalars()]

    def supported(self, *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope and its parents, those that most runs support first."""
        t = rows.lessons
        inside = (t.c.tenant == tenant(self._scope), t.c.scope.in_((self._scope, *parents(self._scope))), t.c.status.in_(LIVE))
        wanted = select(t.c.body).where(*inside).order_by(t.c.support.desc(), t.c.id).limit(limit)
        return [codec.lesson_from_json(body) for body in self._connection.execute(wanted).scalars()]

    def near(self, runs: Collection[str], tools: Collection[str], *, limit: int) -> Sequence[Lesson]:
        """Live lessons that rest on these runs or are about errors of these tools, best supported first."""
        t, s = rows.lessons, rows.sources
        chain_of_scopes = (self._scope, *parents(self._scope))
        inside = (t.c.tenant == tenant(self._scope), t.c.scope.in_(chain_of_scopes), t.c.status.in_(LIVE))
        resting = select(s.c.lesson_id).where(s.c.tenant == tenant(self._scope), s.c.scope == t.c.scope, s.c.run_id.in_(list(runs)))
        named = [and_(t.c.about >= f"tool-error:{tool}:", t.c.about < f"tool-error:{tool};") for tool in tools]  # ';' follows ':'
        wanted = select(t.c.body).where(*inside, or_(t.c.id.in_(resting), *named)).order_by(t.c.support.desc(), t.c.id).limit(limit)
        return [codec.lesson_from_json(body) for body in self._connection.execute(wanted).scalars()]

    def inherited(self) -> Sequence[tuple[str, Lesson]]:
        """Live lessons of the parent scopes, nearest first."""
        return [(scope, lesson) for scope in parents(self._scope) for lesson in self._lessons_of(scope, live=True)]

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
        found = select(t.c.id).where(self._mine(t), func.substr(t.c.id, 1, len(prefix)) == prefix).order_by(t.c.id).limit(10)
        return list(self._connection.execute(found).scalars()) if prefix else []

    def about(self, subject: str) -> Lesson | None:
        """The lesson about a subject, live ones first."""
        if not subject:
            return None
        found = self._rows(rows.lessons.c.body, about=subject).scalars()
        order = {"active": 0, "provisional": 1, "held": 2, "retired": 3}
        return min((codec.lesson_from_json(body) for body in found), key=lambda one: (order[one.status], one.id), default=None)

    def search(self, query: Sequence[str], *, limit: int) -> Sequence[Hit]:
        """Live lessons of the scope and its parents that hold words of a query, best first."""
        chain_of_scopes = (self._scope, *parents(self._scope))
        t = rows.scopes
        walls = (
            self._connection.execute(select(t.c.n).where(t.c.tenant == tenant(self._scope), t.c.scope.in_(chain_of_scopes))).scalars().all()
        )
        if not walls or not query:
            return []
        found = self._dialect.find_words(self._connection, walls, query, limit)
        by_row = dict(found)
        b = rows.lessons
        bodies = self._connection.execute(
            select(b.c.n, b.c.scope, b.c.body).where(
                b.c.n.in_(list(by_row)), b.c.tenant == tenant(self._scope), b.c.scope.in_(chain_of_scopes)
            )
        )
        hits = [Hit(lesson=codec.lesson_from_json(body), score=by_row[n], scope=scope) for n, scope, body in bodies]
        return sorted(hits, key=lambda hit: (-hit.score, hit.lesson.id))

    def playbook(self, version: int | None = None) -> Playbook:
        """The whole playbook, now or as it was."""
        if version is not None:
            book = Playbook()
            for entry in self.ledger(until=version):
                book = apply(book, entry.delta).playbook
            return book
        r, d = rows.records, rows.ledger
        records = (record_from_json(body) for body in self._connection.execute(select(r.c.body).where(self._mine(r))).scalars())
        deltas = self._connection.execute(select(d.c.delta_id, d.c.delta_key).where(self._mine(d)))
        return assemble(records, {delta_id: key or "" for delta_id, key in deltas})

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
        t = rows.ledger
        return str(self._connection.execute(select(func.max(t.c.delta_id)).where(self._mine(t))).scalar() or "")

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
        return [
            LedgerEntry(version=version, delta=codec.delta_from_json(chain.unseal(payload, texts)), writer=writer, digest=digest)
            for version, writer, digest, payload in found
        ]

    def verify_ledger(self) -> Sequence[str]:
        """What is wrong with the hash chains of the scope."""
        t, h = rows.ledger, rows.ledger_heads
        heads = {
            writer: (count, digest)
            for writer, count, digest in self._connection.execute(select(h.c.writer, h.c.count, h.c.digest).where(self._mine(h)))
        }
        writers = set(self._connection.execute(select(t.c.writer).where(self._mine(t)).distinct()).scalars()) | set(heads)
        wrong: list[str] = []
        for writer in sorted(writers):
            if writer not in heads:
                wrong.append(f"writer {writer} has links but no head row")
                continue
            links = self._connection.execute(
                select(t.c.seq, t.c.previous, t.c.payload, t.c.digest).where(self._mine(t, writer=writer)).order_by(t.c.seq)
            )
            verdict = chain.verify(
                (chain.Record(seq=seq, previous=previous, payload=payload, digest=digest) for seq, previous, payload, digest in links),
                heads[writer],
            )
            if not verdict.ok:
                wrong.append(f"writer {writer}, link {verdict.broken_at}: {verdict.reason}")
        return wrong

    # -- runs ----------------------------------------------------------------------------------------

    def run(self, run_id: str) -> Run | None:
        """A kept run, whole."""
        body = self._one(rows.runs.c.body, id=run_id)
        if body is None:
            return None
        steps = sorted(self._rows(rows.steps.c.place, rows.steps.c.body, run_id=run_id).all())
        return codec.run_from_json(body, scope=self._scope, steps=tuple(codec.step_from_json(step) for _, step in steps))

    def run_ids(self, *, limit: int | None = None) -> Sequence[str]:
        """Ids of kept runs, newest first."""
        t = rows.runs
        return list(self._connection.execute(select(t.c.id).where(self._mine(t)).order_by(t.c.arrived.desc()).limit(limit)).scalars())

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
            wanted.append(select(t.c.id).where(self._mine(t, task_key=run.task.key)))
        if run.task.kind:
            wanted.append(select(t.c.id).where(self._mine(t, task_kind=run.task.kind, success=True)))
        for one in wanted:
            ids.extend(self._connection.execute(one.where(t.c.id != run.id).order_by(t.c.arrived.desc()).limit(limit)).scalars())
        found = (self.run(run_id) for run_id in list(dict.fromkeys(ids))[:limit])
        return [one for one in found if one is not None]

    def cases_like(self, query: Sequence[str], *, limit: int) -> Sequence[CaseHit]:
        """Kept runs of the scope whose task's input holds words of a query, best first."""
        wall = self._one(rows.scopes.c.n)
        if wall is None or not query:
            return []
        found = dict(self._dialect.find_tasks(self._connection, wall, query, limit))
        t = rows.runs
        hits = self._connection.execute(select(t.c.n, t.c.id, t.c.tools).where(self._mine(t), t.c.n.in_(list(found))))
        cases = [CaseHit(run=run_id, score=found[n], tools=frozenset(json.loads(tools))) for n, run_id, tools in hits]
        return sorted(cases, key=lambda case: (-case.score, case.run))

    def unlearned(self, *, limit: int = 100) -> Sequence[str]:
        """Ids of finished runs that were kept but not learned from, oldest first."""
        t = rows.runs
        waiting = or_(t.c.learned.is_(None), t.c.learned < t.c.steps)
        return list(
            self._connection.execute(
                select(t.c.id).where(self._mine(t, finished=True), waiting).order_by(t.c.arrived).limit(limit)
            ).scalars()
        )

    # -- the rest ------------------------------------------------------------------------------------

    def held(self, *, state: str = "open") -> Sequence[HeldChange]:
        """Held changes in a state, oldest first."""
        t = rows.held
        found = self._connection.execute(select(t.c.body).where(self._mine(t, state=state)).order_by(t.c.id)).scalars()
        return [codec.held_from_json(body) for body in found]

    def failed_replies(self) -> Sequence[FailedReply]:
        """Replies that wait to be tried again, oldest first."""
        t = rows.failed_replies
        return [
            codec.failed_from_json(body)
            for body in self._connection.execute(select(t.c.body).where(self._mine(t)).order_by(t.c.id)).scalars()
        ]

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Live lessons and their estimated tokens by section."""
        t = rows.lessons
        wanted = select(t.c.section, func.count(), func.sum(t.c.tokens)).where(self._mine(t), t.c.status.in_(("provisional", "active")))
        return {section: (count, int(tokens)) for section, count, tokens in self._connection.execute(wanted.group_by(t.c.section))}

    def core(self) -> Core | None:
        """The core last shown."""
        body = self._one(rows.cores.c.body)
        return None if body is None else codec.core_from_json(body)

    def setting(self, name: str) -> str | None:
        """A setting of the scope."""
        if self._settings is None:
            self._settings = {row.name: row.value for row in self._rows(rows.settings.c.name, rows.settings.c.value)}
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
        }


@lru_cache(maxsize=256)
def _selection(columns: tuple[Any, ...], where: tuple[str, ...]) -> Any:
    """A select of columns of one table, for one scope and equal values; values come in when it is executed."""
    table = columns[0].table
    return select(*columns).where(*(table.c[name] == bindparam(name) for name in ("tenant", "scope", *where)))
