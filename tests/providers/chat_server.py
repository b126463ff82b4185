"""A small OpenAI-compatible chat server on loopback: real HTTP, scripted answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ChatServer:
    """What it was sent, and what it answers: a status and a body each, in turn; the last one again and again."""

    answers: Sequence[tuple[int, Any]]
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    sent_headers: list[dict[str, str]] = field(default_factory=list)
    hold: threading.Event | None = None
    misbehaves: str = ""
    rule: Callable[[dict[str, Any]], tuple[int, Any]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


def completion(text: str | None, *, finish: str | None = "stop", cached: int = 0, **message: Any) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny-0.1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": cached}},
    }


def failure(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "code": code, "type": None}}


def misbehave(handler: BaseHTTPRequestHandler, how: str) -> None:
    """Answer as servers do that are broken: `trickles`, `cuts`, `hangs up`, `never ends`."""
    handler.close_connection = True
    if how == "hangs up":
        return
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    if how == "cuts":
        handler.send_header("Content-Length", "5000")
    handler.end_headers()
    try:
        if how == "cuts":
            handler.wfile.write(b'{"id": "chatcmpl-1", "choices": [')
        elif how == "trickles":
            for _ in range(2400):  # two minutes
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        else:
            while True:
                handler.wfile.write(b" " * 1_000_000)
    except OSError:
        pass  # the client has had enough


@contextmanager
def chat_server(*answers: tuple[int, Any]) -> Iterator[ChatServer]:
    """A server with these answers, for as long as the block runs."""
    state = ChatServer(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                number = len(state.bodies)
                state.bodies.append(body)
                state.sent_headers.append({name.lower(): value for name, value in self.headers.items()})
            if state.hold is not None:
                state.hold.wait(120)
            if state.misbehaves:
                misbehave(self, state.misbehaves)
                return
            status, answer = state.rule(body) if state.rule else state.answers[min(number, len(state.answers) - 1)]
            written = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(answer, str) else "application/json")
            self.send_header("Content-Length", str(len(written)))
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        if state.hold is not None:
            state.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
