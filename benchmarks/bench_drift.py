"""`tenure bench run drift` in the worlds of design/drift-bench.md: mean scores by share of wrong labels and arm, 8 seeds each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenure.evaluation.drift import run_drift

SEED = (0, 100, 200, 400, 500)
"""First seed of each world, in the order of `WORLDS`; each takes eight."""

WORLDS: Mapping[str, tuple[int, Mapping[str, object]]] = {
    "default": (0, {}),
    "harsher": (100, {"values": 5, "length": 1000, "changed": 0.6, "overgeneral": 0.3, "spurious": 0.5}),
    "larger": (200, {"features": 8, "values": 6, "actions": 8, "length": 1500}),
    "worse_writer": (400, {"length": 600, "changed": 0.8, "overgeneral": 0.8, "spurious": 0.8}),
    "sparse": (500, {"values": 10, "length": 600}),
}
"""First seed and parameters of each world."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures, by world."""
    if not full:
        return _told(run_drift({"length": 60, "seeds": 2}))
    return {name: _told(run_drift(world, seed=seed)) for name, (seed, world) in WORLDS.items()}


def _told(found: Mapping[str, Any]) -> dict[str, Any]:
    scores = {noise: {arm: one["score"] for arm, one in arms.items()} for noise, arms in found["by_noise"].items()}
    return {"scores": scores, "best_rival": found["best_rival"], "held_at_most_noise": found["held_at_most_noise"]}
