"""The command line as tests use it: in this process, each test with a folder, a database and a person of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# What differs from run to run, each with a stand-in of the same length so that columns stay where they are.
_CHANGING = (
    (re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "0" * 26),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b"), "2026-01-05 09:00"),
    (re.compile(r"\b\d+ tokens\b"), "NN tokens"),
    (re.compile(r"\bto \d+ tokens\b"), "to NN tokens"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT[\d:.+]+"), "2026-01-05T09:00:00+00:00"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command said: exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as the one JSON document it must be."""
        return json.loads(self.out)

    @property
    def steady(self) -> str:
        """Both streams for a golden file, without what differs from run to run."""
        text = f"{self.out}--- stderr\n{self.err}--- exit {self.code}\n"
        for pattern, stand_in in _CHANGING:
            text = pattern.sub(stand_in, text)
        return text


Cli = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: empty, and no project."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"TENURE_DB": "book.db", "TENURE_SCOPE": "acme/finance", "TZ": "UTC", "LOGNAME": "ada", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def cli(folder: Path) -> Cli:
    """`cli("show", "--json")`: runs a command through the real entry point; `input` is stdin, other names set variables."""

    # Not above: pytest reads this file before the checkout is on the path.
    from typer.testing import CliRunner

    from tenure.serving.cli.main import app

    def run(*args: str, input: str | bytes | None = None, **environment: str) -> Answer:
        result = CliRunner(env=environment).invoke(app, list(args), input=input, prog_name="tenure")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Answer(code=result.exit_code, out=result.stdout, err=result.stderr)

    return run


RUNS = (
    {
        "id": "week-1",
        "task": {"text": "Close the books for week 1", "kind": "close-week"},
        "steps": [
            {"kind": "message", "role": "user", "content": "Close the books for week 1"},
            {"kind": "tool_call", "name": "book", "call_id": "1", "arguments": {"invoice": 7, "amount": "1.200,50"}},
            {"kind": "tool_result", "name": "book", "call_id": "1", "error": "amount must be a decimal number with a point"},
            {"kind": "tool_call", "name": "book", "call_id": "2", "arguments": {"invoice": 7, "amount": "1200.50"}},
            {"kind": "tool_result", "name": "book", "call_id": "2", "content": "booked"},
        ],
        "outcome": {"success": True, "signal": "test"},
    },
    {
        "id": "week-2",
        "task": {"text": "Close the books for week 2", "kind": "close-week"},
        "steps": [
            {"kind": "tool_call", "name": "book", "call_id": "1", "arguments": {"invoice": 8, "amount": "88,00"}},
            {"kind": "tool_result", "name": "book", "call_id": "1", "error": "amount must be a decimal number with a point"},
        ],
        "outcome": {"success": False, "signal": "test", "feedback": "invoice 8 is not booked"},
    },
)
"""Two runs with the same rejected call, cured in the first."""


@pytest.fixture
def runs_file(folder: Path) -> str:
    """A file with two runs."""
    (folder / "runs.jsonl").write_text("".join(f"{json.dumps(run)}\n" for run in RUNS), encoding="utf-8")
    return "runs.jsonl"


@pytest.fixture
def runs(runs_file: str, cli: Cli) -> None:
    """A playbook that has learned from two runs."""
    assert cli("learn", runs_file).code == 0


LESSONS = """\
## invoices
[inv-00001] helpful=3 harmful=0 :: Convert each line at the invoice-date rate before summing.
  Applies when: the invoice has lines in more than one currency
[inv-00002] helpful=0 harmful=2 :: Ignore rows whose deleted_at is set.

## 請求書
[jp-00001] helpful=0 harmful=0 :: 請求書はPDF/Aで保存
  Keep the original beside it.
"""
"""A small playbook with ids of its own, so that what is printed of it is the same every time."""


@pytest.fixture
def playbook(folder: Path, cli: Cli) -> None:
    """A playbook of three lessons with known ids, as version 1."""
    (folder / "lessons.txt").write_text(LESSONS, encoding="utf-8")
    assert cli("import", "lessons.txt").code == 0


def write_operations(folder: Path, *operations: object) -> str:
    """A file of operations for `tenure apply`; its name."""
    (folder / "operations.json").write_text(json.dumps({"operations": operations}, ensure_ascii=False), encoding="utf-8")
    return "operations.json"
