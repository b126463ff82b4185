"""Writing to a scope in a SQL database, inside one transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from tenure.governance import ledger as chain
from tenure.playbook.apply import fold_in
from tenure.playbook.delta import OPERATION_NAMES, Add, Delta, Merge, Observe, Revoke
from tenure.playbook.delta_json import storable_delta
from tenure.playbook.effects import lessons_after
from tenure.playbook.lessons import Lesson, lesson_id, section_name, text_digest
from tenure.playbook.notation import record_to_json
from tenure.playbook.records import Record, group_key
from tenure.playbook.render import Core, lesson_tokens
from tenure.playbook.run import Run
from tenure.playbook.wellformed import operation_problem
from tenure.ports import Admitted, Embedded, FailedReply
from tenure.stores import codec, rows, sql_conversations, sql_draws, sql_observations, sql_vectors
from tenure.stores.dialect import Dialect
from tenure.stores.growth import finished, grown, told_before, tools_called
from tenure.stores.memory_codec import entry_of
from tenure.stores.prepared import change, fetch, fetch_among, of_scope, put
from tenure.stores.sql_grades import SqlGrading, keep_label
from tenure.stores.sql_lessons import LIVE, portions
from tenure.stores.sql_memory import SqlMemoryKeeping
from tenure.stores.sql_postponed import SqlPostponing
from tenure.stores.sql_sharing import SqlTakingIn
from tenure.stores.vectors import lesson_text
from tenure.stores.weighing import SOURCE_CHARACTERS, SOURCE_TASKS
from tenure.tenancy import outdates_prompts

_AT_ONCE = 500
"""Rows that are indexed at once."""


@lru_cache(maxsize=64)
def _change(table: Any, where: tuple[str, ...], values: tuple[str, ...]) -> Any:
    """An update of rows with equal values; keys of the condition are given as `where_NAME`."""
    conditions = [table.c[name] == bindparam(f"where_{name}") for name in where]
    return update(table).where(*conditions).values({name: bindparam(name) for name in values})


@lru_cache(maxsize=16)
def _removal(table: Any) -> Any:
    return delete(table).where(table.c.n == bindparam("where_n"))


def _growth() -> Any:
    t = rows.sizes
    mine = [t.c[name] == bindparam(f"where_{name}") for name in ("tenant", "scope", "section")]
    return update(t).where(*mine).values(lessons=t.c.lessons + bindparam("more"), tokens=t.c.tokens + bindparam("heavier"))


_GROWTH = _growth()
_RECORD_VALUES = ("body", "group_key", "imported", "delta_id", "points_to")
_LESSON_VALUES = (
    "status",
    "section",
    "about",
    "pinned",
    "created",
    "updated",
    "helpful",
    "harmful",
    "neutral",
    "support",
    "tokens",
    "body",
)


def _head() -> Any:
    """The installation, and the head of its chain in a scope where it has one."""
    i, h = rows.installation, rows.ledger_heads
    mine = and_(h.c.writer == i.c.writer, h.c.tenant == bindparam("tenant"), h.c.scope == bindparam("scope"))
    return select(i.c.writer, h.c.count, h.c.digest).select_from(i.outerjoin(h, mine))


_HEAD = _head()
_LAST_ARRIVED = select(func.max(rows.runs.c.arrived)).where(*of_scope(rows.runs))


class SqlWriting(SqlGrading, SqlPostponing, SqlTakingIn, SqlMemoryKeeping):
    """A transaction on one scope (see `ports.Writing`).

    What a delta needs is fetched in portions before it is folded in, and what it changes is written a
    table at a time: a statement costs about as much as the algebra of one operation.
    """

    _writing = True

    def __init__(self, connection: Connection, scope: str, dialect: Dialect) -> None:
        super().__init__(connection, scope, dialect)
        t = rows.scopes
        found = self._tuples(t.c.n, t.c.version)
        if not found:
            self._scope_row, self._version = int(self._insert(t, {"version": 0}).inserted_primary_key.n), 0
        else:
            ((self._scope_row, self._version),) = found

    def version(self) -> int:
        """Arrival number of the newest delta. No other writer can change it while this transaction runs."""
        return self._version

    def admit(self, delta: Delta) -> Admitted:
        """Put a delta into the scope's playbook and ledger."""
        self._look_ahead(*_named_in(delta))
        done = fold_in(self, delta)
        if not done.effective:
            return Admitted(receipts=done.receipts)
        self._look_ahead(done.records, done.groups)
        lessons = lessons_after(self, done)
        self._put_records(done.records)
        self._groups.update(done.groups)
        self._pointing.update(done.pointers)
        self._put_lessons(lessons)
        if done.noted.observations or done.noted.shown:
            sql_observations.put_noted(self._connection, self._wall, done.noted)
        return Admitted(receipts=done.receipts, version=self._append(replace(delta, scope=self._scope)))

    def _put_records(self, changed: Mapping[str, Record]) -> None:
        t = rows.records
        self._look_up_records(changed)
        new: list[dict[str, object]] = []
        old: defaultdict[tuple[str, ...], list[dict[str, object]]] = defaultdict(list)
        for key, record in changed.items():
            admission, pointer = record.admission, record.registers.get("pointer")
            values: dict[str, object] = {
                "body": record_to_json(record),
                "group_key": admission.group if admission is not None else None,
                "imported": bool(admission is not None and admission.name),
                "delta_id": admission.delta if admission is not None else None,
                "points_to": pointer.value if pointer is not None else None,
            }
            before = self._records[key]
            if before is None:
                new.append({**self._wall, "key": key, **values})
            else:
                same = (("group_key", before.admission == admission), ("points_to", before.registers.get("pointer") == pointer))
                names = _to_write(_RECORD_VALUES, {name for name, unchanged in same if unchanged})
                old[names].append({**self._where, "where_key": key, **values})
            self._records[key] = record
        for names, updates in old.items():
            change(self._connection, _change(t, ("tenant", "scope", "key"), names), updates)
        put(self._connection, t, new)

    def _put_lessons(self, changed: Mapping[str, Lesson | None]) -> None:
        t = rows.lessons
        columns = (t.c.id, t.c.n, t.c.status, t.c.section, t.c.tokens, t.c.body)
        before = {
            row.id: row
            for some in portions(list(changed))
            for row in map(_Before._make, fetch_among(self._connection, columns, self._wall, "id", some))
        }
        was = {one: codec.lesson_from_json(row.body) for one, row in before.items()}
        sizes: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        new: list[dict[str, object]] = []
        old: defaultdict[tuple[str, ...], list[dict[str, object]]] = defaultdict(list)
        gone: list[str] = []
        for one, lesson in changed.items():
            row = before.get(one)
            if row is not None and row.status in LIVE:
                _count(sizes[row.section], -1, row.tokens)
            if lesson is None:
                gone += [one] if row is not None else []
                continue
            values = _lesson_row(lesson)
            if lesson.live:
                _count(sizes[lesson.section], 1, int(str(values["tokens"])))
            if row is None:
                new.append({**self._wall, "id": one, "came": self._version + 1, **values})
            else:
                known = {"status": row.status, "about": was[one].about, "support": was[one].tallies.support}
                names = _to_write(_LESSON_VALUES, {name for name, value in known.items() if value == values[name]})
                old[names].append({"where_n": row.n, **values})
        for names, updates in old.items():
            change(self._connection, _change(t, ("n",), names), updates)
        put(self._connection, t, new)
        if gone:
            self._dialect.put_all_words(
                self._connection, self._scope_row, [(before[one].n, replace(was[one], status="retired"), "", True) for one in gone]
            )
            change(self._connection, _removal(t), [{"where_n": before[one].n} for one in gone])
        places = {one: row.n for one, row in before.items()}
        for some in portions([str(one["id"]) for one in new]):
            places.update((one, n) for one, n in fetch_among(self._connection, (t.c.id, t.c.n), self._wall, "id", some))
        kept = {one: lesson for one, lesson in changed.items() if lesson is not None}
        said = [
            (places[one], lesson, self._asked(lesson), one in was)
            for one, lesson in kept.items()
            if one not in was or _searchable(was[one]) != _searchable(lesson)
        ]
        if said:
            self._dialect.put_all_words(self._connection, self._scope_row, said)
        for one, lesson in kept.items():
            self._keep_sources(lesson, was.get(one))
        self._keep_statements(was, changed)
        stale = [one for one in was if _embedded(was[one]) not in (None, _embedded(changed[one]))]
        sql_vectors.drop_stale(self._connection, self._scope, "lesson", stale)
        self._keep_sizes({section: (by[0], by[1]) for section, by in sizes.items() if by != [0, 0]})

    def _keep_sizes(self, changed: Mapping[str, tuple[int, int]]) -> None:
        """Add to the sizes of sections, so that nobody has to count lessons to know them."""
        if not changed:
            return
        t = rows.sizes
        only = {"section": next(iter(changed))} if len(changed) == 1 else {}
        known = {section for (section,) in self._tuples(t.c.section, **only)}
        old = [{**self._where, "where_section": one, "more": by[0], "heavier": by[1]} for one, by in changed.items() if one in known]
        new = [{**self._wall, "section": one, "lessons": by[0], "tokens": by[1]} for one, by in changed.items() if one not in known]
        change(self._connection, _GROWTH, old)
        put(self._connection, t, new)

    def _keep_sources(self, lesson: Lesson, before: Lesson | None) -> None:
        known = {place.run for place in before.evidence} if before is not None else set()
        new = dict.fromkeys(place.run for place in lesson.evidence if place.run not in known)
        for run_id in new:
            self._replace(rows.sources, {"run_id": run_id, "lesson_id": lesson.id}, lesson_id=lesson.id)

    def _asked(self, lesson: Lesson) -> str:
        """The inputs of the tasks a lesson came from."""
        ids = list(dict.fromkeys(place.run for place in lesson.evidence))[:SOURCE_TASKS]
        if not ids:
            return ""
        t = rows.runs
        bodies = self._connection.execute(
            select(t.c.body).where(self._mine(t, revoked=False), t.c.id.in_(ids)).order_by(t.c.arrived)
        ).scalars()
        return "\n".join(str(json.loads(body)["task"]["text"])[:SOURCE_CHARACTERS] for body in bodies)

    def _append(self, delta: Delta, *, amends: Sequence[tuple[str, int, str, str]] = (), effective: bool = True) -> int:
        ((writer, counted, last),) = fetch(self._connection, _HEAD, self._wall)
        count, previous = int(counted or 0), str(last or "")
        version = self._version + 1
        # The version is chained too: rows of two writers cannot change places.
        # Of its own salt a record is robbed when it is written anew (see `governance.ledger`).
        said = {**storable_delta(delta), "version": version, "salt": self._dialect.salt()}
        sealed = chain.seal(said | ({"amends": list(map(list, amends))} if amends else {}), lambda _: self._dialect.salt())
        digest = chain.chain(previous, sealed.payload)
        self._named = None
        put(
            self._connection,
            rows.ledger,
            [
                {
                    **self._wall,
                    "version": version,
                    "writer": writer,
                    "seq": count + 1,
                    "delta_id": delta.id,
                    "delta_key": delta.key,
                    "payload": sealed.payload,
                    "previous": previous,
                    "digest": digest,
                    "recorded": self._dialect.now(),
                    "effective": effective,
                }
            ],
        )
        texts = [{**self._wall, "digest": one.digest, "version": version, "salt": one.salt, "text": one.text} for one in sealed.texts]
        put(self._connection, rows.ledger_texts, texts)
        if counted is None:
            self._insert(rows.ledger_heads, {"writer": writer, "count": 1, "digest": digest})
        else:
            heads = _change(rows.ledger_heads, ("tenant", "scope", "writer"), ("count", "digest"))
            change(self._connection, heads, [{**self._where, "where_writer": writer, "count": count + 1, "digest": digest}])
        change(self._connection, _change(rows.scopes, ("n",), ("version",)), [{"where_n": self._scope_row, "version": version}])
        self._version = version
        if outdates_prompts(delta.cause, [OPERATION_NAMES[type(op)] for op in delta.operations]):
            sql_conversations.outdate(self._connection, self._wall["tenant"])
        return version

    def keep_run(self, run: Run, *, learned: bool) -> None:
        """Keep a run, or more steps and the outcome of one that is kept."""
        t = rows.runs
        columns = (t.c.n, t.c.steps, t.c.learned, t.c.verdict_learned, t.c.tools, t.c.body, t.c.arrived, t.c.revoked)
        found = self._tuples(*columns, id=run.id)
        kept = _KeptRun(*found[0]) if found else None
        reported, asked = run, ""
        if kept is not None:
            earlier = codec.run_from_json(kept.body, scope=self._scope)
            run = grown(earlier, run)
            asked = earlier.task.text
            if run.task.text != asked:
                sql_vectors.drop_stale(self._connection, self._scope, "run", [run.id])
        have = int(kept.steps) if kept is not None else 0
        total = max(have, len(run.steps))
        values = {
            "task_key": run.task.key,
            "task_kind": run.task.kind,
            "success": run.outcome.success,
            "finished": finished(run),
            "steps": total,
            "learned": total if learned else (kept.learned if kept is not None else None),
            "verdict_learned": learned or kept is None or kept.learned is None or told_before(bool(kept.verdict_learned), earlier, run),
            "tools": codec.compact(sorted(tools_called(run) | set(json.loads(kept.tools) if kept is not None else ()))),
            "body": codec.run_to_json(run),
            "origin": run.origin.name,
        }
        if kept is None:
            arrived = int(fetch(self._connection, _LAST_ARRIVED, self._wall)[0][0] or 0) + 1
            row = self._insert(t, {"id": run.id, "arrived": arrived, "revoked": False, **values}).inserted_primary_key.n
            self._count_cases(1)
        else:
            row, arrived = kept.n, int(kept.arrived)
            self._update(t, {"id": run.id}, values)
        if run.outcome.expected or (kept is not None and earlier.outcome.expected):
            keep_label(self._connection, self._wall, run, arrived)
        if kept is None or (run.task.text != asked and not kept.revoked):
            self._dialect.put_task(self._connection, row, self._scope_row, run.task.text)
            self._search_by_task_of(run.id)
        new = [
            {**self._wall, "run_id": run.id, "place": place, "body": codec.step_to_json(step)}
            for place, step in enumerate(run.steps)
            if place >= have
        ]
        put(self._connection, rows.steps, new)
        self._expose(reported)
        if kept is None or not sql_draws.same(earlier, run):
            sql_draws.keep(self._connection, self._wall, run)

    def _search_by_task_of(self, run_id: str) -> None:
        """Lessons that came before the run they rest on can be found by its task from now on."""
        for resting in self._rows(rows.sources.c.lesson_id, run_id=run_id).scalars().all():
            row = self._rows(rows.lessons.c.n, rows.lessons.c.body, id=resting).one_or_none()
            if row is not None:
                lesson = codec.lesson_from_json(row.body)
                self._dialect.put_words(self._connection, row.n, self._scope_row, lesson, self._asked(lesson))

    def _expose(self, run: Run) -> None:
        """Note the exposures that a report of a run names; those of earlier reports are there."""
        t = rows.exposures
        wanted = {(lesson, role) for role in ("shown", "withheld", "cited") for lesson in getattr(run, role)}
        if not wanted:
            return
        new = wanted.difference(self._tuples(t.c.lesson_id, t.c.role, run_id=run.id))
        put(self._connection, t, [{**self._wall, "run_id": run.id, "lesson_id": lesson, "role": role} for lesson, role in sorted(new)])

    def keep_failed_reply(self, failed: FailedReply) -> None:
        """Keep a reply that could not be used."""
        self._replace(rows.failed_replies, {"id": failed.id}, run_id=failed.run, body=codec.failed_to_json(failed))

    def drop_failed_reply(self, failed_id: str) -> None:
        """Forget a reply that has been dealt with."""
        self._connection.execute(delete(rows.failed_replies).where(self._mine(rows.failed_replies, id=failed_id)))

    def put_vectors(self, model: str, vectors: Sequence[Embedded]) -> int:
        """Store vectors of a model whose texts are still the ones they were made from; how many were."""
        return sql_vectors.put(self._connection, self._scope, model, vectors)

    def drop_vectors(self, *, but: str) -> int:
        """Remove the vectors of all models but one; how many there were."""
        return sql_vectors.drop_others(self._connection, self._scope, but)

    def keep_core(self, core: Core, size: int = 0) -> None:
        """Keep the core that was shown in contexts of a size."""
        self._replace(rows.cores, {}, body=codec.cores_to_json(codec.with_core(self._cores(), core, size)))

    def set(self, name: str, value: str | None) -> None:
        """Set a setting of the scope; none removes it."""
        self._settings = None
        if value is None:
            self._connection.execute(delete(rows.settings).where(self._mine(rows.settings, name=name)))
        else:
            self._replace(rows.settings, {"name": name}, value=value)

    def index_anew(self) -> None:
        """Make all that the scope holds searchable, none of which is so far: after its rows came from elsewhere."""
        for lessons in self._in_portions(rows.lessons, rows.lessons.c.body):
            read = [(n, codec.lesson_from_json(body)) for n, body in lessons]
            said = [(n, lesson, self._asked(lesson), False) for n, lesson in read if lesson.live]
            self._dialect.put_all_words(self._connection, self._scope_row, said)
        for runs in self._in_portions(rows.runs, rows.runs.c.body, rows.runs.c.revoked.is_(False)):
            for n, body in runs:
                self._dialect.put_task(self._connection, n, self._scope_row, str(json.loads(body)["task"]["text"]))
        for entries in self._in_portions(rows.memory_entries, rows.memory_entries.c.body):
            self._dialect.put_entries(self._connection, self._scope_row, [(n, entry_of(body).text) for n, body in entries])

    def _in_portions(self, table: Any, column: Any, *more: Any) -> Iterator[list[tuple[int, str]]]:
        """Number and a column of all rows of the scope, a portion at a time, in the order of their numbers."""
        after = 0
        while True:
            wanted = select(table.c.n, column).where(self._mine(table), table.c.n > after, *more).order_by(table.c.n).limit(_AT_ONCE)
            found = [(int(n), str(said)) for n, said in self._connection.execute(wanted)]
            if not found:
                return
            yield found
            after = found[-1][0]

    def _update(self, table: Any, key: Mapping[str, object], values: Mapping[str, object]) -> int:
        """Change this scope's rows under a key; how many there were."""
        where = {**self._wall, **key}
        row = {**{f"where_{name}": one for name, one in where.items()}, **values}
        return change(self._connection, _change(table, tuple(where), tuple(values)), [row])

    def _insert(self, table: Any, *new: Mapping[str, object]) -> Any:
        """Add rows of this scope; the statement is the table's own, so that it is compiled once."""
        return self._connection.execute(insert(table), [{**self._wall, **one} for one in new] if len(new) > 1 else {**self._wall, **new[0]})

    def _replace(self, table: Any, key: Mapping[str, object], **values: object) -> None:
        if self._update(table, key, values) == 0:
            self._insert(table, {**key, **values})


class _KeptRun(NamedTuple):
    """A run's row, as far as a later report changes it."""

    n: int
    steps: int
    learned: int | None
    verdict_learned: bool
    tools: str
    body: str
    arrived: int
    revoked: bool


class _Before(NamedTuple):
    """A lesson's row before a delta."""

    id: str
    n: int
    status: str
    section: str
    tokens: int
    body: str


def _named_in(delta: Delta) -> tuple[set[str], set[str]]:
    """The ids and the groups of equal texts that a delta will ask for."""
    keys: set[str] = set()
    groups: set[str] = set()
    for op in delta.operations:
        if isinstance(op, Observe | Revoke) or operation_problem(op):
            continue
        if isinstance(op, Add):
            section = section_name(op.section, op.kind or "strategy")
            keys.update(filter(None, (op.id, lesson_id(delta.id, section, op.text, 0))))
            groups.add(group_key(section, text_digest(op.text)))
        elif isinstance(op, Merge):
            keys.update((*op.ids, op.into))
        else:
            keys.add(op.id)
    return keys, groups


def _to_write(names: Sequence[str], same: Collection[str]) -> tuple[str, ...]:
    """The columns that an update names, without some that stay as they are: an index on a column that is named is written anew."""
    return tuple(name for name in names if name not in same)


def _lesson_row(lesson: Lesson) -> dict[str, object]:
    return {
        "status": lesson.status,
        "section": lesson.section,
        "about": lesson.about,
        "pinned": lesson.pinned,
        "created": lesson.created,
        "updated": lesson.updated,
        "helpful": lesson.tallies.helpful,
        "harmful": lesson.tallies.harmful,
        "neutral": lesson.tallies.neutral,
        "support": lesson.tallies.support,
        "tokens": lesson_tokens(lesson),
        "body": codec.lesson_to_json(lesson),
    }


def _count(size: list[int], lessons: int, tokens: int) -> None:
    size[0] += lessons
    size[1] += lessons * tokens


def _embedded(lesson: Lesson | None) -> str | None:
    """The text that the lesson's vectors are of; none where it has none."""
    return lesson_text(lesson) if lesson is not None and lesson.live else None


def _searchable(lesson: Lesson) -> tuple[object, ...]:
    runs = tuple(dict.fromkeys(place.run for place in lesson.evidence))[:SOURCE_TASKS]
    return (lesson.live, lesson.text, lesson.applies_when, lesson.avoid, runs)
