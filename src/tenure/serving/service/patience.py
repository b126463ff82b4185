"""How long a server waits for a caller: for the head of a request, for more of its body, for an answer to be taken.

A caller who sends a byte now and then would otherwise hold a connection for as long as it likes, without showing any key, and a
process has only so many.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, that lets go of callers who keep it waiting.

    Attributes:
        head_s: seconds within which the head of a request is here, from its first byte or the connection's beginning.
        body_s: seconds without any byte of a body that is not whole, before an answer has begun. A stream that is answered while
            it comes may rest.
        taken_s: seconds in which a caller takes nothing of an answer that waits for them.
    """

    head_s: ClassVar[float] = 30.0
    body_s: ClassVar[float] = 60.0
    taken_s: ClassVar[float] = 300.0

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._head: asyncio.TimerHandle | None = None
        self._body: asyncio.TimerHandle | None = None
        self._taken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection begins."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        super().data_received(data)
        self._body = _stopped(self._body)
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_head()
            return
        self._head = _stopped(self._head)
        self._wait_for_body()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """The connection goes to another protocol."""
        self._stop()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """A connection is over."""
        self._stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The caller does not take what is sent."""
        super().pause_writing()
        if self._taken is None:
            self._taken = self.loop.call_later(self.taken_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The caller goes on taking it."""
        self._taken = _stopped(self._taken)
        super().resume_writing()

    def _wait_for_head(self) -> None:
        if self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(self.head_s, self.transport.close)

    def _wait_for_body(self) -> None:
        if self.cycle.more_body and not self.cycle.response_started:
            self._body = self.loop.call_later(self.body_s, self._rested)

    def _rested(self) -> None:
        if self.flow.read_paused:  # it is we who do not take more
            self._wait_for_body()
        elif self.cycle.more_body and not self.cycle.response_started:
            self.transport.abort()

    def _stop(self) -> None:
        self._head, self._body, self._taken = _stopped(self._head), _stopped(self._body), _stopped(self._taken)


def _stopped(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
