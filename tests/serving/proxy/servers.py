"""Servers on loopback for tests of the proxy: a scripted provider that keeps every byte it gets, and the proxy before it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from tenure.ports import Store
from tenure.serving.proxy.app import Proxy
from tenure.serving.proxy.door import Door
from tenure.serving.proxy.upstream import Upstreams
from tenure.serving.service.engine import Engine
from tenure.serving.service.listening import Address, listen, url_of
from tenure.wiring import Tenure

SCOPE = "acme/support"


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """A request as the provider got it."""

    method: str
    target: bytes
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, or none."""
        return next((value.decode("latin-1") for one, value in self.headers if one == name.encode()), None)

    @property
    def json(self) -> Any:
        """The body read."""
        return json.loads(self.body)


@dataclass(slots=True, kw_only=True)
class Answer:
    """What the provider answers: the chunks are sent one by one, with a pause between them."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),)
    chunks: Sequence[bytes] = (b"{}",)
    pause_s: float = 0.0
    breaks: bool = False
    """Whether the connection is closed before the answer is whole."""


@dataclass(slots=True)
class Provider:
    """A scripted provider."""

    url: str = ""
    got: list[Got] = field(default_factory=list)
    answer: Callable[[Got], Answer] = lambda got: Answer()
    sent: int = 0
    left: threading.Event = field(default_factory=threading.Event)  # somebody went away before the answer's end

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        query = scope["query_string"]
        got = Got(
            method=scope["method"], target=scope["raw_path"] + (b"?" + query if query else b""), headers=list(scope["headers"]), body=body
        )
        self.got.append(got)
        answer = self.answer(got)
        await send(
            {"type": "http.response.start", "status": answer.status, "headers": [(n.encode(), v.encode()) for n, v in answer.headers]}
        )
        for chunk in answer.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            self.sent += 1
            if answer.pause_s:
                with suppress(TimeoutError):
                    while (await asyncio.wait_for(receive(), answer.pause_s))["type"] != "http.disconnect":
                        pass
                    self.left.set()
                    return
        if not answer.breaks:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@contextmanager
def served(app: Any, **config: Any) -> Iterator[str]:
    """An app on a free port of loopback; its address."""
    address = Address(port=0)
    with listen(address) as taken:
        server = uvicorn.Server(
            uvicorn.Config(
                app, log_config=None, access_log=False, server_header=False, date_header=False, timeout_graceful_shutdown=5, **config
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until:
            time.sleep(0.005)
        assert server.started
        try:
            yield url_of(address, taken)
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


@dataclass(slots=True, kw_only=True)
class Running:
    """A proxy before a provider."""

    url: str
    provider: Provider
    proxy: Proxy
    engine: Engine
    arrived: list[tuple[str, str]]

    @property
    def book(self) -> Tenure:
        """The playbook that requests are shown."""
        return self.engine.book(SCOPE)


class Arrivals:
    """Notes which runs can be learned from."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []

    def arrived(self, scope: str, run: str) -> None:
        """A finished run was kept."""
        self.runs.append((scope, run))


@contextmanager
def running(
    store: Store, *, budget_ms: float = 10_000, without_keys: bool = True, names: Sequence[str] = ("openai", "anthropic")
) -> Iterator[Running]:
    """A proxy over a store, before a scripted provider."""
    provider, arrivals = Provider(), Arrivals()
    engine = Engine(Tenure(store, SCOPE, embedder="none"), arrivals)
    with served(provider, lifespan="off") as there:
        provider.url = there
        door = Door(engine, without_keys=without_keys, scope=SCOPE)
        proxy = Proxy(engine, Upstreams(urls=dict.fromkeys(names, there)), door, budget_ms=budget_ms)
        with served(proxy, lifespan="on") as here:
            yield Running(url=here, provider=provider, proxy=proxy, engine=engine, arrived=arrivals.runs)


def chat_reply(text: str | None = "Done.", *, calls: Sequence[tuple[str, str, str]] = (), **more: Any) -> bytes:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": one, "type": "function", "function": {"name": name, "arguments": said}} for one, name, said in calls
        ]
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4}}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-test", "choices": [choice], "usage": usage}
    return json.dumps(whole | more).encode()


def message_reply(text: str = "Done.", *, calls: Sequence[tuple[str, str, Mapping[str, Any]]] = ()) -> bytes:
    """An answer of Anthropic's messages."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": one, "name": name, "input": dict(said)} for one, name, said in calls]
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2},
    }
    return json.dumps(whole).encode()


def response_reply(text: str = "Done.", *, id: str = "resp_1", items: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """An answer of the responses API."""
    said = {"type": "output_text", "text": text, "annotations": []}
    output = [*items, {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [said]}]
    usage = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_tokens_details": {"cached_tokens": 1}}
    usage["output_tokens_details"] = {"reasoning_tokens": 0}
    return {
        "id": id,
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "gpt-test",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


def events(*said: Mapping[str, Any] | str) -> list[bytes]:
    """Server-sent events, one chunk each; a text stands for itself."""
    return [
        f"data: {one}\n\n".encode()
        if isinstance(one, str)
        else (f"event: {one['type']}\n" if "type" in one else "").encode() + f"data: {json.dumps(one)}\n\n".encode()
        for one in said
    ]


STREAM = (("content-type", "text/event-stream; charset=utf-8"),)
