"""Bench `self-labels`: what becomes of a memory that takes its own answers for labels.

A stream of questions with answers. The first part is kept with its true labels. From there on three memories go on, each with
the same transparent agent, which follows the vote of the most similar kept cases: one is told each true label, one keeps what
it answered itself as if that were right, one keeps nothing more. How often the second is wrong about what it keeps is measured.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import mean
from typing import Any

from tenure.evaluation.harness.ports import Instance, Item
from tenure.evaluation.likeness import Likeness
from tenure.evaluation.tasks.finer import Finer
from tenure.evaluation.tasks.voting import VotingAgent

VOTES = 5
WARM_SHARE = 0.25
"""Share of the stream that is kept with true labels first."""

ARMS = ("labels", "self_labels", "frozen")


def run_self_labels(data: Path, *, seed: int = 0, orders: int = 3, instances: int | None = None) -> dict[str, Any]:
    """Accuracy of the three memories on the rest of the stream, in several orders.

    Args:
        data: FiNER questions in batches, as the task `finer` reads them.
        seed: of the orders.
        orders: how many.
        instances: of each order; none takes all.

    Returns:
        `labels, self_labels, frozen` (shares of right answers, means over orders), `self_label_error` (share of the kept
        answers that are wrong), `loss` (frozen less self_labels: what self-labels cost against not adapting) and the same by
        order, and `last_quarter` of each.
    """
    began = time.process_time()
    task = Finer(data, seed=seed, instances=instances)
    by_order = {str(order): _measure(task, order, seed) for order in range(orders)}
    figures = (*ARMS, "self_label_error", "loss", *(f"{arm}_last_quarter" for arm in ARMS))
    result: dict[str, Any] = {figure: round(mean(one[figure] for one in by_order.values()), 4) for figure in figures}
    return {**result, "orders": orders, "by_order": by_order, "seconds": round(time.process_time() - began, 1)}


class _Memory:
    def __init__(self) -> None:
        self._like = Likeness()
        self._labels: dict[str, str] = {}

    def keep(self, instance: Instance, label: str) -> None:
        self._labels[instance.query.id] = label
        self._like.put(instance.query.id, instance.query.text)

    def items(self, text: str) -> list[Item]:
        near = self._like.nearest(text, VOTES)
        return [Item(text=f"{name} -> {self._labels[name]}", says=self._labels[name], like=like) for name, like in near]


def _measure(task: Finer, order: int, seed: int) -> dict[str, float]:
    stream = task.stream(order)
    border = max(1, round(WARM_SHARE * len(stream)))
    memories = {arm: _Memory() for arm in ARMS}
    agent = VotingAgent(f"self-labels:{seed}:{order}")
    for instance in stream[:border]:
        for memory in memories.values():
            memory.keep(instance, instance.truth)
    right: dict[str, list[bool]] = {arm: [] for arm in ARMS}
    for instance in stream[border:]:
        for arm, memory in memories.items():
            answer = agent.act(instance.query, memory.items(instance.query.text)).answer or ""
            right[arm].append(answer == instance.truth)
            if arm == "labels":
                memory.keep(instance, instance.truth)
            elif arm == "self_labels" and answer:
                memory.keep(instance, answer)
    quarter = max(1, len(stream[border:]) // 4)
    return {
        **{arm: round(mean(some), 4) for arm, some in right.items()},
        "self_label_error": round(1 - mean(right["self_labels"]), 4),
        "loss": round(mean(right["frozen"]) - mean(right["self_labels"]), 4),
        **{f"{arm}_last_quarter": round(mean(some[-quarter:]), 4) for arm, some in right.items()},
    }
