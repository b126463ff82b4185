"""A run that is reported again: what was kept, and what the later report adds to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from tenure.playbook.run import HONEST_SIGNALS, Draw, Outcome, Run, Task


def grown(kept: Run, again: Run) -> Run:
    """The run as it stands after a later report of it. What was kept is never lost.

    Steps beyond those kept are appended; kept ones stay as they are, because lessons point at them.
    Exposures unite. A known outcome gives way only to a known one, an end only to an end.

    Args:
        kept: the run as it is kept.
        again: the same run, reported again; it may be shorter, as from a file that was cut.
    """

    def union(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(kept, name), *getattr(again, name))))

    return replace(
        again,
        scope=kept.scope,
        task=_task(kept.task, again.task),
        steps=(*kept.steps, *again.steps[len(kept.steps) :]),
        shown=union("shown"),
        withheld=union("withheld"),
        cited=union("cited"),
        draws=one_each((*kept.draws, *again.draws)),
        outcome=_outcome(kept.outcome, again.outcome),
        session=again.session or kept.session,
        started=kept.started or again.started,
        ended=again.ended or kept.ended,
    )


def one_each(draws: Iterable[Draw]) -> tuple[Draw, ...]:
    """The first draw of each lesson: what a run was shown at its beginning is what counts."""
    found: dict[str, Draw] = {}
    for one in draws:
        found.setdefault(one.lesson, one)
    return tuple(found.values())


def tools_called(run: Run) -> frozenset[str]:
    """Names of the tools that a run called."""
    return frozenset(step.name for step in run.steps if step.kind == "tool_call" and step.name)


def label_counts(run: Run) -> bool:
    """Whether a run's label can grade lessons: it comes from an honest signal and a trusted origin."""
    return bool(run.outcome.expected) and run.outcome.signal in HONEST_SIGNALS and run.origin.trusted


def finished(run: Run) -> bool:
    """Whether a run is over: it has an end or a known outcome."""
    return bool(run.ended) or run.outcome.known


def is_before(at: str, limit: datetime) -> bool:
    """Whether a moment is known and lies before another; without a zone it is taken as UTC."""
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return False
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)) < limit


def _outcome(kept: Outcome, again: Outcome) -> Outcome:
    if again.known:
        return again
    return kept if kept.known or again == Outcome() else again


def _task(kept: Task, again: Task) -> Task:
    # A later report may know what sort of task it was; what was asked does not change.
    return Task(text=kept.text or again.text, kind=again.kind or kept.kind, key=again.key or kept.key)


def told_before(before: bool, earlier: Run, now: Run) -> bool:
    """Whether the verdict on a run that was learned from, and is now kept again without being learned, was learned from too.

    Args:
        before: what was so until now.
        earlier, now: the run as it was kept, and as it is now.
    """
    return before and not (now.outcome.known and not earlier.outcome.known)
