"""Every format, told by its content and read to the same kind of run."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.playbook.run import Run
from tenure.traces import FORMATS, ReadReport, detect, read_runs
from tests.traces.rendering import rendered
from tests.traces.strategies import damaged

DATA = Path(__file__).resolve().parent / "data"

FILES = {
    "claude-code.jsonl": "claude-code",
    "claude-code-agent.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "codex-old.jsonl": "codex",
    "openai-chat.jsonl": "openai-chat",
    "openai-chat.json": "openai-chat",
    "openai-messages.jsonl": "openai-chat",
    "otlp-genai.jsonl": "otlp",
    "otlp-openinference.json": "otlp",
    "otlp-spans.jsonl": "otlp",
    "tau-bench.json": "tau-bench",
    "tenure.jsonl": "tenure",
}

LINE_FILES = [name for name in FILES if name.endswith(".jsonl")]
SESSION_FILES = ["claude-code.jsonl", "claude-code-agent.jsonl", "codex.jsonl", "codex-old.jsonl"]


def runs_of(path: Path, **options: Any) -> list[Run]:
    return list(read_runs(path, report=ReadReport(), **options))


def test_every_fixture_is_listed() -> None:
    assert {path.name for path in DATA.iterdir()} == set(FILES)
    assert set(FILES.values()) == set(FORMATS)


@pytest.mark.parametrize("name", FILES)
def test_a_file_becomes_these_runs(name: str, golden: Callable[[str, str], None]) -> None:
    report = ReadReport()
    runs = rendered(read_runs(DATA / name, report=report))
    golden(f"traces/{name}.txt", f"{runs}\n{report.summary().replace(str(DATA), 'DATA')}\n")


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_told_by_content_and_not_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes((DATA / name).read_bytes())
    assert detect(path) == FILES[name]
    assert runs_of(path) == runs_of(DATA / name)


@pytest.mark.parametrize("name", LINE_FILES)
def test_a_format_is_told_behind_broken_lines(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"not json\n{\xff\n[1]\n\x00\x00\n" + (DATA / name).read_bytes())
    assert detect(path) == FILES[name]
    assert runs_of(path) == runs_of(DATA / name)


@pytest.mark.parametrize("name", LINE_FILES)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_line_ends_and_marks_of_other_systems_change_nothing(name: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(start + (DATA / name).read_bytes().replace(b"\n", b"\r\n"))
    assert runs_of(path) == runs_of(DATA / name)


@pytest.mark.parametrize(
    "content",
    [
        b"# Notes\n\nplain text\n",
        b'{"a": 1}\n{"b": 2}\n',
        b"[1, 2, 3]\n",
        b'{"name": "web", "type": "module"}\n',
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"[]",
    ],
)
def test_a_file_that_holds_no_runs_is_told_so(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert detect(path) is None


@pytest.mark.parametrize("name", SESSION_FILES)
def test_a_session_that_grows_keeps_its_id_and_its_first_steps(name: str, tmp_path: Path) -> None:
    lines = (DATA / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / "log"
    before: dict[str, Run] = {}
    for length in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:length]))
        now = {run.id: run for run in runs_of(path, format=FILES[name])}
        assert set(before) <= set(now)
        for run_id, run in before.items():
            assert now[run_id].steps[: len(run.steps)] == run.steps
        before = now
    assert set(before) == {run.id for run in runs_of(DATA / name)}


@pytest.mark.parametrize("name", FILES)
def test_ids_do_not_depend_on_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    path.write_bytes((DATA / name).read_bytes())
    ids = [run.id for run in runs_of(path)]
    assert ids == [run.id for run in runs_of(DATA / name)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", FILES)
def test_only_persons_and_operators_are_trusted(name: str) -> None:
    for run in runs_of(DATA / name):
        for step in run.steps:
            if FILES[name] == "tenure" or step.origin is None:
                continue
            assert step.origin.trusted == (step.origin.channel in ("chat", "system"))
            if step.kind == "tool_result":
                assert step.origin.channel == "tool"
                assert step.origin.document == step.name


@pytest.mark.parametrize("name", ["claude-code.jsonl", "codex.jsonl"])
def test_a_session_shows_a_cured_error_and_a_correction(name: str) -> None:
    main = runs_of(DATA / name)[0]
    said = [
        step.content
        for step in main.steps
        if step.kind == "message" and step.role == "user" and step.origin and step.origin.channel == "chat"
    ]
    assert "no, use pnpm not npm" in said
    assert said[0] == main.task.text
    failed = [place for place, step in enumerate(main.steps) if step.error]
    assert failed
    for place in failed[:2]:
        later = [step for step in main.steps[place + 1 :] if step.kind == "tool_result" and step.name == main.steps[place].name]
        assert later
        assert not later[0].error


@pytest.mark.parametrize("name", FILES)
def test_nothing_that_tenure_injected_is_read(name: str) -> None:
    assert "<tenure-context" not in rendered(runs_of(DATA / name))


def test_runs_are_handed_out_while_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    line = (DATA / "openai-chat.jsonl").read_text().splitlines()[0] + "\n"
    path.write_text(line * 5_000)
    report = ReadReport()
    assert len(list(islice(read_runs(path, report=report), 3))) == 3
    assert report.runs == 3


no_fixture_trouble = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@no_fixture_trouble
@given(st.data())
@pytest.mark.parametrize("name", FILES)
def test_no_shape_of_a_record_stops_a_reader(name: str, tmp_path: Path, data: st.DataObject) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    records = json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    for _ in range(3):
        place = data.draw(st.integers(0, len(records) - 1))
        records[place] = data.draw(damaged(records[place]))
    path = tmp_path / "log"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    for run in runs_of(path, format=FILES[name]):
        assert run.id
        assert isinstance(run.task.text, str)
        json.dumps([dict(step.arguments) for step in run.steps])
        assert all(isinstance(text, str) for step in run.steps for text in (step.content, step.error, step.name, step.call_id, step.at))
    list(read_runs(path, report=ReadReport()))


@no_fixture_trouble
@given(st.data())
@pytest.mark.parametrize("name", FILES)
def test_no_damage_to_the_bytes_stops_a_reader(name: str, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray((DATA / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 200))] = data.draw(
            st.binary(max_size=20) | st.sampled_from([b"\x00" * 50, b'"', b"\\", b"}\n{", b"[[[["])
        )
    path = tmp_path / "log"
    path.write_bytes(bytes(content))
    for named in (None, FILES[name]):
        report = ReadReport()
        runs = list(read_runs(path, format=named, report=report))
        assert report.runs == len(runs)
        "".join(str(run) for run in runs).encode()  # no lone surrogates
