"""The ledger read back: what changed between versions, who wrote a word, and how to go back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tenure.errors import UnknownLesson, UnknownVersion
from tenure.playbook.aggregates import DEFAULT_SHOW, aggregate_id, place_of
from tenure.playbook.apply import apply
from tenure.playbook.delta import Add, Delta, Merge, Observe, Operation, Pin, Restore, Retire, Revoke, Tally, Update
from tenure.playbook.folding import fold, folding_key
from tenure.playbook.lessons import TALLY_NAMES, Lesson, lesson_id, normalised, section_name
from tenure.playbook.records import is_held_by, root_of, target_of
from tenure.playbook.state import Playbook
from tenure.playbook.tables import table_block
from tenure.playbook.wellformed import storable
from tenure.ports import Admitted, IdSource, LedgerEntry, Reading, Writing

_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How one lesson differs between two versions.

    Attributes:
        id: the lesson.
        before, after: as it was; none where it was not there.
        change: `added`, `retired`, `restored`, `merged`, `changed`, `counted` or `removed`.
    """

    id: str
    before: Lesson | None
    after: Lesson | None
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """One delta that touched a lesson.

    Attributes:
        entry: the delta in the ledger.
        operations: those of its operations that concern the lesson.
    """

    entry: LedgerEntry
    operations: tuple[Operation, ...]


def find_version(reading: Reading, named: str) -> int:
    """The arrival number that a number, a delta id or `-N` (N deltas before the newest) stands for.

    Raises:
        UnknownVersion: there is no such version.
    """
    newest = reading.version()
    text = named.strip()
    if _NUMBER.fullmatch(text):
        number = int(text)
        version = newest + number if text.startswith("-") else number
        if 0 <= version <= newest:
            return version
    else:
        found = reading.version_of(text) if storable(text) else None
        if found is not None:
            return found
    raise UnknownVersion(named, scope=reading.scope, newest=newest)


def find_lesson(reading: Reading, named: str) -> Lesson:
    """The lesson that an id, or the beginning of one, stands for.

    Raises:
        UnknownLesson: none does, or more than one.
    """
    ids = reading.resolve(named.strip()) if storable(named) else ()
    found = {lesson.id: lesson for lesson in map(reading.lesson, ids) if lesson is not None}
    if len(found) == 1:
        return next(iter(found.values()))
    raise UnknownLesson(named, scope=reading.scope, candidates=tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDifference:
    """How one aggregate differs between two versions.

    Attributes:
        id: the aggregate.
        section, name: where it stands and what it is called.
        before, after: its table as text; empty where nothing counted in it.
    """

    id: str
    section: str
    name: str
    before: str
    after: str


def compare_tables(before: Playbook, after: Playbook) -> tuple[TableDifference, ...]:
    """How the aggregates of two versions differ, sorted by section and name."""
    old, new = ({one.id: one for one in book.aggregates} for book in (before, after))
    found = [
        TableDifference(id=one, section=table.section, name=table.name, before=was, after=now)
        for one, table in {**old, **new}.items()
        if (was := table_block(old[one]) if one in old else "") != (now := table_block(new[one]) if one in new else "")
    ]
    return tuple(sorted(found, key=lambda one: (one.section, one.name)))


def blame_aggregate(reading: Reading, aggregate: str) -> tuple[Blame, ...]:
    """The deltas that touched an aggregate, oldest first. Cost follows the ledger."""
    found: list[Blame] = []
    for entry in reading.ledger():
        mine = tuple(op for op in entry.delta.operations if isinstance(op, Observe | Revoke) and aggregate in _aggregates_of(reading, op))
        if mine:
            found.append(Blame(entry=entry, operations=mine))
    return tuple(found)


def _aggregates_of(reading: Reading, op: Observe | Revoke) -> set[str]:
    if isinstance(op, Observe):
        return {aggregate_id(*place_of(op.section, op.name))}
    held = filter(None, map(reading.observed, op.ids))
    return {aggregate_id(one.section, one.name) for one in held}


def unlike_ledger(reading: Reading, *, tell: Callable[[int], None] | None = None) -> tuple[str, ...]:
    """Ids of lessons that do not read as the ledger says, sorted: nobody can have changed them but in the database itself.

    Args:
        reading: the scope. Cost follows its ledger.
        tell: called now and then with the number of deltas read.
    """
    merged = reading.merged()
    # Where ledgers were put together, the order of ids holds; so far all have to be at hand.
    first = sorted(reading.ledger(until=merged), key=lambda one: folding_key(one.version, one.delta.id, one.digest, merged))
    book, after = fold(entry.delta for entry in first).playbook, merged
    while entries := reading.ledger(after=after, limit=1_000):
        for entry in entries:
            book = apply(book, entry.delta).playbook
        after = entries[-1].version
        if tell is not None:
            tell(after)
    told = {lesson.id: lesson for lesson in book.every_lesson}
    stored = {lesson.id: lesson for lesson in reading.lessons(live=False)}
    return tuple(sorted(one for one in {*told, *stored} if told.get(one) != stored.get(one)))


def compare(before: Playbook, after: Playbook) -> tuple[Difference, ...]:
    """How the lessons of two versions differ, sorted by id."""
    old = {lesson.id: lesson for lesson in before.every_lesson}
    new = {lesson.id: lesson for lesson in after.every_lesson}
    joined = {lesson_id for lesson in after.every_lesson for lesson_id in lesson.merged}
    found = (_difference(lesson_id, old.get(lesson_id), new.get(lesson_id), joined) for lesson_id in sorted(old.keys() | new.keys()))
    return tuple(one for one in found if one is not None)


def _difference(lesson_id: str, before: Lesson | None, after: Lesson | None, joined: set[str]) -> Difference | None:
    if before == after:
        return None
    if before is None:
        change = "added"
    elif after is None:
        change = "merged" if lesson_id in joined else "removed"
    elif before.live != after.live and "held" not in (before.status, after.status):
        change = "restored" if after.live else "retired"
    elif (before.text, before.applies_when, before.status, before.pinned, before.merged) != (
        after.text,
        after.applies_when,
        after.status,
        after.pinned,
        after.merged,
    ):
        change = "changed"
    else:
        change = "counted"
    return Difference(id=lesson_id, before=before, after=after, change=change)


def blame(reading: Reading, lesson_id: str) -> tuple[Blame, ...]:
    """The deltas that touched a lesson or an alias of it, oldest first."""
    root = root_of(reading, lesson_id)
    found: list[Blame] = []
    for entry in reading.ledger():
        mine = tuple(op for op, named in _named_by(reading, entry.delta) if any(root_of(reading, one) == root for one in named))
        if mine:
            found.append(Blame(entry=entry, operations=mine))
    return tuple(found)


def _named_by(reading: Reading, delta: Delta) -> list[tuple[Operation, list[str]]]:
    """Each operation with the ids it concerns; an ADD concerns the records its delta created."""
    named: list[tuple[Operation, list[str]]] = []
    seen: dict[tuple[str, str], int] = {}
    for op in delta.operations:
        if isinstance(op, Add):
            section = section_name(op.section, op.kind or "strategy")
            count = seen.get((section, normalised(op.text)), 0)
            seen[section, normalised(op.text)] = count + 1
            ids = [lesson_id(delta.id, section, op.text, count)] + ([op.id] if op.id else [])
        elif isinstance(op, Merge):
            ids = [op.into, *op.ids]
        elif isinstance(op, Observe | Revoke):
            continue
        else:
            ids = [op.id]
        named.append((op, [one for one in ids if reading.record(one) is not None]))
    return named


def rollback(work: Writing, version: int, *, ids: IdSource, at: datetime, author: str) -> Admitted:
    """Bring a scope back to an earlier version, by a delta like any other: the history stays, and it can be undone.

    Args:
        work: a transaction on the scope.
        version: to go back to; 0 is the empty playbook.
        ids: for the delta.
        at: the present moment.
        author: who asked for it.
    """
    from tenure.learning.taking_back import reopen_since  # which finds versions here

    goal = work.playbook(version)
    operations = undo(goal, work.playbook())
    decisions, changes = reopen_since(work, version, goal)
    delta = Delta(
        ids.next(work.newest_delta_id()),
        operations,
        scope=work.scope,
        author=author,
        cause="rollback",
        at=at,
        note=f"back to version {version}",
        decisions=decisions,
    )
    admitted = work.admit(delta)
    work.amend(*changes)
    return admitted


CAME_AFTER = "it came after the version that was rolled back to"
"""Why a rollback takes out what came since."""


def undo(goal: Playbook, now: Playbook, *, reason: str = CAME_AFTER) -> tuple[Operation, ...]:
    """The operations that make a playbook read like an earlier one.

    Lessons that came since are retired, never deleted. Counts are taken back, merges undone.

    Args:
        goal, now: the playbooks.
        reason: why what came since is taken out.
    """
    operations = [*_pointers(goal, now), *_newcomers(goal, now, reason)]
    # What still differs is judged with the pointers back in place; the real delta's id will be above all there is.
    now = apply(now, Delta(_above_all(now), operations)).playbook
    for lesson in now.every_lesson:
        if goal.record(lesson.id) is None and lesson.live:
            operations.append(Retire(lesson.id, reason))
        elif goal.record(lesson.id) is None and lesson.status == "held":
            operations.append(Retire(lesson.id, reason.replace("it came", "it was proposed")))
    for lesson in goal.every_lesson:
        operations.extend(_values(lesson, now))
    operations.extend(_counts(goal, now))
    operations.extend(_numbers(goal, now, reason))
    return tuple(operations)


def _above_all(now: Playbook) -> str:
    """A delta id above all that wrote to a playbook, whatever their form."""
    written = (register.stamp.delta for record in now.records.values() for register in record.registers.values())
    return f"{max(written, default='')}~"


def _pointers(goal: Playbook, now: Playbook) -> list[Operation]:
    """Point each record to where it pointed, where that changed; a root to nothing, so that no cycle has to be broken."""
    found: list[Operation] = []
    for key in sorted(goal.records):
        before = target_of(goal, key) if root_of(goal, key) != key else None
        present = target_of(now, key)
        if key not in now.records or before == present:
            continue
        found.append(Merge((key,), before, reason="as before") if before else Restore(key, unmerge=True))
    return found


def _newcomers(goal: Playbook, now: Playbook, reason: str) -> list[Operation]:
    """Take back texts that came since and joined a lesson that was there before."""
    found: list[Operation] = []
    for key in sorted(now.records):
        record = now.records[key]
        if goal.record(key) is not None or root_of(now, key) == key:
            continue
        if record.admission is not None and is_held_by(now, key, record.admission.name):
            # An import and its name are one: it cannot leave a name that was there before, only what it brought can.
            if record.tallies and goal.record(record.admission.name) is not None:
                found.append(Tally(key, **{name: -getattr(record.tallies, name) for name in TALLY_NAMES}))
            continue
        found.extend((Restore(key, unmerge=True), Retire(key, reason)))
    return found


def _values(lesson: Lesson, now: Playbook) -> list[Operation]:
    present = now.lesson(lesson.id)
    if present is None or present == lesson:
        return []
    found: list[Operation] = []
    if lesson.status == "retired" and present.status != "retired":
        found.append(Retire(lesson.id, "it was retired at the version that was rolled back to"))
    elif lesson.live and lesson.status != present.status:
        found.append(Restore(lesson.id, status=lesson.status))
    elif lesson.status == "held" and present.status != "held":
        found.append(Update(lesson.id, status="held"))
    changed = {
        name: getattr(lesson, name)
        for name in ("text", "applies_when", "verdict", "kind", "about", "revision")
        if getattr(lesson, name) != getattr(present, name) or present.id != lesson.id
    }
    if changed:
        found.append(Update(lesson.id, **changed))
    if lesson.pinned != present.pinned:
        found.append(Pin(lesson.id, lesson.pinned))
    return found


def _counts(goal: Playbook, now: Playbook) -> list[Operation]:
    found: list[Operation] = []
    for key in sorted(now.records):
        record, earlier = now.records[key], goal.record(key)
        if earlier is None or record.tallies == earlier.tallies:
            continue
        difference = earlier.tallies - record.tallies
        found.append(Tally(key, **{name: getattr(difference, name) for name in TALLY_NAMES}))
    return found


def _numbers(goal: Playbook, now: Playbook, reason: str) -> list[Operation]:
    """Make the observations count as they did: those that came since are revoked, the others read as before."""
    found: list[Operation] = []
    since: list[str] = []
    back: list[str] = []
    out: list[str] = []
    for one, held in sorted(now.observations.by_id.items()):
        earlier = goal.observed(one)
        if earlier is None:
            since += [one] if held.counts else []
            continue
        if earlier.counts != held.counts:
            (back if earlier.counts else out).append(one)
        if earlier.said.value != held.said.value:
            value, unit, origin, _, at = earlier.said.value
            found.append(
                Observe(held.section, held.name, value, unit, held.key, run=held.run, step=held.step, mark=held.mark, origin=origin, at=at)
            )
    found += [Revoke(since, reason=reason)] if since else []
    found += [Revoke(out, reason="it was revoked at the version that was rolled back to")] if out else []
    found += [Revoke(back, revoked=False, reason="as before")] if back else []
    for aggregate, shown in sorted(now.observations.shown.items()):
        earlier_shown = goal.shown(aggregate)
        columns = tuple(earlier_shown.register.value) if earlier_shown is not None else DEFAULT_SHOW
        if columns != tuple(shown.register.value):
            found.append(Observe(shown.section, shown.name, show=columns))
    return found
