"""MCP over streamable HTTP: the tools of `tenure mcp` behind the keys of the service.

Each key has a server of its own for each scope it asks for, and with it sessions of its own: one that another key opened
is not there.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tenure.serving.service.callers import Caller
from tenure.serving.service.doing import caller_of
from tenure.serving.service.engine import Engine
from tenure.serving.service.room import Room

PATH = "/mcp"
CHANNEL = "mcp"

SCOPE_HEADER = "x-tenure-scope"
"""Names the scope; without it the key's own."""

MOST_SERVERS = 2_000
"""Servers at once; the one that was used longest ago ends with its sessions, whose clients begin new ones."""

MOST_OF_TENANT = 100
"""Servers of one tenant at once, so that none can end the sessions of others by asking for many."""

IDLE_S = 1_800.0
"""Seconds after which a session that nobody uses ends."""


def mcp_room(body_bytes: int) -> Room:
    """The room at `/mcp`.

    Args:
        body_bytes: largest body of a request.
    """
    servers = _Servers(body_bytes)

    def mount(app: FastAPI) -> None:
        app.router.routes.append(Route(PATH, servers, name="mcp", include_in_schema=False))

    return Room(mount=mount, unbounded=(PATH,), lifespan=servers.open)


_LOADING = threading.Lock()


def _load() -> None:
    """Load the library of MCP beside the first requests: it takes as long as all else that a server does before it listens.

    One thread does it at a time: its parts import each other in a circle, over which two threads would wait for each other.
    """
    with _LOADING:
        import tenure.serving.mcp  # noqa: F401


@dataclass(slots=True)
class _Running:
    app: Starlette
    begun: anyio.Event
    end: anyio.Event


class _Servers:
    """Servers by key, role and scope, begun when they are first asked for."""

    def __init__(self, body_bytes: int) -> None:
        self._most = body_bytes
        self._running: OrderedDict[tuple[str, str, str], _Running] = OrderedDict()
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def open(self, app: FastAPI) -> AsyncIterator[None]:
        """Servers can be begun inside; they end with it."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            threading.Thread(target=_load, name="tenure-mcp-load", daemon=True).start()
            try:
                yield
            finally:
                self._tasks = None
                self._running.clear()
                tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of a key by its own server."""
        request = Request(scope)
        caller = await run_in_threadpool(caller_of, request)
        where = caller.scope(request.headers.get(SCOPE_HEADER), "read")
        running = await self._server(request.app.state.engine, caller, where)
        await running.app(scope, receive, send)

    async def _server(self, engine: Engine, caller: Caller, scope: str) -> _Running:
        name = (f"{caller.tenant} {caller.key.id}", caller.key.role, scope)
        found = self._running.get(name)
        if found is None:
            assert self._tasks is not None, "the app's lifespan is open while it answers"
            made = await run_in_threadpool(self._made, engine, caller, scope)
            found = self._running.get(name)  # another request may have made it meanwhile
            if found is None:
                found = self._running[name] = _Running(made, anyio.Event(), anyio.Event())
                self._tasks.start_soon(self._run, found)
        self._running.move_to_end(name)
        own = [one for one in self._running if one[0].rpartition(" ")[0] == caller.tenant]
        for one in own[: max(0, len(own) - MOST_OF_TENANT)]:
            self._running.pop(one).end.set()
        while len(self._running) > MOST_SERVERS:
            self._running.popitem(last=False)[1].end.set()
        await found.begun.wait()
        return found

    def _made(self, engine: Engine, caller: Caller, scope: str) -> Starlette:
        _load()
        from mcp.server.transport_security import TransportSecuritySettings

        from tenure.serving.agent_memory import AgentMemory
        from tenure.serving.agent_tools import AgentTools
        from tenure.serving.mcp import build_server

        book = engine.book(scope)
        principal = caller.key.id
        tools = AgentTools(
            book,
            principal=principal,
            channel=CHANNEL,
            writes=caller.key.allows("report"),
            model_thinks=book.model is not None,
            later=(lambda run: engine.arrived(scope, run)) if engine.learning is not None else None,
        )
        server = build_server(tools, memory=AgentMemory(book, principal=principal, channel=CHANNEL))
        return server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=self._most,
            session_idle_timeout=IDLE_S,
            max_sessions=200,
            # Who may call is decided before: by keys, or by the names of this machine where there are none.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @staticmethod
    async def _run(running: _Running) -> None:
        async with running.app.router.lifespan_context(running.app):
            running.begun.set()
            await running.end.wait()
