"""`tenure bench run memory-scale`: what a memory of a million entries in ten years costs on disk, beside one month of it; medians."""

from __future__ import annotations

from typing import Any

from tenure.evaluation.memory_scale import ENTRIES, run_memory_scale

SEED = 0
"""Of the made texts."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures."""
    return run_memory_scale(ENTRIES) if full else run_memory_scale(400, days=200)
