"""`tenure context` on 10,000 lessons: as a process from a warm disk, and inside one that is running. Medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tenure import Add, Tenure

SEED = None
"""Nothing is drawn."""

TASK = "cancel the third booking of the customer"
_WORDS = "check the booking before a change and compare seat fare customer bag class date refund policy with record of airline".split()


def measure(*, full: bool) -> dict[str, float]:
    """Milliseconds for one context."""
    size, times = (10_000, 9) if full else (200, 2)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/book.db"
        with Tenure.open(url, scope="bench") as book:
            for start in range(0, size, 500):
                book.apply([Add(f"section {n % 40}", _lesson(n)) for n in range(start, min(size, start + 500))])
            book.context(TASK)
            inside = [_timed(lambda: book.context(TASK)) for _ in range(times)]
        command = [sys.executable, "-c", "from tenure.serving.cli.main import main; main()", "context", TASK]
        environment = {**os.environ, "TENURE_DB": url, "TENURE_SCOPE": "local/bench"}
        outside = [_timed(lambda: subprocess.run(command, env=environment, capture_output=True, check=True)) for _ in range(times)]
    return {"lessons": size, "process_ms": statistics.median(outside), "inside_ms": statistics.median(inside)}


def _lesson(number: int) -> str:
    said = " ".join(_WORDS[(number * step + step) % len(_WORDS)] for step in range(1, 45))
    return f"In case {number}: {said}."


def _timed(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return (time.perf_counter() - began) * 1000
