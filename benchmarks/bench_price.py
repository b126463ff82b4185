"""What comparing memories with a model would cost, as `tenure bench run TASK --dry-run` foresees it: calls, tokens, dollars.

One order; further orders cost the same again. No model is asked. How it is worked out stands in
`tenure.evaluation.harness.estimate`, and its assumptions under `assumed`. `usd` are list prices of openai:gpt-4o-mini, from the
price list that is part of the installation; caches are not counted. `in_all` has the arms that are reset before each instance too.
"""

from __future__ import annotations

from typing import Any

from benchmarks.streams import data
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.comparison import foresee

SEED = 0
"""Of the order."""

MODEL = "openai:gpt-4o-mini"
INSTANCES = 100
TRAIN = 20

FINER_ARMS = [name for name, one in ARMS.items() if not one.lacks() and not name.startswith("tenure-")]


def measure(*, full: bool) -> dict[str, Any]:
    """By task: arms with `calls`, `input_tokens`, `output_tokens`, `usd`."""
    size = INSTANCES if full else 4
    found: dict[str, Any] = {"model": MODEL, "orders": 1}
    asked: dict[str, tuple[str, list[str], dict[str, Any]]] = {
        "finer": ("finance/finer_val*.jsonl", FINER_ARMS if full else [], {"instances": size, "train": TRAIN if full else 0}),
        "formula": ("finance/formula_val*.jsonl", [], {"instances": size}),
        "tau-recurrence": ("tau-airline/*.json", [], {"instances": size}),
    }
    for task, (pattern, arms, options) in asked.items():
        file = data(pattern)
        if file is None:
            found[task] = {"skipped": "the data is not at hand (TENURE_DATA)"}
            continue
        expected = foresee(task, model=MODEL, data=file, arms=arms, orders=1, options=options)
        total = expected["total"]
        found[task] = {
            "instances": expected["assumed"]["instances"],
            **{arm.replace("-", "_"): one for arm, one in expected["arms"].items()},
            "reset_arms": expected["twins"],
            "in_all": total,
        }
        found["assumed"] = {name: value for name, value in expected["assumed"].items() if name not in ("instances", "rehearsed")}
    return found
