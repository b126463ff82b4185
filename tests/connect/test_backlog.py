"""What hooks leave is learned by one process that ends by itself, once, and never from our own words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tenure import Tenure
from tenure.connect.backlog import run_of_notes, work_off
from tenure.connect.spool import QUIET_S, Spool
from tenure.traces.echo import CLOSE, OPEN
from tests.connect.conftest import Machine


def lessons(machine: Machine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(machine.tenure("show", "--json"))["lessons"]
    return found


def test_a_session_that_ended_is_learned_without_anybody_waiting(machine: Machine) -> None:
    machine.session("s")
    machine.hook("claude-code", "session-end", machine.event("s", reason="other"))
    machine.learned()
    assert ["stg accepted" in one["text"] for one in lessons(machine)] == [True]
    assert (machine.project / ".tenure" / ".gitignore").read_text() == "*\n"
    assert "1 run, 1 lesson added" in (machine.spool / "log").read_text()


def test_what_the_sub_agents_of_a_session_did_is_learned_with_it(machine: Machine) -> None:
    log = machine.session("s")
    below = log.with_suffix("") / "subagents" / "agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    records = [{**json.loads(line), "isSidechain": True, "agentId": "a1"} for line in log.read_text().splitlines()]
    text = "".join(json.dumps({**record, "uuid": f"a1-{at}"}) + "\n" for at, record in enumerate(records))
    below.write_text(text.replace("deploy", "publish"))
    Spool(machine.database).waits("claude-code", "s", {"scope": "local/p", "transcript": str(log)}, now=True)
    assert work_off(machine.database) == 1
    with Tenure.open(f"sqlite:///{machine.database}", scope="local/p") as book, book.store.reading("local/p") as reading:
        assert sorted(reading.run_ids()) == ["claude-code:s", "claude-code:s:agent:a1"]
        assert sorted(lesson.text.split("`")[1] for lesson in reading.lessons()) == ["deploy", "publish"]


def test_two_sessions_at_once_are_both_learned_by_one_process_at_a_time(machine: Machine) -> None:
    for name in ("a", "b", "c", "d"):
        machine.session(name)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: machine.hook("claude-code", "session-end", machine.event(name)), "abcd"))
    machine.learned()
    (lesson,) = lessons(machine)
    status = json.loads(machine.tenure("status", "--json"))
    assert status["counts"]["runs"] == 4
    assert lesson["tallies"]["support"] == 4


def test_a_session_learned_twice_adds_nothing_and_one_that_grew_only_what_is_new(machine: Machine) -> None:
    path = machine.session("s")
    for _ in range(2):
        machine.hook("claude-code", "session-end", machine.event("s"))
        machine.learned()
    assert len(lessons(machine)) == 1
    more = path.read_text().replace("t1", "t3").replace("t2", "t4").replace("s-", "more-").replace("deploy", "publish")
    path.write_text(path.read_text() + more)
    machine.hook("claude-code", "session-end", machine.event("s"))
    machine.learned()
    assert len(lessons(machine)) == 2


def test_an_injected_context_teaches_nothing(machine: Machine) -> None:
    machine.session("first")
    machine.hook("claude-code", "session-end", machine.event("first"))
    machine.learned()
    before = lessons(machine)
    said = machine.hook("claude-code", "session-start", machine.event("echo", source="startup"))["hookSpecificOutput"]["additionalContext"]
    assert said.startswith(OPEN)
    assert said.endswith(CLOSE)
    records = [
        {
            "type": "user",
            "message": {"role": "user", "content": f"<system-reminder>\nSessionStart hook additional context: {said}\n</system-reminder>"},
        },
        {"type": "user", "message": {"role": "user", "content": f"{said}\nNo, always use {said} instead."}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "note", "input": {"text": said}}]},
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "x", "is_error": True, "content": f"no such note {said}"}],
            },
        },
    ]
    lines = [json.dumps({**one, "uuid": f"e{at}", "sessionId": "echo", "cwd": str(machine.project)}) for at, one in enumerate(records)]
    (machine.home / "echo.jsonl").write_text("\n".join(lines) + "\n")
    machine.hook("claude-code", "session-end", machine.event("echo"))
    machine.learned()
    after = [one["text"] for one in lessons(machine)]
    assert [one["text"] for one in before] == [text for text in after if "deploy" in text]
    # The refusal of `note` is the host's own; of what we put around it, nothing is left.
    assert all("tenure-context" not in text and "stg" not in text for text in after if "deploy" not in text)


def test_what_a_session_was_shown_is_counted_for_it(machine: Machine) -> None:
    machine.session("first")
    machine.hook("claude-code", "session-end", machine.event("first"))
    machine.learned()
    assert machine.hook("claude-code", "session-start", machine.event("second", source="startup"))
    machine.session("second")
    machine.hook("claude-code", "session-end", machine.event("second"))
    machine.learned()
    assert lessons(machine)[0]["tallies"]["shown"] == 1
    assert not list(machine.spool.glob("*.jsonl"))


def test_hold_outs_go_by_the_session_and_are_kept_with_its_run(machine: Machine) -> None:
    machine.session("first")
    machine.hook("claude-code", "session-end", machine.event("first"))
    machine.learned()
    machine.tenure("config", "set", "holdout.enabled", "on")
    told = {n: machine.hook("claude-code", "session-start", machine.event(f"h{n}", source="startup")) for n in range(6)}
    again = {n: machine.hook("claude-code", "session-start", machine.event(f"h{n}", source="clear")) for n in range(6)}
    assert {n: said is None for n, said in told.items()} == {n: said is None for n, said in again.items()}
    notes = [line for path in machine.spool.glob("*.jsonl") for line in path.read_text().splitlines()]
    drawn = [json.loads(line) for line in notes if json.loads(line).get("draws")]
    assert {bool(one["withheld"]) for one in drawn} <= {True, False}
    assert all(one["withheld"] == [draw["lesson"] for draw in one["draws"] if draw["withheld"]] for one in drawn)


def test_a_session_without_an_end_is_learned_once_it_is_quiet(machine: Machine) -> None:
    machine.session("s")
    machine.hook("codex", "turn-end", {**machine.event("s"), "stop_hook_active": False})
    (waiting,) = machine.spool.glob("*.json")
    held = json.loads(waiting.read_text())
    assert QUIET_S - 60 < held["due"] - time.time() <= QUIET_S
    waiting.write_text(json.dumps({**held, "due": 0}))
    machine.hook("codex", "session-start", machine.event("other", source="startup"))
    machine.learned()
    assert len(lessons(machine)) == 1


def test_a_host_without_a_log_is_learned_from_what_its_hooks_tell(machine: Machine) -> None:
    about = {"conversation_id": "c", "workspace_roots": [str(machine.project)]}
    machine.hook("cursor", "prompt", {**about, "prompt": "Deploy the billing service"})
    failed = {
        "tool_name": "deploy",
        "tool_input": {"target": "staging"},
        "error_message": "Error: argument 'target' must be 'stg', not 'staging'",
    }
    machine.hook("cursor", "tool-failure", {**about, **failed, "tool_use_id": "1"})
    machine.hook("cursor", "session-end", about)
    machine.learned()
    assert json.loads(machine.tenure("status", "--json"))["counts"]["runs"] == 1


def test_notes_make_a_run_with_each_call_once() -> None:
    notes = [
        {"kind": "prompt", "text": f"Deploy it {OPEN} x>secret{CLOSE}"},
        {"kind": "tool", "id": "1", "name": "deploy", "arguments": '{"target": "staging"}', "error": "no such target"},
        {"kind": "tool", "id": "1", "name": "deploy", "arguments": '{"target": "staging"}', "error": "told twice"},
        {"kind": "tool", "id": "2", "name": "deploy", "arguments": "cut off {", "output": "done"},
    ]
    run = run_of_notes("cursor", "c", "local/p", notes)
    assert run is not None
    assert (run.task.text, len(run.steps), run.steps[2].error, run.steps[4].content) == ("Deploy it", 5, "no such target", "done")
    assert run.steps[2].origin is not None
    assert not run.steps[2].origin.trusted
    assert run_of_notes("cursor", "c", "local/p", notes[:1]) is None


def test_a_log_that_is_not_there_or_holds_rubbish_is_named_and_waits_no_more(machine: Machine) -> None:
    (machine.home / "bad.jsonl").write_bytes(b"\x00\xff rubbish\n")
    for name in ("bad", "gone"):
        machine.hook("claude-code", "session-end", machine.event(name))
    machine.learned()
    log = (machine.spool / "log").read_text()
    assert "bad.jsonl" in log
    assert "session gone" in log


def test_a_session_that_cannot_be_learned_is_tried_again_and_then_set_aside(tmp_path: Path) -> None:
    database = tmp_path / "b.db"
    spool = Spool(database)
    spool.waits("claude-code", "s", {"scope": "local//p", "transcript": ""}, now=True)
    for _ in range(5):
        assert work_off(database, longest_s=60) == 1
        for path in spool.folder.glob("*.json"):
            path.write_text(json.dumps({**json.loads(path.read_text()), "due": 0}))
    assert [path.suffix for path in spool.folder.glob("*.failed")] == [".failed"]
    assert "attempt 5 failed" in (spool.folder / "log").read_text()


@pytest.mark.skipif(os.name == "nt", reason="asks for locks as POSIX has them")
def test_where_one_is_at_work_another_leaves_at_once(tmp_path: Path) -> None:
    import fcntl

    spool = Spool(tmp_path / "b.db")
    spool.waits("claude-code", "s", {"scope": "local/p", "transcript": ""}, now=True)
    with (spool.folder / "lock").open("a+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert work_off(tmp_path / "b.db") == 0
    assert work_off(tmp_path / "b.db") == 1


def test_switched_off_meanwhile_nothing_is_read(machine: Machine) -> None:
    machine.session("s")
    machine.tenure("config", "set", "hooks.learn", "on")
    spool = Spool(machine.database)
    spool.waits("claude-code", "s", {"scope": "", "transcript": str(machine.home / "s.jsonl")}, now=True)
    scope = json.loads(machine.tenure("show", "--json"))["scope"]
    (waiting,) = spool.folder.glob("*.json")
    waiting.write_text(json.dumps({**json.loads(waiting.read_text()), "scope": scope}))
    machine.tenure("config", "set", "hooks.learn", "off")
    subprocess.run([sys.executable, "-m", "tenure.connect.backlog", str(machine.database)], env=machine.environment, check=True)
    assert lessons(machine) == []
    assert "switched off" in (spool.folder / "log").read_text()


def entries(machine: Machine) -> list[tuple[str, str]]:
    """What the memory of the project holds of sessions, with who said it."""
    scope = json.loads(machine.tenure("status", "--json"))["scope"]
    with Tenure.open(f"sqlite:///{machine.database}", scope=scope) as book, book.store.reading(scope) as look:
        assert look.stale_periods() == []
        return [(one.role, one.text) for one in look.entries()]


def flushed(machine: Machine) -> None:
    """Wait until what was said was written to memory and nobody is at work."""
    until = time.monotonic() + 120
    while any('"flush"' in path.read_text() for path in machine.spool.glob("*.json")):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_before_the_host_compacts_what_was_said_is_in_memory_and_later_rounds_only_add(machine: Machine) -> None:
    path = machine.session("s", extra=f" {OPEN}>the old lesson{CLOSE} with key AKIAABCDEFGHIJKLMNOP")
    for _ in range(2):
        machine.hook("claude-code", "pre-compact", machine.event("s", trigger="auto"))
        flushed(machine)
    (waiting,) = machine.spool.glob("*.json")
    assert json.loads(waiting.read_text())["due"] - time.time() > QUIET_S - 120  # the session itself is learned once it is quiet
    said = [("user", "Deploy the billing service to staging  with key [redacted:aws-key]"), ("assistant", "Deployed.")]
    assert entries(machine) == said
    assert json.loads(machine.tenure("status", "--json"))["counts"]["runs"] == 0
    more = {"role": "user", "content": "And the ledger service too"}
    record = {"type": "user", "uuid": "s-9", "sessionId": "s", "cwd": str(machine.project), "timestamp": "2026-11-30T05:00:00.000Z"}
    path.write_text(path.read_text() + json.dumps({**record, "message": more}) + "\n")
    machine.hook("claude-code", "session-end", machine.event("s"))
    machine.learned()
    assert entries(machine) == [*said, ("user", "And the ledger service too")]
    assert json.loads(machine.tenure("status", "--json"))["counts"]["runs"] == 1
    assert "ledger service" in machine.tenure("memory", "recall", "ledger service")
    machine.tenure("forget", "--run", "claude-code:s", "--yes")
    machine.hook("claude-code", "session-end", machine.event("s"))
    machine.learned()
    assert entries(machine) == []


def test_where_learning_is_switched_off_nothing_is_written_to_memory(machine: Machine) -> None:
    machine.session("s")
    machine.tenure("config", "set", "hooks.learn", "off")
    machine.hook("claude-code", "pre-compact", machine.event("s", trigger="manual"))
    machine.hook("claude-code", "session-end", machine.event("s"))
    assert not machine.spool.exists()
    assert entries(machine) == []
