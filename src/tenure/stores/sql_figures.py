"""Reading the aggregates of a scope in a SQL database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection

from tenure.playbook.aggregates import Aggregate, Observation, Observed
from tenure.playbook.observing import Shown
from tenure.stores import sql_observations
from tenure.stores.scopes import parents


class SqlFigures:
    """The part of a look at a scope that concerns aggregates (see `observing.Figures`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    def observed(self, observation: str) -> Observed | None:
        """What was written under the id of an observation."""
        return sql_observations.observed(self._connection, self._wall, (observation,)).get(observation)

    def shown(self, aggregate: str) -> Shown | None:
        """Which columns an aggregate shows."""
        return sql_observations.shown(self._connection, self._wall, aggregate)

    def other_unit(self, aggregate: str, unit: str) -> str | None:
        """A unit other than this one that counts in an aggregate."""
        return sql_observations.other_unit(self._connection, self._wall, aggregate, unit)

    def aggregate_names(self) -> Mapping[str, tuple[str, str]]:
        """Section and name of the scope's aggregates, by id."""
        return sql_observations.names(self._connection, self._wall)

    def aggregates(self, *, ids: Collection[str] | None = None, most_rows: int = 24, keys: Collection[str] = ()) -> Sequence[Aggregate]:
        """The scope's tables of numbers and inventories, sorted by section and name."""
        return sql_observations.aggregates(self._connection, self._wall, ids=ids, most_rows=most_rows, keys=keys)

    def inherited_aggregates(self, *, most_rows: int = 24, keys: Collection[str] = ()) -> Sequence[tuple[str, Aggregate]]:
        """Tables of the parent scopes, nearest first."""
        return [
            (scope, table)
            for scope in parents(self._wall["scope"])
            for table in sql_observations.aggregates(
                self._connection, {**self._wall, "scope": scope}, ids=None, most_rows=most_rows, keys=keys
            )
        ]

    def observations(
        self, *, aggregate: str = "", key: str | None = None, run: str = "", origin: str = "", limit: int | None = None
    ) -> Sequence[Observation]:
        """Observations, revoked ones too, oldest first."""
        asked = {"aggregate": aggregate or None, "key": key, "run_id": run or None, "origin": origin or None}
        where = {name: value for name, value in asked.items() if value is not None}
        return sql_observations.observations(self._connection, self._wall, limit=limit, where=where)
