"""The pages put on an app: their routes, style and script, and a page for addresses that are none."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import cast

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from tenure.serving.web import keys, ledger, lesson, memory, overview, playbook, review, runs, settings, signing_in
from tenure.serving.web.pages import PageRoute, error_page, guarded

ROOMS = (signing_in, overview, playbook, lesson, review, runs, ledger, memory, settings, keys)

OTHERS = ("/v1", "/mcp", "/openapi", "/healthz", "/readyz", "/metrics")
"""Addresses of programs: what is wrong there is told as problem details."""


def mount_pages(app: FastAPI) -> None:
    """Add the pages to an app of the service (see `app.build_app`)."""
    app.state.page_secret = secrets.token_urlsafe(32)
    router = APIRouter(route_class=PageRoute, include_in_schema=False, default_response_class=Response)
    for room in ROOMS:
        room.add_pages(router)
    app.include_router(router)
    app.mount("/pages", _OwnFiles(packages=[("tenure.serving.web", "static")]))
    Handler = Callable[[Request, Exception], Awaitable[Response]]
    before = cast("Handler | None", app.exception_handlers.get(HTTPException))

    @app.exception_handler(HTTPException)
    async def missing(request: Request, exc: HTTPException) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(OTHERS)
        if before is None or (wants_page and exc.status_code in (404, 405)):
            return error_page(request, exc)
        return await before(request, exc)


class _OwnFiles(StaticFiles):
    """Style and script, which carry their stamp in the address and so can be kept by browsers."""

    def file_response(self, full_path: object, stat_result: object, scope: Scope, status_code: int = 200) -> Response:
        """A file, with the headers of a page."""
        reply = super().file_response(full_path, stat_result, scope, status_code)  # type: ignore[arg-type]
        if isinstance(reply, FileResponse) and b"v=" in scope.get("query_string", b"") and Headers(scope=scope):
            reply.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return guarded(reply)
