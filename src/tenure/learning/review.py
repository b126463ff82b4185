"""The review queue: changes that wait for a person, and what the person decides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenure.errors import UserError
from tenure.governance.admission import admit
from tenure.governance.redaction import redact_operations
from tenure.learning.corroborating import held_lesson
from tenure.learning.duplicates import conflicts_of
from tenure.learning.upkeep import raise_bounds
from tenure.playbook.delta import Add, Decision, Delta, Operation, Receipt, Restore, Retire, Update
from tenure.playbook.likeness import Conflict, conflicts, read
from tenure.ports import HeldChange, IdSource, Reading, Writing
from tenure.settings import read_settings


def held_changes(reading: Reading) -> tuple[HeldChange, ...]:
    """Everything that waits: held operations, and lessons that stand in the playbook as held, oldest first.

    A queued lesson that came into use, or was retired, by another way waits no more.
    """
    lessons = {lesson.id: lesson for lesson in reading.held_lessons()}
    waiting: list[HeldChange] = []
    for change in reading.held():
        name = lesson_id_of(change)
        lesson = lessons.pop(name, None) if name else None
        if lesson is not None and isinstance(change.operation, Add):
            change = replace(change, operation=held_lesson(lesson).operation)  # noqa: PLW2901  # as it reads now
        if lesson is not None or not name or isinstance(change.operation, Restore):
            waiting.append(change)
    waiting += map(held_lesson, lessons.values())
    return tuple(sorted(waiting, key=lambda change: (change.at, change.id)))


def lesson_id_of(change: HeldChange) -> str:
    """The lesson that stands in the playbook as held for a change; empty if the change is no such lesson."""
    operation = change.operation
    if isinstance(operation, Add) and operation.id == change.id:
        return change.id
    return operation.id if isinstance(operation, Restore) else ""


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


def find_held(reading: Reading, named: str, *, waiting: Sequence[HeldChange] | None = None) -> HeldChange:
    """The held change that an id, its beginning or its end, or its number in the list (from 1) stands for.

    Args:
        reading: the scope.
        named: as a person typed it.
        waiting: the whole list, where it is known.

    Raises:
        UserError: none does, or more than one.
    """
    waiting = held_changes(reading) if waiting is None else waiting
    if not named.strip():  # it would fit every one, and approve what nobody chose
        raise UserError("Name a held change by its number or id. See: tenure review list")
    if named.isdecimal() and len(named) < 20 and 1 <= int(named) <= len(waiting):
        return waiting[int(named) - 1]
    found = [change for change in waiting if change.id == named] or [c for c in waiting if c.id.startswith(named) or c.id.endswith(named)]
    if len(found) == 1:
        return found[0]
    why = f"fits {len(found)} held changes" if found else "is no held change"
    raise UserError(f"'{named}' {why} in scope '{reading.scope}'. See them with their numbers: tenure review list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a person decides of one held change.

    Attributes:
        change: as it waits.
        state: `approved`, `edited` (approved in other words) or `rejected`.
        text, applies_when: for `edited`, what it is to say; none leaves it.
        note: why, for those who read the log.
    """

    change: HeldChange
    state: str
    text: str | None = None
    applies_when: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What came of a batch of rulings.

    Attributes:
        batch: id of the delta that all of them are; empty if none could be carried out.
        version: its arrival number.
        receipts: one for each ruling, in their order; `skipped` with the reason for one that was left open.
        warnings: a sentence for each text of the person's own that a learned lesson could not have.
    """

    batch: str = ""
    version: int | None = None
    receipts: tuple[Receipt, ...] = ()
    warnings: tuple[str, ...] = ()


def decide(work: Writing, rulings: Sequence[Ruling], *, ids: IdSource, at: datetime, author: str, anyway: bool = False) -> Decided:
    """Carry out a person's rulings as one delta, which tells each of them and which one step takes back.

    Args:
        work: a transaction on the scope.
        rulings: at most one for a change.
        ids: for the delta.
        at: the present moment.
        author: who decides.
        anyway: approve also what admission would refuse today. Who reads a screen cannot see a hidden character.
    """
    held = {lesson.id for lesson in work.held_lessons()}
    operations: list[Operation] = []
    places: list[int | Receipt] = []
    warnings: list[str] = []
    done: list[Ruling] = []
    for ruling in rulings:
        mine = redact_operations(_carried_out(ruling, held))
        problem = "" if anyway or ruling.state != "approved" else refusal_of(ruling.change)
        if problem:
            places.append(Receipt("skipped", f"left open: {problem}", ruling.change.id))
            continue
        if ruling.state == "edited":
            decisions = (admit(operation, author_trusted=True) for operation in mine)
            warnings += [f"'{ruling.change.id}': {one.reason}" for one in decisions if one.reason]
        places.append(len(operations) + len(mine) - 1 if mine else Receipt("applied", "closed", ruling.change.id))
        operations += mine
        done.append(ruling)
    if not done:
        return Decided(receipts=tuple(one for one in places if isinstance(one, Receipt)))
    delta = Delta(
        ids.next(work.newest_delta_id()),
        operations,
        scope=work.scope,
        author=author,
        cause="review",
        at=at,
        note=_summary(done),
        decisions=tuple(Decision(change=one.change.id, state=one.state, note=one.note) for one in done),
    )
    admitted = work.admit(delta)
    raise_bounds(work, read_settings(work.setting))
    who = f"{author} at {at.isoformat()}"
    work.amend(*(replace(one.change, state=one.state, decided=f"{who}: {one.note}" if one.note else who, batch=delta.id) for one in done))
    receipts = tuple(admitted.receipts[place] if isinstance(place, int) else place for place in places)
    return Decided(batch=delta.id, version=admitted.version, receipts=receipts, warnings=tuple(warnings))


def refusal_of(change: HeldChange) -> str:
    """Why admission would refuse the words of a held change today; empty if it would not."""
    decision = admit(change.operation, basis="person")
    return decision.reason if decision.action == "refuse" else ""


def _carried_out(ruling: Ruling, held: Collection[str]) -> tuple[Operation, ...]:
    """The operations that a ruling is."""
    operation, lesson = ruling.change.operation, lesson_id_of(ruling.change)
    standing = lesson in held
    if ruling.state == "rejected":
        return (Retire(lesson, ruling.note or "rejected in review"),) if standing else ()
    if ruling.state == "approved":
        if standing:
            return (Restore(lesson),)
        return (replace(operation, status="active") if isinstance(operation, Add) and operation.status == "held" else operation,)
    if standing:
        return (Update(lesson, text=ruling.text, applies_when=ruling.applies_when), Restore(lesson))
    if isinstance(operation, Add):
        text, when = ruling.text or operation.text, operation.applies_when if ruling.applies_when is None else ruling.applies_when
        return (replace(operation, text=text, applies_when=when, status="active"),)
    if isinstance(operation, Update):
        text_now = operation.text if ruling.text is None else ruling.text
        return (
            replace(operation, text=text_now, applies_when=operation.applies_when if ruling.applies_when is None else ruling.applies_when),
        )
    raise UserError(f"Change '{ruling.change.id}' has no text to edit. Approve it, or reject it.")


def _summary(rulings: Sequence[Ruling]) -> str:
    """What a batch decides, in a line for the log."""
    found: dict[str, list[str]] = {}
    for one in rulings:
        found.setdefault(one.state, []).append(one.change.id)
    told = [
        f"{state} {', '.join(ids[:NAMED])}{f' and {len(ids) - NAMED} more' if len(ids) > NAMED else ''}" for state, ids in found.items()
    ]
    return "; ".join(told)


NAMED = 5
"""Changes named in the note of a batch; its decisions have all."""


def approve(work: Writing, changes: Sequence[HeldChange], *, ids: IdSource, at: datetime, author: str) -> tuple[Receipt, ...]:
    """Carry out held changes, in one delta of the reviewer's that one step takes back."""
    return decide(work, [Ruling(change=one, state="approved") for one in changes], ids=ids, at=at, author=author).receipts


def reject(work: Writing, changes: Sequence[HeldChange], *, ids: IdSource, at: datetime, author: str, reason: str = "") -> None:
    """Close held changes without carrying them out; held lessons are retired. Their texts stay readable."""
    decide(work, [Ruling(change=one, state="rejected", note=reason) for one in changes], ids=ids, at=at, author=author)
