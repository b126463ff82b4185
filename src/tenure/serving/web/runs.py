"""Runs in short, and one run with its steps."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tenure.playbook.run import Run, Step
from tenure.serving.service.problems import Problem
from tenure.serving.web.overview import mark_of
from tenure.serving.web.pages import page
from tenure.serving.web.visitors import Seen

A_PAGE = 50
"""Runs on one page."""

MOST_STEPS = 200
"""Steps on one page."""

ONE_LINE = 100
"""Characters of arguments that stand on one line."""

LONGEST = 4_000
"""Characters of a step that are shown at once; the rest opens."""


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/runs")
    def runs(request: Request, visitor: Seen, before: Annotated[int | None, Query(ge=0, le=2**53)] = None) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            found = list(reading.outlines(before=before, limit=A_PAGE + 1))
            counts, unlearned = reading.counts(), len(reading.unlearned(limit=10_000))
            mark = mark_of(reading, visitor)
        shown = found[:A_PAGE]
        return page(
            request,
            visitor,
            "runs.html",
            title="Runs",
            live=mark,
            runs=shown,
            before=before,
            following=shown[-1].place if len(found) > A_PAGE else None,
            in_all=counts["runs"],
            unlearned=unlearned,
        )

    @router.get("/runs/{id:path}")
    def run(request: Request, visitor: Seen, id: str, first: Annotated[int, Query(ge=0, le=2**31)] = 0) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            found = reading.run(id)
            if found is None:
                raise Problem(404, "unknown", f"Run '{id[:80]}' is not kept in scope '{visitor.scope}'. See what is: the page Runs.")
            learned, postponed = reading.learned_steps(id), reading.postponed_run(id)
            lessons = reading.named([*found.shown, *found.withheld, *found.cited])
            mark = mark_of(reading, visitor)
        steps = list(enumerate(found.steps))[first : first + MOST_STEPS]
        return page(
            request,
            visitor,
            "run.html",
            title="Run",
            live=mark,
            run=found,
            learned=learned,
            postponed=postponed,
            exposures=_exposures(found),
            lessons=lessons,
            steps=[(place, one, arguments_of(one)) for place, one in steps],
            first=first,
            following=first + MOST_STEPS if first + MOST_STEPS < len(found.steps) else 0,
            earlier=max(0, first - MOST_STEPS) if first else None,
            longest=LONGEST,
        )


def arguments_of(step: Step) -> str:
    """The arguments of a tool call, as they were given."""
    if not step.arguments:
        return ""
    line = json.dumps(dict(step.arguments), ensure_ascii=False, default=str)
    return line if len(line) <= ONE_LINE else json.dumps(dict(step.arguments), ensure_ascii=False, indent=2, default=str)


def _exposures(run: Run) -> list[tuple[str, str]]:
    """Each lesson that took part in a run, and how."""
    cited = dict.fromkeys(run.cited, "cited")
    return list({**dict.fromkeys(run.withheld, "withheld"), **dict.fromkeys(run.shown, "shown"), **cited}.items())
