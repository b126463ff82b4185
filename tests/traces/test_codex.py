"""What Codex writes into its session logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces.logs import read_lines, told


def meta(session: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-03T10:00:00Z", "type": "session_meta", "payload": {"id": session, **fields}}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-03T10:00:01Z", "type": "response_item", "payload": {"type": kind, **fields}}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-03T10:00:02Z", "type": "event_msg", "payload": {"type": kind, **fields}}


def said(text: str, role: str = "user") -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "input_text" if role == "user" else "output_text", "text": text}])


def call(call_id: str = "c1") -> dict[str, Any]:
    return item("function_call", name="exec_command", arguments='{"cmd": "make"}', call_id=call_id)


def output(value: Any, call_id: str = "c1") -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=value)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


FREE = "Exit code: {}\nWall time: 0.1 seconds\nOutput:\n{}"
UNIFIED = "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code {}\nOriginal token count: 3\nOutput:\n{}"


@pytest.mark.parametrize(
    ("value", "content", "error"),
    [
        (FREE.format(0, "ok"), "ok", ""),
        (FREE.format(2, "no rule"), "no rule", "Exit code 2\nno rule"),
        (FREE.format(1, ""), "", "Exit code 1"),
        (UNIFIED.format(0, "ok"), "ok", ""),
        (UNIFIED.format(127, "not found"), "not found", "Exit code 127\nnot found"),
        (UNIFIED.format(0, "Error: printed by a program that went well"), "Error: printed by a program that went well", ""),
        (UNIFIED.format(0, "Exit code: 1\nProcess exited with code 1\n"), "Exit code: 1\nProcess exited with code 1\n", ""),
        ("Exit code: 3\nWall time: 0 seconds\nOutput:", "", "Exit code 3"),
        ("Chunk ID: a\nWall time: 9 seconds\nProcess running with session ID 7\nOutput:\nstarting", "starting", ""),
        (json.dumps({"output": "ok", "metadata": {"exit_code": 0}}), "ok", ""),
        (json.dumps({"output": "bad", "metadata": {"exit_code": 1}}), "bad", "Exit code 1\nbad"),
        ({"content": "no rights", "success": False}, "no rights", "no rights"),
        ({"content": "Error: fine", "success": True}, "Error: fine", ""),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:"}, {"type": "input_text", "text": "b"}],
            "a\nb",
            "",
        ),
        (
            "apply_patch verification failed: no such lines",
            "apply_patch verification failed: no such lines",
            "apply_patch verification failed: no such lines",
        ),
        (
            "failed to parse function arguments: missing `cmd`",
            "failed to parse function arguments: missing `cmd`",
            "failed to parse function arguments: missing `cmd`",
        ),
        ("unsupported call: fly", "unsupported call: fly", "unsupported call: fly"),
        ('{"error": "no such issue"}', '{"error": "no such issue"}', "no such issue"),
        ("3 tests failed: see above", "3 tests failed: see above", ""),
    ],
)
def test_an_output_is_an_error_by_exit_code_or_by_the_hosts_words(value: Any, content: str, error: str, log: Path) -> None:
    runs, _ = read_lines(log, [meta("s"), call(), output(value)])
    result = runs[0].steps[-1]
    assert (result.kind, result.name, result.content, result.error) == ("tool_result", "exec_command", content, error)


def test_an_exit_code_that_only_the_screen_log_has_counts(log: Path) -> None:
    runs, _ = read_lines(log, [meta("s"), call(), event("exec_command_end", call_id="c1", exit_code=9), output("killed")])
    assert runs[0].steps[-1].error == "Exit code 9\nkilled"


@pytest.mark.parametrize("words", ["exec command rejected by user", "aborted by user after 3.2s", "aborted"])
def test_a_refusal_is_a_persons_word_and_no_tool_error(words: str, log: Path) -> None:
    runs, _ = read_lines(log, [meta("s"), call(), output(words)])
    assert told(runs[0].steps) == [("tool_call", ""), ("refused", words)]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>x</cwd>",
        "<user_instructions>be brief",
        "# AGENTS.md instructions for /srv\n\nx",
        "<permissions instructions>x",
        "<skill>\nx",
    ],
)
def test_what_the_host_put_there_is_never_the_task(text: str, log: Path) -> None:
    runs, _ = read_lines(log, [meta("s"), said(text), said("fix the build"), said("sure", "assistant")])
    assert told(runs[0].steps) == [("injected", text), ("user", "fix the build"), ("assistant", "sure")]
    assert runs[0].task.text == "fix the build"


def test_the_screen_log_names_the_task_where_the_model_log_does_not(log: Path) -> None:
    runs, _ = read_lines(log, [meta("s"), event("user_message", message="fix the build"), call()])
    assert runs[0].task.text == "fix the build"


def test_a_fork_is_one_run_under_its_own_id(log: Path) -> None:
    runs, _ = read_lines(log, [meta("child", forked_from_id="parent"), meta("parent"), said("one"), meta("parent"), said("two")])
    assert [(run.id, len(run.steps)) for run in runs] == [("codex:child", 2)]


def test_logs_joined_in_one_file_are_told_apart(log: Path) -> None:
    runs, _ = read_lines(log, [meta("a"), said("one"), meta("a"), said("more"), meta("b"), said("two")])
    assert [(run.id, run.task.text, len(run.steps)) for run in runs] == [("codex:a", "one", 2), ("codex:b", "two", 1)]


def test_the_task_of_a_sub_agent_is_not_a_persons_word(log: Path) -> None:
    runs, _ = read_lines(log, [meta("s", source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}), said("look for bugs")])
    origin = runs[0].steps[0].origin
    assert origin
    assert not origin.trusted


def test_a_record_that_is_there_twice_counts_once_and_a_call_id_can_be_used_again(log: Path) -> None:
    runs, report = read_lines(
        log, [meta("s"), call(), call(), output(FREE.format(0, "a")), output(FREE.format(0, "a")), output(FREE.format(0, "b"))]
    )
    assert told(runs[0].steps) == [("tool_call", ""), ("tool_result", "a"), ("tool_result", "b")]
    assert report.repairs["record that was there twice"] == 2


def test_arguments_that_are_no_json_object_stand_verbatim(log: Path) -> None:
    patch = item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="p")
    broken = item("function_call", name="shell", arguments='{"command": [', call_id="q")
    runs, _ = read_lines(log, [meta("s"), patch, broken])
    assert [(dict(step.arguments), step.content) for step in runs[0].steps] == [({}, "*** Begin Patch"), ({}, '{"command": [')]


def test_times_run_from_the_first_record_to_the_last(log: Path) -> None:
    runs, _ = read_lines(log, [meta("s"), said("one"), event("token_count")])
    assert (runs[0].started, runs[0].steps[0].at, runs[0].ended) == ("2026-03-03T10:00:00Z", "2026-03-03T10:00:01Z", "2026-03-03T10:00:02Z")
