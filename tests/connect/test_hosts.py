"""What is written and printed is what the hosts' public documents describe; `documented` has schemas made from them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tenure.connect.hook import CONTEXT_CHARACTERS, LIMIT_S, USUAL_LIMIT_S
from tenure.connect.hosts import HOSTS
from tenure.connect.installing import connect
from tenure.connect.journal import Journal
from tenure.connect.wanted import Programs
from tests.connect.conftest import Machine

DOCUMENTED = Path(__file__).parent / "documented"
PROGRAMS = Programs(hook=("/opt/tenure-hook",), tenure=("/opt/tenure",))


def documented(host: str) -> dict[str, Any]:
    held: dict[str, Any] = json.loads((DOCUMENTED / f"{host}.json").read_text(encoding="utf-8"))
    return held


@pytest.mark.parametrize("host", HOSTS)
def test_written_files_are_what_the_host_documents(host: str, tmp_path: Path) -> None:
    root = tmp_path / "p"
    connect(HOSTS[host](root, PROGRAMS, user=False, environment={}), Journal(tmp_path / "c.json"))
    for name, schema in documented(host)["files"].items():
        text = (root / name).read_text(encoding="utf-8")
        jsonschema.validate(tomllib.loads(text) if name.endswith(".toml") else json.loads(text), schema)


@pytest.mark.parametrize("host", HOSTS)
def test_texts_stay_below_what_the_host_shows_whole(host: str) -> None:
    assert CONTEXT_CHARACTERS[host] < documented(host)["longest_context"]


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor"])
def test_a_hook_gives_up_before_the_host_does(host: str, tmp_path: Path) -> None:
    asked = HOSTS[host](tmp_path, PROGRAMS, user=False, environment={})
    hooks = [entry.value for entry in asked.files[0].entries]
    assert "seconds" in documented(host)["timeouts"]
    most = documented(host).get("most_seconds", {})
    for entry, hook in zip(asked.files[0].entries, hooks, strict=True):
        command, seconds = (
            (hook["command"], hook["timeout"]) if "timeout" in hook else (hook["hooks"][0][name] for name in ("command", "timeout"))
        )
        assert LIMIT_S.get(command.split()[-1], USUAL_LIMIT_S) < seconds <= most.get(entry.path[-1], 60)


@pytest.mark.parametrize("host", HOSTS)
def test_a_skill_has_a_name_and_a_description(host: str, tmp_path: Path) -> None:
    skill = next(file for file in HOSTS[host](tmp_path, PROGRAMS, user=False, environment={}).files if file.meaning == "instructions")
    head = skill.text.split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in head.strip().splitlines())
    assert skill.path.parent.name == fields["name"] == "tenure"
    assert 20 < len(fields["description"]) <= 1024


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_print_what_the_host_accepts(host: str, machine: Machine) -> None:
    teach(machine)
    for event, schema in documented(host)["outputs"].items():
        told = machine.event("new", prompt="deploy the billing service", tool_name="x", error="no", workspace_roots=[str(machine.project)])
        said = machine.hook(host, event, told)
        if schema is None:
            assert said is None
        else:
            jsonschema.validate(said, schema)
            assert "stg accepted" in json.dumps(said)
        for path in machine.spool.glob("*.jsonl"):
            path.unlink()


def teach(machine: Machine) -> None:
    machine.tenure("learn", str(machine.session("taught")))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_plugin_shows_lessons_and_tells_what_tools_did(machine: Machine, tmp_path: Path) -> None:
    teach(machine)
    programs = Programs(hook=(sys.executable, "-m", "tenure.connect.hook"), tenure=("tenure",))
    plugin = HOSTS["opencode"](machine.project, programs, user=False, environment={}).files[0].text
    (tmp_path / "tenure.mjs").write_text(plugin)
    (tmp_path / "host.mjs").write_text(
        """
        import { Tenure } from "./tenure.mjs"
        const hooks = await Tenure({ directory: process.argv[2] })
        const about = { type: "tool", tool: "deploy", sessionID: "o1" }
        const part = (callID, state) => ({ event: { type: "message.part.updated", properties: { part: { ...about, callID, state } } } })
        await hooks["chat.message"]({ sessionID: "o1" }, { parts: [{ type: "text", text: "deploy the billing service" }] })
        const output = { system: [] }
        await hooks["experimental.chat.system.transform"]({ sessionID: "o1" }, output)
        const refused = "Error: argument 'target' must be 'prd', not 'prod'"
        await hooks.event(part("a", { status: "error", input: { target: "prod" }, error: refused }))
        await hooks.event(part("a", { status: "error", input: { target: "prod" }, error: "told twice" }))
        await hooks.event(part("b", { status: "completed", input: { target: "prd" }, output: "done" }))
        await hooks.event({ event: { type: "session.idle", properties: { sessionID: "o1" } } })
        await hooks["experimental.session.compacting"]({ sessionID: "o1" }, {})
        console.log(JSON.stringify(output.system))
        """
    )
    done = subprocess.run(
        ["node", str(tmp_path / "host.mjs"), str(machine.project)],
        env=machine.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shown = json.loads(done.stdout)
    assert len(shown) == 1
    assert "stg accepted" in shown[0]
    lines = [json.loads(line) for path in machine.spool.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert [(one["name"], one["error"][:5]) for one in lines if one["kind"] == "tool"] == [("deploy", "Error"), ("deploy", "")]
    assert [one["text"] for one in lines if one["kind"] == "prompt"] == ["deploy the billing service"]
