"""A run while it happens: what its agent is shown, the steps it reports, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from tenure.errors import UserError
from tenure.learning.recall import Context
from tenure.playbook.run import STEP_KINDS, Origin, Outcome, Run, Signal, Step, StepKind, Task
from tenure.ports import Clock, IdSource
from tenure.reported import score_of, text_of, verdict_of
from tenure.threads import in_thread

if TYPE_CHECKING:
    from tenure.learning.learned import Learned


class Playing(Protocol):
    """The playbook that a run belongs to."""

    scope: str
    clock: Clock
    ids: IdSource

    def recalled(self, task: str | Task, budget: int | None, run: str = "") -> Context:
        """What an agent should be shown for a task, also for one without words."""
        ...

    def learn(self, run: Run) -> Learned:
        """Learn from a finished run."""
        ...

    def keep(self, run: Run) -> None:
        """Keep a run without learning from it."""
        ...


class ActiveRun:
    """A run while it happens. `context` is what the agent should see; `step` and `finish` report back.

    Left without `finish` it is kept as unfinished, with an unknown outcome. An exception that leaves
    the block is reported as a failure and goes on (see `leave_unjudged`).
    """

    def __init__(self, book: Playing, task: Task, *, budget: int | None, session: str) -> None:
        self._book, self._budget = book, budget
        self._context: Context | None = None
        self._steps: list[Step] = []
        self._cited: tuple[str, ...] = ()
        self._unjudged: BaseException | None = None
        self._under_way: list[Callable[[], None]] = []
        self._run = Run(id="", task=task, scope=book.scope, origin=Origin(channel="api"), session=session)
        self.learned: Learned | None = None
        self._misreported = False  # a report of the end is being made out; still set if it could not be
        self._ending = False  # the end went to the store, whether that worked or not
        self._finished = False

    @property
    def id(self) -> str:
        """The run's id, once it has begun."""
        return self._run.id

    @property
    def task(self) -> Task:
        """What was asked."""
        return self._run.task

    @property
    def context(self) -> str:
        """Text for the prompt: the lessons to follow."""
        return self.shown.text

    @property
    def shown(self) -> Context:
        """The context with its lessons and reasons."""
        if self._context is None:
            raise UserError("The run has not begun. Use it as: with book.run(task) as run: ...")
        return self._context

    def step(
        self,
        kind: StepKind | Step = "message",
        content: str | None = "",
        *,
        role: str = "",
        name: str = "",
        arguments: dict[str, Any] | None = None,
        error: str | None = "",
        call_id: str = "",
        origin: Origin | None = None,
    ) -> int:
        """Report one step, and get its index.

        Args:
            kind: `message`, `thought`, `tool_call`, `tool_result` or `event`; or a whole `Step`.
            content: the text, or the tool's result; none, as chat formats have it beside a tool call, is no text.
            role: `user`, `assistant`, `system` or `tool`; none takes the usual one of the kind.
            name: the tool's name.
            arguments: of a tool call.
            error: why a tool rejected the call; empty if it was accepted.
            call_id: joins a result to its call.
            origin: where the text came from; a tool's result is untrusted unless you say otherwise.

        Raises:
            UserError: the run is finished, or a value is of the wrong kind.
        """
        if self._finished:
            raise UserError(f"Run {self.id} is finished already; this step would be lost. Report steps before finish().")
        if isinstance(kind, Step):
            made = kind
        else:
            usual = {"message": "assistant", "thought": "assistant", "tool_call": "assistant", "tool_result": "tool"}.get(kind, "")
            if origin is None and kind == "tool_result":
                origin = Origin(channel="tool", document=name, trusted=False)
            made = Step(
                kind=kind,
                role=role or usual,
                name=name,
                arguments=arguments if arguments is not None else {},
                content=content or "",
                error=error or "",
                call_id=call_id,
                origin=origin,
                at=self._book.clock.now().isoformat(),
            )
        if made.kind not in STEP_KINDS:
            raise UserError(f"Step kind {made.kind!r} is not known. Use one of: {', '.join(STEP_KINDS)}.")
        if not isinstance(made.arguments, Mapping):
            raise UserError(f"arguments = {made.arguments!r:.80}: they are a dictionary, parsed from JSON. Put other forms into content.")
        self._steps.append(
            replace(
                made,
                role=text_of(made.role, "role"),
                name=text_of(made.name, "name"),
                content=text_of(made.content, "content"),
                error=text_of(made.error, "error"),
                call_id=text_of(made.call_id, "call_id"),
            )
        )
        return len(self._steps) - 1

    def cite(self, lessons: Sequence[str]) -> None:
        """Report lessons that the agent named while it worked; `finish` adds those it is told itself.

        Args:
            lessons: ids as they stand in the context, whole or shortened; what is no known id is left out.
        """
        self._cited = tuple(dict.fromkeys((*self._cited, *self._named(lessons))))

    def leave_unjudged(self, error: BaseException) -> None:
        """Say of an exception that it tells nothing about the agent's work: a server out of reach, a key that is not accepted.

        A run that it ends has an unknown outcome and is kept without learning from it. Without this, it is a failure.
        """
        self._unjudged = error

    def at_end(self, report: Callable[[], None]) -> None:
        """Have something called once, right before the run ends, however it ends: it reports the steps that are under way."""
        self._under_way.append(report)

    def finish(
        self,
        success: bool | None = None,
        *,
        score: float | None = None,
        feedback: str | None = "",
        cited: Sequence[str] | None = (),
        signal: Signal | None = None,
        expected: str = "",
        outcome: Outcome | None = None,
        learn: bool = True,
    ) -> Learned | None:
        """Report how the run ended, and learn from it; durable on return.

        Args:
            success: whether it succeeded; none if that is not known.
            score: 0 to 1, instead of `success`.
            feedback: what was said about it.
            cited: ids of the lessons the agent named, as they stand in the context; what is no known id is left out.
            signal: where the verdict comes from; none means `environment` if there is a verdict.
            expected: the right answer, where it is known.
            outcome: all of this as one value.
            learn: false only keeps the run; learn later with `book.learn_kept()`.

        Returns:
            What was learned; none with `learn=False`.

        Raises:
            UserError: the run is finished already, or a value is of the wrong kind. Mend it and report again:
                left so, the run is kept as unfinished, since nothing is known of how it ended.
            StoreError: the store could not take it; finish can be called again.
        """
        if self._finished:
            raise UserError(f"Run {self.id} is finished already. Begin another with book.run(task).")
        self._misreported = True
        if outcome is None:
            known = success is not None or score is not None
            said: Signal = signal or ("environment" if known else "none")
            try:
                outcome = Outcome(
                    score=score_of(score),
                    success=verdict_of(success),
                    feedback=text_of(feedback, "feedback"),
                    signal=said,
                    expected=text_of(expected, "expected"),
                    at=self._book.clock.now().isoformat(),
                )
            except ValueError as exc:
                raise UserError(str(exc)) from exc
        elif not isinstance(outcome, Outcome):
            raise UserError(f"outcome = {outcome!r:.80}: it is an Outcome, such as Outcome(success=True).")
        named = self._named(cited or ())
        self._misreported = False
        return self._end(outcome, named, learn=learn)

    afinish = in_thread(finish)

    def _begin(self) -> None:
        # The id comes first: by it chance decides what the run is shown.
        begun = self._run.id or self._book.ids.next()
        found = self._context = self._book.recalled(self._run.task, self._budget, begun)
        self._run = replace(
            self._run,
            id=begun,
            shown=found.lessons,
            withheld=tuple(one.id for one in found.withheld),
            draws=found.draws,
            started=self._book.clock.now().isoformat(),
        )

    def _end(self, outcome: Outcome, cited: tuple[str, ...], *, learn: bool) -> Learned | None:
        while self._under_way:
            self._under_way.pop(0)()
        ended = "" if not outcome.known and not self._steps and not outcome.feedback else self._book.clock.now().isoformat()
        named = tuple(dict.fromkeys((*self._cited, *cited)))
        run = replace(self._run, steps=tuple(self._steps), cited=named, outcome=outcome, ended=ended)
        self._ending = True
        if learn:
            self.learned = self._book.learn(run)
        else:
            self._book.keep(run)
        self._finished = True
        return self.learned

    def _named(self, cited: Sequence[str]) -> tuple[str, ...]:
        """Full ids of cited lessons; what was shown comes before what else the playbook has."""
        shown = self.shown.lessons
        found: list[str] = []
        given: Iterable[object] = (cited,) if isinstance(cited, str) else cited
        for name in given:
            if not isinstance(name, str):
                continue  # models answer with all sorts of things; what is no text names no lesson
            plain = name.strip().strip("[]")
            match = [one for one in shown if one == plain] or [one for one in shown if plain and one.startswith(plain)]
            found.append(match[0] if match else plain)
        return tuple(dict.fromkeys(filter(None, found)))

    def _close(self, error: BaseException | None) -> None:
        if self._ending:
            return
        if error is None or self._misreported:
            self._end(Outcome(), (), learn=True)
        elif self._unjudged is not None and self._unjudged in _causes(error):
            self._end(Outcome(feedback=f"{type(error).__name__}: {error}"), (), learn=False)
        elif isinstance(error, Exception):
            self._end(Outcome(success=False, feedback=f"{type(error).__name__}: {error}", signal="environment"), (), learn=True)
        else:  # interrupted from outside: nothing is known of how it would have ended
            self._end(Outcome(feedback=f"interrupted by {type(error).__name__}"), (), learn=False)

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close(error)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._begin)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await asyncio.to_thread(self._close, error)


def _causes(error: BaseException | None) -> list[BaseException]:
    """The exception, what it was raised from, and so on."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__
    return found
