"""What requests bring, as forms: a run as in docs/reference/run-format.md, and the rest."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tenure.playbook.run import Draw, Origin, Outcome, Run, Signal, Step, StepKind, Task
from tenure.serving.service.api import Body
from tenure.serving.service.problems import Problem
from tenure.traces.echo import without_injected

LONGEST_NAME = 300
MOST_STEPS = 10_000
MOST_NAMED = 1_000

Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Score = Annotated[float, Field(ge=0, le=1)]
Ids = Annotated[list[Name], Field(max_length=MOST_NAMED)]


class TaskBody(Body):
    """What was asked."""

    text: str
    kind: Name = ""
    key: Name = ""


class OriginBody(Body):
    """Where a text came from. Whose key brought it the server knows; nobody can say so of themselves."""

    channel: Name = ""
    document: Name = ""
    trusted: bool = True


class StepBody(Body):
    """One step. Results of tools and events are untrusted, whatever is said of them."""

    kind: StepKind
    role: Name = ""
    name: Name = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    content: str = ""
    error: str = ""
    call_id: Name = ""
    origin: OriginBody | None = None
    at: Name = ""

    def step(self, principal: str) -> Step:
        """It as a step of a run that a principal reports."""
        foreign = self.kind in ("tool_result", "event")
        role = self.role or {"tool_result": "tool", "event": ""}.get(self.kind, "assistant")
        origin = None
        if self.origin is not None or foreign:
            said = self.origin or OriginBody()
            document = said.document or (self.name if foreign else "")
            trusted = said.trusted and not foreign
            origin = Origin(principal=principal, channel=said.channel or ("tool" if foreign else "api"), document=document, trusted=trusted)
        return Step(
            kind=self.kind,
            role=role,
            name=self.name,
            arguments=self.arguments,
            content=without_injected(self.content),
            error=without_injected(self.error),
            call_id=self.call_id,
            origin=origin,
            at=self.at,
        )


class OutcomeBody(Body):
    """How a run ended: `success` or a `score`, and what showed it. Neither leaves it unknown."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"success": False, "feedback": "invoice 8 is not booked", "signal": "test", "cited": []}]}
    )

    success: bool | None = None
    score: Score | None = None
    feedback: str = ""
    signal: Signal | None = Field(default=None, description="What showed it; `environment` if there is a verdict and this is left out.")
    reliability: Score | None = Field(default=None, description="Left out, it is that of the signal.")
    expected: str = Field(default="", description="The right answer, where a label is known.")
    at: Name = ""

    def outcome(self, at: str) -> Outcome:
        """It as a value.

        Raises:
            Problem: 422, success and score contradict.
        """
        known = self.success is not None or self.score is not None
        if self.success is not None and self.score is not None and self.success != (self.score >= 0.5):
            raise Problem(422, "outcome", f"success is {self.success} and score {self.score:g}: they contradict. Give one of them.")
        return Outcome(
            success=self.success,
            score=self.score,
            feedback=without_injected(self.feedback),
            signal=self.signal or ("environment" if known else "none"),
            reliability=self.reliability,
            expected=self.expected,
            at=self.at or at,
        )


class EndBody(OutcomeBody):
    """The outcome of a run that began with a context, the lessons that its agent used, and what happened."""

    cited: Ids = Field(default_factory=list, description="Ids of lessons that the agent used, or as much of each as makes it unique.")
    steps: list[StepBody] = Field(
        default_factory=list, max_length=MOST_STEPS, description="What happened, in order; none keeps what is there."
    )


class DrawBody(Body):
    """A lesson for which chance decided; give back what the context said."""

    lesson: Name
    withheld: bool
    chance: Annotated[float, Field(gt=0, lt=1)]
    reason: Name = "holdout"
    text: Name = ""


class RunBody(Body):
    """A run, in Tenure's run format. Scope and origin are the request's; an id that is left out is made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "week-2",
                    "task": {"text": "Close the books for week 2", "kind": "close-week"},
                    "steps": [
                        {"kind": "tool_call", "name": "book", "call_id": "1", "arguments": {"invoice": 8, "amount": "88,00"}},
                        {"kind": "tool_result", "name": "book", "call_id": "1", "error": "amount must be a decimal number with a point"},
                    ],
                    "outcome": {"success": False, "signal": "test", "feedback": "invoice 8 is not booked"},
                }
            ]
        }
    )

    tenure_run: Literal[1] = 1
    id: Name = ""
    task: str | TaskBody
    steps: list[StepBody] = Field(default_factory=list, max_length=MOST_STEPS)
    shown: Ids = Field(default_factory=list)
    withheld: Ids = Field(default_factory=list)
    cited: Ids = Field(default_factory=list)
    draws: list[DrawBody] = Field(default_factory=list, max_length=MOST_NAMED)
    outcome: OutcomeBody = Field(default_factory=OutcomeBody)
    session: Name = ""
    started: Name = ""
    ended: Name = ""

    def run(self, *, id: str, scope: str, origin: Origin, at: str) -> Run:
        """It as a run that is reported now. One with an outcome has ended."""
        outcome = self.outcome.outcome(at)
        task = Task(text=self.task) if isinstance(self.task, str) else Task(text=self.task.text, kind=self.task.kind, key=self.task.key)
        return Run(
            id=self.id or id,
            scope=scope,
            task=task,
            steps=tuple(step.step(origin.principal) for step in self.steps),
            shown=tuple(self.shown),
            withheld=tuple(self.withheld),
            cited=tuple(self.cited),
            draws=tuple(Draw(**draw.model_dump()) for draw in self.draws),
            outcome=outcome,
            origin=origin,
            session=self.session,
            started=self.started,
            ended=self.ended or (at if outcome.known else ""),
        )


class ContextBody(Body):
    """The task that a context is for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"task": "reconcile invoice 7 of ACME", "budget": 2000}]})

    task: Annotated[str, Field(min_length=1, max_length=50_000)]
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(default=None, description="Tokens of the text at most.")
