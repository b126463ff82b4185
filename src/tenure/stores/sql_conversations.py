"""Conversations of the proxy in a SQL database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tenure.playbook.run import Draw
from tenure.ports import Conversation
from tenure.stores import codec, rows
from tenure.stores.prepared import change, fetch

_LISTS = ("shown", "withheld", "draws")
_COLUMNS = tuple(column.name for column in rows.conversations.c if column.name != "tenant")


class SqlConversations:
    """The conversations of one tenant, inside a transaction (see `tenancy.ConversationKeeping`)."""

    def __init__(self, connection: Connection, tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def conversation(self, conversation_id: str) -> Conversation | None:
        """A conversation by its id."""
        found = fetch(self._connection, _CONVERSATION, {"tenant": self._tenant, "id": conversation_id})
        return _conversation(dict(zip(_COLUMNS, found[0], strict=True))) if found else None

    def conversation_of_run(self, run: str, scope: str) -> Conversation | None:
        """The conversation that is recorded as a run of a scope, or of one below it."""
        t = rows.conversations
        found = self._connection.execute(self._mine(t).where(t.c.run == run).order_by(t.c.used.desc(), t.c.id)).all()
        own = next((one for one in found if one.scope == scope), None) or next(
            (one for one in found if one.scope.startswith(f"{scope}/")), None
        )
        return _conversation(dict(own._mapping)) if own is not None else None

    def conversation_of_reply(self, reply: str) -> Conversation | None:
        """The conversation in which a provider gave a reply of this id."""
        t = rows.conversation_replies
        found = self._connection.execute(self._mine(t).where(t.c.reply == reply)).first()
        return None if found is None else self.conversation(found.conversation)

    def prompt_generation(self) -> int:
        """How often the tenant's prompts went out of date."""
        found = fetch(self._connection, _GENERATION, {"tenant": self._tenant})
        return int(found[0][0]) if found else 0

    def keep_conversation(self, conversation: Conversation) -> bool:
        """Keep a conversation, if its generation is that of today."""
        # The row is there and held, so that no forgetting ends between this look and the end of the transaction.
        change(self._connection, _some_generation(self._connection.dialect.name), [{"tenant": self._tenant, "generation": 0}])
        if fetch(self._connection, _GENERATION_HELD, {"tenant": self._tenant})[0][0] != conversation.generation:
            return False
        values = asdict(conversation)
        values["shown"] = codec.compact({name: values.pop(name) for name in _LISTS})
        change(self._connection, _kept_conversation(self._connection.dialect.name), [{"tenant": self._tenant, **values}])
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
    return _put(connection.dialect.name, table)


def _put(database: str, table: Any) -> Any:
    return (postgresql.insert if database == "postgresql" else sqlite.insert)(table)


# What every request asks: built once, with values that come in when it is executed.


def _conversation_by_id() -> Any:
    t = rows.conversations
    return select(*(t.c[name] for name in _COLUMNS)).where(t.c.tenant == bindparam("tenant"), t.c.id == bindparam("id"))


def _generation() -> Any:
    t = rows.prompt_generations
    return select(t.c.generation).where(t.c.tenant == bindparam("tenant"))


_CONVERSATION, _GENERATION = _conversation_by_id(), _generation()
_GENERATION_HELD = _GENERATION.with_for_update(read=True)


@lru_cache(maxsize=2)
def _some_generation(database: str) -> Any:
    put = _put(database, rows.prompt_generations)
    return put.values({name: bindparam(name) for name in ("tenant", "generation")}).on_conflict_do_nothing()


@lru_cache(maxsize=2)
def _kept_conversation(database: str) -> Any:
    put = _put(database, rows.conversations).values({name: bindparam(name) for name in ("tenant", *_COLUMNS)})
    return put.on_conflict_do_update(index_elements=["tenant", "id"], set_={name: put.excluded[name] for name in _COLUMNS})


def _conversation(found: Mapping[str, Any]) -> Conversation:
    values = {name: value for name, value in found.items() if name not in ("tenant", "shown")}
    held: dict[str, Any] = json.loads(found["shown"])
    draws = tuple(Draw(**one) for one in held.get("draws", ()))
    return Conversation(**values, shown=tuple(held.get("shown", ())), withheld=tuple(held.get("withheld", ())), draws=draws)
