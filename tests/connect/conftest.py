"""A person's machine: a home folder, a project under Git, and the command line in it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest


class Machine:
    """A home folder and a project; runs `tenure` and `tenure-hook` as a person and a host would."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.home, self.project, self._root = folder / "home", folder / "project", root
        self.home.mkdir()
        (self.project / ".git").mkdir(parents=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TENURE_", "XDG_", "CLAUDE", "CODEX"))}
        paths = os.pathsep.join(filter(None, [str(root / "src"), inherited.get("PYTHONPATH", "")]))
        self.environment = {**inherited, "HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data"), "PYTHONPATH": paths}

    @property
    def database(self) -> Path:
        """The project's database."""
        return self.project / ".tenure" / "tenure.db"

    @property
    def spool(self) -> Path:
        """What hooks leave."""
        place = os.path.realpath(self.database)
        return self.home / "data" / "tenure" / "hooks" / hashlib.sha256(place.encode()).hexdigest()[:24]

    def tenure(self, *words: str, code: int = 0, folder: Path | None = None) -> str:
        """Run a command; its stdout and stderr."""
        done = subprocess.run(
            [sys.executable, "-m", "tenure", *words],
            cwd=folder or self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def tenure_here(self, *words: str) -> None:
        """Run a command in this process, as on the machine: it prepares what a test begins with, sooner than a process of its own."""
        from typer.testing import CliRunner

        from tenure.serving.cli.main import app

        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith(("TENURE_", "XDG_", "CLAUDE", "CODEX"))]:
                patch.delenv(name)
            for name in ("HOME", "XDG_DATA_HOME"):
                patch.setenv(name, self.environment[name])
            patch.chdir(self.project)
            done = CliRunner().invoke(app, list(words), prog_name="tenure")
        assert done.exit_code == 0, done.output

    def hook(self, host: str, event: str, told: Mapping[str, Any] | bytes | None = None, **environment: str) -> Any:
        """Run a hook; what it printed, parsed, or none. It must end with 0 and say nothing on stderr."""
        raw = told if isinstance(told, bytes) else b"" if told is None else json.dumps(told).encode()
        done = subprocess.run(
            [sys.executable, "-m", "tenure.connect.hook", host, event],
            input=raw,
            cwd=self.project if self.project.is_dir() else None,
            env={**self.environment, **environment},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    def event(self, session: str, **more: Any) -> dict[str, Any]:
        """What Claude Code tells of every event."""
        return {
            "session_id": session,
            "transcript_path": str(self.home / f"{session}.jsonl"),
            "cwd": str(self.project),
            "permission_mode": "default",
            **more,
        }

    def session(self, session: str, *, prompt: str = "Deploy the billing service to staging", extra: str = "") -> Path:
        """Write the log of a session in which a tool call was refused, and then put right."""
        call = {"type": "tool_use", "id": "t1", "name": "deploy", "input": {"service": "billing", "target": "staging"}}
        right = {**call, "id": "t2", "input": {"service": "billing", "target": "stg"}}
        refused = "Error: argument 'target' must be 'stg', not 'staging'"
        said: list[tuple[str, Any]] = [
            ("user", f"{prompt}{extra}"),
            ("assistant", [call]),
            ("user", [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": refused}]),
            ("assistant", [right]),
            ("user", [{"type": "tool_result", "tool_use_id": "t2", "content": "deployed"}]),
            ("assistant", [{"type": "text", "text": "Deployed."}]),
        ]
        path = self.home / f"{session}.jsonl"
        path.write_text(
            "".join(
                json.dumps(
                    {
                        "type": role,
                        "uuid": f"{session}-{at}",
                        "sessionId": session,
                        "cwd": str(self.project),
                        "timestamp": f"2026-11-30T04:{at:02d}:00.000Z",
                        "message": {"role": role, "content": content},
                    }
                )
                + "\n"
                for at, (role, content) in enumerate(said)
            ),
            encoding="utf-8",
        )
        return path

    def learned(self, *, seconds: float = 120) -> None:
        """Wait until no session waits, and the process that learns has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.spool.is_dir() and not list(self.spool.glob("*.json")) and _is_free(self.spool / "lock"):
                return
            time.sleep(0.1)
        pytest.fail(f"still waiting: {sorted(path.name for path in self.spool.iterdir())}")


def _is_free(lock: Path) -> bool:
    import fcntl

    if not lock.exists():
        return False
    with lock.open("a+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs in the test's own process keeps its data where the machine does."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))


@pytest.fixture
def machine(tmp_path: Path, root: Path) -> Machine:
    """A machine of its own for each test."""
    return Machine(tmp_path, root)


@pytest.fixture
def tree(machine: Machine) -> Callable[[], dict[str, bytes | None]]:
    """Every file and folder of project and home with its bytes, but for Tenure's own data."""

    def look() -> dict[str, bytes | None]:
        found: dict[str, bytes | None] = {}
        for top in (machine.project, machine.home):
            for path in sorted(top.rglob("*")):
                if path.is_relative_to(machine.home / "data"):
                    continue
                found[str(path.relative_to(top.parent))] = path.read_bytes() if path.is_file() else None
        return found

    return look
