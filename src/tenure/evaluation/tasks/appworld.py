"""The task `appworld`: a coding agent among simulated applications (Trivedi et al., ACL 2024; the package `appworld`, Apache-2.0).

The package and its data are its authors' and are installed by their own commands; they are reached through a few calls:
`load_task_ids(dataset)`, `AppWorld(task_id=..., experiment_name=..., max_interactions=...)` as a context manager with
`task.instruction`, `task.supervisor`, `task.app_descriptions`, `execute(code)`, `task_completed()` and `evaluate()`, whose
result has `success`, `pass_count`, `num_tests` and `failures`. The agent reasons and acts in turns, one block of code each,
as the ReAct agent of the benchmark does. The score is task goal completion: 1 where every test of the task passes.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.harness.ports import Agent, Instance, Item, Observation, Query, Response
from tenure.evaluation.harness.sample import Score, Scored, Unscorable
from tenure.evaluation.model_arms.asking import instructions
from tenure.ports import LanguageModel, Prompt
from tenure.roles.asking import data_block
from tenure.roles.transcript import shortened

DATASET = "dev"
STEPS = 30
"""Blocks of code that the agent may run for one task."""

LONGEST_OUTPUT = 8_000
"""Characters of one output that the agent is shown, both ends of a longer one."""

MOST_TOKENS = 1_500
_CODE = re.compile(r"```(?:python)?[ \t]*\n(?P<code>.*?)```", re.DOTALL)

GET = "pip install appworld, then: appworld install && appworld download data"


def world() -> Any:
    """The package.

    Raises:
        UserError: it is not installed.
    """
    if importlib.util.find_spec("appworld") is None:
        raise UserError(f"Task 'appworld' needs the package appworld and its data: {GET}")
    return importlib.import_module("appworld")


def _experiment() -> str:
    """Where the package writes what was done: each process has a folder of its own, since several may work on one task."""
    return f"tenure-{os.getpid()}"


class AppWorldTask:
    """The stream of tasks.

    Args:
        dataset: `train`, `dev`, `test_normal` or `test_challenge`.
        seed: of orders.
        instances: tasks of each order; none takes all.
        train: tasks of each order that stand outside the stream, for arms that learn before it.
        steps: blocks of code that the agent may run for one task.

    Raises:
        UserError: the package or its data is not installed, or the dataset is too small.
    """

    name = "appworld"

    def __init__(self, *, dataset: str = DATASET, seed: int = 0, instances: int | None = None, train: int = 0, steps: int = STEPS) -> None:
        package = world()
        try:
            self._ids = [str(one) for one in package.load_task_ids(dataset)]
        except Exception as exc:  # the package raises plain exceptions where its data is missing
            raise UserError(f"Task 'appworld' cannot read its dataset '{dataset}': {exc} Get the data: {GET}") from exc
        if train >= len(self._ids):
            raise UserError(f"The dataset '{dataset}' of appworld has {len(self._ids)} tasks, so {train} for training leave none to ask.")
        self._seed, self._train, self._steps = seed, train, steps
        self._instances = min(instances or len(self._ids), len(self._ids) - train)
        self._prompts: dict[str, str] = {}
        self.about: Mapping[str, Any] = {
            "dataset": dataset,
            "appworld": str(getattr(package, "__version__", "")),
            "seed": seed,
            "instances": self._instances,
            "train": train,
            "steps": steps,
        }

    def stream(self, order: int) -> Sequence[Instance]:
        """The tasks in one order: a shuffle by seed and order."""
        return self._placed(self._shuffled(order)[self._train : self._train + self._instances])

    def training(self, order: int) -> Sequence[Instance]:
        """The first tasks of the shuffle, which the stream leaves out."""
        return self._placed(self._shuffled(order)[: self._train])

    def agent(self, order: int, model: LanguageModel | None) -> Agent:
        """The coding agent."""
        if model is None:
            raise UserError("Task 'appworld' is acted on by a model: --model PROVIDER:MODEL")
        return CodingAgent(model, steps=self._steps)

    def score(self, instance: Instance, response: Response) -> Score:
        """1 where every test passes, else 0; none where the world could not judge."""
        if "success" not in response.outcome:
            return Unscorable(response.problem or "the world did not judge the task")
        return Scored(float(response.outcome["success"]))

    def observe(self, instance: Instance, response: Response, order: int) -> Observation:
        """What the tests of the task say: how many pass, and which do not."""
        outcome = response.outcome
        if "success" not in outcome:
            return Observation(text=response.problem)
        said = [f"{outcome['passed']} of {outcome['tests']} tests of the task pass."]
        said += [f"Not met: {one}" for one in outcome["failed"]]
        return Observation(text="\n".join(said), score=float(outcome["success"]))

    def _shuffled(self, order: int) -> list[str]:
        ids = list(self._ids)
        Random(f"appworld:{self._seed}:order:{order}").shuffle(ids)
        return ids

    def _placed(self, ids: Sequence[str]) -> list[Instance]:
        return [
            Instance(query=Query(id=one, index=place, prompt=self._prompt(one), text=self._prompt(one)), truth="")
            for place, one in enumerate(ids)
        ]

    def _prompt(self, task_id: str) -> str:
        if task_id not in self._prompts:
            with world().AppWorld(task_id=task_id, experiment_name=_experiment()) as opened:
                self._prompts[task_id] = str(opened.task.instruction)
        return self._prompts[task_id]


class CodingAgent:
    """Reasons and runs code, turn by turn, until the task is completed or its steps are used up.

    Args:
        model: is asked once a turn.
        steps: turns at most.
    """

    def __init__(self, model: LanguageModel, *, steps: int = STEPS) -> None:
        self._model, self._steps = model, steps

    @property
    def name(self) -> str:
        """Of the model."""
        return self._model.name

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """Work on one task, the notes of the memory before it."""
        notes = data_block({"note": number, "text": item.text} for number, item in enumerate(items, 1))
        turns: list[str] = []
        problem, attempts = "", 0
        with world().AppWorld(task_id=query.id, experiment_name=_experiment(), max_interactions=self._steps) as opened:
            told = self._told(opened, query, notes if items else "")
            while not opened.task_completed():
                if attempts >= self._steps:
                    problem = f"the task was not completed within {self._steps} steps"
                    break
                attempts += 1
                reply = self._model.complete(
                    Prompt(system=instructions("appworld"), user="\n\n".join((told, *turns)), purpose="generate", max_tokens=MOST_TOKENS)
                )
                code = _CODE.search(reply.text)
                output = opened.execute(code["code"]) if code is not None else "No block of code was found in the reply."
                turns.append(f"## Step {attempts}\n\n{reply.text.strip()}\n\nOutput:\n{shortened(str(output), LONGEST_OUTPUT)}")
            judged = opened.evaluate()
        return Response(
            answer="completed" if not problem else None,
            memory=tuple(item.text for item in items),
            problem=problem,
            said="\n\n".join(turns),
            outcome={
                "success": bool(judged.success),
                "passed": int(judged.pass_count),
                "tests": int(judged.num_tests),
                "failed": [str(one["requirement"]) for one in judged.failures],
            },
        )

    def _told(self, opened: Any, query: Query, notes: str) -> str:
        """The task as it stands before the steps."""
        supervisor = opened.task.supervisor
        who = ", ".join(str(getattr(supervisor, name, "")) for name in ("first_name", "last_name", "email", "phone_number"))
        apps = "\n".join(f"- {name}: {said}" for name, said in opened.task.app_descriptions.items())
        parts = [f"# Notes\n\n{notes}"] if notes else []
        return "\n\n".join((*parts, f"# Applications\n\n{apps}", f"# Your supervisor\n\n{who}", f"# Task\n\n{query.prompt}"))
