"""`tenure bench run recurrence` on the recorded tau-bench runs, in the order of the file and in four shuffled ones; shares, not times."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from benchmarks.streams import recorded
from tenure.evaluation.recurrence import run_recurrence

SEED = (0, 1, 2, 3, 4)
"""0 is the order of the file; the others shuffle it."""

KEYS = ("recurrent", "coverage", "coverage_random", "actionable", "off_target", "lessons", "held", "context_tokens_mean")


def measure(*, full: bool) -> dict[str, float | int | str]:
    """The bench's figures; `shuffled_N_` before those of a shuffled order."""
    path = recorded()
    if path is None:
        return {"skipped": "the recorded runs are not at hand (TENURE_DATA)"}
    if not full:
        return _figures(path, 20)
    found = _figures(path, None)
    for seed in range(1, 5):
        found |= {
            f"shuffled_{seed}_{name}": value for name, value in _figures(path, None, seed=seed).items() if name.startswith("coverage")
        }
    return found


def _figures(path: Path, most: int | None, *, seed: int = 0) -> dict[str, float | int | str]:
    records = json.loads(path.read_text(encoding="utf-8"))[:most]
    if seed:
        random.Random(seed).shuffle(records)
        for place, record in enumerate(records):  # the bench goes by trial first, so this keeps the shuffled order
            record["trial"] = place
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.json"
        file.write_text(json.dumps(records), encoding="utf-8")
        result = run_recurrence(file)
    return {key: result[key] if result[key] is not None else "none" for key in KEYS}
