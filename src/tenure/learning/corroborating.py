"""What strangers wrote comes into use when independent trusted origins say the same. The rule is in design/taint.md.

Nothing here is asked of a model: a run says what passed admission from it, and two statements are the same if their
normal forms agree (see `playbook.statements`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenure.governance.admission import admit
from tenure.playbook.delta import Add, Decision, Operation, Restore, Tally, Update
from tenure.playbook.lessons import Evidence, Lesson, section_name, text_digest
from tenure.playbook.origins import independent
from tenure.playbook.records import group_key, root_of
from tenure.playbook.refine import learned
from tenure.playbook.run import Run
from tenure.playbook.statements import lesson_of, proposal_key, statement_key
from tenure.ports import HeldChange, Reading
from tenure.roles.reflection import Insight

VOICES_NEEDED = 2
"""Independent trusted origins that release a held lesson; as many as make a lesson of their own active."""

TAINTED = "untrusted-source"
"""The rule of admission whose holds can be released so. What touches a person's lesson, or pins one, waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corroboration:
    """What a run means for changes that wait.

    Attributes:
        operations: for the run's delta: lessons released, and the places where a run says the same as one that still waits.
        decisions: for the same delta, one for each change that waits no more.
        changes: held changes as they are to be kept.
        told: a sentence for each, for the note of the delta.
        released: how many lessons came into use.
    """

    operations: tuple[Operation, ...] = ()
    decisions: tuple[Decision, ...] = ()
    changes: tuple[HeldChange, ...] = ()
    told: tuple[str, ...] = ()
    released: int = 0


def statements_of(passed: Iterable[Operation], insights: Iterable[Insight]) -> tuple[Lesson, ...]:
    """What a run says by itself: its lessons that passed admission, and what plain code read from its structure or its persons.

    Args:
        passed: operations of the run after admission.
        insights: of plain code; those that may be a stranger's, and those that admission would refuse, say nothing.
    """
    said = [lesson_of(add) for add in _speaking(passed)]
    for insight in insights:
        add = Add(
            insight.section,
            insight.text,
            applies_when=insight.applies_when,
            kind=insight.kind,
            avoid=insight.avoid,
            tool_order=insight.tool_order,
            about=insight.about,
            evidence=insight.evidence,
        )
        if insight.text.strip() and admit(add, basis=insight.basis).action == "pass":
            said.append(lesson_of(add))
    return tuple(said)


def corroborate(
    reading: Reading, run: Run, *, said: Sequence[Lesson], passed: Sequence[Operation], used: Sequence[Lesson], delta: str, at: datetime
) -> Corroboration:
    """What a run of a trusted origin means for lessons and changes that wait; nothing for any other.

    Args:
        reading: the scope; the run is kept already.
        run: whose delta is being made.
        said: see `statements_of`.
        passed: its operations after admission.
        used: lessons that the run was shown or named: who was told something only repeats it.
        delta: id of the run's delta.
        at: the present moment.
    """
    if not run.origin.trusted:
        return Corroboration()
    found = Corroboration()
    told = {statement_key(lesson) for lesson in used}
    own = {held.id: held for held in (_held_with_text(reading, add) for add in _speaking(passed)) if held is not None}
    for equal in own.values():
        words = f"run {run.id} of the trusted origin {run.origin.name} says it in the same words"
        found = _closed(found, _change_of(reading, equal), words, delta, at, released=1)
    keys = {key: lesson for lesson in said if (key := statement_key(lesson)) not in told}
    names = reading.held_saying(keys)
    lessons, queued = reading.named(names), reading.held_named(names)
    for name in names:
        held: Lesson | None = lessons.get(name)
        waiting = queued.get(name)
        if held is not None and name not in own and held.status == "held" and was_tainted(reading, held):
            found = _heard(found, reading, run, held, _change_of(reading, held), keys[statement_key(held)], delta, at)
        elif held is None and waiting is not None and waiting.state == "open" and waiting.rule == TAINTED:
            found = _heard(found, reading, run, None, waiting, keys[proposal_key(waiting.operation)], delta, at)
    for op in passed:
        for name in reading.held_saying([proposal_key(op)]) if not isinstance(op, Add) else ():
            same = reading.held_change(name)
            if same is not None and same.state == "open" and same.rule == TAINTED:
                words = f"run {run.id} of the trusted origin {run.origin.name} proposed the same, and it was carried out"
                found = _closed(found, same, words, delta, at, released=0)
    return found


def _heard(
    found: Corroboration, reading: Reading, run: Run, held: Lesson | None, change: HeldChange, said: Lesson, delta: str, at: datetime
) -> Corroboration:
    """One more run that says what a held lesson says, or what a queued ADD, of which there is no lesson, would say."""
    rests_on = held.evidence if held is not None else getattr(change.operation, "evidence", ())
    if run.id in {*change.voices, change.run, *(place.run for place in rests_on if place.role != "corroborates")}:
        return found
    voices = (*change.voices, run.id)
    revoked = set(reading.revoked_runs()) if change.voices else set()
    speakers = independent(one for one in (*map(reading.run, change.voices), run) if one is not None and one.id not in revoked)
    step = max((place.step for place in said.evidence if place.run == run.id), default=-1)
    place = Evidence(run=run.id, step=step, role="corroborates")
    if len(speakers) < VOICES_NEEDED:
        return replace(
            found,
            operations=(*found.operations, *([Tally(held.id, evidence=(place,))] if held is not None else [])),
            changes=(*found.changes, replace(change, voices=voices)),
            told=(
                *found.told,
                f"held '{change.id}' is said by this run too: {len(speakers)} of {VOICES_NEEDED} independent trusted origins",
            ),
        )
    released: list[Operation] = []
    if held is not None:
        # What strangers' runs counted is taken back: support is by those who vouch.
        released += [
            Restore(held.id, status="provisional"),
            Tally(held.id, support=len(speakers) - held.tallies.support, evidence=(place,)),
        ]
    elif isinstance(change.operation, Add):
        released.append(replace(change.operation, status="provisional", evidence=(*change.operation.evidence, place)))
    words = " and ".join(f"run {one.id} of {one.origin.name}" for one in speakers)
    found = replace(found, operations=(*found.operations, *released))
    return _closed(found, replace(change, voices=voices), f"independent trusted origins say the same: {words}", delta, at, released=1)


def _closed(found: Corroboration, change: HeldChange, words: str, delta: str, at: datetime, *, released: int) -> Corroboration:
    decided = replace(change, state="corroborated", decided=f"corroborated at {at.isoformat()}: {words}", batch=delta)
    return replace(
        found,
        decisions=(*found.decisions, Decision(change=change.id, state="corroborated", note=words)),
        changes=(*found.changes, decided),
        told=(*found.told, f"released '{change.id}': {words}" if released else f"'{change.id}' waits no more: {words}"),
        released=found.released + released,
    )


def _change_of(reading: Reading, held: Lesson) -> HeldChange:
    """The place of a held lesson in the review queue; made up for one that has none."""
    kept = reading.held_change(held.id)
    return kept if kept is not None else held_lesson(held)


def held_lesson(lesson: Lesson, reason: str = "it was admitted as held") -> HeldChange:
    """A lesson that stands in the playbook as held, as a change that waits."""
    operation = Add(
        lesson.section,
        lesson.text,
        id=lesson.id,
        applies_when=lesson.applies_when,
        kind=lesson.kind,
        status="held",
        avoid=lesson.avoid,
        tool_order=lesson.tool_order,
        about=lesson.about,
        evidence=lesson.evidence,
        origin=lesson.origin,
        author=lesson.author,
    )
    run = lesson.evidence[0].run if lesson.evidence else ""
    return HeldChange(
        id=lesson.id, operation=operation, reason=reason, author=lesson.author, run=run, at=lesson.created, origin=lesson.origin
    )


def was_tainted(reading: Reading, lesson: Lesson) -> bool:
    """Whether a held lesson waits because of whose words it is made of, and for no decision of a person."""
    kept = reading.held_change(lesson.id)
    if kept is not None and kept.state == "open":
        return kept.rule == TAINTED
    # Of an earlier Tenure, or from a file: born held by learning, and nobody has touched its standing since.
    record = reading.record(lesson.id)
    untouched = record is not None and record.admission is not None and record.admission.status == "held" and "life" not in record.registers
    return kept is None and untouched and learned(lesson)


def _held_with_text(reading: Reading, add: Add) -> Lesson | None:
    """The held lesson that an ADD becomes one with, because its text is the same."""
    members = reading.group(group_key(section_name(add.section, add.kind or "strategy"), text_digest(add.text)))
    lesson = reading.lesson(root_of(reading, members[0].key)) if members else None
    return lesson if lesson is not None and lesson.status == "held" else None


def _speaking(passed: Iterable[Operation]) -> Iterator[Add]:
    return (op for op in passed if isinstance(op, Add) and op.status != "held" and op.text.strip())


def with_too_few_voices(reading: Reading, gone: Collection[str]) -> tuple[Update, ...]:
    """Operations that hold lessons again which came into use by voices of which too few are left.

    Args:
        reading: the playbook as it is.
        gone: ids of the runs that say nothing any more.
    """
    silent = {*gone, *reading.revoked_runs()}
    found: list[Update] = []
    for change in reading.held(state="corroborated"):
        lesson = reading.lesson(change.id) if not silent.isdisjoint(change.voices) else None
        left = (reading.run(one) for one in change.voices if one not in silent)
        if lesson is not None and lesson.live and len(independent(one for one in left if one is not None)) < VOICES_NEEDED:
            found.append(Update(lesson.id, status="held"))
    return tuple(found)
