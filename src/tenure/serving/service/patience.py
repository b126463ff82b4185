"""How long a server waits for a caller: for the head of a request, for more of its body, for an answer to be taken.

A caller who sends a byte now and then would otherwise hold a connection for as long as it likes, without showing any key, and a
process has only so many.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

RESERVED = 100
"""Files that a process opens beside its connections: the database, its log, what it calls."""

MOST_FILES = 65_536


LEAST_TAKEN = 16_384
"""Bytes that a caller takes of an answer, at least, in the time that they are given for it."""


def room_for_connections() -> int:
    """How many connections a process may hold so that it never runs out of files; 0 where nothing limits them.

    The process is let have as many files as the system allows it. A connection counts twice: what serves it may open another.
    Python's loop does not recover from an accept that finds no file left: it tries again at once, thousands of times, for each one.
    """
    try:
        import resource
    except ImportError:  # only POSIX has it
        return 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(16, ((wanted if soft == resource.RLIM_INFINITY else soft) - RESERVED) // 2)


class PatientProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, that lets go of callers who keep it waiting.

    Attributes:
        head_s: seconds within which the head of a request is here, from its first byte or the connection's beginning.
        body_s: seconds without any byte of a body that is not whole, before an answer has begun. A stream that is answered while
            it comes may rest.
        taken_s: seconds in which a caller takes next to nothing of an answer that waits for them (see `LEAST_TAKEN`).
        most: connections at once; further ones are hung up on. 0 for no limit.
    """

    head_s: ClassVar[float] = 30.0
    body_s: ClassVar[float] = 60.0
    taken_s: ClassVar[float] = 300.0
    most: ClassVar[int] = 0

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection begins."""
        super().connection_made(transport)
        if self.most and len(self.connections) > self.most:
            transport.abort()
            return
        self._wait("head", self.head_s, transport.close)

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        super().data_received(data)
        self._stop("body")
        cycle = getattr(self, "cycle", None)  # none before the first request
        if cycle is None or cycle.response_complete:
            self._wait("head", self.head_s, self.transport.close)
            return
        self._stop("head")
        self._wait_for_body()

    def on_response_complete(self) -> None:
        """An answer is whole; another request may have come meanwhile, or its beginning."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is not before:
            self._wait_for_body()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """The connection goes to another protocol."""
        self._stop(*self._timers)
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """A connection is over."""
        self._stop(*self._timers)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The caller does not take what is sent."""
        super().pause_writing()
        self._wait("taken", self.taken_s, self._left, self._untaken())

    def resume_writing(self) -> None:
        """The caller goes on taking it."""
        self._stop("taken")
        super().resume_writing()

    def _wait_for_body(self) -> None:
        if self.cycle.more_body and not self.cycle.response_started:
            self._wait("body", self.body_s, self._rested)

    def _rested(self) -> None:
        self._stop("body")
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:  # it is we who do not take more
            self._wait_for_body()
        elif self.cycle.more_body and not self.cycle.response_started:
            self.transport.abort()

    def _left(self, before: int) -> None:
        # To be told that there is room takes a third of all that the system holds: megabytes, which a slow caller takes minutes for.
        self._stop("taken")
        now = self._untaken()
        if now > before - LEAST_TAKEN:
            self.transport.abort()
        else:
            self._wait("taken", self.taken_s, self._left, now)

    def _untaken(self) -> int:
        """Bytes of the answer that wait here or on their way; where the system does not say how many it holds, those here."""
        here, connection = self.transport.get_write_buffer_size(), self.transport.get_extra_info("socket")
        try:
            import fcntl
            import termios

            held = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        except (ImportError, AttributeError, OSError, ValueError):  # of sockets, Linux says it
            return here
        return here + int.from_bytes(held, sys.byteorder)

    def _wait(self, what: str, seconds: float, then: Callable[..., None], *given: object) -> None:
        if what not in self._timers and not self.transport.is_closing():
            self._timers[what] = self.loop.call_later(seconds, then, *given)

    def _stop(self, *what: str) -> None:
        for timer in [self._timers.pop(one) for one in what if one in self._timers]:
            timer.cancel()
