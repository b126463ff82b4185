"""`tenure bench run brevity` on the recorded cheatsheets: what tighter caps take first."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.collapse import run_brevity

SEED = None
"""Nothing is drawn."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures."""
    path = data("cheatsheet-recordings")
    if path is None:
        return {"skipped": "the recorded cheatsheets are not at hand (TENURE_DATA)"}
    if full:
        return run_brevity(path)
    with tempfile.TemporaryDirectory() as folder:
        first = sorted(path.glob("*.jsonl"))[0]
        short = Path(folder) / first.name
        short.write_text("\n".join(first.read_text(encoding="utf-8").splitlines()[:6]), encoding="utf-8")
        return run_brevity(short)
