"""pydantic-ai: an agent's run with the playbook among its instructions, and its messages as steps of a run.

with book.run("cancel order W88 and refund it") as run:
    result = run_agent(agent, run, "cancel order W88 and refund it")
    run.finish(success=result.output.refunded)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tenure.active_run import ActiveRun
from tenure.errors import MissingExtra
from tenure.frameworks.calling import tell_failure
from tenure.frameworks.placing import context_parts
from tenure.frameworks.recording import recording_of
from tenure.traces.report import ReadReport
from tenure.traces.transcript import HOST as FRAMEWORK
from tenure.traces.transcript import PERSON, Transcript

if TYPE_CHECKING:
    from pydantic_ai import AgentRunResult
    from pydantic_ai.agent import AbstractAgent
    from pydantic_ai.messages import ModelMessage

OutputT = TypeVar("OutputT")

_FORM = "pydantic-ai"
_SILENT = frozenset(
    [
        "instruction",
        "instruction-delta",
        "instruction-digest",
        "instruction-baseline",
        "tool-availability-delta",
        "capability-load-delta",
        "model-settings-delta",
    ]
)
"""Housekeeping: nothing in them was said, done or found out."""


def run_agent(agent: AbstractAgent[Any, OutputT], run: ActiveRun, prompt: Any = None, **arguments: Any) -> AgentRunResult[OutputT]:
    """`agent.run_sync`, with the lessons of a run among the instructions and the messages as its steps.

    Messages, tool calls, results, retries and what output validation rejected become steps, also where the agent ends with
    an exception. It goes on, and the run is then a failure; it is of unknown outcome where only the provider could not be reached.

    Args:
        agent: any agent of pydantic-ai.
        run: the run that is under way.
        prompt: what the agent is asked.
        arguments: all that `run_sync` takes; of your `instructions` nothing is lost.

    Returns:
        What `run_sync` returns. The lessons are no part of its messages, so they can be handed on as `message_history`.

    Raises:
        UserError: the run has not begun, or is finished.
        MissingExtra: pydantic-ai is not installed.
    """
    capture, _ = _library()
    arguments["instructions"] = [*_as_list(arguments.get("instructions")), *run_instructions(run)]
    with capture() as messages:
        try:
            result: AgentRunResult[OutputT] = agent.run_sync(prompt, **arguments)
        except Exception as error:
            _record_failure(run, messages, error)
            raise
    record_agent_messages(run, result.all_messages())
    return result


async def arun_agent(agent: AbstractAgent[Any, OutputT], run: ActiveRun, prompt: Any = None, **arguments: Any) -> AgentRunResult[OutputT]:
    """`agent.run`, as `run_agent` does it."""
    capture, _ = _library()
    arguments["instructions"] = [*_as_list(arguments.get("instructions")), *run_instructions(run)]
    with capture() as messages:
        try:
            result: AgentRunResult[OutputT] = await agent.run(prompt, **arguments)
        except Exception as error:
            _record_failure(run, messages, error)
            raise
    record_agent_messages(run, result.all_messages())
    return result


def run_instructions(run: ActiveRun) -> list[str | Callable[[], str]]:
    """The lessons of a run as instructions, for `agent.run_stream` and `agent.iter`: the part that stays, then what is for this task.

    The second is a function, by which pydantic-ai knows that it changes: a prompt cache goes up to where it begins.
    Record what comes back with `record_agent_messages`.
    """
    core, recall = context_parts(run)
    parts: list[str | Callable[[], str]] = [core] if core else []
    return [*parts, lambda: recall] if recall else parts


def record_agent_messages(run: ActiveRun, messages: Iterable[ModelMessage]) -> None:
    """Reports the messages of an agent so far as steps of the run. What was reported of them before is not reported again."""
    kept = list(messages)

    def add(transcript: Transcript, report: ReadReport) -> None:
        told = ""
        for message in kept:
            instructions = getattr(message, "instructions", None) or ""
            if instructions and instructions != told:
                told = instructions
                transcript.system(told)
            for part in message.parts:
                _add_part(transcript, part, report)
            if getattr(message, "finish_reason", None) in ("length", "content_filter"):
                transcript.event("reply_cut_off", str(message.finish_reason))  # type: ignore[union-attr]

    recording_of(run).take(run, add)


def _record_failure(run: ActiveRun, messages: Sequence[ModelMessage], error: Exception) -> None:
    _, unjudged = _library()
    record_agent_messages(run, messages)
    if isinstance(error, unjudged):
        tell_failure(run, error)


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """What captures messages, and the exceptions that say nothing about an agent's work."""
    try:
        from pydantic_ai import capture_run_messages
        from pydantic_ai.exceptions import FallbackExceptionGroup, ModelAPIError
    except ModuleNotFoundError as exc:
        raise MissingExtra("Agents of pydantic-ai", extra="models") from exc
    return capture_run_messages, (ModelAPIError, FallbackExceptionGroup)


def _as_list(instructions: Any) -> list[Any]:
    if instructions is None:
        return []
    return list(instructions) if isinstance(instructions, list | tuple) else [instructions]


def _add_part(transcript: Transcript, part: Any, report: ReadReport) -> None:
    kind = part.part_kind
    if kind == "system-prompt":
        transcript.system(part.content)
    elif kind == "user-prompt":
        transcript.person(_prompt_text(part.content, report))
    elif kind == "text":
        transcript.agent(part.content)
    elif kind == "thinking":
        transcript.thought(part.content)
    elif kind in ("tool-call", "builtin-tool-call"):
        transcript.call(part.tool_name, part.args if part.args is not None else {}, part.tool_call_id)
    elif kind in ("tool-return", "builtin-tool-return"):
        _add_result(transcript, part, report)
    elif kind == "retry-prompt" and part.tool_name:  # in histories that were kept by earlier versions
        transcript.result("", part.tool_call_id, name=part.tool_name, flag=True, error=_rejection(part.content))
    elif kind in ("retry-feedback", "retry-prompt"):
        transcript.event("output_rejected", _rejection(part.content), origin=FRAMEWORK)
    elif kind == "compaction":
        transcript.event("compaction", part.content or "")
    elif kind == "file":
        report.repaired("file left out")
    elif kind not in _SILENT:
        report.unknown(_FORM, kind)


def _add_result(transcript: Transcript, part: Any, report: ReadReport) -> None:
    text = _rejection(part.content) if part.outcome == "retried" else part.model_response_str()
    if getattr(part, "files", None):
        report.repaired("file left out", len(part.files))
    if part.outcome == "denied":
        # Permission was not given: that is no error of the tool.
        transcript.event("refused", text, role="user", call_id=part.tool_call_id, origin=PERSON)
    elif part.outcome == "interrupted":
        transcript.event("interrupted", text, call_id=part.tool_call_id)
    else:
        failed = part.outcome in ("failed", "retried")
        transcript.result(text, part.tool_call_id, name=part.tool_name, flag=True if failed else None, error=text if failed else "")


def _rejection(content: Any) -> str:
    """Why something has to be done again: the text, or each place and message of a validation."""
    if isinstance(content, str):
        return content
    said = (one for one in content or () if isinstance(one, Mapping))
    return "\n".join(f"{'.'.join(map(str, one.get('loc', ()))) or 'value'}: {one.get('msg', '')}" for one in said)


def _prompt_text(content: Any, report: ReadReport) -> str:
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for piece in content:
        if isinstance(piece, str):
            texts.append(piece)
        elif isinstance(getattr(piece, "content", None), str):
            texts.append(piece.content)
        elif type(piece).__name__ != "CachePoint":
            report.repaired(f"{getattr(piece, 'kind', 'file')} left out")
    return "\n".join(texts)
