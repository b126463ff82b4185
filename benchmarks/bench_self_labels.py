"""`tenure bench run self-labels`: what a memory loses that takes its own answers for labels, on the FiNER questions."""

from __future__ import annotations

from typing import Any

from benchmarks.streams import data
from tenure.evaluation.self_labels import run_self_labels

SEED = 0
"""Of the orders."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures."""
    path = data("finance/finer*.jsonl")
    if path is None:
        return {"skipped": "the FiNER questions are not at hand (TENURE_DATA)"}
    return run_self_labels(path) if full else run_self_labels(path, orders=1, instances=200)
