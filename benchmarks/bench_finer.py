"""`tenure bench run finer`: score and gain by share of wrong labels and arm, five orders of 500 questions each, the default arms.

Under `file` stands what arms that keep cases, and Tenure, reach on all 2,000 questions of the file, five orders too, without
and with 40 % wrong labels. Scores rise with the length of the stream, for every arm. Where `TENURE_BENCH_RECORDS` names a
folder, records are kept there, and an interrupted measurement goes on from them. A transparent agent does what its memory hands
it: these figures measure the memory policy, never what a model can do, and are not to be compared with published scores of
models.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.harness.comparison import compare

SEED = 0
"""Of orders, noise and guesses."""

NOISES = (0.0, 0.1, 0.2, 0.4)
INSTANCES = 500
FILE_NOISES = (0.0, 0.4)
FILE_ARMS = ("none", "full-history", "similar-cases", "similar-cases-20", "tenure")
FIGURES = (
    *("score", "score_low", "score_high", "score_by_quarter", "gain", "gain_low", "gain_high"),
    *("tokens", "seconds", "rollouts", "calls", "usd", "cached_share", "memory_tokens"),
)


def measure(*, full: bool) -> dict[str, Any]:
    """The figures of each arm, by share of wrong labels."""
    path = data("finance/finer*.jsonl")
    if path is None:
        return {"skipped": "the FiNER questions are not at hand (TENURE_DATA)"}
    if not full:
        found = compare("finer", data=path, arms=["none", "similar-cases", "tenure"], orders=2, options={"instances": 40}, workers=1)
        return {"instances": 40, "orders": 2, "noise_0": _told(found)}
    kept = os.environ.get("TENURE_BENCH_RECORDS", "")
    found = {}
    for noise in NOISES:
        out = Path(kept) / f"noise_{noise:g}" if kept else None
        found[f"noise_{noise:g}"] = _told(compare("finer", data=path, options={"noise": noise, "instances": INSTANCES}, out=out))
    whole = {}
    for noise in FILE_NOISES:
        out = Path(kept) / f"file_{noise:g}" if kept else None
        whole[f"noise_{noise:g}"] = _told(compare("finer", data=path, arms=FILE_ARMS, options={"noise": noise}, out=out))
    return {"instances": INSTANCES, "orders": 5, "seed": 0, **found, "file": whole}


def _told(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "arms": {arm: {name: one[name] for name in FIGURES} for arm, one in found["arms"].items()},
        "tenure_less": found["paired"],
    }
