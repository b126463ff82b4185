"""The app: what every request passes (id, key, size), and the rooms that answer."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Response

from tenure.serving.service import problems
from tenure.serving.service.callers import Caller, identify
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem
from tenure.version import VERSION

BODY_BYTES = 2_000_000
"""Of a request, at most, where a route does not stream."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def engine_of(request: Request) -> Engine:
    """The engine behind the app that got a request."""
    engine: Engine = request.app.state.engine
    return engine


def caller_of(request: Request) -> Caller:
    """Who sent a request, by its API key.

    Raises:
        Problem: 401, none or no valid one.
    """
    engine = engine_of(request)
    scheme, _, presented = request.headers.get("authorization", "").partition(" ")
    presented = presented.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
    return identify(engine.store, presented, engine.clock, request=str(request.state.request))


Engined = Annotated[Engine, Depends(engine_of)]
Called = Annotated[Caller, Depends(caller_of)]


def build_app(engine: Engine, *, body_bytes: int = BODY_BYTES) -> FastAPI:
    """The app over an engine.

    Args:
        engine: what answers.
        body_bytes: largest body of a request that is not streamed.
    """
    app = FastAPI(title="Tenure", version=VERSION, docs_url=None, redoc_url=None)
    app.state.engine = engine
    problems.install(app)

    @app.middleware("http")
    async def numbered(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        named = request.headers.get("x-request-id", "")
        request.state.request = named if _REQUEST_ID.fullmatch(named) else secrets.token_hex(8)
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > body_bytes:
            reply: Response = Problem(
                413, "size", f"The body has {length} bytes; {body_bytes} is the most. Send less, or runs as NDJSON."
            ).reply(request.state.request)
        else:
            reply = await go_on(request)
        reply.headers["X-Request-Id"] = request.state.request
        return reply

    @app.get("/healthz", tags=["operation"], summary="Whether the process answers")
    def healthy() -> dict[str, str]:
        return {"status": "ok", "version": VERSION}

    return app
