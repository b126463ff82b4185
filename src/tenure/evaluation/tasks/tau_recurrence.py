"""The task `tau-recurrence`: does what a model learns from recorded runs warn of the errors that come again?

The stream is recorded runs of tau-bench (sierra-research/tau-bench, MIT), or any runs that `tenure learn` reads. Nobody acts:
before each run, a memory is asked for what it would put before the agent, and afterwards it is shown the run as it was. A
tool error of the run that an earlier run of the order had too is covered where a passage of the memory, within a budget of
tokens in the order of the prompt, names the tool and at least half of the telling words of the error with its values masked.
A passage is two lines that follow each other. The score of a run is the share of such errors that are covered; a run without
one is unscorable. It measures what is put before an agent, never whether an agent would obey.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.harness.ports import Agent, Instance, Item, Observation, Query, Response
from tenure.evaluation.harness.sample import Score, Scored, Unscorable
from tenure.evaluation.likeness import roots
from tenure.evaluation.recurrence import in_order
from tenure.ports import LanguageModel
from tenure.ranking import estimate_tokens
from tenure.roles.actions import actions_of
from tenure.roles.signatures import mask, signature
from tenure.roles.transcript import transcribe
from tenure.traces import ReadReport, read_runs

BUDGET = 1_000
"""Tokens of a memory that count."""

NAMED = 0.5
"""Share of the telling words of an error that a passage about it holds at least."""

MOST_TOKENS = 6_000
"""Tokens of a run as arms are shown it."""


class RecordedAgent:
    """Acts no more: the run is a recording."""

    name = "recorded runs"

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """What the memory puts before it, and no answer."""
        return Response(answer=None, memory=tuple(item.text for item in items))


class TauRecurrence:
    """The stream of recorded runs.

    Args:
        data: a file of runs in any form that `tenure learn` reads.
        seed: of orders.
        instances: runs of each order; none takes all.
        budget: tokens of a memory that count, in the order of the prompt.

    Raises:
        UserError: no run can be read.
    """

    name = "tau-recurrence"

    def __init__(self, data: Path, *, seed: int = 0, instances: int | None = None, budget: int = BUDGET) -> None:
        report = ReadReport()
        self._runs = in_order(run for run in read_runs(data, report=report) if run.task.text.strip())
        if not self._runs:
            why = f" ({report.unreadable[0].reason})" if report.unreadable else ""
            raise UserError(f"'{data}' holds no runs that can be read{why}. Name a file of runs, such as a result file of tau-bench.")
        self._seed, self._budget = seed, budget
        self._instances = min(instances or len(self._runs), len(self._runs))
        self._by_id = {run.id: run for run in self._runs}
        self.about: Mapping[str, Any] = {
            "data": data.name,
            "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest()[:16],
            "seed": seed,
            "instances": self._instances,
            "budget": budget,
        }

    def stream(self, order: int) -> Sequence[Instance]:
        """The first order as recorded, trial by trial; the others shuffled by seed and order."""
        runs = list(self._runs)
        if order:
            Random(f"tau-recurrence:{self._seed}:order:{order}").shuffle(runs)
        seen: set[str] = set()
        found: list[Instance] = []
        for place, run in enumerate(runs[: self._instances]):
            errors = [(action.tool, action.error) for action in actions_of(run) if action.error]
            again = [[tool, error] for tool, error in errors if signature(tool, error) in seen]
            seen |= {signature(tool, error) for tool, error in errors}
            query = Query(id=run.id, index=place, prompt=run.task.text, text=run.task.text)
            found.append(Instance(query=query, truth=json.dumps(again)))
        return found

    def training(self, order: int) -> Sequence[Instance]:
        """None."""
        return ()

    def agent(self, order: int, model: LanguageModel | None) -> Agent:
        """The recording; a model writes, and nobody acts."""
        return RecordedAgent()

    def score(self, instance: Instance, response: Response) -> Score:
        """Share of the errors that came before which the memory warns of."""
        again = json.loads(instance.truth)
        if not again:
            return Unscorable("no tool error of this run came before")
        said = passages(response.memory, self._budget)
        return Scored(sum(any(covers(one, tool, error) for one in said) for tool, error in again) / len(again))

    def observe(self, instance: Instance, response: Response, order: int) -> Observation:
        """The run as it was, and how it ended."""
        run = self._by_id[instance.query.id]
        ended = f"Outcome: {run.outcome.score:g} of 1." if run.outcome.score is not None else "Outcome: not known."
        steps = "\n".join(transcribe(run, budget_tokens=MOST_TOKENS).lines)
        return Observation(text=f"{steps}\n{ended}", score=run.outcome.score, run=run)


def passages(memory: Sequence[str], budget: int) -> list[str]:
    """Pairs of lines of what a memory puts before an agent, of the first so many tokens."""
    lines: list[str] = []
    for line in (line for text in memory for line in text.splitlines() if line.strip()):
        budget -= estimate_tokens(line)
        if budget < 0:
            break
        lines.append(line)
    return [f"{one} {after}" for one, after in zip_longest(lines, lines[1:], fillvalue="")]


def covers(passage: str, tool: str, error: str) -> bool:
    """Whether a passage names a tool and half of what tells its error."""
    words = {root for root, _ in roots(mask(error))}
    there = {root for root, _ in roots(passage)}
    return tool.lower() in passage.lower() and len(words & there) >= NAMED * len(words)
