"""`tenure` as a process: streams, signals, exit codes, encodings."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenure import Tenure
from tenure.errors import StoreError
from tests.serving.cli.conftest import LESSONS, RUNS


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "TENURE_DB": str(tmp_path / "book.db"), "TENURE_SCOPE": "acme/finance"}


def run(command: list[str], *args: str, environment: dict[str, str], cwd: Path, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*command, *args], capture_output=True, check=False, env=environment, cwd=cwd, input=input, timeout=120)


def test_results_on_stdout_talk_on_stderr_and_the_exit_code(tenure_command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    lines = "".join(f"{json.dumps(one)}\n" for one in RUNS).encode()
    done = run(tenure_command, "learn", "-", "--json", environment=environment, cwd=tmp_path, input=lines)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["runs"] == 2
    wrong = run(tenure_command, "show", "nothing", environment=environment, cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr.startswith(b"error: Lesson 'nothing' is not in scope")


def test_a_reader_that_has_seen_enough_ends_it_quietly(tenure_command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    lines = "".join(f"[a-{number}] helpful=0 harmful=0 :: {'word ' * 200}{number}\n" for number in range(120))
    run(tenure_command, "import", "-", environment=environment, cwd=tmp_path, input=f"## a\n{lines}".encode())
    with subprocess.Popen(
        [*tenure_command, "export"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"## a\n"
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(timeout=120) == 0


@pytest.mark.parametrize("command", [("--help",), ("log",), ("export",), ("show", "--json")])
def test_a_reader_that_is_gone_before_anything_is_printed_is_no_failure(
    command: tuple[str, ...], tenure_command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    run(tenure_command, "import", "-", environment=environment, cwd=tmp_path, input=LESSONS.encode())
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [*tenure_command, *command], stdout=writes, stderr=subprocess.PIPE, env=environment, cwd=tmp_path, timeout=120, check=False
        )
    finally:
        os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii"])
def test_a_narrow_encoding_shows_escapes_and_keeps_json_whole(
    tenure_command: list[str], environment: dict[str, str], tmp_path: Path, encoding: str
) -> None:
    run(tenure_command, "import", "-", environment=environment, cwd=tmp_path, input=LESSONS.encode())
    narrow = {**environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    shown = run(tenure_command, "show", environment=narrow, cwd=tmp_path)
    assert (shown.returncode, b"PDF/A" in shown.stdout) == (0, True)
    found = json.loads(run(tenure_command, "show", "--json", environment=narrow, cwd=tmp_path).stdout.decode(encoding))
    assert found["lessons"][2]["section"] == "請求書"


def kept_runs(folder: Path) -> int:
    """How many runs the database holds by now."""
    if not (folder / "book.db").exists():
        return 0
    try:
        with Tenure.open(f"sqlite:///{folder / 'book.db'}", scope="acme/finance") as book, book.store.reading(book.scope) as reading:
            return reading.counts()["runs"]
    except StoreError:  # its tables are being made
        return 0


def test_an_interrupt_keeps_what_was_learned_and_the_same_command_goes_on(
    tenure_command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("".join(f"{json.dumps({**RUNS[place % 2], 'id': f'run-{place}'})}\n" for place in range(3000)), encoding="utf-8")
    child = subprocess.Popen(
        [*tenure_command, "learn", str(many), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        # A job in the background ignores Ctrl-C, and so do its children: the tests may run in one.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no thread runs here
    )
    deadline = time.monotonic() + 120
    while kept_runs(tmp_path) < 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, b"Traceback" in err) == (130, False)
    done = json.loads(out)
    assert done["interrupted"]
    assert 0 < done["runs"] < 3000
    status = json.loads(run(tenure_command, "status", "--json", environment=environment, cwd=tmp_path).stdout)
    assert status["counts"]["runs"] >= done["runs"]


def test_an_unexpected_error_is_one_message_and_a_traceback_only_on_demand(
    tenure_command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    broken = tmp_path / "package"
    broken.mkdir()
    # A clock that fails stands for a fault nobody thought of.
    (broken / "sitecustomize.py").write_text(
        "import tenure.system\ndef now(self): raise RuntimeError('the clock has stopped')\ntenure.system.SystemClock.now = now\n",
        encoding="utf-8",
    )
    faulty = {**environment, "PYTHONPATH": os.pathsep.join((str(broken), environment["PYTHONPATH"]))}
    run(tenure_command, "import", "-", environment=environment, cwd=tmp_path, input=LESSONS.encode())
    plain = run(tenure_command, "context", "x", environment=faulty, cwd=tmp_path)
    assert plain.returncode == 1
    assert plain.stderr.startswith(b"error: RuntimeError: the clock has stopped\n")
    assert b"TENURE_DEBUG=1" in plain.stderr
    assert b"Traceback" not in plain.stderr
    traced = run(tenure_command, "context", "x", environment={**faulty, "TENURE_DEBUG": "1"}, cwd=tmp_path)
    assert (traced.returncode, b"Traceback" in traced.stderr) == (1, True)


def on_a_terminal(command: list[str], environment: dict[str, str], cwd: Path, typed: bytes = b"") -> tuple[int, str]:
    """Exit code and screen of a command that runs on a terminal of its own."""
    main, other = pty.openpty()
    child = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment, cwd=cwd)
    os.close(other)
    if typed:
        os.write(main, typed)
    seen = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(main)
    return child.wait(timeout=120), seen.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_has_colours_a_bar_and_a_question(tenure_command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    shown = {name: value for name, value in environment.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    (tmp_path / "runs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in RUNS), encoding="utf-8")
    code, screen = on_a_terminal([*tenure_command, "learn", "runs.jsonl"], shown, tmp_path)
    assert (code, "Learning" in screen, "\x1b[1m" in screen) == (0, True, True)
    code, screen = on_a_terminal([*tenure_command, "rollback", "0"], shown, tmp_path, typed=b"n\n")
    assert (code, "Go back from version 2 to version 0" in screen, "Nothing was changed." in screen) == (0, True, True)
    code, screen = on_a_terminal([*tenure_command, "rollback", "0"], shown, tmp_path, typed=b"y\n")
    assert (code, "Went back to version 0" in screen) == (0, True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_what_goes_to_a_terminal_is_made_visible_and_what_goes_to_a_file_is_not(
    tenure_command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    operation = {"op": "ADD", "section": "s", "id": "s-1", "text": "left \u202e right"}
    run(tenure_command, "apply", "-", environment=environment, cwd=tmp_path, input=json.dumps([operation]).encode())
    _, screen = on_a_terminal([*tenure_command, "export"], environment, tmp_path)
    assert ("\\u202e" in screen, "\u202e" in screen) == (True, False)
    assert "\u202e" in json.loads(run(tenure_command, "show", "--json", environment=environment, cwd=tmp_path).stdout)["lessons"][0]["text"]


@pytest.mark.parametrize(
    "arguments", [["version"], ["show"], ["context", "x"], ["log", "-n", "3"], ["show", "--status", "active", "--json"]]
)
def test_a_command_loads_no_library_that_it_does_not_use(environment: dict[str, str], tmp_path: Path, arguments: list[str]) -> None:
    code = (
        "import sys\nfrom tenure.serving.cli.main import app\ntry: app(sys.argv[1:], prog_name='tenure')\nexcept SystemExit: pass\n"
        "print(sorted({'pydantic', 'pydantic_ai', 'rich', 'alembic', 'numpy'}.intersection(sys.modules)), file=sys.stderr)"
    )
    done = run([sys.executable, "-c", code], *arguments, environment=environment, cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == b"[]"


@pytest.mark.parametrize("args", [["show"], ["show", "--json"], ["log"], ["doctor"], ["apply", "-"]], ids=" ".join)
def test_streams_that_were_closed_before_it_began_are_no_fault(
    tenure_command: list[str], environment: dict[str, str], tmp_path: Path, args: list[str]
) -> None:
    closing = [sys.executable, "-c", "import os, sys\nos.close(0); os.close(1)\nos.execv(sys.argv[1], sys.argv[1:])", *tenure_command]
    done = subprocess.run([*closing, *args], stderr=subprocess.PIPE, check=False, env=environment, cwd=tmp_path, timeout=120)
    assert b"fault in Tenure" not in done.stderr
    assert done.returncode in (0, 2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named_as_such(tenure_command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*tenure_command, "show", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment,
            cwd=tmp_path,
            timeout=120,
        )
    assert (done.returncode, b"no space left" in done.stderr, b"fault in Tenure" in done.stderr) == (1, True, False)


def test_a_working_folder_that_is_gone_is_named(tenure_command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    environment.pop("TENURE_DB")
    leaving = [sys.executable, "-c", "import os, sys\nos.rmdir(os.getcwd())\nos.execv(sys.argv[1], sys.argv[1:])"]
    done = subprocess.run([*leaving, *tenure_command, "show"], capture_output=True, check=False, env=environment, cwd=folder, timeout=120)
    assert (done.returncode, b"working directory" in done.stderr) == (2, True)
