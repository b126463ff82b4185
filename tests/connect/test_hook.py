"""Hooks as hosts run them: one process each, JSON on stdin, 0 at the end whatever happens."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenure.connect.hook import CONTEXT_CHARACTERS
from tests.connect.conftest import Machine
from tests.timing import assert_within, children_seconds

EVENTS = ("session-start", "prompt", "tool-failure", "pre-compact", "turn-end", "session-end")

# The promise is 150 ms on a quiet machine; a shared one gets three times as much processor time before the test is red.
MOST_SECONDS = 0.45


def context_of(said: object) -> str:
    return str(said["hookSpecificOutput"]["additionalContext"]) if isinstance(said, dict) else ""


@pytest.fixture
def taught(machine: Machine) -> Machine:
    """A project that has learned one lesson."""
    machine.tenure_here("learn", str(machine.session("taught")))
    return machine


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"not json",
        b"[]",
        b"{}",
        b'{"session_id": 7}',
        b'{"session_id": "s", "cwd": "/not/there", "prompt": 5}',
        b'{"session_id": "s", "prompt": "\\ud800 \\u0000 deploy"}',
        b"\xff\xfe\x00broken",
        b'{"session_id": "s", "prompt": "' + b"deploy billing " * 700_000 + b'"}',
    ],
    ids=["empty", "blank", "text", "list", "no fields", "wrong type", "wrong types", "surrogate", "not utf-8", "10 MB"],
)
def test_a_hook_ends_with_0_and_says_nothing_wrong_whatever_comes_in(raw: bytes, taught: Machine) -> None:
    for event in ("session-start", "prompt", "session-end"):
        said = taught.hook("claude-code", event, raw)
        assert said is None or set(said) == {"hookSpecificOutput"}


@pytest.mark.parametrize("words", [(), ("claude-code",), ("emacs", "prompt"), ("claude-code", "unknown")])
def test_a_hook_called_wrongly_ends_with_0(words: tuple[str, ...], machine: Machine) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tenure.connect.hook", *words], input=b"{}", env=machine.environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_without_stdin_or_stdout_ends_with_0(taught: Machine) -> None:
    command = f"exec {sys.executable} -m tenure.connect.hook claude-code session-start"
    for closed in ("<&-", ">&-", "<&- >&- 2>&-", "</dev/null >/dev/full"):
        assert subprocess.run(["sh", "-c", f"{command} {closed}"], env=taught.environment, cwd=taught.project, check=False).returncode == 0


def test_a_project_without_a_database_is_shown_nothing_and_nothing_is_made(
    machine: Machine, tree: Callable[[], dict[str, bytes | None]]
) -> None:
    before = tree()
    assert machine.hook("claude-code", "session-start", machine.event("s", source="startup")) is None
    assert machine.hook("claude-code", "prompt", machine.event("s", prompt="deploy")) is None
    assert tree() == before


def test_a_database_that_is_locked_broken_or_foreign_is_no_reason_to_fail(taught: Machine) -> None:
    event = taught.event("s", prompt="deploy the billing service")
    with sqlite3.connect(taught.database, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        taught.hook("claude-code", "prompt", event)
        taught.hook("claude-code", "session-end", event, TENURE_DEBUG="")
    other.close()
    for path in taught.database.parent.glob("tenure.db-[ws]*"):
        path.unlink()
    for raw in (b"", b"not a database" * 1000, taught.database.read_bytes()[:5000]):
        taught.database.write_bytes(raw)
        for name in EVENTS:
            assert taught.hook("claude-code", name, taught.event("t", prompt="deploy")) is None


def test_what_cannot_be_written_is_still_answered(taught: Machine) -> None:
    taught.spool.parent.mkdir(parents=True)
    taught.spool.write_text("a file where the folder goes")
    said = taught.hook("claude-code", "prompt", taught.event("s", prompt="deploy the billing service"))
    assert "stg accepted" in context_of(said)
    assert taught.hook("claude-code", "session-end", taught.event("s")) is None


def test_the_start_shows_what_holds_in_general_and_a_prompt_what_it_calls_for(taught: Machine) -> None:
    start = context_of(taught.hook("claude-code", "session-start", taught.event("one", source="startup")))
    assert start.startswith("<tenure-context ")
    assert start.endswith("</tenure-context>")
    assert "stg accepted" in start
    assert "stg accepted" in context_of(taught.hook("claude-code", "prompt", taught.event("two", prompt="deploy the billing service")))
    assert taught.hook("claude-code", "prompt", taught.event("two", prompt="write a poem about trees")) is None


def test_a_session_is_shown_a_lesson_once_until_its_host_forgets(taught: Machine) -> None:
    event = taught.event("s", source="startup", prompt="deploy the billing service")
    assert taught.hook("claude-code", "session-start", event)
    assert taught.hook("claude-code", "prompt", event) is None
    assert taught.hook("claude-code", "session-start", {**event, "source": "resume"}) is None
    assert taught.hook("claude-code", "session-start", {**event, "source": "compact"})


@pytest.mark.parametrize("change", [("retire",), ("revoke",)])
def test_a_lesson_that_no_longer_holds_is_not_shown_by_the_next_hook(change: tuple[str], taught: Machine) -> None:
    lesson = json.loads(taught.tenure("show", "--json"))["lessons"][0]["id"]
    taught.tenure("context", "deploy the billing service")  # keeps a core
    assert taught.hook("claude-code", "session-start", taught.event("a", source="startup"))
    if change == ("retire",):
        (taught.home / "ops.json").write_text(json.dumps({"operations": [{"op": "RETIRE", "id": lesson, "reason": "wrong"}]}))
        taught.tenure("apply", str(taught.home / "ops.json"))
    else:
        taught.tenure("rollback", "0")
    assert taught.hook("claude-code", "session-start", taught.event("b", source="startup")) is None
    assert taught.hook("claude-code", "prompt", taught.event("b", prompt="deploy the billing service")) is None


def test_lessons_of_another_project_are_not_shown(taught: Machine, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "project"
    (other / ".git").mkdir(parents=True)
    event = {**taught.event("s", source="startup"), "cwd": str(other)}
    database = {"TENURE_DB": str(taught.database)}  # even in the same database
    assert taught.hook("claude-code", "session-start", event, **database) is None
    below = taught.project / "src"
    below.mkdir()
    assert taught.hook("claude-code", "session-start", {**event, "session_id": "t", "cwd": str(below)}, **database)


def test_a_text_of_any_size_stays_within_what_the_host_shows(taught: Machine) -> None:
    lessons = [{"op": "ADD", "section": f"part {n % 7}", "text": f"Rule {n}: " + f"word{n} " * 30} for n in range(150)]
    (taught.home / "ops.json").write_text(json.dumps({"operations": lessons}))
    taught.tenure("apply", str(taught.home / "ops.json"))
    said = context_of(taught.hook("claude-code", "session-start", taught.event("s", source="startup")))
    assert 0.8 * CONTEXT_CHARACTERS["claude-code"] < len(said) <= CONTEXT_CHARACTERS["claude-code"]


def test_a_secret_that_got_into_a_lesson_is_taken_out_when_it_is_shown(taught: Machine) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    with sqlite3.connect(taught.database) as connection:
        connection.execute("UPDATE lessons SET body = replace(body, 'stg accepted', ?)", (f"key {secret}",))
    connection.close()
    said = context_of(taught.hook("claude-code", "session-start", taught.event("s", source="startup")))
    assert "key " in said
    assert secret not in said


def test_switches_of_a_project_hold(taught: Machine) -> None:
    event = taught.event("s", source="startup", prompt="deploy the billing service")
    taught.tenure("config", "set", "hooks.recall", "off")
    assert taught.hook("claude-code", "session-start", event) is None
    assert taught.hook("claude-code", "prompt", event) is None
    taught.tenure("config", "set", "hooks.recall", "on")
    taught.tenure("config", "set", "hooks.learn", "off")
    for name in EVENTS:
        taught.hook("claude-code", name, event)
    assert not taught.spool.exists()
    assert taught.hook("claude-code", "session-start", event, TENURE_HOOK="off") is None


def test_the_end_of_a_turn_never_makes_the_agent_go_on(taught: Machine) -> None:
    for active in (False, True):
        assert taught.hook("codex", "turn-end", {**taught.event("s"), "stop_hook_active": active}) is None


def test_one_event_told_three_times_waits_once(taught: Machine) -> None:
    for _ in range(3):
        taught.hook("claude-code", "pre-compact", taught.event("s", trigger="auto"))
    assert len(list(taught.spool.glob("*.json"))) == 1


def test_what_a_host_without_a_log_tells_is_kept_without_secrets(taught: Machine) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    event = {"conversation_id": "c", "workspace_roots": [str(taught.project)], "prompt": f"use {secret}"}
    taught.hook("cursor", "prompt", event)
    taught.hook("cursor", "tool-failure", {**event, "tool_name": "deploy", "tool_input": {"key": secret}, "error_message": f"bad {secret}"})
    kept = "".join(path.read_text() for path in taught.spool.glob("*.jsonl"))
    assert "deploy" in kept
    assert secret not in kept


def test_a_hook_loads_nothing_heavy(taught: Machine) -> None:
    heavy = ("sqlalchemy", "typer", "rich", "pydantic", "numpy", "alembic", "tenure.governance.redaction", "tenure.settings")
    event = json.dumps(taught.event("s", source="startup", prompt="deploy the billing service"))
    taught.hook("claude-code", "session-end", taught.event("taught"))
    taught.learned()
    code = (
        "import io, sys; from tenure.connect.hook import answer_to;"
        f"said = [answer_to(['claude-code', name], io.BytesIO({event!r}.encode())) for name in {EVENTS[:3]!r}];"
        f"assert said[0]; print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=taught.environment, cwd=taught.project, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["session-start", "prompt", "tool-failure"])
def test_a_hook_is_fast(name: str, taught: Machine) -> None:
    sessions = itertools.count()

    def once() -> float:
        raw = taught.event(f"s{next(sessions)}", source="startup", prompt="write a poem about the sea")
        return children_seconds(lambda: taught.hook("claude-code", name, raw))

    assert_within(MOST_SECONDS, once)


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not hold for this account")
def test_a_home_that_cannot_be_written_is_no_reason_to_fail(taught: Machine) -> None:
    taught.database.parent.chmod(0o500)
    assert "stg accepted" in context_of(taught.hook("claude-code", "session-start", taught.event("s", source="startup")))
    assert taught.hook("claude-code", "session-end", taught.event("s")) is None


def minds(process: int, number: int) -> bool:
    """Whether a process has a handler for a signal, where the system tells."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        time.sleep(1)
        return True
    caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking it")
def test_a_hook_that_its_host_calls_off_ends_with_0(taught: Machine) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tenure.connect.hook", "claude-code", "prompt"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**taught.environment, "PYTHONPROFILEIMPORTTIME": "1"},
        cwd=taught.project,
    ) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        while b"tenure.version" not in child.stderr.readline():  # it is up, and waits for the event
            pass
        until = time.monotonic() + 30
        while not minds(child.pid, signal.SIGTERM) and time.monotonic() < until:
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        assert (child.wait(30), child.stdout.read() if child.stdout else b"") == (0, b"")


def test_what_lies_in_a_project_is_not_imported(machine: Machine) -> None:
    from tenure.connect.wanted import Programs

    (machine.project / "json.py").write_text(f"open({str(machine.home / 'imported')!r}, 'w'); raise SystemExit(3)")
    (machine.project / "tenure").mkdir()
    (machine.project / "tenure" / "__init__.py").write_text((machine.project / "json.py").read_text())
    machine.session("s")
    program = Programs.here().hook if "-m" in Programs.here().hook else (sys.executable, "-P", "-m", "tenure.connect.hook")
    done = subprocess.run(
        [*program, "claude-code", "session-end"],
        input=json.dumps(machine.event("s")).encode(),
        env=machine.environment,
        cwd=machine.project,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    machine.learned()
    assert not (machine.home / "imported").exists()


def test_a_lesson_looked_through_by_one_hook_is_known_to_the_next(taught: Machine) -> None:
    assert not (taught.spool / "cleared").exists()  # learned by hand: no process has gone through the lessons
    loaded = []
    for session in ("a", "b"):
        event = json.dumps(taught.event(session, prompt="deploy the billing")).encode()
        code = f"import io, sys; from tenure.connect.hook import answer_to; answer_to(['claude-code', 'prompt'], io.BytesIO({event!r}));"
        code += "print('tenure.governance.redaction' in sys.modules)"
        command = [sys.executable, "-c", code]
        loaded.append(
            subprocess.run(command, env=taught.environment, cwd=taught.project, capture_output=True, text=True, check=True).stdout
        )
    assert [one.strip() for one in loaded] == ["True", "False"]
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    with sqlite3.connect(taught.database) as connection:
        connection.execute("UPDATE lessons SET body = replace(body, 'stg accepted', ?)", (f"key {secret}",))
    connection.close()
    for session in ("c", "d"):  # what holds a secret is never among the known
        said = context_of(taught.hook("claude-code", "prompt", taught.event(session, prompt="deploy the billing")))
        assert "key " in said
        assert secret not in said


def test_eight_hooks_at_once_all_answer_and_leave_a_session_each(taught: Machine) -> None:
    taught.hook("claude-code", "prompt", taught.event("first", prompt="deploy the billing service"))  # so that all know the lesson's text
    with ThreadPoolExecutor(8) as pool:
        events = [taught.event(f"s{n}", prompt="deploy the billing service", trigger="auto") for n in range(8)]
        said = list(pool.map(lambda event: taught.hook("claude-code", "prompt", event), events))
        list(pool.map(lambda event: taught.hook("claude-code", "pre-compact", event), events))
    assert all("stg accepted" in context_of(one) for one in said)
    assert len(list(taught.spool.glob("*.json"))) == 8
    assert not list(taught.spool.glob(".*"))


def test_a_database_of_a_newer_version_is_no_reason_to_fail(taught: Machine) -> None:
    with sqlite3.connect(taught.database) as connection:
        connection.execute("ALTER TABLE lessons RENAME TO lessons_of_the_future")
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for name in EVENTS:
        assert taught.hook("claude-code", name, taught.event("s", prompt="deploy the billing service", source="startup")) is None


@pytest.mark.skipif(os.name == "nt", reason="the account's home is found otherwise")
def test_without_a_home_folder_nothing_is_known_and_nothing_fails(taught: Machine) -> None:
    taught.environment.pop("HOME")
    taught.environment.pop("XDG_DATA_HOME")
    assert taught.hook("claude-code", "session-start", taught.event("s", source="startup")) is None


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on the size of files")
def test_a_full_disk_takes_no_answer_away(taught: Machine) -> None:
    # Any write of a byte fails, as where no space is left.
    code = "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
    code += "sys.argv = ['tenure-hook', 'claude-code', sys.argv[1]]; from tenure.connect.hook import main; main()"
    for name, shown in (("prompt", True), ("session-end", False)):
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            input=json.dumps(taught.event("s", prompt="deploy the billing service")).encode(),
            env=taught.environment,
            cwd=taught.project,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert (b"stg accepted" in done.stdout) == shown
    assert not [path for path in taught.spool.glob("*") if path.stat().st_size]
    assert not list(taught.spool.glob(".*"))


def test_a_person_who_asks_is_told_how_a_hook_is_called(machine: Machine) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tenure.connect.hook", "--help"], env=machine.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: tenure-hook HOST EVENT")
    assert "claude-code" in done.stdout
    assert "session-end" in done.stdout


@pytest.mark.parametrize(
    ("words", "raw", "said"),
    [
        (("claude-code", "session-start"), b"not json", "no JSON object"),
        (("claude-code", "session-strt"), b"{}", "'claude-code session-strt' is no host and event"),
        (("claude-code", "prompt"), b'{"prompt": "x"}', "names no session"),
    ],
)
def test_a_call_that_cannot_be_read_leaves_a_line_in_the_log(words: tuple[str, str], raw: bytes, said: str, taught: Machine) -> None:
    assert taught.hook(*words, raw) is None
    assert said in (taught.spool / "log").read_text()
