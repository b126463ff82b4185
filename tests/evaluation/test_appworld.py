"""The task `appworld` against a double of its package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tenure import UserError
from tenure.evaluation.harness.comparison import compare
from tenure.evaluation.harness.sample import Scored, Unscorable
from tenure.evaluation.harness.spending import Spending
from tenure.evaluation.tasks.appworld import AppWorldTask
from tenure.ports import Prompt
from tenure.providers.scripted import RuleModel, ScriptedModel
from tests.evaluation import app_world_double


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """`import appworld` gives the double."""
    real = importlib.util.find_spec
    monkeypatch.setitem(sys.modules, "appworld", app_world_double)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: object() if name == "appworld" else real(name, *more))


def code(text: str) -> str:
    return f"I try.\n\n```python\n{text}\n```"


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None)
    with pytest.raises(UserError, match="pip install appworld, then: appworld install && appworld download data"):
        AppWorldTask()


@pytest.mark.usefixtures("package")
def test_without_its_data_the_error_says_what_is_missing() -> None:
    with pytest.raises(UserError, match=r"datasets/train.txt\) doesn't exist. Get the data"):
        AppWorldTask(dataset="train")


@pytest.mark.usefixtures("package")
def test_the_agent_runs_code_sees_its_output_and_is_judged_by_the_tests() -> None:
    task = AppWorldTask()
    instance = next(one for one in task.stream(0) if one.query.id == "aaaa_1")
    replies = [
        code("word = 'ses' + 'ame'\nprint(word)"),
        "No code here.",
        code("1 / 0"),
        code("apis.supervisor.complete_task(answer=word)"),
    ]
    model = ScriptedModel(replies)
    response = task.agent(0, model).act(instance.query, [])
    assert "Output:\nsesame" in model.prompts[1].user
    assert "No block of code was found" in model.prompts[2].user
    assert "ZeroDivisionError" in model.prompts[3].user
    assert "Say the word of the day." in model.prompts[0].user
    assert task.score(instance, response) == Scored(1.0)
    assert task.observe(instance, response, 0).text == "2 of 2 tests of the task pass."
    assert "sesame" in response.said


@pytest.mark.usefixtures("package")
def test_a_task_that_is_not_completed_in_its_steps_is_judged_all_the_same() -> None:
    task = AppWorldTask(steps=2)
    instance = task.stream(0)[0]
    response = task.agent(0, ScriptedModel([code("print(1)")] * 2)).act(instance.query, [])
    assert task.score(instance, response) == Scored(0.0)
    assert "Not met: assert the word is said" in task.observe(instance, response, 0).text
    assert "within 2 steps" in response.problem


@pytest.mark.usefixtures("package")
def test_what_the_world_did_not_judge_is_unscorable() -> None:
    from tenure.evaluation.harness.ports import Response

    task = AppWorldTask()
    assert isinstance(task.score(task.stream(0)[0], Response(answer=None)), Unscorable)


@pytest.mark.usefixtures("package")
def test_the_whole_comparison_learns_across_tasks(tmp_path: Path) -> None:
    def reply(prompt: Prompt) -> str:
        if prompt.purpose == "generate":
            word = "moon" if "night" in prompt.user else "sesame" if "# Notes" in prompt.user else "?"
            return code(f"apis.supervisor.complete_task(answer='{word}')")
        return "Words are told by the time of day."

    found = compare(
        "appworld",
        arms=["none", "overwrite"],
        orders=2,
        spending=Spending(model="scripted:rule", calls=100),
        model=RuleModel(reply),
        out=tmp_path,
    )
    assert found["arms"]["overwrite"]["score"] >= found["arms"]["none"]["score"] == 0.5
    assert found["arms"]["overwrite"]["calls"] == 4
    assert found["spent"]["calls"] == 2 * (2 + 4 + 2)
