"""The functions for Anthropic's client, with the client itself and a scripted server behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import pytest

from tenure import Tenure
from tenure.frameworks.anthropic import acreate_message, create_message, message_request, record_message
from tests.frameworks.conftest import LESSON
from tests.frameworks.kept_runs import kept, told
from tests.frameworks.scripted_http import ScriptedServer, message

anthropic = pytest.importorskip("anthropic", reason="the client of Anthropic is not installed")

TASK = "refund order W2"
USER = {"role": "user", "content": TASK}
DONE = {"type": "text", "text": "done"}
MARKER = {"type": "ephemeral"}


def client_of(server: ScriptedServer) -> Any:
    return anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:1", http_client=server.client, max_retries=0)


def async_client_of(server: ScriptedServer) -> Any:
    return anthropic.AsyncAnthropic(api_key="k", base_url="http://127.0.0.1:1", http_client=server.async_client, max_retries=0)


def sent(book: Tenure, **request: Any) -> dict[str, Any]:
    """What one call sends."""
    server = ScriptedServer(message(DONE))
    with book.run(TASK) as run:
        create_message(client_of(server), run, **{"model": "m", "max_tokens": 9, "messages": [USER], **request})
        run.finish(success=True)
    return server.requests[0]


# -- where the lessons stand ---------------------------------------------------------------------------


def test_the_stable_part_ends_the_system_prompt_with_a_marker(book: Tenure, golden: Callable[[str, str], None]) -> None:
    request = sent(book, system="You are a clerk.", stop_sequences=["."], metadata={"user_id": "u"}, extra_body={"unknown": [1]})
    golden("frameworks/anthropic-message.json", json.dumps(request, indent=2, ensure_ascii=False) + "\n")


def test_without_lessons_the_request_is_the_callers(empty: Tenure) -> None:
    assert sent(empty, system="You are a clerk.") == {"model": "m", "max_tokens": 9, "messages": [USER], "system": "You are a clerk."}


def test_a_sign_for_nothing_is_no_system_prompt(book: Tenure) -> None:
    assert [block["text"][:15] for block in sent(book, system=anthropic.omit)["system"]] == ["<tenure-context"]


def test_no_marker_where_the_caller_wants_none(book: Tenure) -> None:
    assert "cache_control" not in sent(book, cache=False)["system"][0]


def tool(marker: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"name": "refund", "input_schema": {"type": "object"}, **({"cache_control": marker} if marker else {})}


def text(said: str, marker: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": said, **({"cache_control": marker} if marker else {})}


@pytest.mark.parametrize(
    ("request_has", "ours"),
    [
        ({"tools": [tool(MARKER)], "system": [text("a", MARKER)], "messages": [{"role": "user", "content": [text("b", MARKER)]}]}, MARKER),
        (
            {
                "tools": [tool(MARKER)],
                "system": [text("a", MARKER)],
                "messages": [{"role": "user", "content": [text("b", MARKER), text("c", MARKER)]}],
            },
            None,
        ),
        (
            {
                "tools": [tool(MARKER)],
                "system": [text("a", MARKER)],
                "messages": [{"role": "user", "content": [text("b", MARKER)]}],
                "cache_control": MARKER,
            },
            None,
        ),
        ({"messages": [{"role": "user", "content": [text("b", {**MARKER, "ttl": "1h"})]}]}, {**MARKER, "ttl": "1h"}),
        ({"cache_control": {**MARKER, "ttl": "1h"}}, {**MARKER, "ttl": "1h"}),
    ],
    ids=["room for one", "none", "none, with the whole request's", "an hour behind it", "an hour for the whole request"],
)
def test_the_marker_keeps_to_what_a_request_may_have(book: Tenure, request_has: dict[str, Any], ours: Mapping[str, Any] | None) -> None:
    request = sent(book, **request_has)
    assert request["system"][-1].get("cache_control") == ours
    assert json.dumps(request).count('"cache_control"') <= 4


def test_recall_stands_in_front_of_no_result_of_a_tool(book: Tenure) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "refund", "input": {}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}, text("go on")]}
    assert sent(book, messages=[USER, {"role": "assistant", "content": [call]}, result])["messages"][2] == result
    alone = sent(book, messages=[result])
    assert alone["messages"] == [result]
    assert "earlier runs: records" in alone["system"][-1]["text"]


# -- what is recorded ------------------------------------------------------------------------------------


def test_a_loop_with_tools_is_recorded_once_and_teaches(book: Tenure) -> None:
    thought = {"type": "thinking", "thinking": "Which id?", "signature": "s"}
    server = ScriptedServer(
        message(thought, {"type": "tool_use", "id": "c1", "name": "refund", "input": {"id": "W2"}}, stop="tool_use"),
        message({"type": "tool_use", "id": "c2", "name": "refund", "input": {"id": "P2"}}, stop="tool_use"),
        message({"type": "text", "text": f"Refunded, by [{LESSON}]."}),
    )
    results = {"c1": ("no payment has this id", True), "c2": ("ok", False)}
    messages: list[Any] = [USER]
    client = client_of(server)
    with book.run(TASK) as run:
        while (
            reply := create_message(client, run, model="m", max_tokens=9, system="You are a clerk.", messages=messages)
        ).stop_reason == "tool_use":
            messages.append({"role": "assistant", "content": reply.content})
            answers = [(block.id, *results[block.id]) for block in reply.content if block.type == "tool_use"]
            content = [{"type": "tool_result", "tool_use_id": one, "content": said, "is_error": bad} for one, said, bad in answers]
            messages.append({"role": "user", "content": content})
        run.finish(success=True)
    assert told(kept(book, run.id)) == [
        ("message", "system", "You are a clerk."),
        ("message", "user", TASK),
        ("thought", "assistant", "Which id?"),
        ("tool_call", "assistant", "refund", "{'id': 'W2'}"),
        ("tool_result", "tool", "refund", "no payment has this id"),
        ("tool_call", "assistant", "refund", "{'id': 'P2'}"),
        ("tool_result", "tool", "refund", "ok"),
        ("message", "assistant", f"Refunded, by [{LESSON}]."),
    ]
    assert [bool(step.error) for step in kept(book, run.id).steps if step.kind == "tool_result"] == [True, False]
    assert kept(book, run.id).cited == (LESSON,)
    assert run.learned is not None
    assert run.learned.added == 1
    first, *_, last = server.requests
    assert last["messages"][0] == first["messages"][0]
    assert last["system"] == first["system"]


def test_a_tool_of_the_provider_is_a_call_and_its_result(empty: Tenure) -> None:
    content = (
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rates"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
        },
        {"type": "text", "text": "no rates today"},
    )
    with empty.run(TASK) as run:
        create_message(client_of(ScriptedServer(message(*content, stop="max_tokens"))), run, model="m", max_tokens=9, messages=[USER])
        run.finish(success=True)
    call, result, answer, cut = kept(empty, run.id).steps[1:]
    assert (call.kind, call.name, dict(call.arguments)) == ("tool_call", "web_search", {"query": "rates"})
    assert (result.kind, result.name, "unavailable" in result.error) == ("tool_result", "web_search", True)
    assert (answer.content, cut.name) == ("no rates today", "reply_cut_off")


def test_a_call_that_fails_says_nothing_of_the_lessons(book: Tenure) -> None:
    busy = httpx2.Response(529, json={"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    with pytest.raises(anthropic.APIError), book.run(TASK) as run:
        create_message(client_of(ScriptedServer(busy)), run, model="m", max_tokens=9, messages=[USER])
    assert kept(book, run.id).outcome.success is None
    assert run.learned is None


# -- streams, and async --------------------------------------------------------------------------------------

WHOLE = message(
    {"type": "thinking", "thinking": "Which id?", "signature": "s"},
    {"type": "text", "text": f"I used [{LESSON}]."},
    {"type": "tool_use", "id": "c1", "name": "refund", "input": {"id": "P2"}},
    stop="tool_use",
)


def events() -> list[dict[str, Any]]:
    """The message above, in pieces."""
    begun: dict[str, Any] = {**WHOLE, "content": [], "stop_reason": None}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    starts: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [{"type": "thinking_delta", "thinking": "Which "}, {"type": "thinking_delta", "thinking": "id?"}],
        ),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "I used "}, {"type": "text_delta", "text": f"[{LESSON}]."}]),
        (
            {"type": "tool_use", "id": "c1", "name": "refund", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"id":'}, {"type": "input_json_delta", "partial_json": ' "P2"}'}],
        ),
    ]
    for index, (block, deltas) in enumerate(starts):
        made.append({"type": "content_block_start", "index": index, "content_block": block})
        made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"type": "content_block_stop", "index": index})
    made.append({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 1}})
    return [*made, {"type": "message_stop"}]


STEPS = [
    ("thought", "assistant", "Which id?"),
    ("message", "assistant", f"I used [{LESSON}]."),
    ("tool_call", "assistant", "refund", "{'id': 'P2'}"),
]


def test_a_stream_gives_the_same_events_and_is_recorded_like_the_whole(book: Tenure) -> None:
    for answer in (events(), WHOLE):
        server = ScriptedServer(answer)
        with book.run(TASK) as run:
            streams = isinstance(answer, list)
            given: Any = create_message(
                client_of(server), run, model="m", max_tokens=9, messages=[USER], **({"stream": True} if streams else {})
            )
            if streams:
                assert [event.type for event in given] == [event["type"] for event in events()]
            run.finish(success=True)
        assert told(kept(book, run.id))[1:] == STEPS
        assert kept(book, run.id).cited == (LESSON,)


def test_the_helper_for_streams_is_called_with_the_same_request(book: Tenure) -> None:
    server = ScriptedServer(events())
    with book.run(TASK) as run:
        with client_of(server).messages.stream(**message_request(run, model="m", max_tokens=9, messages=[USER])) as stream:
            assert "".join(stream.text_stream) == f"I used [{LESSON}]."
            record_message(run, stream.get_final_message())
        run.finish(success=True)
    assert server.requests[0]["system"][-1]["cache_control"] == MARKER
    assert told(kept(book, run.id))[1:] == STEPS


def test_async_calls_do_the_same_and_a_broken_stream_is_kept_as_far_as_it_came(book: Tenure) -> None:
    server = ScriptedServer(message(DONE), [*events()[:8], {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}])

    async def played() -> None:
        async with book.run(TASK) as run:
            runs.append(run.id)
            client = async_client_of(server)
            await acreate_message(client, run, model="m", max_tokens=9, messages=[USER])
            async for _ in await acreate_message(client, run, model="m", max_tokens=9, messages=[USER], stream=True):
                pass

    runs: list[str] = []
    with pytest.raises(anthropic.APIError):
        asyncio.run(played())
    found = kept(book, runs[0])
    assert [step.content for step in found.steps[:4]] == [TASK, "done", "Which id?", f"I used [{LESSON}]."]
    assert [step.name for step in found.steps[4:]] == ["stream_left", "model_call_failed"]
    assert found.outcome.success is None


def test_the_beta_methods_are_called_the_same_way(book: Tenure) -> None:
    server = ScriptedServer(message(DONE))
    with book.run(TASK) as run:
        create_message(client_of(server).beta, run, model="m", max_tokens=9, messages=[USER], betas=["x"])
        run.finish(success=True)
    assert LESSON in server.requests[0]["system"][0]["text"]
