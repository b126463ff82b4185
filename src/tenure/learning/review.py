"""The review queue: changes that wait for a person, and what the person decides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tenure.errors import UserError
from tenure.learning.duplicates import conflicts_of
from tenure.learning.upkeep import raise_bounds
from tenure.playbook.delta import Add, Delta, Receipt, Restore, Retire
from tenure.playbook.likeness import Conflict, conflicts, read
from tenure.ports import HeldChange, IdSource, Reading, Writing
from tenure.settings import read_settings


def held_changes(reading: Reading) -> tuple[HeldChange, ...]:
    """Everything that waits: held operations, and lessons that stand in the playbook as held, oldest first."""
    waiting = list(reading.held())
    queued = {change.operation.id for change in waiting if isinstance(change.operation, Restore)}
    for lesson in reading.lessons(live=False):
        if lesson.status == "held" and lesson.id not in queued:
            operation = Add(
                lesson.section, lesson.text, id=lesson.id, applies_when=lesson.applies_when, kind=lesson.kind, evidence=lesson.evidence
            )
            waiting.append(
                HeldChange(id=lesson.id, operation=operation, reason="it was admitted as held", author=lesson.author, at=lesson.created)
            )
    return tuple(sorted(waiting, key=lambda change: (change.at, change.id)))


MOST_COMPARED = 5_000
"""A review list compares at most so many lessons with one another; refine, which may take its time, all."""

NEWEST = 200
"""In a larger scope a review list looks up what came with so many of the newest deltas, and at most so many lessons."""


def conflicts_in(reading: Reading) -> tuple[Conflict, ...]:
    """Live lessons of the scope that are alike in wording and differ in a fact; in a very large scope those of the newest."""
    if sum(count for count, _ in reading.sizes().values()) <= MOST_COMPARED:
        return tuple(conflicts([read(lesson) for lesson in reading.lessons()]))
    found: dict[tuple[str, ...], str] = {}
    for lesson in reading.since(max(0, reading.version() - NEWEST))[-NEWEST:]:
        for other in conflicts_of(lesson, reading):
            found[tuple(sorted((lesson.id, other.lesson.id)))] = other.likeness.reason
    return tuple(Conflict(ids=ids, reason=found[ids]) for ids in sorted(found))


def find_held(reading: Reading, named: str) -> HeldChange:
    """The held change that an id, its beginning or its end, or its number in the list (from 1) stands for.

    Raises:
        UserError: none does, or more than one.
    """
    waiting = held_changes(reading)
    if not named.strip():  # it would fit every one, and approve what nobody chose
        raise UserError("Name a held change by its number or id. See: tenure review list")
    if named.isdecimal() and len(named) < 20 and 1 <= int(named) <= len(waiting):
        return waiting[int(named) - 1]
    found = [change for change in waiting if change.id == named] or [c for c in waiting if c.id.startswith(named) or c.id.endswith(named)]
    if len(found) == 1:
        return found[0]
    why = f"fits {len(found)} held changes" if found else "is no held change"
    raise UserError(f"'{named}' {why} in scope '{reading.scope}'. See them with their numbers: tenure review list")


def approve(work: Writing, changes: Sequence[HeldChange], *, ids: IdSource, at: datetime, author: str) -> tuple[Receipt, ...]:
    """Carry out held changes, in one delta of the reviewer's that one rollback undoes."""
    lessons = {lesson.id for lesson in work.lessons(live=False) if lesson.status == "held"}
    operations = [Restore(change.id) if change.id in lessons else change.operation for change in changes]
    note = f"approved {', '.join(change.id for change in changes)}"
    delta = Delta(ids.next(work.newest_delta_id()), operations, scope=work.scope, author=author, cause="review", at=at, note=note)
    admitted = work.admit(delta)
    raise_bounds(work, read_settings(work.setting))
    _close(work, changes, "approved", f"{author} at {at.isoformat()}")
    return admitted.receipts


def reject(work: Writing, changes: Sequence[HeldChange], *, ids: IdSource, at: datetime, author: str, reason: str = "") -> None:
    """Close held changes without carrying them out; held lessons are retired. Their texts stay readable."""
    lessons = {lesson.id for lesson in work.lessons(live=False) if lesson.status == "held"}
    retired = [Retire(change.id, reason or "rejected in review") for change in changes if change.id in lessons]
    if retired:
        note = f"rejected {', '.join(change.id for change in changes)}"
        work.admit(Delta(ids.next(work.newest_delta_id()), retired, scope=work.scope, author=author, cause="review", at=at, note=note))
    _close(work, changes, "rejected", f"{author} at {at.isoformat()}" + (f": {reason}" if reason else ""))


def _close(work: Writing, changes: Sequence[HeldChange], state: str, decided: str) -> None:
    for change in changes:
        work.decide(change.id, state=state, decided=decided)
