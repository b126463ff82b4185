"""Lessons that keep holding are confirmed; those that were not for long are shown with their age."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from tenure.playbook.delta import Tally, Update
from tenure.playbook.evidence import age_in_days
from tenure.playbook.lessons import Lesson
from tenure.playbook.render import Core
from tenure.playbook.revision import Revision
from tenure.playbook.run import Run
from tenure.playbook.shelf_life import ShelfLives, aged_note, coarse_age, days_past, is_due


def confirmations(
    lessons: Sequence[Lesson], counts: Sequence[Tally], lives: ShelfLives, run: Run, at: datetime, *, but: Collection[str] = ()
) -> tuple[Update, ...]:
    """What a run confirms: an UPDATE of the verdict for each live lesson that it speaks for and that was long not confirmed.

    Args:
        lessons: those counted for.
        counts: what is being added; a run that was helped, or that shows the lesson by itself, speaks for it.
        lives: how long lessons keep.
        run: where it was seen.
        at: the present moment.
        but: ids whose verdict is being written already.
    """
    by_id = {count.id: count for count in counts}
    spoken = [one for one in lessons if one.id in by_id and (by_id[one.id].helpful > 0 or by_id[one.id].support > 0)]
    return tuple(
        Update(
            lesson.id,
            verdict="confirmed",
            revision=Revision(
                verdict="confirmed", source=lesson.evidence[0].run if lesson.evidence else "", run=run.id, author="code"
            ).to_text(),
        )
        for lesson in spoken
        if lesson.live and lesson.id not in but and not by_id[lesson.id].harmful and is_due(lesson, lives, at)
    )


def note_of_ages(lessons: Sequence[Lesson], ids: Mapping[str, str], core: Core | None, lives: ShelfLives | None, at: datetime) -> str:
    """What a prompt says of those of its lessons that are past their shelf life; empty if none is.

    Args:
        lessons: those in the prompt, in order.
        ids: each id as this prompt shows it.
        core: its stable part, whose ids were cut short when it was made.
        lives: how long lessons keep; none says nothing.
        at: the present moment.
    """
    past = [lesson for lesson in lessons if days_past(lesson, lives, at)] if lives is not None else []
    if lives is None or not past:
        return ""
    shown = dict(ids)
    for line in (*core.lines, *core.tail) if core is not None else ():
        if line.section:
            shown[line.id] = line.text.partition("]")[0].removeprefix("- [")
    return aged_note([(shown.get(lesson.id, lesson.id), lesson) for lesson in past], lives, at)


def age_said_of(lesson: Lesson, lives: ShelfLives | None, at: datetime) -> str:
    """That a lesson is past its shelf life, in words; empty if it is not."""
    if lives is None or not days_past(lesson, lives, at):
        return ""
    return f"not confirmed for {coarse_age(age_in_days(lesson, at))}, past its shelf life of {lives.days(lesson)} days"
