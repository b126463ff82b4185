"""When a model that failed for run after run is left alone for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PAUSE_S = 600.0
"""Seconds for which a model is not asked after it failed for too many runs in a row."""


class Patience:
    """Counts the runs in a row for which a model failed. Safe to share between threads.

    A provider that is down, a model that refuses and one that babbles cost a call or more for every run, and a
    stuck one minutes. After enough failures the model is not asked for `PAUSE_S`; then one more failure
    is enough for the next pause. Caps are not failures: they cost nothing.
    """

    def __init__(self, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Patience that is not tried yet.

        Args:
            elapsed: seconds of a clock that only goes forward.
        """
        self._elapsed, self._lock = elapsed, threading.Lock()
        self._failures, self._last, self._until = 0, "", 0.0

    def refusal(self) -> str:
        """Why the model is not asked now, a sentence; empty if it may be asked."""
        with self._lock:
            left = self._until - self._elapsed()
            if left <= 0:
                return ""
            return (
                f"the model failed for {self._failures} runs in a row, so it is not asked for another {left / 60:.0f} minutes; "
                f"the last time: {self._last}"
            )

    def failed(self, reason: str, most: int) -> None:
        """Note that the model failed for a run.

        Args:
            reason: why.
            most: runs in a row after which it is not asked for a while.
        """
        with self._lock:
            self._failures, self._last = self._failures + 1, reason
            if self._failures >= most:
                self._until = self._elapsed() + PAUSE_S

    def answered(self) -> None:
        """Note that the model did what it was asked."""
        with self._lock:
            self._failures, self._until = 0, 0.0
