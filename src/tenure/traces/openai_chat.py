"""Chat logs in the shape of the OpenAI API: lines of conversations, lines of messages, or JSON lists of either.

Anthropic-style content blocks inside such messages are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tenure.playbook.run import RELIABILITY, Outcome, Run, Signal, Task
from tenure.traces.placing import Place, scope_for
from tenure.traces.report import ReadReport
from tenure.traces.shapes import digest, list_at, map_at, moment, number_of, text_at, text_of
from tenure.traces.streaming import read_records
from tenure.traces.transcript import Transcript

HOST = "openai-chat"

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks that call a tool: the caller's own, the provider's, or one of a remote MCP server."""

_UNREADABLE = frozenset({"redacted_thinking", "container_upload"})

_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "trace_id", "run_id")
_OUTCOME_KEYS = ("reward", "score", "success", "outcome", "task", "metadata", "task_id", "feedback")
_GOOD = frozenset({"success", "succeeded", "successful", "pass", "passed", "solved", "resolved", "correct", "true", "yes"})
_BAD = frozenset({"failure", "failed", "fail", "unsolved", "unresolved", "incorrect", "wrong", "false", "no", "error"})
_SESSION_LENGTH = 8
"""Shorter ids are row numbers, which repeat from file to file."""

_TELLING_LENGTH = 40
"""Two conversations that open with fewer characters ("Hi, can you help me?") need not be about the same task."""


def recognises(value: object) -> bool:
    """Whether a record is a conversation or a message of such a log."""
    if isinstance(value, list):
        return bool(value) and _is_message(value[0])
    if not isinstance(value, dict):
        return False
    messages = value.get("messages")
    return (isinstance(messages, list) and bool(messages) and _is_message(messages[0])) or _is_message(value)


def read(path: Path, *, scope: Place, report: ReadReport) -> Iterator[Run]:
    """The runs in a chat log: one for each conversation, and one for all single messages together (one for each conversation id)."""
    loose: dict[str, _Loose] = {}
    for number, value, unit in read_records(path, report, lists=True):
        if isinstance(value, list):
            yield from _conversation({"messages": value}, scope, report)
        elif isinstance(value.get("messages"), list):
            if not value["messages"]:
                report.lost(path, "holds no messages", number=number, unit=unit)
            yield from _conversation(value, scope, report)
        elif _is_message(value):
            session = _session(value)
            if session not in loose:
                loose[session] = _Loose(Transcript(report))
            loose[session].add(value, report)
        else:
            report.unknown(HOST, text_at(value, "type", "object") or "record without messages")
    for session, conversation in loose.items():
        if conversation.transcript.steps:
            yield conversation.run(session, scope)


def add_message(transcript: Transcript, message: Mapping[str, Any], report: ReadReport) -> None:
    """Adds one chat message and what it carries: text, reasoning, tool calls, a tool's result."""
    role = message.get("role")
    content = message.get("content")
    at = moment(next((message[key] for key in ("timestamp", "created_at", "created") if message.get(key) is not None), None))
    if role in ("tool", "function"):
        flag = message.get("is_error")
        transcript.result(
            content,
            text_at(message, "tool_call_id"),
            name=text_at(message, "name"),
            flag=flag if isinstance(flag, bool) else None,
            at=at,
        )
        return
    if role == "assistant":
        transcript.thought(text_of(message.get("reasoning_content", message.get("reasoning")), report), at)
    _add_content(transcript, role, content, at, report)
    if role == "assistant":
        transcript.agent(text_at(message, "refusal"), at)
        for call in list_at(message, "tool_calls"):
            if isinstance(call, dict):
                function = map_at(call, "function") or map_at(call, "custom") or call
                arguments = function.get("arguments", function.get("input"))
                transcript.call(text_at(function, "name"), arguments, text_at(call, "id"), at)
        function = map_at(message, "function_call")
        if function:
            transcript.call(text_at(function, "name"), function.get("arguments"), "", at)


def outcome_of(record: Mapping[str, Any], report: ReadReport) -> Outcome:
    """How a conversation ended, from the fields `reward`, `score`, `success` and `outcome` of its record."""
    given = record.get("outcome")
    details = given if isinstance(given, dict) else record
    said = text_at(details, "feedback") or text_at(record, "feedback")
    signal = text_at(details, "signal")
    at = moment(details.get("at"))
    success = verdict(details.get("success"))
    if success is None and not isinstance(given, dict):
        success = verdict(given)
    score = next((number for key in ("reward", "score") if (number := number_of(details.get(key))) is not None), None)
    if score is not None and not 0.0 <= score <= 1.0:
        report.repaired("score outside 0 to 1 left undecided")
        said, score = f"score {score:g}" + (f"; {said}" if said else ""), None
    known = success is not None or score is not None
    named = cast(Signal, signal) if signal in RELIABILITY else "environment" if known else "none"
    return Outcome(score=score, success=success, feedback=said, signal=named, expected=text_at(details, "expected"), at=at)


def verdict(value: object) -> bool | None:
    """Whether a word, a truth value or a number from 0 to 1 says that something succeeded; none if it does not say."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _GOOD else False if word in _BAD else None
    number = number_of(value)
    return number >= 0.5 if number is not None and 0 <= number <= 1 else None


def _conversation(record: Mapping[str, Any], scope: Place, report: ReadReport) -> Iterator[Run]:
    facts = {**map_at(record, "metadata"), **record}
    transcript = Transcript(report)
    messages = [*_messages(record.get("messages"), report), *_answers(record)]
    for message in messages:
        add_message(transcript, message, report)
    if not transcript.steps:
        return
    session = _session(facts)
    content = digest(HOST, session) if session else digest(HOST, messages, {key: record.get(key) for key in _OUTCOME_KEYS})
    task = _task(facts, transcript)
    yield transcript.run(
        f"chat:{content}", host=HOST, scope=scope_for(scope), session=session, task=task, outcome=outcome_of(facts, report)
    )


class _Loose:
    """A conversation whose messages stand each for itself; they are not kept as they were written, for there can be many."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._digest = ""

    def add(self, message: Mapping[str, Any], report: ReadReport) -> None:
        """Adds the next message."""
        add_message(self.transcript, message, report)
        self._digest = digest(self._digest, message)

    def run(self, session: str, scope: Place) -> Run:
        """The run that the messages make."""
        identity = digest(HOST, session) if session else digest(HOST, self._digest)
        return self.transcript.run(f"chat:{identity}", host=HOST, scope=scope_for(scope), session=session, task=_task({}, self.transcript))


def _messages(messages: object, report: ReadReport) -> list[Mapping[str, Any]]:
    known: list[Mapping[str, Any]] = []
    for message in messages if isinstance(messages, list) else ():
        if _is_message(message):
            known.append(message)
        else:
            report.unknown(HOST, "message without a known role")
    return known


def _answers(record: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The reply of a logged API call, which stands beside the messages that were sent."""
    choices = list_at(record, "choices") or list_at(map_at(record, "response"), "choices")
    first = choices[0] if choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return [message] if isinstance(message, dict) and _is_message(message) else []


def _task(facts: Mapping[str, Any], transcript: Transcript) -> Task:
    given = facts.get("task")
    if isinstance(given, dict):
        text = text_at(given, "text", "input", "instruction", "question", "prompt")
        return Task(text=text or transcript.task, kind=text_at(given, "kind"), key=text_at(given, "key", "id", "task_id"))
    key = text_at(facts, "task_id")
    if isinstance(given, str) and given.strip():
        if re.search(r"\s", given.strip()):
            return Task(text=given, key=key)
        return Task(text=transcript.task, key=key or given.strip())  # one word is a name, not what was asked
    if not key and len(transcript.task) >= _TELLING_LENGTH:
        opening = next((step.content for step in transcript.steps if step.role == "system"), "")
        key = f"chat:{digest(opening, transcript.task)}"
    return Task(text=transcript.task, key=key)


def _add_content(transcript: Transcript, role: object, content: object, at: str, report: ReadReport) -> None:
    blocks: list[Any] = content if isinstance(content, list) else [content]
    texts: list[object] = []
    for block in blocks:
        said = block.get("type") if isinstance(block, dict) else None
        kind = said if isinstance(said, str) else None  # anything may stand there
        if kind in _CALLS:
            _say(transcript, role, texts, at, report)
            transcript.call(text_at(block, "name"), block.get("input"), text_at(block, "id"), at)
        elif isinstance(kind, str) and kind.endswith("tool_result"):
            _say(transcript, role, texts, at, report)
            flag = block.get("is_error")
            found = block.get("content")
            if isinstance(found, dict) and text_at(found, "type").endswith("_error"):  # of a tool that the provider runs
                flag = True
            transcript.result(found, text_at(block, "tool_use_id"), flag=flag if isinstance(flag, bool) else None, at=at)
        elif kind in _UNREADABLE:
            report.repaired(f"{kind} left out")
        elif kind in ("thinking", "reasoning"):
            _say(transcript, role, texts, at, report)
            transcript.thought(text_at(block, "thinking", "text"), at)
        else:
            texts.append(block)
    _say(transcript, role, texts, at, report)


def _say(transcript: Transcript, role: object, texts: list[object], at: str, report: ReadReport) -> None:
    text = text_of(texts, report)
    texts.clear()
    if role == "user":
        transcript.person(text, at)
    elif role == "assistant":
        transcript.agent(text, at)
    else:
        transcript.system(text, at)


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    role = value.get("role")
    return isinstance(role, str) and role in ROLES and ("content" in value or "tool_calls" in value or "function_call" in value)


def _session(record: Mapping[str, Any]) -> str:
    session = text_at(record, *_SESSION_KEYS)
    return session if len(session) >= _SESSION_LENGTH else ""
