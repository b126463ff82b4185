"""Runs: reported, listed, looked at."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Response

from tenure.playbook.run import Run
from tenure.ports import RunOutline
from tenure.serving.service.api import router, told
from tenure.serving.service.bodies import EndBody, RunBody
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.paging import After, Limit, cursor_to, page, read_cursor
from tenure.serving.service.problems import answered
from tenure.serving.service.reporting import end_run, keep_run, not_lessons, state_of, unknown_run
from tenure.serving.wire import operation_json

ROUTER = router("runs")  # ids may hold a '/', so that what stands behind an id comes before the id alone

RunId = Annotated[str, Path(min_length=1, max_length=300, description="Id of a run.", examples=["week-2"])]

_PORTION, _LOOKED = 500, 5_000
"""Runs that are looked at at once, and for one page at most, where only those of an outcome are wanted."""

_KEPT = {"id": "week-2", "scope": "acme/finance", "state": "waiting", "not_lessons": []}
_ROW = {
    "id": "week-2",
    "task": {"text": "Close the books for week 2", "kind": "close-week", "key": ""},
    "outcome": {"success": False, "score": 0.0, "feedback": "invoice 8 is not booked", "signal": "test", "reliability": 1.0},
    "steps": 2,
    "shown": [],
    "cited": [],
    "origin": "k3rj2v7a4q/api",
    "session": "",
    "started": "",
    "ended": "2026-03-15T10:00:00+00:00",
}
_WHOLE = {**_ROW, "withheld": [], "state": "learned", "learned": [{"version": 7, "id": "01K5", "operations": [{"op": "ADD"}]}]}


@ROUTER.post(
    "/runs",
    status_code=202,
    summary="Report a run",
    responses=told("The run is on disk. What it teaches is learned in the background: see `GET /v1/runs/{id}`.", _KEPT, status=202),
)
def report_run(to: Annotated[Doing, Depends(May("report", "runs.report", once=True))], body: RunBody) -> Response:
    """Report a run with its steps and how it ended. The same run sent twice counts once, by its id.

    A run without an outcome is kept as unfinished; more steps and the outcome can follow under the same id.
    """
    run = body.run(id=to.once_id[:32] or to.engine.ids.next(), scope=to.scope, origin=to.origin, at=to.engine.clock.now().isoformat())

    def work() -> dict[str, Any]:
        keep_run(to, run)
        return {"id": run.id, "scope": to.scope, "state": _state(to, run), "not_lessons": []}

    return to.reply(work, status=202, subject=run.id)


@ROUTER.post(
    "/runs/{id:name}/outcome", status_code=202, summary="Report how a run ended", responses=told("It is on disk.", _KEPT, status=202)
)
def report_outcome(to: Annotated[Doing, Depends(May("report", "runs.outcome", once=True))], id: RunId, body: EndBody) -> Response:
    """Report how a run ended that began with a context or was reported before. Said twice it counts once."""

    def work() -> dict[str, Any]:
        run, unknown, _ = end_run(to, id, body)
        return {"id": run.id, "scope": to.scope, "state": _state(to, run), "not_lessons": list(not_lessons(unknown))}

    return to.reply(work, status=202, subject=id)


@ROUTER.get("/runs", summary="List runs", responses=told("Runs, newest first.", {"items": [_ROW], "next": None}))
def list_runs(
    to: Annotated[Doing, Depends(May("read", "runs.list"))],
    limit: Limit = 50,
    after: After = "",
    outcome: Annotated[str, Query(pattern="^(success|failure|unknown)?$", description="Only those that ended so.")] = "",
) -> Response:
    """The runs of the scope, newest first, without their steps."""
    of = ("runs", to.scope, outcome)
    before = read_cursor(after, *of, counts=True)
    wanted = {"success": True, "failure": False, "unknown": None}
    found: list[RunOutline] = []
    place, looked = int(before) if before else None, 0
    with to.book.store.reading(to.scope) as look:
        while True:
            some = look.outlines(before=place, limit=_PORTION if outcome else limit + 1)
            found += [one for one in some if not outcome or one.success is wanted[outcome]]
            looked += len(some)
            place = some[-1].place if some else place
            if len(found) > limit or not some or not outcome or looked >= _LOOKED:
                break
    listed = page(found, *of, after="", limit=limit, name=lambda one: str(one.place), told=_row, more=len(found) > limit)
    if outcome and some and len(found) <= limit:  # many were passed over: the next page goes on behind them
        listed["next"] = cursor_to(str(place), *of)
    return answered(listed)


@ROUTER.get(
    "/runs/{id:name}/steps",
    summary="The steps of a run",
    responses=told("Steps in order.", {"items": [{"index": 0, "kind": "tool_call", "name": "book"}], "next": None}),
)
def list_steps(to: Annotated[Doing, Depends(May("read", "runs.steps"))], id: RunId, limit: Limit = 50, after: After = "") -> Response:
    """What happened in a run."""
    of = ("steps", to.scope, id)
    before = read_cursor(after, *of)
    with to.book.store.reading(to.scope) as look:
        run = look.run(id)
    if run is None:
        raise unknown_run(id, to.scope)
    steps = list(enumerate(run.steps))
    return answered(
        page(steps, *of, after=before, limit=limit, name=lambda one: str(one[0]), told=lambda one: {"index": one[0], **_step(one[1])})
    )


@ROUTER.get("/runs/{id:name}", summary="One run", responses=told("The run, where it stands, and what was learned from it.", _WHOLE))
def show_run(to: Annotated[Doing, Depends(May("read", "runs.show"))], id: RunId) -> Response:
    """A run without its steps: how it ended, whether it was learned from, and the deltas that name it."""
    with to.book.store.reading(to.scope) as look:
        run = look.run(id)
        if run is None:
            raise unknown_run(id, to.scope)
        state = state_of(look, run, learns=_learns(to))
        entries = look.ledger_naming([run.id])[:50] if state == "learned" else []
    learned = [
        {"version": one.version, "id": one.delta.id, "operations": [operation_json(op) for op in one.delta.operations]} for one in entries
    ]
    return answered({**run_row(run), "withheld": list(run.withheld), "state": state, "learned": learned})


def _step(step: Any) -> dict[str, Any]:
    return {**asdict(step), "arguments": dict(step.arguments), "origin": step.origin.name if step.origin is not None else None}


def _row(outline: RunOutline) -> dict[str, Any]:
    return run_row(outline.head, outline.steps)


def run_row(run: Run, steps: int | None = None) -> dict[str, Any]:
    """A run as lists show it: without the texts of its steps.

    Args:
        run: with or without its steps.
        steps: how many it has; none counts them.
    """
    return {
        "id": run.id,
        "task": asdict(run.task),
        "outcome": asdict(run.outcome),
        "steps": len(run.steps) if steps is None else steps,
        "shown": list(run.shown),
        "cited": list(run.cited),
        "origin": run.origin.name,
        "session": run.session,
        "started": run.started,
        "ended": run.ended,
    }


def _state(to: Doing, run: Run) -> str:
    with to.book.store.reading(to.scope) as look:
        kept = look.run(run.id)
        return state_of(look, kept or run, learns=_learns(to))


def _learns(to: Doing) -> bool:
    return to.book.settings().on("learn.enabled")
