"""Tenure's own format: documented by a schema, and read as it was written."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.playbook.run import Origin, Run, Step, Task
from tenure.traces import ReadReport, detect, read_runs, write_runs
from tests.traces.strategies import runs

DATA = Path(__file__).resolve().parent / "data"
SCHEMA = json.loads((files("tenure.traces") / "run.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

with_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path, content: str, **options: Any) -> tuple[list[Run], ReadReport]:
    path.write_bytes(content.encode())
    report = ReadReport()
    return list(read_runs(path, report=report, **options)), report


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@with_a_folder
@given(st.lists(runs, min_size=1, max_size=4))
def test_runs_are_read_as_they_were_written(tmp_path: Path, given_runs: list[Run]) -> None:
    path = tmp_path / "runs.jsonl"
    got, report = read(path, "".join(write_runs(given_runs)))
    assert got == given_runs
    assert detect(path) == "tenure"
    assert report.count == 0
    assert not report.unknown_kinds


@given(runs)
def test_what_is_written_fits_the_schema(run: Run) -> None:
    (line,) = write_runs([run])
    assert line.endswith("\n")
    assert "\n" not in line[:-1]
    VALIDATOR.validate(json.loads(line))


@pytest.mark.parametrize("line", (DATA / "tenure.jsonl").read_text(encoding="utf-8").splitlines())
def test_the_example_fits_the_schema(line: str) -> None:
    VALIDATOR.validate(json.loads(line))


def test_lone_surrogates_are_written_as_replacement_characters(tmp_path: Path) -> None:
    run = Run(id="r", task=Task(text="a\ud800b"))
    got, _ = read(tmp_path / "runs.jsonl", "".join(write_runs([run])))
    assert got[0].task.text == "a\ufffdb"


def test_long_texts_stay_whole(tmp_path: Path) -> None:
    run = Run(id="r", task=Task(text="t"), steps=(Step(kind="tool_result", content="x" * 300_000),))
    assert read(tmp_path / "runs.jsonl", "".join(write_runs([run])))[0] == [run]


def test_a_scope_that_is_given_replaces_that_of_the_run(tmp_path: Path) -> None:
    run = Run(id="r", task=Task(text="t"), scope="theirs")
    lines = "".join(write_runs([run]))
    assert read(tmp_path / "runs.jsonl", lines)[0] == [run]
    assert read(tmp_path / "runs.jsonl", lines, scope="ours")[0] == [replace(run, scope="ours")]


def test_a_line_made_by_hand_needs_only_task_and_steps(tmp_path: Path) -> None:
    line = '{"task": "close week 7", "steps": [{"kind": "message", "role": "user", "content": "close week 7"}]}\n'
    VALIDATOR.validate(json.loads(line))
    got, _ = read(tmp_path / "runs.jsonl", line)
    assert got[0].task == Task(text="close week 7")
    assert got[0].origin == Origin()
    assert got[0].id == read(tmp_path / "again.jsonl", line)[0][0].id


MALFORMED = [
    ({"steps": []}, "has no 'task'"),
    ({"task": 7, "steps": []}, "field 'task' is not an object"),
    ({"task": {"text": 7}, "steps": []}, "field 'task.text' is not a text"),
    ({"task": "t", "steps": {}}, "field 'steps' is not a list"),
    ({"task": "t", "steps": [7]}, "'steps[0]' is not an object"),
    (
        {"task": "t", "steps": [{"kind": "message"}, {"kind": "chat"}]},
        "field 'steps[1].kind' is none of message, thought, tool_call, tool_result, event",
    ),
    ({"task": "t", "steps": [{"kind": "message", "content": ["a"]}]}, "field 'steps[0].content' is not a text"),
    ({"task": "t", "steps": [{"kind": "tool_call", "arguments": "a"}]}, "field 'steps[0].arguments' is not an object"),
    ({"task": "t", "steps": [{"kind": "message", "origin": {"trusted": "yes"}}]}, "field 'steps[0].origin.trusted' is not true or false"),
    ({"task": "t", "steps": [], "outcome": {"success": "yes"}}, "field 'outcome.success' is not true or false"),
    ({"task": "t", "steps": [], "outcome": {"score": 1.5}}, "field 'outcome.score' is not a number from 0 to 1"),
    ({"task": "t", "steps": [], "outcome": {"score": True}}, "field 'outcome.score' is not a number from 0 to 1"),
    ({"task": "t", "steps": [], "outcome": {"signal": "rumour"}}, "field 'outcome.signal' is not known"),
    ({"task": "t", "steps": [], "cited": ["a", 7]}, "field 'cited' is not a list of texts"),
    ({"task": "t", "steps": [], "id": 7}, "field 'id' is not a text"),
    ({"task": "t", "steps": [], "tenure_run": 2}, "is in a newer version of the format; update Tenure"),
    ({"task": "t", "steps": [], "tenure_run": "1"}, "field 'tenure_run' is not 1"),
]


@pytest.mark.parametrize(("record", "reason"), MALFORMED)
def test_a_malformed_line_is_named_and_the_rest_goes_on(record: dict[str, Any], reason: str, tmp_path: Path) -> None:
    good = "".join(write_runs([Run(id="good", task=Task(text="t"))]))
    got, report = read(tmp_path / "runs.jsonl", json.dumps(record) + "\n" + good, format="tenure")
    assert [run.id for run in got] == ["good"]
    assert [(place.number, place.reason) for place in report.unreadable] == [(1, reason)]
    assert not VALIDATOR.is_valid(record)


def test_unknown_fields_are_counted(tmp_path: Path) -> None:
    line = '{"task": {"text": "t", "sort": "x"}, "steps": [{"kind": "event", "colour": 1}], "outcome": {"sucess": true}, "model": "m"}\n'
    _, report = read(tmp_path / "runs.jsonl", line)
    assert dict(report.unknown_kinds) == {
        "tenure:field model": 1,
        "tenure:field task.sort": 1,
        "tenure:field outcome.sucess": 1,
        "tenure:field steps.colour": 1,
    }
