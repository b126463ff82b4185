"""Which turns are still being had and recorded in this process, so that what follows them can wait."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Pending:
    """What is still being said and recorded in this process, by names of runs and replies."""

    def __init__(self) -> None:
        self._events: dict[str, list[asyncio.Event]] = {}

    @contextmanager
    def held(self, run: str) -> Iterator[_Held]:
        """A turn that is being had."""
        held = _Held(self._events)
        if run:
            held.name(run)
        try:
            yield held
        finally:
            held.done()

    async def settled(self, name: str) -> None:
        """Wait until nothing is pending under a name, or for half a minute."""
        for event in tuple(self._events.get(name, ())):
            with anyio.move_on_after(30.0):
                await event.wait()


class _Held:
    def __init__(self, events: dict[str, list[asyncio.Event]]) -> None:
        self._events, self._names, self._event = events, list[str](), asyncio.Event()

    def name(self, name: str) -> None:
        """Let it be found under a name as well."""
        self._names.append(name)
        self._events.setdefault(name, []).append(self._event)

    def done(self) -> None:
        """Nothing is pending any more."""
        self._event.set()
        for name in self._names:
            left = self._events[name]
            left.remove(self._event)
            if not left:
                del self._events[name]
