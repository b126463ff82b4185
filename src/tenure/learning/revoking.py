"""Revoking an origin: what rests on it alone is out of use at once, everywhere, and stays in the ledger to be looked into.

Its runs are no longer recalled, compared or learned from. The playbook is made to read as if they had never been
learned, by one delta, which a rollback undoes like any other. Which origins are revoked is kept as a setting of the scope, with
the version from which on it holds, so that a rollback past one brings its runs back too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from tenure.errors import UserError
from tenure.learning.corroborating import with_too_few_voices
from tenure.learning.forgetting_memory import drop_derived, origins_in
from tenure.learning.history import undo
from tenure.learning.replay import forget_grades_by
from tenure.learning.resting import find_resting, names_origin
from tenure.learning.revoked_memory import entries_from, follow_revocations
from tenure.learning.taking_back import reopen_held_again
from tenure.learning.upkeep import renew_prompt
from tenure.playbook.delta import Delta, Observe, Operation, Restore, Retire, Revoke, Update
from tenure.playbook.folding import fold, folding_key
from tenure.playbook.lessons import Lesson
from tenure.playbook.part import close, fold_part
from tenure.playbook.removal import Gone, touched, without
from tenure.playbook.run import Origin
from tenure.ports import IdSource, LedgerEntry, Reading, Writing

SETTING = "origins.revoked"
"""Where it is kept: JSON, a list of version, name, and whether it is revoked from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """What revoking an origin takes out of use, or what lifting that brings back.

    Attributes:
        origin: as it was asked for.
        names: of the origins that it covers, as they stand in runs and observations.
        runs: ids of their runs.
        lessons: lessons that rest on them alone, as they read before.
        weakened: lessons that rest on others too: they lose the counts of these runs.
        observations: how many numbers no longer count.
        held: ids of open held changes of these runs, which are rejected.
        entries: ids of memory entries that are set aside, or come back; the days, weeks and months above are built anew.
        operations: what the delta does.
        version: of the delta; none for a trial, or if there was nothing to do.
    """

    origin: str
    names: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    weakened: tuple[Lesson, ...] = ()
    observations: int = 0
    held: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    version: int | None = None


def plan_revocation(reading: Reading, asked: str, *, reason: str = "") -> Revocation:
    """What revoking an origin would take out of use.

    Raises:
        UserError: no such origin has left anything here, or it is revoked already.
    """
    if asked in revoked_origins(reading):
        raise UserError(f"Origin '{asked}' is revoked already. To lift that: tenure revoke {asked} --lift")
    names = _names(reading, asked)
    before = frozenset(reading.revoked_runs())
    runs = frozenset(reading.runs_from(names)) - before
    gone = Gone(runs=runs, origins=frozenset(names))
    resting = find_resting(reading, gone, holding=reading.ledger_naming(names), discounted=before)
    changed = {
        version: less for version, entry in resting.entries.items() if (less := without(entry.delta, resting.gone)) is not entry.delta
    }
    operations = _as_if(reading, resting.entries, changed, reason=reason or f"its origin {asked} was revoked")
    decided = {op.id for op in operations if isinstance(op, Retire) or (isinstance(op, Update) and op.status is not None)}
    operations += tuple(op for op in with_too_few_voices(reading, runs) if op.id not in decided)
    counting = {one.id for one in reading.observations() if not one.revoked} if resting.gone.observations else set[str]()
    return Revocation(
        origin=asked,
        names=tuple(sorted(names)),
        runs=tuple(sorted(runs)),
        lessons=tuple(lesson for lesson in resting.lessons if lesson.status != "retired"),
        weakened=resting.weakened,
        observations=len(resting.gone.observations & counting),
        held=tuple(change.id for change in reading.held() if change.run in runs),
        entries=tuple(one.id for one in entries_from(reading, [asked])),
        operations=operations,
    )


def revoke_origin(work: Writing, asked: str, *, ids: IdSource, at: datetime, author: str, reason: str = "") -> Revocation:
    """Revoke an origin, inside a transaction on the scope. One that is revoked is told so, and nothing is done twice.

    Raises:
        UserError: no such origin has left anything here, or it is revoked already.
    """
    plan = plan_revocation(work, asked.strip(), reason=reason)
    told = {"runs": len(plan.runs), "lessons": len(plan.lessons), "observations": plan.observations}
    some = ", ".join(f"{count:,} {name if count != 1 else name[:-1]}" for name, count in told.items() if count) or "nothing rests on it"
    note = f"revoked origin {plan.origin}: {some}"
    version = _record(work, plan.operations, ids=ids, at=at, author=author, note=f"{note}; {reason}" if reason else note)
    forget_grades_by(work, plan.runs)
    work.revoke_runs(plan.runs, revoked=True)
    for held in plan.held:
        work.decide(held, state="rejected", decided=f"{author} {at.isoformat()}: its origin {plan.origin} was revoked")
    reopen_held_again(work, plan.runs)
    _log(work, {plan.origin: True}, version)
    renew_prompt(work, "an origin was revoked")
    return replace(plan, version=version)


def lift(work: Writing, asked: str, *, ids: IdSource, at: datetime, author: str) -> Revocation:
    """Let a revoked origin count again: its runs, and all that the revocation took out of use.

    Raises:
        UserError: it is not revoked.
    """
    asked = asked.strip()
    if asked not in revoked_origins(work):
        others = ", ".join(sorted(revoked_origins(work))) or "none is"
        raise UserError(f"Origin '{asked}' is not revoked in scope '{work.scope}'. Revoked: {others}")
    entry = [one for one in _revocations(work, asked) if one.delta.cause == "revoke"][-1]
    emptied = {entry.version: Delta(entry.delta.id, (), scope=work.scope)}
    operations = _as_if(work, {entry.version: entry}, emptied, reason="")
    names = _names(work, asked)
    still = revoked_origins(work) - {asked}
    back = [one for name in names if not any(names_origin(name, other) for other in still) for one in work.runs_from((name,))]
    version = _record(work, operations, ids=ids, at=at, author=author, note=f"lifted the revocation of origin {asked}; runs: {len(back):,}")
    work.revoke_runs(back, revoked=False)
    entries = _log(work, {asked: False}, version)
    renew_prompt(work, "a revocation was lifted")
    lessons = {op.id for op in operations if isinstance(op, Restore | Update)}
    found = [lesson for lesson in map(work.lesson, sorted(lessons)) if lesson is not None and lesson.live]
    numbers = sum(len(op.ids) for op in operations if isinstance(op, Revoke))
    return Revocation(
        origin=asked,
        names=tuple(sorted(names)),
        runs=tuple(back),
        lessons=tuple(found),
        observations=numbers,
        entries=entries,
        operations=operations,
        version=version,
    )


def revoked_origins(reading: Reading) -> frozenset[str]:
    """Names of the origins that are revoked now, as they were asked for."""
    return _standing(_events(reading.setting(SETTING)))


def is_revoked(reading: Reading, origin: Origin) -> str:
    """The revoked origin that one is or lies below; empty if there is none."""
    return next((name for name in sorted(revoked_origins(reading)) if names_origin(origin.name, name)), "")


def follow_rollback(work: Writing, version: int) -> None:
    """Have the origins revoked that were at an earlier version, after the playbook went back to it."""
    events = _events(work.setting(SETTING))
    then, now = _standing([event for event in events if event[0] <= version]), _standing(events)
    changes = {name: name in then for name in then ^ now}
    if not changes:
        return
    names = list(work.origins())
    standing = {name for name in names if any(names_origin(name, one) for one in then)}
    gone = work.runs_from(standing)
    forget_grades_by(work, gone)
    work.revoke_runs(gone, revoked=True)
    work.revoke_runs(work.runs_from([name for name in names if name not in standing]), revoked=False)
    _log(work, changes, work.version())
    renew_prompt(work, "a rollback changed which origins are revoked")


def without_origins(value: str, gone: Gone) -> str | None:
    """The setting without origins that are forgotten or name a subject; none if that leaves nothing."""
    left = [list(event) for event in _events(value) if not gone.names(event[1])]
    left = [event for event in left if not any(names_origin(name, str(event[1])) for name in gone.origins)]
    return json.dumps(left) if left else None


def _revocations(reading: Reading, asked: str) -> list[LedgerEntry]:
    """The deltas since which an origin was revoked, oldest first; after a rollback those of the rollback too."""
    versions = [version for version, name, revoked in _events(reading.setting(SETTING)) if revoked and name == asked]
    return [entry for version in versions for entry in reading.ledger(after=version - 1, until=version)]


def revocations_of(reading: Reading, runs: Collection[str]) -> list[LedgerEntry]:
    """The deltas that revoked some runs, each with all of its others.

    Raises:
        UserError: one of them revoked others of its origin as well, which stay.
    """
    revoked = set(reading.revoked_runs()) & set(runs)
    found: list[LedgerEntry] = []
    for asked in sorted(revoked_origins(reading)) if revoked else ():
        own = set(reading.runs_from([name for name in reading.origins() if names_origin(name, asked)]))
        if own & revoked and not own <= set(runs):
            raise UserError(
                f"Run '{min(own & revoked)}' is of the revoked origin '{asked}', whose counts were taken back together. "
                f"Forget the whole origin: tenure forget --origin '{asked}'. Or lift its revocation first: tenure revoke '{asked}' --lift"
            )
        if own & revoked:
            found += _revocations(reading, asked)
    return found


def revocations_under(reading: Reading, origins: Collection[str]) -> list[LedgerEntry]:
    """The deltas that revoked one of these origins or one below it, or lifted that."""
    events = _events(reading.setting(SETTING))
    versions = {version for version, name, _ in events if any(names_origin(name, asked) for asked in origins)}
    found = [entry for version in sorted(versions) for entry in reading.ledger(after=version - 1, until=version)]
    return [entry for entry in found if entry.delta.cause == "revoke"]


def _names(reading: Reading, asked: str) -> list[str]:
    """Names of origins that what was asked for covers.

    Raises:
        UserError: there are none.
    """
    known = {*reading.origins(), *origins_in(reading), *(one.origin for one in reading.observations() if one.origin)}
    found = sorted(name for name in known if names_origin(name, asked))
    if not found:
        some = ", ".join(sorted(known)[:8]) or "none yet"
        raise UserError(f"No origin '{asked}' has left anything in scope '{reading.scope}'. Origins here: {some}")
    return found


def _as_if(reading: Reading, entries: Mapping[int, LedgerEntry], changed: Mapping[int, Delta], *, reason: str) -> tuple[Operation, ...]:
    """The operations after which the playbook reads as if some deltas had been others. Cost follows what they concern."""
    if not changed:
        return ()
    if merged := reading.merged():
        # Which deltas count depends on all of them: of two that share a key, one does.
        order = sorted(reading.ledger(), key=lambda one: folding_key(one.version, one.delta.id, one.digest, merged))
        then = fold(changed.get(entry.version, entry.delta) for entry in order).playbook
        return undo(then, reading.playbook(), reason=reason)
    before = [entries[version].delta for version in changed]
    observed = any(isinstance(op, Observe | Revoke) for delta in before for op in delta.operations)
    keys = {key for delta in before for key in touched(delta)}
    while True:
        keys, _ = close(lambda some: [entry.delta for entry in reading.ledger_naming(some)], keys)
        more = keys | _alike(reading, keys)
        if more == keys:
            break
        keys = more
    naming = {entry.version: entry.delta for entry in reading.ledger_naming(keys)}
    if observed:
        naming |= {entry.version: entry.delta for entry in reading.ledger_naming(("OBSERVE", "REVOKE"))}
    naming |= {version: entries[version].delta for version in changed}
    now = fold_part((naming[version] for version in sorted(naming)), keys, observed=observed).playbook
    goal = fold_part((changed.get(version, naming[version]) for version in sorted(naming)), keys, observed=observed).playbook
    return undo(goal, now, reason=reason)


def _alike(reading: Reading, keys: Collection[str]) -> set[str]:
    """Records of the same texts: which of them a lesson is read from depends on all."""
    records = [record for record in map(reading.record, keys) if record is not None and record.admission is not None]
    return {member.key for record in records if record.admission is not None for member in reading.group(record.admission.group)}


def _record(work: Writing, operations: tuple[Operation, ...], *, ids: IdSource, at: datetime, author: str, note: str) -> int:
    """Put it into the ledger, also where it changes no lesson."""
    delta = Delta(ids.next(work.newest_delta_id()), operations, scope=work.scope, author=author, cause="revoke", at=at, note=note)
    version = work.admit(delta).version if operations else None
    return (
        version
        if version is not None
        else work.rewrite({}, Delta(delta.id, (), scope=work.scope, author=author, cause="revoke", at=at, note=note))
    )


def _log(work: Writing, changes: Mapping[str, bool], version: int) -> tuple[str, ...]:
    """Note which origins are revoked from a version on, and have the memory follow; ids of entries that it took out or put back."""
    events = [*_events(work.setting(SETTING)), *((version, name, revoked) for name, revoked in sorted(changes.items()))]
    work.set(SETTING, json.dumps([list(event) for event in events], ensure_ascii=False))
    out, back = follow_revocations(work, _standing(events))
    if out:
        drop_derived(work, sorted({one.day for one in out}), {(one.topic or one.type).casefold() for one in out})
    return tuple(one.id for one in (*out, *back))


def _events(value: str | None) -> list[tuple[int, str, bool]]:
    return [(int(version), str(name), bool(revoked)) for version, name, revoked in json.loads(value or "[]")]


def _standing(events: list[tuple[int, str, bool]]) -> frozenset[str]:
    latest = {name: revoked for _, name, revoked in events}
    return frozenset(name for name, revoked in latest.items() if revoked)
