"""Reading the aggregates of a scope that is held in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tenure.playbook.aggregates import Aggregate, Observation, Observed
from tenure.playbook.observing import Shown
from tenure.playbook.state import Playbook


class FiguresInMemory:
    """The part of a look at a scope that concerns aggregates (see `observing.Figures`)."""

    @property
    def _book(self) -> Playbook:
        raise NotImplementedError

    @property
    def _books_above(self) -> Sequence[tuple[str, Playbook]]:
        raise NotImplementedError

    def observed(self, observation: str) -> Observed | None:
        """What was written under the id of an observation."""
        return self._book.observed(observation)

    def shown(self, aggregate: str) -> Shown | None:
        """Which columns an aggregate shows."""
        return self._book.shown(aggregate)

    def other_unit(self, aggregate: str, unit: str) -> str | None:
        """A unit other than this one that counts in an aggregate."""
        return self._book.other_unit(aggregate, unit)

    def aggregate_names(self) -> Mapping[str, tuple[str, str]]:
        """Section and name of the scope's aggregates, by id."""
        return {one.id: (one.section, one.name) for one in self._book.aggregates}

    def aggregates(self, *, ids: Collection[str] | None = None, most_rows: int = 24, keys: Collection[str] = ()) -> Sequence[Aggregate]:
        """The scope's tables of numbers and inventories, sorted by section and name. Cost follows their observations."""
        return [one.narrowed(most_rows, keys) for one in self._book.aggregates if ids is None or one.id in ids]

    def inherited_aggregates(self, *, most_rows: int = 24, keys: Collection[str] = ()) -> Sequence[tuple[str, Aggregate]]:
        """Tables of the parent scopes, nearest first."""
        return [(scope, one.narrowed(most_rows, keys)) for scope, book in self._books_above for one in book.aggregates]

    def observations(
        self, *, aggregate: str = "", key: str | None = None, run: str = "", origin: str = "", limit: int | None = None
    ) -> Sequence[Observation]:
        """Observations, revoked ones too, oldest first. Cost follows their number."""
        held = self._book.observations
        every = held.of(aggregate) if aggregate else sorted((one.observation for one in held.by_id.values()), key=lambda one: one.order)
        found = [
            one for one in every if (key is None or one.key == key) and (not run or one.run == run) and (not origin or one.origin == origin)
        ]
        return found if limit is None else found[len(found) - min(limit, len(found)) :]
