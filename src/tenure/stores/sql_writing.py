"""Writing to a scope in a SQL database, inside one transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from tenure.governance import ledger as chain
from tenure.playbook.apply import fold_in
from tenure.playbook.delta import Delta
from tenure.playbook.effects import lessons_after
from tenure.playbook.lessons import Lesson
from tenure.playbook.notation import record_to_json
from tenure.playbook.records import Record
from tenure.playbook.render import Core, lesson_tokens
from tenure.playbook.run import Run
from tenure.ports import Admitted, FailedReply, HeldChange
from tenure.stores import codec, rows
from tenure.stores.growth import finished, grown, tools_called
from tenure.stores.sql_reading import Dialect, SqlReading

SOURCE_TASKS_INDEXED = 8
"""How many of the tasks a lesson came from are searchable with it."""


@lru_cache(maxsize=64)
def _change(table: Any, where: tuple[str, ...], values: tuple[str, ...]) -> Any:
    """An update of rows with equal values; keys of the condition are given as `where_NAME`."""
    conditions = [table.c[name] == bindparam(f"where_{name}") for name in where]
    return update(table).where(*conditions).values({name: bindparam(name) for name in values})


_WRITER = select(rows.installation.c.writer)


class SqlWriting(SqlReading):
    """A transaction on one scope (see `ports.Writing`)."""

    def __init__(self, connection: Connection, scope: str, dialect: Dialect) -> None:
        super().__init__(connection, scope, dialect)
        t = rows.scopes
        found = self._one(t.c.n)
        self._scope_row = int(found if found is not None else self._insert(t, {"version": 0}).inserted_primary_key[0])

    def admit(self, delta: Delta) -> Admitted:
        """Put a delta into the scope's playbook and ledger."""
        change = fold_in(self, delta)
        if not change.effective:
            return Admitted(receipts=change.receipts)
        lessons = lessons_after(self, change)
        self._put_records(change.records)
        self._put_lessons(lessons)
        return Admitted(receipts=change.receipts, version=self._append(replace(delta, scope=self._scope)))

    def _put_records(self, changed: Mapping[str, Record]) -> None:
        t = rows.records
        known = set(self._connection.execute(select(t.c.key).where(self._mine(t), t.c.key.in_(list(changed)))).scalars())
        new: list[dict[str, object]] = []
        for key, record in changed.items():
            admission, pointer = record.admission, record.registers.get("pointer")
            values: dict[str, object] = {
                "body": record_to_json(record),
                "group_key": admission.group if admission is not None else None,
                "imported": bool(admission is not None and admission.name),
                "delta_id": admission.delta if admission is not None else None,
                "points_to": pointer.value if pointer is not None else None,
            }
            if key in known:
                self._update(t, {"key": key}, values)
            else:
                new.append({**self._wall, "key": key, **values})
            self._records[key] = record
        if new:
            self._connection.execute(insert(t), new)

    def _put_lessons(self, changed: Mapping[str, Lesson | None]) -> None:
        t = rows.lessons
        before = {
            row.id: row for row in self._connection.execute(select(t.c.id, t.c.n, t.c.body).where(self._mine(t), t.c.id.in_(list(changed))))
        }
        for lesson_id, lesson in changed.items():
            row = before.get(lesson_id)
            if lesson is None:
                if row is not None:
                    gone = codec.lesson_from_json(row.body)
                    self._dialect.put_words(self._connection, row.n, self._scope_row, replace(gone, status="retired"), "")
                    self._connection.execute(delete(t).where(t.c.n == row.n))
                continue
            values = {
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
            if row is None:
                n = self._insert(t, {"id": lesson_id, "came": self.version() + 1, **values}).inserted_primary_key[0]
            else:
                n = row.n
                self._connection.execute(_change(t, ("n",), tuple(values)), {"where_n": n, **values})
            before_it = None if row is None else codec.lesson_from_json(row.body)
            if before_it is None or _searchable(before_it) != _searchable(lesson):
                self._dialect.put_words(self._connection, n, self._scope_row, lesson, self._asked(lesson))
            self._keep_sources(lesson, before_it)

    def _keep_sources(self, lesson: Lesson, before: Lesson | None) -> None:
        known = {place.run for place in before.evidence} if before is not None else set()
        new = dict.fromkeys(place.run for place in lesson.evidence if place.run not in known)
        for run_id in new:
            self._replace(rows.sources, {"run_id": run_id, "lesson_id": lesson.id}, lesson_id=lesson.id)

    def _asked(self, lesson: Lesson) -> str:
        """The inputs of the tasks a lesson came from."""
        ids = list(dict.fromkeys(place.run for place in lesson.evidence))[:SOURCE_TASKS_INDEXED]
        if not ids:
            return ""
        t = rows.runs
        bodies = self._connection.execute(select(t.c.body).where(self._mine(t), t.c.id.in_(ids)).order_by(t.c.arrived)).scalars()
        return "\n".join(str(json.loads(body)["task"]["text"])[:2000] for body in bodies)

    def _append(self, delta: Delta) -> int:
        writer = self._connection.execute(_WRITER).scalar_one()
        h = rows.ledger_heads
        head = self._rows(h.c.count, h.c.digest, writer=writer).one_or_none()
        count, previous = (int(head.count), str(head.digest)) if head is not None else (0, "")
        sealed = chain.seal(codec.storable_delta(delta), lambda _: self._dialect.salt())
        digest = chain.chain(previous, sealed.payload)
        version = self.version() + 1
        self._insert(
            rows.ledger,
            {
                "version": version,
                "writer": writer,
                "seq": count + 1,
                "delta_id": delta.id,
                "delta_key": delta.key,
                "payload": sealed.payload,
                "previous": previous,
                "digest": digest,
                "recorded": self._dialect.now(),
            },
        )
        if sealed.texts:
            self._connection.execute(
                insert(rows.ledger_texts),
                [{**self._wall, "digest": one.digest, "version": version, "salt": one.salt, "text": one.text} for one in sealed.texts],
            )
        if head is None:
            self._insert(h, {"writer": writer, "count": 1, "digest": digest})
        else:
            self._update(h, {"writer": writer}, {"count": count + 1, "digest": digest})
        self._connection.execute(_change(rows.scopes, ("n",), ("version",)), {"where_n": self._scope_row, "version": version})
        return version

    def keep_run(self, run: Run, *, learned: bool) -> None:
        """Keep a run, or more steps and the outcome of one that is kept."""
        t = rows.runs
        kept = self._rows(t.c.steps, t.c.learned, t.c.tools, t.c.body, id=run.id).one_or_none()
        if kept is not None:
            run = grown(codec.run_from_json(kept.body, scope=self._scope), run)
        have = int(kept.steps) if kept is not None else 0
        total = max(have, len(run.steps))
        values = {
            "task_key": run.task.key,
            "task_kind": run.task.kind,
            "success": run.outcome.success,
            "finished": finished(run),
            "steps": total,
            "learned": total if learned else (kept.learned if kept is not None else None),
            "tools": codec.compact(sorted(tools_called(run) | set(json.loads(kept.tools) if kept is not None else ()))),
            "body": codec.run_to_json(run),
        }
        if kept is None:
            arrived = int(self._connection.execute(select(func.max(t.c.arrived)).where(self._mine(t))).scalar() or 0) + 1
            row = self._insert(t, {"id": run.id, "arrived": arrived, **values}).inserted_primary_key[0]
            self._dialect.put_task(self._connection, row, self._scope_row, run.task.text)
            self._search_by_task_of(run.id)
        else:
            self._update(t, {"id": run.id}, values)
        new = [
            {**self._wall, "run_id": run.id, "place": place, "body": codec.step_to_json(step)}
            for place, step in enumerate(run.steps)
            if place >= have
        ]
        if new:
            self._connection.execute(insert(rows.steps), new)
        self._expose(run)

    def _search_by_task_of(self, run_id: str) -> None:
        """Lessons that came before the run they rest on can be found by its task from now on."""
        for lesson_id in self._rows(rows.sources.c.lesson_id, run_id=run_id).scalars().all():
            row = self._rows(rows.lessons.c.n, rows.lessons.c.body, id=lesson_id).one_or_none()
            if row is not None:
                lesson = codec.lesson_from_json(row.body)
                self._dialect.put_words(self._connection, row.n, self._scope_row, lesson, self._asked(lesson))

    def _expose(self, run: Run) -> None:
        t = rows.exposures
        wanted = {(lesson, role) for role in ("shown", "withheld", "cited") for lesson in getattr(run, role)}
        if not wanted:
            return
        known = {
            (lesson, role) for lesson, role in self._connection.execute(select(t.c.lesson_id, t.c.role).where(self._mine(t, run_id=run.id)))
        }
        new = [{**self._wall, "run_id": run.id, "lesson_id": lesson, "role": role} for lesson, role in sorted(wanted - known)]
        if new:
            self._connection.execute(insert(t), new)

    def hold(self, change: HeldChange) -> None:
        """Put an operation into the review queue. What is there under its id stays: learning a run again re-opens nothing."""
        if self._one(rows.held.c.state, id=change.id) is None:
            self._insert(rows.held, {"id": change.id, "state": change.state, "run_id": change.run, "body": codec.held_to_json(change)})

    def decide(self, held_id: str, *, state: str, decided: str) -> None:
        """Close a held change; one that is closed, or not there, stays as it is."""
        body = self._one(rows.held.c.body, id=held_id, state="open")
        if body is not None:
            change = replace(codec.held_from_json(body), state=state, decided=decided)
            self._update(rows.held, {"id": held_id}, {"state": state, "body": codec.held_to_json(change)})

    def keep_failed_reply(self, failed: FailedReply) -> None:
        """Keep a reply that could not be used."""
        self._replace(rows.failed_replies, {"id": failed.id}, run_id=failed.run, body=codec.failed_to_json(failed))

    def drop_failed_reply(self, failed_id: str) -> None:
        """Forget a reply that has been dealt with."""
        self._connection.execute(delete(rows.failed_replies).where(self._mine(rows.failed_replies, id=failed_id)))

    def keep_core(self, core: Core) -> None:
        """Keep the core that was shown."""
        self._replace(rows.cores, {}, body=codec.core_to_json(core))

    def set(self, name: str, value: str | None) -> None:
        """Set a setting of the scope; none removes it."""
        self._settings = None
        if value is None:
            self._connection.execute(delete(rows.settings).where(self._mine(rows.settings, name=name)))
        else:
            self._replace(rows.settings, {"name": name}, value=value)

    def _update(self, table: Any, key: Mapping[str, object], values: Mapping[str, object]) -> int:
        """Change this scope's rows under a key; how many there were."""
        where = {**self._wall, **key}
        done = self._connection.execute(
            _change(table, tuple(where), tuple(values)), {**{f"where_{name}": one for name, one in where.items()}, **values}
        )
        return int(done.rowcount)

    def _insert(self, table: Any, *new: Mapping[str, object]) -> Any:
        """Add rows of this scope; the statement is the table's own, so that it is compiled once."""
        return self._connection.execute(insert(table), [{**self._wall, **one} for one in new] if len(new) > 1 else {**self._wall, **new[0]})

    def _replace(self, table: Any, key: Mapping[str, object], **values: object) -> None:
        if self._update(table, key, values) == 0:
            self._insert(table, {**key, **values})


def _searchable(lesson: Lesson) -> tuple[object, ...]:
    runs = tuple(dict.fromkeys(place.run for place in lesson.evidence))[:SOURCE_TASKS_INDEXED]
    return (lesson.live, lesson.text, lesson.applies_when, runs)
