"""The playbook: its lessons by section, searched, narrowed and in pages, each with how sure it is to help."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tenure.playbook.evidence import Usefulness, age_in_days, usefulness
from tenure.playbook.grading import Belief
from tenure.playbook.lessons import STATUSES, Lesson
from tenure.playbook.shelf_life import Ageing, ageing
from tenure.ports import Reading
from tenure.serving.web.overview import mark_of
from tenure.serving.web.pages import page
from tenure.serving.web.visitors import Seen
from tenure.settings import read_settings

A_PAGE = 50
"""Lessons on one page; hits of a search at most."""

USED = ("provisional", "active")
"""Statuses that are shown unless another is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A lesson as a list shows it.

    Attributes:
        lesson: it.
        scope: where it stands.
        useful: by its live counts.
        belief: by replay; none without grades.
        age: how it stands to its shelf life.
    """

    lesson: Lesson
    scope: str
    useful: Usefulness
    belief: Belief | None
    age: Ageing


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/playbook")
    def playbook(
        request: Request,
        visitor: Seen,
        q: Annotated[str, Query(max_length=2_000)] = "",
        section: Annotated[str, Query(max_length=400)] = "",
        status: Annotated[str, Query(max_length=20)] = "",
        after: Annotated[str, Query(max_length=400)] = "",
    ) -> Response:
        now = visitor.book.clock.now()
        with visitor.book.store.reading(visitor.scope) as reading:
            sections, counts = reading.sizes(), reading.counts()
            tables = reading.aggregates(most_rows=12) if not (q or after) else ()
            following = ""
            if q.strip():
                found = [(hit.lesson, hit.scope) for hit in reading.search(q, limit=A_PAGE)]
                found = [one for one in found if _fits(one[0], section, status)]
            else:
                wanted = sorted((one for one in reading.lessons(live=False) if _fits(one, section, status)), key=_place)
                later = [one for one in wanted if _cursor(one) > after] if after else wanted
                found = [(one, visitor.scope) for one in later[:A_PAGE]]
                following = _cursor(later[A_PAGE - 1]) if len(later) > A_PAGE else ""
            rows = [row_of(reading, lesson, scope, now) for lesson, scope in found]
            mark = mark_of(reading, visitor)
        return page(
            request,
            visitor,
            "playbook.html",
            title="Playbook",
            live=mark,
            rows=rows,
            sections=sections,
            counts=counts,
            tables=[one for one in tables if not section or one.section == section],
            q=q,
            section=section,
            status=status if status in STATUSES else "",
            statuses=STATUSES,
            following=following,
            after=after,
        )


def row_of(reading: Reading, lesson: Lesson, scope: str, at: datetime) -> Row:
    """A lesson as a list shows it, with how sure it is to help at a moment."""
    return Row(
        lesson=lesson,
        scope=scope,
        useful=usefulness(lesson.tallies, age_days=age_in_days(lesson, at)),
        belief=reading.beliefs([lesson.id]).get(lesson.id),
        age=ageing(lesson, read_settings(reading.setting).shelf_lives, at),
    )


def _fits(lesson: Lesson, section: str, status: str) -> bool:
    asked = (status,) if status in STATUSES else USED
    return lesson.status in asked and (not section or lesson.section == section)


def _place(lesson: Lesson) -> str:
    return _cursor(lesson)


def _cursor(lesson: Lesson) -> str:
    """What stands for the place of a lesson in the order of the list."""
    return f"{lesson.section}\x1f{lesson.id}"
