"""Heartbeats and turns of workers that are threads of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from tenure.ports import WorkerSeen


class WorkforceInMemory:
    """See `workforce.Workforce`."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._workers: dict[str, tuple[str, int, str, float, float]] = {}
        self._turns: dict[str, float] = {}

    def beat(self, executor: str, *, host: str, process: int, release: str) -> None:
        """Say that a worker is alive."""
        now = time.monotonic()
        with self._turn:
            started = self._workers[executor][3] if executor in self._workers else now
            self._workers[executor] = (host, process, release, started, now)

    def workers(self) -> Sequence[WorkerSeen]:
        """All that were heard of and did not leave, the longest silent last."""
        now = time.monotonic()
        with self._turn:
            known = sorted(self._workers.items(), key=lambda one: (-one[1][4], one[0]))
        return [
            WorkerSeen(executor=executor, host=host, process=process, release=release, silent_s=now - seen, up_s=now - started)
            for executor, (host, process, release, started, seen) in known
        ]

    def leave(self, executor: str) -> None:
        """A worker ended, or is given up."""
        with self._turn:
            self._workers.pop(executor, None)

    def turn(self, name: str, *, every_s: float) -> bool:
        """Whether it is the asker's turn."""
        now = time.monotonic()
        with self._turn:
            if name in self._turns and self._turns[name] > now - every_s:
                return False
            self._turns[name] = now
            return True
