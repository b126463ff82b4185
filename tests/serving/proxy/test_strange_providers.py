"""Providers and callers that do what no client of theirs would: the proxy goes on, and nobody else notices."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx2
import pytest

from tenure.playbook.delta import Add
from tenure.serving.proxy.app import Proxy
from tenure.serving.proxy.door import Door
from tenure.serving.proxy.upstream import Upstreams
from tenure.serving.service.callers import make_key
from tenure.serving.service.engine import Engine
from tenure.stores.in_memory import InMemoryStore
from tenure.wiring import Tenure
from tests.serving.proxy.servers import SCOPE, Answer, chat_reply, running, served
from tests.serving.proxy.test_openai_client import LESSON, TASK, recorded
from tests.serving.proxy.test_runs import ask


@contextmanager
def saying(raw: bytes) -> Iterator[str]:
    """A provider that answers every request with these bytes and hangs up; the proxy before it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(raw)

        threading.Thread(target=answer, daemon=True).start()
        engine = Engine(Tenure(InMemoryStore(), SCOPE, embedder="none"))
        there = f"http://127.0.0.1:{listening.getsockname()[1]}"
        proxy = Proxy(engine, Upstreams(urls={"openai": there}), Door(engine, without_keys=True, scope=SCOPE), budget_ms=10_000)
        with served(proxy, lifespan="on") as url:
            yield url
        listening.shutdown(socket.SHUT_RDWR)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

STRANGE = {
    "no status of HTTP": b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    "no HTTP": b"\0\1\2\r\n\r\n",
    "nothing": b"",
    "a header of 1 MB": HEAD + b"X-Big: " + b"a" * (1 << 20) + b"\r\n\r\n",
    "a negative length": HEAD + b"Content-Length: -4\r\n\r\n{}",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
}


@pytest.mark.parametrize("said", STRANGE)
def test_an_answer_that_is_none_is_told_as_such(said: str) -> None:
    with saying(STRANGE[said]) as url:
        answer = ask(url)
    assert (answer.status_code, answer.json()["error"]["type"]) == (502, "upstream_error")


def test_a_provider_cannot_say_what_tenure_did() -> None:
    with running(InMemoryStore()) as there:
        there.provider.answer = lambda got: Answer(headers=[("x-tenure", "lied"), ("x-tenure-run", "stolen")], chunks=[chat_reply()])
        answer = ask(there.url)
        assert answer.headers["x-tenure"] == "nothing to add"
        assert answer.headers["x-tenure-run"] != "stolen"


def test_half_a_character_in_an_answer_keeps_nobody_from_lessons_later() -> None:
    with running(InMemoryStore()) as there:
        there.book.apply([Add(section="refunds", text=LESSON)])
        there.provider.answer = lambda got: Answer(
            chunks=[chat_reply("Cut here: \ud83d", calls=[("c\ud800", "f\ud800", '{"a": "\\udc00"}')])]
        )
        asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"{TASK} \ud83d"}]})  # as an escape it is JSON
        headers = {"authorization": "Bearer callers", "x-tenure-outcome": "success"}
        run = httpx2.post(f"{there.url}/v1/chat/completions", content=asked, headers=headers, timeout=30).headers["x-tenure-run"]
        found = recorded(there, run, 4)
        json.dumps([(found.task.text, *((one.content, one.name, dict(one.arguments)) for one in found.steps))], ensure_ascii=False).encode()
        assert "Cut here: \ufffd" in [one.content for one in found.steps]
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        for task in (TASK, "task NUL text"):
            assert ask(there.url, task=task).headers["x-tenure"] == "added"


def test_a_large_request_without_a_key_is_refused_before_all_of_it_is_kept() -> None:
    with running(InMemoryStore(), without_keys=False) as there:
        parts = urlsplit(there.url)
        with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=10) as connection:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {10 << 20}\r\n\r\n"
            connection.sendall(head.encode() + b" " * (300 << 10))
            assert connection.recv(99).startswith(b"HTTP/1.1 401")
        made = make_key(there.engine.store, there.engine.clock, there.engine.ids, scope=SCOPE, role="reporter", by="tests")
        body = {"model": "m", "messages": [{"role": "user", "content": TASK + " " * (600 << 10)}]}
        answer = ask(there.url, body=body, x_tenure_key=made.text)
        assert (answer.status_code, answer.headers["x-tenure"]) == (200, "nothing to add")
        assert there.provider.got[-1].json == body


def test_a_header_of_the_callers_ends_no_line() -> None:
    with running(InMemoryStore()) as there:
        assert ask(there.url, x_tenure_run="a b").status_code == 400
        with pytest.raises(httpx2.LocalProtocolError):
            ask(there.url, x_tenure_run="a\r\nx: y")
