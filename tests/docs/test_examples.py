"""Every example of README and docs is executed, in its page's order, in an empty folder."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import Example, examples_in, pages, place
from tests.docs.terminal import agrees, commands_in, masked, run_commands

SESSION = Path(__file__).with_name("python_session.py")

ALL = {page: examples_in(page.read_text(encoding="utf-8")) for page in pages()}


@contextmanager
def python_session(folder: Path, environment: dict[str, str]) -> Iterator[Any]:
    """A function that runs an example in a Python of its own and returns its output and error."""
    child = subprocess.Popen(
        [sys.executable, str(SESSION)],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    questions, answers = child.stdin, child.stdout
    assert questions is not None
    assert answers is not None

    def run(page: str, example: Example) -> dict[str, str]:
        questions.write(json.dumps({"page": page, "line": example.line, "code": example.code}) + "\n")
        questions.flush()
        answer = answers.readline()
        return json.loads(answer) if answer else {"output": "", "error": "Python ended while it ran this example"}

    try:
        yield run
    finally:
        questions.close()
        child.wait(timeout=120)
        answers.close()


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder with a short name: where paths are long, tables are laid out otherwise than on the page."""
    with tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a page's examples run: an empty project."""
    project = tmp_path / "project"
    project.mkdir()
    return project


@pytest.fixture
def environment(tmp_path: Path, folder: Path, tenure_command: list[str]) -> dict[str, str]:
    """A home and a database of the page's own, and a `tenure` on the path."""
    shims = tmp_path / "bin"
    home = tmp_path / "home"
    shims.mkdir()
    home.mkdir()
    (shims / "tenure").write_text(f'#!/bin/sh\nexec {shlex.join(tenure_command)} "$@"\n')
    (shims / "tenure").chmod(0o755)
    return os.environ | {
        "PATH": os.pathsep.join((str(shims), str(Path(sys.executable).parent), os.environ["PATH"])),
        "HOME": str(home),
        "TENURE_DB": f"sqlite:///{folder}/tenure.db",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        # Room for a table in one piece; a page shows it as wide as the reader's window would be.
        "COLUMNS": "120",
    }


@pytest.mark.parametrize("page", [page for page, examples in ALL.items() if any(example.runs for example in examples)], ids=place)
def test_examples_do_what_the_page_says(page: Path, folder: Path, environment: dict[str, str]) -> None:
    printed = ""
    with python_session(folder, environment) as run_python:
        for example in ALL[page]:
            where = f"{place(page)}:{example.line}"
            if "file" in example.marks:
                path = folder / example.marks["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(example.code, encoding="utf-8")
            elif "output" in example.marks:
                assert agrees(example.code, printed, folder=folder), difference(where, example.code, printed, folder)
            elif example.runs and example.language == "python":
                answer = run_python(place(page), example)
                assert not answer["error"], f"{where}\n{answer['error']}"
                printed = answer["output"]
            elif example.runs:
                printed = check_commands(example, where, folder, environment)


def check_commands(example: Example, where: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a terminal example, compare, and return what its last command printed."""
    results = run_commands(commands_in(example.code, language=example.language), folder=folder, environment=environment)
    for place_in_example, ran in enumerate(results, 1):
        wanted = int(example.marks.get("exit", "0")) if place_in_example == len(results) else 0
        assert ran.status == wanted, f"{where}: exit code {ran.status}, not {wanted}, from: {ran.command.text}\n{ran.output}"
        if ran.command.expected:
            assert agrees(ran.command.expected, ran.output, folder=folder), difference(
                f"{where}: {ran.command.text}", ran.command.expected, ran.output, folder
            )
    return results[-1].output if results else ""


def difference(where: str, expected: str, actual: str, folder: Path) -> str:
    """Both printouts, masked, as a difference a person can read."""
    lines = difflib.unified_diff(masked(expected).split("\n"), masked(actual, folder=folder).split("\n"), "the page", "now", lineterm="")
    return f"{where}\n" + "\n".join(lines)


@pytest.mark.parametrize("page", ALL, ids=place)
def test_an_example_that_is_not_run_says_why(page: Path) -> None:
    unexplained = [example.line for example in ALL[page] if "not run" in example.marks and len(example.marks["not run"].split()) < 2]
    assert unexplained == []


@pytest.mark.parametrize("page", ALL, ids=place)
def test_json_examples_are_json(page: Path) -> None:
    for example in ALL[page]:
        if example.language == "json":
            json.loads(example.code)
        elif example.language == "jsonl":
            for line in example.code.splitlines():
                json.loads(line)
