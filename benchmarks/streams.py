"""Streams of runs to measure with: recorded ones where they are at hand, else made in their shape."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.traces import ReadReport, read_runs

_RECORDED = "tau-airline/gpt-4o-airline-trials-0-1.json"


def data(*place: str) -> Path | None:
    """A file or folder of real data, if TENURE_DATA (or `../shared/data`) holds it; of a pattern, the first that fits."""
    folder = Path(os.environ.get("TENURE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    return next((path for one in place for path in sorted(folder.glob(one))), None)


def recorded() -> Path | None:
    """The recorded tau-bench runs, if TENURE_DATA (or `../shared/data`) holds them."""
    return data(_RECORDED)


def runs(most: int) -> tuple[str, list[Run]]:
    """Where the runs come from, and at most so many of them."""
    path = recorded()
    if path is not None:
        return "recorded", list(read_runs(path, report=ReadReport()))[:most]
    return "made", [_made(number) for number in range(most)]


def _made(number: int) -> Run:
    """A run of 27 steps and some 18 KB, as an airline's support agent leaves it."""
    dice = random.Random(number)
    steps = [Step(kind="message", role="system", content="Follow the policy. " * 300)]
    for turn in range(6):
        wrong = dice.random() < 0.2
        steps += [
            Step(kind="message", role="user", content=f"Please change booking {dice.randint(1000, 9999)} to the {turn + 1}th. " * 3),
            Step(
                kind="tool_call", role="assistant", name="update_booking", arguments={"booking": str(dice.randint(1000, 9999)), "day": turn}
            ),
            Step(
                kind="tool_result", role="tool", name="update_booking", content="x" * 1500, error=f"seat {number} is taken" if wrong else ""
            ),
            Step(kind="message", role="assistant", content="That is done. " * 20),
        ]
    task = Task(text=f"change a booking {number % 40}", kind="support", key=f"task:{number % 40}")
    return Run(id=f"made:{number}", task=task, steps=tuple(steps), outcome=Outcome(success=dice.random() < 0.5, signal="environment"))
