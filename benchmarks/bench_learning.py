"""Extractive learning with the store on disk: runs a second, each redacted, kept, reflected on and committed. Median of streams."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.streams import runs
from tenure import Tenure

SEED = 0
"""Of made runs, the first; recorded ones are taken as they are."""


def measure(*, full: bool) -> dict[str, float | str]:
    """Runs a second, wall and processor time."""
    source, stream = runs(100 if full else 10)
    wall, processor = [], []
    for _ in range(5 if full else 1):
        with tempfile.TemporaryDirectory() as folder, Tenure.open(f"sqlite:///{Path(folder)}/book.db", scope="bench") as book:
            began, used = time.perf_counter(), time.process_time()
            book.learn_many(stream)
            wall.append(len(stream) / (time.perf_counter() - began))
            processor.append(len(stream) / (time.process_time() - used))
    return {"runs": source, "learned_per_s": statistics.median(wall), "learned_per_processor_s": statistics.median(processor)}
