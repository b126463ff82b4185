"""Offline adaptation: an agent acts on training instances in epochs, and the playbook that validates best is kept.

Each attempt is a run of its own, learned once like any other; a later epoch acts again. After each epoch the agent acts
on the validation instances with the playbook as it is, from which nothing is learned or kept. What was learned after the
best epoch is taken back by a delta, so that the ledger has all of it and any of it can be brought back. Runs stay: they
happened. So the playbook goes on learning online from where this ends.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal, Protocol

from tenure.errors import UserError
from tenure.learning.history import rollback
from tenure.learning.practice import AgentPractice, Attempt, Instance
from tenure.learning.revoking import follow_rollback
from tenure.learning.upkeep import renew_prompt
from tenure.playbook.run import Outcome, Step, Task
from tenure.ports import Clock, IdSource, Store, TaskAgent, Usage

if TYPE_CHECKING:
    from tenure.learning.learned import Learned
    from tenure.learning.practice import AgentFunction, Practice, Scorer, ScorerFunction
    from tenure.learning.recall import Context

EPOCHS = 5
"""Passes over the training instances at most: those of the ACE paper (arXiv 2510.04618)."""

PATIENCE = 2
"""Epochs in a row without a better validation score, after which it ends."""

AUTHOR = "adapt"

PROBLEMS = 20
"""Problems that are kept."""

Stopped = Literal["epochs", "patience", "perfect", "spend", "interrupted"]
"""Why adaptation ended: all epochs are done, none was better for a while, nothing is left to gain, a spend cap, Ctrl-C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One pass.

    Attributes:
        epoch: from 1; 0 is the playbook as it was before.
        score: mean on the validation instances after it, 0 to 1; none without any, or where none could be scored.
        unscored: validation instances for which the scorer gave no score; they are in no mean.
        train_score: mean on the training instances while they were learned from; none for epoch 0.
        runs: attempts at training instances.
        added, merged, revised, retired, held: lessons, as in `Learned`.
        lessons: live ones after it.
        version: of the playbook after it.
        seconds: of the clock.
        complete: whether every training instance had its turn.
    """

    epoch: int
    score: float | None = None
    unscored: int = 0
    train_score: float | None = None
    runs: int = 0
    added: int = 0
    merged: int = 0
    revised: int = 0
    retired: int = 0
    held: int = 0
    lessons: int = 0
    version: int = 0
    seconds: float = 0.0
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """What became of an adaptation.

    Attributes:
        epochs: that were done, epoch 0 first where there are validation instances.
        best: number of the epoch whose playbook was kept; the last one where there are no validation instances.
        score: of the best on the validation instances; none without any.
        kept: the version whose playbook it was.
        version: of the playbook now. Higher than `kept` where later changes were taken back.
        taken_back: whether they were.
        stopped: why it ended.
        usage: of the model calls of learning; what an agent calls is its own.
        problems: what went wrong on the way, a sentence each, the first 20.
    """

    epochs: tuple[Epoch, ...]
    best: int = 0
    score: float | None = None
    kept: int = 0
    version: int = 0
    taken_back: bool = False
    stopped: Stopped = "epochs"
    usage: Usage = field(default_factory=Usage)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an adaptation is.

    Attributes:
        epoch: at hand; 0 before the first.
        part: what is done in it.
        done, total: instances of this part.
        best: the best validation score so far; none without one.
    """

    epoch: int
    part: Literal["training", "validation"]
    done: int
    total: int
    best: float | None = None


class Acting(Protocol):
    """A run while it happens."""

    learned: Learned | None

    @property
    def id(self) -> str:
        """The run's id."""
        ...

    @property
    def shown(self) -> Context:
        """The context with its lessons."""
        ...

    def step(self, kind: Step, /) -> int:
        """Report one step."""
        ...

    def finish(self, *, outcome: Outcome, cited: Sequence[str]) -> Learned | None:
        """Report how it ended, and learn from it."""
        ...


class Book(Protocol):
    """The playbook that is adapted."""

    scope: str
    clock: Clock
    ids: IdSource

    @property
    def store(self) -> Store:
        """Where all of it is kept."""
        ...

    def context(self, task: str | Task) -> Context:
        """What an agent should be shown for a task."""
        ...

    def run(self, task: str | Task) -> AbstractContextManager[Acting]:
        """A run to be reported as it happens."""
        ...


Tell = Callable[[Progress], None]


def adapt(
    book: Book,
    practice: Practice,
    train: Sequence[Instance],
    validation: Sequence[Instance] = (),
    *,
    epochs: int = EPOCHS,
    patience: int = PATIENCE,
    tell: Tell | None = None,
) -> Adapted:
    """Adapt a playbook; see `Tenure.adapt`, which takes an agent and a scorer in place of a practice."""
    if not train:
        raise UserError("There is no training instance. Give one at least.")
    whole: dict[str, object] = {"epochs": epochs, "patience": patience}
    for name, number in whole.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise UserError(f"{name} = {number!r}: it is a whole number from 1.")
    return _Adaptation(book, practice, train, validation, patience, tell).carried_out(epochs)


class _Adaptation:
    def __init__(
        self, book: Book, practice: Practice, train: Sequence[Instance], validation: Sequence[Instance], patience: int, tell: Tell | None
    ) -> None:
        self._book, self._practice, self._train, self._validation = book, practice, train, validation
        self._patience, self._tell = patience, tell
        self._epochs: list[Epoch] = []
        self._best: Epoch | None = None
        self._runs: set[str] = set()
        self._usage = Usage()
        self._problems: list[str] = []

    def carried_out(self, epochs: int) -> Adapted:
        """Epoch by epoch, until one of the reasons to end; then back to the best."""
        both = {one.task.key or one.task.text for one in self._train} & {one.task.key or one.task.text for one in self._validation}
        if both:
            self._note(f"{len(both)} validation tasks stand among the training tasks too: on those, validation measures what was seen.")
        try:
            stopped: Stopped = self._through(epochs)
        except KeyboardInterrupt:
            stopped = "interrupted"
        except Exception:
            self._back_to_best()
            raise
        taken_back = self._back_to_best()
        best = self._best or Epoch(epoch=0, version=self._version())
        return Adapted(
            epochs=tuple(self._epochs),
            best=best.epoch,
            score=best.score,
            kept=best.version,
            version=self._version(),
            taken_back=taken_back,
            stopped=stopped,
            usage=self._usage,
            problems=tuple(self._problems),
        )

    def _through(self, epochs: int) -> Stopped:
        if self._validation:
            began = time.monotonic()
            score, unscored = self._validated(0)
            self._ended(Epoch(epoch=0, score=score, unscored=unscored, seconds=_since(began)))
        waited = 0
        for number in range(1, epochs + 1):
            if self._best is not None and self._best.score == 1.0:
                return "perfect"
            began = time.monotonic()
            trained, complete = self._trained(number)
            score, unscored = self._validated(number) if self._validation else (None, 0)
            better = self._ended(replace(trained, score=score, unscored=unscored, seconds=_since(began)))
            if not complete:
                return "spend"
            waited = 0 if better else waited + 1
            if self._validation and waited >= self._patience and number < epochs:
                return "patience"
        return "perfect" if self._best is not None and self._best.score == 1.0 else "epochs"

    def _ended(self, epoch: Epoch) -> bool:
        """Note an epoch; whether it is the best so far."""
        with self._book.store.reading(self._book.scope) as reading:
            epoch = replace(epoch, lessons=reading.counts()["live"], version=reading.version())
        self._epochs.append(epoch)
        best = self._best
        if best is None or best.score is None or epoch.score is None:
            better = not self._validation or best is None
        else:
            better = epoch.score > best.score
        if better:
            self._best = epoch
        return better

    def _trained(self, number: int) -> tuple[Epoch, bool]:
        """Act on each training instance and learn from it; false where a spend cap that no later run can pass ended it."""
        epoch, scores, failed = Epoch(epoch=number), list[float](), list[str]()
        for done, instance in enumerate(self._train):
            self._told(number, "training", done, len(self._train))
            learned, outcome, error = self._attempted(instance)
            scores += [outcome.score] if outcome.score is not None else []
            failed += [error] if error else []
            self._usage += learned.usage
            for problem in learned.problems:
                self._note(problem)
            epoch = replace(
                epoch,
                runs=epoch.runs + 1,
                train_score=fmean(scores) if scores else None,
                added=epoch.added + learned.added,
                merged=epoch.merged + learned.merged,
                revised=epoch.revised + learned.revised,
                retired=epoch.retired + learned.retired,
                held=epoch.held + learned.held,
            )
            if learned.skipped:
                raise UserError(f"A run of instance '{instance.id}' was not learned from: {learned.skipped}.")
            if learned.limit in ("day", "scope"):
                self._note(f"Ended in epoch {number}, because a spend cap is reached: {learned.postponed}")
                return replace(epoch, complete=epoch.runs == len(self._train)), False
        self._told(number, "training", len(self._train), len(self._train))
        self._check_failures(failed, len(self._train), "training")
        return epoch, True

    def _attempted(self, instance: Instance) -> tuple[Learned, Outcome, str]:
        """One attempt as a new run, learned from."""
        with self._book.run(instance.task) as run:
            self._runs.add(run.id)
            attempt = self._practice.attempt(instance, run.shown)
            outcome = self._practice.judge(instance, attempt)
            for step in (Step(kind="message", role="user", content=instance.task.text), *attempt.steps, *_last_step(attempt)):
                run.step(step)
            learned = run.finish(outcome=outcome, cited=attempt.cited)
        assert learned is not None
        return learned, outcome, attempt.error

    def _validated(self, number: int) -> tuple[float | None, int]:
        """Mean score on the validation instances, and how many had none. Nothing is learned or kept."""
        scores, failed, unscored = list[float](), list[str](), 0
        for done, instance in enumerate(self._validation):
            self._told(number, "validation", done, len(self._validation))
            attempt = self._practice.attempt(instance, self._book.context(instance.task))
            outcome = self._practice.judge(instance, attempt)
            failed += [attempt.error] if attempt.error else []
            if outcome.score is None:
                unscored += 1
            else:
                scores.append(outcome.score)
        self._told(number, "validation", len(self._validation), len(self._validation))
        self._check_failures(failed, len(self._validation), "validation")
        if not scores:
            raise UserError(
                f"None of {len(self._validation)} validation instances could be scored. Give each 'expected', or a scorer that can tell."
            )
        return fmean(scores), unscored

    def _check_failures(self, failed: Sequence[str], of: int, part: str) -> None:
        if failed and len(failed) == of:
            raise UserError(
                f"The agent raised an exception on each of {of} {part} instances. The first: {failed[0]}. "
                "If that is how it fails, have it return what it came to instead."
            )
        if failed:
            self._note(f"The agent raised an exception on {len(failed)} of {of} {part} instances. The first: {failed[0]}")

    def _back_to_best(self) -> bool:
        """Take back what came after the best epoch; whether anything had to be. What others changed meanwhile is not touched."""
        best, book = self._best, self._book
        if best is None or not self._validation:
            return False
        with book.store.writing(book.scope) as work:
            later = work.ledger(after=best.version)
            if not later:
                return False
            foreign = next((one for one in later if not self._is_ours(one.delta.key, one.delta.cause)), None)
            if foreign is not None:
                self._note(
                    f"Others changed the playbook meanwhile (version {foreign.version}, {foreign.delta.author}); nothing was taken back. "
                    f"The best was version {best.version}: tenure diff {best.version}"
                )
                return False
            rollback(work, best.version, ids=book.ids, at=book.clock.now(), author=AUTHOR)
            follow_rollback(work, best.version)
            renew_prompt(work, "adaptation went back to its best epoch")
        return True

    def _is_ours(self, key: str | None, cause: str) -> bool:
        _, _, rest = (key or "").partition(":")
        return cause == "refine" or (cause == "run" and any(rest.startswith(f"{run}:") for run in self._runs))

    def _version(self) -> int:
        with self._book.store.reading(self._book.scope) as reading:
            return reading.version()

    def _note(self, problem: str) -> None:
        if problem not in self._problems and len(self._problems) < PROBLEMS:
            self._problems.append(problem)

    def _told(self, epoch: int, part: Literal["training", "validation"], done: int, total: int) -> None:
        if self._tell is not None:
            best = self._best.score if self._best is not None else None
            self._tell(Progress(epoch=epoch, part=part, done=done, total=total, best=best))


def _last_step(attempt: Attempt) -> tuple[Step, ...]:
    """The answer as the agent's last word, unless a step said it."""
    answer = str(attempt.answer) if attempt.answer is not None else ""
    if not answer or (attempt.steps and attempt.steps[-1].content == answer):
        return ()
    return (Step(kind="message", role="assistant", content=answer),)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


class Adapting(ABC):
    """What `Tenure` offers for offline adaptation."""

    scope: str
    clock: Clock
    ids: IdSource

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where all of it is kept."""

    @abstractmethod
    def context(self, task: str | Task) -> Context:
        """What an agent should be shown for a task."""

    @abstractmethod
    def run(self, task: str | Task) -> AbstractContextManager[Acting]:
        """A run to be reported as it happens."""

    def adapt(
        self,
        agent: TaskAgent | AgentFunction,
        train: Sequence[Instance],
        *,
        validation: Sequence[Instance] = (),
        scorer: Scorer | ScorerFunction | None = None,
        epochs: int = EPOCHS,
        patience: int = PATIENCE,
        tell: Tell | None = None,
    ) -> Adapted:
        """Have an agent act on training instances in epochs, learn from each attempt, and keep the playbook that validates best.

        Each attempt is a new run; nothing is learned twice. The playbook as it was before counts as epoch 0: where no epoch is
        better, it stays as it was. What came after the best is taken back by a delta, which can be undone like any other.
        A Ctrl-C ends it and keeps the best so far. Learning goes on online from the result.

        Args:
            agent: an object with `act(task, context)`, or a function of these. It answers, or gives an `Attempt` with its steps.
            train: instances to learn from, in their order.
            validation: instances to choose by, others than those; none keeps what the last epoch leaves, without early stop.
            scorer: an object with `score(instance, attempt)`, or a function of these; none compares answers with `expected`.
            epochs: passes over `train` at most, from 1.
            patience: epochs in a row without a better validation score after which it ends, from 1.
            tell: told before each attempt how far it is.

        Raises:
            UserError: there is no training instance, a number is below 1, the agent raises on every instance of a pass, or the
                scorer raises or gives what is no score. The best until then is kept here too.
        """
        return adapt(self, AgentPractice(agent, scorer), train, validation, epochs=epochs, patience=patience, tell=tell)
