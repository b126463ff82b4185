"""What the proxy adds to the time of a request: 50 requests a second, in conversations of ten turns, at a scope of 200 lessons.

Three targets take turns in the same minutes: the provider itself (a server on loopback that answers at once), a bare proxy
(the same code without an engine), and the proxy. Each is a process of its own. `added_` is a quantile of the proxy's less the
same quantile of the bare one's. Every conversation is new: its first request recalls, the others re-insert what was kept.
The database is a SQLite file, or what TENURE_BENCH_DB names.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2

from tenure import Tenure
from tenure.playbook.delta import Add

SEED = 0
"""Of the lessons, the tasks and the order of requests."""

RATE = 50
LOWER = (10, 25)
"""Rates that are measured beside it: what the proxy adds while the machine has room."""

FAILED = 599
"""Stands for the status of a request that got no answer in 30 seconds."""

TURNS = 10
LESSONS = 200
TARGETS = ("direct", "bare", "proxy")
_WORDS = "invoice refund customer order approve deploy service flag table export import check total currency rate limit queue retry".split()


def measure(*, full: bool) -> dict[str, Any]:
    """Milliseconds by target and quantile."""
    seconds, rounds, lessons = (10, 2, LESSONS) if full else (0.4, 1, 20)
    dice = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        url = os.environ.get("TENURE_BENCH_DB") or f"sqlite:///{Path(folder) / 'bench.db'}"
        scope = f"bench{dice.randrange(10**9)}{time.time_ns() % 10**9}/agents"
        with Tenure.open(url, scope=scope, embedder="none") as book:
            book.apply(
                [
                    Add(section=f"part {n % 12}", text=f"Case {n}: {_sentence(dice, 14)}.", applies_when=_sentence(dice, 5))
                    for n in range(lessons)
                ]
            )
        provider = stack.enter_context(_process("provider"))
        addresses = {
            "direct": provider,
            "bare": stack.enter_context(_process("bare", provider)),
            "proxy": stack.enter_context(_process("proxy", provider, url, scope)),
        }
        for name in TARGETS if full else ():
            asyncio.run(_drive(addresses[name], RATE, 1.0, random.Random("warm-up")))
        by_rate: dict[int, dict[str, list[Taken]]] = {}
        for rate in (*LOWER, RATE) if full else (RATE,):
            took: dict[str, list[Taken]] = {name: [] for name in TARGETS}
            for number in range(rounds):
                for name in sorted(TARGETS, key=lambda name: dice.random()):
                    took[name] += asyncio.run(_drive(addresses[name], rate, seconds, random.Random(f"{SEED}/{rate}/{number}")))
            by_rate[rate] = took
    at = {str(rate): _figures(took) for rate, took in by_rate.items()}
    return {"lessons": lessons, "turns": TURNS, "database": url.partition(":")[0], **at.pop(str(RATE)), "at_rate": at}


def _figures(took: dict[str, list[Taken]]) -> dict[str, Any]:
    figures: dict[str, Any] = {"requests": len(took["proxy"])}
    for name in TARGETS:
        figures[name] = {f"{label}_ms": _quantile([one.ms for one in took[name]], share) for label, share in (("p50", 0.5), ("p99", 0.99))}
    for label in ("p50_ms", "p99_ms"):
        figures[f"added_{label}"] = figures["proxy"][label] - figures["bare"][label]
        figures[f"added_to_direct_{label}"] = figures["proxy"][label] - figures["direct"][label]
    firsts = [one.ms for one in took["proxy"] if one.first]
    figures["first_turn_p50_ms"], figures["first_turn_p99_ms"] = _quantile(firsts, 0.5), _quantile(firsts, 0.99)
    later = [one.ms for one in took["proxy"] if not one.first]
    figures["later_turn_p50_ms"], figures["later_turn_p99_ms"] = _quantile(later, 0.5), _quantile(later, 0.99)
    figures["without_lessons"] = sum(one.said != "added" for one in took["proxy"])
    figures["failed"] = sum(one.status != 200 for name in TARGETS for one in took[name])
    return figures


class Taken:
    """One request: how long it took, in milliseconds, and what came of it."""

    def __init__(self, ms: float, *, first: bool, status: int, said: str) -> None:
        self.ms, self.first, self.status, self.said = ms, first, status, said


async def _drive(url: str, rate: int, seconds: float, dice: random.Random) -> list[Taken]:
    """Requests at a steady rate, whatever becomes of those before; each conversation has its turns one after the other."""
    conversations = [_Conversation(dice) for _ in range(TURNS)]
    taken: list[Taken] = []

    async def ask(client: httpx2.AsyncClient, body: bytes, *, first: bool) -> None:
        began = time.perf_counter()
        status, said = FAILED, ""
        with contextlib.suppress(httpx2.TimeoutException):
            answer = await client.post(
                f"{url}/v1/chat/completions", content=body, headers={"content-type": "application/json", "authorization": "Bearer k"}
            )
            status, said = answer.status_code, answer.headers.get("x-tenure", "")
        taken.append(Taken((time.perf_counter() - began) * 1000, first=first, status=status, said=said))

    async with httpx2.AsyncClient(timeout=30, limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100)) as client:
        waiting: list[asyncio.Task[None]] = []
        began = time.perf_counter()
        for number in range(int(rate * seconds)):
            place = number % len(conversations)
            if conversations[place].over:
                conversations[place] = _Conversation(dice)
            body, first = conversations[place].next()
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            waiting.append(asyncio.create_task(ask(client, body, first=first)))
        await asyncio.gather(*waiting)
    return taken


class _Conversation:
    """An agent's: a system prompt of a few kilobytes, a task, then calls and their results."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You are a clerk. " + "Follow the rules of the house in every case. " * 60},
            {"role": "user", "content": f"Task {dice.randrange(10**9)}: {_sentence(dice, 20)}."},
        ]
        # They begin at different turns, so that first turns come evenly.
        self._left = dice.randrange(1, TURNS + 1) if dice.random() < 0.5 else TURNS
        self._turn = 0

    @property
    def over(self) -> bool:
        """Whether the last turn was had."""
        return self._turn >= self._left

    def next(self) -> tuple[bytes, bool]:
        """The next request, and whether it is the first."""
        body = json.dumps({"model": "m", "messages": self._messages, "temperature": 0}).encode()
        first = self._turn == 0
        self._turn += 1
        call = {
            "id": f"c{self._turn}",
            "type": "function",
            "function": {"name": "look", "arguments": json.dumps({"q": _sentence(self._dice, 4)})},
        }
        self._messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": _sentence(self._dice, 80)},
        ]
        return body, first


def _sentence(dice: random.Random, words: int) -> str:
    return " ".join(dice.choice(_WORDS) + (str(dice.randrange(400)) if dice.random() < 0.4 else "") for _ in range(words))


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


@contextlib.contextmanager
def _process(*what: str) -> Iterator[str]:
    """A server in a process of its own; its address."""
    command = [sys.executable, __file__, *what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url, f"{what[0]} did not start"
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


_ANSWER = json.dumps(
    {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
).encode()  # fmt: skip


async def _provider(scope: Any, receive: Any, send: Any) -> None:
    """Answers every request at once."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(_ANSWER)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": _ANSWER})


def _serve(what: str, *given: str) -> None:
    """Serve until a signal, as the command does."""
    from tenure.serving.service.listening import Address, listen, serve, url_of

    app: Any = _provider
    if what != "provider":
        from tenure.serving.proxy.app import Proxy
        from tenure.serving.proxy.door import Door
        from tenure.serving.proxy.upstream import Upstreams
        from tenure.serving.service.engine import Engine

        upstreams = Upstreams(urls={"openai": given[0]})
        if what == "bare":
            app = Proxy(None, upstreams)
        else:
            engine = Engine(Tenure.open(given[1], scope=given[2], embedder="none"))
            app = Proxy(engine, upstreams, Door(engine, without_keys=True, scope=given[2]))
    address = Address(port=0)
    with listen(address) as taken:
        where = url_of(address, taken)
        serve(app, address, taken, begun=lambda: print(where, flush=True), date_header=False)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
