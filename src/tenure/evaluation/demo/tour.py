"""Twelve Mondays, three clerks: without a memory, with a note that is rewritten, with Tenure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tenure.evaluation.demo.clerk import Work, model_week, work_week
from tenure.evaluation.demo.desk import Desk, open_desk
from tenure.evaluation.demo.overwrite import OverwriteMemory
from tenure.playbook.lessons import Lesson
from tenure.ports import LanguageModel
from tenure.wiring import Tenure

WEEKS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """How one Monday went for each clerk.

    Attributes:
        number: 1 to 12.
        without, overwrite, tenure: whether the close succeeded.
        rejected: rejected calls of the clerk with Tenure.
        obeyed: ids of the lessons that clerk followed.
        added: lessons learned from its run.
        errors: what was rejected, for the clerk without a memory.
    """

    number: int
    without: bool
    overwrite: bool
    tenure: bool
    rejected: int
    obeyed: tuple[str, ...]
    added: int
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """The whole demonstration.

    Attributes:
        weeks: in order.
        lessons: what the playbook holds at the end.
        note: what the rewritten note says at the end.
        agent: who acted: `scripted clerk` or the model's name.
    """

    weeks: tuple[Week, ...]
    lessons: tuple[Lesson, ...] = field(default=())
    note: str = ""
    agent: str = "scripted clerk"


def run_demo(
    book: Tenure,
    *,
    weeks: int = WEEKS,
    seed: int = 7,
    model: LanguageModel | None = None,
    tell: Callable[[Week], None] | None = None,
    before_week: Callable[[int, Tenure], None] | None = None,
) -> Tour:
    """Play the same Monday task for some weeks.

    Args:
        book: an open playbook, best an empty one, to learn into.
        weeks: how many Mondays.
        seed: of the invoices.
        model: acts in place of the scripted clerk.
        tell: called after each week.
        before_week: called before each week with its number and the playbook, to meddle with it.
    """
    memory = OverwriteMemory()
    done: list[Week] = []
    for number in range(1, weeks + 1):
        if before_week is not None:
            before_week(number, book)
        alone = open_desk(number, seed=seed)
        plain = _act(alone, "", model)
        noted = open_desk(number, seed=seed)
        memory.rewrite(noted, _act(noted, memory.note, model))
        desk = open_desk(number, seed=seed)
        with book.run(desk.task, kind="monday-close") as run:
            work = _act(desk, run.context, model)
            for step in work.steps:
                run.step(step)
            learned = run.finish(success=desk.posted is not None, feedback=_feedback(desk), cited=work.obeyed)
        week = Week(
            number=number,
            without=alone.posted is not None,
            overwrite=noted.posted is not None,
            tenure=desk.posted is not None,
            rejected=desk.strikes,
            obeyed=tuple(work.obeyed),
            added=learned.added if learned is not None else 0,
            errors=tuple(step.error for step in plain.steps if step.error),
        )
        done.append(week)
        if tell is not None:
            tell(week)
    return Tour(weeks=tuple(done), lessons=_told(book), note=memory.note, agent=model.name if model is not None else "scripted clerk")


def _act(desk: Desk, notes: str, model: LanguageModel | None) -> Work:
    return work_week(desk, notes) if model is None else model_week(desk, notes, model)


def _feedback(desk: Desk) -> str:
    if desk.posted is not None:
        return f"posted {desk.posted} EUR"
    return f"locked after {desk.strikes} rejected calls; the close went to manual work"


def _told(book: Tenure) -> tuple[Lesson, ...]:
    lessons: Sequence[Lesson] = book.playbook.lessons
    return tuple(sorted(lessons, key=lambda one: (-one.tallies.helpful, -one.tallies.support, one.id)))
