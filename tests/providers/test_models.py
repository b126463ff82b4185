"""Models through pydantic-ai: real HTTP on loopback; what providers do wrong ends in one kind of error."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra 'models'")

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage

from tenure.errors import ModelError, SettingError, UserError
from tenure.ports import LanguageModel, Prompt
from tenure.providers.models import PydanticAIModel, open_model
from tests.providers.chat_server import ChatServer, chat_server, completion, failure

PROMPT = Prompt(system="Be brief.", user="What is it?", purpose="reflect", max_tokens=77)


@contextmanager
def opened(server: ChatServer, name: str = "openai:tiny", **options: Any) -> Iterator[tuple[PydanticAIModel, list[float]]]:
    """A model of the server, and the waits between its requests, which are not really waited for."""
    waits: list[float] = []
    model = open_model(name, base_url=server.url, sleep=waits.append, **options)
    try:
        yield model, waits
    finally:
        model.close()


def test_a_reply_comes_with_its_finish_usage_and_model() -> None:
    with chat_server((200, completion("It is.", cached=5))) as server, opened(server) as (model, _):
        reply = model.complete(PROMPT)
    assert (reply.text, reply.finish_reason, reply.model) == ("It is.", "stop", "tiny-0.1")
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (1, 12, 3, 5)
    assert reply.usage.cost_usd is None, "nobody knows what a server of one's own costs"
    assert isinstance(model, LanguageModel)
    assert model.name == "openai:tiny"


def test_the_prompt_goes_out_as_plain_system_and_user_text() -> None:
    with chat_server((200, completion("ok"))) as server, opened(server) as (model, _):
        model.complete(PROMPT)
    body = server.bodies[0]
    assert [(one["role"], one["content"]) for one in body["messages"]] == [("system", "Be brief."), ("user", "What is it?")]
    assert body["model"] == "tiny"
    assert body["max_tokens"] == 77
    assert body.keys() - {"stream"} == {"model", "messages", "max_tokens"}
    assert not body.get("stream")


@pytest.mark.parametrize(
    ("name", "key"), [("openai:gpt-5-mini", "max_completion_tokens"), ("openai:o3", "max_completion_tokens"), ("qwen3:0.6b", "max_tokens")]
)
def test_the_token_limit_has_the_name_that_the_server_knows(name: str, key: str) -> None:
    with chat_server((200, completion("ok"))) as server, opened(server, name.replace("qwen3:", "openai:qwen3:")) as (model, _):
        model.complete(PROMPT)
    assert server.bodies[0][key] == 77


def test_without_a_provider_a_base_url_means_an_openai_compatible_server() -> None:
    with chat_server((200, completion("ok"))) as server, opened(server, "tiny") as (model, _):
        assert model.complete(PROMPT).text == "ok"
        assert model.name == "openai:tiny"


def test_a_key_in_the_environment_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    with chat_server((200, completion("ok"))) as server:
        with opened(server) as (model, _):
            model.complete(PROMPT)
        with opened(server, api_key="sk-own") as (model, _):
            model.complete(PROMPT)
    assert [headers["authorization"] for headers in server.sent_headers] == ["Bearer api-key-not-set", "Bearer sk-own"]


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("length", "length"), ("content_filter", "refused"), ("stop", "stop"), (None, "stop"), ("tool_calls", "tool_call")],
)
def test_the_finish_reason_is_passed_on(finish: str | None, expected: str) -> None:
    with chat_server((200, completion("ok", finish=finish))) as server, opened(server) as (model, _):
        assert model.complete(PROMPT).finish_reason == expected


def test_a_refusal_is_told_as_one() -> None:
    with chat_server((200, completion(None, refusal="I will not."))) as server, opened(server) as (model, _):
        reply = model.complete(PROMPT)
    assert (reply.text, reply.finish_reason) == ("I will not.", "refused")


@pytest.mark.parametrize("text", ['<think>{"operations": [1]}', '{"text": "use <think> and </think> tags"}', "a \ufeff b"])
def test_the_text_is_verbatim_thoughts_included(text: str) -> None:
    with chat_server((200, completion(text))) as server, opened(server) as (model, _):
        assert model.complete(PROMPT).text == text


def test_half_characters_become_a_mark() -> None:
    model = PydanticAIModel(FunctionModel(lambda *_: ModelResponse(parts=[TextPart(content="a \ud83d b")])), name="function:half")
    try:
        assert model.complete(PROMPT).text == "a \ufffd b"
    finally:
        model.close()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, failure("slow down")),
        (500, failure("oops")),
        (503, failure("overloaded")),
        (502, "<html>bad gateway</html>"),
        (408, failure("late")),
    ],
)
def test_a_passing_failure_is_tried_again(status: int, body: Any) -> None:
    with chat_server((status, body), (status, body), (200, completion("ok"))) as server, opened(server) as (model, waits):
        reply = model.complete(PROMPT)
    assert (reply.text, reply.usage.calls, waits) == ("ok", 3, [1.0, 2.0])


def test_the_wait_a_provider_asks_for_is_kept_unless_it_is_long() -> None:
    with chat_server((429, failure("slow down")), (200, completion("ok"))) as server, opened(server) as (model, waits):
        server.headers = {"Retry-After": "7"}
        model.complete(PROMPT)
        assert waits == [7.0]
    with chat_server((429, failure("slow down"))) as server, opened(server) as (model, waits):
        server.headers = {"Retry-After": "3600"}
        with pytest.raises(ModelError, match=r"rate limit is reached.*asks to wait 3600 s") as caught:
            model.complete(PROMPT)
    assert (waits, caught.value.calls) == ([], 1)


def test_retries_end() -> None:
    with (
        chat_server((503, failure("down for repair"))) as server,
        opened(server, max_retries=2) as (model, waits),
        pytest.raises(
            ModelError, match=r"Provider 'openai' gave no reply from 'openai:tiny' after 3 requests: .*down for repair"
        ) as caught,
    ):
        model.complete(PROMPT)
    assert (len(server.bodies), waits, caught.value.calls) == (3, [1.0, 2.0], 3)


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, failure("no such key"), "the key is missing, wrong or without access"),
        (404, failure("no model 'tiny'", "model_not_found"), "knows no such model, or the address is wrong"),
        (400, failure("too long", "context_length_exceeded"), "longer than the model's window"),
        (429, failure("pay first", "insufficient_quota"), "quota or credit is used up"),
        (422, failure("max_tokens must be odd"), "max_tokens must be odd"),
        (200, "<html>a login page</html>", "expected JSON data"),
        (200, {"choices": []}, ""),
    ],
)
def test_a_lasting_failure_is_not_tried_again_and_says_why(status: int, body: Any, reason: str) -> None:
    with (
        chat_server((status, body)) as server,
        opened(server) as (model, waits),
        pytest.raises(ModelError, match="gave no reply") as caught,
    ):
        model.complete(PROMPT)
    assert reason in str(caught.value)
    assert (len(server.bodies), waits, caught.value.calls) == (1, [], 1)


def test_the_key_is_in_no_message() -> None:
    with (
        chat_server((401, failure("Incorrect API key provided: sk-own-123456"))) as server,
        opened(server, api_key="sk-own-123456") as (model, _),
        pytest.raises(ModelError) as caught,
    ):
        model.complete(PROMPT)
    assert "sk-own" not in str(caught.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with chat_server((200, completion("ok"))) as server:
        pass
    with opened(server, max_retries=1) as (model, waits), pytest.raises(ModelError, match="cannot be reached"):
        model.complete(PROMPT)
    assert waits == [1.0]


def test_a_server_that_hangs_is_given_up_on() -> None:
    with chat_server((200, completion("ok"))) as server:
        server.hold = threading.Event()
        began = time.monotonic()
        with (
            opened(server, timeout_s=0.3, max_retries=1) as (model, _),
            pytest.raises(ModelError, match="after 2 requests: it did not answer in time"),
        ):
            model.complete(PROMPT)
        assert time.monotonic() - began < 60, "it holds its answer for two minutes"


def test_threads_and_event_loops_share_one_model() -> None:
    async def ask_inside_a_loop(model: PydanticAIModel) -> str:
        return model.complete(PROMPT).text

    with chat_server((200, completion("ok"))) as server, opened(server) as (model, _):
        with ThreadPoolExecutor(6) as pool:
            texts = list(pool.map(lambda _: model.complete(PROMPT).text, range(12)))
        texts.append(asyncio.run(ask_inside_a_loop(model)))
        texts.append(asyncio.run(ask_inside_a_loop(model)))
    assert texts == ["ok"] * 14


def test_a_closed_model_opens_again_when_it_is_asked() -> None:
    with chat_server((200, completion("ok"))) as server, opened(server) as (model, _):
        for _ in range(3):
            assert model.complete(PROMPT).text == "ok"
            model.close()
        model.close()


def test_closing_ends_a_call_that_waits() -> None:
    with chat_server((200, completion("ok"))) as server:
        server.hold = threading.Event()
        with opened(server, max_retries=0) as (model, _), ThreadPoolExecutor(1) as pool:
            asked = pool.submit(model.complete, PROMPT)
            while not server.bodies:
                time.sleep(0.01)
            model.close()
            with pytest.raises(ModelError, match="closed while it waited"):
                asked.result(timeout=60)


def test_a_process_ends_though_nothing_was_closed() -> None:
    with chat_server((200, completion("ok"))) as server:
        code = f"""
from tenure.ports import Prompt
from tenure.providers.models import open_model
print(open_model("openai:tiny", base_url={server.url!r}).complete(Prompt(system="s", user="u", purpose="reflect")).text)
"""
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_any_model_of_pydantic_ai_will_do_and_thoughts_are_not_the_text() -> None:
    usage = RequestUsage(input_tokens=1000, output_tokens=100, cache_read_tokens=600)
    asked = FunctionModel(
        lambda *_: ModelResponse(parts=[ThinkingPart(content="hm"), TextPart(content="yes")], usage=usage, finish_reason="length")
    )
    model = PydanticAIModel(asked, name="function:yes")
    try:
        reply = model.complete(PROMPT)
    finally:
        model.close()
    assert (reply.text, reply.finish_reason, reply.usage.cached_tokens) == ("yes", "length", 600)


def test_known_models_have_a_price() -> None:
    assert open_model("openai:gpt-4o", api_key="k").price_usd(1_000_000, 0) == Decimal("2.50")
    assert open_model("anthropic:claude-sonnet-4-5", api_key="k").price_usd(0, 0) == 0
    assert open_model("openai:gpt-4o", base_url="http://127.0.0.1:9/v1").price_usd(1_000_000, 0) is None


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-pro"])
def test_a_missing_key_is_named(name: str) -> None:
    with pytest.raises(UserError, match=rf"Model '{name}' needs a key. Set the environment variable [A-Z]+_API_KEY\.$"):
        open_model(name)


@pytest.mark.parametrize(
    ("name", "options", "kind", "message"),
    [
        ("gpt-4o", {}, UserError, "names no provider. Write PROVIDER:MODEL, such as openai:gpt-4o"),
        ("openai:", {}, UserError, "names no provider"),
        ("", {}, UserError, "names no provider"),
        ("nope:x", {}, UserError, "There is no provider 'nope'.*openai:x with its base URL"),
        ("cohere:x", {}, UserError, r"needs a package that is not installed: pip install 'pydantic-ai-slim\[cohere\]'"),
        ("openai-codex:x", {"base_url": "http://127.0.0.1:9"}, UserError, "takes no base URL"),
        (
            "openai:x",
            {"base_url": "localhost:8080"},
            SettingError,
            "'localhost:8080' is not an address. Write it like http://127.0.0.1:8080/v1",
        ),
        ("openai:x", {"timeout_s": 0}, SettingError, "time-out is 0 s"),
        ("openai:x", {"max_retries": -1}, SettingError, "retries is -1"),
    ],
)
def test_what_cannot_be_opened_says_what_to_do(name: str, options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        open_model(name, **options)


def test_another_provider_can_have_a_base_url_too() -> None:
    model = open_model("anthropic:claude-sonnet-4-5", base_url="http://127.0.0.1:9", api_key="k")
    assert model._model.base_url == "http://127.0.0.1:9"


def test_without_the_extra_the_message_names_it() -> None:
    code = """
import sys
sys.modules["pydantic_ai"] = None
from tenure.errors import MissingExtra
from tenure.providers.models import open_model
try:
    open_model("openai:gpt-4o")
except MissingExtra as exc:
    print(exc)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout
        == "Language models need the extra 'models'. Install it: pip install 'tenure[models]' (in a checkout: pip install '.[models]').\n"
    )


def test_importing_the_adapter_loads_no_model_library() -> None:
    code = """
import sys, tenure.providers.models, tenure.roles.reflect, tenure.roles.curate
print(sorted({"pydantic_ai", "openai", "httpx"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("how", "reason", "unanswered"),
    [
        ("trickles", r"did not answer in time \(0\.5 s\)", 1),
        ("cuts", "the connection broke before the answer was whole", 1),
        ("hangs up", "the connection broke before the answer was whole", 1),
        ("never ends", "its answer is longer than 8,000,000 bytes", 1),
    ],
)
def test_a_server_that_is_broken_is_given_up_on_in_time(how: str, reason: str, unanswered: int) -> None:
    with chat_server((200, completion("ok"))) as server:
        server.misbehaves = how
        began = time.monotonic()
        with opened(server, timeout_s=0.5 if how == "trickles" else 30, max_retries=0) as (model, _):
            with pytest.raises(ModelError, match=reason) as caught:
                model.complete(PROMPT)
            assert (caught.value.calls, caught.value.unanswered) == (1, unanswered)
            model.close()
            server.misbehaves = ""
            assert model.complete(PROMPT).text == "ok", "a connection of its own serves the next one"
        assert time.monotonic() - began < 60


def test_what_was_never_sent_is_not_counted_as_unanswered() -> None:
    with chat_server((200, completion("ok"))) as server:
        pass
    with opened(server, max_retries=0) as (model, _), pytest.raises(ModelError) as caught:
        model.complete(PROMPT)
    assert (caught.value.unanswered, caught.value.passing) == (0, True)


@pytest.mark.parametrize("header", ["-5", "0", "nonsense", "NaN", "inf", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_an_odd_time_to_wait_neither_hangs_nor_breaks(header: str) -> None:
    with chat_server((429, failure("slow down"))) as server, opened(server, max_retries=2) as (model, waits):
        server.headers = {"Retry-After": header}
        with pytest.raises(ModelError, match="rate limit"):
            model.complete(PROMPT)
    assert len(server.bodies) <= 3
    assert all(0 <= wait <= 60 for wait in waits)


def test_a_call_that_may_take_only_so_long_waits_for_nothing_beyond() -> None:
    with (
        chat_server((503, failure("down"))) as server,
        opened(server) as (model, waits),
        pytest.raises(ModelError, match="after 3 requests"),
    ):
        model.complete(replace(PROMPT, within_s=3.9))
    assert waits == [1.0, 2.0]
