"""The server around the app: its socket, its end, and when it refuses to begin."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import logging
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from tenure.errors import UserError
from tenure.logs import event
from tenure.ports import Clock, Store
from tenure.serving.service.patience import PatientProtocol, room_for_connections

_log = logging.getLogger("tenure.service")

PORT = 8765

WAITING = 2_048
"""Connections that the system holds until they are accepted."""

ACCEPTED_AT_ONCE = 64
"""Connections that are accepted before those that are too many are hung up on."""

GRACE_S = 10
"""Seconds that requests at hand may take once the server is asked to end."""


TURN_S = 0.001
"""Seconds that a thread which recalls or records may keep the interpreter while the one that answers waits for it.

Python's own 5 ms are paid several times by a request that meets such work."""


GARBAGE = (50_000, 20, 100)
"""After how many new objects garbage is looked for, and how seldom among older ones. What was loaded at the start stays, and is not
looked through again: with Python's own numbers each recall pays for several looks, and some requests for one at everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server listens, and how it is reached.

    Attributes:
        host, port: a port of 0 takes a free one.
        tls_cert, tls_key: files of its certificate; empty for none.
        behind_tls: whether something in front of it ends TLS.
        plain_http: whether keys may cross the network in the open.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    tls_cert: str = ""
    tls_key: str = ""
    behind_tls: bool = False
    plain_http: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def check_start(address: Address, store: Store, clock: Clock, *, without_keys: bool, make: str) -> str:
    """Make sure that a server does not stand wide open; a word of advice, or empty.

    Args:
        address, store, clock: of the server.
        without_keys: whether it asks for none.
        make: the command that makes a key there.

    Raises:
        UserError: it would; the message says what to do.
    """
    if bool(address.tls_cert) != bool(address.tls_key):
        raise UserError("TLS needs both --tls-cert and --tls-key.")
    if address.tls_cert:
        _check_certificate(address.tls_cert, address.tls_key)
    if without_keys:
        if not address.loopback or address.behind_tls:
            raise UserError(
                "--without-keys serves whoever can reach it as an admin, so it is for this machine alone. "
                "Leave --host and --behind-tls out, or make a key: " + make
            )
        return ""
    has_key = store.has_api_key(clock.now().astimezone(UTC).isoformat())
    if not address.loopback:
        if not has_key:
            raise UserError(f"Nobody could use a server at {address.host}: there is no valid key yet. Make one first: {make}")
        if not (address.tls_cert or address.behind_tls or address.plain_http):
            raise UserError(
                f"Keys would cross the network to {address.host} in the open. Give --tls-cert and --tls-key; say --behind-tls "
                "if something in front of it ends TLS; or --plain-http if the network is yours alone."
            )
    return "" if has_key else f"There is no key yet. Make one: {make}"


def _check_certificate(cert: str, key: str) -> None:
    """Make sure that a server can show this certificate.

    Raises:
        UserError: a file is not there or cannot be read, is no PEM, is locked by a password, or they do not belong together.
    """
    for option, name in (("--tls-cert", cert), ("--tls-key", key)):
        try:
            Path(name).read_bytes()
        except OSError as exc:
            raise UserError(f"{option} {name} cannot be read: {str(exc.strerror or exc).lower()}.") from exc
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")  # a locked key fails instead of asking
    except (ssl.SSLError, ValueError) as exc:
        raise UserError(
            f"--tls-cert {cert} and --tls-key {key} cannot be used ({exc}). "
            "Both are PEM; the key is that of the certificate, and has no password."
        ) from exc


def trusted(said: str) -> str:
    """Whose word on callers counts, as `serve` takes it: addresses and networks, by commas, or `*`.

    Raises:
        UserError: one is no address.
    """
    names = [one.strip() for one in said.split(",") if one.strip()]
    for one in names:
        try:
            if one != "*":
                ipaddress.ip_network(one)
        except ValueError as exc:
            raise UserError(
                f"--forwarded-from {one!r:.80} is no address of a proxy: {exc}. Write such as: --forwarded-from 10.0.0.5,10.1.0.0/16"
            ) from None
    if not names:
        raise UserError("--forwarded-from names nobody. Write such as: --forwarded-from 10.0.0.5, or leave it out.")
    return ",".join(names)


def listen(address: Address) -> socket.socket:
    """A socket that takes connections from now on.

    Raises:
        UserError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # TCP by name: asyncio sends small writes of such sockets at once; of others the second of two waits 40 ms for the first.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address.host, address.port))
        made.listen(WAITING)
    except (OSError, OverflowError) as exc:
        made.close()
        why = (getattr(exc, "strerror", None) or str(exc)).lower()
        raise UserError(
            f"Nothing can listen at {address.host} port {address.port}: {why}. Take another: --port 0 finds a free one."
        ) from exc
    return made


def url_of(address: Address, taken: socket.socket) -> str:
    """How a listening server is reached."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{'https' if address.tls_cert else 'http'}://{host}:{taken.getsockname()[1]}"


class Server(uvicorn.Server):
    """A server that ends when it is asked to, and lets its caller go on."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections; those that wait for it are as many as before."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(WAITING)  # the loop took the other number for this one as well

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Have SIGINT and SIGTERM end the server, and nothing else."""

        def end(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _tune() -> None:
    """Set how threads of this process take turns, and how often garbage is looked for."""
    sys.setswitchinterval(TURN_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def serve(
    app: Any,
    address: Address,
    taken: socket.socket,
    *,
    forwarded_from: str = "127.0.0.1",
    begun: Callable[[], None] | None = None,
    date_header: bool = True,
) -> None:
    """Serve an app until a signal ends it. It tunes this process for it (see `TURN_S`, `GARBAGE`).

    Args:
        app: ASGI.
        address: where.
        taken: the socket, which is closed in the end.
        forwarded_from: addresses of proxies that are believed about their callers, with `behind_tls`.
        begun: called once, before the first request.
        date_header: whether replies get a date of ours.
    """
    config = uvicorn.Config(
        app,
        http=type("Protocol", (PatientProtocol,), {"most": room_for_connections()}),
        backlog=ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=date_header,
        lifespan="on",
        proxy_headers=address.behind_tls,
        forwarded_allow_ips=forwarded_from,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=75,
        ssl_certfile=address.tls_cert or None,
        ssl_keyfile=address.tls_key or None,
    )
    _tune()
    if begun is not None:
        begun()
    event(_log, "server.started", port=taken.getsockname()[1])
    Server(config).run(sockets=[taken])
    event(_log, "server.ended")
