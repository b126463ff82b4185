"""Leaving no trace of what was deleted in the files of PostgreSQL's tables.

A deleted row stands in its page until the space is used again. So every table is written anew, with its indexes; the server
throws the old files away. Statistics hold no samples of texts (see `postgres_schema.wall_in`). What the server keeps beside its
tables, it keeps by its own rules: the write-ahead log until it is recycled, backups and replicas as long as somebody has them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

from tenure.stores.postgres_session import SCHEMA, connect

WAIT_S = 5.0
"""How long each table is waited for, in seconds."""

BEYOND = (
    "the server's write-ahead log, until it is recycled, and wherever it is archived",
    "backups, replicas and snapshots of the server",
    "the server's own log, if it logs statements",
)
"""What no application reaches, for a person to see to."""

_FIRST_NUMBER = re.compile(r"\d+")


def is_unscrubbed(cursor: Any) -> bool:
    """Whether something was deleted for good and may still stand in a file."""
    return cursor.execute(f"SELECT 1 FROM {SCHEMA}.installation WHERE unscrubbed <> ''").fetchone() is not None


def scrub(conninfo: str, *, wait_s: float = WAIT_S, tell: Callable[[str], None] | None = None) -> str:
    """Write all tables anew; why it is not done, empty if it is.

    Args:
        conninfo: of a role that owns the tables, or may maintain them.
        wait_s: for others that use a table, in seconds.
        tell: is told each step as it begins.

    Raises:
        psycopg.Error: the database cannot be used at all.
    """
    say = tell or (lambda _: None)
    connection = connect(conninfo)
    try:
        cursor = connection.cursor()
        stamp = cursor.execute(f"SELECT unscrubbed FROM {SCHEMA}.installation").fetchone()
        tables = [
            str(name)
            for (name,) in cursor.execute(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace "
                "WHERE s.nspname = %s AND c.relkind = 'r' AND c.relname <> 'alembic_version' ORDER BY c.relname",
                (SCHEMA,),
            ).fetchall()
        ]
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", (f"{int(wait_s * 1000)}ms",))
        cursor.execute("SELECT set_config('statement_timeout', '0', false)")
        say("writing the tables anew")
        for name in tables:
            reason = _write_anew(connection, name, wait_s)
            if reason:
                return reason
        # Something may have been deleted in the meantime: that is not done yet.
        cursor.execute(f"UPDATE {SCHEMA}.installation SET unscrubbed = '' WHERE unscrubbed = %s", (stamp[0] if stamp else "",))
        return ""
    finally:
        connection.close()


def _write_anew(connection: psycopg.Connection[Any], name: str, wait_s: float) -> str:
    """Write one table anew; why it is not done, empty if it is."""
    kept: list[int] = []
    skipped: list[str] = []

    def hear(said: psycopg.errors.Diagnostic) -> None:
        if said.severity_nonlocalized == "WARNING":
            skipped.append(said.message_primary or "")
        number = _FIRST_NUMBER.search(said.message_detail or "")
        if said.severity_nonlocalized == "INFO" and number is not None:
            kept.append(int(number[0]))

    connection.add_notice_handler(hear)
    try:
        deadline = time.monotonic() + wait_s
        while True:
            kept.clear()
            connection.execute(sql.SQL("VACUUM (FULL, VERBOSE) {}").format(sql.Identifier(SCHEMA, name)))
            if skipped:
                return f"this login may not write table {name} anew ({skipped[0]}); run, with an administrator's address: tenure migrate"
            if not any(kept):
                return ""
            if time.monotonic() > deadline:
                return f"a transaction that began before still sees what was deleted from table {name}"
            time.sleep(0.05)
    except psycopg.errors.LockNotAvailable:
        return f"table {name} was in use for more than {wait_s:g} s"
    finally:
        connection.remove_notice_handler(hear)
