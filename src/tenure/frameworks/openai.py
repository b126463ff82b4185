"""The OpenAI client: chat completions and responses with the lessons of a run put in, and the exchange recorded in it.

    with book.run("cancel order W88 and refund it") as run:
        reply = create_completion(client, run, model="gpt-4o-mini", messages=messages, tools=tools)
        ...
        run.finish(success=True)

Works with every client that has the methods of OpenAI's: other addresses, Azure, a double in a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tenure.active_run import ActiveRun
from tenure.frameworks.calling import acall, call
from tenure.frameworks.placing import content_of, context_parts, given, in_front, joined, place_of_task, role_of, with_content
from tenure.frameworks.recording import message_of, plain, recording_of
from tenure.traces.openai_chat import add_message
from tenure.traces.openai_responses import add_item
from tenure.traces.report import ReadReport
from tenure.traces.shapes import list_at, map_at, text_at
from tenure.traces.streamed import StreamedCompletion, StreamedResponse
from tenure.traces.transcript import Transcript

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent

    from tenure.frameworks.calling import AsyncRecordedStream, RecordedStream

_SYSTEM = ("system", "developer")


@overload
def create_completion(client: Any, run: ActiveRun, *, stream: Literal[True], **request: Any) -> RecordedStream[ChatCompletionChunk]: ...
@overload
def create_completion(client: Any, run: ActiveRun, *, stream: Literal[False] | None = None, **request: Any) -> ChatCompletion: ...
@overload
def create_completion(
    client: Any, run: ActiveRun, *, stream: bool, **request: Any
) -> ChatCompletion | RecordedStream[ChatCompletionChunk]: ...
def create_completion(client: Any, run: ActiveRun, **request: Any) -> Any:
    """`client.chat.completions.create`, with the lessons of a run in the request and the exchange as its steps.

    The stable part of the context goes to the end of the system (or developer) message, or into one of its own; what is for
    this task goes in front of the last user message, and stays there in later requests of the run. Your messages are not changed.
    Call it for every turn of a loop with tools, with all messages so far: what was said before is not recorded again.

    Args:
        client: an `openai.OpenAI`, or what has its methods.
        run: the run that is under way.
        request: all that `create` takes; nothing of it is changed but the messages.

    Returns:
        What `create` returns. With `stream=True` the same events as they come: read them to the end, or use it with `with`.

    Raises:
        UserError: the run has not begun, or is finished, a message has no role, or the client is for async code.
    """
    request = completion_request(run, **request)
    return call(run, client.chat.completions.create, request, StreamedCompletion, record_completion)


@overload
async def acreate_completion(
    client: Any, run: ActiveRun, *, stream: Literal[True], **request: Any
) -> AsyncRecordedStream[ChatCompletionChunk]: ...
@overload
async def acreate_completion(client: Any, run: ActiveRun, *, stream: Literal[False] | None = None, **request: Any) -> ChatCompletion: ...
@overload
async def acreate_completion(
    client: Any, run: ActiveRun, *, stream: bool, **request: Any
) -> ChatCompletion | AsyncRecordedStream[ChatCompletionChunk]: ...
async def acreate_completion(client: Any, run: ActiveRun, **request: Any) -> Any:
    """`create_completion` with an `openai.AsyncOpenAI`."""
    request = completion_request(run, **request)
    return await acall(run, client.chat.completions.create, request, StreamedCompletion, record_completion)


def completion_request(run: ActiveRun, **request: Any) -> dict[str, Any]:
    """What `create_completion` sends: for methods such as `parse` and `stream`. What is new in its messages is recorded.

    Record what comes back with `record_completion`.
    """
    messages = list(request.get("messages") or ())
    recording_of(run).take(run, _adding([message_of(one) for one in messages], add_message))
    core, recall = context_parts(run)
    place = place_of_task(run, messages, lambda message: role_of(message) == "user" and _takes_text(message)) if recall else None
    if place is not None:
        messages[place] = with_content(messages[place], in_front(content_of(messages[place]), recall, "text"))
        recall = ""
    text = joined(core, recall)
    if text:
        leading = next((at for at, message in enumerate(messages) if role_of(message) not in _SYSTEM), len(messages))
        if leading and _takes_text(messages[leading - 1]):
            messages[leading - 1] = with_content(messages[leading - 1], _behind(content_of(messages[leading - 1]), text))
        else:
            messages.insert(leading, {"role": "system", "content": text})
    return {**request, "messages": messages} if "messages" in request or messages else request


def record_completion(run: ActiveRun, reply: Any) -> None:
    """Reports a whole chat completion as steps of the run: what its first choice says, thinks and calls."""
    whole = plain(reply)
    choices = [choice for choice in list_at(whole, "choices") if isinstance(choice, dict)]

    def add(transcript: Transcript, report: ReadReport) -> None:
        for choice in choices[:1]:
            add_message(transcript, {"role": "assistant", "content": None, **map_at(choice, "message")}, report)
            _tell_cut(transcript, text_at(choice, "finish_reason"))
        report.repaired("further choices left out", len(choices[1:]))

    recording_of(run).take(run, add, new=True)


@overload
def create_response(client: Any, run: ActiveRun, *, stream: Literal[True], **request: Any) -> RecordedStream[ResponseStreamEvent]: ...
@overload
def create_response(client: Any, run: ActiveRun, *, stream: Literal[False] | None = None, **request: Any) -> Response: ...
@overload
def create_response(client: Any, run: ActiveRun, *, stream: bool, **request: Any) -> Response | RecordedStream[ResponseStreamEvent]: ...
def create_response(client: Any, run: ActiveRun, **request: Any) -> Any:
    """`client.responses.create`, with the lessons of a run in the request and the exchange as its steps.

    The stable part of the context goes to the end of `instructions`; what is for this task goes in front of the last user
    message of `input`, and stays there in later requests of the run. With `previous_response_id` the provider has it already.

    Args:
        client: an `openai.OpenAI`, or what has its methods.
        run: the run that is under way.
        request: all that `create` takes; nothing of it is changed but `instructions` and `input`.

    Returns:
        What `create` returns. With `stream=True` the same events as they come: read them to the end, or use it with `with`.

    Raises:
        UserError: the run has not begun, or is finished, a message has no role, or the client is for async code.
    """
    request = response_request(run, **request)
    return call(run, client.responses.create, request, StreamedResponse, _recorder(request))


@overload
async def acreate_response(
    client: Any, run: ActiveRun, *, stream: Literal[True], **request: Any
) -> AsyncRecordedStream[ResponseStreamEvent]: ...
@overload
async def acreate_response(client: Any, run: ActiveRun, *, stream: Literal[False] | None = None, **request: Any) -> Response: ...
@overload
async def acreate_response(
    client: Any, run: ActiveRun, *, stream: bool, **request: Any
) -> Response | AsyncRecordedStream[ResponseStreamEvent]: ...
async def acreate_response(client: Any, run: ActiveRun, **request: Any) -> Any:
    """`create_response` with an `openai.AsyncOpenAI`."""
    request = response_request(run, **request)
    return await acall(run, client.responses.create, request, StreamedResponse, _recorder(request))


def response_request(run: ActiveRun, **request: Any) -> dict[str, Any]:
    """What `create_response` sends: for methods such as `parse` and `stream`. What is new in its input is recorded.

    Record what comes back with `record_response`.
    """
    asked = request.get("input")
    single = isinstance(asked, str)
    items: list[Any] = [{"role": "user", "content": asked}] if single else list(asked or ()) if given(asked) else []
    instructions = request.get("instructions")
    told = instructions if isinstance(instructions, str) else ""
    record_items(run, [{"role": "system", "content": told}, *items])
    core, recall = context_parts(run)
    if _goes_on(run, request):
        recall = ""
    place = place_of_task(run, items, lambda item: role_of(item) == "user" and _takes_text(item)) if recall else None
    changed = dict(request)
    if place is not None:
        items[place] = with_content(items[place], in_front(content_of(items[place]), recall, "input_text"))
        changed["input"] = items[0]["content"] if single else items
        recall = ""
    if joined(core, recall):
        changed["instructions"] = joined(told, core, recall)
    return changed


def record_response(run: ActiveRun, reply: Any) -> None:
    """Reports a whole response as steps of the run: all items of its output."""
    whole = plain(reply)

    def add(transcript: Transcript, report: ReadReport) -> None:
        _adding(list_at(whole, "output"), add_item)(transcript, report)
        if text_at(whole, "status") == "incomplete":
            _tell_cut(transcript, text_at(map_at(whole, "incomplete_details"), "reason") or "incomplete")
        if text_at(whole, "status") == "failed":
            transcript.event("model_call_failed", text_at(map_at(whole, "error"), "message"))

    recording = recording_of(run)
    recording.take(run, add, new=True)
    if text_at(whole, "id"):
        recording.replies.add(whole["id"])


def record_items(run: ActiveRun, items: Iterable[Any]) -> None:
    """Reports items of the Responses API so far as steps of the run. What was reported of them before is not reported again.

    For whatever hands on such items, as the OpenAI Agents SDK does.
    """
    recording_of(run).take(run, _adding([plain(item) for item in items], add_item))


def _recorder(request: Mapping[str, Any]) -> Callable[[ActiveRun, Any], None]:
    """Records a response, and that its conversation, where the provider keeps one, has recall."""

    def record(run: ActiveRun, reply: Any) -> None:
        record_response(run, reply)
        if _conversation(request):
            recording_of(run).replies.add(_conversation(request))

    return record


def _goes_on(run: ActiveRun, request: Mapping[str, Any]) -> bool:
    """Whether the provider has what was said in this run before, recall included."""
    known = recording_of(run).replies
    return request.get("previous_response_id") in known or _conversation(request) in known


def _conversation(request: Mapping[str, Any]) -> str:
    named = request.get("conversation")
    return named if isinstance(named, str) else text_at(named, "id") if isinstance(named, dict) else ""


def _adding(
    messages: Sequence[Any], add: Callable[[Transcript, Mapping[str, Any], ReadReport], None]
) -> Callable[[Transcript, ReadReport], None]:
    def add_all(transcript: Transcript, report: ReadReport) -> None:
        for message in messages:
            if isinstance(message, dict):
                add(transcript, message, report)

    return add_all


def _takes_text(message: Any) -> bool:
    return isinstance(content_of(message), str | list)


def _behind(content: Any, text: str) -> Any:
    return joined(content, text) if isinstance(content, str) else [*content, {"type": "text", "text": text}]


def _tell_cut(transcript: Transcript, reason: str) -> None:
    """A reply that did not end by itself."""
    if reason in ("length", "max_output_tokens", "content_filter", "incomplete"):
        transcript.event("reply_cut_off", reason)
