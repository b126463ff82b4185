"""MCP over standard input and output: nothing but protocol on the one, bounded lines from the other, a graceful end.

The process's own stdout is turned to stderr before anything else is loaded, so that what a library prints cannot tear
a message. At the end of the input, and at SIGTERM, requests under way are finished and answered, and the process goes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, cast

from tenure.serving.mcp_lines import Lines, UnderWay

if TYPE_CHECKING:
    import anyio

    from tenure.serving.mcp import TenureServer

GRACE_S = 8.0
"""Seconds that requests under way have to end in, once input has ended; then the process goes all the same.

On a machine so busy that the process hardly gets a turn, they are seconds of its own processor time.
"""

LAST_S = 60.0
"""Seconds after which it goes whatever it still does."""

IDLE_S = 0.02
"""Processor seconds in `_LOOK_S`, below which a process waits for something that does not come."""

_LOOK_S = 2.0


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


class Sink:
    """Where messages go, each in one piece. A reader that went away ends the server; it is no fault to report."""

    def __init__(self, sink: BinaryIO, under_way: UnderWay) -> None:
        self._sink, self._under_way, self._lock = sink, under_way, threading.Lock()
        self.gone: Callable[[], None] = lambda: None

    async def write(self, text: str) -> int:
        """Write a message and its line end."""
        try:
            await asyncio.to_thread(self.put, text.encode("utf-8", "replace"))
        except (OSError, ValueError):
            self.gone()
        self._under_way.written(text)
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

        under_way = UnderWay()
        sink = Sink(wire.sink, under_way)
        lines = Lines(wire.source, sink.put, under_way)
        sink.gone = lines.abandon
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
