"""The system's clock and the source of ids: the only place where time and randomness come in."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LARGEST = 2**128 - 1


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """The present moment."""
        return datetime.now(UTC)


class UlidSource:
    """Ids that sort by time, each greater than all before it (https://github.com/ulid/spec)."""

    def __init__(self, clock: SystemClock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._last = 0
        self._lock = threading.Lock()

    def next(self, after: str = "") -> str:
        """A ULID greater than every one made here before, and than `after`.

        Args:
            after: an id that must be passed, whatever the clock says. What no ULID can pass, such
                as a name that somebody gave a delta, is passed by a ULID with that name before it.
        """
        from ulid import ULID  # here, because whoever only reads needs no ids

        tail = _number(after[-26:])
        stem = after[:-26] if tail else after
        fresh = (int(self._clock.now().timestamp() * 1000) << 80) | secrets.randbits(80)
        with self._lock:
            floor = max(tail, self._last)
            chosen = min(fresh if fresh > floor else floor + 1, _LARGEST)
            self._last = chosen
        made = str(ULID.from_int(chosen))
        return made if made > after else stem + made


def _number(ulid: str) -> int:
    """A ULID as a number; 0 for what is none, or has none above it."""
    if len(ulid) != 26 or any(character not in _ALPHABET for character in ulid):
        return 0
    number = 0
    for character in ulid:
        number = number * 32 + _ALPHABET.index(character)
    return number if number < _LARGEST else 0  # above the largest there is none
