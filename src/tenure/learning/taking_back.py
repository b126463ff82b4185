"""A batch of a review taken back in one step: what it did is undone, what others did since stays, and its changes wait again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenure.errors import UserError
from tenure.learning.history import find_version
from tenure.learning.review import lesson_id_of
from tenure.playbook.apply import apply
from tenure.playbook.delta import Add, Decision, Delta, Merge, Observe, Operation, Pin, Restore, Retire, Revoke, Update
from tenure.playbook.lessons import Lesson
from tenure.playbook.records import target_of
from tenure.playbook.state import Playbook
from tenure.ports import HeldChange, IdSource, LedgerEntry, Reading, Writing

BY_PERSONS = ("approved", "edited", "rejected")
"""Decisions that a review makes, and that can be taken back."""

_FIELDS = ("text", "applies_when", "kind", "about", "verdict", "revision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A batch that was taken back.

    Attributes:
        batch, at_version: the delta that was taken back.
        version: of the delta that takes it back.
        reopened: ids of the changes that wait again.
        left: a sentence for each thing that somebody has changed since, and that therefore stays.
    """

    batch: str
    at_version: int
    version: int | None
    reopened: tuple[str, ...]
    left: tuple[str, ...]


def find_batch(reading: Reading, named: str = "") -> LedgerEntry:
    """The delta of a review that a version or an id stands for; without a name, the newest that still stands.

    Raises:
        UserError: it decided nothing, or was taken back already.
    """
    if named:
        version = find_version(reading, named)
        entries = reading.ledger(after=version - 1, until=version) if version else ()
        if not entries or not _made_by_persons(entries[0].delta):
            raise UserError(f"Version '{named}' is no batch of a review. See which are: tenure review decided")
        if not _standing(reading, entries[0].delta):
            raise UserError(f"The batch of version {version} was taken back already.")
        return entries[0]
    until = reading.version()
    while until > 0:
        some = reading.ledger(until=until, newest_first=True, limit=200)
        found = next((one for one in some if _made_by_persons(one.delta) and _standing(reading, one.delta)), None)
        if found is not None:
            return found
        until = some[-1].version - 1 if some else 0
    raise UserError(f"No batch of a review stands in scope '{reading.scope}', so there is nothing to take back.")


def undo_review(work: Writing, named: str = "", *, ids: IdSource, at: datetime, author: str) -> Undone:
    """Take back one batch of a review, by a delta like any other, and let its changes wait again.

    Args:
        work: a transaction on the scope.
        named: the batch, as a version or id; empty takes the newest that stands.
        ids: for the delta.
        at: the present moment.
        author: who asked for it.

    Raises:
        UserError: there is no such batch.
    """
    entry = find_batch(work, named)
    goal = work.playbook(entry.version - 1)
    then = apply(goal, entry.delta).playbook
    operations, left = _inverse(entry.delta, goal, then, work.playbook())
    changes = [change for change in _standing(work, entry.delta) if not (set(_lessons_named(change)) & set(left))]
    delta = Delta(
        ids.next(work.newest_delta_id()),
        operations,
        scope=work.scope,
        author=author,
        cause="rollback",
        at=at,
        note=f"took back the review of version {entry.version}",
        decisions=tuple(
            Decision(change=change.id, state="open", note=f"review of version {entry.version} taken back") for change in changes
        ),
    )
    admitted = work.admit(delta)
    work.amend(*map(reopened, changes))
    return Undone(
        batch=entry.delta.id,
        at_version=entry.version,
        version=admitted.version,
        reopened=tuple(change.id for change in changes),
        left=tuple(left.values()),
    )


def reopened(change: HeldChange) -> HeldChange:
    """A change that waits again, as if nothing had been decided; who spoke for it has to speak again."""
    return replace(change, state="open", decided="", batch="", voices=())


def reopen_held_again(work: Writing, gone: Collection[str]) -> None:
    """Have lessons wait again that some runs had brought into use, now that these say nothing and the lessons are held once more."""
    closed = {change.id: change for change in work.held(state="corroborated")}
    again = [
        replace(closed[one.id], voices=tuple(run for run in closed[one.id].voices if run not in gone))
        for one in work.held_lessons()
        if one.id in closed
    ]
    work.amend(*(replace(reopened(change), voices=change.voices) for change in again))


def reopen_since(work: Writing, version: int, goal: Playbook) -> tuple[tuple[Decision, ...], tuple[HeldChange, ...]]:
    """What a rollback to a version means for decisions made since: as decisions of its delta, and as changes to be kept.

    Args:
        work: before the rollback's delta is in it.
        version: that is gone back to.
        goal: the playbook as it was then.
    """
    first: dict[str, str] = {}
    for entry in work.ledger(after=version):
        for one in entry.delta.decisions:
            first.setdefault(one.change, one.state)
    if not first:
        return (), ()
    earlier: dict[str, tuple[str, str]] = {}
    if "open" in first.values():  # a review that was taken back since: its batch stands again
        for entry in work.ledger(until=version):
            earlier |= {one.change: (one.state, entry.delta.id) for one in entry.delta.decisions}
    decisions: list[Decision] = []
    changes: list[HeldChange] = []
    kept = work.held_named(first)
    for name, state in first.items():
        change = kept.get(name)
        if change is None or change.state == "refused":
            continue
        before, batch = earlier.get(name, ("open", "")) if state == "open" else ("open", "")
        lesson = lesson_id_of(change)
        if before == "open" and lesson:
            then = goal.lesson(lesson)
            if then is None or then.status != "held":
                continue  # it was proposed after that version, and goes with it
        decisions.append(Decision(change=name, state=before, note=f"back to version {version}"))
        changes.append(
            reopened(change) if before == "open" else replace(change, state=before, batch=batch, decided=f"back to version {version}")
        )
    return tuple(decisions), tuple(changes)


def _made_by_persons(delta: Delta) -> bool:
    return delta.cause == "review" and any(one.state in BY_PERSONS for one in delta.decisions)


def _standing(reading: Reading, delta: Delta) -> list[HeldChange]:
    """The changes that a batch decided and that are still as it decided them."""
    ids = [one.change for one in delta.decisions if one.state in BY_PERSONS]
    found = reading.held_named(ids)
    return [found[one] for one in ids if one in found and found[one].batch == delta.id]


def _lessons_named(change: HeldChange) -> Sequence[str]:
    operation = change.operation
    if isinstance(operation, Merge):
        return (*operation.ids, operation.into)
    return (getattr(operation, "id", "") or change.id,)


def _inverse(delta: Delta, goal: Playbook, then: Playbook, now: Playbook) -> tuple[list[Operation], dict[str, str]]:
    """The operations that undo a delta where nobody has changed the same since; and by lesson what stays, in a sentence."""
    operations: list[Operation] = []
    left: dict[str, str] = {}
    for op in delta.operations:
        if isinstance(op, Merge):
            operations += _unmerged(op, goal, then, now, left)
        elif isinstance(op, Revoke):
            operations.append(Revoke(op.ids, not op.revoked, "the review that revoked them was taken back"))
        elif isinstance(op, Observe):
            left[op.name] = f"a number for '{op.name}' stays; revoke it by hand: tenure revoke"
    for name in _touched(delta, goal, then):
        before, after, present = goal.lesson(name), then.lesson(name), now.lesson(name)
        if after is None or present is None or after == before:
            continue
        operations += _back(name, before, after, present, left)
    return operations, left


def _touched(delta: Delta, goal: Playbook, then: Playbook) -> list[str]:
    """Lessons whose words or standing a delta can have changed."""
    named = {op.into if isinstance(op, Merge) else op.id for op in delta.operations if not isinstance(op, Add | Observe | Revoke)}
    if any(isinstance(op, Add) for op in delta.operations):
        known: Collection[str] = goal.records.keys()
        named |= {lesson.id for lesson in then.every_lesson if lesson.id not in known}
    return sorted(named)


def _back(name: str, before: Lesson | None, after: Lesson, present: Lesson, left: dict[str, str]) -> Iterator[Operation]:
    if before is None:
        if present.status != "retired":
            yield Retire(name, "the review that added it was taken back")
        return
    changed = [field for field in _FIELDS if getattr(before, field) != getattr(after, field)]
    mine = [field for field in changed if getattr(present, field) == getattr(after, field)]
    if len(mine) < len(changed):
        left[name] = f"lesson '{name}': its {', '.join(sorted(set(changed) - set(mine)))} was changed since, and stays"
    if mine:
        yield Update(name, **{field: getattr(before, field) for field in mine})
    if before.pinned != after.pinned and present.pinned == after.pinned:
        yield Pin(name, before.pinned)
    if before.status == after.status:
        return
    if present.status != after.status and not (present.live and after.live):
        left[name] = f"lesson '{name}' is {present.status} since, and stays so"
    elif before.status == "held":
        yield Update(name, status="held")
    elif before.status == "retired":
        yield Retire(name, "as before the review")
    else:
        yield Restore(name, status=before.status)


def _unmerged(op: Merge, goal: Playbook, then: Playbook, now: Playbook, left: dict[str, str]) -> Iterator[Operation]:
    for name in op.ids:
        pointed = target_of(then, name)
        if pointed is None or pointed == target_of(goal, name):
            continue
        if target_of(now, name) != pointed:
            left[name] = f"lesson '{name}' was merged elsewhere since, and stays so"
            continue
        earlier = target_of(goal, name)
        yield Merge((name,), earlier, reason="as before") if earlier else Restore(name, unmerge=True)
