"""Each example runs as a person would run it: the first run fails, and the second is shown what it taught and succeeds."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tenure import Tenure

NEEDS = {
    "openai_client": ("openai", "httpx2"),
    "anthropic_client": ("anthropic", "httpx2"),
    "pydantic_ai_agent": ("pydantic_ai",),
    "openai_agents_sdk": ("agents",),
    "langgraph_agent": ("langgraph", "langchain_core"),
    "dspy_module": ("dspy",),
}
LESSON = '`post` error "the rate of the payment date is not accepted; use the rate of the invoice date"'


def test_every_example_is_run(root: Path) -> None:
    assert {path.stem for path in (root / "examples").glob("*.py")} == {*NEEDS, "invoices"}


@pytest.mark.parametrize("name", NEEDS)
def test_the_second_run_succeeds_by_what_the_first_one_taught(name: str, root: Path, tmp_path: Path) -> None:
    missing = [module for module in NEEDS[name] if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")
    database = tmp_path / "book.db"
    ran = subprocess.run(
        [sys.executable, str(root / "examples" / f"{name}.py"), str(database)],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key not in ("MODEL", "OPENAI_MODEL", "ANTHROPIC_MODEL")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    with Tenure.open(str(database), scope="invoices") as book:
        (lesson,) = book.playbook.lessons
        with book.store.reading(book.scope) as reading:
            runs = sorted((run for one in reading.run_ids() if (run := reading.run(one)) is not None), key=lambda run: run.started)
    first, second = runs
    cited = re.escape(lesson.id[:7])
    assert re.search(r"^post invoice 7: failed\. .+\n {2}lessons: 0 shown, 1 learned$", ran.stdout, re.MULTILINE), ran.stdout
    assert re.search(rf"^post invoice 8: succeeded\. .*{cited}.*\n {{2}}lessons: 1 shown, 0 learned$", ran.stdout, re.MULTILINE), ran.stdout
    assert LESSON in lesson.text or "the rate of the payment date is not accepted" in lesson.text
    assert (first.outcome.success, second.outcome.success) == (False, True)
    assert (second.shown, second.cited) == ((lesson.id,), (lesson.id,))
    for run, rate, error in ((first, "payment_date", True), (second, "invoice_date", False)):
        call = next(step for step in run.steps if step.kind == "tool_call")
        result = next(step for step in run.steps if step.kind == "tool_result")
        assert (call.name, call.arguments["rate_on"], bool(result.error)) == ("post", rate, error)
        assert [step.content for step in run.steps if step.role == "user"] == [run.task.text]
        assert not any(lesson.id[:7] in step.content for step in run.steps if step.role in ("system", "user"))
