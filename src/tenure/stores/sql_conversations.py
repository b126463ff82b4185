"""Conversations of the proxy in a SQL database."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tenure.playbook.run import Draw
from tenure.ports import Conversation
from tenure.stores import codec, rows

_LISTS = ("shown", "withheld", "draws")


class SqlConversations:
    """The conversations of one tenant, inside a transaction (see `tenancy.ConversationKeeping`)."""

    def __init__(self, connection: Connection, tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def conversation(self, conversation_id: str) -> Conversation | None:
        """A conversation by its id."""
        t = rows.conversations
        return _conversation(self._connection.execute(self._mine(t).where(t.c.id == conversation_id)).first())

    def conversation_of_run(self, run: str, scope: str) -> Conversation | None:
        """The conversation that is recorded as a run of a scope, or of one below it."""
        t = rows.conversations
        found = self._connection.execute(self._mine(t).where(t.c.run == run).order_by(t.c.used.desc(), t.c.id)).all()
        own = next((one for one in found if one.scope == scope), None)
        return _conversation(own or next((one for one in found if one.scope.startswith(f"{scope}/")), None))

    def conversation_of_reply(self, reply: str) -> Conversation | None:
        """The conversation in which a provider gave a reply of this id."""
        t = rows.conversation_replies
        found = self._connection.execute(self._mine(t).where(t.c.reply == reply)).first()
        return None if found is None else self.conversation(found.conversation)

    def prompt_generation(self) -> int:
        """How often the tenant's prompts went out of date."""
        t = rows.prompt_generations
        return int(self._connection.execute(select(t.c.generation).where(t.c.tenant == self._tenant)).scalar() or 0)

    def keep_conversation(self, conversation: Conversation) -> bool:
        """Keep a conversation, if its generation is that of today."""
        t, g = rows.conversations, rows.prompt_generations
        # The row is there and held, so that no forgetting ends between this look and the end of the transaction.
        self._connection.execute(_insert(self._connection, g).values(tenant=self._tenant, generation=0).on_conflict_do_nothing())
        held = select(g.c.generation).where(g.c.tenant == self._tenant).with_for_update(read=True)
        if self._connection.execute(held).scalar() != conversation.generation:
            return False
        values = asdict(conversation)
        values["shown"] = codec.compact({name: values.pop(name) for name in _LISTS})
        put = _insert(self._connection, t).values(tenant=self._tenant, **values)
        self._connection.execute(put.on_conflict_do_update(index_elements=["tenant", "id"], set_={**values, "id": put.excluded.id}))
        return True

    def use_conversation(self, conversation_id: str, *, used: str, ended: str = "") -> None:
        """Note when a conversation was last used, and when it ended."""
        t = rows.conversations
        values = {"used": used, **({"ended": ended} if ended else {})}
        self._connection.execute(update(t).where(t.c.tenant == self._tenant, t.c.id == conversation_id).values(**values))

    def name_reply(self, reply: str, conversation_id: str, at: str) -> None:
        """Note in which conversation a provider gave a reply."""
        t = rows.conversation_replies
        put = _insert(self._connection, t).values(tenant=self._tenant, reply=reply, conversation=conversation_id, at=at)
        self._connection.execute(
            put.on_conflict_do_update(index_elements=["tenant", "reply"], set_={"conversation": conversation_id, "at": at})
        )

    def outdate_conversations(self) -> int:
        """Take the texts out of all conversations of the tenant."""
        outdate(self._connection, self._tenant)
        return self.prompt_generation()

    def drop_conversations(self, *, before: str) -> int:
        """Let go of conversations last used before a moment."""
        t, r = rows.conversations, rows.conversation_replies
        old = select(t.c.id).where(t.c.tenant == self._tenant, t.c.used < before)
        self._connection.execute(delete(r).where(r.c.tenant == self._tenant, r.c.conversation.in_(old)))
        return self._connection.execute(delete(t).where(t.c.tenant == self._tenant, t.c.used < before)).rowcount

    def _mine(self, table: Any) -> Any:
        return select(table).where(table.c.tenant == self._tenant)


def outdate(connection: Connection, tenant: str) -> None:
    """Take the texts out of all conversations of a tenant, and count the generation of its prompts up."""
    t, g = rows.conversations, rows.prompt_generations
    # The count first: a conversation that is being kept holds its row, and is seen by the second statement.
    put = _insert(connection, g).values(tenant=tenant, generation=1)
    connection.execute(put.on_conflict_do_update(index_elements=["tenant"], set_={"generation": g.c.generation + 1}))
    connection.execute(update(t).where(t.c.tenant == tenant).values(core="", recall="", shown=codec.compact({})))


def _insert(connection: Connection, table: Any) -> Any:
    """An INSERT that can say what to do where the row is there; both databases have it, under a class of their own."""
    return (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(table)


def _conversation(found: Any) -> Conversation | None:
    if found is None:
        return None
    values = {name: value for name, value in found._mapping.items() if name not in ("tenant", "shown")}
    held: dict[str, Any] = json.loads(found.shown)
    draws = tuple(Draw(**one) for one in held.get("draws", ()))
    return Conversation(**values, shown=tuple(held.get("shown", ())), withheld=tuple(held.get("withheld", ())), draws=draws)
