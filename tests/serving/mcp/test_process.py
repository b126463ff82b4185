"""`tenure mcp` as a real process: nothing but protocol on stdout, no message that ends it, a graceful end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tenure import Tenure
from tenure.serving.mcp_stdio import overdue
from tests.serving.mcp.conftest import STEPS, Process, run_async, said

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and file numbers of POSIX")

Start = Callable[..., Process]


def text_of(result: Any) -> str:
    return str(result["content"][0]["text"])


NOISY = """
import builtins, os
kept = builtins.__import__
def noisy(name, *rest, **more):
    if name.startswith(("tenure.learning", "tenure.stores", "mcp", "sqlalchemy", "pydantic")):
        print("NOISE", name, flush=True)
        os.write(1, b"RAW NOISE\\n")
    return kept(name, *rest, **more)
class Armed:
    def find_spec(self, name, path=None, target=None):
        if name == "tenure.serving.mcp_stdio":
            builtins.__import__ = noisy
sys.meta_path.insert(0, Armed())
"""
"""Prints at each import of a part of the engine, from when the server begins to load them."""


def test_each_line_of_stdout_is_a_message_of_the_protocol_whatever_libraries_print(start: Start) -> None:
    child = start(before=f"import sys\n{NOISY}")
    child.greet()
    run = child.call(1, "context", task="find the orders")["structuredContent"]["run"]
    child.call(2, "report_outcome", run=run, success=True, steps=STEPS)
    child.child.stdin.close()  # type: ignore[union-attr]
    assert child.child.wait(60) == 0
    assert child.child.stdout is not None
    assert child.child.stderr is not None
    assert child.child.stdout.read() == b""
    assert b"RAW NOISE" in child.child.stderr.read()


def test_what_is_printed_while_serving_goes_to_stderr(start: Start, tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "from tenure.serving.mcp_stdio import Wire\n"
        "wire = Wire(); print('by python', flush=True); os.write(1, b'by number\\n')\n"
        "subprocess.run(['echo', 'by a child'], check=True)\n"
        "wire.sink.write(b'{}\\n'); wire.sink.flush(); print(repr(sys.stdin.read()), flush=True)\n"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], input=b"not for libraries", capture_output=True, timeout=120, check=True)
    assert done.stdout == b"{}\n"
    assert done.stderr.decode().split("\n")[:4] == ["by python", "by number", "by a child", "''"]


def test_an_outcome_is_learned_after_a_restart_of_the_server(start: Start) -> None:
    first = start()
    first.greet()
    run = first.call(1, "context", task="find the orders of January")["structuredContent"]["run"]
    first.child.kill()
    first.child.wait(60)
    second = start()
    second.greet()
    assert second.call(1, "report_outcome", run=run, success=True, steps=STEPS, signal="test")["structuredContent"]["added"] == 1


def test_messages_that_are_none_are_answered_and_end_nothing(start: Start) -> None:
    child = start()
    child.greet()
    deep = b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"recall","arguments":' + b'{"a":' * 50_000
    wrong = {
        b"garbage": (None, -32700),
        b"[1, 2]": (None, -32600),
        b'{"jsonrpc": "2.0", "id": 9}': (9, -32600),
        b"\xff\xfe\x00": (None, -32700),
        b"[" * 100_000: (None, -32600),
        b"null": (None, -32600),
        b'{"jsonrpc":"1.0","id":"b","method":"ping"}': ("b", -32600),
        b'{"jsonrpc":"2.0","id":6,"method":5}': (6, -32600),
        b'{"jsonrpc":"2.0","id":3.5,"method":"ping"}': (None, -32600),
        b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]': (None, -32600),
        deep + b"1" + b"}" * 50_002: (4, -32600),
    }
    for raw, (named, code) in wrong.items():
        child.send(raw)
        answer = child.receive()
        assert (answer["id"], answer["error"]["code"]) == (named, code), raw[:80]
        assert answer["error"]["message"].endswith(".")
    child.send(b"")
    child.send(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"context","arguments":{"task":"half \\ud83d of it"}}}')
    assert "This is run" in text_of(child.receive()["result"])
    assert child.ask(3, "ping")["result"] == {}


def test_all_that_was_asked_is_answered_though_the_input_ends_at_once(start: Start) -> None:
    """A caller that pipes its requests in must not believe that nothing was written."""
    child = start()
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests = [("initialize", client), ("tools/call", {"name": "checkpoint", "arguments": {"request": "ship it", "event_id": "e1"}})]
    requests += [("tools/call", {"name": "context", "arguments": {"task": f"find order {n}"}}) for n in range(5)]
    lines = [{"jsonrpc": "2.0", "id": n, "method": method, "params": params} for n, (method, params) in enumerate(requests)]
    off = [{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}]
    told, _ = child.child.communicate(b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, *off]), timeout=120)
    answers = {one["id"]: one for one in map(json.loads, told.splitlines())}
    assert set(answers) == set(range(len(requests)))
    assert text_of(answers[1]["result"]).startswith("Written down")
    assert child.child.returncode == 0


@pytest.mark.parametrize("id_first", [True, False])
def test_a_message_that_is_too_long_is_answered_and_not_read(start: Start, id_first: bool) -> None:
    child = start()
    child.greet()
    call = b'"method":"tools/call","params":{"name":"context","arguments":{"task":"' + b'\\"id\\":7,' * 600_000 + b'"}}'
    child.send(b'{"jsonrpc":"2.0","id":"a-1",' + call + b"}" if id_first else b"{" + call + b',"jsonrpc":"2.0","id":"a-1"}')
    answer = child.receive()
    assert (answer["id"], answer["error"]["code"]) == ("a-1", -32600)
    assert "more than 4 MiB" in answer["error"]["message"]
    assert child.ask(3, "ping")["result"] == {}


@pytest.mark.parametrize("how", ["end of input", signal.SIGTERM, signal.SIGINT])
def test_the_end_is_quick_and_finishes_what_is_under_way(start: Start, tmp_path: Path, how: Any) -> None:
    child = start()
    child.greet()
    run = child.call(1, "context", task="find the orders")["structuredContent"]["run"]
    report = {"name": "report_outcome", "arguments": {"run": run, "success": True, "steps": STEPS, "signal": "test"}}
    child.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": report})
    if how == "end of input":
        assert child.child.stdin is not None
        child.child.stdin.close()
        assert child.receive()["id"] == 2
    else:
        child.receive()
        child.child.send_signal(how)
    assert child.child.wait(60) == 0
    assert child.child.stderr is not None
    told = child.child.stderr.read().decode()
    assert "Traceback" not in told
    with Tenure.open(f"sqlite:///{tmp_path / 'book.db'}", scope="acme/orders") as book:
        assert len(book.playbook.lessons) == 1


def test_a_client_that_goes_away_ends_the_server_without_a_traceback(start: Start) -> None:
    child = start()
    child.greet()
    assert child.child.stdout is not None
    assert child.child.stderr is not None
    child.child.stdout.close()
    child.send({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {}})
    assert child.child.wait(60) == 0
    assert "Traceback" not in child.child.stderr.read().decode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_twenty_calls_at_once_by_the_sdks_client(tenure_command: list[str], tmp_path: Path, mode: Any) -> None:
    command, *start = tenure_command
    parameters = StdioServerParameters(
        command=command,
        args=[*start, "mcp", "--db", str(tmp_path / "book.db"), "--scope", "acme/orders"],
        env={name: os.environ[name] for name in ("PYTHONPATH", "HOME", "TENURE_EMBEDDER", "TENURE_COUNTER")},
        cwd=tmp_path,
    )

    async def act() -> None:
        async with Client(parameters, mode=mode) as client:
            begun = await asyncio.gather(*[client.call_tool("context", {"task": f"find the orders of day {day}"}) for day in range(20)])
            runs = [one.structured_content["run"] for one in begun]
            assert len(set(runs)) == 20
            done = await asyncio.gather(
                *[client.call_tool("report_outcome", {"run": run, "success": True, "signal": "test", "steps": STEPS}) for run in runs]
            )
            assert not [said(one) for one in done if one.is_error]
            proposed = await asyncio.gather(
                *[client.call_tool("propose_lesson", {"text": "Compare totals with the ledger."}) for _ in range(20)]
            )
            assert sorted(one.structured_content["status"] for one in proposed) == ["held", *["waiting"] * 19]

    run_async(act())
    from tenure import Tenure

    with Tenure.open(f"sqlite:///{tmp_path / 'book.db'}", scope="acme/orders") as book:
        (lesson,) = book.playbook.lessons
        assert lesson.tallies.support == 20


def test_a_server_that_only_looks_makes_no_database(start: Start, tmp_path: Path) -> None:
    child = start("--read-only")
    child.greet()
    assert [one["name"] for one in child.ask(1, "tools/list")["result"]["tools"]] == ["context", "recall"]
    assert not child.call(2, "context", task="find the orders")["isError"]
    child.child.stdin.close()  # type: ignore[union-attr]
    assert child.child.wait(60) == 0
    assert not (tmp_path / "book.db").exists()


def test_scope_comes_from_the_folder_and_not_from_the_roots_of_a_client(start: Start, tenure_command: list[str]) -> None:
    child = start()
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"roots": {"listChanged": True}},
        "clientInfo": {"name": "x", "version": "1"},
    }
    child.ask(0, "initialize", client)
    child.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    child.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    # The next thing that comes is the answer: the server asked for no roots.
    assert child.ask(1, "ping")["id"] == 1
    assert json.loads(json.dumps(child.call(2, "context", task="x")))["structuredContent"]["run"]


def test_what_is_written_down_is_recalled_by_the_next_call_and_by_the_next_server(start: Start) -> None:
    child = start()
    child.greet()
    done = {"request": "fix the login of Zanzibar", "outcome": "key AKIAABCDEFGHIJKLMNOP was renewed", "event_id": "task-7"}
    assert "Written down" in text_of(child.call(1, "checkpoint", **done))
    found = text_of(child.call(2, "recall", query="login Zanzibar"))
    assert "(today)" in found
    assert "fix the login of Zanzibar" in found
    assert "AKIA" not in found
    assert "written down before" in text_of(child.call(3, "checkpoint", **done))
    child.child.kill()
    child.child.wait(60)
    looking = start("--read-only")
    looking.greet()
    tools = {one["name"] for one in looking.ask(1, "tools/list")["result"]["tools"]}
    assert tools == {"context", "recall"}
    assert text_of(looking.call(2, "recall", query="login")).count("fix the login") == 1
    root = looking.ask(3, "resources/read", {"uri": "tenure://memory/root"})["result"]["contents"][0]["text"]
    assert "# Memory" in root
    assert "Nothing in the memory" in text_of(looking.call(4, "recall", query="xylophone"))


@pytest.mark.parametrize(
    ("waited_s", "worked_s", "lately_s", "over"),
    [
        (7, 7, 1.5, False),  # within its time
        (8, 0.5, 0.0, True),  # waits for what does not come
        (30, 2.0, 0.1, False),  # a busy machine: it hardly gets a turn, and goes on
        (12, 9.0, 1.9, True),  # had its time and does not come to an end
        (60, 2.0, 0.1, True),
    ],
)
def test_a_process_that_nobody_talks_to_has_its_time_by_its_own_clock(
    waited_s: float, worked_s: float, lately_s: float, over: bool
) -> None:
    assert overdue(waited_s, worked_s, lately_s) is over
