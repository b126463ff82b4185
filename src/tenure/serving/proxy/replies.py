"""What a provider answered, read from the bytes that were passed on: whole or streamed, also where the stream was cut off."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenure.serving.proxy.bodies import Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of a model.

    Attributes:
        said: messages or items, in the form of its API.
        id: the provider's id of it; empty if there is none.
        model: as the provider names it.
        usage: tokens by name: `input_tokens`, `output_tokens`, `cached_tokens`; as far as the provider says.
        ended: whether it was read to its end.
    """

    said: tuple[Mapping[str, Any], ...] = ()
    id: str = ""
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    ended: bool = False


def read_reply(form: Form, raw: bytes, *, encoding: str = "", streamed: bool = False) -> Reply:
    """The answer in a body, as far as it can be read.

    Args:
        form: of the request.
        raw: the bytes, as the provider sent them.
        encoding: the header Content-Encoding.
        streamed: whether it is a stream of events.
    """
    text = _decoded(raw, encoding).decode("utf-8", "replace")
    if streamed:
        return _STREAMS[form](list(_events(text)))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Reply()
    return _WHOLE[form](value) if isinstance(value, dict) else Reply()


def _decoded(raw: bytes, encoding: str) -> bytes:
    """The bytes without their compression; of a cut stream what there is; nothing of one that cannot be read here."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return raw
    if name in ("gzip", "x-gzip", "deflate"):
        unpacking = zlib.decompressobj(47 if "gzip" in name else zlib.MAX_WBITS)
        try:
            return unpacking.decompress(raw, _MOST_UNPACKED)
        except zlib.error:
            if name != "deflate":
                return b""
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, _MOST_UNPACKED)  # some servers leave out the header
        except zlib.error:
            return b""
    return b""


_MOST_UNPACKED = 64 << 20


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects that a stream of events carries."""
    for event in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        if not data or data == "[DONE]":
            continue
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            continue  # the last one may be cut off
        if isinstance(value, dict):
            yield value


# -- chat completions --------------------------------------------------------------------------------


def _chat(value: Mapping[str, Any]) -> Reply:
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = first.get("message")
    said = ({"role": "assistant", **message},) if isinstance(message, dict) else ()
    return Reply(said=said, id=_text(value, "id"), model=_text(value, "model"), usage=_chat_usage(value.get("usage")), ended=bool(said))


def _chat_stream(events: list[Mapping[str, Any]]) -> Reply:
    texts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
    calls: dict[int, dict[str, Any]] = {}
    usage: Mapping[str, int] = {}
    ended = False
    for event in events:
        usage = _chat_usage(event.get("usage")) or usage
        for choice in _dicts(event.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            ended = ended or bool(choice.get("finish_reason"))
            delta = choice.get("delta")
            if not isinstance(delta, dict):
                continue
            for name, pieces in texts.items():
                piece = delta.get(name, delta.get("reasoning") if name == "reasoning_content" else None)
                if isinstance(piece, str):
                    pieces.append(piece)
            for call in _dicts(delta.get("tool_calls")):
                place = call.get("index", len(calls))
                known = calls.setdefault(place if isinstance(place, int) else len(calls), {"id": "", "name": "", "arguments": ""})
                function = call.get("function")
                known["id"] = known["id"] or _text(call, "id")
                if isinstance(function, dict):
                    known["name"] += _text(function, "name")
                    known["arguments"] += _text(function, "arguments")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts["content"]) or "".join(texts["refusal"]) or None}
    if texts["reasoning_content"]:
        message["reasoning_content"] = "".join(texts["reasoning_content"])
    if calls:
        message["tool_calls"] = [
            {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
            for _, one in sorted(calls.items())
        ]
    first = events[0] if events else {}
    said = (message,) if message["content"] or calls else ()
    return Reply(said=said, id=_text(first, "id"), model=_text(first, "model"), usage=usage, ended=ended)


def _chat_usage(usage: object) -> Mapping[str, int]:
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    return _whole(
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        cached_tokens=details.get("cached_tokens") if isinstance(details, dict) else None,
    )


# -- responses ---------------------------------------------------------------------------------------


def _response(value: Mapping[str, Any]) -> Reply:
    return Reply(
        said=tuple(_dicts(value.get("output"))),
        id=_text(value, "id"),
        model=_text(value, "model"),
        usage=_response_usage(value.get("usage")),
        ended=value.get("status") not in ("in_progress", "queued"),
    )


def _response_stream(events: list[Mapping[str, Any]]) -> Reply:
    begun: Mapping[str, Any] = {}
    done: list[Mapping[str, Any]] = []
    open_texts: dict[str, list[str]] = {}
    for event in events:
        kind, whole = _text(event, "type"), event.get("response")
        if isinstance(whole, dict):
            if kind in ("response.completed", "response.incomplete", "response.failed"):
                return _response(whole)
            begun = whole
        item = event.get("item")
        if kind == "response.output_item.done" and isinstance(item, dict):
            done.append(item)
            open_texts.pop(_text(item, "id"), None)
        elif kind == "response.output_text.delta":
            open_texts.setdefault(_text(event, "item_id"), []).append(_text(event, "delta"))
    cut = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "".join(pieces)}]}
        for pieces in open_texts.values()
    ]
    return Reply(said=(*done, *cut), id=_text(begun, "id"), model=_text(begun, "model"))


def _response_usage(usage: object) -> Mapping[str, int]:
    if not isinstance(usage, dict):
        return {}
    details = usage.get("input_tokens_details")
    return _whole(
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        cached_tokens=details.get("cached_tokens") if isinstance(details, dict) else None,
    )


# -- messages ----------------------------------------------------------------------------------------


def _message(value: Mapping[str, Any]) -> Reply:
    content = value.get("content")
    said = ({"role": "assistant", "content": content},) if isinstance(content, list) and content else ()
    return Reply(
        said=said, id=_text(value, "id"), model=_text(value, "model"), usage=_message_usage(value.get("usage")), ended="content" in value
    )


def _message_stream(events: list[Mapping[str, Any]]) -> Reply:
    begun: Mapping[str, Any] = {}
    usage: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, list[str]] = {}
    ended = False
    for event in events:
        kind, place = _text(event, "type"), event.get("index")
        if kind == "message_start" and isinstance(event.get("message"), dict):
            begun = event["message"]
            usage |= begun.get("usage") or {}
        elif kind == "content_block_start" and isinstance(place, int) and isinstance(event.get("content_block"), dict):
            blocks[place] = dict(event["content_block"])
        elif kind == "content_block_delta" and isinstance(place, int) and isinstance(event.get("delta"), dict):
            delta = event["delta"]
            pieces.setdefault(place, []).append(_text(delta, "text") or _text(delta, "partial_json") or _text(delta, "thinking"))
        elif kind == "message_delta":
            usage |= {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
        elif kind == "message_stop":
            ended = True
    for place, block in blocks.items():
        said = "".join(pieces.get(place, ()))
        name = {"text": "text", "thinking": "thinking"}.get(_text(block, "type"), "input")
        if said:
            block[name] = f"{_text(block, name)}{said}" if name != "input" else _object(said)
    content = [block for _, block in sorted(blocks.items())]
    return Reply(
        said=({"role": "assistant", "content": content},) if content else (),
        id=_text(begun, "id"),
        model=_text(begun, "model"),
        usage=_message_usage(usage),
        ended=ended,
    )


def _object(said: str) -> Any:
    """Arguments of a call; as text where they were cut off."""
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return said


def _message_usage(usage: object) -> Mapping[str, int]:
    if not isinstance(usage, dict):
        return {}
    counts = _whole(
        input_tokens=usage.get("input_tokens"), read=usage.get("cache_read_input_tokens"), made=usage.get("cache_creation_input_tokens")
    )
    return _whole(
        input_tokens=sum(counts.values()) if "input_tokens" in counts else None,  # Anthropic counts what it cached apart
        output_tokens=usage.get("output_tokens"),
        cached_tokens=counts.get("read"),
    )


def _whole(**counts: object) -> Mapping[str, int]:
    return {name: count for name, count in counts.items() if isinstance(count, int) and not isinstance(count, bool)}


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


_WHOLE = {"chat": _chat, "responses": _response, "messages": _message}
_STREAMS = {"chat": _chat_stream, "responses": _response_stream, "messages": _message_stream}
