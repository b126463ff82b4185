"""GEPA through its own package (arXiv 2507.19457; the package `gepa`, MIT): reflective evolution of one instruction.

Offline: half of the training instances are reflected on, half validate, and the best instruction stands before the agent
during the stream. The package samples, accepts and keeps the Pareto front; this module only acts for a candidate, tells what
came of it, and passes its reflections on to the model of the comparison. Its budget is counted in answers of the agent.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from tenure.errors import UserError, installing
from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.model_arms.asking import experience, tokens_of
from tenure.ports import Prompt

PART = "instruction"
SEED = "Answer the question as it asks."
ANSWERS_EACH = 8
"""Answers of the agent for each training instance: the budget of the evolution."""

MINIBATCH = 3
"""Instances of one reflection, the package's default."""


def lacking() -> str:
    """Why the arm cannot run here; empty if it can."""
    return "" if importlib.util.find_spec("gepa") is not None else f"the package gepa is not installed: {installing('gepa')}"


class GepaArm:
    """One instruction, evolved over a training set and then frozen.

    Args:
        kit: of the comparison, with a model and feedback.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self.reset()

    def reset(self) -> None:
        """No instruction."""
        self.instruction = ""

    def train(self, queries: Sequence[Query]) -> None:
        """Evolve the instruction.

        Raises:
            UserError: there are fewer than two training instances, or the package is not installed.
        """
        if len(queries) < 2:
            raise UserError(
                f"The arm 'gepa' reflects on one half of the training instances and validates on the other: {len(queries)} is too few."
            )
        if lacking():
            raise UserError(f"The arm 'gepa' cannot run: {lacking()}")
        gepa: Any = importlib.import_module("gepa")
        half = (len(queries) + 1) // 2
        found = gepa.optimize(
            seed_candidate={PART: SEED},
            trainset=list(queries[:half]),
            valset=list(queries[half:]),
            adapter=_Adapter(self._kit),
            reflection_lm=self._reflect,
            reflection_minibatch_size=min(MINIBATCH, half),
            max_metric_calls=ANSWERS_EACH * len(queries),
            logger=_Silent(),
            seed=self._kit.seed,
        )
        self.instruction = str(found.best_candidate[PART])

    def respond(self, query: Query) -> Response:
        """Answer with the instruction before the agent."""
        return self._kit.agent.act(query, [Item(text=self.instruction)] if self.instruction else [])

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Nothing: what it learned is frozen."""

    def memory_tokens(self) -> int:
        """Of the instruction."""
        return tokens_of([self.instruction])

    def _reflect(self, prompt: str | list[dict[str, Any]]) -> str:
        assert self._kit.model is not None
        text = prompt if isinstance(prompt, str) else "\n\n".join(str(message.get("content", "")) for message in prompt)
        return self._kit.model.complete(Prompt(system="", user=text, purpose="reflect", max_tokens=4000)).text


class _Adapter:
    """What the package asks of a system: act for a candidate, and tell what came of it (`gepa.core.adapter.GEPAAdapter`)."""

    propose_new_texts = None

    def __init__(self, kit: Kit) -> None:
        assert kit.feedback is not None, "a comparison can say what comes of an answer"
        self._agent, self._feedback = kit.agent, kit.feedback

    def evaluate(self, batch: Sequence[Query], candidate: Mapping[str, str], capture_traces: bool = False) -> Any:
        core: Any = importlib.import_module("gepa.core.adapter")
        outputs: list[Response] = []
        scores: list[float] = []
        traces: list[dict[str, Any]] = []
        for query in batch:
            response = self._agent.act(query, [Item(text=candidate[PART])])
            told = self._feedback(query, response)
            outputs.append(response)
            scores.append(told.score or 0.0)
            traces.append(experience(query, response, told))
        return core.EvaluationBatch(outputs=outputs, scores=scores, trajectories=traces if capture_traces else None)

    def make_reflective_dataset(self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]) -> Any:
        records = [
            {
                "Inputs": trace.get("question", ""),
                "Generated Outputs": trace.get("said") or trace.get("answer", ""),
                "Feedback": trace.get("feedback", ""),
            }
            for trace in eval_batch.trajectories
        ]
        return dict.fromkeys(components_to_update, records)


class _Silent:
    """Keeps what the package says off the terminal: the record of calls has it all."""

    def log(self, message: str) -> None:
        pass
