"""What a service keeps of a tenant, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rpds import HashTrieMap

from tenure.errors import ScopeError
from tenure.governance.access import ApiKey
from tenure.ports import AuditEntry, KeptReply, WebSession


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantContents:
    """All that is kept of a tenant; a value."""

    keys: HashTrieMap[str, ApiKey] = field(default_factory=HashTrieMap)
    audit: HashTrieMap[str, AuditEntry] = field(default_factory=HashTrieMap)
    replies: HashTrieMap[str, KeptReply] = field(default_factory=HashTrieMap)
    sessions: HashTrieMap[str, WebSession] = field(default_factory=HashTrieMap)


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
