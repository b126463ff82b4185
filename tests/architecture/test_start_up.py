"""Starting costs little: heavy modules are imported where they are used, and nothing is fetched."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.timing import assert_within, children_seconds

HEAVY = (
    "alembic",
    "anthropic",
    "httpx",
    "numpy",
    "openai",
    "opentelemetry",
    "prometheus_client",
    "pydantic",
    "pydantic_ai",
    "rich",
    "sqlalchemy",
    "typer",
)

# The promise is 300 ms on a quiet machine; a shared one gets three times as much before the test is red.
MOST_SECONDS = 0.9


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter has after a statement."""
    code = f"import sys; {statement}; print(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(child.stdout.split())


@pytest.mark.parametrize("statement", ["import tenure", "from tenure import Playbook, Delta, Add, apply, loads, dumps, render"])
def test_values_and_algebra_load_nothing_heavy(statement: str) -> None:
    assert loaded_by(statement).intersection(HEAVY) == set()


def test_the_engine_loads_no_model_library() -> None:
    assert loaded_by("from tenure import Tenure").intersection({"anthropic", "openai", "pydantic_ai", "numpy"}) == set()


@pytest.mark.parametrize("arguments", [["--help"], ["version"]])
def test_the_command_answers_quickly(arguments: list[str], tenure_command: list[str]) -> None:
    def answer() -> None:
        subprocess.run([*tenure_command, *arguments], capture_output=True, check=True)

    # Processor time: other jobs on the machine make it wait, and that is not ours to mend.
    assert_within(MOST_SECONDS, lambda: children_seconds(answer))
