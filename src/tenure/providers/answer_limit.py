"""A bound on how much of a server's answer is read, whatever the server sends."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any


class AnswerTooLong(Exception):
    """A server sent more than is read of an answer."""


def limit_answers(model: object, most: int) -> None:
    """Have the HTTP client of a pydantic-ai model read no more than so many bytes of an answer.

    The hook goes onto the clients that the model's provider makes for itself; a model that brings its own client, or
    none, is left as it is, and then only the time of a request bounds it.

    Args:
        model: as pydantic-ai opened it.
        most: bytes, as they come over the wire.
    """
    provider: Any = getattr(model, "provider", None) or getattr(model, "_provider", None)
    # pydantic-ai has no public place for this: a client handed to it is not made anew when the model is opened again.
    client, make = getattr(provider, "_own_http_client", None), getattr(provider, "_http_client_factory", None)
    if client is None or make is None or getattr(make, "limits_answers", False):
        return

    async def limit(response: Any) -> None:
        response.stream = _limited(response, most)

    def limited() -> Any:
        made = make()
        made.event_hooks["response"].append(limit)
        return made

    limited.limits_answers = True  # type: ignore[attr-defined]  # so that a second wrapper puts no second hook on it
    client.event_hooks["response"].append(limit)
    provider._http_client_factory = limited


def _limited(response: Any, most: int) -> Any:
    """The response's stream, ended with an error where it grows too long."""
    library = sys.modules[type(response).__module__.partition(".")[0]]
    inner = response.stream

    class Limited(library.AsyncByteStream):  # type: ignore[misc,name-defined]  # httpx or its successor, whichever the provider uses
        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for part in inner:
                read += len(part)
                if read > most:
                    raise AnswerTooLong(f"more than {most} bytes")
                yield part

        async def aclose(self) -> None:
            await inner.aclose()

    return Limited()
