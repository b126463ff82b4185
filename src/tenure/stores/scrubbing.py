"""Leaving no trace of what was deleted in a SQLite file: not in free pages, not in the text index, not in the log.

A deleted row stands in its page until that is used again, a deleted word in a segment of the text index until it is
merged, and every page as it was in the write-ahead log. So the index is made anew from the rows that are there, the file is
written anew without free pages, and the log is written back and cut to nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAIT_S = 5.0
"""How long other connections are waited for, in seconds."""

_INDEXES = ("lessons_words", "runs_words", "memory_words")


def is_unscrubbed(connection: Any) -> bool:
    """Whether something was deleted for good and may still stand in the file."""
    return bool(connection.execute("SELECT unscrubbed FROM installation WHERE unscrubbed <> ''").fetchone())


def scrub_file(connection: Any, *, wait_s: float = WAIT_S, tell: Callable[[str], None] | None = None) -> str:
    """Scrub the database of a connection of the driver's own, outside of a transaction; why it is not done, empty if it is.

    Args:
        connection: of `sqlite3`, in autocommit mode.
        wait_s: for other connections, in seconds.
        tell: is told each step as it begins.

    Raises:
        sqlite3.Error: the database cannot be used at all.
    """
    say = tell or (lambda _: None)
    (before,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
    try:
        say("making the text index anew")
        connection.execute("BEGIN IMMEDIATE")
        try:
            for index in _INDEXES:
                connection.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        say("writing the file anew")
        connection.execute("VACUUM")
        held = _cut_log(connection)
        if held:
            return held
        connection.execute("UPDATE installation SET unscrubbed = ''")
        return _cut_log(connection)
    except sqlite3.OperationalError as exc:
        if exc.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return f"another process wrote to the database for more than {wait_s:g} s"
    finally:
        connection.execute(f"PRAGMA busy_timeout = {before}")


def _cut_log(connection: Any) -> str:
    """Write the log back into the file and cut it to nothing; who prevented that, empty if nobody did."""
    (blocked, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return "another process is reading the database, as it was before, from its log" if blocked else ""


def copies_beside(path: Path) -> tuple[str, ...]:
    """Files beside a database that may hold what it held: those that were set aside as damaged."""
    return tuple(str(found) for found in sorted(path.parent.glob(f"{path.name}.damaged-*")))
