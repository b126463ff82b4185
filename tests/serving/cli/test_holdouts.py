"""`tenure holdouts`, and what `context` and `show` say of draws and of age."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.playbook.holdout import fate, is_holdout_run
from tests.serving.cli.conftest import Cli, write_operations

HELD_OUT = next(run for run in map("run-{}".format, range(99)) if is_holdout_run(run, 0.1) and fate(run, "tr-00001", "holdout") < 0.25)
"""A run that the first lesson is left out of."""


@pytest.fixture
def drawn(cli: Cli, folder: Path) -> None:
    """A scope with hold-outs on, and 100 runs in which a lesson that harms and one that does nothing were drawn."""
    adds = [
        {"op": "ADD", "id": f"tr-{at:05}", "section": "tool rules", "kind": "tool_rule", "author": "extractive", "text": text}
        for at, text in enumerate(("Send dates as written.", "Book line by line.", "Round to cents."), 1)
    ]
    assert cli("apply", write_operations(folder, *adds)).code == 0
    runs = []
    for number in range(100):
        first, other = number % 4 == 0, number % 3 == 0
        draws = [
            {"lesson": "tr-00001", "withheld": first, "chance": 0.25},
            {"lesson": "tr-00002", "withheld": other, "chance": 0.25},
            *([{"lesson": "tr-00003", "withheld": number % 2 == 0, "chance": 0.25}] if number < 16 else []),
        ]
        outcome = {"success": first or number % 10 == 1, "signal": "test"}
        runs.append(json.dumps({"id": f"r{number:03}", "task": "book it", "steps": [], "draws": draws, "outcome": outcome}))
    (folder / "runs.jsonl").write_text("\n".join(runs), encoding="utf-8")
    assert cli("learn", "runs.jsonl").code == 0
    assert cli("config", "set", "holdout.enabled", "on").code == 0


def test_what_a_person_reads(cli: Cli, drawn: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/holdouts.txt", cli("holdouts").steady)


def test_json_says_lift_interval_power_group_and_finding(cli: Cli, drawn: None) -> None:
    found = cli("holdouts", "--json").json
    assert (found["enabled"], found["share"], found["gradual"]) == (True, 0.1, False)
    harmful = next(one for one in found["lessons"] if one["id"] == "tr-00001")
    assert (harmful["finding"], harmful["status"], harmful["shown"] + harmful["withheld"] <= 100) == ("harms", "retired", True)
    assert harmful["interval"][1] < 0
    assert harmful["deciding_interval"][1] < 0
    assert harmful["detectable"] > 0.1
    thin = next(one for one in found["lessons"] if one["id"] == "tr-00003")
    assert (thin["finding"], thin["shown"], thin["withheld"]) == ("not enough data", 8, 8)
    assert thin["said"].startswith("not enough data: 8 runs with it and 8 without")
    assert {one["group"] for one in found["lessons"]} == {"tool rules / tool rule"}
    assert thin["pooled"]["lessons"] == 2


def test_a_scope_without_draws_says_how_to_begin(cli: Cli, playbook: None) -> None:
    answer = cli("holdouts")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "Hold-outs are off in this scope. Turn them on: tenure config set holdout.enabled on\n"
    cli("config", "set", "holdout.enabled", "on")
    assert cli("holdouts").err == "Hold-outs are on; no lesson has been drawn in a run yet.\n"


def test_a_lesson_says_what_its_draws_and_its_age_say(cli: Cli, drawn: None) -> None:
    page = cli("show", "tr-00002").out
    assert "hold-outs" in page
    assert "180 days, confirmed today" in page
    found = cli("show", "tr-00002", "--json").json
    assert found["holdout"]["id"] == "tr-00002"
    assert found["shelf_life"]["past"] is False
    record = found["track_record"]
    assert {"support", "contradictions", "cited", "shown", "withheld", "would_have_been_right", "last_seen", "helpful"} <= set(record)
    assert {"mean", "lower", "upper"} <= set(record["usefulness"])


def test_explain_names_what_was_left_out_of_a_run_and_why(cli: Cli, folder: Path) -> None:
    learned = {"op": "ADD", "id": "tr-00001", "section": "s", "author": "extractive", "text": "Send dates as written."}
    cli("apply", write_operations(folder, learned))
    cli("config", "set", "holdout.enabled", "on")
    assert "Hold-outs are on; without the id of a run nothing is held out." in cli("context", "send it", "--explain").out
    said = cli("context", "send it", "--run", HELD_OUT, "--explain")
    assert "held out to see whether it makes a difference" in " ".join(said.out.split())
    found = cli("context", "send it", "--run", HELD_OUT, "--json").json
    assert [(one["id"], one["why"], one["part"]) for one in found["withheld"]] == [("tr-00001", "holdout", "core")]
    assert found["draws"] == [
        {"lesson": "tr-00001", "withheld": True, "chance": 0.25, "reason": "holdout", "text": found["draws"][0]["text"]}
    ]
    assert found["lessons"] == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("holdout.share", "0.5", "it must be above 0 and at most 0.25"),
        ("holdout.enabled", "yes", "it must be on or off"),
        ("shelf_life", "prices", "it must name kinds or sections with days from 0 to 36500, such as tool_rule=90, prices=30"),
    ],
)
def test_a_value_outside_its_range_is_refused_with_the_range(cli: Cli, name: str, value: str, said: str) -> None:
    answer = cli("config", "set", name, value)
    assert answer.code == 2
    assert said in answer.err
