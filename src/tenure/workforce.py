"""Which workers of a service are alive, and whose turn it is. `ports` offers these names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """A worker as it was last heard of.

    Attributes:
        executor: its id, which stands on the jobs it takes.
        host, process, release: where it runs, its process id, and the version of Tenure it runs.
        silent_s: seconds since it was last heard of, by the database's clock.
        up_s: seconds since it began.
    """

    executor: str
    host: str
    process: int
    release: str
    silent_s: float
    up_s: float


class Workforce(Protocol):
    """Heartbeats and turns, kept by a database that all workers share. Its clock counts, not theirs."""

    def beat(self, executor: str, *, host: str, process: int, release: str) -> None:
        """Say that a worker is alive; durable on return."""
        ...

    def workers(self) -> Sequence[WorkerSeen]:
        """All that were heard of and did not leave, the longest silent last."""
        ...

    def leave(self, executor: str) -> None:
        """A worker ended, or is given up."""
        ...

    def turn(self, name: str, *, every_s: float) -> bool:
        """Whether something that is to be done once in a while, by one of all, is to be done now by who asks; it is theirs then."""
        ...
