"""The drift bench: which memory policy holds when rules change and labels lie. See design/drift-bench.md.

The agent is transparent: it obeys what the memory hands it. So this measures a policy, not how well a model reads lessons.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import sqrt
from statistics import mean, stdev
from typing import Any

from tenure.evaluation.bench_arms import arm_figures
from tenure.evaluation.drift_arms import ARMS, score
from tenure.evaluation.drift_world import Writer, read_world, stream

NOISES = (0.0, 0.1, 0.2, 0.3)

EXTRA = ("tenure-live",)
"""Arms that are shown beside the others and are no rivals: parts of the engine."""

# Two-sided 95 % quantiles of Student's t by degrees of freedom; beyond, that of the normal distribution with a margin.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093)


def run_drift(given: Mapping[str, object] | None = None, *, seed: int = 0) -> dict[str, Any]:
    """Measure all arms on the same streams.

    Args:
        given: parameters of the world by name; what is missing has its default.
        seed: the first of the seeds.

    Raises:
        UserError: a parameter is not known or out of range.
    """
    began = time.process_time()
    world = read_world(given or {})
    seeds = range(seed, seed + world.seeds)
    found: dict[str, dict[str, list[list[bool]]]] = {str(noise): {arm: [] for arm in ARMS} for noise in NOISES}
    taken = dict.fromkeys(ARMS, 0.0)
    for one in seeds:
        writer = Writer(world, one)
        for noise in NOISES:
            cases = stream(world, noise, one)
            for arm in ARMS:
                started = time.process_time()
                found[str(noise)][arm].append(score(arm, world, cases, writer.rule, one))
                taken[arm] += 0.0 if noise else (time.process_time() - started) / len(seeds)
    table = {noise: {arm: _figures(scores) for arm, scores in arms.items()} for noise, arms in found.items()}
    means = {noise: {arm: [mean(map(float, scores)) for scores in runs] for arm, runs in arms.items()} for noise, arms in found.items()}
    clean, loudest = table[str(NOISES[0])], table[str(NOISES[-1])]
    return {
        "by_noise": table,
        "best_rival": {noise: _against(arms) for noise, arms in means.items()},
        "held_at_most_noise": round(loudest["tenure"]["score"] / clean["tenure"]["score"], 3),
        "arms": _arms(found[str(NOISES[0])], taken),
        "seeds": list(seeds),
        "world": {name: getattr(world, name) for name in world.__dataclass_fields__},
        "seconds": round(time.process_time() - began, 1),
    }


def _figures(runs: Sequence[Sequence[bool]]) -> dict[str, Any]:
    whole = [mean(map(float, run)) for run in runs]
    half, quarter = len(runs[0]) // 2, 3 * len(runs[0]) // 4
    return {
        "score": round(mean(whole), 4),
        "interval": [round(mean(whole) - margin(whole), 4), round(mean(whole) + margin(whole), 4)],
        "before": round(mean(mean(map(float, run[:half])) for run in runs), 4),
        "after": round(mean(mean(map(float, run[half:])) for run in runs), 4),
        "last_quarter": round(mean(mean(map(float, run[quarter:])) for run in runs), 4),
    }


def _arms(arms: Mapping[str, Sequence[Sequence[bool]]], taken: Mapping[str, float]) -> dict[str, Any]:
    """Figures of arms over seeds. Without what it remembers, each is the agent without a memory. No text is read, no model asked."""
    alone = [mean(map(float, run)) for run in arms["none"]]
    found: dict[str, Any] = {}
    for arm, runs in arms.items():
        cuts = [len(runs[0]) * place // 4 for place in range(5)]
        quarters = [mean(mean(map(float, run[start:end])) for run in runs) for start, end in pairwise(cuts)]
        scores = [mean(map(float, run)) for run in runs]
        found[arm] = arm_figures(scores, alone=alone, by_quarter=quarters, seconds=taken[arm], attempts=len(runs[0]), calls=0, usd=0.0)
    return found


def _against(arms: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    rivals = [arm for arm in arms if arm != "tenure" and arm not in EXTRA]
    best = max(rivals, key=lambda arm: mean(arms[arm]))
    differences = [mine - theirs for mine, theirs in zip(arms["tenure"], arms[best], strict=True)]
    middle, by = mean(differences), margin(differences)
    verdict = "better" if middle > by else "worse" if middle < -by else "tied"
    return {"arm": best, "difference": round(middle, 4), "interval": [round(middle - by, 4), round(middle + by, 4)], "tenure_is": verdict}


def margin(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of a mean; two values or more."""
    degrees = len(values) - 1
    return (_T[degrees - 1] if degrees <= len(_T) else 2.1) * stdev(values) / sqrt(len(values))
