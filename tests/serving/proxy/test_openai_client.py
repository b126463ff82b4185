"""The official client of OpenAI through the proxy: chat completions and responses, whole and streamed."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator

import openai
import pytest

from tenure.playbook.delta import Add
from tenure.playbook.run import Run
from tenure.stores.in_memory import InMemoryStore
from tests.serving.proxy.servers import STREAM, Answer, Running, chat_reply, events, response_reply, running

LESSON = "Refunds above 500 need a second approval before refund_payment is called."
TASK = "Refund invoice 4711 of customer Doe, 612 EUR, paid twice by mistake."


@pytest.fixture
def there() -> Iterator[Running]:
    with running(InMemoryStore()) as found:
        found.book.apply([Add(section="refunds", text=LESSON)])
        found.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        yield found


def client(there: Running) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{there.url}/v1", api_key="sk-callers", max_retries=0)


def recorded(there: Running, run: str, steps: int) -> Run:
    """A run, once it has so many steps."""
    until = time.monotonic() + 60
    while True:
        with there.engine.store.reading("acme/support") as look:
            found = look.run(run)
        if found is not None and len(found.steps) >= steps:
            return found
        assert time.monotonic() < until, found
        time.sleep(0.01)


def test_lessons_are_added_beside_what_the_caller_wrote(there: Running) -> None:
    with client(there) as ai:
        answer = ai.chat.completions.with_raw_response.create(
            model="gpt-test",
            messages=[{"role": "system", "content": "You are a clerk."}, {"role": "user", "content": TASK}],
            temperature=0.25,
        )
    assert answer.parse().choices[0].message.content == "Done."
    (got,) = there.provider.got
    assert got.header("authorization") == "Bearer sk-callers"
    assert not [name for name, _ in got.headers if name.startswith(b"x-tenure")]
    messages = got.json["messages"]
    own = [one for one in messages if one["content"].startswith("<tenure-context")]
    assert [one for one in messages if one not in own] == [
        {"role": "system", "content": "You are a clerk."},
        {"role": "user", "content": TASK},
    ]
    assert any(LESSON in one["content"] for one in own)
    assert all(one["content"].endswith("</tenure-context>") for one in own)
    assert answer.headers["x-tenure"] == "added"
    run = recorded(there, answer.headers["x-tenure-run"], 4)
    assert [(step.kind, step.role, step.content) for step in run.steps[:3]] == [
        ("message", "system", "You are a clerk."),
        ("message", "user", TASK),
        ("message", "assistant", "Done."),
    ]
    assert json.loads(run.steps[3].content) == {"model": "gpt-test", "input_tokens": 12, "output_tokens": 3, "cached_tokens": 4}
    assert run.task.text == TASK
    assert len(run.shown) == 1
    assert not run.outcome.known


def test_a_conversation_with_tools_is_one_run_and_its_requests_begin_alike(there: Running) -> None:
    messages: list[dict[str, object]] = [{"role": "system", "content": "Clerk."}, {"role": "user", "content": TASK}]
    tools = [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object", "properties": {}}}}]
    answers = [
        chat_reply(None, calls=[("c1", "refund", '{"amount": 612}')]),
        chat_reply(None, calls=[("c2", "approve", "{}")]),
        chat_reply("Refunded."),
    ]
    there.provider.answer = lambda got: Answer(chunks=[answers[len(there.provider.got) - 1]])
    runs = set()
    with client(there) as ai:
        for turn in range(3):
            answer = ai.chat.completions.with_raw_response.create(model="m", messages=messages, tools=tools)  # type: ignore[arg-type]
            runs.add(answer.headers["x-tenure-run"])
            said = answer.parse().choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "Error: needs approval" if turn == 0 else "ok"}
                for call in said.tool_calls or []
            ]
            there.book.apply([Add(section="refunds", text=f"Lesson number {turn} was learned meanwhile.")])
    (run,) = runs
    bodies = [json.dumps(got.json["messages"])[:-1] for got in there.provider.got]
    assert len(bodies) == 3
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(bodies))
    found = recorded(there, run, 10)
    assert [(step.kind, step.name) for step in found.steps if step.kind in ("tool_call", "tool_result")] == [
        ("tool_call", "refund"),
        ("tool_result", "refund"),
        ("tool_call", "approve"),
        ("tool_result", "approve"),
    ]
    assert [step.content for step in found.steps if step.kind == "message"] == ["Clerk.", TASK, "Refunded."]
    assert found.steps[2].arguments == {"amount": 612}


def test_a_stream_arrives_as_it_was_sent_and_is_recorded(there: Running) -> None:
    head = {"id": "chatcmpl-2", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    pieces = [
        *(
            {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": one}, "finish_reason": None}]}
            for one in ("Two ", "é")
        ),
        {
            **head,
            "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "refund", "arguments": ""}}]}}],
        },
        {**head, "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]}}]},
        {**head, "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {**head, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
    ]
    there.provider.answer = lambda got: Answer(headers=STREAM, chunks=events(*pieces, "[DONE]"), pause_s=0.01)
    with client(there) as ai:
        answer = ai.chat.completions.with_raw_response.create(model="m", messages=[{"role": "user", "content": TASK}], stream=True)
        chunks = [chunk.model_dump(exclude_unset=True) for chunk in answer.parse()]
    assert chunks == pieces
    run = recorded(there, answer.headers["x-tenure-run"], 4)
    assert [(step.kind, step.content, dict(step.arguments)) for step in run.steps[1:3]] == [
        ("message", "Two é", {}),
        ("tool_call", "", {"a": 1}),
    ]
    assert json.loads(run.steps[3].content) == {"model": "gpt-test", "input_tokens": 5, "output_tokens": 2}


def test_async_clients_and_errors_of_the_provider_pass(there: Running) -> None:
    refused = {"error": {"message": "Rate limit reached", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}

    async def ask() -> openai.RateLimitError:
        async with openai.AsyncOpenAI(base_url=f"{there.url}/v1", api_key="sk", max_retries=0) as ai:
            done = await ai.chat.completions.create(model="m", messages=[{"role": "user", "content": TASK}])
            assert done.choices[0].message.content == "Done."
            there.provider.answer = lambda got: Answer(
                status=429, headers=[("content-type", "application/json"), ("retry-after", "7")], chunks=[json.dumps(refused).encode()]
            )
            with pytest.raises(openai.RateLimitError) as found:
                await ai.chat.completions.create(model="m", messages=[{"role": "user", "content": TASK}])
            return found.value

    error = asyncio.run(ask())
    assert error.body == refused["error"]
    assert error.response.headers["retry-after"] == "7"


def test_other_paths_are_passed_untouched(there: Running) -> None:
    there.provider.answer = lambda got: Answer(chunks=[b'{"object": "list",  "data": []}'])
    with client(there) as ai:
        assert ai.models.with_raw_response.list().content == b'{"object": "list",  "data": []}'
        ai.embeddings.create(model="e", input="x", encoding_format="float")
        ai.files.create(file=("a.jsonl", b"{}\n" * 10_000), purpose="batch")
    listed, embedded, uploaded = there.provider.got
    assert (listed.method, listed.target, listed.body) == ("GET", b"/v1/models", b"")
    assert embedded.json["input"] == "x"
    assert b"{}\n" * 10_000 in uploaded.body


def test_responses_with_instructions_and_a_text(there: Running) -> None:
    there.provider.answer = lambda got: Answer(chunks=[json.dumps(response_reply()).encode()])
    with client(there) as ai:
        answer = ai.responses.with_raw_response.create(model="m", instructions="Clerk.", input=TASK)
    assert answer.parse().output_text == "Done."
    got = there.provider.got[0].json
    assert got["instructions"] == "Clerk."
    assert got["input"][-1] == {"type": "message", "role": "user", "content": TASK}
    assert any(LESSON in one["content"] for one in got["input"][:-1])
    run = recorded(there, answer.headers["x-tenure-run"], 4)
    assert [step.content for step in run.steps[:3]] == ["Clerk.", TASK, "Done."]


def test_responses_that_go_on_from_one_before_get_nothing_twice_and_are_one_run(there: Running) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "refund", "arguments": '{"amount": 612}', "status": "completed"}
    answers = [response_reply("", id="resp_a", items=[call]), response_reply("Refunded.", id="resp_b")]
    there.provider.answer = lambda got: Answer(chunks=[json.dumps(answers[len(there.provider.got) - 1]).encode()])
    with client(there) as ai:
        first = ai.responses.with_raw_response.create(model="m", instructions="Clerk.", input=[{"role": "user", "content": TASK}])
        second = ai.responses.with_raw_response.create(
            model="m",
            instructions="Clerk.",
            previous_response_id="resp_a",
            input=[{"type": "function_call_output", "call_id": "c1", "output": "ok"}],
        )
    assert first.headers["x-tenure-run"] == second.headers["x-tenure-run"]
    assert second.headers["x-tenure"] == "nothing to add"
    assert there.provider.got[1].json["input"] == [{"type": "function_call_output", "call_id": "c1", "output": "ok"}]
    run = recorded(there, first.headers["x-tenure-run"], 7)
    assert [(step.kind, step.name or step.content) for step in run.steps if step.kind != "event"] == [
        ("message", "Clerk."),
        ("message", TASK),
        ("tool_call", "refund"),
        ("tool_result", "refund"),
        ("message", "Refunded."),
    ]


def test_a_stream_of_responses(there: Running) -> None:
    whole = response_reply("Hello")
    sent = [
        {"type": "response.created", "sequence_number": 0, "response": {**whole, "status": "in_progress", "output": []}},
        {
            "type": "response.output_text.delta",
            "sequence_number": 1,
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": "Hello",
        },
        {"type": "response.completed", "sequence_number": 2, "response": whole},
    ]
    there.provider.answer = lambda got: Answer(headers=STREAM, chunks=events(*sent))
    with client(there) as ai:
        answer = ai.responses.with_raw_response.create(model="m", input=TASK, stream=True)
        kinds = [event.type for event in answer.parse()]
    assert kinds == [one["type"] for one in sent]
    run = recorded(there, answer.headers["x-tenure-run"], 3)
    assert [step.content for step in run.steps[:2]] == [TASK, "Hello"]
