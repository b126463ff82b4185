"""The tasks there are, by name: what each asks, which arms it compares unless told otherwise, and how it is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.harness.ports import Task

DATA_VARIABLE = "TENURE_DATA"
"""Names the folder of public data, by whose files tasks are run where `--data` is not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTask:
    """One task.

    Attributes:
        name: as in `tenure bench run NAME`.
        measures: what it asks, in one sentence.
        file: its data, as a path in the folder that `TENURE_DATA` names; empty if it needs none.
        data: what the data is, as it stands after "needs"; empty if it needs none.
        arms: compared unless others are named.
        keyless: whether it can be acted on by plain code, without a model.
        said: what its numbers mean and do not mean, a sentence or two; stands beside them where there is no model.
        options: other options that it takes, by name, with what is taken where they are not given.
        make: opens it.
        said_with_model: the same where a model acts.
    """

    name: str
    measures: str
    file: str
    data: str
    arms: tuple[str, ...]
    keyless: bool
    said: str
    options: Mapping[str, Any]
    make: Callable[[Mapping[str, Any]], Task]
    said_with_model: str = ""

    @property
    def command(self) -> str:
        """What to type to run it, with what it needs."""
        model = "" if self.keyless else " --model PROVIDER:MODEL --max-usd N"
        return f"tenure bench run {self.name}{' --data FILE' if self.file else ''}{model}"

    @property
    def needs(self) -> str:
        """What it needs, in a few words."""
        found = [f"--data FILE: {self.data}"] if self.file else [self.data] if self.data else []
        return "; ".join((*found, *(() if self.keyless else ("a model",)))) or "nothing"


def _finer(options: Mapping[str, Any]) -> Task:
    from tenure.evaluation.tasks.finer import Finer

    return Finer(
        Path(options["data"]),
        seed=options["seed"],
        noise=options["noise"],
        instances=options["instances"],
        train=options["train"],
    )


def _formula(options: Mapping[str, Any]) -> Task:
    from tenure.evaluation.tasks.formula import Formula

    return Formula(
        Path(options["data"]),
        seed=options["seed"],
        noise=options["noise"],
        instances=options["instances"],
        train=options["train"],
    )


def _tau_recurrence(options: Mapping[str, Any]) -> Task:
    from tenure.evaluation.tasks.tau_recurrence import BUDGET, TauRecurrence

    budget = options["budget"] if options["budget"] is not None else BUDGET
    return TauRecurrence(Path(options["data"]), seed=options["seed"], instances=options["instances"], budget=budget)


def _appworld(options: Mapping[str, Any]) -> Task:
    from tenure.evaluation.tasks.appworld import DATASET, STEPS, AppWorldTask

    return AppWorldTask(
        dataset=options["dataset"] or DATASET,
        seed=options["seed"],
        instances=options["instances"],
        train=options["train"],
        steps=options["steps"] or STEPS,
    )


BY_MODEL = (
    "One model acts for every arm and writes for those that keep lessons, with prompts of our own after each source. Published "
    "scores come from other models, prompts and splits: they are context, never to be compared."
)

TRANSPARENT = (
    "A transparent agent does what its memory hands it and has no language ability: these numbers measure the memory policy, "
    "never what a model can do, and are not to be compared with published scores of models."
)

TASKS: Mapping[str, ListedTask] = {
    one.name: one
    for one in (
        ListedTask(
            name="finer",
            measures="which memory tags numbers in filings best, from a stream of labels that may lie (--noise)",
            file="finance/finer_val_batched_500_samples.jsonl",
            data="FiNER questions in batches, one JSON object a line",
            arms=("none", "full-history", "similar-cases", "similar-cases-20", "overwrite", "ace", "reharness", "tenure"),
            keyless=True,
            said=TRANSPARENT,
            options={"noise": 0.0, "instances": None, "train": 0},
            make=_finer,
            said_with_model=BY_MODEL,
        ),
        ListedTask(
            name="formula",
            measures="which memory lets an agent induce, check and reuse the expression behind a financial figure, exact to 2 decimals",
            file="finance/formula_val_subset_300.jsonl",
            data="Formula questions, one JSON object a line",
            arms=("none", "full-history", "similar-cases", "similar-cases-20", "overwrite", "ace", "reharness", "tenure"),
            keyless=True,
            said=f"{TRANSPARENT} The agent does not read the formula that a question states: what it knows, its memory handed to it.",
            options={"noise": 0.0, "instances": None, "train": 0},
            make=_formula,
            said_with_model=BY_MODEL,
        ),
        ListedTask(
            name="tau-recurrence",
            measures="whether what a model learns from recorded runs warns of the tool errors that come again",
            file="tau-airline/gpt-4o-airline-trials-0-1.json",
            data="recorded runs of tau-bench, or any that tenure learn reads",
            arms=("none", "similar-cases", "overwrite", "ace-rounds-1", "reasoning-bank", "reharness", "tenure"),
            keyless=False,
            said="",
            options={"instances": None, "budget": None},
            make=_tau_recurrence,
            said_with_model=(
                "Nobody acts: the runs are recordings. It measures what a memory would put before an agent, never whether the agent "
                "would obey. Runs without an error that came before are unscorable."
            ),
        ),
        ListedTask(
            name="appworld",
            measures="which memory helps a coding agent among simulated applications, by the tests of each task",
            file="",
            data="the package appworld and its data",
            arms=("none", "similar-cases", "dynamic-cheatsheet", "ace", "reasoning-bank", "reharness", "tenure"),
            keyless=False,
            said="",
            options={"instances": None, "train": 0, "dataset": None, "steps": None},
            make=_appworld,
            said_with_model=BY_MODEL,
        ),
    )
}


def open_task(name: str, options: Mapping[str, Any]) -> Task:
    """A task.

    Args:
        name: one of `TASKS`.
        options: `data` (a path as text), `seed`, and those of the task.

    Raises:
        UserError: its data cannot be read.
    """
    listed = TASKS[name]
    return listed.make({**listed.options, **options})


def data_of(listed: ListedTask, given: Path | None) -> Path | None:
    """The data of a task: what was given, else its file in the folder that `TENURE_DATA` names.

    Raises:
        UserError: neither is there.
    """
    if given is not None or not listed.file:
        return given
    folder = os.environ.get(DATA_VARIABLE, "")
    found = Path(folder) / listed.file if folder else None
    if found is None or not found.is_file():
        where = f"'{found}' is not there" if found is not None else f"{DATA_VARIABLE} is not set"
        raise UserError(f"Task '{listed.name}' needs {listed.data}: tenure bench run {listed.name} --data FILE ({where}).")
    return found
