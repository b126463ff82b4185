"""Async clients for callers that are not async: an event loop in a thread of its own.

A client's connection pool belongs to one event loop. With a loop of its own, one pool serves all
threads, and also callers that stand inside another event loop themselves.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

_T = TypeVar("_T")


class LoopEnded(Exception):
    """The loop's thread ended before the work was done."""


class LoopThread:
    """An event loop in a daemon thread, inside an async context that is left when the loop stops."""

    def __init__(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(context,), name="tenure-event-loop", daemon=True)
        self._thread.start()
        self._ready.wait()

    @property
    def alive(self) -> bool:
        """Whether it takes work: not after `stop`, and not in a forked child, which has no such thread."""
        return self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of a coroutine. An interrupt of the waiting caller cancels it.

        Raises:
            LoopEnded: the loop was stopped, or could not be started.
        """
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except (AttributeError, RuntimeError) as exc:  # it never started, or it is closed
            work.close()
            raise LoopEnded("the event loop is closed") from exc
        try:
            return future.result()
        except concurrent.futures.CancelledError as exc:
            raise LoopEnded("the event loop was closed while it waited") from exc
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Cancel what is under way, leave the context and end the thread; nothing if it has ended."""
        if not self.alive:
            return
        with contextlib.suppress(RuntimeError):  # it ended by itself meanwhile
            self._loop.call_soon_threadsafe(self._stopping.set)
        if threading.current_thread() is not self._thread:  # the collector may call this from any thread
            self._thread.join(timeout=10)

    def _run(self, context: AbstractAsyncContextManager[Any]) -> None:
        try:
            asyncio.run(self._serve(context))
        finally:
            self._ready.set()

    async def _serve(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        async with context:
            self._ready.set()
            await self._stopping.wait()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
