"""Taking things out of a scope in a SQL database: rows, and what the ledger and all that is made from it say of them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select, update

from tenure.governance import ledger as chain
from tenure.playbook.delta import Delta, Observe, Revoke
from tenure.playbook.delta_json import storable_delta
from tenure.playbook.lessons import Lesson
from tenure.playbook.observing import Noted
from tenure.playbook.part import close, fold_part
from tenure.playbook.records import Record, read_lesson, root_of
from tenure.playbook.removal import touched
from tenure.playbook.run import Run
from tenure.ports import HeldChange
from tenure.stores import codec, rows, sql_draws, sql_grades, sql_observations, sql_vectors
from tenure.stores.growth import finished, tools_called
from tenure.stores.prepared import put
from tenure.stores.sql_lessons import portions
from tenure.stores.sql_reading import SqlReading
from tenure.stores.sql_removal import forgotten_digest
from tenure.stores.sql_waiting import SqlDeciding

_OF_A_SCOPE = (
    rows.records,
    rows.sizes,
    rows.ledger_texts,
    rows.steps,
    rows.sources,
    rows.exposures,
    rows.held,
    rows.failed_replies,
    rows.cores,
    rows.settings,
    rows.observations,
    rows.aggregates,
    rows.sums,
    rows.vectors,
    rows.labels,
    rows.grades,
    rows.beliefs,
    rows.noise,
    rows.draws,
    rows.postponed,
    rows.held_statements,
    rows.memory_entries,
    rows.memory_nodes,
    rows.memory_files,
    rows.conversations,
)
"""Tables whose rows go as they are when a scope goes; lessons, runs and entries have words beside them, the ledger keeps its links."""

_OF_A_RUN = (rows.steps, rows.exposures, rows.sources, rows.labels, rows.grades, rows.draws, rows.postponed)
"""Tables with a row for what a run holds or says, which goes with the run; held changes and failed replies go by their texts."""

Amendments = list[tuple[str, int, str, str]]


class SqlForgetting(SqlReading, SqlDeciding):
    """The part of a transaction that takes things out (see `ports.Forgetting`)."""

    _scope_row: int

    @abstractmethod
    def _put_records(self, changed: Mapping[str, Record]) -> None: ...

    @abstractmethod
    def _put_lessons(self, changed: Mapping[str, Lesson | None]) -> None: ...

    @abstractmethod
    def _append(self, delta: Delta, *, amends: Sequence[tuple[str, int, str, str]] = (), effective: bool = True) -> int: ...

    @abstractmethod
    def _asked(self, lesson: Lesson) -> str: ...

    @abstractmethod
    def _fold_anew(self, merged: int) -> None: ...

    # -- the ledger ----------------------------------------------------------------------------------

    def rewrite(self, changed: Mapping[int, Delta], tombstone: Delta) -> int:
        """Put other deltas in the place of some, bring all that is made from the ledger in line, and set a tombstone."""
        if not changed:
            return self._append(tombstone, effective=False)
        if merged := self.merged():
            # Which deltas count depends on all of them: of two that share a key, one does.
            anew = self._write_anew(changed)
            self._fold_anew(merged)
            self._mark_unscrubbed()
            return self._append(tombstone, amends=anew, effective=False)
        old = self._entries(changed)
        keys = {key for entry in old for delta in (entry.delta, changed[entry.version]) for key in touched(delta)}
        whole, _ = close(lambda some: [entry.delta for entry in self.ledger_naming(some)], keys)
        observed = any(isinstance(op, Observe | Revoke) for entry in old for op in entry.delta.operations)
        versions = self._versions_naming(whole) | set(changed)
        versions |= self._versions_naming(("OBSERVE", "REVOKE")) if observed else set()
        near = self._near(whole)
        before = self._roots_of(near)
        amends = self._write_anew(changed)
        part = fold_part((entry.delta for entry in self._entries(versions)), whole, observed=observed)
        t = rows.ledger
        for version, delta in changed.items():
            self._connection.execute(update(t).where(self._mine(t, version=version)).values(effective=delta.id in part.effective))
        self._replace_records(whole, {key: part.playbook.records[key] for key in whole if key in part.playbook.records})
        self._reread(before | self._roots_of(near | self._near(whole)))
        if observed:
            for table in (rows.observations, rows.aggregates, rows.sums):
                self._connection.execute(delete(table).where(self._mine(table)))
            held = part.playbook.observations
            noted = Noted(observations=dict(held.by_id.items()), shown=dict(held.shown.items()))
            if noted.observations or noted.shown:
                sql_observations.put_noted(self._connection, self._wall, noted)
        self._mark_unscrubbed()
        return self._append(tombstone, amends=amends, effective=False)

    def empty(self, tombstone: Delta) -> int:
        """Take everything out of the scope but the links of its ledger, which hold nothing then, and set a tombstone."""
        for table, kind in ((rows.lessons, "lessons"), (rows.runs, "runs")):
            places = list(self._connection.execute(select(table.c.n).where(self._mine(table))).scalars())
            self._dialect.remove_words(self._connection, "lessons" if kind == "lessons" else "runs", places)
            self._connection.execute(delete(table).where(self._mine(table)))
        entries = self._connection.execute(select(rows.memory_entries.c.n).where(self._mine(rows.memory_entries))).scalars()
        self._dialect.remove_entries(self._connection, list(entries))
        for table in _OF_A_SCOPE:
            self._connection.execute(delete(table).where(self._mine(table)))
        self._let_go()
        t = rows.ledger
        amends: Amendments = []
        columns = (t.c.version, t.c.writer, t.c.seq, t.c.digest, t.c.delta_id, t.c.payload)
        wanted = select(*columns).where(self._mine(t)).order_by(t.c.version)
        for version, writer, seq, digest, delta_id, payload in self._connection.execute(wanted).all():
            nothing = storable_delta(Delta(delta_id, (), scope=self._scope, author=chain.FORGOTTEN, note=chain.FORGOTTEN))
            amends.append(self._write_payload(version, (writer, seq, digest), chain.canonical(nothing | _kept_of(payload)), None))
        self._connection.execute(update(t).where(self._mine(t)).values(effective=False))
        self._connection.execute(update(rows.scopes).where(rows.scopes.c.n == self._scope_row).values(cases=0))
        self._mark_unscrubbed()
        return self._append(tombstone, amends=amends, effective=False)

    def _write_anew(self, changed: Mapping[int, Delta]) -> Amendments:
        """Write payloads and texts of deltas anew; what a tombstone has to say of them."""
        t, s = rows.ledger, rows.ledger_texts
        amends: Amendments = []
        for version in sorted(changed):
            wanted = select(t.c.writer, t.c.seq, t.c.digest, t.c.payload).where(self._mine(t, version=version))
            writer, seq, digest, payload = self._connection.execute(wanted).one()
            self._connection.execute(delete(s).where(self._mine(s, version=version)))
            sealed = chain.seal(storable_delta(changed[version]) | _kept_of(payload), lambda _: self._dialect.salt())
            put(
                self._connection,
                s,
                [{**self._wall, "digest": one.digest, "version": version, "salt": one.salt, "text": one.text} for one in sealed.texts],
            )
            amends.append(self._write_payload(version, (writer, seq, digest), sealed.payload, changed[version].key))
        return amends

    def _write_payload(self, version: int, link: tuple[str, int, str], payload: str, key: str | None) -> tuple[str, int, str, str]:
        t = rows.ledger
        self._named = None
        self._connection.execute(update(t).where(self._mine(t, version=version)).values(payload=payload, delta_key=key))
        writer, seq, digest = link
        return chain.origin_of(writer), seq, chain.payload_digest(payload), digest

    def _replace_records(self, keys: Collection[str], now: Mapping[str, Record]) -> None:
        t = rows.records
        for some in portions(sorted(keys)):
            self._connection.execute(delete(t).where(self._mine(t), t.c.key.in_(some)))
        self._let_go()
        self._put_records(now)
        self._let_go()

    def _let_go(self) -> None:
        """Forget what was looked up: it is another state now."""
        self._records.clear()
        self._groups.clear()
        self._pointing.clear()
        self._settings = None

    def _near(self, keys: Collection[str]) -> set[str]:
        """These records, and those that equal texts and pointers connect with them."""
        self._look_ahead(keys, ())
        near: set[str] = set()
        for key in keys:
            record = self.record(key)
            near.update((key, *self.pointing(key)))
            if record is not None:
                near.update(claim.key for claim in record.claims)
                if record.admission is not None:
                    near.update(member.key for member in self.group(record.admission.group))
                    near.update(filter(None, (record.admission.name,)))
        return near

    def _roots_of(self, keys: Iterable[str]) -> set[str]:
        return {root_of(self, key) for key in keys if self.record(key) is not None}

    def _reread(self, ids: Collection[str]) -> None:
        """Write the rows of lessons anew, from their records."""
        now = {one: read_lesson(self, one) if self.record(one) is not None and root_of(self, one) == one else None for one in sorted(ids)}
        self._put_lessons(now)
        s, e, z = rows.sources, rows.exposures, rows.sizes
        for some in portions(sorted(ids)):
            self._connection.execute(delete(s).where(self._mine(s), s.c.lesson_id.in_(some)))
        gone = sorted(one for one, lesson in now.items() if lesson is None)
        for some in portions([one for one in gone if self.record(one) is None]):
            for table in (e, rows.grades, rows.beliefs, rows.draws):
                self._connection.execute(delete(table).where(self._mine(table), table.c.lesson_id.in_(some)))
        resting = [
            {**self._wall, "run_id": run, "lesson_id": lesson.id}
            for lesson in now.values()
            if lesson is not None
            for run in dict.fromkeys(place.run for place in lesson.evidence)
        ]
        put(self._connection, s, resting)
        # Names of sections are texts: one without lessons must not stay.
        self._connection.execute(delete(z).where(self._mine(z), z.c.lessons <= 0))

    # -- runs ----------------------------------------------------------------------------------------

    def drop_runs(self, ids: Collection[str]) -> int:
        """Take kept runs out, with all that was kept of them; how many there were."""
        t = rows.runs
        there: list[tuple[int, str, bool]] = []
        for some in portions(sorted(ids)):
            wanted = select(t.c.n, t.c.id, t.c.revoked).where(self._mine(t), t.c.id.in_(some))
            there += [(n, one, revoked) for n, one, revoked in self._connection.execute(wanted)]
            for table in _OF_A_RUN:
                self._connection.execute(delete(table).where(self._mine(table), table.c.run_id.in_(some)))
            self._connection.execute(delete(t).where(self._mine(t), t.c.id.in_(some)))
        sql_vectors.drop_stale(self._connection, self._scope, "run", [one for _, one, _ in there])
        self._dialect.remove_words(self._connection, "runs", [n for n, _, _ in there])
        self._count_cases(-sum(not revoked for _, _, revoked in there))
        self._mark_unscrubbed()
        return len(there)

    def replace_run(self, run: Run) -> None:
        """Put a run in the place of the kept one with its id, as it is: what the kept one had is gone."""
        t, s = rows.runs, rows.steps
        kept = self._rows(t.c.n, t.c.revoked, t.c.learned, t.c.arrived, id=run.id).one()
        values = {
            "task_key": run.task.key,
            "task_kind": run.task.kind,
            "success": run.outcome.success,
            "finished": finished(run),
            "steps": len(run.steps),
            "learned": None if kept.learned is None else min(int(kept.learned), len(run.steps)),
            "tools": codec.compact(sorted(tools_called(run))),
            "body": codec.run_to_json(run),
            "origin": run.origin.name,
        }
        self._connection.execute(update(t).where(self._mine(t, id=run.id)).values(**values))
        self._connection.execute(delete(s).where(self._mine(s, run_id=run.id)))
        steps = [{**self._wall, "run_id": run.id, "place": place, "body": codec.step_to_json(step)} for place, step in enumerate(run.steps)]
        put(self._connection, s, steps)
        sql_vectors.drop_stale(self._connection, self._scope, "run", [run.id])
        self._note_beside(run, int(kept.arrived), revoked=kept.revoked)
        if not kept.revoked:
            self._dialect.put_task(self._connection, kept.n, self._scope_row, run.task.text)
        self._index_anew([run.id])
        self._mark_unscrubbed()

    def revoke_runs(self, ids: Collection[str], *, revoked: bool) -> int:
        """Have kept runs no longer recalled, compared or learned from, or again; how many changed."""
        t = rows.runs
        there: list[tuple[int, str, str]] = []
        for some in portions(sorted(ids)):
            mine = (self._mine(t, revoked=not revoked), t.c.id.in_(some))
            for n, one, body, arrived in self._connection.execute(select(t.c.n, t.c.id, t.c.body, t.c.arrived).where(*mine)).all():
                there.append((n, one, body))
                self._note_beside(codec.run_from_json(body, scope=self._scope), int(arrived), revoked=revoked)
            self._connection.execute(update(t).where(*mine).values(revoked=revoked))
        if revoked:
            sql_vectors.drop_stale(self._connection, self._scope, "run", [one for _, one, _ in there])
            self._dialect.remove_words(self._connection, "runs", [n for n, _, _ in there])
        else:
            for n, _, body in there:
                self._dialect.put_task(self._connection, n, self._scope_row, json.loads(body)["task"]["text"])
        self._count_cases(-len(there) if revoked else len(there))
        self._index_anew([one for _, one, _ in there])
        return len(there)

    def _note_beside(self, run: Run, arrived: int, *, revoked: bool) -> None:
        """Label and draws of a run as it reads now; a revoked one says nothing of lessons."""
        for table in (rows.labels, rows.draws) if not revoked else (rows.labels, rows.draws, rows.postponed):
            self._connection.execute(delete(table).where(self._mine(table), table.c.run_id == run.id))
        if not revoked:
            sql_grades.keep_label(self._connection, self._wall, run, arrived)
            sql_draws.keep(self._connection, self._wall, run)

    def _index_anew(self, runs: Sequence[str]) -> None:
        """Lessons are found by the tasks of the runs they rest on: those of some runs read otherwise now."""
        s, t = rows.sources, rows.lessons
        resting: set[str] = set()
        for some in portions(runs):
            resting.update(self._connection.execute(select(s.c.lesson_id).where(self._mine(s), s.c.run_id.in_(some))).scalars())
        for some in portions(sorted(resting)):
            found = self._connection.execute(select(t.c.n, t.c.body).where(self._mine(t), t.c.id.in_(some)))
            lessons = [(n, codec.lesson_from_json(body)) for n, body in found]
            said = [(n, lesson, self._asked(lesson), True) for n, lesson in lessons]
            self._dialect.put_all_words(self._connection, self._scope_row, said)

    def _count_cases(self, by: int) -> None:
        t = rows.scopes
        if by:
            self._connection.execute(update(t).where(t.c.n == self._scope_row).values(cases=t.c.cases + by))

    def remember_forgotten(self, runs: Collection[str], at: str) -> None:
        """Know these runs again if they come back, without knowing which they were."""
        t = rows.forgotten_runs
        salt = self._connection.execute(select(t.c.salt).where(self._mine(t)).limit(1)).scalar() or self._dialect.salt()
        new = {forgotten_digest(salt, one) for one in runs}
        there = {
            one
            for some in portions(sorted(new))
            for one in self._connection.execute(select(t.c.digest).where(self._mine(t), t.c.digest.in_(some))).scalars()
        }
        put(self._connection, t, [{**self._wall, "digest": one, "salt": salt, "at": at} for one in sorted(new - there)])

    def allow_again(self, run_id: str) -> bool:
        """Let a forgotten run be kept and learned again if it comes back; whether it had been forgotten."""
        t = rows.forgotten_runs
        salts = self._connection.execute(select(t.c.salt).where(self._mine(t)).distinct()).scalars().all()
        digests = [forgotten_digest(salt, run_id) for salt in salts]
        return bool(digests) and self._connection.execute(delete(t).where(self._mine(t), t.c.digest.in_(digests))).rowcount > 0

    # -- the rest ------------------------------------------------------------------------------------

    def drop_held(self, ids: Collection[str]) -> int:
        """Take held changes out, whatever their state; how many there were."""
        t = rows.held
        found = sum(self._connection.execute(delete(t).where(self._mine(t), t.c.id.in_(some))).rowcount for some in portions(sorted(ids)))
        self._say(dict.fromkeys(set(ids) - self._there(rows.lessons, ids), ""))
        self._mark_unscrubbed()
        return int(found)

    def replace_held(self, change: HeldChange) -> None:
        """Put a held change in the place of the one with its id."""
        self.amend(change)
        self._mark_unscrubbed()

    def drop_cores(self) -> None:
        """Take out what prompts were made of."""
        self._connection.execute(delete(rows.cores).where(self._mine(rows.cores)))
        self._mark_unscrubbed()

    def _mark_unscrubbed(self) -> None:
        """Deleted texts stand in free pages until the file is scrubbed: note it with the deletion, so that it is not left undone."""
        t = rows.installation
        self._connection.execute(update(t).where(t.c.unscrubbed == "").values(unscrubbed=self._dialect.now()))


def _kept_of(payload: str) -> dict[str, Any]:
    """What a payload that is written anew must keep: its place, and what it vouches for, which would be unproven without it."""
    held = json.loads(payload)
    return {name: held[name] for name in ("version", "amends") if held.get(name)}
