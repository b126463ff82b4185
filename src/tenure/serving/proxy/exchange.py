"""What goes over the wire between a caller and the proxy: bodies as they come, answers as they are heard, callers who go away."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2

from tenure.serving.proxy.upstream import Headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_REPLY_ID = re.compile(rb'"id"\s*:\s*"([^"\\]+)"')
_HEAD = 4_096
"""Bytes of an answer within which its id stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came.

    Attributes:
        method, path, query: the path percent-encoded.
        headers: names in lower case.
        address: where it came from.
    """

    method: str
    path: str
    query: bytes
    headers: Headers
    address: str

    @property
    def by_name(self) -> Mapping[str, str]:
        """Its headers by name; of several of one name the last."""
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.headers}


def asked_of(scope: Scope) -> Asked:
    """The request that an ASGI scope stands for."""
    raw_path = scope.get("raw_path") or scope["path"].encode("utf-8")
    client = scope.get("client") or ("", 0)
    return Asked(
        method=scope["method"],
        path=raw_path.decode("ascii", "replace").partition("?")[0],
        query=scope.get("query_string", b""),
        headers=[(bytes(name).lower(), bytes(value)) for name, value in scope["headers"]],
        address=str(client[0]),
    )


@dataclass(slots=True, kw_only=True)
class Heard:
    """What came back, as it comes.

    Attributes:
        said, run: for the headers x-tenure and x-tenure-run; empty for none.
        late: the run, where Tenure was slower than its budget and is done when the answer begins; none if it is known.
        status: of HTTP; 0 before there is an answer.
        encoding: how it is compressed.
        streamed: whether it is a stream of events.
        raw: the bytes, as far as they are kept.
        complete: whether all of it came.
        named: told the id of the reply as soon as it is there; none if nobody asks.
    """

    said: str = ""
    run: str = ""
    late: Callable[[], str] | None = None
    status: int = 0
    encoding: str = ""
    streamed: bool = False
    raw: bytearray = field(default_factory=bytearray)
    complete: bool = False
    named: Callable[[str], None] | None = None

    def add(self, chunk: bytes) -> None:
        """Keep what came, and tell the id of the reply as soon as it is there."""
        self.raw += chunk
        if self.named is not None:
            found = _REPLY_ID.search(self.raw[:_HEAD])
            if found is not None:
                self.named(found[1].decode("ascii", "replace"))
            if found is not None or len(self.raw) > _HEAD:
                self.named = None


async def watch(receive: Receive, running: anyio.CancelScope, content: object) -> None:
    """End what runs when the caller goes away. While a body is still being passed on, that is seen there."""
    if isinstance(content, Upload):
        await content.ended.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
    running.cancel()


async def read_all(receive: Receive, most: int) -> tuple[bytes | None, bool]:
    """A body, and whether that is all of it: of one that is larger than `most`, only its beginning. None if the caller went away."""
    pieces: list[bytes] = []
    size = 0
    while size <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None, False
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if not message.get("more_body", False):
            return b"".join(pieces), True
    return b"".join(pieces), False


class Upload:
    """A body as it comes.

    Args:
        receive: gives it.
        begun: what was read of it already.
    """

    def __init__(self, receive: Receive, begun: bytes = b"") -> None:
        self._receive, self._begun = receive, begun
        self.ended = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._begun:
            yield self._begun
        while not self.ended.is_set():
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise httpx2.ReadError("the caller went away")
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                self.ended.set()


async def reply(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Answer with JSON of our own."""
    named = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    told = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
