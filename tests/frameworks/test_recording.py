"""Laws of what is recorded, over any conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Tenure, UserError
from tenure.frameworks import context_parts, record_messages
from tenure.frameworks.anthropic import message_request
from tenure.frameworks.openai import completion_request
from tenure.testing import open_trial
from tests.frameworks.kept_runs import kept, told

TEXTS = st.sampled_from(["yes", "no", "refund it", "Error: no", "[ord-00001]", ""])
CALLS = st.sampled_from(["c1", "c2", "c3"])


def calling(call: str, said: str) -> dict[str, Any]:
    function = {"name": "refund", "arguments": json.dumps({"said": said})}
    return {"role": "assistant", "content": said or None, "tool_calls": [{"id": call, "type": "function", "function": function}]}


MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["system", "user", "assistant"]), TEXTS),
        st.builds(calling, CALLS, TEXTS),
        st.builds(lambda call, text: {"role": "tool", "tool_call_id": call, "content": text}, CALLS, TEXTS),
    ),
    max_size=12,
)


def recorded(pieces: list[list[dict[str, Any]]]) -> list[tuple[str, ...]]:
    with open_trial() as book:
        with book.run("t") as run:
            for piece in pieces:
                record_messages(run, piece)
            run.finish(success=True)
        return told(kept(book, run.id))


@given(MESSAGES, st.lists(st.integers(0, 12), max_size=5))
def test_a_conversation_told_again_as_it_grows_is_recorded_as_if_told_once(messages: list[dict[str, Any]], places: list[int]) -> None:
    grown = [messages[:place] for place in sorted(places)]
    assert recorded([*grown, messages, messages]) == recorded([messages])


@given(MESSAGES)
def test_a_request_keeps_all_that_it_had(messages: list[dict[str, Any]]) -> None:
    from tenure import Add

    with open_trial() as book:
        book.apply([Add(section="s", text="Refund by the id of the payment.", id="ord-00001")])
        with book.run("refund it") as run:
            for request in (completion_request, message_request):
                made = request(run, messages=messages, model="m", unknown={"a": 1})
                assert (made["model"], made["unknown"]) == ("m", {"a": 1})
                left = json.dumps(made, ensure_ascii=False)
                assert all(json.dumps(message["content"], ensure_ascii=False)[1:-1] in left for message in messages if message["content"])
                assert len(made["messages"]) - len(messages) in (0, 1)
            run.finish(success=True)


def test_the_two_parts_of_a_context_are_all_of_it(book: Tenure) -> None:
    with book.run("refund order W2") as run:
        stable, recall = context_parts(run)
        inside = "\n".join(line for part in (stable, recall) for line in part.split("\n")[1:-1])
        assert inside.strip() == run.context.replace("</tenure-context>", "&lt;/tenure-context>").strip()
        run.finish(success=True)


def test_the_stable_part_is_the_same_for_another_task(book: Tenure) -> None:
    one, other = book.context("refund order W2"), book.context("paint the fence")
    assert one.stable == other.stable
    assert one.stable
    assert one.text == one.stable + one.for_task


def test_what_is_no_message_is_refused_whole(empty: Tenure) -> None:
    with empty.run("t") as run:
        with pytest.raises(UserError, match="no message with a role"):
            record_messages(run, [{"role": "user", "content": "a"}, "b"])
        run.finish(success=True)
        with pytest.raises(UserError, match="finished already"):
            record_messages(run, [{"role": "user", "content": "a"}])
    assert kept(empty, run.id).steps == ()


def test_lessons_named_in_messages_and_in_arguments_are_cited_with_those_that_finish_is_told(book: Tenure) -> None:
    from tenure import Add

    book.apply([Add(section="s", text=f"Rule {one}.", id=f"s-0000{one}") for one in (1, 2, 3)])
    with book.run("t") as run:
        record_messages(run, [{"role": "user", "content": "use [s-00003]"}, {"role": "assistant", "content": "by [s-00001], [nobody-1]"}])
        call = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"used": ["s-00002"]}'}}],
        }
        record_messages(run, [call])
        run.finish(success=True, cited=["ord-00001", "s-00001"])
    assert kept(book, run.id).cited == ("s-00001", "s-00002", "ord-00001")
