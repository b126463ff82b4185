"""A provider's server without a network: it answers the official clients from a script, and keeps what they sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

Answer = Mapping[str, Any] | Sequence[Mapping[str, Any]] | Exception | httpx2.Response
"""A body, the events of a stream, what goes wrong on the way, or a whole response."""


class ScriptedServer:
    """Answers one request after the other.

    Attributes:
        requests: bodies that were sent, parsed, in order.
    """

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answers = list(answers)

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx2.Response):
            return answer
        if isinstance(answer, Mapping):
            return httpx2.Response(200, json=answer)
        events = "".join(f"event: {event.get('type', 'chunk')}\ndata: {json.dumps(event)}\n\n" for event in answer)
        return httpx2.Response(200, text=events + "data: [DONE]\n\n", headers={"content-type": "text/event-stream"})

    @property
    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self.answer))

    @property
    def async_client(self) -> httpx2.AsyncClient:
        async def answer(request: httpx2.Request) -> httpx2.Response:
            return self.answer(request)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer))


def completion(content: str | None = None, *, calls: Sequence[tuple[str, str, str]] = (), **more: Any) -> dict[str, Any]:
    """A chat completion; calls as (id, name, arguments)."""
    message: dict[str, Any] = {"role": "assistant", "content": content, **more}
    if calls:
        message["tool_calls"] = [
            {"id": one, "type": "function", "function": {"name": name, "arguments": said}} for one, name, said in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "chat-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chunks(*deltas: Mapping[str, Any], finish: str = "stop") -> list[dict[str, Any]]:
    """A chat completion in pieces."""
    whole = [*({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas), {"index": 0, "delta": {}, "finish_reason": finish}]
    return [{"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]} for choice in whole]


def response(*output: Mapping[str, Any], id: str = "resp_1") -> dict[str, Any]:
    """A response of the Responses API."""
    return {
        "id": id,
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def said(text: str) -> dict[str, Any]:
    """An output item with a text."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def message(*content: Mapping[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    """A message of the Anthropic API."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
