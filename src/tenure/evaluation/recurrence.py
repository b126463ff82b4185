"""Bench `recurrence`: do errors that were seen before meet a lesson about them before they come again?

A file of recorded runs is replayed as a stream. Before each run is learned, the context for its
first message is asked for, within a small budget. For each tool error in the run: was its signature
seen in an earlier run (recurrent), and is a lesson about it in that context (covered)? The random
arm draws lessons that fit the same budget. Nothing acts on the lessons here: this measures what
recall puts before an agent, never whether an agent would obey.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.bench_arms import arm_figures, share_by_quarter
from tenure.playbook.lessons import Lesson
from tenure.playbook.render import lesson_block
from tenure.playbook.run import Run
from tenure.ranking import estimate_tokens
from tenure.roles.actions import actions_of
from tenure.roles.signatures import mask, signature
from tenure.testing import CountingIds, SteppingClock
from tenure.traces import ReadReport, read_runs
from tenure.wiring import Tenure

BUDGET = 250
DRAWS = 100


@dataclass(slots=True)
class _Tally:
    errors: int = 0
    recurrent: int = 0
    covered: int = 0
    by_chance: float = 0.0
    shown: int = 0
    off_target: int = 0
    tokens: list[int] = field(default_factory=list)
    by_run: list[tuple[int, float, int]] = field(default_factory=list)


def run_recurrence(
    data: Path, *, budget: int = BUDGET, seed: int = 0, url: str = "sqlite://", tell: Callable[[float, str], None] | None = None
) -> dict[str, Any]:
    """Replay a file of runs and measure coverage.

    Args:
        data: a file in any format that `tenure learn` reads.
        budget: tokens of each context.
        seed: of the random draws.
        url: the database to learn into; it should be empty. None given: one in memory.
        tell: called after each run with the share done and what is done.

    Returns:
        `runs, errors, recurrent, covered, coverage, coverage_random, actionable, off_target, held,
        lessons, context_tokens_mean, seconds`, and beside them `signatures`, `all_fit` (share of
        recurrent errors at which all active lessons fitted the budget), `unreadable`, `note` and `arms`: `none`, `random`
        (lessons drawn by chance) and `tenure`, whose score is the coverage. Shares are 0 to 1, or none where there was nothing to count.

    Raises:
        UserError: no run in the file can be read.
    """
    report = ReadReport()
    runs = in_order(read_runs(data, report=report))
    if not runs:
        why = f" ({report.unreadable[0].reason})" if report.unreadable else ""
        raise UserError(f"'{data}' holds no runs that can be read{why}. Name a log that tenure learn reads.")
    began = time.perf_counter()
    tally, seen, cured = _Tally(), set[str](), set[str]()
    all_fit = 0
    with Tenure.open(url, scope="local/recurrence", clock=SteppingClock(), ids=CountingIds()) as book:
        for number, run in enumerate(runs, 1):
            # A run may have lost its task; it teaches all the same.
            context = book.context(run.task if run.task.text.strip() else replace(run.task, text="-"), budget=budget)
            lessons = {lesson.id: lesson for lesson in _live(book)}
            errors = [(action.tool, action.error) for action in actions_of(run) if action.error]
            tally.tokens.append(context.tokens)
            shown = [lessons[one] for one in context.lessons if one in lessons]
            coming = {signature(tool, error) for tool, error in errors}
            if coming & seen:
                tally.shown += len(shown)
                tally.off_target += sum(lesson.about not in coming for lesson in shown)
            before = tally.covered, tally.by_chance, tally.recurrent
            for tool, error in errors:
                subject = signature(tool, error)
                tally.errors += 1
                if subject not in seen:
                    continue
                tally.recurrent += 1
                tally.covered += any(_about(lesson, tool, error, subject in cured) for lesson in shown)
                fitting = [lesson for lesson in lessons.values() if _about(lesson, tool, error, subject in cured)]
                tally.by_chance += _by_chance(list(lessons.values()), fitting, budget, seed)
                all_fit += _cost(lessons.values()) <= budget
            tally.by_run.append((tally.covered - before[0], tally.by_chance - before[1], tally.recurrent - before[2]))
            book.learn(run)
            seen |= coming
            cured |= _cured(run)
            if tell is not None:
                tell(number / len(runs), f"{number:,} of {len(runs):,} runs")
        final = _live(book)
        with book.store.reading(book.scope) as reading:
            held = len(reading.held()) + sum(lesson.status == "held" for lesson in reading.lessons(live=False))
    seconds = round(time.perf_counter() - began, 2)
    return {
        "runs": len(runs),
        "errors": tally.errors,
        "recurrent": tally.recurrent,
        "covered": tally.covered,
        "coverage": _share(tally.covered, tally.recurrent),
        "coverage_random": _share(tally.by_chance, tally.recurrent),
        "actionable": _share(sum(map(actionable, final)), len(final)),
        "off_target": _share(tally.off_target, tally.shown),
        "held": held,
        "lessons": len(final),
        "context_tokens_mean": round(sum(tally.tokens) / max(1, len(tally.tokens)), 1),
        "seconds": seconds,
        "signatures": len(seen),
        "all_fit": _share(all_fit, tally.recurrent),
        "unreadable": report.count,
        "note": _note(tally),
        "arms": _arms(tally, seconds),
    }


def _arms(tally: _Tally, seconds: float) -> dict[str, Any]:
    """Nothing acts here, so there are no attempts; and no model is asked. What shows nothing covers nothing."""
    some = bool(tally.recurrent)
    covered = [(one, whole) for one, _, whole in tally.by_run]
    chance = [(one, whole) for _, one, whole in tally.by_run]
    nothing = [(0.0, whole) for _, _, whole in tally.by_run]
    asked = {"alone": 0.0, "calls": 0, "usd": 0.0}
    return {
        "none": arm_figures(0.0 if some else None, by_quarter=share_by_quarter(nothing), tokens=0, **asked),
        "random": arm_figures(_share(tally.by_chance, tally.recurrent), by_quarter=share_by_quarter(chance), **asked),
        "tenure": arm_figures(
            _share(tally.covered, tally.recurrent),
            by_quarter=share_by_quarter(covered),
            tokens=sum(tally.tokens) / max(1, len(tally.tokens)),
            seconds=seconds,
            **asked,
        ),
    }


def _note(tally: _Tally) -> str:
    if not tally.errors:
        return "no tool call of these runs was refused: there is no error that could come again"
    if not tally.recurrent:
        return "no tool error came in more than one run: there is nothing that a lesson could have met"
    return ""


def in_order(runs: Iterable[Run]) -> list[Run]:
    """By trial, then by task: a tau-bench file may hold its runs in any order. Other logs keep theirs."""

    def place(run: Run) -> tuple[int, int]:
        said = re.fullmatch(r"task:(\d{1,9}) trial:(\d{1,9})", run.session)
        return (int(said[2]), int(said[1])) if said else (0, 0)

    return sorted(runs, key=place)


def _live(book: Tenure) -> Sequence[Lesson]:
    with book.store.reading(book.scope) as reading:
        return reading.lessons()


def _about(lesson: Lesson, tool: str, error: str, cured: bool) -> bool:
    """Whether a lesson is about an error: its own text names tool and masked error and, if a run has cured it, what was accepted."""
    if lesson.about != signature(tool, error):
        return False
    text = lesson.text.lower()
    named = tool.lower() in text and _words(mask(error)) <= _words(lesson.text)
    return named and (not cured or lesson.kind == "tool_rule")


def _words(text: str) -> set[str]:
    return {word for word in "".join(c.lower() if c.isalnum() else " " for c in text).split() if not word.isdigit()}


def _cured(run: Run) -> set[str]:
    """Subjects of errors after which the same tool was accepted in the same run."""
    actions = actions_of(run)
    return {
        signature(failed.tool, failed.error)
        for place, failed in enumerate(actions)
        if failed.error and any(later.accepted and later.tool == failed.tool for later in actions[place + 1 :])
    }


def actionable(lesson: Lesson) -> bool:
    """Whether a lesson states a cure or a check: what was accepted, an order of tools, or what to look up first."""
    said = f" {lesson.text.lower()} "
    return (
        lesson.kind in ("tool_rule", "strategy")
        or bool(lesson.tool_order)
        or any(f" {word} " in said for word in ("check", "first", "before", "use", "instead"))
    )


def _by_chance(lessons: list[Lesson], fitting: list[Lesson], budget: int, seed: int) -> float:
    """Share of seeded draws of lessons, as many as fit the budget, that hold a fitting one."""
    wanted = {lesson.id for lesson in fitting}
    if not wanted:
        return 0.0
    dice = random.Random(seed)
    costs = {lesson.id: estimate_tokens(lesson_block(lesson)) for lesson in lessons}
    hits = 0
    for _ in range(DRAWS):
        left, drawn = budget, list(costs)
        dice.shuffle(drawn)
        for lesson_id in drawn:
            if costs[lesson_id] <= left:
                left -= costs[lesson_id]
                if lesson_id in wanted:
                    hits += 1
                    break
    return hits / DRAWS


def _cost(lessons: Iterable[Lesson]) -> int:
    return sum(estimate_tokens(lesson_block(lesson)) for lesson in lessons) + 30


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 3) if whole else None
