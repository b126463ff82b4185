"""Collects the steps of one run, the same way for every host."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tenure.playbook.managed_block import BEGIN
from tenure.playbook.run import Origin, Outcome, Run, Step, StepKind, Task
from tenure.traces.decoding import DECODER, nested_too_deeply, without_lone_surrogates
from tenure.traces.echo import OPEN, is_own_tool, without_injected
from tenure.traces.report import ReadReport
from tenure.traces.shapes import flat_text, text_of
from tenure.traces.tool_errors import error_text, shortened

TEXT_LIMIT = 64 << 10
"""Longest text kept of a foreign message, argument or payload, in characters; longer ones are cut in the middle."""

PERSON = Origin(principal="local", channel="chat", trusted=True)
"""What a person typed."""

SYSTEM = Origin(principal="local", channel="system", trusted=True)
"""The system prompt and what the operator of the agent set up."""

PARENT_AGENT = Origin(principal="local", channel="agent", trusted=False)
"""What another agent asked a sub-agent to do: a model's words, not a person's."""

HOST = Origin(principal="local", channel="host", trusted=False)
"""What the host put in between: file contents, hook output, summaries. Not a person's words."""


@lru_cache(maxsize=1024)
def tool_origin(name: str) -> Origin:
    """The origin of what a tool returned."""
    return Origin(principal="local", channel="tool", document=name, trusted=False)


class Transcript:
    """The steps of one run as they are read, in order.

    Every text loses what Tenure itself injected and is cut to `TEXT_LIMIT`; messages that are
    empty then are left out, and so is what its own tools were asked and answered.
    """

    def __init__(self, report: ReadReport, *, speaker: Origin = PERSON) -> None:
        """Starts empty.

        Args:
            report: told what is cut or left out.
            speaker: the origin of user messages; another agent's in the run of a sub-agent.
        """
        self.steps: list[Step] = []
        self.task = ""
        self.started = ""
        self.ended = ""
        self._report = report
        self._speaker = speaker
        self._tools: dict[str, str] = {}
        self._last_tool = ""

    def seen_at(self, at: str) -> str:
        """Notes that something happened at this time, also if it makes no step. Returns the time."""
        if at:
            self.started = self.started or at
            self.ended = at
        return at

    def resume(self, run: Run) -> None:
        """Goes on with a run that was read before: its steps come first, as they are."""
        self.steps.extend(run.steps)
        self.task, self.started, self.ended = run.task.text, run.started, run.ended
        self._tools.update((step.call_id, step.name) for step in run.steps if step.kind == "tool_call" and step.call_id)

    def system(self, text: str, at: str = "") -> None:
        """The system prompt, or another instruction of the operator."""
        self._message("message", "system", text, at, SYSTEM)

    def person(self, text: str, at: str = "", *, speaker: Origin | None = None) -> None:
        """A user message. The first is the task, unless another than the run's own speaker said it."""
        if self._message("message", "user", text, at, speaker or self._speaker) and not self.task and speaker is None:
            self.task = self.steps[-1].content.strip()

    def agent(self, text: str, at: str = "") -> None:
        """A message of the agent itself."""
        self._message("message", "assistant", text, at, None)

    def thought(self, text: str, at: str = "") -> None:
        """The agent's reasoning, where the host shows it."""
        self._message("thought", "assistant", text, at, None)

    def event(self, name: str, text: str = "", at: str = "", *, role: str = "", call_id: str = "", origin: Origin = HOST) -> None:
        """Something that happened around the conversation, such as an interruption."""
        content = self._kept(text)
        self.steps.append(Step(kind="event", role=role, name=name, content=content, call_id=call_id, origin=origin, at=self.seen_at(at)))

    def call(self, name: str, arguments: object, call_id: str = "", at: str = "") -> None:
        """A tool call.

        Args:
            name: the tool's.
            arguments: an object, or JSON text of one; anything else stands verbatim in the step's content.
            call_id: joins the result to it.
            at: ISO 8601.
        """
        self._last_tool = name
        if call_id:
            self._tools[call_id] = name
        if is_own_tool(name):
            self.seen_at(at)
            return
        parsed, verbatim = self._arguments(arguments)
        self.steps.append(
            Step(
                kind="tool_call",
                role="assistant",
                name=name,
                arguments=parsed,
                content=verbatim,
                call_id=call_id,
                at=self.seen_at(at),
            )
        )

    def result(
        self, content: object, call_id: str = "", *, name: str = "", flag: bool | None = None, error: str = "", at: str = ""
    ) -> None:
        """What a tool returned.

        Args:
            content: text, blocks, or any JSON value.
            call_id: that of the call.
            name: the tool's, where the log repeats it; else it is taken from the call.
            flag: the host's own word on whether it is an error (see `error_text`).
            error: the error text where the host gives it apart.
            at: ISO 8601.
        """
        name = self.tool(call_id) or name or ("" if call_id else self._last_tool)
        if is_own_tool(name):
            self.seen_at(at)
            return
        text = without_injected(text_of(content, self._report))
        said = error or error_text(text, flag)
        self.steps.append(
            Step(
                kind="tool_result",
                role="tool",
                name=name,
                content=self._cut(text),
                error=without_injected(said),
                call_id=call_id,
                origin=tool_origin(name),
                at=self.seen_at(at),
            )
        )

    def tool(self, call_id: str) -> str:
        """The name of the tool that was called with this id; empty if there was no such call."""
        return self._tools.get(call_id, "") if call_id else ""

    def run(
        self, run_id: str, *, host: str, scope: str, session: str = "", task: Task | None = None, outcome: Outcome | None = None
    ) -> Run:
        """The run collected so far.

        Args:
            run_id: its id.
            host: the format it was read from.
            scope: the scope it goes to.
            session: the host's id of the session.
            task: what was asked; none takes the first user message.
            outcome: how it ended; none if the log does not say.
        """
        return Run(
            id=run_id,
            task=task or Task(text=self.task),
            scope=scope,
            steps=tuple(self.steps),
            outcome=outcome or Outcome(),
            origin=Origin(principal="local", channel="import", document=host),
            session=session,
            started=self.started,
            ended=self.ended,
        )

    def _message(self, kind: StepKind, role: str, text: str, at: str, origin: Origin | None) -> bool:
        """Adds a text, and says whether there was one to add."""
        content = self._kept(text)
        self.seen_at(at)
        if content != text:
            content = content.strip("\n")  # line ends that stood around a block that is gone
        if not content.strip():
            return False
        self.steps.append(Step(kind=kind, role=role, content=content, origin=origin, at=at))
        return True

    def _kept(self, text: str) -> str:
        return self._cut(without_injected(text))

    def _cut(self, text: str) -> str:
        if len(text) <= TEXT_LIMIT:
            return text
        self._report.repaired("long text cut in the middle")
        return shortened(text, TEXT_LIMIT)

    def _arguments(self, arguments: object) -> tuple[Mapping[str, Any], str]:
        if isinstance(arguments, str):
            if not arguments.strip():
                return {}, ""
            try:
                value = DECODER.decode(arguments)
            except (ValueError, RecursionError):
                return {}, self._kept(arguments)
            if not isinstance(value, dict) or nested_too_deeply(value):
                return {}, self._kept(arguments)
            if len(arguments) <= TEXT_LIMIT and not any(mark in arguments for mark in (OPEN, BEGIN)) and "\\u" not in arguments:
                return value, ""
            arguments = without_lone_surrogates(value)
        if isinstance(arguments, dict | list) and nested_too_deeply(arguments):
            return {}, self._kept(flat_text(arguments, self._report))
        if isinstance(arguments, dict):
            return {str(key): self._argument(value) for key, value in arguments.items()}, ""
        return {}, self._kept(text_of(arguments, self._report))

    def _argument(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._kept(value)
        if isinstance(value, list):
            return [self._argument(item) for item in value]
        if isinstance(value, dict):
            return {key: self._argument(item) for key, item in value.items()}
        return value
