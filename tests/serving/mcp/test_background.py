"""Models think after a report, never during it: the scope's own, or the client's where it lends it."""

from __future__ import annotations

import json
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import CreateMessageResult, ErrorData, TextContent

from tenure import Tenure
from tenure.errors import ModelError
from tenure.ports import LanguageModel, Prompt
from tenure.providers.scripted import RuleModel
from tenure.serving.agent_tools import AgentTools
from tenure.serving.cli.mcp import _reporter
from tenure.serving.mcp import build_server
from tenure.serving.mcp_background import Background
from tests.serving.mcp.conftest import STEPS, run_async

INSIGHT = {"text": "Pass dates to search_orders as YYYY-MM-DD.", "steps": [1, 3], "kind": "tool_rule"}


def answer(prompt: Prompt) -> str:
    if prompt.purpose == "curate" or "operations" in prompt.system:
        return json.dumps({"operations": [{"op": "ADD", "section": "tool rules", "text": INSIGHT["text"], "from": [0]}]})
    return json.dumps({"insights": [INSIGHT]})


@pytest.fixture
def book() -> Iterator[Tenure]:
    with Tenure.open("memory://", scope="acme/orders") as opened:
        yield opened


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 100
    while not holds():
        assert time.monotonic() < until, "it did not come to pass within 100 s"
        time.sleep(0.02)


def texts(book: Tenure) -> list[str]:
    return [lesson.text for lesson in book.playbook.lessons]


def report(tools: AgentTools) -> str:
    run = str(tools.context("find the orders of January").data["run"])
    tools.report_outcome(run, success=True, steps=STEPS, signal="test")
    return run


def test_a_report_is_answered_before_the_model_and_learned_by_it_afterwards(book: Tenure) -> None:
    may_answer = threading.Event()

    def slowly(prompt: Prompt) -> str:
        assert may_answer.wait(100)
        return answer(prompt)

    background = Background(book, lambda: RuleModel(slowly))
    report(AgentTools(book, model_thinks=True, reported=background.reported))
    assert len(texts(book)) == 1
    assert book.waits_for_model() == 1
    may_answer.set()
    eventually(lambda: INSIGHT["text"] in texts(book))
    eventually(lambda: book.waits_for_model() == 0)
    background.end()
    assert background.settled(60)


def test_what_a_model_was_still_to_think_about_survives_the_server(book: Tenure) -> None:
    background = Background(book, lambda: None)
    run = report(AgentTools(book, reported=background.reported))
    background.end()
    assert background.settled(60)
    with book.store.reading(book.scope) as reading:
        assert reading.postponed_run(run) is not None
    # The next server goes on with it.
    later = Background(book, lambda: RuleModel(answer))
    report(AgentTools(book, reported=later.reported))
    eventually(lambda: book.waits_for_model() == 0)
    assert INSIGHT["text"] in texts(book)
    later.end()


def test_a_model_that_fails_ends_no_thread(book: Tenure) -> None:
    answers = iter([ModelError("the provider is down"), ValueError("a fault of a library")])

    def rule(prompt: Prompt) -> str:
        said = next(answers, None)
        if said is not None:
            raise said
        return answer(prompt)

    background = Background(book, lambda: RuleModel(rule))
    tools = AgentTools(book, reported=background.reported)
    for _ in range(3):
        report(tools)
        time.sleep(0.2)
    eventually(lambda: INSIGHT["text"] in texts(book))
    background.end()


def server_of(book: Tenure, *, sampling: bool) -> tuple[Any, Background]:
    background = Background(book, lambda: None)
    return build_server(AgentTools(book), reported=_reporter(background, False, sampling)), background


def test_a_client_that_lends_its_model_is_asked_in_the_background_and_within_the_caps(book: Tenure) -> None:
    server, background = server_of(book, sampling=True)
    asked: list[Any] = []

    async def lend(context: Any, params: Any) -> CreateMessageResult:
        asked.append(params)
        prompt = Prompt(system=params.system_prompt, user="", purpose="", max_tokens=1)
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=answer(prompt)), model="theirs")

    async def act() -> None:
        import asyncio

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            async with Client(server, mode="legacy", sampling_callback=lend) as client:
                run = (await client.call_tool("context", {"task": "find the orders"})).structured_content["run"]
                await client.call_tool("report_outcome", {"run": run, "success": True, "signal": "test", "steps": STEPS})
                for _ in range(4_000):
                    if INSIGHT["text"] in texts(book):
                        break
                    await asyncio.sleep(0.02)
        background.end()

    run_async(act())
    assert INSIGHT["text"] in texts(book)
    assert asked[0].system_prompt
    with book.store.reading(book.scope):
        assert book.store.spent(book.scope).calls == len(asked)


@pytest.mark.parametrize("sampling", [True, False])
def test_a_client_that_refuses_or_is_not_to_be_asked_loses_nothing(book: Tenure, sampling: bool) -> None:
    server, background = server_of(book, sampling=sampling)
    asked: list[Any] = []

    async def refuse(context: Any, params: Any) -> ErrorData:
        asked.append(params)
        return ErrorData(code=-1, message="the person said no")

    async def act() -> None:
        import asyncio

        async with Client(server, mode="legacy", sampling_callback=refuse) as client:
            run = (await client.call_tool("context", {"task": "find the orders"})).structured_content["run"]
            done = await client.call_tool("report_outcome", {"run": run, "success": True, "signal": "test", "steps": STEPS})
            assert done.structured_content["added"] == 1
            for _ in range(4_000 if sampling else 100):
                if asked:
                    break
                await asyncio.sleep(0.02)
        background.end()

    run_async(act())
    assert bool(asked) is sampling
    assert len(texts(book)) == 1


def test_a_client_without_sampling_is_never_asked(book: Tenure) -> None:
    server, background = server_of(book, sampling=True)

    async def act() -> None:
        for mode in ("auto", "legacy"):
            async with Client(server, mode=mode) as client:
                run = (await client.call_tool("context", {"task": "find the orders"})).structured_content["run"]
                assert not (await client.call_tool("report_outcome", {"run": run, "success": True, "steps": STEPS})).is_error

    run_async(act())
    assert book.waits_for_model() == 0
    background.end()


def test_a_model_lent_once_is_a_language_model(book: Tenure) -> None:
    import asyncio

    from tenure.serving.mcp_background import LentModel

    loop = asyncio.new_event_loop()
    loop.close()
    lent = LentModel(object(), loop)
    assert isinstance(lent, LanguageModel)
    with pytest.raises(ModelError, match="is gone"):
        lent.complete(Prompt(system="s", user="u", purpose="reflect", max_tokens=10))
