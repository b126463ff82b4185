"""Put off reflections of a scope in a SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from tenure.postponed import Postponed
from tenure.stores import rows


class SqlPostponed:
    """The part of a look at a scope that concerns put off reflections (see `postponed.PostponedReading`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    def postponed(self, *, below: int | None = None, limit: int | None = None) -> Sequence[Postponed]:
        """Runs whose reflection was put off, oldest first."""
        t = rows.postponed
        wanted = select(t).where(*_own(t, self._wall)).order_by(t.c.moment, t.c.run_id).limit(limit)
        if below is not None:
            wanted = wanted.where(t.c.attempts < below)
        return [_postponed(found) for found in self._connection.execute(wanted)]

    def postponed_run(self, run_id: str) -> Postponed | None:
        """Why the reflection on a run was put off, or none."""
        t = rows.postponed
        found = self._connection.execute(select(t).where(*_own(t, self._wall), t.c.run_id == run_id)).first()
        return None if found is None else _postponed(found)


class SqlPostponing(SqlPostponed):
    """The part of a transaction that concerns put off reflections (see `postponed.PostponedWriting`)."""

    def postpone(self, postponed: Postponed) -> None:
        """Note that the reflection on a run was put off."""
        t = rows.postponed
        self._connection.execute(delete(t).where(*_own(t, self._wall), t.c.run_id == postponed.run))
        self._connection.execute(
            insert(t),
            {
                **self._wall,
                "run_id": postponed.run,
                "barrier": postponed.limit,
                "reason": postponed.reason,
                "attempts": postponed.attempts,
                "moment": postponed.at,
            },
        )

    def drop_postponed(self, run_id: str) -> None:
        """Forget that the reflection on a run was put off, and its replies that could not be used."""
        for table in (rows.postponed, rows.failed_replies):
            self._connection.execute(delete(table).where(*_own(table, self._wall), table.c.run_id == run_id))


def _own(table: Any, wall: Mapping[str, str]) -> list[Any]:
    return [table.c[name] == value for name, value in wall.items()]


def _postponed(found: Any) -> Postponed:
    return Postponed(run=found.run_id, limit=found.barrier, reason=found.reason, attempts=found.attempts, at=found.moment)
