"""`tenure bench run scale`: what a playbook of 1,000, 10,000 and 100,000 lessons costs on disk; medians, also as processor time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenure.evaluation.plots import draw_scale
from tenure.evaluation.scale import SIZES, run_scale

SEED = 0
"""Of the made lessons."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures, by size where there is one."""
    return run_scale(SIZES if full else (100,))


def draw(figures: dict[str, Any], folder: Path) -> None:
    """A plot of each figure against the number of lessons."""
    draw_scale(figures, folder)
