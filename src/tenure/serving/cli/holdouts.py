"""`tenure holdouts`: whether lessons make a difference, from the runs that they were left out of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.holdouts import Trial
    from tenure.settings import Settings

SHOWN = 30
"""Lessons named on the terminal unless all are asked for; `--json` has all."""

_STYLES = {"helps": "green", "harms": "red", "undecided": "", "not enough data": "dim"}


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(app, "holdouts", holdouts, "tenure holdouts", "tenure holdouts --json", "tenure config set holdout.enabled on")


def holdouts(
    request: Request, everything: Annotated[bool, typer.Option("--all", help="Every lesson that was drawn, not only the first.")] = False
) -> int:
    """Show whether lessons make a difference.

    Where hold-outs are on, chance leaves a lesson out of a small share of the runs that it matches. Lift is the mean score with it less
    that without it. What so few runs cannot show yet is said; nothing is retired for it.
    """
    with request.reading() as book:
        found, settings, scope = book.holdouts(), book.settings(), book.scope
    if request.as_json:
        request.terminal.document(
            {
                "scope": scope,
                "enabled": settings.on("holdout.enabled"),
                "share": float(settings.text("holdout.share")),
                "gradual": settings.on("release.gradual"),
                "lessons": [trial_json(one) for one in found],
            }
        )
        return OK
    if found:
        _table(request, found if everything else found[:SHOWN])
        if len(found) > SHOWN and not everything:
            request.terminal.say(f"The first {SHOWN} of {len(found):,}. All: {request.command('holdouts --all')}")
    _say_settings(request, settings, found)
    return OK


def trial_json(trial: Trial) -> dict[str, Any]:
    """What draws say of a lesson; `pooled` is null where too few alike lessons were drawn."""
    lift, pooled = trial.lift, trial.pooled
    return {
        "id": trial.lesson.id,
        "text": trial.lesson.text,
        "status": trial.lesson.status,
        "finding": lift.finding,
        "said": lift.said,
        "lift": round(lift.lift, 4) if lift.shown and lift.withheld else None,
        "interval": [round(lift.lower, 4), round(lift.upper, 4)],
        "deciding_interval": [round(lift.surely_lower, 4), round(lift.surely_upper, 4)],
        "score_with": round(lift.with_it, 4) if lift.shown else None,
        "score_without": round(lift.without_it, 4) if lift.withheld else None,
        "shown": lift.shown,
        "withheld": lift.withheld,
        "detectable": round(lift.least, 4),
        "runs_to_see_a_tenth": lift.runs_for_tenth or None,
        "without_outcome": trial.open,
        "of_earlier_text": trial.earlier,
        "group": trial.group,
        "pooled": {
            "lift": round(pooled.lift, 4),
            "interval": [round(pooled.lower, 4), round(pooled.upper, 4)],
            "group_lift": round(pooled.group, 4),
            "lessons": pooled.lessons,
            "own_weight": round(pooled.weight, 4),
        }
        if pooled is not None
        else None,
    }


def trial_told(trial: Trial) -> str:
    """What draws say of a lesson, in a line."""
    lift, pooled = trial.lift, trial.pooled
    measured = f"lift {_signed(lift.lift)} ({_signed(lift.lower)} to {_signed(lift.upper)})" if lift.shown and lift.withheld else ""
    parts = [
        lift.said,
        measured,
        f"{counted(lift.shown, 'run')} with it, {lift.withheld:,} without" if lift.finding != "not enough data" else "",
        f"with {pooled.lessons} alike lessons {_signed(pooled.lift)}" if pooled is not None else "",
        f"{trial.open:,} without an honest outcome" if trial.open else "",
        f"{trial.earlier:,} of an earlier text" if trial.earlier else "",
    ]
    return "; ".join(filter(None, parts))


def _table(request: Request, found: Sequence[Trial]) -> None:
    from tenure.playbook.lessons import short_ids

    ids = short_ids([one.lesson.id for one in found])
    rows: list[Sequence[Cell]] = []
    for one in found:
        lift, measured = one.lift, one.lift.shown > 0 and one.lift.withheld > 0
        rows.append(
            (
                ids[one.lesson.id],
                [(lift.finding, _STYLES[lift.finding]), (", retired" if one.lesson.status == "retired" else "", "dim")],
                f"{_signed(lift.lift)} ({_signed(lift.lower)} to {_signed(lift.upper)})" if measured else "",
                f"{lift.shown:,} / {lift.withheld:,}",
                f"{lift.least:.2f}" if measured else "",
                f"{_signed(one.pooled.lift)} of {one.pooled.lessons + 1}" if one.pooled is not None else "",
            )
        )
    columns = [
        Column(title="lesson", style="cyan"),
        Column(title="finding"),
        Column(title="lift (95 %)", right=True),
        Column(title="with / without", right=True),
        Column(title="sees", right=True),
        Column(title="pooled", right=True, optional=True),
    ]
    request.terminal.table(columns, rows)
    request.terminal.text(
        "\nlift: mean score with the lesson less that without it; with / without: runs with an honest outcome\n"
        "sees: the least lift that so many runs would show in 4 of 5 cases\n"
        "pooled: the lift drawn towards that of alike lessons, and how many these are\n"
    )


def _say_settings(request: Request, settings: Settings, found: Sequence[Trial]) -> None:
    terminal = request.terminal
    if not settings.on("holdout.enabled"):
        terminal.say(f"Hold-outs are off in this scope. Turn them on: {request.command('config set holdout.enabled on')}")
    elif not found:
        terminal.say("Hold-outs are on; no lesson has been drawn in a run yet.")
    else:
        share = float(settings.text("holdout.share"))
        terminal.say(f"Hold-outs are on: a lesson is left out of {share:.0%} of the runs that it matches, of fewer as more is known of it.")


def _signed(number: float) -> str:
    return f"{round(number, 2) + 0.0:+.2f}"  # a nought has no sign
