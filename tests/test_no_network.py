"""The guard itself: a test suite that could reach a network would prove less than it says."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tenure_no_network import NetworkForbiddenError, is_loopback

# TEST-NET-1 of RFC 5737: an address that is nobody's.
NOBODY = "192.0.2.1"


def test_connecting_elsewhere_raises() -> None:
    with socket.socket() as one, pytest.raises(NetworkForbiddenError, match=NOBODY):
        one.connect((NOBODY, 80))


def test_looking_up_a_name_raises() -> None:
    with pytest.raises(NetworkForbiddenError, match=r"example\.org"):
        socket.getaddrinfo("example.org", 443)


def test_loopback_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_processes_that_tests_start_are_guarded_too() -> None:
    code = f"import socket; socket.create_connection(({NOBODY!r}, 80), timeout=2)"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "NetworkForbiddenError" in child.stderr


@pytest.mark.parametrize(
    ("host", "expected"), [("127.0.0.1", True), ("::1", True), (b"localhost", True), (None, True), ("10.0.0.1", False)]
)
def test_loopback_is_told_from_the_rest(host: object, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_home_is_not_the_callers() -> None:
    assert "tenure-home-" in str(Path.home())


def test_no_key_of_the_caller_is_left() -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []
