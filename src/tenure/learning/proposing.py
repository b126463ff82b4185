"""Lessons that an agent proposes: refused at once, or put before a person. None is shown to an agent before that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from tenure.errors import UserError
from tenure.governance.admission import admit
from tenure.governance.redaction import redact_operation
from tenure.learning.duplicates import duplicate_of
from tenure.learning.review import held_changes
from tenure.playbook.delta import Add
from tenure.playbook.lessons import Evidence, Lesson, normalised, section_name
from tenure.playbook.wellformed import operation_problem
from tenure.ports import HeldChange, IdSource, Writing
from tenure.roles.taint import UntrustedText

MOST_WAITING = 100
"""Proposals of agents that may wait at a time: a queue that nobody can read protects nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What became of a proposed lesson.

    Attributes:
        status: `held` now waits for a person, `waiting` did so before, `known` stands in the playbook already.
        id: of the held change, or of the lesson that says it.
        reason: one sentence.
    """

    status: Literal["held", "waiting", "known"]
    id: str
    reason: str


def propose_lesson(work: Writing, lesson: Add, *, run: str, ids: IdSource, at: datetime, author: str) -> Proposal:
    """Put a lesson before a person, unless it is refused or says what is there already.

    Args:
        work: the scope.
        lesson: what is proposed; status, evidence and author are set here.
        run: id of the run that shows it; empty if none does.
        ids: names the held change.
        at: the present moment.
        author: who proposes it, such as `agent:mcp`.

    Raises:
        UserError: it is refused, it is no lesson, its run is not there, or too many wait; the message says which and why.
    """
    shown_by = work.run(run) if run else None
    if run and shown_by is None:
        raise UserError(f"Run '{run}' is not in scope '{work.scope}'. Name the run that shows the lesson by its id, or leave it out.")
    places = (Evidence(run=run),) if run else ()
    clean = redact_operation(replace(lesson, id=None, status="provisional", evidence=places, author=author))
    problem = operation_problem(clean)
    if problem:
        raise UserError(f"This is no lesson: {problem}.")
    decision = admit(clean, basis="model")
    if decision.action == "refuse":
        raise UserError(f"Refused: {decision.reason}. It was not put into the review queue.")
    waiting = held_changes(work)
    for change in waiting:
        other = change.operation
        if isinstance(other, Add) and normalised(other.text) == normalised(clean.text):
            return Proposal(status="waiting", id=change.id, reason="the same text waits for a person already")
    section = section_name(clean.section, clean.kind or "strategy")
    asked = Lesson(
        id="proposed",
        section=section,
        kind=clean.kind or "strategy",
        text=clean.text,
        applies_when=clean.applies_when,
        avoid=clean.avoid,
        evidence=places,
        author=author,
    )
    found = duplicate_of(asked, work, tasks=work.tasks_of)
    if found is not None and found.lesson.live and found.likeness.keeps != asked.id:
        return Proposal(status="known", id=found.lesson.id, reason=f"lesson '{found.lesson.id}' says it already: {found.likeness.reason}")
    if _by_agents(waiting) >= MOST_WAITING:
        raise UserError(f"{MOST_WAITING} proposals of agents wait for a person already. Ask one to decide: tenure review")
    reason = "an agent proposed it; a person must confirm it"
    if shown_by is not None:
        said = "\n".join((clean.text, clean.applies_when, clean.avoid))
        doubtful = UntrustedText(shown_by).may_have_written(said, read_more=True)
        reason += "; what it says does not stand in trusted steps of the run it names" if doubtful else ""
    change = HeldChange(id=ids.next(), operation=clean, reason=reason, author=author, run=run, at=at.isoformat())
    work.hold(change)
    return Proposal(status="held", id=change.id, reason=reason)


def _by_agents(waiting: Sequence[HeldChange]) -> int:
    return sum(change.author.startswith("agent:") for change in waiting)
