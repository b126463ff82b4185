"""MCP over standard input and output: nothing but protocol on the one, bounded lines from the other, a graceful end.

The process's own stdout is turned to stderr before anything else is loaded, so that what a library prints cannot tear
a message. Lines are read by a thread of their own, because a read that waits cannot be called off: at SIGTERM the
server ends as at the end of its input, requests under way are finished, and the process goes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    import anyio

    from tenure.serving.mcp import TenureServer

LONGEST_LINE = 4_194_304
"""Bytes of one message. What is longer is read past, and its sender is told."""

INVALID_REQUEST = -32600
"""JSON-RPC's code for what is no request that can be answered."""

GRACE_S = 8.0
"""Seconds that requests under way have to end in, once input has ended; then the process goes all the same.

On a machine so busy that the process hardly gets a turn, they are seconds of its own processor time.
"""

LAST_S = 60.0
"""Seconds after which it goes whatever it still does."""

IDLE_S = 0.02
"""Processor seconds in `_LOOK_S`, below which a process waits for something that does not come."""

_LOOK_S = 2.0

_ID = r'"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")'
_ID_FIRST = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID.encode())
_ID_LAST = re.compile(rb'[,{]\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID.encode() + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class Wire:
    """The two streams of the process, taken from under whatever else might read or print."""

    def __init__(self) -> None:
        self.source = _taken(0, "rb", os.open(os.devnull, os.O_RDONLY))
        self.sink = _taken(1, "wb", os.dup(2))


def _taken(number: int, mode: str, instead: int) -> BinaryIO:
    """A standard stream under a number of its own; under the old one there is `instead` from now on."""
    own = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return cast(BinaryIO, os.fdopen(own, mode, closefd=False))


class Lines:
    """Lines of the input as they come, as texts, until it ends or `stop` is called. Made inside the event loop.

    Args:
        source: the input.
        refuse: writes the answer to a message that is too long.
    """

    def __init__(self, source: BinaryIO, refuse: Callable[[bytes], None]) -> None:
        self._source, self._refuse, self._loop = source, refuse, asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(64)
        self.ended = asyncio.Event()
        threading.Thread(target=self._read, name="tenure-mcp-input", daemon=True).start()

    def stop(self) -> None:
        """End the input; what was read already is still given out."""
        self.ended.set()

    def _read(self) -> None:
        try:
            while line := self._source.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    self._refuse(refusal(line[:4_096], self._last_of(line)))
                    continue
                text = whole_characters(line) if _HALF.search(line) else line.decode("utf-8", "replace")
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
                if not following.done():
                    following.cancel()
                    return
                line = following.result()
                if line is None:
                    self.ended.set()
                    return
                if line.strip():
                    yield line
        finally:
            ended.cancel()


class Sink:
    """Where messages go, each in one piece. A reader that went away ends the server; it is no fault to report."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink, self._lock = sink, threading.Lock()
        self.gone: Callable[[], None] = lambda: None

    async def write(self, text: str) -> int:
        """Write a message and its line end."""
        try:
            await asyncio.to_thread(self.put, text.encode("utf-8", "replace"))
        except (OSError, ValueError):
            self.gone()
        return len(text)

    def put(self, raw: bytes) -> None:
        """Write bytes from any thread.

        Raises:
            OSError: nobody reads them.
        """
        with self._lock:
            self._sink.write(raw)
            self._sink.flush()

    async def flush(self) -> None:
        """All is written when `write` returns."""


def refusal(start: bytes, end: bytes) -> bytes:
    """The answer to a message that is too long, by its first and last bytes; its id is null where neither has one."""
    found = _ID_FIRST.match(start) or _ID_LAST.search(end)
    said = f"The message has more than {LONGEST_LINE // 1_048_576} MiB and was not read. Shorten it."
    error = {"jsonrpc": "2.0", "id": json.loads(found[1]) if found else None, "error": {"code": INVALID_REQUEST, "message": said}}
    return json.dumps(error).encode() + b"\n"


def whole_characters(line: bytes) -> str:
    """A message in which halves of characters (lone surrogates, as cut texts have) are U+FFFD: no strict reader takes them."""
    text = line.decode("utf-8", "replace")
    try:
        said = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def log_to_stderr() -> None:
    """One line an event on stderr, warnings and worse; a traceback only for faults of ours."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("tenure mcp: %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from tenure.governance.hidden_text import quote
        from tenure.governance.redaction import redact

        fault, record.exc_info = record.exc_info, None
        said = super().format(record)
        if fault and fault[1] is not None:
            where = fault[2]
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            place = f" at {os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno}" if where is not None else ""
            said += f" ({type(fault[1]).__name__}: {fault[1]}{place})"
        return quote(redact(said[:4_000]).text, 1_000)


def serve(make: Callable[[], TenureServer], wire: Wire, *, ended: Callable[[], None] = lambda: None) -> None:
    """Serve until the input ends or the process is told to go.

    Args:
        make: builds the server, inside the event loop.
        wire: the streams, taken before anything was loaded.
        ended: called when no request can come any more, before those under way are done.
    """

    async def serving() -> None:
        from mcp.server.stdio import stdio_server

        sink = Sink(wire.sink)
        lines = Lines(wire.source, sink.put)
        sink.gone = lines.stop
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not every platform's loop can
                loop.add_signal_handler(number, lines.stop)
        watch = asyncio.ensure_future(_go_after(lines.ended, ended))
        streams = cast("tuple[anyio.AsyncFile[str], anyio.AsyncFile[str]]", (lines, sink))
        server = make()
        try:
            async with stdio_server(*streams) as (read, write):
                low = server._lowlevel_server
                await low.run(read, write, low.create_initialization_options())
        finally:
            watch.cancel()

    asyncio.run(serving())


async def _go_after(ended: asyncio.Event, tell: Callable[[], None]) -> None:
    await ended.wait()
    tell()
    # A daemon thread: what hangs in a request must not keep a process that nobody talks to any more.
    threading.Thread(target=_go, name="tenure-mcp-end", daemon=True).start()


def _go() -> None:
    began, used = time.monotonic(), time.process_time()
    before = used
    while True:
        time.sleep(_LOOK_S)
        now = time.process_time()
        if overdue(time.monotonic() - began, now - used, now - before):
            os._exit(0)
        before = now


def overdue(waited_s: float, worked_s: float, lately_s: float) -> bool:
    """Whether a process whose input has ended has had its time.

    Args:
        waited_s: since the end of the input.
        worked_s: processor time since then.
        lately_s: processor time since the last look.
    """
    return waited_s >= LAST_S or (waited_s >= GRACE_S and (worked_s >= GRACE_S or lately_s < IDLE_S))
