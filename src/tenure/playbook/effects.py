"""Which lessons a change touches, and how they read afterwards; for stores that keep lessons readable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenure.playbook.apply import Change
from tenure.playbook.lessons import Lesson
from tenure.playbook.records import Member, Record, View, read_lesson, root_of


class After:
    """A view as it will be once a change is in it."""

    def __init__(self, before: View, change: Change) -> None:
        self._before, self._change = before, change

    def record(self, key: str) -> Record | None:
        """The record under an id."""
        return self._change.records.get(key) or self._before.record(key)

    def group(self, group: str) -> tuple[Member, ...]:
        """The members of a group of equal texts."""
        found = self._change.groups.get(group)
        return self._before.group(group) if found is None else found

    def pointing(self, key: str) -> Iterable[str]:
        """Keys of records whose pointer register names this id."""
        found = self._change.pointers.get(key)
        return self._before.pointing(key) if found is None else found

    def holds(self, delta_id: str) -> bool:
        """Whether a delta is part of the state before the change."""
        return self._before.holds(delta_id)

    def key_owner(self, key: str) -> str | None:
        """Id of the delta that held a delta key before the change."""
        return self._before.key_owner(key)


def lessons_after(before: View, change: Change) -> Mapping[str, Lesson | None]:
    """The lessons that a change touches, by id, as they read after it; none for an id that is now an alias.

    Cost follows the change and the aliases of the lessons it touches, not the playbook.
    """
    after = After(before, change)
    near: set[str] = set()
    for key, record in change.records.items():
        near.add(key)
        near.update(claim.key for claim in record.claims)
        if record.admission is not None:
            # Equal texts follow the first of them: they move only when another becomes the first.
            near.update(group[0].key for group in (before.group(record.admission.group), after.group(record.admission.group)) if group)
            if record.admission.name:
                near.add(record.admission.name)
    roots = {root_of(after, key) for key in near}
    ids = roots | {root_of(before, key) for key in near if before.record(key) is not None}
    return {one: read_lesson(after, one) if one in roots or root_of(after, one) == one else None for one in sorted(ids)}
