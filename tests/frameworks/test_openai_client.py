"""The functions for OpenAI's client, with the client itself and a scripted server behind it."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tenure import Tenure, UserError
from tenure.active_run import ActiveRun
from tenure.frameworks.openai import (
    acreate_completion,
    acreate_response,
    completion_request,
    create_completion,
    create_response,
    record_completion,
)
from tests.frameworks.conftest import LESSON
from tests.frameworks.kept_runs import kept, told
from tests.frameworks.scripted_http import ScriptedServer, chunks, completion, response, said

openai = pytest.importorskip("openai", reason="the client of OpenAI is not installed")

TASK = "refund order W2"
SYSTEM = {"role": "system", "content": "You are a clerk."}
USER = {"role": "user", "content": TASK}


def client_of(server: ScriptedServer) -> Any:
    return openai.OpenAI(api_key="k", base_url="http://127.0.0.1:1/v1", http_client=server.client, max_retries=0)


def async_client_of(server: ScriptedServer) -> Any:
    return openai.AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:1/v1", http_client=server.async_client, max_retries=0)


def ask(book: Tenure, server: ScriptedServer, **request: Any) -> str:
    """One completion in a run of its own; the run's id."""
    with book.run(TASK) as run:
        create_completion(client_of(server), run, **{"model": "m", "messages": [SYSTEM, USER], **request})
        run.finish(success=True)
    return run.id


# -- where the lessons stand ---------------------------------------------------------------------------


def test_the_stable_part_ends_the_system_message_and_recall_begins_the_task(book: Tenure, golden: Callable[[str, str], None]) -> None:
    server = ScriptedServer(completion("done"))
    ask(book, server, temperature=0.25, metadata={"team": "b"}, extra_body={"unknown": [1]})
    golden("frameworks/openai-completion.json", json.dumps(server.requests[0], indent=2, ensure_ascii=False) + "\n")


def test_the_callers_messages_stay_as_they_are(book: Tenure) -> None:
    messages: list[dict[str, Any]] = [copy.deepcopy(SYSTEM), {"role": "user", "content": [{"type": "text", "text": TASK}]}]
    before = copy.deepcopy(messages)
    ask(book, ScriptedServer(completion("done")), messages=messages)
    assert messages == before


def test_without_lessons_the_request_is_the_callers(empty: Tenure) -> None:
    server = ScriptedServer(completion("done"))
    ask(empty, server)
    assert server.requests[0]["messages"] == [SYSTEM, USER]


def test_without_a_system_message_one_is_put_first(book: Tenure) -> None:
    server = ScriptedServer(completion("done"))
    ask(book, server, messages=[USER])
    first, second = server.requests[0]["messages"]
    assert first["role"] == "system"
    assert LESSON in first["content"]
    assert second["content"].endswith(TASK)
    assert LESSON not in second["content"]


def test_a_developer_message_in_blocks_gets_a_further_block(book: Tenure) -> None:
    server = ScriptedServer(completion("done"))
    ask(book, server, messages=[{"role": "developer", "content": [{"type": "text", "text": "You are a clerk."}]}, USER])
    first = server.requests[0]["messages"][0]
    assert first["role"] == "developer"
    assert [block["text"].startswith("<tenure-context") for block in first["content"]] == [False, True]


def test_where_no_message_asks_all_of_it_stands_in_the_system_message(book: Tenure) -> None:
    server = ScriptedServer(completion("done"))
    ask(book, server, messages=[SYSTEM])
    (only,) = server.requests[0]["messages"]
    assert LESSON in only["content"]
    assert "earlier runs: records" in only["content"]


def test_a_later_request_begins_with_the_same_bytes(book: Tenure) -> None:
    server = ScriptedServer(completion(calls=[("c1", "refund", '{"id": "W2"}')]), completion("done"))
    messages: list[Any] = [SYSTEM, {"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}, USER]
    client = client_of(server)
    with book.run(TASK) as run:
        reply = create_completion(client, run, model="m", messages=messages)
        messages += [reply.choices[0].message, {"role": "tool", "tool_call_id": "c1", "content": "Error: no such payment"}]
        create_completion(client, run, model="m", messages=[*messages, {"role": "user", "content": "and be quick"}])
        run.finish(success=True)
    first, second = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert TASK in first[3]["content"]
    assert first[3]["content"] != TASK


def test_recall_stays_where_it_stood_though_the_same_was_said_before(book: Tenure) -> None:
    server = ScriptedServer(completion("one"), completion("two"))
    client = client_of(server)
    messages: list[Any] = [USER, {"role": "assistant", "content": "again?"}, USER]
    with book.run(TASK) as run:
        create_completion(client, run, model="m", messages=messages)
        create_completion(client, run, model="m", messages=[*messages, {"role": "assistant", "content": "one"}])
        run.finish(success=True)
    first, second = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert [message["content"] == TASK for message in first[1:]] == [True, False, False]


def test_recall_follows_its_message_where_the_history_was_cut(book: Tenure) -> None:
    server = ScriptedServer(completion("one"), completion("two"))
    client = client_of(server)
    with book.run(TASK) as run:
        create_completion(client, run, model="m", messages=[SYSTEM, {"role": "user", "content": "hello"}, USER])
        create_completion(client, run, model="m", messages=[SYSTEM, USER, {"role": "user", "content": "go on"}])
        run.finish(success=True)
    assert server.requests[1]["messages"][1] == server.requests[0]["messages"][2]
    assert server.requests[1]["messages"][2]["content"] == "go on"


def test_a_lesson_cannot_end_the_mark_around_it(book: Tenure) -> None:
    server = ScriptedServer(completion("done"))
    ask(book, server)
    assert server.requests[0]["messages"][0]["content"].count("</tenure-context") == 1


# -- what is recorded ------------------------------------------------------------------------------------


def test_a_loop_with_tools_is_recorded_once_and_teaches(book: Tenure) -> None:
    server = ScriptedServer(
        completion(calls=[("c1", "refund", '{"id": "W2"}')]),
        completion(calls=[("c2", "refund", '{"id": "P2"}')]),
        completion(f"Refunded, by [{LESSON}]."),
    )
    results = {"c1": "Error: no payment has this id", "c2": "ok"}
    messages: list[Any] = [SYSTEM, USER]
    client = client_of(server)
    with book.run(TASK) as run:
        while calls := (reply := create_completion(client, run, model="m", messages=messages).choices[0].message).tool_calls:
            messages.append(reply.model_dump(exclude_none=True))
            messages += [{"role": "tool", "tool_call_id": call.id, "content": results[call.id]} for call in calls]
        run.finish(success=True)
    assert told(kept(book, run.id)) == [
        ("message", "system", "You are a clerk."),
        ("message", "user", TASK),
        ("tool_call", "assistant", "refund", "{'id': 'W2'}"),
        ("tool_result", "tool", "refund", "Error: no payment has this id"),
        ("tool_call", "assistant", "refund", "{'id': 'P2'}"),
        ("tool_result", "tool", "refund", "ok"),
        ("message", "assistant", f"Refunded, by [{LESSON}]."),
    ]
    assert kept(book, run.id).cited == (LESSON,)
    assert run.learned is not None
    assert run.learned.added == 1


def test_the_same_words_said_again_are_another_step(empty: Tenure) -> None:
    yes = {"role": "user", "content": "yes"}
    server = ScriptedServer(completion("go on?"), completion("go on?"))
    client = client_of(server)
    with empty.run(TASK) as run:
        messages: list[Any] = [yes]
        messages.append(create_completion(client, run, model="m", messages=messages).choices[0].message)
        create_completion(client, run, model="m", messages=[*messages, yes])
        run.finish(success=True)
    assert [step.content for step in kept(empty, run.id).steps] == ["yes", "go on?", "yes", "go on?"]


def test_a_system_message_that_changes_does_not_make_all_of_it_new(empty: Tenure) -> None:
    server = ScriptedServer(completion("one"), completion("two"))
    client = client_of(server)
    with empty.run(TASK) as run:
        for now in ("08:00", "08:01"):
            create_completion(client, run, model="m", messages=[{"role": "system", "content": f"It is {now}."}, USER])
        run.finish(success=True)
    assert [step.content for step in kept(empty, run.id).steps] == ["It is 08:00.", TASK, "one", "It is 08:01.", "two"]


def test_what_cannot_be_kept_is_named(empty: Tenure) -> None:
    reply = completion("a cat")
    reply["choices"].append({"index": 1, "message": {"role": "assistant", "content": "a dog"}, "finish_reason": "stop"})
    reply["choices"][0]["finish_reason"] = "length"
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    asked = {"role": "user", "content": [picture, {"type": "text", "text": "what is it?"}]}
    run = kept(empty, ask(empty, ScriptedServer(reply), messages=[asked]))
    assert [(step.name, step.content) for step in run.steps if step.kind == "event"] == [
        ("not_kept", "image left out"),
        ("reply_cut_off", "length"),
        ("not_kept", "further choices left out"),
    ]


def test_a_refusal_is_what_the_agent_said(empty: Tenure) -> None:
    run = kept(empty, ask(empty, ScriptedServer(completion(None, refusal="I cannot help with that."))))
    assert run.steps[-1].content == "I cannot help with that."


def test_what_the_caller_sends_back_of_ours_is_not_learned_from(book: Tenure) -> None:
    server = ScriptedServer(completion("done"), completion("done"))
    ask(book, server)
    sent = server.requests[0]["messages"]
    run = kept(book, ask(book, server, messages=sent))
    assert [step.content for step in run.steps] == ["You are a clerk.", TASK, "done"]


# -- what goes wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [httpx2.ConnectError("no route"), httpx2.Response(401, json={"error": {"message": "bad key"}})],
    ids=["unreachable", "refused"],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_call_that_fails_says_nothing_of_the_lessons(book: Tenure, answer: Any, wrapped: bool) -> None:
    def played(run: ActiveRun) -> None:
        try:
            create_completion(client_of(ScriptedServer(answer)), run, model="m", messages=[USER])
        except openai.APIError as error:
            if wrapped:
                raise RuntimeError("no answer") from error
            raise

    with pytest.raises(RuntimeError if wrapped else openai.APIError), book.run(TASK) as run:
        played(run)
    found = kept(book, run.id)
    assert found.outcome.success is None
    assert run.learned is None
    assert [step.name for step in found.steps] == ["", "model_call_failed"]


def test_another_exception_of_the_block_is_a_failure(book: Tenure) -> None:
    def played(run: ActiveRun) -> None:
        create_completion(client_of(ScriptedServer(completion("done"))), run, model="m", messages=[USER])
        raise ValueError("not enough")

    with pytest.raises(ValueError, match="not enough"), book.run(TASK) as run:
        played(run)
    assert kept(book, run.id).outcome.success is False


def test_a_failed_call_that_was_tried_again_with_success_stays_a_success(book: Tenure) -> None:
    server = ScriptedServer(httpx2.ConnectError("no route"), completion("done"))
    with book.run(TASK) as run:
        with pytest.raises(openai.APIError):
            create_completion(client_of(server), run, model="m", messages=[USER])
        create_completion(client_of(server), run, model="m", messages=[USER])
        run.finish(success=True)
    assert kept(book, run.id).outcome.success is True
    assert [step.role for step in kept(book, run.id).steps if step.kind == "message"] == ["user", "assistant"]


def test_a_client_of_the_other_kind_is_named(book: Tenure) -> None:
    async def wrong() -> None:
        await acreate_completion(client_of(ScriptedServer(completion("x"))), run, model="m", messages=[USER])

    with book.run(TASK) as run:
        with pytest.raises(UserError, match="begins with 'a'"):
            create_completion(async_client_of(ScriptedServer(completion("x"))), run, model="m", messages=[USER])
        with pytest.raises(UserError, match="does not begin with 'a'"):
            asyncio.run(wrong())
        run.finish(success=True)


# -- streams, and async --------------------------------------------------------------------------------------

PIECES = chunks(
    {"role": "assistant", "content": "I "},
    {"content": f"used [{LESSON}]."},
    {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"id":'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ' "P2"}'}}]},
    finish="tool_calls",
)


def test_a_stream_gives_the_same_events_and_is_recorded(book: Tenure) -> None:
    with book.run(TASK) as run:
        stream = create_completion(client_of(ScriptedServer(PIECES)), run, model="m", messages=[USER], stream=True)
        assert stream.response.status_code == 200  # what the client's stream has
        assert [event.model_dump(exclude_unset=True) for event in stream] == PIECES
        run.finish(success=True)
    assert told(kept(book, run.id))[1:] == [
        ("message", "assistant", f"I used [{LESSON}]."),
        ("tool_call", "assistant", "refund", "{'id': 'P2'}"),
    ]
    assert kept(book, run.id).cited == (LESSON,)


@pytest.mark.parametrize("how", ["closed", "left"])
def test_what_came_of_a_stream_that_was_left_is_recorded(book: Tenure, how: str) -> None:
    with book.run(TASK) as run:
        stream = create_completion(client_of(ScriptedServer(PIECES)), run, model="m", messages=[USER], stream=True)
        next(stream)
        if how == "closed":
            with stream:
                next(stream)
        run.finish(success=True)
    assert told(kept(book, run.id))[1:] == [
        ("message", "assistant", f"I used [{LESSON}]." if how == "closed" else "I "),
        ("event", "stream_left", "the reply was not read to its end"),
    ]
    if how == "left":  # who reads on gets the rest
        assert len(list(stream)) == len(PIECES) - 1


def test_a_stream_is_recorded_also_where_its_reader_fails(book: Tenure) -> None:
    def played(run: ActiveRun) -> None:
        for _ in create_completion(client_of(ScriptedServer(PIECES)), run, model="m", messages=[USER], stream=True):
            raise ValueError("bad word")

    with pytest.raises(ValueError, match="bad word"), book.run(TASK) as run:
        played(run)
    assert kept(book, run.id).outcome.success is False
    assert kept(book, run.id).steps[1].content == "I "


def test_async_calls_do_the_same(book: Tenure) -> None:
    async def played() -> str:
        server = ScriptedServer(completion("one"), PIECES)
        async with book.run(TASK) as run:
            client = async_client_of(server)
            await acreate_completion(client, run, model="m", messages=[USER])
            stream = await acreate_completion(client, run, model="m", messages=[USER], stream=True)
            async with stream:
                assert [event.model_dump(exclude_unset=True) async for event in stream] == PIECES
            await run.afinish(success=True)
        assert server.requests[0]["messages"] == server.requests[1]["messages"]
        return run.id

    assert [step.content for step in kept(book, asyncio.run(played())).steps] == [TASK, "one", f"I used [{LESSON}].", ""]


def test_other_methods_of_the_client_are_called_with_the_same_request(book: Tenure) -> None:
    server = ScriptedServer(PIECES)
    with book.run(TASK) as run:
        request = completion_request(run, model="m", messages=[SYSTEM, USER])
        with client_of(server).chat.completions.stream(**request) as stream:
            final = stream.get_final_completion()
        record_completion(run, final)
        run.finish(success=True)
    assert LESSON in server.requests[0]["messages"][0]["content"]
    assert len(kept(book, run.id).steps) == 4


# -- the Responses API ------------------------------------------------------------------------------------------

CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "refund", "arguments": '{"id": "W2"}', "status": "completed"}


def test_a_response_has_the_lessons_in_instructions_and_input(book: Tenure, golden: Callable[[str, str], None]) -> None:
    server = ScriptedServer(response(said("done")))
    with book.run(TASK) as run:
        create_response(client_of(server), run, model="m", input=TASK, instructions="You are a clerk.", temperature=0.25)
        run.finish(success=True)
    golden("frameworks/openai-response.json", json.dumps(server.requests[0], indent=2, ensure_ascii=False) + "\n")
    assert [step.content for step in kept(book, run.id).steps] == ["You are a clerk.", TASK, "done"]


def test_items_sent_back_are_recorded_once(book: Tenure) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Which id?"}]}
    server = ScriptedServer(response(thought, CALL), response(said(f"Done, see [{LESSON}].")))
    client = client_of(server)
    items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": TASK}]}]
    with book.run(TASK) as run:
        items += create_response(client, run, model="m", input=items).output
        items.append({"type": "function_call_output", "call_id": "c1", "output": "Error: no payment has this id"})
        create_response(client, run, model="m", input=items)
        run.finish(success=True)
    assert server.requests[1]["input"][0] == server.requests[0]["input"][0]
    assert told(kept(book, run.id)) == [
        ("message", "user", TASK),
        ("thought", "assistant", "Which id?"),
        ("tool_call", "assistant", "refund", "{'id': 'W2'}"),
        ("tool_result", "tool", "refund", "Error: no payment has this id"),
        ("message", "assistant", f"Done, see [{LESSON}]."),
    ]
    assert kept(book, run.id).cited == (LESSON,)


def test_a_conversation_that_the_provider_keeps_gets_recall_once(book: Tenure) -> None:
    server = ScriptedServer(response(CALL), response(said("done"), id="resp_2"))
    client = client_of(server)
    with book.run(TASK) as run:
        first = create_response(client, run, model="m", input=TASK, instructions="You are a clerk.")
        output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
        create_response(client, run, model="m", previous_response_id=first.id, input=[output], instructions="You are a clerk.")
        run.finish(success=True)
    assert server.requests[1]["input"] == [output]
    assert server.requests[1]["instructions"] == server.requests[0]["instructions"]
    assert [step.kind for step in kept(book, run.id).steps] == ["message", "message", "tool_call", "tool_result", "message"]
    assert kept(book, run.id).steps[3].name == "refund"


def test_a_tool_of_the_provider_has_call_and_result_in_one_item(empty: Tenure) -> None:
    item = {"type": "mcp_call", "id": "mcp_1", "name": "lookup", "server_label": "s", "arguments": '{"a": 1}', "error": "no such row"}
    with empty.run(TASK) as run:
        create_response(client_of(ScriptedServer(response(item, said("sorry")))), run, model="m", input=TASK)
        run.finish(success=False)
    assert told(kept(empty, run.id))[1:3] == [
        ("tool_call", "assistant", "lookup", "{'a': 1}"),
        ("tool_result", "tool", "lookup", "no such row"),
    ]


EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "sequence_number": 0, "response": response()},
    {
        "type": "response.output_text.delta",
        "sequence_number": 1,
        "output_index": 0,
        "content_index": 0,
        "item_id": "msg_1",
        "delta": "do",
        "logprobs": [],
    },
    {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": said("done")},
    {"type": "response.completed", "sequence_number": 3, "response": response(said("done"), CALL)},
]


@pytest.mark.parametrize(("read", "steps"), [(4, ["done", ""]), (3, ["done"]), (2, ["do"])])
def test_a_streamed_response_is_recorded_as_far_as_it_came(empty: Tenure, read: int, steps: list[str]) -> None:
    async def played() -> str:
        async with empty.run(TASK) as run:
            client = async_client_of(ScriptedServer(EVENTS[:read]))
            async for _ in await acreate_response(client, run, model="m", input=TASK, stream=True):
                pass
            await run.afinish(success=True)
        return run.id

    assert [step.content for step in kept(empty, asyncio.run(played())).steps[1:]] == steps
