"""Labelled cases and grades of a scope that is held in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from rpds import HashTrieMap

from tenure.playbook.graded import Labelled
from tenure.playbook.grading import Belief, Grade
from tenure.playbook.run import Run
from tenure.stores.contents import Contents
from tenure.stores.growth import label_counts
from tenure.stores.index_in_memory import ScopeIndex


class GradesInMemory:
    """The part of a look at a scope that concerns grades (see `graded.Grades`)."""

    _now: Contents
    _index: Callable[[], AbstractContextManager[ScopeIndex]]

    def place_of(self, run_id: str) -> int | None:
        """The place of a kept run in the order of arrival, from 1."""
        kept = self._now.runs.get(run_id)
        return None if kept is None else kept.place + 1

    def labelled(self, *, after: int = 0, limit: int) -> Sequence[Labelled]:
        """The newest kept cases with a label that came after a place, oldest first. Cost follows the number of runs."""
        with self._index() as index:
            came = [kept for kept in index.came_after(after - 1) if kept.run.outcome.expected and not kept.revoked]
        return [_labelled(kept.run, kept.place) for kept in came[max(0, len(came) - limit) :]]

    def labels_of(self, runs: Collection[str]) -> Mapping[str, Labelled]:
        """The labels of kept cases, by run id; those without one are left out."""
        every = ((run, self._now.runs.get(run)) for run in runs)
        return {
            run: _labelled(kept.run, kept.place)
            for run, kept in every
            if kept is not None and kept.run.outcome.expected and not kept.revoked
        }

    def grades(self, lessons: Collection[str]) -> Sequence[Grade]:
        """All grades of lessons, in the order of their cases."""
        found = (grade for one in set(lessons) for grade in self._now.grades.get(one, _NONE).values())
        return sorted(found, key=lambda grade: (grade.place, grade.run, grade.lesson))

    def graded_by(self, runs: Collection[str]) -> Sequence[str]:
        """Ids of the lessons that any of these runs graded, sorted."""
        wanted = set(runs)
        return sorted(lesson for lesson, mine in self._now.grades.items() if not wanted.isdisjoint(mine.keys()))

    def beliefs(self, lessons: Collection[str]) -> Mapping[str, Belief]:
        """What the grades of lessons amount to, by lesson id."""
        return {one: self._now.beliefs[one] for one in sorted(set(lessons)) if one in self._now.beliefs}

    def noise(self) -> Sequence[float]:
        """What all grades of the scope say of its labels."""
        return self._now.noise


class GradingInMemory:
    """The part of a transaction that concerns grades (see `ports.Writing`)."""

    _now: Contents

    def put_grades(self, grades: Sequence[Grade]) -> None:
        """Keep grades of lessons; one of the same lesson and case is replaced."""
        every = self._now.grades
        for grade in grades:
            every = every.insert(grade.lesson, every.get(grade.lesson, _NONE).insert(grade.run, grade))
        self._now = replace(self._now, grades=every)

    def drop_grades(self, *, lessons: Collection[str] = (), runs: Collection[str] = ()) -> None:
        """Remove the grades of lessons, with what they amount to, and those by runs."""
        every, beliefs = self._now.grades, self._now.beliefs
        for one in lessons:
            every, beliefs = every.discard(one), beliefs.discard(one)
        for one, mine in list(every.items()) if runs else ():
            left = mine
            for run in runs:
                left = left.discard(run)
            every = every.insert(one, left) if len(left) else every.discard(one)
        self._now = replace(self._now, grades=every, beliefs=beliefs)

    def put_beliefs(self, beliefs: Mapping[str, Belief]) -> None:
        """Keep what the grades of lessons amount to, by lesson id."""
        every = self._now.beliefs
        for one, belief in beliefs.items():
            every = every.insert(one, belief)
        self._now = replace(self._now, beliefs=every)

    def keep_noise(self, evidence: Sequence[float]) -> None:
        """Keep what all grades of the scope say of its labels."""
        self._now = replace(self._now, noise=tuple(evidence))


_NONE: HashTrieMap[str, Grade] = HashTrieMap()


def _labelled(run: Run, place: int) -> Labelled:
    return Labelled(
        run=run.id,
        place=place + 1,
        text=run.task.text,
        answer=run.outcome.expected,
        reliability=run.outcome.reliability or 0.0,
        counts=label_counts(run),
    )
