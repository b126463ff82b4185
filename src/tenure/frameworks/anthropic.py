"""The Anthropic client: messages with the lessons of a run put in, and the exchange recorded in it.

    with book.run("cancel order W88 and refund it") as run:
        reply = create_message(client, run, model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        ...
        run.finish(success=True)

Works with every client that has the methods of Anthropic's: `client.beta`, Bedrock, Vertex, a double in a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tenure.active_run import ActiveRun
from tenure.frameworks.calling import acall, call
from tenure.frameworks.placing import content_of, context_parts, given, in_front, place_of_task, role_of, with_content
from tenure.frameworks.recording import message_of, plain, recording_of
from tenure.traces.openai_chat import add_message
from tenure.traces.report import ReadReport
from tenure.traces.shapes import text_at
from tenure.traces.streamed import StreamedMessage
from tenure.traces.transcript import Transcript

if TYPE_CHECKING:
    from anthropic.types import Message, RawMessageStreamEvent

    from tenure.frameworks.calling import AsyncRecordedStream, RecordedStream

MOST_MARKERS = 4
"""Cache markers that a request may have."""


@overload
def create_message(
    client: Any, run: ActiveRun, *, cache: bool = True, stream: Literal[True], **request: Any
) -> RecordedStream[RawMessageStreamEvent]: ...
@overload
def create_message(client: Any, run: ActiveRun, *, cache: bool = True, stream: Literal[False] | None = None, **request: Any) -> Message: ...
@overload
def create_message(
    client: Any, run: ActiveRun, *, cache: bool = True, stream: bool, **request: Any
) -> Message | RecordedStream[RawMessageStreamEvent]: ...
def create_message(client: Any, run: ActiveRun, *, cache: bool = True, **request: Any) -> Any:
    """`client.messages.create`, with the lessons of a run in the request and the exchange as its steps.

    The stable part of the context becomes the last block of `system`, with a cache marker: tools, your system prompt and
    the playbook are then read from the cache by every request of the next minutes, of this run and others. What is for this
    task goes in front of the last user message, and stays there in later requests of the run. Your messages are not changed.
    Call it for every turn of a loop with tools, with all messages so far: what was said before is not recorded again.

    Args:
        client: an `anthropic.Anthropic`, or what has its methods.
        run: the run that is under way.
        cache: whether to set the marker. It is left out where the request has as many as it may have; it lasts an hour where
            one of yours behind it does, since it must not be the shorter one.
        request: all that `create` takes; nothing of it is changed but `system` and `messages`.

    Returns:
        What `create` returns. With `stream=True` the same events as they come: read them to the end, or use it with `with`.

    Raises:
        UserError: the run has not begun, or is finished, a message has no role, or the client is for async code.
    """
    request = message_request(run, cache=cache, **request)
    return call(run, client.messages.create, request, StreamedMessage, record_message)


@overload
async def acreate_message(
    client: Any, run: ActiveRun, *, cache: bool = True, stream: Literal[True], **request: Any
) -> AsyncRecordedStream[RawMessageStreamEvent]: ...
@overload
async def acreate_message(
    client: Any, run: ActiveRun, *, cache: bool = True, stream: Literal[False] | None = None, **request: Any
) -> Message: ...
@overload
async def acreate_message(
    client: Any, run: ActiveRun, *, cache: bool = True, stream: bool, **request: Any
) -> Message | AsyncRecordedStream[RawMessageStreamEvent]: ...
async def acreate_message(client: Any, run: ActiveRun, *, cache: bool = True, **request: Any) -> Any:
    """`create_message` with an `anthropic.AsyncAnthropic`."""
    request = message_request(run, cache=cache, **request)
    return await acall(run, client.messages.create, request, StreamedMessage, record_message)


def message_request(run: ActiveRun, *, cache: bool = True, **request: Any) -> dict[str, Any]:
    """What `create_message` sends: for methods such as `stream` and `parse`. What is new in its messages is recorded.

    Record what comes back with `record_message`.
    """
    messages = list(request.get("messages") or ())
    told = request.get("system")
    system: list[Any] = [{"type": "text", "text": told}] if isinstance(told, str) and told else list(told) if told and given(told) else []
    said = [{"role": "system", "content": [plain(block) for block in system]}, *map(message_of, messages)]

    def add(transcript: Transcript, report: ReadReport) -> None:
        for message in said:
            add_message(transcript, message, report)

    recording_of(run).take(run, add)
    core, recall = context_parts(run)
    if not core and not recall:
        return dict(request)
    changed = dict(request)
    place = place_of_task(run, messages, _asks) if recall else None
    if place is not None:
        content = content_of(messages[place])
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        messages[place] = with_content(messages[place], in_front(blocks, recall, "text"))
        changed["messages"] = messages
        recall = ""
    if core:
        marker = _marker(changed, system) if cache else {}
        system.append({"type": "text", "text": core, **marker})
    if recall:
        system.append({"type": "text", "text": recall})
    if core or recall:
        changed["system"] = system
    return changed


def record_message(run: ActiveRun, reply: Any) -> None:
    """Reports a whole message as steps of the run: what it says, thinks and calls."""
    whole = plain(reply)

    def add(transcript: Transcript, report: ReadReport) -> None:
        add_message(transcript, {"content": whole.get("content"), "role": "assistant"}, report)
        if text_at(whole, "stop_reason") in ("max_tokens", "refusal", "model_context_window_exceeded"):
            transcript.event("reply_cut_off", text_at(whole, "stop_reason"))

    recording_of(run).take(run, add, new=True)


def _asks(message: Any) -> bool:
    """Whether a text can stand in front: results of tools have to come first in their message."""
    content = content_of(message)
    if role_of(message) != "user" or not isinstance(content, str | list) or not content:
        return False
    blocks = [] if isinstance(content, str) else content
    return not any(isinstance(block, dict) and text_at(block, "type").endswith("tool_result") for block in blocks)


def _marker(request: Mapping[str, Any], system: Sequence[Any]) -> Mapping[str, Any]:
    """A cache marker for the stable part; empty where there is no room for one."""
    behind = list(_markers(plain(list(request.get("messages") or ()))))
    before = list(_markers([plain(system), plain(list(request["tools"])) if given(request.get("tools")) else []]))
    whole = [request["cache_control"]] if given(request.get("cache_control")) else []
    if len(behind) + len(before) + len(whole) >= MOST_MARKERS:
        return {}
    lasting = any(text_at(marker, "ttl") == "1h" for marker in (*behind, *whole))
    return {"cache_control": {"type": "ephemeral", **({"ttl": "1h"} if lasting else {})}}


def _markers(value: Any) -> Iterator[Mapping[str, Any]]:
    """The cache markers in a part of a request."""
    if isinstance(value, dict):
        if isinstance(value.get("cache_control"), dict):
            yield value["cache_control"]
        value = [inner for key, inner in value.items() if key in ("content", "source")]
    if isinstance(value, list):
        for inner in value:
            yield from _markers(inner)
