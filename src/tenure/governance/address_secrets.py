"""Passwords in addresses (`postgres://user:PASSWORD@host`), and signatures that make a link work for anybody."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.governance.searching import Span, places
from tenure.governance.secret_fields import is_drawn
from tenure.governance.value_judgement import is_placeholder, is_wordlike

_AUTHORITY = re.compile(r"[^\s/\"'<>`\\]{1,512}")
_LOOSE_AUTHORITY = re.compile(r"[^\s\"'<>`\\@]{1,256}@[A-Za-z0-9]")
_PLAIN_WORDS = frozenset({"password", "pass", "passwd", "pwd", "pw", "secret", "token", "apikey", "key", "mypassword", "yourpassword"})
_SIGNED_NAME = re.compile(r"[?&;](?:sig|[Xx]-[A-Za-z]{3,4}-[Ss]ignature|Signature)=\Z")
_GRANT = re.compile(r"(?<=[?&])code=(?P<v>[A-Za-z0-9._~/%+-]{16,600}+)")
_QUERY_KEY = re.compile(r"(?<=[?&])(?:key|appid|app_key|subscription-key|code)=(?P<v>[A-Za-z0-9_-]{20,128}={0,2}+)(?![A-Za-z0-9%/+.])")
_SIGNATURE = re.compile(r"[A-Za-z0-9%+/=_~-]{20,2000}+")


def find_url_secrets(text: str) -> Iterator[Span]:
    """Passwords in addresses (`postgres://user:PASSWORD@host`), and signatures that make a link work for anybody."""
    for place in places(text, "://"):
        found = _url_password(text, place + 3)
        if found is not None:
            yield found
    for place in places(text, "code="):
        grant = _GRANT.match(text, place)
        if grant is not None and any(c.isdigit() for c in grant["v"]) and not is_wordlike(grant["v"]) and not is_placeholder(grant["v"]):
            yield grant.start("v"), grant.end("v"), "authorization"  # what a sign-in hands back, to be changed for a token
    for anchor in ("key=", "appid="):
        for place in places(text, anchor):
            start = text.rfind("?", max(0, place - 14), place + 1)
            start = max(start, text.rfind("&", max(0, place - 14), place + 1)) + 1
            key = _QUERY_KEY.match(text, start) if start else None
            if key is not None and is_drawn(key["v"]) and not is_placeholder(key["v"]):
                yield key.start("v"), key.end("v"), "api-key"
    for anchor in ("sig=", "ignature="):
        for place in places(text, anchor):
            if _SIGNED_NAME.search(text[max(0, place - 12) : place + len(anchor)]) is None:
                continue
            signature = _SIGNATURE.match(text, place + len(anchor))
            if signature is not None and any(c.isdigit() for c in signature.group()):
                yield signature.start(), signature.end(), "signed-url"


def find_driver_passwords(text: str) -> Iterator[Span]:
    """Passwords in `user:password@tcp(host:port)/db`, as Go's database drivers write it."""
    if "@" not in text:
        return
    for at in places(text, "@tcp("):
        chunk = text[max(0, at - 160) : at]
        login = chunk[max(chunk.rfind(c) for c in " \t\n\"'`=(") + 1 :]
        password = login.partition(":")[2]
        if _is_password(password):
            yield at - len(password), at, "url-password"


def _url_password(text: str, start: int) -> Span | None:
    authority = _AUTHORITY.match(text, start)
    if authority is None:
        return None
    login, at, _ = authority.group().rpartition("@")
    if not at:
        # A password may hold an unescaped `/`; only in addresses of databases, where `@` in a path is unusual.
        near = "@" in text[start : start + 256] and not text.startswith(("http", "s3", "gs"), _scheme_start(text, start))
        loose = _LOOSE_AUTHORITY.match(text, start) if near else None
        if loose is None or ":" not in loose.group():
            return None
        login = loose.group()[:-2]
    if "[redacted:" in login:
        return None
    user, colon, password = login.partition(":")
    if colon and _is_password(password):
        return start + len(user) + 1, start + len(login), "url-password"
    if not colon and len(user) >= 20 and not is_wordlike(user) and not is_placeholder(user):
        return start, start + len(user), "url-password"
    return None


def _scheme_start(text: str, start: int) -> int:
    chunk = text[max(0, start - 23) : start - 3]
    return start - 3 - (len(chunk) - len(chunk.rstrip("abcdefghijklmnopqrstuvwxyz0123456789+")))


def _is_password(password: str) -> bool:
    return len(password) > 1 and not is_placeholder(password) and password.lower() not in _PLAIN_WORDS
