"""Which turns are still being had and recorded in this process, so that what follows them can wait; and what the log was told of late."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from tenure.logs import event

_log = logging.getLogger("tenure.proxy")


class Pending:
    """What is still being said and recorded in this process, by names of runs and replies, each tenant's behind its wall: whoever
    waited for a name of another's would learn that it is in use."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, str], list[asyncio.Event]] = {}

    @contextmanager
    def held(self, tenant: str, run: str) -> Iterator[_Held]:
        """A turn of a tenant that is being had."""
        held = _Held(self._events, tenant)
        if run:
            held.name(run)
        try:
            yield held
        finally:
            held.done()

    async def settled(self, tenant: str, name: str) -> None:
        """Wait until nothing of a tenant's is pending under a name, or for half a minute."""
        with anyio.move_on_after(30.0):
            for event in tuple(self._events.get((tenant, name), ())):
                await event.wait()


class _Held:
    def __init__(self, events: dict[tuple[str, str], list[asyncio.Event]], tenant: str) -> None:
        self._events, self._tenant, self._event = events, tenant, asyncio.Event()
        self._names: list[tuple[str, str]] = []

    def name(self, name: str) -> None:
        """Let it be found under a name as well."""
        self._names.append((self._tenant, name))
        self._events.setdefault((self._tenant, name), []).append(self._event)

    def done(self) -> None:
        """Nothing is pending any more."""
        self._event.set()
        for name in self._names:
            left = self._events[name]
            left.remove(self._event)
            if not left:
                del self._events[name]


class Repeated:
    """Something that may happen hundreds of times a second, and stands in the log now and then, with how often it did.

    Args:
        name: of the event in the log, such as `proxy.passed`.
        what: happened.
        every_s: seconds between two lines of one reason.
    """

    def __init__(self, name: str, what: str, *, every_s: float) -> None:
        self._name, self._what, self._every_s = name, what, every_s
        self._since: dict[str, float] = {}
        self._count: dict[str, int] = {}

    def told(self, why: str) -> None:
        """It happened again, for this reason."""
        self._count[why] = self._count.get(why, 0) + 1
        now = time.monotonic()
        if now - self._since.get(why, now - self._every_s) >= self._every_s:
            count = self._count.pop(why)
            event(_log, self._name, logging.WARNING, said=f"{self._what}: {why} ({count})", reason=why.replace(" ", "_"), count=count)
            self._since[why] = now
