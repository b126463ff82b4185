"""Services under test: the app over a store, with keys of tenants and roles, without a network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI
from starlette.testclient import TestClient

from tenure.governance.access import ROLES, Role
from tenure.opening import open_store
from tenure.ports import Store
from tenure.serving.service.app import build_app
from tenure.serving.service.background import ThreadLearning
from tenure.serving.service.callers import make_key
from tenure.serving.service.engine import Engine
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.sqlite import open_sqlite
from tenure.system import SystemClock
from tenure.wiring import Tenure
from tests.postgres import database_of

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: open_sqlite(f"sqlite:///{folder / 'service.db'}", now=SystemClock().now),
    "memory": lambda folder: InMemoryStore(),
    "postgres": lambda folder: open_store(database_of(folder).url),
}
"""Ways to have a store for a service."""

RUN = {
    "id": "week-2",
    "task": {"text": "Close the books for week 2", "kind": "close-week"},
    "steps": [
        {"kind": "tool_call", "name": "book", "call_id": "1", "arguments": {"invoice": 8, "amount": "88,00"}},
        {"kind": "tool_result", "name": "book", "call_id": "1", "error": "amount must be a decimal number with a point"},
    ],
    "outcome": {"success": False, "signal": "test", "feedback": "invoice 8 is not booked"},
}


@dataclass(slots=True)
class Service:
    """A service, and clients with keys for it."""

    engine: Engine
    app: FastAPI
    client: TestClient
    texts: dict[tuple[str, str], str] = field(default_factory=dict)

    def key(self, scope: str = "acme/finance", role: Role = "admin", **more: Any) -> str:
        """A key for a scope, made once for each role."""
        if more:
            return make_key(self.engine.store, self.engine.clock, self.engine.ids, scope=scope, role=role, by="tests", **more).text
        if (scope, role) not in self.texts:
            made = make_key(self.engine.store, self.engine.clock, self.engine.ids, scope=scope, role=role, by="tests")
            self.texts[scope, role] = made.text
        return self.texts[scope, role]

    def __call__(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        scope: str = "acme/finance",
        role: Role = "admin",
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx2.Response:
        """A request with a key."""
        sent = {"authorization": f"Bearer {self.key(scope, role) if key is None else key}", **(headers or {})}
        if body is not None:
            content, sent["content-type"] = json.dumps(body).encode("ascii"), "application/json"
        return self.client.request(method, path, content=content, headers=sent)

    def learned(self, timeout_s: float = 120.0) -> None:
        """Wait until nothing waits to be learned."""
        import time

        until = time.monotonic() + timeout_s
        learning = self.engine.learning
        assert isinstance(learning, ThreadLearning)
        while not learning.idle:
            assert time.monotonic() < until, "learning goes on and on"
            time.sleep(0.02)


@contextmanager
def service(store: Store, *, threads: int = 0, **more: Any) -> Iterator[Service]:
    """A service over a store."""
    engine = Engine(Tenure(store, "local/service", embedder="none"))
    app = build_app(engine, **more)
    learning = ThreadLearning(engine, threads=threads) if threads else None
    with TestClient(app, raise_server_exceptions=False, base_url="http://127.0.0.1") as client:
        yield Service(engine, app, client)
    if learning is not None:
        assert learning.close()


def routes_of(app: FastAPI) -> list[tuple[str, str, str]]:
    """Method, path and act of every operation of the API's document; the act is empty where no key is needed."""
    found = []
    for path, methods in app.openapi()["paths"].items():
        found += [(method.upper(), path, str(said.get("x-tenure-act", ""))) for method, said in methods.items()]
    return sorted(found)


__all__ = ["ROLES", "RUN", "STORES", "Service", "routes_of", "service"]
