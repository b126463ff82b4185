"""`tenure mcp` before it serves: what is missing is said, and standard output stays clean. Serving is in tests/serving/mcp."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli


def test_without_the_extra_it_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "mcp" else real(name, *rest))
    answer = cli("mcp")
    assert (answer.code, answer.out) == (2, "")
    assert "pip install 'tenure[mcp]'" in answer.err


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 2)])
def test_with_a_closed_stream_it_says_so(tenure_command: list[str], tmp_path: Path, closed: str, code: int) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" mcp --read-only --db book.db {closed}', "sh", *tenure_command],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code
    assert b"one of them is closed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_database_that_cannot_be_opened_is_told_on_stderr_alone(tenure_command: list[str], tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    (tmp_path / "book.db").mkdir()
    done = subprocess.run(
        [*tenure_command, "mcp", "--db", "book.db"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
    )
    assert done.returncode in (1, 2)
    assert done.stdout == b""
    assert b"book.db" in done.stderr
    assert b"Traceback" not in done.stderr
