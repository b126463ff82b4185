"""Runs a comparison: every arm in every order, in processes of their own, from where an interrupted one stopped.

An arm is answered for twice at each instance: with what it remembers, and reset, as gain is defined. The reset twin is
another object of the same arm, so that nothing leaks from one to the other. With a model, what reset twins ask is asked once an
order for all arms, since they ask the same.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tenure.errors import ModelError, SpendCapReached, UserError
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.ports import Agent, Arm, Instance, Item, Kit, Leaving, Measured, Query, Response, Task, Trained
from tenure.evaluation.harness.recording import JobRecord, RecordedModel, SharedReplies, read_job
from tenure.evaluation.harness.sample import Sample
from tenure.evaluation.harness.spending import Spending, metered
from tenure.evaluation.tasks.listed import open_task
from tenure.evaluation.writer import TransparentWriter
from tenure.ports import LanguageModel, Usage
from tenure.ranking import estimate_tokens
from tenure.version import __version__

Tell = Callable[[float, str], None]

RECORDS = "records"
"""Folder for records inside that of a comparison."""

TOLD_EVERY = 50
"""Instances after which a job that runs alone says how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One arm in one order. Everything in it can be sent to another process.

    Attributes:
        task: its name.
        options: of the task, as `open_task` takes them.
        arm: its name.
        order: from 0.
        seed: of the comparison.
        spending: which model arms and agent ask, and what it may use; none asks none.
        folder: for the record.
    """

    task: str
    options: Mapping[str, Any]
    arm: str
    order: int
    seed: int
    spending: Spending | None
    folder: Path
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def path(self) -> Path:
        """Of its record."""
        return self.folder / f"{self.arm}-{self.order}.jsonl"

    @property
    def model(self) -> str:
        """Name of the model; empty where there is none."""
        return self.spending.model if self.spending is not None else ""

    @property
    def depends(self) -> dict[str, Any]:
        """What its samples follow from."""
        on = {"arm": self.arm, "order": self.order, "seed": self.seed, "model": self.model, "tenure": __version__}
        return {"task": self.task, **self.about, **on}


def run_jobs(
    task: Task,
    options: Mapping[str, Any],
    arms: Sequence[str],
    *,
    orders: int,
    seed: int,
    spending: Spending | None = None,
    model: LanguageModel | None = None,
    out: Path | None = None,
    workers: int | None = None,
    tell: Tell | None = None,
) -> dict[str, list[list[Sample]]]:
    """The samples of each arm, order by order.

    Args:
        task: what is asked.
        options: with which it was opened, so that other processes open the same.
        arms: names, each with a form that can run here.
        orders: how many.
        seed: of the comparison.
        spending: which model arms and agent ask, and what it may use in all; none asks none.
        model: takes the place of the one that is named, in this process alone.
        out: a folder for records, made if it is not there; none keeps none. What is finished there is not done again.
        workers: processes at once; none takes one for each processor, and no more than there are jobs. 1 starts none.
        tell: told how far it is.

    Raises:
        UserError: records in `out` are of another comparison, a cap on spending is reached, or the model fails for good.
    """
    with ExitStack() as stack:
        folder = (out / RECORDS) if out is not None else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tenure-bench-")))
        jobs = [
            Job(task=task.name, options=options, arm=arm, order=order, seed=seed, spending=spending, folder=folder, about=task.about)
            for order in range(orders)
            for arm in arms
        ]
        waiting = [job for job in jobs if read_job(job.path, job.depends) is None]
        _carry_out(
            waiting, done=len(jobs) - len(waiting), total=len(jobs), workers=1 if model is not None else workers, model=model, tell=tell
        )
        return {arm: [_finished(job) for job in jobs if job.arm == arm] for arm in arms}


def _finished(job: Job) -> list[Sample]:
    samples = read_job(job.path, job.depends)
    assert samples is not None, f"{job.path} has no end"
    return samples


def _carry_out(jobs: Sequence[Job], *, done: int, total: int, workers: int | None, model: LanguageModel | None, tell: Tell | None) -> None:
    def told(share: float, said: str) -> None:
        if tell is not None:
            tell(share / max(1, total), said)

    most = min(len(jobs), workers or os.cpu_count() or 1)
    if most <= 1:
        for place, job in enumerate(jobs):
            run_job(job, model=model, tell=lambda share, said, place=place: told(done + place + share, said))  # type: ignore[misc]
        return
    # Spawned, not forked: a forked process would share threads' locks and open files.
    with ProcessPoolExecutor(max_workers=most, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(run_job, job): job for job in jobs}
        try:
            for number, future in enumerate(as_completed(futures), 1):
                future.result()
                told(done + number, f"{futures[future].arm}, order {futures[future].order + 1} done")
        except BaseException as exc:
            # Who goes on at once must not meet a job that still writes its record; who interrupted wants no wait.
            pool.shutdown(wait=isinstance(exc, Exception), cancel_futures=True)
            raise


def run_job(job: Job, *, model: LanguageModel | None = None, tell: Tell | None = None) -> None:
    """Answer a whole order with one arm, and write the record.

    Args:
        job: what to do.
        model: takes the place of the one that the job names.
        tell: told how far it is.

    Raises:
        UserError: a cap on spending is reached. What was answered stands in the record of calls, here and below.
        ModelError: the model fails for good.
    """
    if job.spending is None:
        _run(job, None, None, tell)
        return
    try:
        with metered(job.spending, job.folder, model) as meter:
            recorded = RecordedModel(meter, job.folder / f"{job.arm}-{job.order}.calls.jsonl")
            _run(job, recorded, SharedReplies(meter, job.folder / f"alone-{job.order}"), tell)
    except SpendCapReached as exc:
        raise UserError(
            f"{job.arm}, order {job.order + 1}, stopped: the cap of {exc.cap} {exc.what} would be passed by the next call, {exc.spent} "
            "spent. Replies so far are kept: the same command with a higher cap goes on from there."
        ) from exc
    except ModelError as exc:
        raise ModelError(
            f"{job.arm}, order {job.order + 1}, stopped: {exc} Replies so far are kept: the same command goes on from there."
        ) from exc


def _run(job: Job, model: RecordedModel | None, alone_model: LanguageModel | None, tell: Tell | None) -> None:
    task = _task(job.task, tuple(sorted(job.options.items())))
    listed = ARMS[job.arm]
    stream, training = task.stream(job.order), task.training(job.order) if listed.epochs else []
    make = listed.maker(with_model=model is not None)
    kit = kit_of(task, model, [*training, *stream], order=job.order, seed=job.seed)
    counted = CountedAgent(kit.agent)
    arm = make(replace(kit, agent=counted))
    alone = make(kit_of(task, alone_model, stream, order=job.order, seed=job.seed))
    if isinstance(arm, Trained):
        arm.train([instance.query for instance in training])
    else:
        for _ in range(listed.epochs):
            for instance in training:
                response = arm.respond(instance.query)
                arm.observe(task.observe(instance, response, job.order))
                _stop_if_failed(model)
    with JobRecord(job.path, job.depends) as record:
        before: tuple[str, ...] = ()
        for place, instance in enumerate(stream):
            next_instance = stream[place + 1] if place + 1 < len(stream) else None
            acted = counted.acted
            sample, response = _answered(task, job.order, arm, alone, instance, next_instance, before, model, learns=not listed.frozen)
            sample = replace(sample, attempts=counted.acted - acted)
            _stop_if_failed(model)
            record.put(sample, response.memory)
            before = response.memory
            if tell is not None and ((place + 1) % TOLD_EVERY == 0 or model is not None):
                tell((place + 1) / len(stream), f"{job.arm}, order {job.order + 1}, {place + 1} of {len(stream)}")
        if isinstance(arm, Leaving):
            arm.leave(job.folder, f"{job.arm}-{job.order}")
        record.end()


def _stop_if_failed(model: RecordedModel | None) -> None:
    """An engine that goes on without its model would be measured as another one."""
    if model is not None and model.failure is not None:
        raise model.failure


def _answered(
    task: Task,
    order: int,
    arm: Arm,
    alone: Arm,
    instance: Instance,
    following: Instance | None,
    before: Sequence[str],
    model: RecordedModel | None,
    *,
    learns: bool,
) -> tuple[Sample, Response]:
    used = model.usage if model is not None else Usage()
    began = time.process_time()
    response = arm.respond(instance.query)
    if learns:
        arm.observe(task.observe(instance, response, order), following.query if following is not None else None)
    seconds = time.process_time() - began
    alone.reset()
    stateless = alone.respond(instance.query)
    usage = model.usage if model is not None else Usage()
    calls = usage.calls - used.calls
    read, kept = _memory_tokens(response.memory, before)
    asked = usage.input_tokens + usage.output_tokens - used.input_tokens - used.output_tokens
    sample = Sample(
        id=instance.query.id,
        index=instance.query.index,
        score=task.score(instance, response),
        alone=task.score(instance, stateless),
        answer=response.answer,
        tokens=asked if calls else read,
        written=usage.output_tokens - used.output_tokens if calls else 0,
        cached=usage.cached_tokens - used.cached_tokens if calls else kept,
        memory=arm.memory_tokens() if isinstance(arm, Measured) else None,
        calls=calls,
        usd=None if usage.cost_usd is None or used.cost_usd is None else float(usage.cost_usd - used.cost_usd),
        seconds=seconds,
    )
    return sample, response


@lru_cache(maxsize=65_536)
def _tokens(text: str) -> int:
    return estimate_tokens(text)


def _memory_tokens(memory: Sequence[str], before: Sequence[str]) -> tuple[int, int]:
    """Tokens of the texts a memory put before the agent, and of those of them that begin the prompt as the last one began."""
    kept, same = 0, True
    total = 0
    for place, text in enumerate(memory):
        same = same and place < len(before) and before[place] == text
        cost = _tokens(text)
        total += cost
        kept += cost if same else 0
    return total, kept


class CountedAgent:
    """An agent that knows how often it acted: methods may have it try again while they learn.

    Args:
        agent: acts.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent, self.acted = agent, 0

    @property
    def name(self) -> str:
        """Of the agent."""
        return self._agent.name

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """The agent's response, counted."""
        response = self._agent.act(query, items)
        self.acted += response.attempts
        return response


def kit_of(task: Task, model: LanguageModel | None, instances: Sequence[Instance], *, order: int, seed: int) -> Kit:
    """What the arms of one order are made with.

    Args:
        task: what is asked.
        model: acts and writes; none leaves both to plain code.
        instances: those that feedback may be asked for.
        order: from 0.
        seed: of the comparison.
    """
    by_id = {instance.query.id: instance for instance in instances}
    return Kit(
        agent=task.agent(order, model),
        writer=TransparentWriter(),
        seed=seed,
        model=model,
        usage=(lambda: model.usage) if isinstance(model, RecordedModel) else Usage,
        feedback=lambda query, response: task.observe(by_id[query.id], response, order),
    )


@lru_cache(maxsize=4)
def _task(name: str, options: tuple[tuple[str, Any], ...]) -> Task:
    """The task, once in each process."""
    return open_task(name, dict(options))
