"""The proxy itself: an ASGI app between agents and their providers."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import unquote

import anyio
import httpx2

from tenure.errors import StoreError, TenureError
from tenure.logs import event, without_words
from tenure.serving.proxy import BUDGET_MS
from tenure.serving.proxy.bodies import Form, form_of
from tenure.serving.proxy.door import Door
from tenure.serving.proxy.errors import error_body
from tenure.serving.proxy.exchange import Asked, Heard, Receive, Scope, Send, Upload, asked_of, read_all, reply, watch
from tenure.serving.proxy.own_part import OwnPart, Prepared, Said
from tenure.serving.proxy.pending import Pending, Repeated
from tenure.serving.proxy.upstream import Upstreams, has_credential, headers_back, open_client, request_to
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem, problem_of
from tenure.stores.scopes import tenant
from tenure.version import VERSION

_T = TypeVar("_T")
_log = logging.getLogger("tenure.proxy")

LARGEST = 16 << 20
"""Bytes of a request that something is added to, at most; larger ones are passed on as they come."""

SMALL = 256 << 10
"""Bytes of a request that are read before it is looked who sends it; so it is looked once for most."""

RECORDED = 8 << 20
"""Bytes of an answer that are recorded, at most."""

LATE_S = 60.0
"""Seconds that a turn waits to be recorded for what Tenure was too slow to add."""

TOLD_S = 10.0
"""Seconds between two lines of the log that say the same: when a database is away, every request says so."""

READY_S = 5.0
"""Seconds that the database may take to say that it is there."""

RECORDERS = 2
"""Threads that record what was said. Few, for nobody waits for them, and each takes time from the one that answers."""

THREADS = 8
WAITING = 64
"""Requests that may wait for a thread; further ones go on without Tenure at once."""

_GOES_ON = re.compile(rb'"previous_response_id"\s*:\s*"([^"\\]+)"')
_HEALTH = frozenset({"/healthz", "/readyz"})
_ENDS = re.compile(r"/v1/runs/([^/]+)/outcome")


class Proxy:
    """Passes requests on, with lessons added where a conversation with a model is had, and records what was said.

    Whatever is not such a request passes untouched; so does every request when Tenure's own part fails or is slow.

    Args:
        engine: what recalls, and where conversations and runs are kept; none passes everything, for whoever comes.
        upstreams: providers by name.
        door: who may come in; none asks for keys.
        budget_ms: how long a request waits for Tenure, in milliseconds.
        client: sends requests; none makes one at the first request.
    """

    def __init__(
        self,
        engine: Engine | None,
        upstreams: Upstreams,
        door: Door | None = None,
        *,
        budget_ms: float = BUDGET_MS,
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        self._upstreams, self._budget_s, self._client = upstreams, budget_ms / 1000, client
        self._own = OwnPart(engine, door or Door(engine)) if engine is not None else None
        self._adding = ThreadPoolExecutor(THREADS, thread_name_prefix="tenure-proxy-adding")
        self._recording = ThreadPoolExecutor(RECORDERS, thread_name_prefix="tenure-proxy-recording")
        self._busy = 0
        self._pending, self._without = Pending(), Repeated("proxy.passed", "requests went on without lessons", every_s=TOLD_S)

    @property
    def client(self) -> httpx2.AsyncClient:
        """What sends requests to providers."""
        if self._client is None:
            self._client = open_client()
        return self._client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection (see ASGI)."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(asked_of(scope), receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003, "reason": "The proxy passes HTTP on, no WebSockets."})

    async def aclose(self) -> None:
        """Finish what is being recorded, and close connections."""
        await asyncio.to_thread(self._recording.shutdown)
        self._adding.shutdown(wait=False, cancel_futures=True)
        if self._client is not None:
            await self._client.aclose()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return

    # -- one request ---------------------------------------------------------------------------------

    async def _answer(self, asked: Asked, receive: Receive, send: Send) -> None:
        try:
            if asked.path in _HEALTH and asked.method in ("GET", "HEAD"):
                await self._tell_health(asked, send)
                return
            ends = _ENDS.fullmatch(asked.path)
            if ends is not None and asked.method == "POST" and self._own is not None:
                await self._take_outcome(self._own, asked, unquote(ends[1]), receive, send)
                return
            goal = self._upstreams.of(asked.path, asked.headers)
            if goal is None:
                names = ", ".join(f"/{name}/v1/..." for name in self._upstreams.urls)
                raise Problem(404, "upstream", f"No provider is known for {asked.path[:200]}. Begin the path with a name: {names}")
            form = form_of(asked.method, goal[1])
            if form is None or self._own is None:
                await self._pass(asked, goal, receive, send)
            elif asked.by_name.get("content-encoding", "identity").lower() != "identity":
                await self._pass(asked, goal, receive, send, said="passed; compressed request")
            else:
                await self._converse(self._own, asked, goal, form, receive, send)
        except Problem as exc:
            await reply(send, exc.status, error_body(asked.path, exc.status, exc.kind, exc.detail), exc.headers or {})

    async def _tell_health(self, asked: Asked, send: Send) -> None:
        """`/healthz`: the process answers. `/readyz`: the database does too; while it does not, requests pass without lessons."""
        status, body = 200, {"status": "ok", "version": VERSION}
        if asked.path == "/readyz" and self._own is not None:
            try:
                await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(self._recording, self._own.check_ready), READY_S)
                body["status"] = "ready"
            except (TenureError, TimeoutError):
                status, body["status"] = 503, "passing without lessons"
        await reply(send, status, b"" if asked.method == "HEAD" else json.dumps(body).encode(), {"cache-control": "no-store"})

    async def _converse(self, own: OwnPart, asked: Asked, goal: tuple[str, str], form: Form, receive: Receive, send: Send) -> None:
        """A request to a model: lessons are added, and what was said is recorded."""
        said = own.said(asked)
        raw, whole = await read_all(receive, SMALL)
        if raw is not None and not whole:  # who may not come in is told before more than that is kept of theirs
            await self._in_time(own, self._begun(lambda: own.admit(asked)), asked)
            more, whole = await read_all(receive, LARGEST - len(raw))
            raw = raw + more if more is not None else None
        if raw is None:
            return  # the caller went away before all of it was here
        if len(raw) > LARGEST or not whole:
            await self._pass(asked, goal, receive, send, said="passed; too large", begun=raw, whole=whole)
            return
        before = _GOES_ON.search(raw) if form == "responses" else None
        if before is not None:  # that reply may still be being recorded
            admitted, _ = await self._in_time(own, self._begun(lambda: own.admit(asked)), asked)
            if admitted:
                await self._pending.settled(tenant(admitted[0].scope), before[1].decode("ascii", "replace"))
        work: asyncio.Future[Prepared] | None = self._begun(lambda: own.prepare(asked, said, form, raw))
        given, why = await self._in_time(own, work, asked)
        prepared = given[0] if given else None
        run = prepared.taken.up.conversation.run if prepared is not None and prepared.taken is not None else said.run
        with self._pending.held(
            tenant(prepared.admitted.scope) if prepared is not None else own.door.claimed(asked.by_name), run
        ) as pending:

            def late() -> str:
                found = run or _run_of(work)
                if found != run:
                    pending.name(found)
                return found

            heard = Heard(
                said=prepared.said if prepared is not None else f"passed; {why}",
                run=run,
                late=late,
                named=pending.name if form == "responses" else None,
            )
            try:
                await self._send_on(asked, goal, prepared.content if prepared is not None else raw, receive, send, heard)
            except Problem as exc:  # no answer came; an outcome that was told with the request is told all the same
                heard.status = exc.status
                await self._record(own, work, said, heard)
                raise
            await self._record(own, work, said, heard)

    async def _pass(
        self, asked: Asked, goal: tuple[str, str], receive: Receive, send: Send, *, said: str = "", begun: bytes = b"", whole: bool = False
    ) -> None:
        """Anything else: who may come in is looked at, and the rest is between the caller and the provider.

        Args:
            asked, goal, receive, send: the request.
            said: for the header x-tenure.
            begun, whole: what was read of its body, and whether that is all.
        """
        if self._own is not None:
            own = self._own
            _, why = await self._in_time(own, self._begun(lambda: own.admit(asked)), asked)
            said = said or (f"passed; {why}" if why else "")
        has_body = begun or any(name in (b"content-length", b"transfer-encoding") for name, _ in asked.headers)
        content = begun if whole else Upload(receive, begun) if has_body else None
        await self._send_on(asked, goal, content, receive, send, Heard(said=said))

    # -- Tenure's part -------------------------------------------------------------------------------

    def _begun(self, work: Callable[[], _T]) -> asyncio.Future[_T] | None:
        """Work in a thread; none if too much waits already."""
        if self._busy >= THREADS + WAITING:
            return None
        self._busy += 1
        future = asyncio.get_running_loop().run_in_executor(self._adding, work)

        def ended(_: object) -> None:
            self._busy -= 1

        future.add_done_callback(ended)
        return future

    async def _in_time(self, own: OwnPart, work: asyncio.Future[_T] | None, asked: Asked) -> tuple[list[_T], str]:
        """What work gives, as the one element of a list, or why the request goes on without it.

        Raises:
            Problem: the caller may not come in, or nobody can tell and the request carries no key of the provider's.
        """
        why = "busy"
        if work is not None:
            try:
                return [await asyncio.wait_for(asyncio.shield(work), self._budget_s)], ""
            except TimeoutError:
                why = "slow"
                work.add_done_callback(_noted)
            except Problem:
                raise
            except StoreError:
                why = "store down"
            except Exception as exc:  # noqa: BLE001  # no fault of ours may keep an agent from its provider
                why = "fault"
                event(_log, "proxy.fault", logging.ERROR, said=f"fault: {without_words(exc)}", failure=exc)
        self._without.told(why)
        if not own.door.without_keys and not has_credential(asked.headers):
            raise Problem(503, "store", "Keys cannot be checked now. Nothing was sent on; try again.", headers={"retry-after": "1"})
        return [], why

    async def _record(self, own: OwnPart, work: asyncio.Future[Prepared] | None, said: Said, heard: Heard) -> None:
        """Keep what was said, after the caller has it. Where Tenure was only slow, what it made is there by now."""
        if work is None or (heard.status >= 400 and said.outcome is None):
            return
        try:
            prepared = await asyncio.wait_for(asyncio.shield(work), LATE_S)
        except Exception:  # noqa: BLE001  # why was said by whoever waited for it first
            return
        taken = prepared.taken
        if taken is None:
            return
        try:
            await asyncio.get_running_loop().run_in_executor(self._recording, own.record, prepared, taken, said, heard)
        except Exception as exc:  # noqa: BLE001  # the caller has its answer; all that can be done is to say so
            run = taken.up.conversation.run
            said_of = f"a turn of run {run[:80]} was not recorded: {type(exc).__name__}"
            event(_log, "turn.lost", logging.ERROR, said=said_of, failure=exc, run=run, scope=prepared.admitted.scope)

    async def _take_outcome(self, own: OwnPart, asked: Asked, run: str, receive: Receive, send: Send) -> None:
        """`POST /v1/runs/{id}/outcome`; errors are problem details, as those of the service."""
        try:
            raw, whole = await read_all(receive, 1 << 20)
            if raw is None:
                return
            if not whole:
                raise Problem(413, "size", "An outcome has at most 1 MiB.")
            loop = asyncio.get_running_loop()
            admitted = await loop.run_in_executor(self._recording, own.admit, asked)
            await self._pending.settled(tenant(admitted.scope), run)  # what was said last belongs to the run as well
            told = await loop.run_in_executor(self._recording, own.end, admitted, run, raw)
            await reply(send, 202, json.dumps(told).encode(), {})
        except (Problem, TenureError) as exc:
            problem = exc if isinstance(exc, Problem) else problem_of(exc)
            answer = problem.reply()
            await reply(send, problem.status, bytes(answer.body), {**(problem.headers or {}), "content-type": "application/problem+json"})

    # -- the provider's part -------------------------------------------------------------------------

    async def _send_on(
        self, asked: Asked, goal: tuple[str, str], content: bytes | Upload | None, receive: Receive, send: Send, heard: Heard
    ) -> None:
        """Send a request on and its answer back, byte by byte as it comes, until it ends or the caller goes away.

        Raises:
            Problem: 502 or 504, there is no answer.
        """
        base, path = goal
        try:
            request = request_to(base, asked.method, path, asked.query, asked.headers, content)
        except httpx2.InvalidURL:
            raise Problem(400, "path", f"The path {path[:200]} cannot be sent on. Begin it with a '/'.") from None
        problem: Problem | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(watch, receive, group.cancel_scope, content)
            try:
                await self._relay(request, send, heard)
            except httpx2.HTTPError as exc:
                problem = _unanswered(exc, request, heard)
            except OSError:
                event(_log, "caller.left", said="a caller went away before its answer was whole")
            group.cancel_scope.cancel()
        if problem is not None:
            raise problem

    async def _relay(self, request: httpx2.Request, send: Send, heard: Heard) -> None:
        response = await self.client.send(request, stream=True)
        try:
            if not 100 <= response.status_code <= 599:
                raise httpx2.RemoteProtocolError("a status that is none", request=request)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            heard.encoding, heard.streamed = response.headers.get("content-encoding", ""), kind == "text/event-stream"
            headers = headers_back(response.headers.raw)
            headers += [(b"x-tenure", heard.said.encode("latin-1"))] if heard.said else []
            heard.run = heard.late() if heard.late is not None else heard.run
            headers += [(b"x-tenure-run", heard.run.encode("latin-1"))] if heard.run else []
            heard.status = response.status_code
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            async for chunk in response.aiter_raw():
                if heard.status < 400 and len(heard.raw) < RECORDED:
                    heard.add(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            heard.complete = True
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


def _unanswered(exc: httpx2.HTTPError, request: httpx2.Request, heard: Heard) -> Problem | None:
    """What to say of a provider that failed; nothing where its answer had begun: then it breaks off for the caller too."""
    host, kind = request.url.netloc.decode("ascii"), type(exc).__name__
    did = "broke off" if heard.status else "did not answer"
    event(_log, "upstream.failed", logging.WARNING, said=f"{host} {did}: {kind}", provider=host, reason=did.replace(" ", "_"), error=kind)
    if heard.status:
        return None
    if isinstance(exc, httpx2.TimeoutException) and not isinstance(exc, httpx2.ConnectTimeout):
        return Problem(504, "upstream_silent", f"The provider at {host} did not answer in time ({kind}).")
    return Problem(502, "upstream", f"The provider at {host} cannot be reached ({kind}). Try again.")


def _run_of(work: asyncio.Future[Prepared] | None) -> str:
    """The run that a request belongs to, if that is known by now; else empty."""
    if work is None or not work.done() or work.cancelled() or work.exception() is not None:
        return ""
    taken = work.result().taken
    return taken.up.conversation.run if taken is not None else ""


def _noted(work: asyncio.Future[Any]) -> None:
    """Look at how late work ended, so that nobody complains that nobody did."""
    if not work.cancelled():
        work.exception()
