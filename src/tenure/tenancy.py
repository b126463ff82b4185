"""What a service keeps of a tenant beside its scopes: keys, the audit, kept replies, conversations, who is signed in.

`ports` offers these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tenure.governance.access import ApiKey
from tenure.playbook.run import Draw

BEGUN = "begun"
"""Outcome of an act that stands in the audit before it is done. Where the process dies within it, it stays so."""


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
        outcome: `done`, or why it was not; `BEGUN` while nobody knows.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What the proxy adds to the requests of one conversation: the same bytes in every turn, so that prompt caches hold.

    Attributes:
        id: digest of what the conversation is told by.
        scope: whose lessons it is shown.
        run: id of the run that it is recorded as.
        core, recall: the texts that are added, with their marks; empty adds nothing.
        shown, withheld, draws: of the context, as for a `Run`.
        generation: of the tenant's prompts when the texts were made; another one than that of today makes them out of date.
        begun: ISO 8601, UTC.
        used: when it was last used, to the minute or so; ISO 8601, UTC.
        ended: when its outcome was reported; empty before that.
    """

    id: str
    scope: str
    run: str
    core: str = ""
    recall: str = ""
    shown: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    generation: int = 0
    begun: str = ""
    used: str = ""
    ended: str = ""


_AT_ONCE = frozenset({"forget", "revoke", "rollback"})
_BY_HAND = frozenset({"hand", "review"})
_ADDS = frozenset({"ADD", "TALLY", "PIN", "OBSERVE"})


def outdates_prompts(cause: str, operations: Iterable[str]) -> bool:
    """Whether a delta makes texts that conversations were shown untenable at once, instead of for the next conversation.

    Args:
        cause: of the delta.
        operations: names of its operations, such as `ADD`.
    """
    return cause in _AT_ONCE or (cause in _BY_HAND and not _ADDS.issuperset(operations))


class ConversationReading(Protocol):
    """A look at the conversations of one tenant."""

    def conversation(self, conversation_id: str) -> Conversation | None:
        """A conversation by its id, out of date or not."""
        ...

    def conversation_of_run(self, run: str, scope: str) -> Conversation | None:
        """The conversation that is recorded as a run of a scope, or of one below it.

        Callers name runs, so that two scopes may each have one of the name: that of the scope itself goes before those below it,
        and of several the one used last.
        """
        ...

    def conversation_of_reply(self, reply: str) -> Conversation | None:
        """The conversation in which a provider gave a reply of this id."""
        ...

    def prompt_generation(self) -> int:
        """How often what was forgotten, revoked or edited made the tenant's prompts out of date."""
        ...


class ConversationKeeping(ConversationReading, Protocol):
    """The part of a transaction that keeps the conversations of one tenant."""

    def keep_conversation(self, conversation: Conversation) -> bool:
        """Keep a conversation in place of what was kept under its id.

        Returns:
            False, and nothing is kept, if its generation is not that of today: its texts may hold what was forgotten meanwhile.
        """
        ...

    def use_conversation(self, conversation_id: str, *, used: str, ended: str = "") -> None:
        """Note when a conversation was last used and, unless empty, when its outcome was reported; its texts stay as they are."""
        ...

    def name_reply(self, reply: str, conversation_id: str, at: str) -> None:
        """Note in which conversation a provider gave a reply, so that a request that goes on from it is known for its turn."""
        ...

    def outdate_conversations(self) -> int:
        """Take the texts out of all conversations of the tenant, and count the generation up; the new one.

        Stores do so by themselves with every delta that `outdates_prompts`.
        """
        ...

    def drop_conversations(self, *, before: str) -> int:
        """Let go of conversations last used before a moment (ISO 8601, UTC), with the names of their replies; how many there were."""
        ...


class TenantReading(ConversationReading, Protocol):
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


class TenantWriting(TenantReading, ConversationKeeping, Protocol):
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

    def settle_audit(self, entry_id: str, outcome: str) -> bool:
        """Say how an act ended that was noted as `BEGUN`; whether there was such an entry. Others stay as they are."""
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
