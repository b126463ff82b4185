"""`tenure bench run poison` with 100 records of one attacker, under one name and under 20, for three divisions of the file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.poison import run_poison

SEED = (0, 1, 2)
"""Of the draws, one report for each."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures, by seed and number of names."""
    path = data("finance/finer*.jsonl")
    if path is None:
        return {"skipped": "the FiNER questions are not at hand (TENURE_DATA)"}
    if not full:
        with tempfile.TemporaryDirectory() as folder:
            short = Path(folder) / path.name
            short.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:60]), encoding="utf-8")
            return run_poison(short, records=10)
    return {f"seed_{seed}_names_{names}": run_poison(path, names=names, seed=seed) for seed in range(3) for names in (1, 20)}
