"""What was said in a span, whichever convention wrote it: pieces of messages, the same for all.

The conventions: OpenTelemetry GenAI in its newer form (`gen_ai.input.messages`) and its older ones (events such as `gen_ai.user.message`,
attributes `gen_ai.prompt`), and OpenInference (`llm.input_messages`).
Sources: https://opentelemetry.io/docs/specs/semconv/gen-ai/ and https://github.com/Arize-ai/openinference/tree/main/spec
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tenure.traces.otlp_spans import Span
from tenure.traces.otlp_values import in_order, nested, unpacked
from tenure.traces.report import ReadReport
from tenure.traces.shapes import list_at, map_at, text_at, text_of
from tenure.traces.tool_errors import shortened
from tenure.traces.transcript import TEXT_LIMIT

PieceKind = Literal["system", "person", "agent", "thought", "call", "result"]

_SPEAKERS: Mapping[str, PieceKind] = {
    "system": "system",
    "developer": "system",
    "user": "person",
    "human": "person",
    "assistant": "agent",
    "ai": "agent",
    "model": "agent",
    "tool": "result",
    "function": "result",
}
_EVENTS: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_MEDIA: Mapping[str, str] = {"image": "image", "audio": "audio", "video": "video"}
_ASKED = ("input", "question", "query", "prompt", "task", "user_input", "user_prompt", "content")
"""Names under which a frame around calls gives what it was asked, where it gives an object."""

_ANSWERED = ("output", "answer", "result", "response", "final_output", "content")
_KEPT = TEXT_LIMIT + 4096
"""More than a transcript keeps of a text, so that it cuts and counts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One text, tool call or tool result of a message.

    Attributes:
        kind: what it is.
        text: what was said or returned; of a call its arguments, as JSON text where they are an object.
        name: the tool's.
        call_id: joins a result to its call.
        flag: whether a result says of itself that it is an error; none if it does not say.
    """

    kind: PieceKind
    text: str = ""
    name: str = ""
    call_id: str = ""
    flag: bool | None = None


def asked(span: Span, report: ReadReport) -> list[Piece]:
    """What a call of a model was given, its instructions first; of an agent, what it was asked."""
    return _first(_inputs(span, report))


def answered(span: Span, report: ReadReport) -> list[Piece]:
    """What a model or an agent answered."""
    return _first(_outputs(span, report))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool's call and its result, as its own span tells them.

    Attributes:
        call, result: the two pieces; the result has the call's id.
        error: what went wrong, empty if nothing did.
    """

    call: Piece
    result: Piece
    error: str


def tool_use(span: Span, report: ReadReport) -> ToolUse:
    """What a tool was asked and returned."""
    given = span.attributes
    name = text_at(given, "gen_ai.tool.name", "tool.name", "traceloop.entity.name", "gen_ai.data_source.id")
    name = name or span.name.removeprefix("execute_tool ").removeprefix("running tool: ")
    call_id = text_at(given, "gen_ai.tool.call.id", "tool_call.id", "tool.id")
    parameters = unpacked(given.get("tool.parameters"))
    if isinstance(parameters, dict) and isinstance(parameters.get("properties"), dict):
        parameters = None  # the schema of the parameters, not their values
    search = text_at(given, "gen_ai.retrieval.query.text")
    arguments = _given(
        given.get("gen_ai.tool.call.arguments"),
        {"query": search} if search else None,
        _entity(given.get("traceloop.entity.input"), "input_str", "inputs"),
        given.get("input.value"),
        parameters,
        given.get("tool_arguments"),
    )
    documents = [text_at(map_at(one, "document"), "content") for one in in_order(nested(given, "retrieval.documents"))]
    returned = _given(
        given.get("gen_ai.tool.call.result"),
        given.get("gen_ai.retrieval.documents"),
        "\n".join(filter(None, documents)),
        _entity(given.get("traceloop.entity.output"), "output", "outputs"),
        given.get("output.value"),
        given.get("tool_response"),
    )
    error, content = span.error, text_of(returned, report)
    if error.endswith(content):  # what the tool returned, behind the name that a library gives to errors
        error = content or error
    content = content or error
    return ToolUse(
        call=Piece(kind="call", text=_arguments(arguments), name=name, call_id=call_id),
        result=Piece(kind="result", text=_cut(content), name=name, call_id=call_id, flag=True if error else None),
        error=error,
    )


def _first(forms: Iterable[Iterable[Piece]]) -> list[Piece]:
    """The pieces of the first form that has any."""
    for form in forms:
        found = list(form)
        if found:
            return found
    return []


def _given(*values: object) -> object:
    return next((value for value in values if value not in (None, "", [], {})), None)


def _inputs(span: Span, report: ReadReport) -> Iterator[Iterable[Piece]]:
    given = span.attributes
    for holder in (given, *(event.attributes for event in span.events if event.name == "gen_ai.client.inference.operation.details")):
        messages = unpacked(holder.get("gen_ai.input.messages"))
        instructions = unpacked(holder.get("gen_ai.system_instructions"))
        if messages or instructions:
            yield [*_parts("system", instructions, report), *_messages(messages, report)]
    events = [event for event in span.events if event.name in _EVENTS]
    yield _flat(_message(_body(event.attributes, _EVENTS[event.name]), report) for event in events)
    logged = [one for one in in_order(unpacked(given.get("events"))) if isinstance(one, dict)]
    yield _flat(_message(_body(one, _EVENTS[name]), report) for one in logged if (name := text_at(one, "event.name")) in _EVENTS)
    noted = next((event.attributes.get("gen_ai.prompt") for event in span.events if event.name == "gen_ai.content.prompt"), None)
    for prompt in (given.get("gen_ai.prompt"), noted):
        yield _said(unpacked(prompt), "user", report)
    yield _flat(_message(one, report) for one in in_order(nested(given, "gen_ai.prompt")))
    yield _flat(_message(_openinference(one), report) for one in in_order(nested(given, "llm.input_messages")))
    yield _flat(_said(text_at(map_at(one, "prompt"), "text"), "user", report) for one in in_order(nested(given, "llm.prompts")))
    for name in ("input.value", "traceloop.entity.input"):
        yield _said(_inside(unpacked(given.get(name)), _ASKED), "user", report)


def _outputs(span: Span, report: ReadReport) -> Iterator[Iterable[Piece]]:
    given = span.attributes
    for holder in (given, *(event.attributes for event in span.events if event.name == "gen_ai.client.inference.operation.details")):
        yield _messages(_chosen(unpacked(holder.get("gen_ai.output.messages"))), report)
    events = [event.attributes for event in span.events if event.name == _CHOICE]
    yield _messages(_chosen([_choice(one) for one in events]), report)
    logged = [one for one in in_order(unpacked(given.get("events"))) if isinstance(one, dict) and one.get("event.name") == _CHOICE]
    yield _messages(_chosen([_choice(one) for one in logged]), report)
    noted = next((event.attributes.get("gen_ai.completion") for event in span.events if event.name == "gen_ai.content.completion"), None)
    for completion in (given.get("gen_ai.completion"), noted):
        yield _said(_chosen(unpacked(completion)), "assistant", report)
    yield _messages(_chosen(list(in_order(nested(given, "gen_ai.completion")))), report)
    yield _messages([_openinference(one) for one in in_order(nested(given, "llm.output_messages"))], report)
    for name in ("output.value", "traceloop.entity.output"):
        yield _said(_inside(unpacked(given.get(name)), _ANSWERED), "assistant", report)


def _flat(groups: Iterable[Iterable[Piece]]) -> list[Piece]:
    return [piece for group in groups for piece in group]


def _messages(listed: object, report: ReadReport) -> list[Piece]:
    if isinstance(listed, dict):
        listed = [listed]
    return _flat(_message(one, report) for one in in_order(listed))


def _chosen(answers: Any) -> Any:
    """Of several answers to one call the first: an agent goes on with one."""
    if isinstance(answers, list) and len(answers) > 1 and all(isinstance(one, dict) and "finish_reason" in one for one in answers):
        return answers[:1]
    return answers


def _message(message: object, report: ReadReport) -> list[Piece]:
    """The pieces of a message, in any of the forms that the conventions carry."""
    if isinstance(message, str):
        return _said(message, "user", report)
    if not isinstance(message, dict):
        return []
    role = text_at(message, "role").lower() or "assistant"
    if isinstance(message.get("parts"), list):
        return _parts(role, message["parts"], report)
    said = _SPEAKERS.get(role, "agent")
    content = _blocks(message.get("content"))
    call_id = text_at(message, "tool_call_id", "id")
    if said == "result":
        flag = message.get("is_error")
        name = text_at(message, "name")
        text = _cut(text_of(content, report))
        return [Piece(kind="result", text=text, name=name, call_id=call_id, flag=flag if isinstance(flag, bool) else None)]
    pieces: list[Piece] = []
    if said == "agent":
        pieces += _text("thought", text_of(message.get("reasoning_content", message.get("reasoning")), report))
    pieces += _parts(role, content, report) if isinstance(content, list) else _text(said, text_of(content, report))
    for call in in_order(unpacked(message.get("tool_calls"))):
        if isinstance(call, dict):
            function = map_at(call, "function") or map_at(call, "custom") or call
            arguments = unpacked(function.get("arguments", function.get("input", function.get("args"))))
            pieces.append(
                Piece(
                    kind="call",
                    text=_arguments(arguments),
                    name=text_at(function, "name"),
                    call_id=text_at(call, "id") or text_at(function, "id"),
                )
            )
    function = map_at(message, "function_call")
    if function:
        pieces.append(Piece(kind="call", text=_arguments(unpacked(function.get("arguments"))), name=text_at(function, "name")))
    return pieces


def _blocks(content: object) -> object:
    """A content, taken out of the JSON text that it was put into where it is a list of blocks."""
    found = unpacked(content) if isinstance(content, str) else content
    if isinstance(found, list) and all(isinstance(block, dict) and "type" in block for block in found):
        return found
    return content


def _parts(role: str, parts: object, report: ReadReport) -> list[Piece]:
    """The pieces of a message that is given in parts or blocks; texts that follow one another are one."""
    said = _SPEAKERS.get(role, "agent")
    pieces: list[Piece] = []
    texts: list[object] = []

    def close() -> None:
        pieces.extend(_text("agent" if said == "result" else said, text_of(texts, report)))
        texts.clear()

    listed: list[Any] = parts if isinstance(parts, list) else [parts] if parts else []
    for part in listed:
        kind = part.get("type", part.get("kind")) if isinstance(part, dict) else None
        if kind in ("tool_call", "tool_use", "function_call", "server_tool_call"):
            close()
            arguments = unpacked(part.get("arguments", part.get("input", part.get("args"))))
            pieces.append(
                Piece(
                    kind="call",
                    text=_arguments(arguments),
                    name=text_at(part, "name"),
                    call_id=text_at(part, "id", "call_id", "tool_call_id"),
                )
            )
        elif kind in ("tool_call_response", "tool_result", "function_call_output", "server_tool_call_response"):
            close()
            returned = next((part[key] for key in ("response", "result", "content", "output") if part.get(key) is not None), "")
            flag = part.get("is_error")
            pieces.append(
                Piece(
                    kind="result",
                    text=_cut(text_of(returned, report)),
                    name=text_at(part, "name"),
                    call_id=text_at(part, "id", "tool_use_id", "call_id", "tool_call_id"),
                    flag=flag if isinstance(flag, bool) else None,
                )
            )
        elif kind in ("reasoning", "thinking"):
            close()
            pieces += _text("thought", text_at(part, "content", "thinking", "text"))
        elif kind in ("blob", "uri", "file", "image", "audio", "video") and not isinstance(part.get("text"), str):
            report.repaired(f"{_MEDIA.get(text_at(part, 'modality') or kind, 'file')} left out")
        elif isinstance(part, dict) and isinstance(part.get("content"), str) and "text" not in part:
            texts.append(part["content"])
        else:
            texts.append(part)
    close()
    return pieces


def _said(value: object, role: str, report: ReadReport) -> list[Piece]:
    """The pieces of a prompt or an answer: a text, messages, or an object that holds messages."""
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            value = value["messages"]
        elif isinstance(value.get("choices"), list):
            value = [_choice(one) for one in value["choices"][:1] if isinstance(one, dict)]
        elif "role" in value:
            value = [value]
    if isinstance(value, list):
        value = value[0] if len(value) == 1 and isinstance(value[0], list) else value
        known = [one for one in value if isinstance(one, dict) and ("role" in one or "parts" in one)]
        if known:
            return _messages(known, report)
    if value in (None, "", [], {}):
        return []
    return _text(_SPEAKERS[role], value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _body(event: Mapping[str, Any], role: str) -> dict[str, Any]:
    """The message of an event, whose content stands in its attributes or in one JSON text."""
    body = unpacked(event.get("gen_ai.event.content", event.get("body")))
    return {"role": role, **event, **(body if isinstance(body, dict) else {"content": body} if isinstance(body, str) else {})}


def _choice(event: Mapping[str, Any]) -> dict[str, Any]:
    """The message of one of the answers, with the reason why it ended."""
    whole = _body(event, "assistant")
    inner = unpacked(whole.get("message"))
    if isinstance(inner, dict):
        whole = {**whole, **inner}
    elif isinstance(inner, str) and inner and "content" not in whole:
        whole["content"] = inner
    return {"finish_reason": "", **whole, "role": text_at(whole, "role") or "assistant"}


def _openinference(numbered: object) -> object:
    """A message whose parts stand under names with dots, as a message with content and tool calls."""
    message = map_at(numbered, "message") if isinstance(numbered, dict) else {}
    made: dict[str, Any] = {"role": text_at(message, "role"), "content": message.get("content")}
    blocks: list[Any] = []
    for one in in_order(message.get("contents")):
        inner = map_at(one, "message_content") if isinstance(one, dict) else {}
        blocks.append({"type": "image"} if "image" in inner else dict(inner))
    if blocks and not made["content"]:
        made["content"] = blocks
    if call_id := text_at(message, "tool_call_id"):
        made["tool_call_id"] = call_id
    made["name"] = text_at(message, "name")
    calls: list[Any] = []
    for one in in_order(message.get("tool_calls")):
        call = map_at(one, "tool_call") if isinstance(one, dict) else {}
        calls.append({"id": text_at(call, "id"), "function": dict(map_at(call, "function"))})
    made["tool_calls"] = calls
    if name := text_at(message, "function_call_name"):
        made["function_call"] = {"name": name, "arguments": message.get("function_call_arguments_json")}
    return made


def _inside(value: object, names: Iterable[str]) -> object:
    """The text inside an object that holds one under one of some names; else the value as it is."""
    if not isinstance(value, dict) or list_at(value, "messages"):
        return value
    held = value.get("inputs", value.get("outputs"))
    inner = held if isinstance(held, dict) else value
    return next((inner[name] for name in names if isinstance(inner.get(name), str) and inner[name]), value)


def _entity(value: object, *names: str) -> object:
    inner = unpacked(value)
    return next((unpacked(inner[name]) for name in names if isinstance(inner, dict) and inner.get(name)), inner)


def _arguments(value: object) -> str:
    value = unpacked(value)
    if value in (None, "", {}):
        return ""
    return _cut(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _text(kind: PieceKind, text: str) -> list[Piece]:
    return [Piece(kind=kind, text=_cut(text))] if text.strip() else []


def _cut(text: str) -> str:
    return text if len(text) <= _KEPT else shortened(text, _KEPT)
