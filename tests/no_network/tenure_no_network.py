"""Tests use no network: whatever is not loopback raises, in this process and in those it starts.

An audit hook, because it costs no import (start-up times are measured by tests), cannot be undone by
the code under test, and also sees what C extensions do through Python's socket module.
"""

from __future__ import annotations

import sys
from typing import Any

LOOPBACK_NAMES = frozenset({"", "localhost", "::1", "0.0.0.0", "::"})


class NetworkForbiddenError(RuntimeError):
    """A test reached for another machine. Not an OSError: nobody mistakes it for a server that is down."""


def is_loopback(host: object) -> bool:
    """Whether a host name or address, as text or bytes, is this machine's loopback."""
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    return name.lower() in LOOPBACK_NAMES or name.startswith("127.") or name.lower().startswith("::ffff:127.")


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        # Unix sockets have a path for an address, netlink a pair of numbers: both stay on this machine.
        if isinstance(address, tuple) and address and isinstance(address[0], str | bytes) and not is_loopback(address[0]):
            raise NetworkForbiddenError(
                f"Tests use no network, and this one reaches for {address[0]!r}. Use a double, or a server on 127.0.0.1."
            )
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not is_loopback(arguments[0]):
        raise NetworkForbiddenError(
            f"Tests use no network, and this one looks up {arguments[0]!r}. Use a double, or a server on 127.0.0.1."
        )


def forbid() -> None:
    """Forbid it for the rest of this process. There is no way back."""
    sys.addaudithook(_watch)
