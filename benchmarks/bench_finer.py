"""`tenure bench run finer`: score and gain by share of wrong labels and arm, five orders of all questions, default arms and ablations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.harness.comparison import compare
from tenure.evaluation.tasks.listed import TASKS

SEED = 0
"""Of orders, noise and guesses."""

NOISES = (0.0, 0.1, 0.2, 0.4)
MORE = (
    "dynamic-cheatsheet",
    "dynamic-cheatsheet-rs",
    "reasoning-bank",
    "mem0-like",
    "tenure-no-revision",
    "tenure-no-grading",
    "tenure-no-cases",
    "tenure-no-reflector",
    "tenure-no-refine",
)
FIGURES = ("score", "score_low", "score_high", "score_by_quarter", "gain", "gain_low", "gain_high", "tokens", "cached_share", "seconds")


def measure(*, full: bool) -> dict[str, Any]:
    """The figures of each arm, by share of wrong labels."""
    path = data("finance/finer*.jsonl")
    if path is None:
        return {"skipped": "the FiNER questions are not at hand (TENURE_DATA)"}
    if not full:
        found = compare("finer", data=path, arms=["none", "similar-cases", "ace"], orders=2, options={"instances": 60}, workers=1)
        return _told(found)
    arms = (*TASKS["finer"].arms, *MORE)
    return {f"noise_{noise:g}": _told(compare("finer", data=path, arms=arms, options={"noise": noise})) for noise in NOISES}


def _told(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "arms": {arm: {name: one[name] for name in FIGURES} for arm, one in found["arms"].items()},
        "paired": found["paired"],
        "said": found["said"],
    }
