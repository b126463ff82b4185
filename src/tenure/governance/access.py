"""Who may do what in a service: roles, API keys and what stands in one. Pure: chance and time come in as arguments.

A key is `tnr_` + 10 characters that name it + 52 that are its secret + `.` + its tenant, percent-encoded: so that whoever
checks it knows behind which wall to look it up before anything else is read. Only a digest of the secret is kept. The secret
is 256 bits of chance, so that a plain SHA-256 is enough: there is nothing to guess that a slow hash would make dearer.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["reader", "reporter", "reviewer", "admin"]
"""What a key is for. Each role may also do what those before it may."""

ROLES: tuple[Role, ...] = get_args(Role)

Act = Literal["read", "report", "review", "administer"]
"""What can be done: read; report runs and outcomes and write memory; decide and change playbooks; keys, settings, forgetting."""

ACTS: tuple[Act, ...] = get_args(Act)

SECRET_BYTES = 32
NAME_BYTES = 6
PREFIX = "tnr_"
_NAME, _SECRET = 10, 52
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_ESCAPED = re.compile(rb"%([0-9A-F]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept: everything but its secret.

    Attributes:
        id: names it; stands in the key and in the audit.
        label: what a person calls it.
        tenant: whose it is.
        scope: it opens this scope and those below it; the tenant itself for all.
        role: what it may do.
        digest: SHA-256 of the secret, hex.
        created, expires, revoked: ISO 8601, UTC; empty for never.
        by: who made it.
        rate: requests per minute; 0 takes the server's own limit.
    """

    id: str
    label: str
    tenant: str
    scope: str
    role: Role
    digest: str
    created: str
    by: str
    expires: str = ""
    revoked: str = ""
    rate: int = 0

    def allows(self, act: Act) -> bool:
        """Whether its role may do this."""
        return ACTS.index(act) <= ROLES.index(self.role)

    def opens(self, scope: str) -> bool:
        """Whether a scope is its own or below it."""
        return scope == self.scope or scope.startswith(f"{self.scope}/")

    def state(self, at: str) -> Literal["valid", "expired", "revoked"]:
        """How it stands at a moment (ISO 8601, UTC)."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expires and self.expires <= at else "valid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """A key as it was presented, taken apart. Its `repr` hides the secret.

    Attributes:
        id, tenant: of the key.
        digest: of the secret.
    """

    id: str
    tenant: str
    digest: str

    def fits(self, kept: ApiKey) -> bool:
        """Whether it is this key; takes as long for a wrong secret as for the right one."""
        return self.tenant == kept.tenant and self.id == kept.id and hmac.compare_digest(self.digest, kept.digest)


def key_text(tenant: str, chance: bytes) -> str:
    """A new key.

    Args:
        tenant: whose it is to be.
        chance: `NAME_BYTES` + `SECRET_BYTES` fresh random bytes.
    """
    name, secret = chance[:NAME_BYTES], chance[NAME_BYTES : NAME_BYTES + SECRET_BYTES]
    return f"{PREFIX}{_base32(name)}{_base32(secret)}.{_escaped(tenant)}"


def read_key(text: str) -> Presented | None:
    """A key taken apart, or none if it is none."""
    if not text.isascii() or len(text) > 1_000 or not text.startswith(PREFIX):
        return None
    body, dot, tenant = text.removeprefix(PREFIX).partition(".")
    if len(body) != _NAME + _SECRET or not body.isalnum() or not dot or not tenant:
        return None
    try:
        named = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), tenant.encode("ascii")).decode("utf-8")
    except UnicodeDecodeError:
        return None
    name, secret = body[:_NAME], body[_NAME:]
    return Presented(id=name, tenant=named, digest=hashlib.sha256(secret.encode("ascii")).hexdigest())


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()


def _escaped(tenant: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in tenant.encode("utf-8"))
