"""Small real stand-ins for tests: a clock that stands, ids that count, a model that follows a script.

They pass the same contracts as what they stand in for.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tenure.providers.scripted import RuleModel, ScriptedModel
from tenure.stores.in_memory import InMemoryStore
from tenure.wiring import Tenure

__all__ = ["CountingIds", "InMemoryStore", "RuleModel", "ScriptedModel", "SteppingClock", "open_trial"]


class SteppingClock:
    """A clock that starts at a moment and goes on by a fixed step each time it is read.

    Args:
        start: with its zone; none starts on 2026-01-05 08:00 UTC.
        step_s: seconds from one reading to the next; 0 stands still.
    """

    def __init__(self, start: datetime | None = None, *, step_s: float = 1.0) -> None:
        self._now = start or datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
        self._step = timedelta(seconds=step_s)

    def now(self) -> datetime:
        """The moment; the next reading is a step later."""
        now = self._now
        self._now = now + self._step
        return now


class CountingIds:
    """Ids that count up: the same test makes the same ids every time."""

    def __init__(self) -> None:
        self._count = 0

    def next(self, after: str = "") -> str:
        """The next id: 26 characters, greater than all before it and than `after`."""
        self._count += 1
        made = f"01{self._count:024d}"
        if after >= "02":  # no count passes it
            return after + made
        while made <= after:
            self._count = int(after[2:]) + 1 if after[:2] == "01" and after[2:].isdigit() else self._count * 10
            made = f"01{self._count:024d}"
        return made


def open_trial(scope: str = "local/trial", *, url: str = "memory://", model: object = None) -> Tenure:
    """A playbook for a test: in memory, with a stepping clock and counting ids.

    Args:
        scope: its scope.
        url: another store, such as `sqlite:///path`.
        model: an object that answers prompts, such as a `ScriptedModel`.
    """
    return Tenure.open(url, scope=scope, clock=SteppingClock(), ids=CountingIds(), model=model)  # type: ignore[arg-type]
