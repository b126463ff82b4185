"""Callers who keep a server waiting are let go of, and whoever hurries is not."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tenure.serving.service.gate import BrokenOff, Gate
from tenure.serving.service.patience import PatientProtocol
from tests.serving.proxy.servers import served


class Hasty(PatientProtocol):
    head_s, body_s, taken_s = 0.4, 0.4, 0.6


BLOCK = b"x" * (1 << 16)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Reads all, then says how much it was; at /large far more than any buffer holds; at /stream answers before it reads; at /late
    reads late."""
    if scope["path"] == "/late":
        await asyncio.sleep(1.2)
    if scope["path"] == "/stream":
        await send({"type": "http.response.start", "status": 200, "headers": []})
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    if scope["path"] != "/stream":
        await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1_000 if scope["path"] == "/large" else 0):
        await send({"type": "http.response.body", "body": BLOCK, "more_body": True})
    await send({"type": "http.response.body", "body": str(size).encode(), "more_body": False})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(echo, lifespan="off", http=Hasty) as there:
        yield there


def connected(url: str) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    made.settimeout(10)
    made.connect(("127.0.0.1", urlsplit(url).port))
    return made


def seconds_until_closed(connection: socket.socket, *, dribble: bytes = b"", read: bool = True) -> float:
    """How long the server holds a connection on which a byte comes now and then."""
    began = time.monotonic()
    while time.monotonic() - began < 5:
        with contextlib.suppress(TimeoutError):
            connection.settimeout(0.1)
            try:
                if dribble:
                    connection.send(dribble)
                if read and connection.recv(1) == b"":
                    break
            except ConnectionError:
                break
    return time.monotonic() - began


def taken(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    said = b""
    while part := connection.recv(9_999):
        said += part
    return said


@pytest.mark.parametrize(
    ("sent", "dribble"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"a"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nX-A: ", b"a"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab", b""),
    ],
    ids=["nothing", "head", "second head", "body", "body of a second that came with the first"],
)
def test_who_keeps_the_server_waiting_is_let_go_of(url: str, sent: bytes, dribble: bytes) -> None:
    with connected(url) as connection:
        connection.sendall(sent)
        assert 0.2 < seconds_until_closed(connection, dribble=dribble) < 3


def test_a_body_that_comes_slowly_but_comes_is_read(url: str) -> None:
    with connected(url) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 8\r\n\r\n")
        for _ in range(8):
            time.sleep(0.15)
            connection.sendall(b"a")
        assert b"\r\n8\r\n" in taken(connection)


def test_a_stream_that_is_answered_may_rest(url: str) -> None:
    with connected(url) as connection:
        connection.sendall(b"POST /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\na")
        time.sleep(1.2)
        connection.sendall(b"b")
        said = taken(connection)
        assert said.startswith(b"HTTP/1.1 200")
        assert b"\r\n2\r\n" in said


def test_who_waits_to_be_asked_for_a_body_is_waited_for(url: str) -> None:
    with connected(url) as connection:
        connection.sendall(b"POST /late HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 3\r\n\r\n")
        assert connection.recv(999).startswith(b"HTTP/1.1 100")
        connection.sendall(b"abc")
        assert b"\r\n3\r\n" in taken(connection)


def test_an_answer_that_nobody_takes_is_given_up(url: str) -> None:
    with connected(url) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(2)
        size = 0
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                size += len(part)
        assert size < 1_000 * len(BLOCK), "all of it was kept for a caller who took nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not say what it holds")
def test_an_answer_that_is_taken_slowly_is_told_to_its_end(url: str) -> None:
    with connected(url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        size, began = 0, time.monotonic()
        while time.monotonic() - began < 3:  # 400 KB a second: far from what makes room in as long as nothing may be taken
            size += len(connection.recv(20_000))
            time.sleep(0.05)
        while part := connection.recv(1 << 20):
            size += len(part)
        assert size > 1_000 * len(BLOCK)


def test_a_request_that_outlasts_the_server_is_told_so_and_a_reply_that_breaks_tells_no_words() -> None:
    async def resting(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(60)

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("Ms Miller owes 5")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def end() -> None:
        task = asyncio.create_task(Gate(resting, body_bytes=10)({**scope}, receive, send))
        await asyncio.sleep(0.05)
        task.cancel()
        await task
        await Gate(broken, body_bytes=10)({**scope}, receive, send)

    with pytest.raises(BrokenOff) as caught:
        asyncio.run(end())
    assert (said[0]["status"], b"The server ends" in said[1]["body"]) == (503, True)
    assert "Miller" not in "".join(traceback.format_exception(caught.value))


SERVER = """
import resource, sys

resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
from tenure.serving.service.patience import PatientProtocol

PatientProtocol.head_s = 1.5
from tenure.serving.cli.main import main

sys.argv = ["tenure", "serve", "--without-keys", "--db", "book.db", "--port", "0"]
main()
"""


def test_connections_beyond_the_files_of_a_process_bring_it_to_no_halt(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    said = tmp_path / "said"  # a file: who writes to a pipe that nobody reads is halted by that
    with said.open("wb") as stderr, subprocess.Popen([sys.executable, "-c", SERVER], cwd=tmp_path, stderr=stderr) as process:
        try:
            until = time.monotonic() + 120
            while (found := re.search(r"http://127\.0\.0\.1:\d+ ", said.read_text())) is None:
                assert process.poll() is None, said.read_text()
                assert time.monotonic() < until
                time.sleep(0.1)
            url = found[0].strip()
            with contextlib.ExitStack() as idle:
                for _ in range(400):
                    idle.enter_context(socket.create_connection(("127.0.0.1", urlsplit(url).port)))
                time.sleep(4)
                assert httpx2.get(f"{url}/v1/metrics", timeout=120).status_code == 200
        finally:
            process.kill()
