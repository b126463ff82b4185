"""`tenure demo`: the tour says who acts, week by week what happened, and why."""

from __future__ import annotations

import re
from pathlib import Path

from tests.serving.cli.conftest import Cli


def test_the_tour_says_that_the_agent_is_scripted_and_shows_every_week(cli: Cli, folder: Path) -> None:
    answer = cli("demo")
    assert answer.code == 0
    assert "The agent is scripted" in answer.out
    weeks = re.findall(r"^week (\d+) +(closed|failed) +(closed|failed) +(closed|failed)", answer.out, re.MULTILINE)
    assert [int(number) for number, *_ in weeks] == list(range(1, 13))
    assert {alone for _, alone, _, _ in weeks} == {"failed"}
    assert weeks[-1][3] == "closed"
    assert "Closed: 0 of 12 weeks without a memory" in answer.out
    assert "from week 1, step" in answer.out
    assert list(folder.iterdir()) == []


def test_json_has_weeks_and_lessons(cli: Cli) -> None:
    found = cli("demo", "--weeks", "3", "--json").json
    assert found["agent"] == "scripted clerk"
    assert [week["number"] for week in found["weeks"]] == [1, 2, 3]
    assert all(lesson["evidence"] for lesson in found["lessons"])


def test_a_setting_for_a_model_does_not_put_one_to_work(cli: Cli) -> None:
    assert cli("demo", "--weeks", "1", "--json", TENURE_MODEL="openai:gpt-4o").json["agent"] == "scripted clerk"
