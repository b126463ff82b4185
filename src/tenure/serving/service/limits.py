"""How often something may be done: buckets of tokens, in the process."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MOST_BUCKETS = 50_000
"""Kept at once; the one that was used longest ago goes, and is full when it comes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a wish to take a token.

    Attributes:
        granted: whether it was there.
        limit: tokens a minute.
        remaining: whole tokens left.
        wait_s: seconds until the next one; 0 where one is left.
    """

    granted: bool
    limit: int
    remaining: int
    wait_s: float

    @property
    def headers(self) -> dict[str, str]:
        """It as headers of a reply."""
        reset = str(math.ceil(self.wait_s))
        told = {"ratelimit-limit": str(self.limit), "ratelimit-remaining": str(self.remaining), "ratelimit-reset": reset}
        return told if self.granted else {**told, "Retry-After": str(max(1, math.ceil(self.wait_s)))}


class Buckets:
    """Buckets of tokens by name, each filled evenly, and full at first. Threads share it.

    Args:
        seconds: tells seconds that never go back.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._turn = threading.Lock()

    def take(self, name: str, per_minute: int, *, tokens: int = 1) -> Taken:
        """Take a token out of a bucket; with 0 `tokens` only look.

        Args:
            name: of the bucket.
            per_minute: how many flow in, and the most it holds.
            tokens: how many.
        """
        now, rate = self._seconds(), per_minute / 60
        with self._turn:
            level, then = self._levels.pop(name, (float(per_minute), now))
            level = min(float(per_minute), level + (now - then) * rate)
            granted = level >= max(1, tokens)
            if granted:
                level -= tokens
            self._levels[name] = (level, now)
            while len(self._levels) > MOST_BUCKETS:
                self._levels.popitem(last=False)
        return Taken(granted=granted, limit=per_minute, remaining=int(level), wait_s=max(0.0, (1 - level) / rate))
