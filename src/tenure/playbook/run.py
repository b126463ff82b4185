"""What an agent did: runs, steps, outcomes, and where their texts came from.

Pure values. Nothing here reads a clock, a file or a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

StepKind = Literal["message", "thought", "tool_call", "tool_result", "event"]
Signal = Literal["test", "environment", "label", "human", "judge", "self", "none"]

STEP_KINDS: tuple[str, ...] = ("message", "thought", "tool_call", "tool_result", "event")

MODEL_CALL = "model_call"
"""Name of the event that says which model answered, and what it used; whoever passes calls on to a provider records it."""

RELIABILITY: Mapping[str, float] = {
    "test": 1.0,
    "environment": 1.0,
    "label": 1.0,
    "human": 0.9,
    "judge": 0.6,
    "self": 0.3,
    "none": 0.0,
}
"""How far an outcome of each signal can be trusted, 0 to 1, unless the reporter says otherwise."""

HONEST_SIGNALS = frozenset({"test", "environment", "label", "human"})
"""Signals that come from outside the model: only these can promote or retire a lesson."""


UNTRUSTED = " (untrusted)"
"""Ends the name of an origin that is not trusted."""


def vote_of(origin: str) -> str:
    """The vote behind the name of an origin, as `Origin.vote`; empty where it is trusted."""
    return "/".join(origin.removesuffix(UNTRUSTED).split("/")[:2]) if origin.endswith(UNTRUSTED) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who or what a text came from. Names under one `principal` and `channel` are one origin.

    Attributes:
        principal: the authenticated party, such as `local` or an API key's owner.
        channel: how it arrived: `cli`, `api`, `tool`, `web`, `file`, `mail`, `import`.
        document: the host or document inside the channel; empty where there is none.
        trusted: persons, tests, labels and the *structure* of tool steps are; free text from
            web, files, mail and tool payloads is not.
    """

    principal: str = "local"
    channel: str = "api"
    document: str = ""
    trusted: bool = True

    @property
    def name(self) -> str:
        """One line that identifies the origin, such as `local/tool`, and says so where it is not trusted."""
        return "/".join(part for part in (self.principal, self.channel, self.document) if part) + ("" if self.trusted else UNTRUSTED)

    @property
    def vote(self) -> str:
        """The origin as one that may speak once: names under one principal and channel are one. Empty where it is trusted."""
        return "" if self.trusted else f"{self.principal}/{self.channel}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What was asked.

    Attributes:
        text: the input in the words it was given in.
        kind: a name for tasks of this sort, such as `reconcile-invoice`; empty if unknown.
        key: the same for every attempt at the very same task (a task id of a benchmark, a digest
            of the input); empty if attempts cannot be matched.
    """

    text: str
    kind: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message, thought, tool call, tool result or event inside a run.

    Attributes:
        kind: one of `STEP_KINDS`.
        role: `user`, `assistant`, `system` or `tool`.
        name: the tool's name for tool calls and results, the event's name for events.
        arguments: the arguments of a tool call as parsed JSON. Arguments that were not a JSON
            object stand verbatim in `content`.
        content: the text, or the tool's result.
        error: the error text of a tool result that was rejected; empty if it was accepted.
        call_id: joins a tool result to its call; empty where the log has none.
        origin: where the text came from; none means the run's own origin.
        at: ISO 8601 with offset; empty if unknown.
    """

    kind: StepKind
    role: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    content: str = ""
    error: str = ""
    call_id: str = ""
    origin: Origin | None = None
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended, and who says so.

    Attributes:
        score: 0 (failed) to 1 (succeeded); none if undecided.
        success: true, false, or none if undecided. Derived from the score (0.5 and more is a
            success) where only that is given, and the reverse.
        feedback: what was said about it.
        signal: where the verdict comes from.
        reliability: 0 to 1; none takes the default of the signal (`RELIABILITY`).
        expected: the right answer, where a label is known.
        at: ISO 8601 with offset; empty if unknown.
    """

    score: float | None = None
    success: bool | None = None
    feedback: str = ""
    signal: Signal = "none"
    reliability: float | None = None
    expected: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise ValueError(f"Outcome score {self.score!r} is outside 0 to 1. For a business figure use Outcome.metric(value, baseline).")
        if self.success is None and self.score is not None:
            object.__setattr__(self, "success", self.score >= 0.5)
        elif self.score is None and self.success is not None:
            object.__setattr__(self, "score", 1.0 if self.success else 0.0)
        if self.signal not in RELIABILITY:
            raise ValueError(f"Outcome signal {self.signal!r} is not known. Use one of: {', '.join(RELIABILITY)}.")
        if self.reliability is None:
            object.__setattr__(self, "reliability", RELIABILITY[self.signal])

    @property
    def known(self) -> bool:
        """Whether the run is known to have succeeded or failed."""
        return self.success is not None

    @property
    def honest(self) -> bool:
        """Whether a verdict is there and comes from outside the model."""
        return self.known and self.signal in HONEST_SIGNALS

    @classmethod
    def metric(
        cls, value: float, baseline: float, spread: float | None = None, higher_is_better: bool = True, *, feedback: str = "", at: str = ""
    ) -> Outcome:
        """An outcome from a business figure, such as a click rate of 2.2 % against an average of 4.0 %.

        Args:
            value: the figure this run reached.
            baseline: the figure it is compared with, in the same unit.
            spread: the standard deviation of the figure from run to run; the outcome is undecided
                within one of it. Without it, within 5 % of the baseline.
            higher_is_better: false for costs, delays and error rates.
            feedback: what to say beside the figures.
            at: ISO 8601 with offset.
        """
        noise = abs(spread) if spread is not None else 0.05 * abs(baseline)
        gain = (value - baseline) if higher_is_better else (baseline - value)
        said = f"{value:g} against a baseline of {baseline:g}" + (f"; {feedback}" if feedback else "")
        if not abs(gain) > noise:  # also where a figure is missing (not a number)
            return cls(feedback=f"{said} (within the noise of {noise:g})", signal="environment", at=at)
        return cls(success=gain > 0, feedback=said, signal="environment", at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One lesson that matched a run, and what chance decided: shown, or left out.

    Attributes:
        lesson: its id.
        withheld: whether it was left out.
        chance: with which it was to be left out, above 0 and below 1.
        reason: `holdout`, to see whether it makes a difference, or `release`, because it is new and shown in few runs at first.
        text: short digest of what the lesson said; empty if unknown.
    """

    lesson: str
    withheld: bool
    chance: float
    reason: str = "holdout"
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a task, kept as evidence (the papers say trajectory).

    Attributes:
        id: unique in its scope; the same run read twice has the same id.
        scope: path such as `acme/finance/recon`.
        task: what was asked; a plain string becomes a `Task`.
        steps: in the order in which they happened; a step's index is its place here.
        shown, withheld, cited: ids of lessons that were shown, deliberately not shown, and named
            by the agent.
        draws: the lessons of `shown` and `withheld` for which chance decided.
        outcome: how it ended.
        origin: who reported it.
        session: the host's own id of the session, such as a Claude Code session id.
        started, ended: ISO 8601 with offset; empty if unknown.
    """

    id: str
    task: Task
    scope: str = ""
    steps: tuple[Step, ...] = ()
    shown: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)
    origin: Origin = field(default_factory=Origin)
    session: str = ""
    started: str = ""
    ended: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", as_task(self.task))


def as_task(task: Task | str) -> Task:
    """A task from what a caller at a prompt would write."""
    return Task(text=task) if isinstance(task, str) else task
