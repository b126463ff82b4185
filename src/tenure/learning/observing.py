"""What single runs said of a lesson, read back from the ledger: who was shown it, whom it helped, whom it misled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from tenure.playbook.delta import Delta, Tally
from tenure.playbook.evidence import Observation
from tenure.playbook.lessons import Lesson
from tenure.playbook.revision import USES_READ, Use
from tenure.ports import Reading

LOOK_BACK = 1_000
"""Newest deltas that are looked through: what is further back says little of what holds now."""

_AT_ONCE = 200


def observations(reading: Reading, lesson: Lesson, *, most: int = USES_READ) -> tuple[Observation, ...]:
    """What the newest runs said of a lesson, newest first.

    Args:
        reading: of the lesson's scope.
        lesson: it, with the ids that were merged into it.
        most: how many at most.
    """
    names = {lesson.id, *lesson.merged}
    found: list[Observation] = []
    for delta in _newest(reading):
        run = run_of(delta)
        if not run:
            continue
        counts = [op for op in delta.operations if isinstance(op, Tally) and op.id in names]
        if counts:
            found.append(_observed(reading, run, delta, counts))
        if len(found) == most:
            break
    return tuple(found)


def run_of(delta: Delta) -> str:
    """Id of the run that a delta was learned from; empty if from none."""
    if delta.cause != "run" or not delta.key or not delta.key.startswith("learn:"):
        return ""
    return delta.key.removeprefix("learn:").rsplit(":", 2)[0]


def uses(reading: Reading, seen: tuple[Observation, ...]) -> tuple[Use, ...]:
    """The observations in which a lesson was followed and something came of it, newest first."""
    found: list[Use] = []
    for one in seen:
        if one.effect in ("helped", "misled"):
            effect: Literal["helped", "misled"] = "helped" if one.effect == "helped" else "misled"
            found.append(Use(run=one.run, effect=effect, reliability=one.reliability, at=one.at))
        elif one.effect == "neutral" and one.exposure == "cited":
            run = reading.run(one.run)
            if run is not None and run.outcome.success is False:
                found.append(Use(run=one.run, effect="idle", reliability=one.reliability, at=one.at))
    return tuple(found)


def _newest(reading: Reading) -> Iterator[Delta]:
    newest = reading.version()
    until = newest
    while until > max(0, newest - LOOK_BACK):
        entries = reading.ledger(after=max(0, until - _AT_ONCE), until=until, newest_first=True)
        for entry in entries:
            yield entry.delta
        until -= _AT_ONCE


def _observed(reading: Reading, run_id: str, delta: Delta, counts: list[Tally]) -> Observation:
    total = counts[0].tallies
    for count in counts[1:]:
        total += count.tallies
    effect: Literal["helped", "misled", "neutral", ""] = (
        "helped" if total.helpful > 0 else "misled" if total.harmful > 0 else "neutral" if total.neutral > 0 else ""
    )
    exposure: Literal["cited", "shown", "withheld", "absent"] = (
        "cited" if total.cited > 0 else "shown" if total.shown > 0 else "withheld" if total.withheld > 0 else "absent"
    )
    run = reading.run(run_id) if effect else None
    # A verdict without an honest outcome came from a tool's own answer, which does not err.
    reliability = run.outcome.reliability or 0.0 if run is not None and run.outcome.honest else 1.0
    return Observation(
        run=run_id, effect=effect, exposure=exposure, right=True if total.support > 0 else None, reliability=reliability, at=delta.time
    )
