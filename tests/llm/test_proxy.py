"""The proxy before a real model server on loopback: it takes what is sent, streams, and finds its cache where it was.

Run by `make check-llm`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import openai
import pytest

from tenure.playbook.delta import Add
from tenure.serving.proxy.app import Proxy
from tenure.serving.proxy.door import Door
from tenure.serving.proxy.upstream import Upstreams
from tenure.serving.service.engine import Engine
from tenure.stores.in_memory import InMemoryStore
from tenure.wiring import Tenure
from tests.llm.model_server import missing
from tests.llm.test_small_model import Server, server
from tests.serving.proxy.servers import served

__all__ = ["server"]

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"needs {' and '.join(missing())}: make check-llm installs them"),
    pytest.mark.timeout(900),
]

SCOPE = "acme/small"


@pytest.fixture
def engine() -> Engine:
    engine = Engine(Tenure(InMemoryStore(), SCOPE, embedder="none"))
    engine.book(SCOPE).apply([Add(section="colours", text=f"Colour number {n} is called after its place in the list.") for n in range(12)])
    return engine


@pytest.fixture
def url(server: Server, engine: Engine) -> Iterator[str]:  # it is the fixture
    proxy = Proxy(engine, Upstreams(urls={"local": server.url}), Door(engine, without_keys=True, scope=SCOPE), budget_ms=60_000)
    with served(proxy, lifespan="on") as there:
        yield there


def test_a_conversation_goes_on_and_its_cache_holds(url: str, engine: Engine) -> None:
    messages: list[dict[str, str]] = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "Name a colour."}]
    cached: list[int] = []
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=600) as ai:
        run = ""
        for turn in range(3):
            pieces = ""
            answer = ai.chat.completions.with_raw_response.create(
                model="smollm2",
                messages=messages,  # type: ignore[arg-type]
                max_tokens=12,
                stream=True,
                stream_options={"include_usage": True},
            )
            assert answer.headers["x-tenure"] == "added"
            assert run in ("", answer.headers["x-tenure-run"])
            run = answer.headers["x-tenure-run"]
            for chunk in answer.parse():
                pieces += "".join(choice.delta.content or "" for choice in chunk.choices)
                if chunk.usage is not None and chunk.usage.prompt_tokens_details is not None:
                    cached.append(chunk.usage.prompt_tokens_details.cached_tokens or 0)
            assert pieces.strip()
            messages += [{"role": "assistant", "content": pieces}, {"role": "user", "content": f"And number {turn}?"}]
            engine.book(SCOPE).apply([Add(section="colours", text=f"Red was learned in turn {turn}.")])
    print(f"\ntokens from the cache, by turn: {cached}")
    if any(cached):  # servers that do not say how much came from their cache prove nothing
        assert cached[1] > 200
        assert cached[2] > cached[1]
    until = time.monotonic() + 30
    while True:
        with engine.store.reading(SCOPE) as look:
            kept = look.run(run)
        if kept is not None and sum(step.role == "assistant" for step in kept.steps) == 3:
            break
        assert time.monotonic() < until
        time.sleep(0.05)
    assert not any("tenure-context" in step.content for step in kept.steps)


def test_an_error_of_the_server_is_the_callers(url: str) -> None:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=600) as ai,
        pytest.raises(openai.APIStatusError) as found,
    ):
        ai.chat.completions.create(model="smollm2", messages=[{"role": "user", "content": "x"}], max_tokens=4, temperature="warm")  # type: ignore[call-overload]
    assert found.value.status_code >= 400
