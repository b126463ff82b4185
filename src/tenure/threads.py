"""Methods for async callers: the same, in a thread."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def in_thread(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Awaitable[R]]:
    """The same method for async callers: it runs in a thread, so that the event loop goes on."""

    @functools.wraps(method)
    async def threaded(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    threaded.__doc__ = f"`{method.__name__}` for async callers."
    return threaded
