"""Replies that come in pieces, put together again: chat completions, responses and messages.

Each takes the events of one stream as parsed JSON and holds at any time what has come so far, so that a stream that is
left early loses nothing that was there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenure.traces.decoding import DECODER
from tenure.traces.shapes import list_at, map_at, text_at

_GROWING = ("content", "refusal", "reasoning_content", "reasoning")


class StreamedCompletion:
    """The first choice of a streamed chat completion of the OpenAI API."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self.id = ""
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._others: set[int] = set()

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Takes the next chunk."""
        self.id = self.id or text_at(chunk, "id")
        for choice in list_at(chunk, "choices"):
            if not isinstance(choice, dict):
                continue
            if choice.get("index"):
                self._others.add(choice["index"])
                continue
            self.finish_reason = text_at(choice, "finish_reason") or self.finish_reason
            delta = map_at(choice, "delta")
            for name in _GROWING:
                if isinstance(delta.get(name), str):
                    self._texts.setdefault(name, []).append(delta[name])
            for place, call in enumerate(list_at(delta, "tool_calls")):
                if isinstance(call, dict):
                    self._add_call(call, place)

    def _add_call(self, piece: Mapping[str, Any], place: int) -> None:
        index = piece.get("index")
        call = self._calls.setdefault(index if isinstance(index, int) else place, {"id": "", "name": "", "arguments": []})
        function = map_at(piece, "function") or map_at(piece, "custom")
        call["id"] = call["id"] or text_at(piece, "id")
        call["name"] = call["name"] or text_at(function, "name")
        call["arguments"].append(text_at(function, "arguments", "input"))

    @property
    def reply(self) -> Mapping[str, Any]:
        """What has come so far, as the completion that would have come in one piece."""
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {name: "".join(pieces) for name, pieces in self._texts.items()}
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": "".join(call["arguments"])}}
            for _, call in sorted(self._calls.items())
        ]
        if calls:
            message["tool_calls"] = calls
        first = {"index": 0, "message": message, "finish_reason": self.finish_reason or None}
        others = [{"index": index, "message": {}} for index in sorted(self._others)]
        return {"id": self.id, "choices": [first, *others] if self._texts or calls or self.finish_reason else []}


class StreamedResponse:
    """A streamed response of the OpenAI API."""

    def __init__(self) -> None:
        self._whole: Mapping[str, Any] = {}
        self._id = ""
        self._items: dict[int, Mapping[str, Any]] = {}
        self._open: dict[int, list[str]] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Takes the next event."""
        kind = text_at(event, "type")
        place = event.get("output_index")
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self._whole = map_at(event, "response")
        elif kind == "response.created":
            self._id = text_at(map_at(event, "response"), "id")
        elif not isinstance(place, int):
            return
        elif kind == "response.output_item.done":
            self._items[place] = map_at(event, "item")
            self._open.pop(place, None)
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            self._open.setdefault(place, []).append(text_at(event, "delta"))

    @property
    def reply(self) -> Mapping[str, Any]:
        """What has come so far, as the response that would have come in one piece."""
        if self._whole:
            return self._whole
        begun = {place: {"type": "message", "role": "assistant", "content": "".join(texts)} for place, texts in self._open.items()}
        return {"id": self._id, "output": [item for _, item in sorted({**begun, **self._items}.items())]}


class StreamedMessage:
    """A streamed message of the Anthropic API."""

    def __init__(self) -> None:
        self._message: Mapping[str, Any] = {}
        self._stopped: Mapping[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Takes the next event."""
        kind = text_at(event, "type")
        place = event.get("index")
        if kind == "message_start":
            self._message = map_at(event, "message")
        elif kind == "message_delta":
            self._stopped = map_at(event, "delta")
        elif not isinstance(place, int):
            return
        elif kind == "content_block_start":
            self._blocks[place] = dict(map_at(event, "content_block"))
        elif kind == "content_block_delta":
            pieces = self._pieces.setdefault(place, {})
            delta = map_at(event, "delta")
            for name in ("text", "thinking", "partial_json"):
                if isinstance(delta.get(name), str):
                    pieces.setdefault(name, []).append(delta[name])

    @property
    def reply(self) -> Mapping[str, Any]:
        """What has come so far, as the message that would have come in one piece."""
        content = [self._whole(block, self._pieces.get(place, {})) for place, block in sorted(self._blocks.items())]
        return {**self._message, "role": "assistant", "content": content, "stop_reason": self._stopped.get("stop_reason")}

    @staticmethod
    def _whole(block: Mapping[str, Any], pieces: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
        whole = dict(block)
        for name in ("text", "thinking"):
            if name in pieces:
                whole[name] = text_at(block, name) + "".join(pieces[name])
        if "partial_json" in pieces:
            text = "".join(pieces["partial_json"])
            try:
                whole["input"] = DECODER.decode(text) if text.strip() else whole.get("input", {})
            except (ValueError, RecursionError):
                whole["input"] = text  # cut off in the middle: it is kept as it came
        return whole
