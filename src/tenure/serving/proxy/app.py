"""The proxy itself: an ASGI app between agents and their providers."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, TypeVar
from urllib.parse import unquote

import anyio
import httpx2

from tenure.errors import StoreError, TenureError
from tenure.playbook.run import Outcome
from tenure.serving.proxy.bodies import Body, Form, Opening, extended, form_of, opening_of, read_body
from tenure.serving.proxy.conversations import Conversations, TakenUp
from tenure.serving.proxy.door import Admitted, Door
from tenure.serving.proxy.errors import error_body
from tenure.serving.proxy.exchange import Heard, Receive, Scope, Send, Upload, read_all, reply, watch
from tenure.serving.proxy.outcomes import outcome_of_body, outcome_of_header
from tenure.serving.proxy.pending import Pending
from tenure.serving.proxy.recording import Recorder, Turn
from tenure.serving.proxy.upstream import Headers, Upstreams, has_credential, headers_back, open_client, request_to
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem, problem_of
from tenure.stores.scopes import tenant

_T = TypeVar("_T")

_log = logging.getLogger("tenure.proxy")

BUDGET_MS = 50
"""Milliseconds that Tenure may take before a request goes on without it."""

LARGEST = 16 << 20
"""Bytes of a request that something is added to, at most; larger ones are passed on as they come."""

RECORDED = 8 << 20
"""Bytes of an answer that are recorded, at most."""

THREADS = 8
WAITING = 64
"""Requests that may wait for a thread; further ones go on without Tenure at once."""

_GOES_ON = re.compile(rb'"previous_response_id"\s*:\s*"([^"\\]+)"')

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}")
_ENDS = re.compile(r"/v1/runs/([^/]+)/outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A request as it came.

    Attributes:
        method, path, query: the path percent-encoded.
        headers: names in lower case.
        address: where it came from.
        run, outcome: what its headers say of its run.
    """

    method: str
    path: str
    query: bytes
    headers: Headers
    address: str
    run: str = ""
    outcome: Outcome | None = None

    @property
    def by_name(self) -> dict[str, str]:
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.headers}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """What Tenure made of a request.

    Attributes:
        admitted: who sent it.
        body: the request as it came, taken apart; none if it could not be read.
        opening, taken: its conversation; none if nothing is recorded.
        content: the bytes to send.
        said: for the header x-tenure.
    """

    admitted: Admitted
    content: bytes
    body: Body | None = None
    opening: Opening | None = None
    taken: TakenUp | None = None
    said: str = "unread"


class Proxy:
    """Passes requests on, with lessons added where a conversation with a model is had, and records what was said.

    Whatever is not such a request passes untouched; so does every request when Tenure's own part fails or is slow.

    Args:
        engine: what recalls, and where conversations and runs are kept.
        upstreams: providers by name.
        door: who may come in.
        budget_ms: how long a request waits for Tenure, in milliseconds.
        client: sends requests; none makes one when the app starts.
    """

    def __init__(
        self, engine: Engine, upstreams: Upstreams, door: Door, *, budget_ms: float = BUDGET_MS, client: httpx2.AsyncClient | None = None
    ) -> None:
        self._engine, self._upstreams, self._door, self._budget_s = engine, upstreams, door, budget_ms / 1000
        self._conversations, self._recorder = Conversations(engine), Recorder(engine)
        self._client = client
        self._adding = ThreadPoolExecutor(THREADS, thread_name_prefix="tenure-proxy-adding")
        self._recording = ThreadPoolExecutor(2, thread_name_prefix="tenure-proxy-recording")
        self._busy = 0
        self._pending = Pending()

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
            await self._answer(scope, receive, send)
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

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw_path = scope.get("raw_path") or scope["path"].encode("utf-8")
        client = scope.get("client") or ("", 0)
        asked = _Asked(
            method=scope["method"],
            path=raw_path.decode("ascii", "replace").partition("?")[0],
            query=scope.get("query_string", b""),
            headers=[(bytes(name).lower(), bytes(value)) for name, value in scope["headers"]],
            address=str(client[0]),
        )
        try:
            asked = self._with_run(asked)
            ends = _ENDS.fullmatch(asked.path)
            if ends is not None and asked.method == "POST":
                await self._take_outcome(asked, unquote(ends[1]), receive, send)
                return
            goal = self._upstreams.of(asked.path, asked.headers)
            if goal is None:
                names = ", ".join(f"/{name}/v1/..." for name in self._upstreams.urls)
                raise Problem(404, "upstream", f"No provider is known for {asked.path[:200]}. Begin the path with a name: {names}")
            form = form_of(asked.method, goal[1])
            if form is None or asked.by_name.get("content-encoding", "identity").lower() != "identity":
                await self._pass(asked, goal, receive, send, said="" if form is None else "passed; compressed request")
            else:
                await self._converse(asked, goal, form, receive, send)
        except Problem as exc:
            await reply(send, exc.status, error_body(asked.path, exc.status, exc.kind, exc.detail), exc.headers)

    def _with_run(self, asked: _Asked) -> _Asked:
        """The request with what its headers say of its run.

        Raises:
            Problem: 400, they cannot be used.
        """
        run, said = asked.by_name.get("x-tenure-run", "").strip(), asked.by_name.get("x-tenure-outcome", "").strip()
        if run and not _RUN.fullmatch(run):
            raise Problem(400, "run", "The header x-tenure-run is no name of a run: letters, digits and . _ : @ / + = - , at most 128.")
        outcome = outcome_of_header(said, self._engine.clock.now().astimezone(UTC).isoformat()) if said else None
        return replace(asked, run=run, outcome=outcome)

    async def _converse(self, asked: _Asked, goal: tuple[str, str], form: Form, receive: Receive, send: Send) -> None:
        """A request to a model: lessons are added, and what was said is recorded."""
        raw, rest = await read_all(receive, LARGEST)
        if raw is None:
            return  # the caller went away before all of it was here
        if rest is not None:
            await self._pass(asked, goal, receive, send, said="passed; too large", begun=raw)
            return
        await self._settled(form, raw)
        work: asyncio.Future[_Prepared] | None = self._begun(lambda: self._prepare(asked, form, raw))
        given, why = await self._in_time(work, asked)
        prepared = given[0] if given else None
        content, said = (prepared.content, prepared.said) if prepared is not None else (raw, f"passed; {why}")
        run = prepared.taken.conversation.run if prepared is not None and prepared.taken is not None else asked.run
        with self._pending.held(run) as pending:
            heard = Heard(said=said, run=run, named=pending.name if form == "responses" else None)
            await self._send_on(asked, goal, content, receive, send, heard)
            await self._record(asked, work, prepared, heard)

    async def _settled(self, form: Form, raw: bytes) -> None:
        """Wait until the reply that a request goes on from is recorded, where that is being done here."""
        before = _GOES_ON.search(raw) if form == "responses" else None
        if before is not None:
            await self._pending.settled(before[1].decode("ascii", "replace"))

    async def _pass(
        self,
        asked: _Asked,
        goal: tuple[str, str],
        receive: Receive,
        send: Send,
        *,
        said: str,
        begun: bytes = b"",
    ) -> None:
        """Anything else: who may come in is looked at, and the rest is between the caller and the provider."""
        work: asyncio.Future[Admitted] | None = self._begun(lambda: self._door.admit(asked.by_name, asked.address))
        _, why = await self._in_time(work, asked)
        lengths = [value for name, value in asked.headers if name in (b"content-length", b"transfer-encoding")]
        content = None if not lengths and not begun else Upload(receive, begun)
        await self._send_on(asked, goal, content, receive, send, Heard(said=said or (f"passed; {why}" if why else "")))

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

    async def _in_time(self, work: asyncio.Future[_T] | None, asked: _Asked) -> tuple[list[_T], str]:
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
            except StoreError as exc:
                why = "store down"
                _log.warning("%s %s went on without lessons: %s", asked.method, asked.path[:100], type(exc).__name__)
            except Exception as exc:  # noqa: BLE001  # no fault of ours may keep an agent from its provider
                why = "fault"
                _log.error("%s %s went on without lessons: %s", asked.method, asked.path[:100], type(exc).__name__, exc_info=exc)
        if why in ("busy", "slow"):
            _log.warning("%s %s went on without lessons: %s", asked.method, asked.path[:100], why)
        if not self._door.without_keys and not has_credential(asked.headers):
            raise Problem(503, "store", "Keys cannot be checked now. Nothing was sent on; try again.", headers={"retry-after": "1"})
        return [], why

    def _prepare(self, asked: _Asked, form: Form, raw: bytes) -> _Prepared:
        admitted = self._door.admit(asked.by_name, asked.address)
        body = read_body(form, raw)
        if body is None:
            return _Prepared(admitted=admitted, content=raw, said="passed; not understood")
        opening = opening_of(body)
        taken = self._conversations.take_up(admitted.scope, opening, asked.run, ends=asked.outcome is not None)
        content = extended(body, taken.core, taken.recall) if taken.core or taken.recall else raw
        said = "added" if len(content) > len(raw) else "nothing to add"
        return _Prepared(admitted=admitted, content=content, body=body, opening=opening, taken=taken, said=said)

    async def _record(self, asked: _Asked, work: asyncio.Future[_Prepared] | None, prepared: _Prepared | None, heard: Heard) -> None:
        """Keep what was said, after the caller has it. Where Tenure was only slow, what it made is there by now."""
        if prepared is None and work is not None:
            try:
                prepared = await asyncio.wait_for(asyncio.shield(work), 60.0)
            except (Exception, TimeoutError):  # noqa: BLE001  # said by whoever waited for it first
                prepared = None
        if prepared is None or prepared.taken is None or prepared.body is None or prepared.opening is None:
            return
        if heard.status >= 400 and asked.outcome is None:
            return
        turn = Turn(
            conversation=prepared.taken.conversation,
            principal=prepared.admitted.principal,
            body=prepared.body,
            opening=prepared.opening,
            chained=prepared.taken.chained,
            raw=bytes(heard.raw) if heard.status < 400 else b"",
            encoding=heard.encoding,
            streamed=heard.streamed,
            complete=heard.complete,
            outcome=asked.outcome,
        )
        try:
            await asyncio.get_running_loop().run_in_executor(self._recording, self._recorder.record, turn)
        except Exception as exc:  # noqa: BLE001  # the caller has its answer; all that can be done is to say so
            _log.error("a turn of run %s was not recorded: %s", turn.conversation.run[:80], type(exc).__name__, exc_info=exc)

    async def _take_outcome(self, asked: _Asked, run: str, receive: Receive, send: Send) -> None:
        """`POST /v1/runs/{id}/outcome`; errors are problem details, as those of the service."""
        try:
            raw, rest = await read_all(receive, 1 << 20)
            if raw is None:
                return
            if rest is not None:
                raise Problem(413, "size", "An outcome has at most 1 MiB.")
            await self._pending.settled(run)  # what was said last belongs to the run as well
            told = await asyncio.get_running_loop().run_in_executor(self._recording, self._end, asked, run, raw)
            await reply(send, 202, json.dumps(told).encode(), {})
        except Problem as exc:
            answer = exc.reply()
            await reply(send, exc.status, bytes(answer.body), {"content-type": "application/problem+json", **exc.headers})
        except TenureError as exc:
            problem = problem_of(exc)
            answer = problem.reply()
            await reply(send, problem.status, bytes(answer.body), {"content-type": "application/problem+json", **problem.headers})

    def _end(self, asked: _Asked, run: str, raw: bytes) -> dict[str, str]:
        admitted = self._door.admit(asked.by_name, asked.address)
        outcome = outcome_of_body(raw, self._engine.clock.now().astimezone(UTC).isoformat())
        with self._engine.store.tenancy(tenant(admitted.scope)) as look:
            conversation = look.conversation_of_run(run)
        if conversation is None or not (conversation.scope == admitted.scope or conversation.scope.startswith(f"{admitted.scope}/")):
            raise Problem(
                404, "run", f"There is no run '{run[:80]}' in scope '{admitted.scope}'. Its id stands in the header x-tenure-run."
            )
        self._recorder.end(conversation, outcome, admitted.principal)
        return {"run": run, "scope": conversation.scope, "state": "kept"}

    # -- the provider's part -------------------------------------------------------------------------

    async def _send_on(
        self,
        asked: _Asked,
        goal: tuple[str, str],
        content: bytes | Upload | None,
        receive: Receive,
        send: Send,
        heard: Heard,
    ) -> None:
        """Send a request on and its answer back, byte by byte as it comes."""
        base, path = goal
        request = request_to(base, asked.method, path, asked.query, asked.headers, content)
        try:
            response = await self.client.send(request, stream=True)
        except httpx2.TimeoutException as exc:
            raise Problem(504, "upstream_silent", f"The provider at {_host(base)} did not answer in time ({type(exc).__name__}).") from None
        except httpx2.HTTPError as exc:
            _log.warning("%s cannot be reached: %s", _host(base), type(exc).__name__)
            raise Problem(502, "upstream", f"The provider at {_host(base)} cannot be reached ({type(exc).__name__}). Try again.") from None
        heard.status, heard.encoding = response.status_code, response.headers.get("content-encoding", "")
        heard.streamed = response.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream"
        headers = headers_back(response.headers.raw)
        if heard.said:
            headers.append((b"x-tenure", heard.said.encode("latin-1")))
        if heard.run:
            headers.append((b"x-tenure-run", heard.run.encode("latin-1")))
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        async with anyio.create_task_group() as group:
            group.start_soon(watch, receive, group.cancel_scope, content)
            await self._relay(response, send, heard, _host(base))
            group.cancel_scope.cancel()

    async def _relay(self, response: httpx2.Response, send: Send, heard: Heard, host: str) -> None:
        """The bytes of an answer. Where they break off, the caller's connection is left without an end, as the provider's was."""
        try:
            async for chunk in response.aiter_raw():
                if heard.status < 400 and len(heard.raw) < RECORDED:
                    heard.add(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            heard.complete = True
        except OSError:
            _log.info("a caller went away before its answer was whole")
        except httpx2.HTTPError as exc:
            _log.warning("the answer of %s broke off: %s", host, type(exc).__name__)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


def _noted(work: asyncio.Future[Any]) -> None:
    """Look at how late work ended, so that nobody complains that nobody did."""
    if not work.cancelled():
        work.exception()


def _host(base: str) -> str:
    return base.partition("://")[2].partition("/")[0]
