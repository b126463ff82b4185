"""Chat logs in the many shapes in which people keep them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure.traces import ReadReport, read_runs
from tests.traces.logs import read_lines, told

ASKED = {"role": "user", "content": "Refund order 4711; the customer was charged twice."}
DONE = {"role": "assistant", "content": "Done."}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "chats.jsonl"


@pytest.mark.parametrize(
    ("fields", "success", "score", "signal"),
    [
        ({}, None, None, "none"),
        ({"reward": 1.0}, True, 1.0, "environment"),
        ({"reward": 0}, False, 0.0, "environment"),
        ({"score": 0.7}, True, 0.7, "environment"),
        ({"score": "0.2"}, False, 0.2, "environment"),
        ({"success": False, "score": 0.9}, False, 0.9, "environment"),
        ({"success": "yes"}, True, 1.0, "environment"),
        ({"outcome": "success"}, True, 1.0, "environment"),
        ({"outcome": "Failed"}, False, 0.0, "environment"),
        ({"outcome": True}, True, 1.0, "environment"),
        ({"outcome": "refunded"}, None, None, "none"),
        ({"outcome": {"success": True, "signal": "test"}}, True, 1.0, "test"),
        ({"outcome": {"score": 0.1, "signal": "rumour"}}, False, 0.1, "environment"),
        ({"metadata": {"reward": 1, "signal": "label"}}, True, 1.0, "label"),
        ({"reward": 7}, None, None, "none"),
        ({"reward": -1}, None, None, "none"),
        ({"reward": "high"}, None, None, "none"),
        ({"reward": None}, None, None, "none"),
    ],
)
def test_an_outcome_is_read_where_the_log_has_one(
    fields: dict[str, Any], success: bool | None, score: float | None, signal: str, log: Path
) -> None:
    runs, _ = read_lines(log, [{"messages": [ASKED, DONE], **fields}])
    outcome = runs[0].outcome
    assert (outcome.success, outcome.score, outcome.signal) == (success, score, signal)


def test_a_score_out_of_range_is_left_undecided_and_counted(log: Path) -> None:
    runs, report = read_lines(log, [{"messages": [ASKED, DONE], "reward": 7}])
    assert runs[0].outcome.feedback == "score 7"
    assert report.repairs["score outside 0 to 1 left undecided"] == 1


@pytest.mark.parametrize(
    ("fields", "text", "kind", "key"),
    [
        ({"task": "Refund one order"}, "Refund one order", "", ""),
        ({"task": "refund-1"}, ASKED["content"], "", "refund-1"),
        ({"task": {"input": "Refund it", "kind": "refund", "id": 7}}, "Refund it", "refund", "7"),
        ({"task_id": "airline-3"}, ASKED["content"], "", "airline-3"),
    ],
)
def test_a_task_is_read_where_the_log_names_it(fields: dict[str, Any], text: str, kind: str, key: str, log: Path) -> None:
    runs, _ = read_lines(log, [{"messages": [ASKED, DONE], **fields}])
    assert (runs[0].task.text, runs[0].task.kind, runs[0].task.key) == (text, kind, key)


def test_two_attempts_at_the_same_words_share_a_key_and_short_greetings_do_not(log: Path) -> None:
    hello = {"role": "user", "content": "Hi there!"}
    runs, _ = read_lines(log, [{"messages": messages} for messages in ([ASKED, DONE], [ASKED], [hello, DONE], [hello])])
    assert runs[0].task.key == runs[1].task.key != ""
    assert runs[2].task.key == runs[3].task.key == ""


def test_content_blocks_of_other_apis_are_read(log: Path) -> None:
    messages = [
        ASKED,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "t", "name": "refund", "input": {"order": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "no such order"}], "is_error": True},
                {"type": "text", "text": "no, 4711"},
            ],
        },
    ]
    runs, _ = read_lines(log, [{"messages": messages}])
    assert told(runs[0].steps)[1:] == [
        ("thought", "hm"),
        ("assistant", "I will."),
        ("tool_call", ""),
        ("tool_result", "no such order"),
        ("user", "no, 4711"),
    ]
    assert (runs[0].steps[4].name, runs[0].steps[4].error) == ("refund", "no such order")


def test_the_reply_of_a_logged_api_call_belongs_to_the_conversation(log: Path) -> None:
    runs, _ = read_lines(log, [{"messages": [ASKED], "response": {"choices": [{"message": DONE}]}}])
    assert told(runs[0].steps)[-1] == ("assistant", "Done.")


def test_a_list_of_messages_is_one_conversation_and_a_list_of_lists_is_many(tmp_path: Path) -> None:
    path = tmp_path / "chats.json"
    path.write_text(json.dumps([ASKED, DONE], indent=2))
    assert [len(run.steps) for run in read_runs(path, report=ReadReport())] == [2]
    path.write_text(json.dumps([[ASKED, DONE], [ASKED]]))
    assert [len(run.steps) for run in read_runs(path, report=ReadReport())] == [2, 1]
    path.write_text(json.dumps({"messages": [ASKED, DONE], "reward": 1}, indent=2))
    assert [run.outcome.success for run in read_runs(path, report=ReadReport())] == [True]


def test_single_messages_are_put_together_by_their_conversation(log: Path) -> None:
    runs, _ = read_lines(
        log,
        [{**ASKED, "conversation_id": "conv-0001"}, {**ASKED, "conversation_id": "conv-0002"}, {**DONE, "conversation_id": "conv-0001"}],
    )
    assert [(run.session, len(run.steps)) for run in runs] == [("conv-0001", 2), ("conv-0002", 1)]


def test_a_conversation_with_an_id_keeps_it_when_it_grows_and_row_numbers_are_no_ids(log: Path) -> None:
    first, _ = read_lines(log, [{"messages": [ASKED], "session_id": "conv-0001"}])
    second, _ = read_lines(log, [{"messages": [ASKED, DONE], "session_id": "conv-0001"}])
    assert first[0].id == second[0].id
    rows, _ = read_lines(log, [{"messages": [ASKED], "session_id": 1}, {"messages": [ASKED, DONE], "session_id": 1}])
    assert rows[0].id != rows[1].id


def test_what_is_no_message_is_counted_and_the_rest_is_read(log: Path) -> None:
    runs, report = read_lines(log, [{"messages": [ASKED, 7, {"role": "ghost", "content": "x"}, DONE]}, {"messages": []}, {"usage": 1}])
    assert [len(run.steps) for run in runs] == [2]
    assert report.unknown_kinds["openai-chat:message without a known role"] == 2
    assert report.unknown_kinds["openai-chat:record without messages"] == 1
    assert [(place.number, place.reason) for place in report.unreadable] == [(2, "holds no messages")]
