"""Errors as callers of the service see them: problem details of RFC 9457, in words, and nothing of anybody else's."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from tenure.errors import (
    ChangedMeanwhile,
    ModelError,
    ScopeError,
    StoreBusy,
    StoreError,
    TenureError,
    UnknownLesson,
    UnknownVersion,
    UserError,
)
from tenure.logs import event

_log = logging.getLogger("tenure.service")

TYPES = "https://tenure.invalid/problems/"
"""Before the names of kinds of problems. It names them and leads nowhere."""


FAULT = "This is a fault in Tenure. The server's log says more, under the id of this request."


class Problem(HTTPException):
    """A reply that says what is wrong. Frameworks let it pass as their own.

    Attributes:
        status: of HTTP.
        kind: a word that programs can go by.
        detail: what, which value, what next.
        headers: of the reply.
        more: further members of it.
    """

    def __init__(
        self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, more: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(status_code=status, detail=detail, headers=dict(headers or {}))
        self.status, self.kind, self.more = status, kind, dict(more or {})

    def reply(self, request: str = "") -> Response:
        """It as a reply."""
        body = {**self.more, "type": f"{TYPES}{self.kind}", "title": _TITLES.get(self.status, "Error"), "status": self.status}
        body |= {"detail": self.detail, **({"request": request} if request else {})}
        headers = dict(self.headers or {})
        if self.status == 401:
            headers.setdefault("WWW-Authenticate", 'Bearer realm="tenure"')
        return answered(body, status=self.status, headers=headers, media="application/problem+json")


_TITLES = {
    400: "Bad request",
    401: "No valid key",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Wrong media type",
    422: "Cannot be used",
    428: "Condition needed",
    429: "Too many requests",
    500: "Fault in Tenure",
    502: "Upstream failed",
    503: "Not now",
}


PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "Kind of the problem; the last part is a word that programs can go by."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What, which value, what next."},
        "request": {"type": "string", "description": "Id of the request, as the server's log has it."},
        "errors": {"type": "array", "items": {"type": "object"}, "description": "Each field that was wrong."},
    },
}
"""A problem's form, for the API's document."""


def answered(data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None, media: str = "application/json") -> Response:
    """A reply of JSON. Half characters, which no reply can hold, become question marks."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status_code=status, headers=dict(headers or {}), media_type=media)


def problem_of(exc: TenureError) -> Problem:
    """An error of the engine as a problem."""
    if isinstance(exc, UnknownLesson | UnknownVersion):
        return Problem(404, "unknown", str(exc))
    if isinstance(exc, ChangedMeanwhile):
        return Problem(412, "changed", str(exc), headers={"ETag": f'"{exc.newest}"'})
    if isinstance(exc, ScopeError):
        return Problem(422, "scope", str(exc))
    if isinstance(exc, UserError):
        return Problem(422, "value", str(exc))
    if isinstance(exc, StoreBusy):
        return Problem(503, "busy", "The database is held by others. Nothing was written; try again.", headers={"Retry-After": "1"})
    if isinstance(exc, StoreError):
        event(_log, "store.failed", logging.ERROR, said=f"store failed: {exc}", failure=exc)  # an address in it is the operator's affair
        return Problem(503, "store", "The database cannot be used now. Nothing was written; try again.", headers={"Retry-After": "5"})
    if isinstance(exc, ModelError):
        return Problem(502, "model", "The language model failed. What it was asked for can be tried again.")
    event(_log, "request.failed", logging.ERROR, said=f"request failed: {type(exc).__name__}", failure=exc)
    return Problem(500, "fault", FAULT)


def install(app: FastAPI) -> None:
    """Have an app answer every error with a problem."""

    def request_id(request: Request) -> str:
        return str(getattr(request.state, "request", ""))

    @app.exception_handler(Problem)
    async def own(request: Request, exc: Problem) -> Response:
        return exc.reply(request_id(request))

    @app.exception_handler(TenureError)
    async def engine(request: Request, exc: TenureError) -> Response:
        return problem_of(exc).reply(request_id(request))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, exc: RequestValidationError) -> Response:
        wrong = [{"at": ".".join(map(str, error["loc"])), "problem": str(error["msg"])} for error in exc.errors()[:20]]
        first = wrong[0] if wrong else {"at": "body", "problem": "cannot be read"}
        detail = f"{first['at']}: {first['problem']}. The API's document says what is expected: /openapi.json"
        return Problem(422, "request", detail, more={"errors": wrong}).reply(request_id(request))

    @app.exception_handler(HTTPException)
    async def plain(request: Request, exc: HTTPException) -> Response:
        detail = f"{request.method} {request.url.path[:200]}: {exc.detail}. What there is: /openapi.json"
        return Problem(exc.status_code, "http", detail, headers=exc.headers).reply(request_id(request))
