"""One call of a client: what was sent and what came back are recorded, in one piece or in many, and what fails as well."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from inspect import isawaitable
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from tenure.active_run import ActiveRun
from tenure.errors import UserError
from tenure.frameworks.placing import given
from tenure.frameworks.recording import plain
from tenure.traces.transcript import HOST

EventT = TypeVar("EventT")

Record = Callable[[ActiveRun, Any], None]
"""Reports a whole reply as steps of a run."""


class Streamed(Protocol):
    """A reply that comes in pieces."""

    def add(self, event: Mapping[str, Any], /) -> None:
        """Takes the next piece."""
        ...

    @property
    def reply(self) -> Mapping[str, Any]:
        """What has come so far, as a whole reply."""
        ...


def call(run: ActiveRun, create: Callable[..., Any], request: Mapping[str, Any], streamed: type[Streamed], record: Record) -> Any:
    """Sends a request and records the reply; a stream is recorded as it is read.

    Raises:
        UserError: the client is for async code.
    """
    try:
        reply = create(**request)
    except Exception as error:
        tell_failure(run, error)
        raise
    if isawaitable(reply):
        if hasattr(reply, "close"):
            reply.close()
        raise UserError("This client is for async code, and the function is not. Await the one whose name begins with 'a'.")
    if _streams(request):
        return RecordedStream(reply, run, streamed(), record)
    record(run, reply)
    return reply


async def acall(run: ActiveRun, create: Callable[..., Any], request: Mapping[str, Any], streamed: type[Streamed], record: Record) -> Any:
    """`call` with a client for async code.

    Raises:
        UserError: the client is not for async code.
    """
    try:
        begun = create(**request)
        reply = await begun if isawaitable(begun) else None
    except Exception as error:
        tell_failure(run, error)
        raise
    if not isawaitable(begun):
        raise UserError("This client is not for async code, and the function is. Use the one whose name does not begin with 'a'.")
    if _streams(request):
        return AsyncRecordedStream(reply, run, streamed(), record)
    record(run, reply)
    return reply


def tell_failure(run: ActiveRun, error: Exception) -> None:
    """Reports that a call of a model failed, which says nothing about the lessons that the agent was shown."""
    run.step("event", f"{type(error).__name__}: {error}", name="model_call_failed", origin=HOST)
    run.leave_unjudged(error)


def _streams(request: Mapping[str, Any]) -> bool:
    return given(request.get("stream")) and bool(request["stream"])


class _Watched:
    """What a stream has given so far, recorded once: at its end, when it is closed, or when the run ends."""

    def __init__(self, stream: Any, run: ActiveRun, streamed: Streamed, record: Record) -> None:
        self._stream, self._run, self._streamed, self._record = stream, run, streamed, record
        self._settled = False
        run.at_end(self._settle)

    def __getattr__(self, name: str) -> Any:
        # `response` and whatever else the client's stream has.
        return getattr(self._stream, name)

    def _settle(self, *, whole: bool = False) -> None:
        if self._settled:
            return
        self._settled = True
        self._record(self._run, self._streamed.reply)
        if not whole:
            self._run.step("event", "the reply was not read to its end", name="stream_left", origin=HOST)

    def _take(self, event: Any) -> None:
        if not self._settled:
            self._streamed.add(plain(event))

    def _fail(self, error: Exception) -> None:
        if not self._settled:
            self._settle()
            tell_failure(self._run, error)


class RecordedStream(_Watched, Generic[EventT]):
    """The client's stream, event by event as it comes. What has come is recorded at its end, or when it is closed or the run ends."""

    def __iter__(self) -> Iterator[EventT]:
        return self

    def __next__(self) -> EventT:
        try:
            event = next(self._stream)
        except StopIteration:
            self._settle(whole=True)
            raise
        except Exception as error:
            self._fail(error)
            raise
        self._take(event)
        return cast(EventT, event)

    def close(self) -> None:
        """Ends the stream early."""
        self._stream.close()
        self._settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncRecordedStream(_Watched, Generic[EventT]):
    """`RecordedStream` for async code."""

    def __aiter__(self) -> AsyncIterator[EventT]:
        return self

    async def __anext__(self) -> EventT:
        try:
            event = await anext(self._stream)
        except StopAsyncIteration:
            self._settle(whole=True)
            raise
        except Exception as error:
            self._fail(error)
            raise
        self._take(event)
        return cast(EventT, event)

    async def close(self) -> None:
        """Ends the stream early."""
        await self._stream.close()
        self._settle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
