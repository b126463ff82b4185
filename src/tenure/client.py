"""A small client of the HTTP service, sync and async.

    from tenure.client import Client

    with Client("http://127.0.0.1:8765", "tnr_...") as tenure:
        shown = tenure.context("reconcile invoice 7")
        answer = my_agent(shown.text)
        tenure.outcome(shown.run, success=answer.ok, feedback=answer.message, cited=answer.lessons)

It tries again what failed for a passing reason, with the same idempotency key, so that nothing is done twice. Errors are
`ServiceError`s with what the service said. Needs the extra `server`.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

from tenure.errors import MissingExtra, TenureError, UserError
from tenure.version import VERSION

try:
    import httpx2
except ModuleNotFoundError as exc:
    raise MissingExtra("The client of the service", extra="server") from exc

PASSING = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may work a little later."""

LONGEST_WAIT_S = 30.0

Run = Mapping[str, Any]
"""A run in the run format: `task`, `steps`, `outcome` and so on."""


class ServiceError(TenureError):
    """What the service, or the way to it, said no with.

    Attributes:
        status: of HTTP; 0 if there was no answer.
        kind: a word that programs can go by, such as `scope`.
        detail: what, which value, what next.
        request: id of the request, as the service's log has it.
        more: further members of the problem.
    """

    def __init__(self, status: int, kind: str, detail: str, *, request: str = "", more: Mapping[str, Any] | None = None) -> None:
        self.status, self.kind, self.detail, self.request, self.more = status, kind, detail, request, dict(more or {})
        super().__init__(f"{detail} ({status or 'no answer'}{f', request {request}' if request else ''})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What an agent should know for a task.

    Attributes:
        run: id to report the outcome under; empty for a key that may not report.
        text: for the prompt.
        tokens: of the text.
        lessons: ids of what it holds.
        notes: a sentence each.
    """

    run: str
    text: str
    tokens: int
    lessons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What became of a stream of runs.

    Attributes:
        kept: how many are on disk.
        refused: number of the line (from 1), and why.
    """

    kept: int
    refused: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class _Calls:
    """The requests, whoever sends them."""

    def __init__(self, url: str, key: str, *, scope: str, timeout_s: float, retries: int) -> None:
        self._url, self._scope, self._retries, self._timeout_s = _address(url), scope, retries, timeout_s
        self._headers = {"user-agent": f"tenure-client/{VERSION}", **({"authorization": f"Bearer {key.strip()}"} if key.strip() else {})}

    def _context(self, task: str, budget: int | None) -> _Call:
        return _Call(method="POST", path="/v1/context", body={"task": task, **({} if budget is None else {"budget": budget})})

    def _outcome(self, run: str, said: Mapping[str, Any]) -> _Call:
        body = {name: value for name, value in said.items() if value is not None}
        return _Call(method="POST", path=f"/v1/runs/{quote(run, safe='')}/outcome", body=body)

    def _sent(self, call: _Call) -> tuple[dict[str, Any], dict[str, str]]:
        """Query and headers of a call. One that changes something has an idempotency key of its own."""
        query = {name: value for name, value in call.query.items() if value not in (None, "")}
        if self._scope:
            query.setdefault("scope", self._scope)
        headers = {**self._headers, **call.headers}
        if call.method != "GET":
            headers.setdefault("idempotency-key", secrets.token_hex(16))
        return query, headers

    def _wait_s(self, attempt: int, reply: httpx2.Response | None) -> float:
        """Seconds before the next attempt: what the service asks for, else longer each time, with chance in it."""
        asked = reply.headers.get("retry-after", "") if reply is not None else ""
        if asked.isdecimal():
            return min(float(asked), LONGEST_WAIT_S) + random.random() * 0.1
        return min(0.2 * float(2**attempt), LONGEST_WAIT_S) * (0.5 + random.random())

    @staticmethod
    def _read(reply: httpx2.Response) -> Any:
        """The JSON of a reply.

        Raises:
            ServiceError: it is a problem, or no reply of this service.
        """
        try:
            data = reply.json() if reply.content else None
        except ValueError:
            data = None
        if reply.is_success:
            return data
        said = data if isinstance(data, dict) else {}
        more = {name: value for name, value in said.items() if name not in ("type", "title", "status", "detail", "request")}
        detail = str(said.get("detail") or f"{reply.request.method} {reply.request.url.path} was answered with {reply.status_code}.")
        kind = str(said.get("type", "")).rpartition("/")[2] or "http"
        raise ServiceError(reply.status_code, kind, detail, request=str(said.get("request", "")), more=more)

    def _unreachable(self, exc: Exception) -> ServiceError:
        said = (
            f"The service at {self._url} cannot be reached: {type(exc).__name__}. Does it run there (tenure serve), and is the port right?"
        )
        return ServiceError(0, "unreachable", said)

    @staticmethod
    def _shown(data: Mapping[str, Any]) -> Shown:
        return Shown(run=data["run"], text=data["text"], tokens=data["tokens"], lessons=tuple(data["lessons"]), notes=tuple(data["notes"]))

    @staticmethod
    def _streamed(lines: Iterable[str]) -> Streamed:
        refused: list[tuple[int, str]] = []
        for line in filter(str.strip, lines):
            said = json.loads(line)
            if said.get("kept") is False:
                refused.append((said["line"], said["problem"]))
            elif "lines" in said:
                if "stopped" in said:
                    raise ServiceError(503, "stopped", f"The stream ended early, after {said['kept']} runs were kept: {said['stopped']}")
                return Streamed(kept=said["kept"], refused=tuple(refused))
        raise ServiceError(0, "unreachable", "The stream was cut off. Send it again: runs with ids of their own count once.")


def _address(url: str) -> str:
    """The address of a service, without what its paths begin with.

    Raises:
        UserError: it is none.
    """
    if not url.startswith(("http://", "https://")):
        raise UserError(f"'{url[:200]}' is no address of a service. Write it like http://127.0.0.1:8765 or https://tenure.example.com")
    return url.rstrip("/").removesuffix("/v1")


def _outcome_said(
    success: bool | None, score: float | None, feedback: str, signal: str | None, expected: str, cited: Sequence[str], steps: Sequence[Run]
) -> dict[str, Any]:
    said = {"success": success, "score": score, "signal": signal, "feedback": feedback, "expected": expected}
    return {**said, "cited": list(cited), "steps": list(steps)}


class Client(_Calls):
    """The service, for code that waits.

    Args:
        url: such as `http://127.0.0.1:8765`; one that ends in `/v1` means the same.
        key: an API key; empty for a server without keys.
        scope: of every request; empty for the key's own.
        timeout_s: seconds that an answer may take.
        retries: further attempts after one that failed for a passing reason.
        transport: for tests.

    Raises:
        UserError: the address is none.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        scope: str = "",
        timeout_s: float = 30.0,
        retries: int = 4,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, scope=scope, timeout_s=timeout_s, retries=retries)
        self._http = httpx2.Client(base_url=self._url, timeout=timeout_s, transport=transport)

    def context(self, task: str, *, budget: int | None = None) -> Shown:
        """What to know for a task, and the run to report the outcome of."""
        return self._shown(self._call(self._context(task, budget)))

    def outcome(
        self,
        run: str,
        *,
        success: bool | None = None,
        score: float | None = None,
        feedback: str = "",
        signal: str | None = None,
        expected: str = "",
        cited: Sequence[str] = (),
        steps: Sequence[Run] = (),
    ) -> dict[str, Any]:
        """How a run ended; on the service's disk on return."""
        said = _outcome_said(success, score, feedback, signal, expected, cited, steps)
        return dict(self._call(self._outcome(run, said)))

    def report(self, run: Run) -> dict[str, Any]:
        """Report a whole run; on the service's disk on return."""
        return dict(self.request("POST", "/v1/runs", body=run))

    def report_many(self, runs: Iterable[Run]) -> Streamed:
        """Report runs as a stream, in bounded memory. It is not tried again by itself: give runs ids, and send it again."""
        query, headers = self._sent(_Call(method="GET", path="/v1/runs:stream"))
        lines = (json.dumps(dict(run)).encode() + b"\n" for run in runs)
        headers["content-type"] = "application/x-ndjson"
        try:
            with self._http.stream("POST", "/v1/runs:stream", params=query, headers=headers, content=lines, timeout=None) as reply:
                if not reply.is_success:
                    reply.read()
                    self._read(reply)
                return self._streamed(reply.iter_lines())
        except httpx2.TransportError as exc:
            raise self._unreachable(exc) from exc

    def run(self, run: str) -> dict[str, Any]:
        """A run: how it ended, and what was learned from it."""
        return dict(self.request("GET", f"/v1/runs/{quote(run, safe='')}"))

    def runs(self, *, outcome: str = "") -> Iterator[dict[str, Any]]:
        """Runs, newest first; pages are fetched as they are needed."""
        return self.pages("/v1/runs", outcome=outcome)

    def lessons(self, *, section: str = "", status: str = "live", search: str = "") -> Iterator[dict[str, Any]]:
        """Lessons by id, or those that a search found, best first."""
        return self.pages("/v1/lessons", section=section, status=status, search=search)

    def apply(self, operations: Sequence[Mapping[str, Any]], *, note: str = "", version: int | None = None) -> dict[str, Any]:
        """Change the playbook by operations; with a version only if it is still the newest."""
        body = {"operations": [dict(one) for one in operations], "note": note}
        return dict(self.request("POST", "/v1/deltas", body=body, headers={} if version is None else {"if-match": f'"{version}"'}))

    def remember(self, text: str, **more: Any) -> dict[str, Any]:
        """Write an entry into the long-term memory; `type`, `topic`, `session`, `event` and the like as the API has them."""
        return dict(self.request("POST", "/v1/memory/entries", body={"text": text, **more}))

    def recall(self, query: str, *, budget: int = 3_000) -> dict[str, Any]:
        """What the memory holds for a question."""
        return dict(self.request("POST", "/v1/memory/recall", body={"query": query, "budget": budget}))

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """The items of any list of the API, page by page."""
        after: str | None = ""
        while after is not None:
            page = self.request("GET", path, query={**query, "after": after, "limit": 200})
            yield from page["items"]
            after = page["next"]

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Any request of the API; the JSON of its reply.

        Raises:
            ServiceError: the service said no, or could not be reached.
        """
        return self._call(_Call(method=method, path=path, query=query or {}, body=body, headers=headers or {}))

    def _call(self, call: _Call) -> Any:
        query, headers = self._sent(call)
        for attempt in range(self._retries + 1):
            reply: httpx2.Response | None = None
            try:
                body = None if call.body is None else dict(call.body)
                reply = self._http.request(call.method, call.path, params=query, json=body, headers=headers)
            except httpx2.TransportError as exc:
                if attempt == self._retries:
                    raise self._unreachable(exc) from exc
            if reply is not None and (reply.status_code not in PASSING or attempt == self._retries):
                return self._read(reply)
            time.sleep(self._wait_s(attempt, reply))
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Release the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Calls):
    """The service, for code that does other things meanwhile. Arguments and methods as those of `Client`."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        scope: str = "",
        timeout_s: float = 30.0,
        retries: int = 4,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, scope=scope, timeout_s=timeout_s, retries=retries)
        self._http = httpx2.AsyncClient(base_url=self._url, timeout=timeout_s, transport=transport)

    async def context(self, task: str, *, budget: int | None = None) -> Shown:
        """See `Client.context`."""
        return self._shown(await self._call(self._context(task, budget)))

    async def outcome(
        self,
        run: str,
        *,
        success: bool | None = None,
        score: float | None = None,
        feedback: str = "",
        signal: str | None = None,
        expected: str = "",
        cited: Sequence[str] = (),
        steps: Sequence[Run] = (),
    ) -> dict[str, Any]:
        """See `Client.outcome`."""
        said = _outcome_said(success, score, feedback, signal, expected, cited, steps)
        return dict(await self._call(self._outcome(run, said)))

    async def report(self, run: Run) -> dict[str, Any]:
        """See `Client.report`."""
        return dict(await self.request("POST", "/v1/runs", body=run))

    async def report_many(self, runs: Iterable[Run] | AsyncIterable[Run]) -> Streamed:
        """See `Client.report_many`."""
        query, headers = self._sent(_Call(method="GET", path="/v1/runs:stream"))
        headers["content-type"] = "application/x-ndjson"

        async def lines() -> AsyncIterator[bytes]:
            if isinstance(runs, AsyncIterable):
                async for run in runs:
                    yield json.dumps(dict(run)).encode() + b"\n"
            else:
                for run in runs:
                    yield json.dumps(dict(run)).encode() + b"\n"

        try:
            async with self._http.stream("POST", "/v1/runs:stream", params=query, headers=headers, content=lines(), timeout=None) as reply:
                if not reply.is_success:
                    await reply.aread()
                    self._read(reply)
                return self._streamed([line async for line in reply.aiter_lines()])
        except httpx2.TransportError as exc:
            raise self._unreachable(exc) from exc

    async def run(self, run: str) -> dict[str, Any]:
        """See `Client.run`."""
        return dict(await self.request("GET", f"/v1/runs/{quote(run, safe='')}"))

    def runs(self, *, outcome: str = "") -> AsyncIterator[dict[str, Any]]:
        """See `Client.runs`."""
        return self.pages("/v1/runs", outcome=outcome)

    def lessons(self, *, section: str = "", status: str = "live", search: str = "") -> AsyncIterator[dict[str, Any]]:
        """See `Client.lessons`."""
        return self.pages("/v1/lessons", section=section, status=status, search=search)

    async def apply(self, operations: Sequence[Mapping[str, Any]], *, note: str = "", version: int | None = None) -> dict[str, Any]:
        """See `Client.apply`."""
        body = {"operations": [dict(one) for one in operations], "note": note}
        return dict(await self.request("POST", "/v1/deltas", body=body, headers={} if version is None else {"if-match": f'"{version}"'}))

    async def remember(self, text: str, **more: Any) -> dict[str, Any]:
        """See `Client.remember`."""
        return dict(await self.request("POST", "/v1/memory/entries", body={"text": text, **more}))

    async def recall(self, query: str, *, budget: int = 3_000) -> dict[str, Any]:
        """See `Client.recall`."""
        return dict(await self.request("POST", "/v1/memory/recall", body={"query": query, "budget": budget}))

    async def pages(self, path: str, **query: Any) -> AsyncIterator[dict[str, Any]]:
        """See `Client.pages`."""
        after: str | None = ""
        while after is not None:
            page = await self.request("GET", path, query={**query, "after": after, "limit": 200})
            for item in page["items"]:
                yield item
            after = page["next"]

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """See `Client.request`."""
        return await self._call(_Call(method=method, path=path, query=query or {}, body=body, headers=headers or {}))

    async def _call(self, call: _Call) -> Any:
        query, headers = self._sent(call)
        for attempt in range(self._retries + 1):
            reply: httpx2.Response | None = None
            try:
                body = None if call.body is None else dict(call.body)
                reply = await self._http.request(call.method, call.path, params=query, json=body, headers=headers)
            except httpx2.TransportError as exc:
                if attempt == self._retries:
                    raise self._unreachable(exc) from exc
            if reply is not None and (reply.status_code not in PASSING or attempt == self._retries):
                return self._read(reply)
            await asyncio.sleep(self._wait_s(attempt, reply))
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        """Release the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
