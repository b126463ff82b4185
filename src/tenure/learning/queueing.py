"""Into the review queue: what admission holds or refuses, with its reason, its rule and whose words it may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tenure.learning.admitting import Admission, Wait
from tenure.playbook.delta import Add, Decision, Merge, Operation, Receipt
from tenure.playbook.run import Run
from tenure.playbook.statements import proposal_key
from tenure.ports import HeldChange, IdSource, Reading, Writing
from tenure.roles.taint import UntrustedText


def put_aside(
    work: Writing, run: Run, admission: Admission, *, ids: IdSource, at: datetime, batch: str
) -> tuple[int, tuple[Decision, ...]]:
    """Keep held operations for a review, and refused ones as refused.

    A change that waits already is not queued again. What was refused is kept with its reason and never offered for review.

    Args:
        work: a transaction on the scope.
        run: where they come from.
        admission: what was decided.
        ids: names for changes.
        at: the present moment.
        batch: id of the run's delta.

    Returns:
        How many were queued, and for the delta a decision for each that was refused.
    """
    queued = 0
    for wait in admission.held:
        key = proposal_key(wait.proposal.operation)
        if not (key and work.held_saying([key])):
            work.hold(_change(work, wait, wait.proposal.operation, run, id=ids.next(), at=at))
            queued += 1
    refused: list[Decision] = []
    for wait in admission.refusals:
        change = _change(work, wait, wait.proposal.operation, run, id=ids.next(), at=at)
        work.hold(replace(change, state="refused", decided=f"admission at {at.isoformat()}", batch=batch))
        refused.append(Decision(change=change.id, state="refused", note=f"{wait.rule}: {wait.reason}"))
    return queued, tuple(refused)


def put_held_lessons(
    work: Writing, run: Run, admission: Admission, operations: Sequence[Operation], receipts: Sequence[Receipt], *, at: datetime
) -> None:
    """Queue the lessons that stand in the playbook as held since this delta, each under its own id."""
    for operation, receipt in zip(operations, receipts, strict=True):
        wait = admission.waiting.get(operation) if isinstance(operation, Add) and receipt.status == "held" else None
        if wait is not None and isinstance(operation, Add):
            work.hold(_change(work, wait, replace(operation, id=receipt.id), run, id=receipt.id, at=at))


def stranger_step(reading: Reading, run: Run, operation: Operation) -> int:
    """Index of the step of a run whose untrusted words an operation may come from; -1 if there is none.

    What an operation takes away is among its words: who asks for it has to speak of it.
    """
    said = [getattr(operation, name, None) for name in ("text", "applies_when", "avoid", "reason")]
    if not isinstance(operation, Add):
        named = operation.ids if isinstance(operation, Merge) else [getattr(operation, "id", "")]
        said += [lesson.text for lesson in map(reading.lesson, filter(None, named)) if lesson is not None]
    return UntrustedText(run).nearest("\n".join(text for text in said if text))


def _change(work: Writing, wait: Wait, operation: Operation, run: Run, *, id: str, at: datetime) -> HeldChange:
    of_words = wait.rule not in ("protected-lesson", "pin", "revoke", "")
    step = stranger_step(work, run, operation) if of_words else -1
    origin = (run.steps[step].origin if step >= 0 else None) or run.origin
    return HeldChange(
        id=id,
        operation=operation,
        reason=wait.reason,
        author=wait.proposal.author,
        run=run.id,
        at=at.isoformat(),
        rule=wait.rule,
        origin=origin.name if step >= 0 or not origin.trusted else "",
    )
