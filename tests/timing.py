"""How tests measure time, so that a busy machine does not fail them and what grows with the square does.

The clock is the processor time of this thread alone: other threads of the process (servers that other tests run, pools of workers)
and other processes do not count. Garbage collection is off meanwhile: it goes through all that earlier tests left in memory. What
remains of chance goes by itself: the least of several tries counts, and no more are made than needed.

Absolute limits hold on a machine as fast as a usual one; on a slower one they grow as `slowness` does.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable

TRIES = 6
"""How often a measurement is made anew, at most, before its test is red."""

_LINES = "2024-05-15 15:00:00 user mia_li_3668 booked HAT136 for 250.00, reservation ZFA04Y\n" * 1_600
_USUAL_S = 0.008
"""Seconds that `_plain_work` takes on a usual machine, as those are that run tests for others."""


def seconds(work: Callable[[], object]) -> float:
    """Seconds of processor that this thread needs for a piece of work."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        if collecting:
            gc.enable()


def children_seconds(work: Callable[[], object]) -> float:
    """Seconds of processor of the processes that a piece of work starts and waits for."""
    import resource

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    work()
    return spent() - before


def least(once: Callable[[], float], *, enough: float = 0.0, tries: int = TRIES) -> float:
    """The least of several measurements in seconds; after one of `enough` or less there are no more."""
    found = once()
    for _ in range(tries - 1):
        if found <= enough:
            break
        found = min(found, once())
    return found


def slowness() -> float:
    """How many times as long as on a usual machine plain work takes here and now; 1 at least."""
    return max(1.0, least(lambda: seconds(_plain_work), tries=3) / _USUAL_S)


def assert_within(limit: float, once: Callable[[], float]) -> None:
    """A measurement stays under a limit in seconds of a usual machine."""
    found = least(once, enough=limit)
    print(f"{found:.4f} s; the limit is {limit:g} s")
    if found > limit:
        slower = slowness()
        assert found <= limit * slower, f"{found:.3f} s; the limit is {limit:g} s, on this machine {limit * slower:.3f} s"


def assert_growth(once: Callable[[int], float], small: int, large: int, *, at_most: float, floor: float = 0.005) -> None:
    """A piece of work of size `large` takes `at_most` times as long as one of size `small`.

    Args:
        once: a measurement in seconds for a size. Each call must do its work anew, whatever caches there are.
        small: a size.
        large: a larger one.
        at_most: it takes fewer times as long than this. Let it be well over `large / small`, and well under the square of that.
        floor: what takes less than these seconds counts as taking them: so short a time says little.
    """
    once(small)  # what is loaded and made at the first use is no part of it
    few, many = once(small), once(large)
    for _ in range(TRIES - 1):
        if many < at_most * max(few, floor):
            break
        few, many = min(few, once(small)), min(many, once(large))
    told = f"{few:.4f} s for {small:,}, {many:.4f} s for {large:,}: {many / max(few, floor):.1f} times; {at_most:g} are too many"
    print(told)
    assert many < at_most * max(few, floor), told


def _plain_work() -> int:
    """Some of what the package does all day: patterns over text, words in dictionaries."""
    counted: dict[str, int] = {}
    for found in re.finditer(r"[a-z_]+|\d[\d.:-]*", _LINES):
        word = found[0]
        counted[word] = counted.get(word, 0) + len(word)
    return len(re.sub(r"\b[A-Z]{3}(?=\d)", "", _LINES)) + sum(sorted(counted.values()))
