"""Providers behind the proxy, and requests to them: headers and bytes as the caller sent them."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import httpx2

from tenure.errors import UserError

Headers = Sequence[tuple[bytes, bytes]]

CONNECT_S = 10.0
SILENCE_S = 600.0
"""Seconds that a provider may be silent, as long as the official clients wait."""

_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te", b"trailer",
     b"transfer-encoding", b"upgrade"}
)  # fmt: skip
_REPLACED = frozenset({b"host", b"content-length", b"expect"})
OWN = b"x-tenure-"
"""Begins the names of headers that are for Tenure, and go no further."""

SAID = b"x-tenure"
"""Says what Tenure did; nobody else says so."""

_CREDENTIALS = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstreams:
    """Providers by name.

    Attributes:
        urls: address of each, without a slash at its end.
    """

    urls: Mapping[str, str]

    def of(self, path: str, headers: Headers) -> tuple[str, str] | None:
        """The provider of a request: its address, and the path there; none if no provider is meant.

        Args:
            path: percent-encoded, without the query.
            headers: of the request.
        """
        first, slash, rest = path.removeprefix("/").partition("/")
        if slash and first in self.urls:
            return self.urls[first], f"/{rest}"
        if len(self.urls) == 1:
            return next(iter(self.urls.values())), path
        anthropic = path.startswith("/v1/messages") or any(name == b"anthropic-version" for name, _ in headers)
        name = "anthropic" if anthropic else "openai"
        return (self.urls[name], path) if name in self.urls else None


def read_upstreams(given: Iterable[str]) -> Upstreams:
    """Providers as they stand on a command line: `openai=https://api.openai.com`.

    Raises:
        UserError: one cannot be used, or none is given.
    """
    urls: dict[str, str] = {}
    for one in given:
        name, equals, url = one.partition("=")
        parts = urlsplit(url)
        if (
            not equals
            or not name.isidentifier()
            or parts.scheme not in ("http", "https")
            or not parts.netloc
            or parts.query
            or parts.fragment
        ):
            raise UserError(f"--upstream {one!r:.120} is no NAME=URL. Write such as: --upstream openai=https://api.openai.com")
        if parts.username or parts.password:
            raise UserError(f"--upstream {name} has a password in its address. Callers send their own keys.")
        if name in urls or name == "v1":
            raise UserError(f"--upstream {name} {'is given twice' if name in urls else 'cannot be a name: paths begin so'}.")
        urls[name] = url.rstrip("/").removesuffix("/v1")
    if not urls:
        raise UserError("No provider is named. Write such as: --upstream openai=https://api.openai.com")
    return Upstreams(urls=urls)


def open_client() -> httpx2.AsyncClient:
    """A client that sends what it is given, keeps no cookies and follows nothing."""
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=200, keepalive_expiry=30.0),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


def request_to(
    base: str, method: str, path: str, query: bytes, headers: Headers, content: bytes | AsyncIterable[bytes] | None
) -> httpx2.Request:
    """A request to a provider.

    Args:
        base: the provider's address.
        method, path, query: as the caller sent them; the path percent-encoded.
        headers: the caller's.
        content: the body; none for none. An iterator passes it on as it comes.
    """
    url = httpx2.URL(base)
    raw = url.raw_path.rstrip(b"/") + path.encode("ascii") + (b"?" + query if query else b"")
    sent = _without(headers, _REPLACED if isinstance(content, bytes) else _REPLACED - {b"content-length"})
    if isinstance(content, bytes):
        sent.append((b"content-length", str(len(content)).encode("ascii")))
    return httpx2.Request(method, url.copy_with(raw_path=raw), headers=sent, content=content)


def headers_back(headers: Headers) -> list[tuple[bytes, bytes]]:
    """A provider's headers as they are passed on: all but those that are about its connection to us."""
    return _without(headers, frozenset())


def has_credential(headers: Headers) -> bool:
    """Whether a request carries the caller's own key for a provider."""
    return any(name in _CREDENTIALS and value for name, value in headers)


def _without(headers: Headers, more: frozenset[bytes]) -> list[tuple[bytes, bytes]]:
    listed = (value for name, value in headers if name.lower() == b"connection")
    named = {one.strip().lower() for value in listed for one in value.split(b",")}
    gone = _HOP_BY_HOP | more | named | {SAID}
    return [(name.lower(), value) for name, value in headers if name.lower() not in gone and not name.lower().startswith(OWN)]
