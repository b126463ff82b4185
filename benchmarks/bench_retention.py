"""`tenure bench run retention` on the recorded cheatsheets: what a memory rewritten whole keeps, and what Tenure does."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.plots import draw_lines
from tenure.evaluation.retention import run_retention

SEED = None
"""Nothing is drawn."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures."""
    path = data("cheatsheet-recordings")
    if path is None:
        return {"skipped": "the recorded cheatsheets are not at hand (TENURE_DATA)"}
    if full:
        return run_retention(path)
    with tempfile.TemporaryDirectory() as folder:
        first = sorted(path.glob("*.jsonl"))[0]
        short = Path(folder) / first.name
        short.write_text("\n".join(first.read_text(encoding="utf-8").splitlines()[:4]), encoding="utf-8")
        return run_retention(short)


def draw(figures: Mapping[str, Any], folder: Path) -> None:
    """Items over steps, one plot for each recording."""
    for name, one in figures.get("by_recording", {}).items():
        draw_lines(
            folder / f"retention-{name}.svg",
            title=f"items over steps: {name}",
            across="step",
            lines={
                "written so far": one["written_by_step"],
                "alive, rewritten whole": one["alive_by_step"],
                "alive in 2,500 words, Tenure": one["tenure_by_step"],
            },
        )
