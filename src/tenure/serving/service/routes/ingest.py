"""Runs as a stream: a line each, kept in portions, told line by line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tenure.errors import TenureError
from tenure.playbook.run import Run
from tenure.serving.service.api import read_json, router
from tenure.serving.service.bodies import RunBody
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.problems import Problem, problem_of
from tenure.serving.service.reporting import keep_runs

ROUTER = router("runs")

PORTION = 50
"""Lines whose fate is told together."""

MEDIA = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "text/plain")

_LINES = (
    '{"line":1,"id":"week-1","kept":true}\n{"line":2,"kept":false,"problem":"task: Field required"}\n{"lines":2,"kept":1,"refused":1}\n'
)


class Lines(Response):
    """A reply that is written while the request is still read: nothing else may take its messages, as a usual stream does."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncIterator[str], status_code: int = 200) -> None:
        super().__init__(status_code=status_code)
        del self.headers["content-length"]
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send each part as it is there."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in self._lines:
            await send({"type": "http.response.body", "body": part.encode("ascii"), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@ROUTER.post(
    "/runs:stream",
    response_class=Lines,
    summary="Report many runs",
    responses={
        200: {
            "description": "A line for each, once it is on disk or refused; the last line sums up. Without it the rest was not read.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}, "example": _LINES}},
        },
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "Runs in the run format, one a line. The body may be of any length, a line of 2 MB.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}, "example": '{"task":"Close the books","steps":[]}\n'}},
        }
    },
)
async def stream_runs(to: Annotated[Doing, Depends(May("report", "runs.stream"))], request: Request) -> Response:
    """Report runs, one a line, as they come. Each is on disk before its line of the reply is sent; a line that is refused says why,
    and the others go on. Sent again, runs with ids of their own count once; give them ids.
    """
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media not in MEDIA:
        raise Problem(415, "media", f"The body is '{media[:60] or 'of no type'}'. Send lines with Content-Type: application/x-ndjson.")
    most = int(request.app.state.body_bytes)
    return Lines(_replies(to, request, most))


@dataclass(slots=True)
class _Sum:
    kept: int = 0
    refused: int = 0
    number: int = 0


async def _replies(to: Doing, request: Request, most: int) -> AsyncIterator[str]:
    done = _Sum()
    portion: list[tuple[int, bytes | None]] = []
    try:
        async for line in _lines(request, most):
            done.number += 1
            if line is not None and not line.strip():
                continue
            portion.append((done.number, line))
            if len(portion) >= PORTION:
                yield await run_in_threadpool(_keep, to, portion, done, most)
                portion = []
    except ClientDisconnect:  # what was read counts; nobody is there to be told
        with suppress(_Stop):
            await run_in_threadpool(_keep, to, portion, done, most)
        return
    except _Stop as exc:
        yield _line({"stopped": exc.reason, "lines": done.number, "kept": done.kept, "refused": done.refused})
        return
    try:
        if portion:
            yield await run_in_threadpool(_keep, to, portion, done, most)
    except _Stop as exc:
        yield _line({"stopped": exc.reason, "lines": done.number, "kept": done.kept, "refused": done.refused})
        return
    yield _line({"lines": done.number, "kept": done.kept, "refused": done.refused})


class _Stop(Exception):
    """The stream cannot go on; lines that were not told of are to be sent again."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


async def _lines(request: Request, most: int) -> AsyncIterator[bytes | None]:
    """The lines of a body in bounded memory; none stands for one that is too long."""
    kept, skipping = bytearray(), False
    async for chunk in request.stream():
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0:
            kept += chunk[begin:end]
            begin = end + 1
            yield None if skipping or len(kept) > most else bytes(kept)
            kept.clear()
            skipping = False
        kept += chunk[begin:]
        if len(kept) > most:
            kept.clear()
            skipping = True
    if kept or skipping:
        yield None if skipping else bytes(kept)


def _keep(to: Doing, portion: list[tuple[int, bytes | None]], done: _Sum, most: int) -> str:
    """Keep a portion of lines in one transaction; durable on return. Gives the lines of the reply."""
    read: list[Run | Problem] = []
    for _, line in portion:
        try:
            read.append(_read(to, line, most))
        except Problem as exc:
            read.append(exc)
    runs = [one for one in read if isinstance(one, Run)]
    try:
        if not to.still_valid():
            raise _Stop("Your key was revoked, or has expired. Send what was not told of with another.")
        problems = iter(keep_runs(to, runs) if runs else [])
    except TenureError as exc:
        raise _Stop(problem_of(exc).detail) from exc
    replies: list[str] = []
    for (number, _), one in zip(portion, read, strict=True):
        problem = next(problems) if isinstance(one, Run) else one
        if problem is None and isinstance(one, Run):
            done.kept += 1
            replies.append(_line({"line": number, "id": one.id, "kept": True}))
        elif problem is not None:
            done.refused += 1
            replies.append(_line({"line": number, "kept": False, "problem": str(problem.detail)}))
    return "".join(replies)


def _read(to: Doing, line: bytes | None, most: int) -> Run:
    if line is None:
        raise Problem(413, "size", f"The line is longer than {most:,} bytes.")
    value = read_json(line)
    try:
        body = RunBody.model_validate(value)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        raise Problem(422, "request", f"{'.'.join(map(str, first['loc']))[:100] or 'line'}: {first['msg'][:200]}") from None
    return body.run(id=to.engine.ids.next(), scope=to.scope, origin=to.origin, at=to.engine.clock.now().isoformat())


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n"
