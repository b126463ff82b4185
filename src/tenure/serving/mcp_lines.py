"""Lines that a client of MCP sends: what each is, the answer to one that is no message, and which requests are under way."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, BinaryIO

LONGEST_LINE = 4_194_304
"""Bytes of one message. What is longer is read past, and its sender is told."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""JSON-RPC's codes for what is no JSON, and for what is no request that can be answered."""

TOO_LONG = f"The message has more than {LONGEST_LINE // 1_048_576} MiB and was not read. Shorten it."

_NO_JSON = "This is no line of JSON: {}. A message is one JSON object on one line."
_NO_MESSAGE = 'This is no JSON-RPC 2.0 message. One has "jsonrpc": "2.0", a "method" that is a text, and a whole number or a text as "id".'
_BATCH = "Several messages in one list are not read. Send each on a line of its own."
_DEEP = "The message is nested too deeply and was not read."

_ID = r'"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")'
_ID_FIRST = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID.encode())
_ID_LAST = re.compile(rb'[,{]\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID.encode() + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class UnderWay:
    """Ids of requests that were given to the server and are not answered yet. All of it happens in the event loop."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none = asyncio.Event()
        self._none.set()

    def given(self, line: str) -> None:
        """A message goes to the server: a request is under way from now on; one that is called off is no longer."""
        said = _object(line)
        if said.get("method") == "notifications/cancelled":
            params = said.get("params")
            self._over(params.get("requestId") if isinstance(params, dict) else None)
        elif "method" in said and _is_id(said.get("id")):
            self._ids.add(said["id"])
            self._none.clear()

    def written(self, line: str) -> None:
        """A message went to the client: an answer ends its request."""
        if (said := _object(line)) and "method" not in said:
            self._over(said.get("id"))

    def abandon(self) -> None:
        """Nothing is waited for any more."""
        self._ids.clear()
        self._none.set()

    async def all_answered(self) -> None:
        """Wait until nothing is under way."""
        await self._none.wait()

    def _over(self, request: object) -> None:
        if isinstance(request, str | int):
            self._ids.discard(request)
        if not self._ids:
            self._none.set()


class Lines:
    """Messages of the input as they come, as texts, until it ends or `stop` is called. Made inside the event loop.

    The end is told when all that was asked is answered: the protocol's own code calls requests off when its input ends, though what
    they write is written. Lines are read by a thread of their own, because a read that waits cannot be called off.

    Args:
        source: the input.
        refuse: writes the answer to what is no message.
        under_way: requests that are not answered yet.
    """

    def __init__(self, source: BinaryIO, refuse: Callable[[bytes], None], under_way: UnderWay) -> None:
        self._source, self._refuse, self._under_way, self._loop = source, refuse, under_way, asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(64)
        self.ended = asyncio.Event()
        threading.Thread(target=self._read, name="tenure-mcp-input", daemon=True).start()

    def stop(self) -> None:
        """End the input; what was given out already is still answered."""
        self.ended.set()

    def abandon(self) -> None:
        """End the input, and wait for no answer: nobody reads them."""
        self._under_way.abandon()
        self.ended.set()

    def _read(self) -> None:
        try:
            while line := self._source.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    self._refuse(refused(line[:4_096], self._last_of(line), TOO_LONG))
                    continue
                text = whole_characters(line) if _HALF.search(line) else line.decode("utf-8", "replace")
                if not text.strip():
                    continue
                if answer := answer_to_no_message(text):
                    self._refuse(answer)
                    continue
                asyncio.run_coroutine_threadsafe(self._queue.put(text), self._loop).result()
        except (OSError, ValueError, RuntimeError):  # the other side, or the loop, is gone
            pass
        with suppress(RuntimeError):
            asyncio.run_coroutine_threadsafe(self._queue.put(None), self._loop)

    def _last_of(self, line: bytes) -> bytes:
        """Read past the rest of a line; its last bytes."""
        end = line[-4_096:]
        while not end.endswith(b"\n") and (more := self._source.readline(65_536)):
            end = (end + more)[-4_096:]
        return end

    async def __aiter__(self) -> AsyncIterator[str]:
        ended = asyncio.ensure_future(self.ended.wait())
        try:
            while True:
                following = asyncio.ensure_future(self._queue.get())
                await asyncio.wait((following, ended), return_when=asyncio.FIRST_COMPLETED)
                line = following.result() if following.done() else None
                following.cancel()
                if line is None:
                    self.ended.set()
                    await self._under_way.all_answered()
                    return
                self._under_way.given(line)
                yield line
        finally:
            ended.cancel()


def answer_to_no_message(text: str) -> bytes:
    """The error to send for a line that the protocol cannot read, with its id where that can be told; empty for a message."""
    from mcp import types

    with suppress(ValueError, RecursionError):
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
        # A request whose id is of another kind is read as a notification, and its sender would wait for ever.
        if not isinstance(message, types.JSONRPCNotification) or "id" not in _object(text):
            return b""
    try:
        said = json.loads(text)
    except RecursionError:
        raw = text.encode("utf-8", "replace")
        return refused(raw[:4_096], raw[-4_096:], _DEEP)
    except ValueError as exc:
        return _error(None, PARSE_ERROR, _NO_JSON.format(exc))
    if isinstance(said, list):
        return _error(None, INVALID_REQUEST, _BATCH)
    named = said.get("id") if isinstance(said, dict) else None
    return _error(named if _is_id(named) else None, INVALID_REQUEST, _NO_MESSAGE)


def refused(start: bytes, end: bytes, why: str) -> bytes:
    """The answer to a message that was not read, by its first and last bytes; its id is null where neither has one."""
    found = _ID_FIRST.match(start) or _ID_LAST.search(end)
    return _error(json.loads(found[1]) if found else None, INVALID_REQUEST, why)


def _error(request: str | int | None, code: int, message: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}}).encode() + b"\n"


def _is_id(named: object) -> bool:
    return isinstance(named, str | int) and not isinstance(named, bool)


def _object(line: str) -> dict[str, Any]:
    """A message as an object; empty where it is none, or too deep to be one that is waited for."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def whole_characters(line: bytes) -> str:
    """A message in which halves of characters (lone surrogates, as cut texts have) are U+FFFD: no strict reader takes them."""
    text = line.decode("utf-8", "replace")
    try:
        said = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
