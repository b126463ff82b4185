"""Texts of a memory's raw log in a SQL database that have vectors, or are to have some: its sessions, and entries of persons."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, and_, func, select

from tenure.stores import rows
from tenure.stores.expressions import json_part
from tenure.stores.log_search import session_name
from tenure.stores.scopes import tenant
from tenure.stores.vectors import session_text

_AT_ONCE = 400
_E, _V = rows.memory_entries, rows.vectors
_NAME = _E.c.day + " " + _E.c.session


def sessions_without(connection: Connection, scope: str, there: Any, *, since: str, limit: int) -> dict[str, str]:
    """Texts of sessions without a vector by name, of the newest day first.

    Args:
        connection: inside a transaction.
        scope: the memory's.
        there: what a vector of theirs would have to meet, but for its id.
        since: ISO date; of that day or later.
        limit: how many at most.
    """
    mine = (_E.c.tenant == tenant(scope), _E.c.scope == scope, _E.c.day >= since)
    lacking = ~select(_V.c.n).where(there, _V.c.id == _NAME).exists()
    wanted = select(_E.c.day, _E.c.session).where(*mine, lacking).distinct().order_by(_E.c.day.desc()).limit(limit)
    names = [(str(day), str(session)) for day, session in connection.execute(wanted)]
    texts = session_texts(connection, scope, names)
    return {name: texts[name] for day, session in names if (name := session_name(day, session)) in texts}


def session_texts(connection: Connection, scope: str, sessions: Collection[tuple[str, str]]) -> dict[str, str]:
    """What of sessions, by day and name, is embedded, by the name of each; those without an entry are left out."""
    by_day: dict[str, list[str]] = {}
    for day, session in sessions:
        by_day.setdefault(day, []).append(session)
    said: dict[str, list[tuple[bool, str]]] = {}
    for day, named in by_day.items():
        for start in range(0, len(named), _AT_ONCE):
            inside = (_E.c.tenant == tenant(scope), _E.c.scope == scope, _E.c.day == day, _E.c.session.in_(named[start : start + _AT_ONCE]))
            wanted = select(_E.c.session, _E.c.own, json_part(_E.c.body, "text")).where(*inside)
            for session, own, text in connection.execute(wanted.order_by(_E.c.at, _E.c.id)):
                said.setdefault(session_name(day, session), []).append((bool(own), str(text)))
    return {name: session_text(entries) for name, entries in said.items()}


def entries_without(connection: Connection, scope: str, there: Any, *, since: str, limit: int) -> dict[str, str]:
    """Texts of entries of persons without a vector by id, of the newest day first (see `sessions_without`)."""
    mine = (_E.c.tenant == tenant(scope), _E.c.scope == scope, _E.c.day >= since, _E.c.own)
    lacking = ~select(_V.c.n).where(there, _V.c.id == _E.c.id).exists()
    wanted = select(_E.c.id, json_part(_E.c.body, "text")).where(*mine, lacking)
    # In the order of the index, so that the newest are found without the others being looked at.
    found = connection.execute(wanted.order_by(_E.c.day.desc(), _E.c.at.desc(), _E.c.id.desc()).limit(limit))
    return {str(one): str(text) for one, text in found}


def entry_texts(connection: Connection, scope: str, ids: Sequence[str]) -> dict[str, str]:
    """What of entries of persons is embedded, by id; those that are not there are left out."""
    inside = and_(_E.c.tenant == tenant(scope), _E.c.scope == scope, _E.c.own)
    found: dict[str, str] = {}
    for start in range(0, len(ids), _AT_ONCE):
        wanted = select(_E.c.id, json_part(_E.c.body, "text")).where(inside, _E.c.id.in_(ids[start : start + _AT_ONCE]))
        found |= {str(one): str(text) for one, text in connection.execute(wanted)}
    return found


def count_texts(connection: Connection, scope: str) -> int:
    """How many sessions and entries of persons are to have a vector."""
    mine = (_E.c.tenant == tenant(scope), _E.c.scope == scope)
    entries = connection.execute(select(func.count()).select_from(_E).where(*mine, _E.c.own)).scalar()
    sessions = connection.execute(
        select(func.count()).select_from(select(_E.c.day, _E.c.session).where(*mine).distinct().subquery())
    ).scalar()
    return int(entries or 0) + int(sessions or 0)
