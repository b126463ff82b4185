"""What admission says of a shared ledger once it is folded: what would come into use is judged by all of its words.

Not single operations are judged, because the words of a lesson and its standing may come in several, and in several imports.
What does not pass is held, or, if it is a figure, taken out of its table, by a delta that goes back with the next exchange.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenure.governance.admission import Decision, admit
from tenure.governance.grants import find_grant
from tenure.learning.corroborating import held_lesson
from tenure.playbook.apply import added_keys
from tenure.playbook.delta import Add, Delta, Observe, Operation, Revoke, Update
from tenure.playbook.lessons import Lesson
from tenure.playbook.observing import observation_ids
from tenure.playbook.run import UNTRUSTED
from tenure.ports import IdSource, Reading, Writing

APPROVED = frozenset({"approved", "edited", "corroborated"})
"""Decisions that bring a held lesson into use."""


@dataclass(frozen=True, slots=True)
class Before:
    """What stood in the scope before a ledger was taken in.

    Attributes:
        lessons: all that were not retired away, by id.
        said: the words of those that were in use.
    """

    lessons: Mapping[str, Lesson]
    said: frozenset[tuple[str, ...]]

    @property
    def live(self) -> frozenset[str]:
        """Ids of lessons that were in use."""
        return frozenset(one.id for one in self.lessons.values() if one.live)


def standing(reading: Reading) -> Before:
    """What stands in a scope."""
    lessons = {one.id: one for one in reading.lessons(live=False)}
    return Before(lessons, frozenset(words(one) for one in lessons.values() if one.live))


def words(lesson: Lesson) -> tuple[str, ...]:
    """All that an agent is told by a lesson, and whose words it is."""
    return (lesson.text, lesson.applies_when, lesson.avoid, lesson.section, lesson.about, *lesson.tool_order, lesson.origin[-12:])


def hold_what_fails(
    work: Writing, came: Sequence[Delta], before: Before, *, shortened: Collection[str], ids: IdSource, at: datetime, name: str
) -> dict[str, Decision]:
    """Have wait what admission does not let pass here.

    Args:
        work: the scope, in which the links stand already.
        came: the deltas that came in.
        before: what stood there before.
        shortened: texts of which a tombstone took out more than redaction does here: they may say something else now.
        ids: for the delta that holds.
        at: the present moment.
        name: of the file, for the note.

    Returns:
        Why, by lesson or observation.
    """
    waiting = _lessons_that_fail(work, came, before, shortened)
    figures = _figures_that_fail(work, came)
    if not waiting and not figures:
        return {}
    why = {one: decision for one, (_, decision) in waiting.items()} | figures
    operations: list[Operation] = [Update(one, status="held") for one in sorted(waiting)]
    if figures:
        operations.append(Revoke(tuple(sorted(figures)), reason="admission does not let it pass"))
    rules = ", ".join(sorted({one.rule for one in why.values()}))
    note = f"held what came with {name} and admission does not let pass: {rules}"
    work.admit(Delta(ids.next(work.newest_delta_id()), operations, scope=work.scope, author="import", cause="import", at=at, note=note))
    for lesson, decision in waiting.values():
        work.hold(replace(held_lesson(lesson), reason=decision.reason, rule=decision.rule, at=at.isoformat()))
    return {one: why[one] for one in sorted(why)}


def _lessons_that_fail(
    work: Writing, came: Sequence[Delta], before: Before, shortened: Collection[str]
) -> dict[str, tuple[Lesson, Decision]]:
    approved = {one.change for delta in came for one in delta.decisions if one.state in APPROVED}
    approved |= {lesson.id for lesson in work.named(approved).values()} | _made(work, came, approved)
    found: dict[str, tuple[Lesson, Decision]] = {}
    for lesson in work.lessons():
        if words(lesson) in before.said:
            continue
        decision = _judged(lesson, shortened)
        if decision.action == "pass":
            continue
        # What would be refused can be approved by whoever saw that it was held here, and by nobody beforehand.
        was = before.lessons.get(lesson.id)
        seen = was is not None and was.status == "held" and words(was) == words(lesson)
        if lesson.id not in approved or (decision.action == "refuse" and not seen):
            found[lesson.id] = (lesson, decision)
    return found


def _made(work: Writing, came: Iterable[Delta], approved: Collection[str]) -> set[str]:
    """Lessons that an approved ADD became one with."""
    keys = {key for delta in came for key in added_keys(delta).values() if key in approved}
    return {lesson.id for key in keys if (lesson := work.lesson(key)) is not None}


def _judged(lesson: Lesson, shortened: Collection[str]) -> Decision:
    """What admission says of a lesson that was admitted elsewhere.

    Nobody here saw the text: what would be refused from a stranger waits, whoever is said to have written it. What was learned
    from an untrusted origin waits unless a person there approved it.
    """
    operation = replace(_as_added(lesson), status="active")
    decision = admit(operation, basis="untrusted" if lesson.origin.endswith(UNTRUSTED) else "person")
    if decision.action != "pass":
        return decision
    said = "\n".join(part for part in (lesson.text, lesson.applies_when, lesson.avoid, lesson.section) if part)
    granted = find_grant(said)
    if granted is not None:
        return Decision(action="hold", reason=granted.reason, rule=granted.rule)
    if not {lesson.text, lesson.applies_when, lesson.avoid, lesson.section}.isdisjoint(shortened):
        told = "another installation took words out of it that redaction leaves here: it may say something else now"
        return Decision(action="hold", reason=told, rule="protected-lesson")
    return decision


def _as_added(lesson: Lesson) -> Add:
    operation = held_lesson(lesson).operation
    assert isinstance(operation, Add)
    return operation


def _figures_that_fail(work: Writing, came: Iterable[Delta]) -> dict[str, Decision]:
    """Observations that count, and whose name, key or unit does not pass: told by what came, or put back by it."""
    told: dict[str, Decision] = {}
    back: set[str] = set()
    for delta in came:
        names = observation_ids(delta)
        for place, operation in enumerate(delta.operations):
            if isinstance(operation, Revoke) and not operation.revoked:
                back.update(operation.ids)
            elif isinstance(operation, Observe) and place in names:
                decision = _of_figure(operation)
                if decision.action != "pass":
                    told[names[place]] = decision
    if not told and not back:
        return {}
    found: dict[str, Decision] = {}
    for one in work.observations():
        if one.revoked or (one.id not in told and one.id not in back):
            continue
        decision = told.get(one.id) or _of_figure(Observe(one.section, one.name, "1", unit=one.unit, key=one.key))
        if decision.action != "pass":
            found[one.id] = decision
    return found


def _of_figure(operation: Observe) -> Decision:
    decision = admit(operation, basis="person")
    if decision.action == "pass":
        granted = find_grant("\n".join((operation.section, operation.name, operation.key, operation.unit)))
        if granted is not None:
            return Decision(action="hold", reason=granted.reason, rule=granted.rule)
    return decision
