"""What a service keeps of a tenant in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, insert, update

from tenure.errors import ScopeError
from tenure.governance.access import ApiKey
from tenure.ports import BEGUN, AuditEntry, KeptReply, WebSession
from tenure.stores import rows
from tenure.stores.sql_conversations import SqlConversations


class SqlTenancy(SqlConversations):
    """A transaction on what a service keeps of one tenant (see `tenancy.TenantWriting`)."""

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self._tenant

    def api_key(self, key_id: str) -> ApiKey | None:
        """A key by its id."""
        t = rows.api_keys
        found = self._connection.execute(self._mine(t).where(t.c.id == key_id)).first()
        return None if found is None else _api_key(found)

    def api_keys(self) -> Sequence[ApiKey]:
        """All keys, oldest first."""
        t = rows.api_keys
        return [_api_key(found) for found in self._connection.execute(self._mine(t).order_by(t.c.created, t.c.id))]

    def audited(self, *, before: str = "", limit: int = 100) -> Sequence[AuditEntry]:
        """Entries of the audit, newest first."""
        t = rows.audit
        wanted = self._mine(t).order_by(t.c.id.desc()).limit(limit)
        if before:
            wanted = wanted.where(t.c.id < before)
        return [AuditEntry(**_without_tenant(found)) for found in self._connection.execute(wanted)]

    def kept_reply(self, key: str) -> KeptReply | None:
        """The reply that was given under a key, or none."""
        t = rows.kept_replies
        found = self._connection.execute(self._mine(t).where(t.c.key == key)).first()
        return None if found is None else KeptReply(**_without_tenant(found))

    def web_session(self, digest: str) -> WebSession | None:
        """Who is signed in under the digest of an id."""
        t = rows.web_sessions
        found = self._connection.execute(self._mine(t).where(t.c.digest == digest)).first()
        return None if found is None else WebSession(**_without_tenant(found))

    def put_api_key(self, key: ApiKey) -> None:
        """Keep a key, or what became of it."""
        if key.tenant != self._tenant:
            raise ScopeError(f"The key '{key.id}' belongs to another tenant than '{self._tenant}'.")
        values = {name: value for name, value in asdict(key).items() if name not in ("by", "tenant")}
        self._replace(rows.api_keys, "id", {**values, "created_by": key.by})

    def audit(self, entry: AuditEntry) -> None:
        """Add to the audit."""
        self._connection.execute(insert(rows.audit), {"tenant": self._tenant, **asdict(entry)})

    def settle_audit(self, entry_id: str, outcome: str) -> bool:
        """Say how an act ended that was noted as begun."""
        t = rows.audit
        begun = update(t).where(t.c.tenant == self._tenant, t.c.id == entry_id, t.c.outcome == BEGUN)
        return self._connection.execute(begun.values(outcome=outcome)).rowcount > 0

    def keep_reply(self, reply: KeptReply) -> None:
        """Keep a reply; one that is there under its key is replaced."""
        self._replace(rows.kept_replies, "key", asdict(reply))

    def drop_reply(self, key: str) -> None:
        """Let go of the reply under a key, if there is one."""
        t = rows.kept_replies
        self._connection.execute(delete(t).where(t.c.tenant == self._tenant, t.c.key == key))

    def drop_replies(self, *, before: str) -> int:
        """Let go of replies kept before a moment; how many there were."""
        t = rows.kept_replies
        return self._connection.execute(delete(t).where(t.c.tenant == self._tenant, t.c.at < before)).rowcount

    def put_web_session(self, session: WebSession) -> None:
        """Keep that somebody signed in."""
        self._replace(rows.web_sessions, "digest", asdict(session))

    def drop_web_session(self, digest: str) -> bool:
        """Sign somebody out; whether they were signed in."""
        t = rows.web_sessions
        return self._connection.execute(delete(t).where(t.c.tenant == self._tenant, t.c.digest == digest)).rowcount > 0

    def drop_web_sessions(self, *, before: str) -> int:
        """Let go of sessions that expired before a moment; how many there were."""
        t = rows.web_sessions
        return self._connection.execute(delete(t).where(t.c.tenant == self._tenant, t.c.expires < before)).rowcount

    def _replace(self, table: Any, identity: str, values: dict[str, Any]) -> None:
        mine = (table.c.tenant == self._tenant, table.c[identity] == values[identity])
        self._connection.execute(delete(table).where(*mine))
        self._connection.execute(insert(table), {"tenant": self._tenant, **values})


def _without_tenant(found: Any) -> dict[str, Any]:
    return {name: value for name, value in found._mapping.items() if name != "tenant"}


def _api_key(found: Any) -> ApiKey:
    values = dict(found._mapping)
    return ApiKey(by=values.pop("created_by"), **values)
