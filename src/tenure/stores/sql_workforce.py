"""Heartbeats and turns of workers in a SQL database, by its own clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from tenure.ports import WorkerSeen
from tenure.stores import rows

_CLOCKS = {
    "postgresql": "SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
    "sqlite": "SELECT (julianday('now') - 2440587.5) * 86400.0",
}


class SqlWorkforce:
    """See `workforce.Workforce`.

    Args:
        begin: opens a transaction that writes.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._begin = begin

    def beat(self, executor: str, *, host: str, process: int, release: str) -> None:
        """Say that a worker is alive."""
        t = rows.workers
        said: dict[str, Any] = {"host": host, "process": process, "release": release}
        with self._begin() as connection:
            now = _now(connection)
            if connection.execute(update(t).where(t.c.executor == executor).values(seen=now, **said)).rowcount == 0:
                connection.execute(insert(t).values(executor=executor, started=now, seen=now, **said))

    def workers(self) -> Sequence[WorkerSeen]:
        """All that were heard of and did not leave, the longest silent last."""
        t = rows.workers
        with self._begin() as connection:
            now = _now(connection)
            return [
                WorkerSeen(
                    executor=found.executor,
                    host=found.host,
                    process=found.process,
                    release=found.release,
                    silent_s=abs(now - found.seen),  # a beat in the future is of a clock that was put back since
                    up_s=max(0.0, now - found.started),
                )
                for found in connection.execute(select(t).order_by(t.c.seen.desc(), t.c.executor))
            ]

    def leave(self, executor: str) -> None:
        """A worker ended, or is given up."""
        t = rows.workers
        with self._begin() as connection:
            connection.execute(delete(t).where(t.c.executor == executor))

    def turn(self, name: str, *, every_s: float) -> bool:
        """Whether it is the asker's turn."""
        t = rows.turns
        try:
            with self._begin() as connection:
                now = _now(connection)
                due = or_(t.c.taken <= now - every_s, t.c.taken > now)  # the latter where the clock was put back
                mine = update(t).where(t.c.name == name, due).values(taken=now)
                if connection.execute(mine).rowcount:
                    return True
                if connection.execute(select(t.c.name).where(t.c.name == name)).first() is not None:
                    return False
                connection.execute(insert(t).values(name=name, taken=now))
                return True
        except IntegrityError:  # another took the very first turn at the same moment
            return False


def _now(connection: Connection) -> float:
    return float(connection.execute(text(_CLOCKS[connection.dialect.name])).scalar_one())
