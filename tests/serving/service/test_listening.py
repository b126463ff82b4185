"""What holds for the socket that a server listens on."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tenure.errors import UserError
from tenure.serving.service.listening import Address, listen, url_of


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_in_two_pieces_do_not_wait_for_one_another(host: str) -> None:
    """With Nagle's rule on, a body that is written after its head waits some 40 ms for the head to be acknowledged."""
    found: list[int] = []

    class Asking(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            found.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            transport.close()

    async def call() -> None:
        try:
            taken = listen(Address(host=host, port=0))
        except UserError as exc:
            pytest.skip(f"this machine has no {host}: {exc}")
        server = await asyncio.get_running_loop().create_server(Asking, sock=taken)
        async with server:
            reader, writer = await asyncio.open_connection(host, taken.getsockname()[1])
            assert await reader.read() == b""
            writer.close()

    asyncio.run(call())
    assert found == [1]


def test_the_address_names_the_port_that_was_found() -> None:
    address = Address(port=0)
    with listen(address) as taken:
        assert url_of(address, taken) == f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert taken.getsockname()[1] > 0
