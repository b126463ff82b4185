"""What Claude Code writes into a session log, and what of it was a person's word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.traces.logs import read_lines, told

REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected "
    "(eg. if it was a file edit, the new_string was NOT written to the file)."
)


def record(kind: str, uuid: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    message = {} if content is None else {"message": {"role": kind, "content": content}}
    return {"type": kind, "uuid": uuid, "parentUuid": None, "isSidechain": False, "sessionId": "s-1", **message, **fields}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.mark.parametrize(
    ("content", "steps"),
    [
        ("use pnpm", [("user", "use pnpm")]),
        ([{"type": "text", "text": "use"}, {"type": "text", "text": "pnpm"}], [("user", "use\npnpm")]),
        ("<system-reminder>be brief</system-reminder>", []),
        ("fix it\n<system-reminder>be brief</system-reminder>", [("user", "fix it")]),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nfix it", [("user", "fix it")]),
        ("[Request interrupted by user for tool use]", [("interrupted", "[Request interrupted by user for tool use]")]),
        (
            "[Request interrupted by user]\nno, the other file",
            [("interrupted", "[Request interrupted by user]"), ("user", "no, the other file")],
        ),
        ("<command-name>/review</command-name><command-args>PR 7</command-args>", [("command", "/review PR 7")]),
        ("<bash-input>ls</bash-input>", [("command", "ls")]),
        (
            "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>",
            [("command_output", "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>")],
        ),
        ("<task-notification>done</task-notification>", [("injected", "<task-notification>done</task-notification>")]),
        ("<b>bold</b> is what I want", [("user", "<b>bold</b> is what I want")]),
        ("why is [Request interrupted by user] in my log?", [("user", "why is [Request interrupted by user] in my log?")]),
    ],
)
def test_a_persons_words_are_told_from_the_hosts(content: Any, steps: list[tuple[str, str]], log: Path) -> None:
    runs, _ = read_lines(log, [record("assistant", "a", "ready"), record("user", "u", content)])
    assert told(runs[0].steps[1:]) == steps


@pytest.mark.parametrize(
    "fields",
    [{"isMeta": True}, {"isCompactSummary": True}, {"origin": {"kind": "coordinator"}}],
    ids=["meta", "summary", "another agent"],
)
def test_what_no_person_typed_is_never_the_task(fields: dict[str, Any], log: Path) -> None:
    runs, _ = read_lines(log, [record("user", "u1", "from the host", **fields), record("user", "u2", "from me")])
    assert runs[0].task.text == "from me"
    assert [step.kind for step in runs[0].steps] == ["event", "message"]


def test_a_command_is_the_task_where_nothing_else_was_typed(log: Path) -> None:
    command = record("user", "u1", "<command-name>/fix-issue</command-name><command-args>12</command-args>")
    runs, _ = read_lines(log, [command, record("assistant", "a1", "Done.")])
    assert runs[0].task.text == "/fix-issue 12"


@pytest.mark.parametrize(
    ("said", "then"), [("", []), (" To tell you how to proceed, the user said:\nnot on main", [("user", "not on main")])]
)
def test_a_refusal_is_a_persons_word_and_no_tool_error(said: str, then: list[tuple[str, str]], log: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git push"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": REFUSAL + said, "is_error": True}
    runs, _ = read_lines(log, [record("assistant", "a1", [call]), record("user", "u1", [result])])
    assert told(runs[0].steps) == [("tool_call", ""), ("refused", REFUSAL + said), *then]
    assert not any(step.error for step in runs[0].steps)
    assert all(step.origin and step.origin.trusted for step in runs[0].steps[1:])


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("[Request interrupted by user for tool use]", "interrupted"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
    ],
)
def test_a_call_that_was_stopped_is_no_tool_error(words: str, name: str, log: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": words, "is_error": True}
    runs, _ = read_lines(log, [record("assistant", "a1", [call]), record("user", "u1", [result])])
    assert told(runs[0].steps) == [("tool_call", ""), (name, words)]


def test_a_message_typed_during_the_work_is_read(log: Path) -> None:
    queued = record("attachment", "q1", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "no, use pnpm"})
    notice = record("attachment", "q2", attachment={"type": "queued_command", "commandMode": "task-notification", "prompt": "done"})
    runs, _ = read_lines(log, [record("user", "u1", "add zod"), queued, notice])
    assert told(runs[0].steps) == [("user", "add zod"), ("user", "no, use pnpm")]


def test_trouble_of_the_host_is_an_event_and_not_the_agents_word(log: Path) -> None:
    runs, _ = read_lines(
        log,
        [
            record("user", "u1", "go on"),
            record("assistant", "a1", [{"type": "text", "text": "API Error: 529 overloaded"}], isApiErrorMessage=True),
            record("system", "y1", subtype="api_error", error={"error": {"message": "overloaded"}}),
            {
                **record("assistant", "a2"),
                "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]},
            },
        ],
    )
    assert told(runs[0].steps) == [("user", "go on"), ("api_error", "API Error: 529 overloaded"), ("api_error", "overloaded")]


def test_side_chains_are_runs_of_their_own_whose_task_no_person_gave(log: Path) -> None:
    side = {"isSidechain": True}
    runs, _ = read_lines(
        log,
        [
            record("user", "u1", "review it"),
            record("user", "x1", "look for bugs", **side),
            record("user", "z1", "look for typos", **side),
            record("assistant", "x2", "a bug", **{**side, "parentUuid": "x1"}),
            record("assistant", "z2", "a typo", **{**side, "parentUuid": "z1"}),
            record("assistant", "a1", "one bug, one typo"),
        ],
    )
    assert [(run.id, run.task.text, run.session) for run in runs] == [
        ("claude-code:s-1", "review it", "s-1"),
        ("claude-code:s-1:agent:x1", "look for bugs", "s-1"),
        ("claude-code:s-1:agent:z1", "look for typos", "s-1"),
    ]
    assert [len(run.steps) for run in runs] == [2, 2, 2]
    assert [run.steps[0].origin.trusted for run in runs if run.steps[0].origin] == [True, False, False]


def test_sub_agents_with_equal_ids_in_two_sessions_are_told_apart(log: Path) -> None:
    side = {"isSidechain": True, "agentId": "a1"}
    runs, _ = read_lines(log, [record("user", "1", "one", **side), record("user", "2", "two", **{**side, "sessionId": "s-2"})])
    assert [run.id for run in runs] == ["claude-code:s-1:agent:a1", "claude-code:s-2:agent:a1"]


def test_a_record_that_is_there_twice_counts_once(log: Path) -> None:
    runs, report = read_lines(log, [record("user", "u1", "once"), record("user", "u1", "once"), record("user", "u2", "once")])
    assert len(runs[0].steps) == 2
    assert report.repairs["record that was there twice"] == 1


def test_a_log_without_session_ids_keeps_its_id_when_it_grows(log: Path) -> None:
    records = [record("user", "u1", "one"), record("assistant", "a1", "two")]
    for each in records:
        del each["sessionId"]
    first, _ = read_lines(log, records[:1])
    second, _ = read_lines(log, records)
    assert first[0].id == second[0].id


def test_a_recorded_stream_is_read_like_a_session(log: Path) -> None:
    runs, report = read_lines(
        log,
        [
            {"type": "system", "subtype": "init", "session_id": "s-9", "tools": ["Bash"], "uuid": "i"},
            {
                "type": "assistant",
                "session_id": "s-9",
                "uuid": "a",
                "message": {"content": [{"type": "tool_use", "id": "t", "name": "Agent", "input": {}}]},
            },
            {"type": "user", "session_id": "s-9", "uuid": "b", "parent_tool_use_id": "t", "message": {"content": "look"}},
            {"type": "assistant", "session_id": "s-9", "uuid": "c", "message": {"content": [{"type": "text", "text": "done"}]}},
            {"type": "result", "session_id": "s-9", "subtype": "success", "is_error": False, "result": "done"},
        ],
    )
    assert [(run.id, len(run.steps)) for run in runs] == [("claude-code:s-9", 2), ("claude-code:s-9:agent:t", 1)]
    assert not report.unknown_kinds


def test_unknown_records_and_blocks_are_counted_and_the_rest_is_read(log: Path) -> None:
    block = [{"type": "hologram"}, {"type": "text", "text": "hi"}, {"type": "image", "source": {}}]
    runs, report = read_lines(log, [record("assistant", "a1", block), record("telepathy", "t1")])
    assert told(runs[0].steps) == [("assistant", "hi")]
    assert dict(report.unknown_kinds) == {"claude-code:block hologram": 1, "claude-code:telepathy": 1}
    assert dict(report.repairs) == {"image left out": 1}


def test_a_log_in_which_nothing_was_said_holds_no_run(log: Path) -> None:
    assert read_lines(log, [{"type": "summary", "summary": "x", "leafUuid": "u"}, record("user", "u1", "caveat", isMeta=True)])[0] == []
