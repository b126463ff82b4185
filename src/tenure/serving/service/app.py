"""The app: what every request passes, and the rooms that answer."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI

from tenure.serving.service import problems
from tenure.serving.service.access import FAILURES, RATE, Access
from tenure.serving.service.api import SCHEMES
from tenure.serving.service.doing import Called, Engined, caller_of, engine_of
from tenure.serving.service.engine import Engine
from tenure.serving.service.gate import Gate
from tenure.serving.service.room import Room
from tenure.serving.service.routes import ROUTERS
from tenure.version import VERSION

__all__ = ["BODY_BYTES", "Called", "Engined", "Room", "build_app", "caller_of", "engine_of"]

BODY_BYTES = 2_000_000
"""Of a request, at most, where a route does not stream."""

STREAM = "/v1/runs:stream"

DESCRIPTION = """\
Lessons from what runs really showed, graded, under your control.

An agent asks for the context of a task (`POST /v1/context`), acts, and the run is reported (`POST /v1/runs`, or
`POST /v1/runs/{id}/outcome` for one that began with a context). What it teaches is learned in the background.

Every request carries an API key. A key opens one scope and those below it; whatever it does not open reads as if it were
not there. Errors are problem details (RFC 9457). Lists come in pages: send `next` of a page as `after`.
"""


def build_app(
    engine: Engine,
    *,
    rooms: Sequence[Room] = (),
    body_bytes: int = BODY_BYTES,
    rate: int = RATE,
    failures: int = FAILURES,
    without_keys: bool = False,
    seconds: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """The app over an engine.

    Args:
        engine: what answers.
        rooms: pages, proxy and the like, each mounted after the API.
        body_bytes: largest body of a request that is not streamed, and of a line of one that is.
        rate: requests a minute of a key without a limit of its own; 0 for no limit.
        failures: wrong keys a minute from one address; 0 for no limit.
        without_keys: whether everybody is an admin of the tenant `local`, and only this machine is answered.
        seconds: for the limits; for tests.
    """

    all_rooms = [*rooms, *_mcp(body_bytes)]

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for room in all_rooms:
                if room.lifespan is not None:
                    await stack.enter_async_context(room.lifespan(app))
            yield

    app = FastAPI(
        title="Tenure", version=VERSION, summary="Agents that learn on the job.", description=DESCRIPTION,
        docs_url=None, redoc_url=None, lifespan=lifespan, separate_input_output_schemas=False,
    )  # fmt: skip
    app.state.engine = engine
    app.state.access = Access(engine, rate=rate, failures=failures, without_keys=without_keys, seconds=seconds)
    app.state.body_bytes = body_bytes
    problems.install(app)
    unbounded = (STREAM, *(path for room in all_rooms for path in room.unbounded))
    app.add_middleware(Gate, body_bytes=body_bytes, unbounded=unbounded, local_only=without_keys)
    for router in ROUTERS:
        app.include_router(router)
    document = app.openapi

    def openapi() -> dict[str, Any]:
        made = document()
        made.setdefault("components", {})["securitySchemes"] = SCHEMES
        return made

    app.openapi = openapi  # type: ignore[method-assign]
    for room in all_rooms:
        room.mount(app)
    return app


def _mcp(body_bytes: int) -> list[Room]:
    """MCP, where its library is installed."""
    if importlib.util.find_spec("mcp") is None:
        return []
    from tenure.serving.service.mcp_http import mcp_room

    return [mcp_room(body_bytes)]
