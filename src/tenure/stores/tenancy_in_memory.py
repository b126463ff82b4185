"""What a service keeps of a tenant, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rpds import HashTrieMap

from tenure.errors import ScopeError
from tenure.governance.access import ApiKey
from tenure.ports import BEGUN, AuditEntry, Conversation, KeptReply, WebSession


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantContents:
    """All that is kept of a tenant; a value."""

    keys: HashTrieMap[str, ApiKey] = field(default_factory=HashTrieMap)
    audit: HashTrieMap[str, AuditEntry] = field(default_factory=HashTrieMap)
    replies: HashTrieMap[str, KeptReply] = field(default_factory=HashTrieMap)
    sessions: HashTrieMap[str, WebSession] = field(default_factory=HashTrieMap)
    conversations: HashTrieMap[str, Conversation] = field(default_factory=HashTrieMap)
    of_replies: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    generation: int = 0

    def outdated(self, gone: str = "") -> TenantContents:
        """The same without the texts of conversations, and without conversations of a scope that is gone, in the next generation."""
        bare = {
            one: replace(conversation, core="", recall="", shown=(), withheld=(), draws=())
            for one, conversation in self.conversations.items()
            if conversation.scope != gone
        }
        return replace(self, conversations=HashTrieMap(bare), generation=self.generation + 1)


class TenancyInMemory:
    """A transaction on what a service keeps of one tenant (see `tenancy.TenantWriting`)."""

    def __init__(self, tenant: str, contents: TenantContents) -> None:
        self._tenant, self.contents = tenant, contents

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self._tenant

    def api_key(self, key_id: str) -> ApiKey | None:
        """A key by its id."""
        return self.contents.keys.get(key_id)

    def api_keys(self) -> Sequence[ApiKey]:
        """All keys, oldest first."""
        return sorted(self.contents.keys.values(), key=lambda key: (key.created, key.id))

    def audited(self, *, before: str = "", limit: int = 100) -> Sequence[AuditEntry]:
        """Entries of the audit, newest first."""
        newest = sorted((one for one in self.contents.audit if not before or one < before), reverse=True)
        return [self.contents.audit[one] for one in newest[:limit]]

    def kept_reply(self, key: str) -> KeptReply | None:
        """The reply that was given under a key, or none."""
        return self.contents.replies.get(key)

    def web_session(self, digest: str) -> WebSession | None:
        """Who is signed in under the digest of an id."""
        return self.contents.sessions.get(digest)

    def put_api_key(self, key: ApiKey) -> None:
        """Keep a key, or what became of it."""
        if key.tenant != self._tenant:
            raise ScopeError(f"The key '{key.id}' belongs to another tenant than '{self._tenant}'.")
        self.contents = replace(self.contents, keys=self.contents.keys.insert(key.id, key))

    def audit(self, entry: AuditEntry) -> None:
        """Add to the audit."""
        self.contents = replace(self.contents, audit=self.contents.audit.insert(entry.id, entry))

    def settle_audit(self, entry_id: str, outcome: str) -> bool:
        """Say how an act ended that was noted as begun."""
        entry = self.contents.audit.get(entry_id)
        if entry is None or entry.outcome != BEGUN:
            return False
        self.contents = replace(self.contents, audit=self.contents.audit.insert(entry_id, replace(entry, outcome=outcome)))
        return True

    def keep_reply(self, reply: KeptReply) -> None:
        """Keep a reply; one that is there under its key is replaced."""
        self.contents = replace(self.contents, replies=self.contents.replies.insert(reply.key, reply))

    def drop_reply(self, key: str) -> None:
        """Let go of the reply under a key, if there is one."""
        self.contents = replace(self.contents, replies=self.contents.replies.discard(key))

    def drop_replies(self, *, before: str) -> int:
        """Let go of replies kept before a moment; how many there were."""
        old = [key for key, reply in self.contents.replies.items() if reply.at < before]
        kept = self.contents.replies
        for key in old:
            kept = kept.remove(key)
        self.contents = replace(self.contents, replies=kept)
        return len(old)

    def put_web_session(self, session: WebSession) -> None:
        """Keep that somebody signed in."""
        self.contents = replace(self.contents, sessions=self.contents.sessions.insert(session.digest, session))

    def drop_web_session(self, digest: str) -> bool:
        """Sign somebody out; whether they were signed in."""
        if digest not in self.contents.sessions:
            return False
        self.contents = replace(self.contents, sessions=self.contents.sessions.remove(digest))
        return True

    def drop_web_sessions(self, *, before: str) -> int:
        """Let go of sessions that expired before a moment; how many there were."""
        old = [digest for digest, session in self.contents.sessions.items() if session.expires < before]
        for digest in old:
            self.drop_web_session(digest)
        return len(old)

    def conversation(self, conversation_id: str) -> Conversation | None:
        """A conversation by its id."""
        return self.contents.conversations.get(conversation_id)

    def conversation_of_run(self, run: str, scope: str) -> Conversation | None:
        """The conversation that is recorded as a run of a scope, or of one below it."""
        below = (one for one in self.contents.conversations.values() if one.run == run and f"{one.scope}/".startswith(f"{scope}/"))
        found = sorted(below, key=lambda one: one.id)
        return max(found, key=lambda one: (one.scope == scope, one.used), default=None)

    def conversation_of_reply(self, reply: str) -> Conversation | None:
        """The conversation in which a provider gave a reply of this id."""
        return self.contents.conversations.get(self.contents.of_replies.get(reply, ""))

    def prompt_generation(self) -> int:
        """How often the tenant's prompts went out of date."""
        return self.contents.generation

    def keep_conversation(self, conversation: Conversation) -> bool:
        """Keep a conversation, if its generation is that of today."""
        if conversation.generation != self.contents.generation:
            return False
        self.contents = replace(self.contents, conversations=self.contents.conversations.insert(conversation.id, conversation))
        return True

    def use_conversation(self, conversation_id: str, *, used: str, ended: str = "") -> None:
        """Note when a conversation was last used, and when it ended."""
        kept = self.contents.conversations.get(conversation_id)
        if kept is not None:
            kept = replace(kept, used=used, ended=ended or kept.ended)
            self.contents = replace(self.contents, conversations=self.contents.conversations.insert(conversation_id, kept))

    def name_reply(self, reply: str, conversation_id: str, at: str) -> None:
        """Note in which conversation a provider gave a reply."""
        self.contents = replace(self.contents, of_replies=self.contents.of_replies.insert(reply, conversation_id))

    def outdate_conversations(self) -> int:
        """Take the texts out of all conversations of the tenant."""
        self.contents = self.contents.outdated()
        return self.contents.generation

    def drop_conversations(self, *, before: str) -> int:
        """Let go of conversations last used before a moment."""
        old = {one.id for one in self.contents.conversations.values() if one.used < before}
        self.contents = replace(
            self.contents,
            conversations=HashTrieMap({one: kept for one, kept in self.contents.conversations.items() if one not in old}),
            of_replies=HashTrieMap({reply: one for reply, one in self.contents.of_replies.items() if one not in old}),
        )
        return len(old)
