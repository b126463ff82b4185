"""The playbook as an immutable value.

Maps share structure between versions (persistent hash tries), so a change costs what it changes
and older versions stay valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rpds import HashTrieMap

from tenure.playbook.aggregates import Aggregate, Observed
from tenure.playbook.lessons import Lesson
from tenure.playbook.observations import NO_OBSERVATIONS, Observations
from tenure.playbook.observing import Shown
from tenure.playbook.records import Member, Record, read_lesson, root_of

_NO_RECORDS: HashTrieMap[str, Record] = HashTrieMap()
_NO_GROUPS: HashTrieMap[str, tuple[Member, ...]] = HashTrieMap()
_NO_POINTING: HashTrieMap[str, frozenset[str]] = HashTrieMap()
_NO_DELTAS: HashTrieMap[str, str] = HashTrieMap()


@dataclass(frozen=True, slots=True, repr=False)
class Playbook:
    """All lessons of one scope. A value: every change is a delta through `apply`, which returns a new one.

    `Playbook()` is empty. `lessons` are those an agent can be shown; `every_lesson` has the held
    and retired ones too.
    """

    records: HashTrieMap[str, Record] = _NO_RECORDS
    groups: HashTrieMap[str, tuple[Member, ...]] = field(default=_NO_GROUPS, compare=False)
    pointers: HashTrieMap[str, frozenset[str]] = field(default=_NO_POINTING, compare=False)
    deltas: HashTrieMap[str, str] = _NO_DELTAS
    keys: HashTrieMap[str, str] = field(default=_NO_DELTAS, compare=False)
    observations: Observations = NO_OBSERVATIONS
    _read: list[tuple[Lesson, ...]] = field(default_factory=list[tuple[Lesson, ...]], compare=False)

    @property
    def every_lesson(self) -> tuple[Lesson, ...]:
        """Every lesson, whatever its status, sorted by id. Worked out once per value, O(records)."""
        if not self._read:
            roots = [key for key in self.records if root_of(self, key) == key]
            self._read.append(tuple(read_lesson(self, root) for root in sorted(roots)))
        return self._read[0]

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The provisional and active lessons, sorted by id."""
        return tuple(lesson for lesson in self.every_lesson if lesson.live)

    @property
    def sections(self) -> Mapping[str, tuple[Lesson, ...]]:
        """The live lessons by section; sections sorted by name, lessons by id."""
        found: dict[str, list[Lesson]] = {}
        for lesson in self.lessons:
            found.setdefault(lesson.section, []).append(lesson)
        return {name: tuple(found[name]) for name in sorted(found)}

    def lesson(self, lesson_id: str) -> Lesson | None:
        """The lesson this id stands for, through aliases, or none. Cost follows the lesson, not the playbook."""
        if lesson_id not in self.records:
            return None
        return read_lesson(self, root_of(self, lesson_id))

    def record(self, key: str) -> Record | None:
        """The record under an id (see `records.View`)."""
        return self.records.get(key)

    def group(self, group: str) -> tuple[Member, ...]:
        """The members of a group of equal texts (see `records.View`)."""
        return self.groups.get(group, ())

    def pointing(self, key: str) -> Iterable[str]:
        """Keys of records whose pointer register names this id (see `records.View`)."""
        return self.pointers.get(key, frozenset())

    def holds(self, delta_id: str) -> bool:
        """Whether this delta is part of the playbook."""
        return delta_id in self.deltas

    def key_owner(self, key: str) -> str | None:
        """Id of the delta that holds this delta key, or none."""
        return self.keys.get(key)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The tables of numbers and inventories, sorted by section and name. Worked out once per value, O(observations)."""
        return self.observations.aggregates

    def observed(self, observation: str) -> Observed | None:
        """What was written under the id of an observation (see `observing.Observing`)."""
        return self.observations.by_id.get(observation)

    def shown(self, aggregate: str) -> Shown | None:
        """Which columns an aggregate shows (see `observing.Observing`)."""
        return self.observations.shown.get(aggregate)

    def other_unit(self, aggregate: str, unit: str) -> str | None:
        """A unit other than this one that counts in an aggregate (see `observing.Observing`)."""
        return min((one for one in self.observations.units.get(aggregate, ()) if one != unit), default=None)

    def __len__(self) -> int:
        return len(self.lessons)

    def __iter__(self) -> Iterator[Lesson]:
        return iter(self.lessons)

    def __repr__(self) -> str:
        return f"<Playbook: {len(self.records)} records from {len(self.deltas)} deltas>"
