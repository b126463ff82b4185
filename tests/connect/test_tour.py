"""The tour of docs/howto/claude-code.md with the host in it: what Claude Code would run, run as it would run it."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from tests.connect.conftest import Machine


class Host:
    """Runs the hooks that stand in a project's settings, through a shell, as Claude Code documents it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        held = json.loads((machine.project / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
        self.hooks: dict[str, Any] = held["hooks"]

    def tell(self, event: str, session: str, **more: Any) -> str:
        """Run what is set for an event; the context that it adds."""
        told = {**self.machine.event(session, **more), "hook_event_name": event}
        added: list[str] = []
        for group in self.hooks.get(event, ()):
            for hook in group["hooks"]:
                done = subprocess.run(
                    hook["command"],
                    shell=True,
                    input=json.dumps(told).encode(),
                    cwd=self.machine.project,
                    env={**self.machine.environment, "CLAUDE_PROJECT_DIR": str(self.machine.project)},
                    capture_output=True,
                    timeout=hook["timeout"] * 6,  # a busy machine is no fault of the hook's
                    check=False,
                )
                assert (done.returncode, done.stderr) == (0, b"")
                if done.stdout:
                    said = json.loads(done.stdout)["hookSpecificOutput"]
                    assert said["hookEventName"] == event
                    added.append(said["additionalContext"])
        return "\n".join(added)


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell runs the hooks")
def test_what_one_session_taught_the_next_is_shown(machine: Machine) -> None:
    machine.tenure("connect", "claude-code")
    host = Host(machine)
    prompt = "Deploy the billing service to staging"
    log = machine.session("monday", prompt=prompt)
    failed = {"tool_name": "deploy", "tool_input": {"target": "staging"}, "tool_use_id": "t1", "error": "no", "is_interrupt": False}

    # The first session: nothing is known, and nothing is said.
    assert host.tell("SessionStart", "monday", source="startup", model="opus") == ""
    assert host.tell("UserPromptSubmit", "monday", prompt=prompt) == ""
    assert host.tell("PostToolUseFailure", "monday", **failed) == ""
    assert host.tell("PreCompact", "monday", trigger="auto", custom_instructions="") == ""
    assert host.tell("SessionEnd", "monday", reason="prompt_input_exit") == ""
    machine.learned()

    # The second is shown what it taught, once, and again when its host has forgotten it.
    start = host.tell("SessionStart", "tuesday", source="startup")
    assert "staging refused, stg accepted" in start
    assert host.tell("UserPromptSubmit", "tuesday", prompt=prompt) == ""
    assert host.tell("SessionStart", "tuesday", source="compact") == start
    # What it was shown, and says again, teaches nothing.
    echo = {"type": "user", "uuid": "e", "sessionId": "tuesday", "cwd": str(machine.project)}
    lines = log.read_text().replace("monday", "tuesday") + json.dumps({**echo, "message": {"role": "user", "content": start}})
    (machine.home / "tuesday.jsonl").write_text(lines + "\n")
    host.tell("SessionEnd", "tuesday", reason="clear")
    machine.learned()
    (lesson,) = json.loads(machine.tenure("show", "--json"))["lessons"]
    assert (lesson["tallies"]["support"], lesson["tallies"]["shown"]) == (2, 1)

    machine.tenure("disconnect", "claude-code")
    assert not (machine.project / ".claude").exists()
    assert not (machine.project / ".mcp.json").exists()
