"""The MCP server as hosts meet it: in this process by the SDK's client, and as a real process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

STEPS: list[dict[str, Any]] = [
    {"kind": "tool_call", "name": "search_orders", "arguments": {"from": "05/01/2026"}, "call_id": "1"},
    {"kind": "tool_result", "name": "search_orders", "error": "invalid date format: expected YYYY-MM-DD", "call_id": "1"},
    {"kind": "tool_call", "name": "search_orders", "arguments": {"from": "2026-01-05"}, "call_id": "2"},
    {"kind": "tool_result", "name": "search_orders", "content": "[]", "call_id": "2"},
]


def run_async(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine; a minute is plenty."""
    asyncio.run(asyncio.wait_for(work, 120))


def said(result: Any) -> str:
    """The text of a tool's answer."""
    return "\n".join(one.text for one in result.content)


@dataclass
class Process:
    """A server in a process of its own, spoken to line by line."""

    child: subprocess.Popen[bytes]

    def send(self, message: Any) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self.child.stdin.flush()

    def receive(self) -> Any:
        assert self.child.stdout is not None
        return json.loads(self.child.stdout.readline())

    def ask(self, id: int, method: str, params: Any = None) -> Any:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})
        return self.receive()

    def call(self, id: int, tool: str, **arguments: Any) -> Any:
        return self.ask(id, "tools/call", {"name": tool, "arguments": arguments})["result"]

    def greet(self) -> Any:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = self.ask(0, "initialize", client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]


@pytest.fixture
def start(tenure_command: list[str], tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """`start("--read-only")`: a server of `tmp_path`'s database; `before` is code that its process runs first. What is left is ended."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*options: str, before: str = "", **variables: str) -> Process:
        command = [*tenure_command[:-1], f"{before}\n{tenure_command[-1]}"]
        child = subprocess.Popen(
            [*command, "mcp", "--db", str(tmp_path / "book.db"), "--scope", "acme/orders", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, **variables},
        )
        started.append(child)
        return Process(child)

    yield run
    for child in started:
        if child.poll() is None:
            child.kill()
        child.wait(60)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
