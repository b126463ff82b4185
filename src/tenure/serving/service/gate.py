"""What every request passes before a room answers it: an id, a bound on its body, and where it may come from.

Plain ASGI, so that streams stay streams.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Any

from tenure.logs import event, in_request, without_words
from tenure.serving.service.problems import FAULT, Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_log = logging.getLogger("tenure.service")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
"""Names of this machine to itself."""


class BrokenOff(Exception):
    """A reply that had begun cannot be ended. Why stands in the log."""


class Gate:
    """Numbers requests, bounds their bodies, and answers what no room caught.

    Args:
        app: what is behind it.
        body_bytes: of a body, at most, with or without a Content-Length.
        unbounded: beginnings of paths whose rooms bound what they read themselves.
        local_only: whether only programs of this machine may call, no page of a browser that came from elsewhere: where there are
            no keys, this is what keeps others out. A name that was made to lead here (DNS rebinding) shows in `Host`.
    """

    def __init__(self, app: App, *, body_bytes: int, unbounded: Collection[str] = (), local_only: bool = False) -> None:
        self._app, self._most, self._unbounded, self._local_only = app, body_bytes, tuple(unbounded), local_only

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        named = headers.get("x-request-id", "")
        request = named if _REQUEST_ID.fullmatch(named) else secrets.token_hex(8)
        state = scope.setdefault("state", {})
        state["request"] = request
        with in_request(request):
            sent, took = time.perf_counter(), {"status": 0}
            try:
                await self._numbered(scope, receive, send, headers, request, took)
            finally:
                caller = state.get("caller")
                event(
                    _log,
                    "request.done",
                    method=scope["method"],
                    route=getattr(scope.get("route"), "path", "other"),
                    status=took["status"],
                    duration_s=round(time.perf_counter() - sent, 6),
                    **({"tenant": caller.tenant, "key": caller.key.id} if caller is not None else {}),
                )

    async def _numbered(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send, headers: Mapping[str, str], request: str, took: dict[str, int]
    ) -> None:
        state, begun = scope["state"], False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, took["status"] = True, message["status"]
                said = {name.lower() for name, _ in message["headers"]}
                extra = {"x-request-id": request, "x-content-type-options": "nosniff", **state.get("headers", {})}
                if b"cache-control" not in said:
                    extra["cache-control"] = "no-store"
                more = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in extra.items()]
                message = {**message, "headers": [*message["headers"], *(one for one in more if one[0] not in said)]}
            await send(message)

        bounded = not scope["path"].startswith(self._unbounded) if self._unbounded else True
        try:
            if self._local_only:
                check_local(headers)
            if bounded:
                self._check_length(headers)
            await self._app(scope, self._counted(receive) if bounded else receive, answer)
        except Problem as exc:
            if begun:
                raise BrokenOff from None
            await exc.reply(request)(scope, receive, answer)
        except asyncio.CancelledError:  # the server ends, and this took longer than it may
            if not begun:
                ending = Problem(503, "ending", "The server ends. Try again.", headers={"Retry-After": "5"})
                await ending.reply(request)(scope, receive, answer)
        except Exception as exc:  # noqa: BLE001  # whatever it is, it is told and logged
            said_of = f"request {request} failed: {without_words(exc)}"
            event(_log, "request.failed", logging.ERROR, said=said_of, failure=exc, request=request)
            if begun:
                raise BrokenOff from None  # the server logs it with its message
            await Problem(500, "fault", FAULT).reply(request)(scope, receive, answer)

    def _check_length(self, headers: Mapping[str, str]) -> None:
        length = headers.get("content-length", "")
        if length.isdecimal() and (len(length) > 15 or int(length) > self._most):
            raise too_large(self._most)

    def _counted(self, receive: Receive) -> Receive:
        got = 0

        async def bounded() -> Message:
            nonlocal got
            message = await receive()
            if message["type"] == "http.request":
                got += len(message.get("body", b""))
                if got > self._most:
                    raise too_large(self._most)
            return message

        return bounded


def too_large(most: int) -> Problem:
    """The problem of a body that is too large."""
    return Problem(413, "size", f"The body is larger than {most:,} bytes. Send less at a time; runs can be streamed to /v1/runs:stream.")


def check_local(headers: Mapping[str, str]) -> None:
    """Make sure that a request comes from a program, or a page, of this machine.

    Raises:
        Problem: 403, it was sent under another name, or by a page from elsewhere.
    """
    host = _name_of(headers.get("host", ""))
    origin = headers.get("origin", "")
    if host not in LOOPBACK or (origin and _name_of(origin.partition("://")[2]) not in LOOPBACK):
        raise Problem(
            403, "local", "This server runs without keys and answers this machine alone. Use http://127.0.0.1, or start it with keys."
        )
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Problem(403, "local", "This server runs without keys and answers no page from elsewhere. Start it with keys.")


def _name_of(authority: str) -> str:
    name, colon, port = authority.rpartition(":")
    return name if colon and port.isdecimal() and (not name.count(":") or name.endswith("]")) else authority
