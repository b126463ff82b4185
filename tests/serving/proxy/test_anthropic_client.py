"""The official client of Anthropic through the proxy: system prompts of every shape, marks for caches, tools, streams, errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from tenure.playbook.delta import Add
from tenure.stores.in_memory import InMemoryStore
from tests.serving.proxy.servers import STREAM, Answer, Running, events, message_reply, running
from tests.serving.proxy.test_openai_client import LESSON, TASK, recorded

FOR_5M = {"type": "ephemeral"}
FOR_1H = {"type": "ephemeral", "ttl": "1h"}


@pytest.fixture
def there() -> Iterator[Running]:
    with running(InMemoryStore()) as found:
        # Enough of them that they do not all fit: then there is a stable part beside what is recalled.
        found.book.set("context.core_tokens", "400")
        found.book.apply([Add(section="refunds", text=LESSON)])
        found.book.apply([Add(section=f"part {n % 9}", text=f"Step {n}: deploy service{n} with flag {n % 13} first.") for n in range(300)])
        found.provider.answer = lambda got: Answer(chunks=[message_reply()])
        yield found


def client(there: Running) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=there.url, api_key="sk-ant-callers", max_retries=0)


def asked(there: Running, **more: Any) -> dict[str, Any]:
    """What the provider gets of a request."""
    with client(there) as ai:
        given: dict[str, Any] = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": TASK}], **more}
        ai.messages.create(**given)
    got: dict[str, Any] = there.provider.got[-1].json
    return got


def own(block: Any) -> bool:
    return isinstance(block, dict) and str(block.get("text", block.get("content"))).startswith("<tenure-context")


@pytest.mark.parametrize(
    "system",
    ["Clerk.", [{"type": "text", "text": "Clerk."}, {"type": "text", "text": "Be brief.", "cache_control": FOR_5M}], None, ""],
    ids=["text", "blocks", "none", "empty"],
)
def test_the_core_follows_the_callers_system_prompt(there: Running, system: Any) -> None:
    got = asked(there, **({} if system is None else {"system": system}))
    if system == "":
        assert got["system"].startswith("<tenure-context")
        return
    blocks = got["system"]
    assert [own(block) for block in blocks] == [False] * (len(blocks) - 1) + [True]
    callers = [{"type": "text", "text": "Clerk."}] if system == "Clerk." else system or []
    assert blocks[:-1] == callers
    assert blocks[-1]["cache_control"] == FOR_5M
    assert [own(message) for message in got["messages"]] == [True, False]
    assert LESSON in got["messages"][0]["content"]
    assert got["messages"][1] == {"role": "user", "content": TASK}


def test_credentials_and_version_reach_the_provider(there: Running) -> None:
    asked(there)
    (got,) = there.provider.got
    assert "sk-ant-callers" in (got.header("authorization") or got.header("x-api-key") or "")
    assert got.header("anthropic-version")
    assert got.target == b"/v1/messages"


def marked(*marks: Any) -> dict[str, Any]:
    """A request with marks on tools, system and messages: one each, none where it is none."""
    tools, system, message = marks
    tool = {"name": "refund", "input_schema": {"type": "object"}}
    block = {"type": "text", "text": TASK}
    return {
        "tools": [tool | ({"cache_control": tools} if tools else {})],
        "system": [{"type": "text", "text": "Clerk."} | ({"cache_control": system} if system else {})],
        "messages": [{"role": "user", "content": [block | ({"cache_control": message} if message else {})]}],
    }


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((None, None, None), FOR_5M),
        ((FOR_5M, FOR_5M, FOR_5M), FOR_5M),
        ((FOR_1H, FOR_1H, FOR_5M), FOR_5M),
        ((FOR_1H, FOR_1H, FOR_1H), FOR_1H),
        ((None, None, FOR_1H), FOR_1H),
        ((FOR_5M, None, FOR_1H), None),  # the provider refuses that order with or without a mark of ours
    ],
)
def test_a_mark_of_our_own_keeps_the_order_of_the_callers(there: Running, marks: Any, expected: Any) -> None:
    got = asked(there, **marked(*marks))
    assert got["system"][-1].get("cache_control") == expected
    assert got["system"][:-1] == marked(*marks)["system"]


def test_four_marks_leave_no_room_for_one_of_ours(there: Running) -> None:
    request = marked(FOR_5M, FOR_5M, FOR_5M)
    got = asked(there, **request, cache_control=FOR_5M)
    assert own(got["system"][-1])
    assert "cache_control" not in got["system"][-1]
    assert json.dumps(got).count("cache_control") == 4


def test_a_schema_may_speak_of_marks_without_being_one(there: Running) -> None:
    properties = {f"cache_control_{n}": {"type": "object", "properties": {"cache_control": {"type": "string"}}} for n in range(5)}
    got = asked(there, tools=[{"name": "t", "input_schema": {"type": "object", "properties": properties}}])
    assert got["system"][-1]["cache_control"] == FOR_5M


def test_turns_with_tools_begin_alike_though_the_callers_marks_wander(there: Running) -> None:
    answers = [message_reply("Let me see.", calls=[("t1", "refund", {"amount": 612})]), message_reply("Refunded.")]
    there.provider.answer = lambda got: Answer(chunks=[answers[len(there.provider.got) - 1]])
    first = {"role": "user", "content": [{"type": "text", "text": TASK, "cache_control": FOR_5M}]}
    call = {"type": "tool_use", "id": "t1", "name": "refund", "input": {"amount": 612}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok", "is_error": False, "cache_control": FOR_5M}
    later = [
        {"role": "user", "content": [{"type": "text", "text": TASK}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, call]},
        {"role": "user", "content": [result]},
    ]
    runs = []
    with client(there) as ai:
        for messages in ([first], later):
            answer = ai.messages.with_raw_response.create(model="c", max_tokens=9, system="Clerk.", messages=messages)  # type: ignore[arg-type]
            runs.append(answer.headers["x-tenure-run"])
            there.book.apply([Add(section="refunds", text="Refund invoice 4711 was learned meanwhile.")])
    one, two = (got.json for got in there.provider.got)
    assert runs[0] == runs[1]
    assert one["system"] == two["system"]
    assert [message for message in one["messages"] if own(message)] == [message for message in two["messages"] if own(message)]
    assert [own(message) for message in two["messages"]] == [True, False, False, False]
    run = recorded(there, runs[0], 8)
    assert [(step.kind, step.name or step.content) for step in run.steps if step.kind != "event"] == [
        ("message", "Clerk."),
        ("message", TASK),
        ("message", "Let me see."),
        ("tool_call", "refund"),
        ("tool_result", "refund"),
        ("message", "Refunded."),
    ]
    assert json.loads(run.steps[4].content) == {"model": "claude-test", "input_tokens": 14, "output_tokens": 3, "cached_tokens": 7}


def stream() -> list[dict[str, Any]]:
    """A streamed answer: a thought, a text, and a call."""
    whole = json.loads(message_reply())
    return [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Two "}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "parts"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t1", "name": "refund", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"amount": '}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "612}"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 21}},
        {"type": "message_stop"},
    ]


def test_a_stream_is_passed_and_recorded(there: Running) -> None:
    there.provider.answer = lambda got: Answer(headers=STREAM, chunks=events(*stream()), pause_s=0.005)

    async def ask() -> tuple[str, Any]:
        async with (
            anthropic.AsyncAnthropic(base_url=there.url, api_key="sk", max_retries=0) as ai,
            ai.messages.stream(model="c", max_tokens=9, messages=[{"role": "user", "content": TASK}]) as answer,
        ):
            message = await answer.get_final_message()
            return answer.response.headers["x-tenure-run"], message

    run, message = asyncio.run(ask())
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert message.content[1].input == {"amount": 612}
    found = recorded(there, run, 4)
    assert [(step.kind, step.content, dict(step.arguments)) for step in found.steps[1:3]] == [
        ("message", "Two parts", {}),
        ("tool_call", "", {"amount": 612}),
    ]
    assert json.loads(found.steps[3].content)["output_tokens"] == 21


def test_errors_and_counting_pass_untouched(there: Running) -> None:
    refused = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    there.provider.answer = lambda got: Answer(status=529, chunks=[json.dumps(refused).encode()])
    with client(there) as ai:
        with pytest.raises(anthropic.APIStatusError) as found:
            ai.messages.create(model="c", max_tokens=9, messages=[{"role": "user", "content": TASK}])
        assert found.value.body == refused
        there.provider.answer = lambda got: Answer(chunks=[b'{"input_tokens": 14}'])
        counted = ai.messages.with_raw_response.count_tokens(model="c", messages=[{"role": "user", "content": TASK}])
    assert counted.parse().input_tokens == 14
    assert there.provider.got[-1].json == {"messages": [{"role": "user", "content": TASK}], "model": "c"}
    assert "x-tenure-run" not in counted.headers
