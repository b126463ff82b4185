"""`tenure serve` as a real process on loopback: what it says, what a kill leaves, when it refuses to begin, and its clients."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from tenure.client import AsyncClient, Client, ServiceError
from tenure.errors import UserError
from tests.serving.service.services import RUN

Tenure = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tenure(tenure_command: list[str], tmp_path: Path) -> Tenure:
    """`tenure("keys", ...)` in a folder of its own."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*tenure_command, *args], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    return run


@contextmanager
def serving(command: list[str], folder: Path, *args: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server at a free port; its address, once it listens."""
    process = subprocess.Popen(
        [*command, "serve", "--db", "book.db", "--port", "0", *args], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, f"the server ended: {process.wait()}"
            found = re.search(r"https?://[\w.:\[\]]+:\d+", line)
        yield found[0], process
    finally:
        process.kill()
        process.communicate()


def key_for(tenure: Tenure, role: str = "admin", scope: str = "acme/finance") -> str:
    made = tenure("keys", "create", "--db", "book.db", "--scope", scope, "--role", role)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def test_an_acknowledged_run_outlives_a_kill_and_is_learned_after_it(tenure: Tenure, tenure_command: list[str], tmp_path: Path) -> None:
    key = key_for(tenure)
    with serving(tenure_command, tmp_path, "--learners", "0") as (url, process):
        with Client(url, key) as client:
            assert client.report(RUN)["state"] == "waiting"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with serving(tenure_command, tmp_path) as (url, process), Client(url, key) as client:
        until = time.monotonic() + 120
        while client.run("week-2")["state"] != "learned":
            assert time.monotonic() < until
            time.sleep(0.1)
        assert len(list(client.lessons())) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_clients_of_both_kinds_do_a_round(tenure: Tenure, tenure_command: list[str], tmp_path: Path) -> None:
    key = key_for(tenure)
    with serving(tenure_command, tmp_path) as (url, process):
        with Client(url, key) as client:
            client.apply([{"op": "ADD", "section": "invoices", "text": "Convert each line at the invoice-date rate."}], version=0)
            with pytest.raises(ServiceError) as caught:
                client.apply([{"op": "ADD", "section": "s", "text": "Late."}], version=0)
            assert (caught.value.status, caught.value.kind) == (412, "changed")
            shown = client.context("convert the invoice lines")
            assert "invoice-date rate" in shown.text
            client.outcome(shown.run, success=True, signal="test", cited=shown.lessons)
            streamed = client.report_many({**RUN, "id": f"r{number}"} for number in range(205))
            assert (streamed.kept, streamed.refused) == (205, ())
            assert len({run["id"] for run in client.runs()}) == 206
            assert client.remember("We ship on Fridays.", topic="releases")["kept"]
            assert "Fridays" in json.dumps(client.recall("when do we ship"))

        async def in_async() -> None:
            async with AsyncClient(url, key) as client:
                shown = await client.context("convert the invoice lines")
                await client.outcome(shown.run, success=False, feedback="wrong rate")
                streamed = await client.report_many([{**RUN, "id": "a1"}, {"task": 7}])
                assert (streamed.kept, [line for line, _ in streamed.refused]) == (1, [2])
                assert len([run async for run in client.runs()]) == 208
                assert [one["text"] async for one in client.lessons(search="rate")]
                with pytest.raises(ServiceError, match="no run 'nothing'"):
                    await client.run("nothing")

        asyncio.run(in_async())
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_the_official_client_of_mcp_calls_tools_by_role(tenure: Tenure, tenure_command: list[str], tmp_path: Path) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    reporter, reader = key_for(tenure, "reporter"), key_for(tenure, "reader")

    async def tools_of(url: str, key: str, *, acts: bool) -> set[str]:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60) as http,
            streamable_http_client(f"{url}/mcp", http_client=http) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            if acts:
                shown = await session.call_tool("context", {"task": "close the books"})
                assert shown.structured_content is not None
                done = await session.call_tool("report_outcome", {"run": shown.structured_content["run"], "success": True})
                assert not done.is_error
            return tools

    with serving(tenure_command, tmp_path) as (url, _):
        assert {"context", "report_outcome", "recall", "checkpoint", "propose_lesson"} <= asyncio.run(tools_of(url, reporter, acts=True))
        assert asyncio.run(tools_of(url, reader, acts=False)) == {"context", "recall"}
        with Client(url, reporter) as client:
            assert [run["origin"] for run in client.runs()] == [f"{reporter[4:14]}/mcp"]
        assert httpx2.post(f"{url}/mcp", json={}).status_code == 401


def test_it_refuses_to_stand_wide_open(tenure: Tenure) -> None:
    nobody = tenure("serve", "--db", "book.db", "--host", "0.0.0.0", "--port", "0")
    assert (nobody.returncode, "there is no valid key yet" in nobody.stderr) == (2, True)
    assert "tenure keys create --role admin --tenant NAME --db book.db" in nobody.stderr
    key_for(tenure)
    bare = tenure("serve", "--db", "book.db", "--host", "0.0.0.0", "--port", "0")
    assert (bare.returncode, "in the open" in bare.stderr) == (2, True)
    for more in (("--host", "0.0.0.0"), ("--host", "::"), ("--behind-tls",)):
        open_to_all = tenure("serve", "--db", "book.db", "--without-keys", "--port", "0", *more)
        assert (open_to_all.returncode, "for this machine alone" in open_to_all.stderr) == (2, True), more


def test_without_keys_it_answers_this_machine_alone(tenure_command: list[str], tmp_path: Path) -> None:
    with serving(tenure_command, tmp_path, "--without-keys") as (url, _):
        assert httpx2.get(f"{url}/v1/metrics").json()["scope"] == "local"
        port = url.rpartition(":")[2]
        assert httpx2.get(f"{url}/v1/metrics", headers={"host": f"localhost:{port}"}).status_code == 200
        for headers in (
            {"host": "evil.example"},
            {"host": f"evil.example:{port}"},
            {"host": ""},
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
        ):
            for path in ("/v1/metrics", "/mcp", "/openapi.json"):
                assert httpx2.get(f"{url}{path}", headers=headers).status_code in (400, 403), (headers, path)


def test_a_port_that_is_taken_is_named(tenure: Tenure, tenure_command: list[str], tmp_path: Path) -> None:
    with serving(tenure_command, tmp_path) as (url, _):
        port = url.rpartition(":")[2]
        taken = tenure("serve", "--db", "other.db", "--port", port)
        assert (taken.returncode, f"port {port}" in taken.stderr, "Traceback" in taken.stderr) == (2, True, False)


def test_a_stream_that_is_cut_off_keeps_what_was_acknowledged(tenure: Tenure, tenure_command: list[str], tmp_path: Path) -> None:
    key = key_for(tenure)
    acknowledged: list[str] = []
    with serving(tenure_command, tmp_path, "--learners", "0") as (url, process):

        def lines() -> Iterator[bytes]:
            for number in range(400):
                yield json.dumps({**RUN, "id": f"r{number}"}).encode() + b"\n"
                if number == 260:
                    time.sleep(1.0)
                    os.kill(process.pid, signal.SIGKILL)

        headers = {"authorization": f"Bearer {key}", "content-type": "application/x-ndjson"}
        with suppress(httpx2.TransportError), httpx2.stream("POST", f"{url}/v1/runs:stream", content=lines(), headers=headers) as reply:
            acknowledged += [json.loads(line)["id"] for line in reply.iter_lines() if '"kept":true' in line]
    with serving(tenure_command, tmp_path, "--learners", "0") as (url, _), Client(url, key) as client:
        assert set(acknowledged) <= {run["id"] for run in client.runs()}


def test_keys_are_made_listed_and_revoked_on_the_command_line(tenure: Tenure) -> None:
    made = json.loads(
        tenure(
            "keys", "create", "--db", "book.db", "--scope", "acme/x", "--role", "reader", "--label", "ci", "--days", "3", "--json"
        ).stdout
    )
    assert made["key"].startswith(f"tnr_{made['id']}")
    listed = tenure("keys", "list", "--db", "book.db", "--tenant", "acme").stdout
    assert all(part in listed for part in (made["id"], "reader", "acme/x", "ci", "valid"))
    revoked = tenure("keys", "revoke", made["key"], "--db", "book.db", "--tenant", "acme", "--json")
    assert json.loads(revoked.stdout)["state"] == "revoked"
    elsewhere = tenure("keys", "--db", "book.db").stderr
    assert "tenure keys list --tenant NAME --db book.db" in elsewhere
    assert tenure("keys", "revoke", "nothing", "--db", "book.db", "--tenant", "acme").returncode == 2
    assert tenure("keys", "create", "--db", "book.db", "--tenant", "acme", "--role", "king").returncode == 2


AT_ONCE = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from tenure.stores.in_memory import InMemoryStore
from tests.serving.service import services
from tests.serving.service.mcp_calls import initialise

with services.service(InMemoryStore()) as service:
    initialise(service, service.key())
"""


def test_a_first_call_of_mcp_while_its_library_is_loaded_is_answered(root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE, str(root)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "Deadlock" in done.stderr) == (0, False), done.stderr


def test_what_to_type_next_about_a_key_works_as_it_is_written(tenure: Tenure) -> None:
    made = tenure("keys", "create", "--db", "book.db", "--scope", "acme/x", "--role", "reader")
    typed = made.stderr.rpartition("Revoke it: tenure ")[2].split()
    assert "is revoked since" in tenure(*typed).stdout


def test_without_the_parts_of_the_service_keys_say_which_extra_has_them(tmp_path: Path) -> None:
    code = "import sys; sys.modules['fastapi'] = None; from tenure.serving.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "keys", "--db", "book.db"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, "API keys need the extra 'server'" in ended.stderr) == (2, True), ended.stderr


def test_a_database_that_was_named_and_is_not_there_is_said_to_be_made(tenure_command: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*tenure_command, "serve", "--db", "tpyo.db", "--port", "0", "--without-keys"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = [process.stderr.readline(), process.stderr.readline()]
        assert "There was no database at tpyo.db" in said[1], said
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("url", ["127.0.0.1:8765", "", "ftp://x"])
def test_what_is_no_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(UserError, match="no address of a service"):
        Client(url, "tnr_x")


def test_an_address_of_the_api_is_that_of_the_service(tenure: Tenure, tenure_command: list[str], tmp_path: Path) -> None:
    key = key_for(tenure)
    with serving(tenure_command, tmp_path) as (url, _), Client(f"{url}/v1/", f"{key}\n") as client:
        assert client.context("close the books").run
