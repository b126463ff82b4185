"""What the engine tells of itself while it works, and to whom: nobody, until telemetry is switched on.

Off, a call here costs a function call and loads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Literal, Protocol, Self

SpanName = Literal["tenure.recall", "tenure.learn", "tenure.reflect", "tenure.revise", "tenure.curate", "tenure.admit", "tenure.refine"]
CounterName = Literal["tenure.runs.learned", "tenure.lessons.added", "tenure.lessons.held", "tenure.lessons.refused"]
DurationName = Literal["tenure.context.duration"]


class Spanning(Protocol):
    """A span under way. It ends with its `with` block; an error that leaves the block is told by its kind alone."""

    def note(self, **given: object) -> None:
        """Adds fields (see `attributes.FORMS`); others are left out."""
        ...

    def __enter__(self) -> Self:
        """Begins it."""
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends it."""
        ...


class Telemetry(Protocol):
    """Who is told."""

    def span(self, name: str, given: Mapping[str, object], duration: str = "") -> Spanning:
        """A span of a step of the engine; with a name under `duration`, its length is recorded too."""
        ...

    def model_call(self, model: str, given: Mapping[str, object]) -> Spanning:
        """A span of a call of a model, with the metrics of one."""
        ...

    def count(self, name: str, number: int, given: Mapping[str, object]) -> None:
        """Adds to a counter."""
        ...

    def exposition(self) -> tuple[str, str] | None:
        """The metrics as Prometheus reads them, and their content type; none if they were not asked for."""
        ...

    def stop(self) -> None:
        """Hands over what is left."""
        ...


class _Nothing:
    """A span that nobody is told of."""

    def note(self, **given: object) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None


_NOTHING = _Nothing()


class _Listener:
    """Who is told now, and the queues whose depth can be asked."""

    def __init__(self) -> None:
        self.telemetry: Telemetry | None = None
        self.queues: dict[str, Callable[[], int]] = {}


LISTENER = _Listener()


def span(name: SpanName, duration: DurationName | None = None, **given: object) -> Spanning:
    """A span around a step of the engine, for a `with` block."""
    told = LISTENER.telemetry
    return _NOTHING if told is None else told.span(name, given, duration or "")


def model_call(model: str, **given: object) -> Spanning:
    """A span around a call of a model, for a `with` block; note `input_tokens`, `output_tokens` and `cached_tokens` in it.

    Args:
        model: provider and model, such as `openai:gpt-4o`.
        given: such as `purpose`.
    """
    told = LISTENER.telemetry
    return _NOTHING if told is None else told.model_call(model, given)


def count(name: CounterName, number: int = 1, **given: object) -> None:
    """Adds to a counter, if anybody is told."""
    told = LISTENER.telemetry
    if told is not None and number:
        told.count(name, number, given)


def watch_queue(name: str, depth: Callable[[], int]) -> None:
    """Has the depth of a queue told whenever metrics are read.

    Args:
        name: such as `learning`; a new function of the same name takes the place of the old one.
        depth: how many jobs wait, over all tenants; asked about every minute, from another thread. An error leaves the depth out.
    """
    LISTENER.queues[name] = depth


def is_on() -> bool:
    """Whether anybody is told."""
    return LISTENER.telemetry is not None


def exposition() -> tuple[str, str] | None:
    """The metrics of this process as Prometheus reads them, and their content type; none if telemetry is off or without Prometheus."""
    told = LISTENER.telemetry
    return None if told is None else told.exposition()
