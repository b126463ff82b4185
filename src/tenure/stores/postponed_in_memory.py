"""Put off reflections of a scope that is held in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenure.postponed import Postponed
from tenure.stores.contents import Contents


class PostponedInMemory:
    """The part of a look at a scope that concerns put off reflections (see `postponed.PostponedReading`)."""

    _now: Contents

    def postponed(self, *, below: int | None = None, limit: int | None = None) -> Sequence[Postponed]:
        """Runs whose reflection was put off, oldest first."""
        found = [one for one in self._now.postponed.values() if below is None or one.attempts < below]
        return sorted(found, key=lambda one: (one.at, one.run))[:limit]

    def postponed_run(self, run_id: str) -> Postponed | None:
        """Why the reflection on a run was put off, or none."""
        return self._now.postponed.get(run_id)


class PostponingInMemory(PostponedInMemory):
    """The part of a transaction that concerns put off reflections (see `postponed.PostponedWriting`)."""

    def postpone(self, postponed: Postponed) -> None:
        """Note that the reflection on a run was put off."""
        self._now = replace(self._now, postponed=self._now.postponed.insert(postponed.run, postponed))

    def drop_postponed(self, run_id: str) -> None:
        """Forget that the reflection on a run was put off, and its replies that could not be used."""
        failed = {one: reply for one, reply in self._now.failed.items() if reply.run != run_id}
        self._now = replace(self._now, postponed=self._now.postponed.discard(run_id), failed=failed)
