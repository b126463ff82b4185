"""What a service keeps of a tenant beside its scopes: keys, the audit, kept replies, who is signed in. `ports` offers these names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tenure.governance.access import ApiKey


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An act of administration or review, as it was asked for and done.

    Attributes:
        id: a ULID; entries are read in this order.
        at: ISO 8601, UTC.
        who: id of the key, or who sat at the command line.
        act: such as `keys.create` or `forget.run`.
        scope: where; empty for the tenant as a whole.
        subject: what it was done to: an id, a name of a setting. Never a text of a run or lesson.
        outcome: `done`, or why it was not.
        request: id of the request it came by; empty for others.
    """

    id: str
    at: str
    who: str
    act: str
    scope: str = ""
    subject: str = ""
    outcome: str = "done"
    request: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReply:
    """The reply to a request with an idempotency key, to be given again when the request is sent again.

    Attributes:
        key: of the API key and the idempotency key together.
        request: digest of what was asked; the same key with another request is an error.
        status: of HTTP.
        body: as it was sent, JSON.
        at: ISO 8601, UTC.
    """

    key: str
    request: str
    status: int
    body: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """Somebody who signed in to the pages with an API key. The key says what they may; when it ends, so does this.

    Attributes:
        digest: SHA-256 of the random id in their cookie, hex.
        key: id of the API key.
        created, expires: ISO 8601, UTC.
    """

    digest: str
    key: str
    created: str
    expires: str


class TenantReading(Protocol):
    """A consistent look at what a service keeps of one tenant."""

    @property
    def tenant(self) -> str:
        """Whose it is."""
        ...

    def api_key(self, key_id: str) -> ApiKey | None:
        """A key by its id, revoked and expired ones too."""
        ...

    def api_keys(self) -> Sequence[ApiKey]:
        """All keys, oldest first."""
        ...

    def audited(self, *, before: str = "", limit: int = 100) -> Sequence[AuditEntry]:
        """Entries of the audit, newest first; with `before` those older than that id."""
        ...

    def kept_reply(self, key: str) -> KeptReply | None:
        """The reply that was given under a key, or none."""
        ...

    def web_session(self, digest: str) -> WebSession | None:
        """Who is signed in under the digest of an id, expired ones too; none if nobody is."""
        ...


class TenantWriting(TenantReading, Protocol):
    """A transaction on what a service keeps of one tenant: durable when it ends, undone if an error leaves it."""

    def put_api_key(self, key: ApiKey) -> None:
        """Keep a key, or what became of it.

        Raises:
            ScopeError: it is another tenant's.
        """
        ...

    def audit(self, entry: AuditEntry) -> None:
        """Add to the audit, which nothing removes from."""
        ...

    def keep_reply(self, reply: KeptReply) -> None:
        """Keep a reply; one that is there under its key is replaced."""
        ...

    def drop_reply(self, key: str) -> None:
        """Let go of the reply under a key, if there is one."""
        ...

    def drop_replies(self, *, before: str) -> int:
        """Let go of replies kept before a moment (ISO 8601, UTC); how many there were."""
        ...

    def put_web_session(self, session: WebSession) -> None:
        """Keep that somebody signed in."""
        ...

    def drop_web_session(self, digest: str) -> bool:
        """Sign somebody out; whether they were signed in."""
        ...

    def drop_web_sessions(self, *, before: str) -> int:
        """Let go of sessions that expired before a moment (ISO 8601, UTC); how many there were."""
        ...
