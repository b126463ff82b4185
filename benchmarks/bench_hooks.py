"""How long a hook of a coding agent takes, start of Python included, on a scope of some lessons with a warm cache.

Wall time is the median; processor time beside it is what other work on the machine does not add to. `engine_` is what the same
question costs through the whole engine, in a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from tenure import Add, Tenure
from tenure.connect.backlog import write_cleared
from tenure.connect.spool import Spool
from tenure.project import default_scope

SEED = None
"""Nothing is drawn."""

EVENTS = ("session-start", "prompt", "tool-failure")


def measure(*, full: bool) -> dict[str, float]:
    """Milliseconds by event."""
    lessons, times = (1_000, 31) if full else (50, 3)
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_DATA_HOME=folder):
        project = Path(folder) / "project"
        (project / ".git").mkdir(parents=True)
        database = project / ".tenure" / "tenure.db"
        with Tenure.open(f"sqlite:///{database}", scope=default_scope(folder=project, environment={}), embedder="none") as book:
            book.apply(
                [Add(section=f"part {n % 9}", text=f"Step {n}: deploy service{n} with flag {n % 13} first.") for n in range(lessons)]
            )
            book.recalled("", None)
            spool = Spool(database)
            spool.note("claude-code", "made", {"kind": "reset"})
            write_cleared(spool, book.store)
        figures: dict[str, float] = {"lessons": lessons}
        command = [sys.executable, "-m", "tenure.connect.hook", "claude-code"]
        for event in EVENTS:
            walls, cpus = zip(*(_timed([*command, event], _told(project, f"{event}{n}")) for n in range(times)), strict=True)
            figures[f"{event.replace('-', '_')}_ms"] = median(walls)
            figures[f"{event.replace('-', '_')}_cpu_ms"] = median(cpus)
        code = "from tenure import Tenure; Tenure.open(embedder='none').context('deploy service7')"
        walls, _ = zip(*(_timed([sys.executable, "-c", code], b"", project) for _ in range(max(3, times // 5))), strict=True)
        figures["engine_prompt_ms"] = median(walls)
    return figures


def _told(project: Path, session: str) -> bytes:
    event: dict[str, Any] = {
        "session_id": session,
        "cwd": str(project),
        "transcript_path": "",
        "source": "startup",
        "prompt": "deploy service7",
    }
    return json.dumps(event).encode()


def _timed(command: list[str], stdin: bytes, folder: Path | None = None) -> tuple[float, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=stdin, capture_output=True, check=True, cwd=folder, env={**os.environ, "TENURE_DB": ""})
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
