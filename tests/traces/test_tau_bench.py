"""Result files of tau-bench, also where fields are missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure.playbook.run import Run
from tenure.traces import ReadReport, read_runs
from tests.traces.logs import read_lines, told

TRAJ = [
    {"role": "system", "content": "# Retail agent policy\n\nBe kind."},
    {"role": "user", "content": "Where is my order?"},
    {"role": "assistant", "content": "On its way."},
]


def read(path: Path, *records: Any) -> tuple[list[Run], ReadReport]:
    path.write_text(json.dumps(records))
    report = ReadReport()
    return list(read_runs(path, report=report)), report


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results.json"


@pytest.mark.parametrize(
    ("fields", "success", "score"),
    [
        ({"reward": 1.0}, True, 1.0),
        ({"reward": 1}, True, 1.0),
        ({"reward": 0.0}, False, 0.0),
        ({"reward": 0.5}, False, 0.5),
        ({"reward": None}, None, None),
        ({}, None, None),
        ({"info": {"reward_info": {"reward": 1.0}}}, True, 1.0),
        ({"reward": 3}, None, None),
        ({"reward": 0.0, "info": {"error": "crashed at the last step"}}, False, 0.0),
    ],
)
def test_only_the_full_reward_is_a_success(fields: dict[str, Any], success: bool | None, score: float | None, results: Path) -> None:
    runs, _ = read(results, {"task_id": 0, "traj": TRAJ, **fields})
    outcome = runs[0].outcome
    assert (outcome.success, outcome.score) == (success, score)
    assert outcome.signal == ("none" if score is None else "environment")


def test_a_run_that_never_took_place_is_no_failure_of_the_agent(results: Path) -> None:
    runs, _ = read(results, {"task_id": 0, "traj": [], "reward": 0.0, "info": {"error": "RateLimitError: slow down\nTraceback"}})
    assert not runs[0].outcome.known
    assert runs[0].outcome.feedback == "the run did not take place: RateLimitError: slow down"


def test_only_the_steps_are_needed(results: Path) -> None:
    runs, report = read(results, {"traj": TRAJ}, {"task_id": 1, "reward": 1}, {"traj": "none"})
    assert [(run.task.text, run.task.kind, run.task.key) for run in runs] == [("Where is my order?", "retail-agent-policy", "")]
    assert [(place.number, place.reason) for place in report.unreadable] == [(2, "has no list 'traj'"), (3, "has no list 'traj'")]


def test_attempts_at_a_task_share_its_key_and_domains_do_not(results: Path) -> None:
    def record(trial: int, instruction: str | None, policy: str = "# A") -> dict[str, Any]:
        opening = [{"role": "system", "content": policy}, {"role": "user", "content": f"said in other words each time, {trial}"}]
        return {"task_id": 3, "trial": trial, "traj": opening, "info": {"task": {"instruction": instruction}}}

    runs, _ = read(results, record(0, "fly"), record(1, "fly"), record(0, "buy"), record(0, None), record(1, None), record(0, None, "# B"))
    keys = [run.task.key for run in runs]
    assert keys[0] == keys[1]
    assert keys[3] == keys[4]
    assert len(set(keys)) == 4
    assert all(key.startswith("tau:") and key.endswith(":3") for key in keys)


def test_ids_follow_the_content_and_not_its_layout(results: Path) -> None:
    record = {"task_id": 3, "trial": 0, "reward": 1.0, "traj": TRAJ}
    compact, _ = read(results, record)
    results.write_text(json.dumps([dict(reversed(record.items()))], indent=4))
    assert [run.id for run in read_runs(results, report=ReadReport())] == [compact[0].id]
    other, _ = read(results, {**record, "trial": 1})
    assert other[0].id != compact[0].id


def test_results_are_read_from_lines_too(tmp_path: Path) -> None:
    runs, _ = read_lines(tmp_path / "results.jsonl", [{"task_id": n, "reward": n, "traj": TRAJ} for n in (0, 1)])
    assert [run.outcome.success for run in runs] == [False, True]


def test_actions_written_as_text_are_calls(results: Path) -> None:
    traj = [
        TRAJ[0],
        TRAJ[1],
        {"role": "assistant", "content": 'Thought:\nLook it up.\nAction:\n{"name": "find_order", "arguments": {"id": "#7"}}'},
        {"role": "user", "content": "API output: Error: order not found"},
        {"role": "assistant", "content": 'Action:\n{"name": "respond", "arguments": {"content": "Which number?"}}'},
        {"role": "user", "content": "API output: is what I typed"},
    ]
    runs, _ = read(results, {"task_id": 0, "traj": traj})
    steps = runs[0].steps
    assert [kind for kind, _ in told(steps)] == ["system", "user", "assistant", "tool_call", "tool_result", "assistant", "user"]
    assert (steps[3].name, dict(steps[3].arguments)) == ("find_order", {"id": "#7"})
    assert (steps[4].name, steps[4].error) == ("find_order", "Error: order not found")
