"""Forgetting and revoking in a scope that is held in memory."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from tenure.governance.ledger_lines import Link
from tenure.keeping import outline_of
from tenure.playbook.delta import Delta
from tenure.playbook.delta_json import delta_to_json
from tenure.playbook.removal import Gone, run_of, touched, without
from tenure.playbook.run import Run, vote_of
from tenure.ports import HeldChange, LedgerEntry, RunOutline
from tenure.stores.codec import run_to_json, step_to_json
from tenure.stores.contents import Contents
from tenure.stores.growth import is_before


class TracesInMemory:
    """The part of a look at a scope that says what would go with a run, an origin or a subject (see `ports.Traces`)."""

    _now: Contents

    def outlines(self, *, before: int | None = None, limit: int = 100) -> Sequence[RunOutline]:
        """Kept runs in short, newest first; with `before` those that arrived before that place."""
        kept = [one for one in self._now.by_arrival(newest_first=True) if not one.revoked and (before is None or one.place < before)]
        return [outline_of(one.run, place=one.place, steps=len(one.run.steps), learned=one.learned) for one in kept[: max(limit, 0)]]

    def forgotten_at(self, run_id: str) -> str:
        """When a run was forgotten."""
        return self._now.forgotten.get(_known_as(run_id), "")

    def origins(self) -> Mapping[str, int]:
        """Names of the origins of kept runs, with the number of runs."""
        return dict(sorted(Counter(kept.run.origin.name for kept in self._now.runs.values()).items()))

    def runs_from(self, origins: Collection[str]) -> Sequence[str]:
        """Ids of kept runs of origins with these names, oldest first."""
        return [kept.run.id for kept in self._now.by_arrival(newest_first=False) if kept.run.origin.name in origins]

    def revoked_runs(self) -> Sequence[str]:
        """Ids of kept runs that are revoked, oldest first."""
        return [kept.run.id for kept in sorted((one for one in self._now.runs.values() if one.revoked), key=lambda one: one.place)]

    def spoken_on(self, vote: str, lessons: Collection[str], *, but: str) -> frozenset[str]:
        """Which of these lessons a run of an untrusted origin has spoken on."""
        runs = {kept.run.id: kept.run for kept in self._now.runs.values() if kept.run.id != but and vote_of(kept.run.origin.name) == vote}
        named = {one for run in runs.values() for one in (*run.shown, *run.withheld, *run.cited)}
        held = (self._now.lessons.get(one) for one in lessons)
        named |= {lesson.id for lesson in held if lesson is not None and any(place.run in runs for place in lesson.evidence)}
        return frozenset(named.intersection(lessons))

    def ledger_naming(self, ids: Collection[str]) -> Sequence[LedgerEntry]:
        """Deltas that name or make any of these, oldest first."""
        wanted = set(ids)

        def names(entry: LedgerEntry) -> bool:
            said = set(_strings(delta_to_json(entry.delta)))
            # What is recorded of a revision is a text, and names runs.
            told = [text for text in said if text.startswith("{")]
            return bool(wanted & {*touched(entry.delta), *said, run_of(entry.delta)}) or any(one in text for text in told for one in wanted)

        return [entry for entry in self._entries() if names(entry)]

    def ledger_holding(self, stands_in: Callable[[str], bool]) -> Sequence[LedgerEntry]:
        """Deltas with a text of a kind, oldest first."""
        return [entry for entry in self._entries() if any(map(stands_in, _strings(delta_to_json(entry.delta))))]

    def runs_holding(self, stands_in: Callable[[str], bool]) -> Sequence[str]:
        """Ids of kept runs with a text of a kind, oldest first."""
        return [kept.run.id for kept in self._now.by_arrival(newest_first=False) if any(map(stands_in, _texts(kept.run)))]

    def runs_before(self, moment: str) -> Sequence[str]:
        """Ids of kept runs that ended, or began, before a moment, oldest first."""
        limit = datetime.fromisoformat(moment)
        every = (kept.run for kept in self._now.by_arrival(newest_first=False))
        return [run.id for run in every if is_before(run.ended or run.started, limit)]

    def settings_kept(self) -> Mapping[str, str]:
        """All settings of the scope, by name."""
        return dict(sorted(self._now.settings.items()))

    def _entries(self) -> list[LedgerEntry]:
        return [self._now.ledger[number] for number in sorted(self._now.ledger)]


class ForgettingInMemory(TracesInMemory):
    """The part of a transaction that takes things out (see `ports.Forgetting`)."""

    @abstractmethod
    def _append(self, delta: Delta, *, amends: Sequence[Link] = ()) -> int: ...

    @abstractmethod
    def _seal_anew(self, version: int, delta: Delta) -> Link: ...

    @abstractmethod
    def _fold_anew(self) -> None: ...

    def rewrite(self, changed: Mapping[int, Delta], tombstone: Delta) -> int:
        """Put other deltas in the place of some, make the playbook anew, and set a tombstone. Cost follows the ledger."""
        if not changed:
            return self._append(tombstone)
        anew = self._write_anew(changed)
        self._fold_anew()
        return self._append(tombstone, amends=anew)

    def empty(self, tombstone: Delta) -> int:
        """Take everything out of the scope but the links of its ledger, and set a tombstone."""
        anew = self._write_anew({entry.version: without(entry.delta, Gone(everything=True)) for entry in self._entries()})
        now = self._now
        self._now = Contents(
            ledger=now.ledger,
            links=now.links,
            tips=now.tips,
            imported=now.imported,
            merged=now.merged,
            versions=now.versions,
            newest_delta=now.newest_delta,
        )
        return self._append(tombstone, amends=anew)

    def _write_anew(self, changed: Mapping[int, Delta]) -> list[Link]:
        ledger = self._now.ledger
        return [self._seal_anew(version, replace(changed[version], scope=ledger[version].delta.scope)) for version in sorted(changed)]

    def _drop_vectors(self) -> None:
        """Vectors whose texts are gone or read otherwise."""
        self._now = replace(self._now, vectors=HashTrieMap(dict(self._now.valid_vectors())))

    def drop_runs(self, ids: Collection[str]) -> int:
        """Take kept runs out; how many there were."""
        there = [one for one in ids if one in self._now.runs]
        runs, postponed = self._now.runs, self._now.postponed
        for one in there:
            runs, postponed = runs.remove(one), postponed.discard(one)
        self._now = replace(self._now, runs=runs, postponed=postponed)
        self._drop_vectors()
        return len(there)

    def replace_run(self, run: Run) -> None:
        """Put a run in the place of the kept one with its id."""
        kept = self._now.runs[run.id]
        learned = None if kept.learned is None else min(kept.learned, len(run.steps))
        now = replace(kept, run=replace(run, scope=kept.run.scope), learned=learned)
        self._now = replace(self._now, runs=self._now.runs.insert(run.id, now))
        self._drop_vectors()

    def revoke_runs(self, ids: Collection[str], *, revoked: bool) -> int:
        """Have kept runs no longer recalled, compared or learned from, or again; how many changed."""
        runs = self._now.runs
        changed = [one for one in dict.fromkeys(ids) if one in runs and runs[one].revoked is not revoked]
        postponed = self._now.postponed
        for one in changed:
            runs = runs.insert(one, replace(runs[one], revoked=revoked))
            postponed = postponed.discard(one) if revoked else postponed
        self._now = replace(self._now, runs=runs, postponed=postponed)
        self._drop_vectors()
        return len(changed)

    def remember_forgotten(self, runs: Collection[str], at: str) -> None:
        """Know these runs again if they come back."""
        self._now = replace(self._now, forgotten={**self._now.forgotten, **{_known_as(one): at for one in runs}})

    def allow_again(self, run_id: str) -> bool:
        """Let a forgotten run be kept and learned again."""
        known = _known_as(run_id)
        left = {one: at for one, at in self._now.forgotten.items() if one != known}
        was = len(left) < len(self._now.forgotten)
        self._now = replace(self._now, forgotten=left)
        return was

    def drop_held(self, ids: Collection[str]) -> int:
        """Take held changes out; how many there were."""
        left = {one: change for one, change in self._now.held.items() if one not in ids}
        gone = len(self._now.held) - len(left)
        self._now = replace(self._now, held=left)
        return gone

    def replace_held(self, change: HeldChange) -> None:
        """Put a held change in the place of the one with its id."""
        self._now = replace(self._now, held={**self._now.held, change.id: change})

    def drop_cores(self) -> None:
        """Take out what prompts were made of."""
        self._now = replace(self._now, cores={})


def _known_as(run_id: str) -> str:
    return hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()


def _texts(run: Run) -> Iterable[str]:
    for body in (run_to_json(run), *map(step_to_json, run.steps)):
        yield from _strings(json.loads(body))


def _strings(value: Any) -> Iterable[str]:
    """Every text in a value of parsed JSON, names of fields too; numbers as texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, held in value.items():
            yield str(name)
            yield from _strings(held)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _strings(held)
    elif isinstance(value, int | float):
        yield str(value)
