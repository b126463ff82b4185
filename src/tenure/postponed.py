"""Runs whose reflection by a model was put off, so that it can be done later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Limit = Literal["run", "day", "scope", "pause", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponed:
    """A run that was learned from by plain code alone, although a model was to be asked.

    Attributes:
        run: its id.
        limit: what stood in the way: a cap per `run`, `day` or `scope`; a `pause` after failures in a row; or the `model`
            itself, which gave no answer or none that could be used.
        reason: a sentence for people.
        attempts: how often requests were sent for it in vain. A cap that let no request through is no attempt.
        at: when it was last put off, ISO 8601.
    """

    run: str
    limit: Limit
    reason: str
    attempts: int = 0
    at: str = ""


class PostponedReading(Protocol):
    """The part of a look at a scope that concerns put off reflections."""

    def postponed(self, *, below: int | None = None, limit: int | None = None) -> Sequence[Postponed]:
        """Runs whose reflection was put off, by the time at which it last was, oldest first.

        Args:
            below: only those with fewer attempts.
            limit: how many at most.
        """
        ...

    def postponed_run(self, run_id: str) -> Postponed | None:
        """Why the reflection on a run was put off; none if it was not, or was done since."""
        ...


class PostponedWriting(Protocol):
    """The part of a transaction that concerns put off reflections."""

    def postpone(self, postponed: Postponed) -> None:
        """Note that the reflection on a run was put off, in place of what was noted before."""
        ...

    def drop_postponed(self, run_id: str) -> None:
        """Forget that the reflection on a run was put off, and its replies that could not be used."""
        ...
