"""A part of the app that is made elsewhere: pages, the proxy, MCP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fastapi import FastAPI


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A part of the app.

    Attributes:
        mount: puts its routes on the app.
        unbounded: beginnings of paths whose bodies it bounds itself.
        lifespan: what is open while the app runs; none for nothing.
    """

    mount: Callable[[FastAPI], None]
    unbounded: tuple[str, ...] = ()
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None
