"""What holds for the socket that a server listens on."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from tenure.errors import UserError
from tenure.serving.service.listening import Address, check_start, listen, trusted, url_of
from tenure.stores.in_memory import InMemoryStore
from tenure.system import SystemClock


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


def test_a_certificate_that_cannot_be_used_is_said_before_anything_listens(tmp_path: Path) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_text("no PEM", encoding="utf-8")
    for cert, said in ((str(tmp_path / "none.pem"), "--tls-cert .*none.pem cannot be read: no such file"), (str(junk), "Both are PEM")):
        address = Address(port=0, tls_cert=cert, tls_key=str(junk))
        with pytest.raises(UserError, match=said):
            check_start(address, InMemoryStore(), SystemClock(), without_keys=False, make="tenure keys create")


def test_whose_word_on_callers_counts_is_given_by_addresses() -> None:
    assert trusted(" 10.0.0.5, 10.1.0.0/16,::1 ") == "10.0.0.5,10.1.0.0/16,::1"
    assert trusted("*") == "*"


@pytest.mark.parametrize(
    ("said", "words"), [("my-proxy", "'my-proxy' is no address"), ("10.0.0.5;10.0.0.6", "no address"), (" , ", "nobody")]
)
def test_what_is_no_address_of_a_proxy_is_refused(said: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        trusted(said)
