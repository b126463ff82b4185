"""Labelled cases and grades of a scope in a SQL database."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, and_, delete, select

from tenure.playbook.graded import Labelled
from tenure.playbook.grading import Belief, Grade
from tenure.playbook.run import Run
from tenure.stores import rows
from tenure.stores.growth import label_counts
from tenure.stores.prepared import fetch, fetch_among, of_scope, put

_AT_ONCE = 500

_GRADE = ("lesson_id", "run_id", "is_right", "place", "reliability", "source", "wording")


class SqlGrades:
    """The part of a look at a scope that concerns grades (see `graded.Grades`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    def _one(self, column: Any, **where: object) -> Any:
        raise NotImplementedError

    def _are_most(self, lessons: Collection[str]) -> bool:
        raise NotImplementedError

    def place_of(self, run_id: str) -> int | None:
        """The place of a kept run in the order of arrival, from 1."""
        found = self._one(rows.runs.c.arrived, id=run_id)
        return None if found is None else int(found)

    def labelled(self, *, after: int = 0, limit: int) -> Sequence[Labelled]:
        """The newest kept cases with a label that came after a place, oldest first."""
        t = rows.labels
        columns = (t.c.run_id, t.c.place, t.c.text, t.c.answer, t.c.reliability, t.c.counts)
        wanted = select(*columns).where(_mine(t, self._wall), t.c.place > after).order_by(t.c.place.desc()).limit(limit)
        return [
            Labelled(run=run, place=place, text=text, answer=answer, reliability=float(reliability), counts=bool(counts))
            for run, place, text, answer, reliability, counts in self._connection.execute(wanted).all()[::-1]
        ]

    def labels_of(self, runs: Collection[str]) -> Mapping[str, Labelled]:
        """The labels of kept cases, by run id; those without one are left out."""
        t = rows.labels
        columns = (t.c.run_id, t.c.place, t.c.text, t.c.answer, t.c.reliability, t.c.counts)
        return {
            run: Labelled(run=run, place=place, text=text, answer=answer, reliability=float(reliability), counts=bool(counts))
            for some in _portions(runs)
            for run, place, text, answer, reliability, counts in fetch_among(self._connection, columns, self._wall, "run_id", some)
        }

    def grades(self, lessons: Collection[str]) -> Sequence[Grade]:
        """All grades of lessons, in the order of their cases."""
        t = rows.grades
        found: list[Grade] = []
        for some in _portions(lessons):
            for lesson, run, right, place, reliability, source, wording in fetch_among(
                self._connection, tuple(t.c[name] for name in _GRADE), self._wall, "lesson_id", some
            ):
                found.append(
                    Grade(
                        lesson=lesson,
                        run=run,
                        right=bool(right),
                        place=place,
                        reliability=float(reliability),
                        source=source,
                        wording=wording,
                    )
                )
        return sorted(found, key=lambda grade: (grade.place, grade.run, grade.lesson))

    def graded_by(self, runs: Collection[str]) -> Sequence[str]:
        """Ids of the lessons that any of these runs graded, sorted."""
        t = rows.grades
        found: set[str] = set()
        for some in _portions(runs):
            wanted = select(t.c.lesson_id).where(_mine(t, self._wall), t.c.run_id.in_(some)).distinct()
            found.update(self._connection.execute(wanted).scalars())
        return sorted(found)

    def beliefs(self, lessons: Collection[str]) -> Mapping[str, Belief]:
        """What the grades of lessons amount to, by lesson id."""
        t = rows.beliefs
        columns = (t.c.lesson_id, t.c.value, t.c.times_right, t.c.times_wrong)
        if self._are_most(lessons):
            wanted = set(lessons)
            found = [row for row in fetch(self._connection, _of_scope(columns), self._wall) if row[0] in wanted]
        else:
            found = [row for some in _portions(lessons) for row in fetch_among(self._connection, columns, self._wall, "lesson_id", some)]
        return {one: Belief(value=float(value), right=right, wrong=wrong) for one, value, right, wrong in sorted(found)}

    def noise(self) -> Sequence[float]:
        """What all grades of the scope say of its labels."""
        body = self._connection.execute(select(rows.noise.c.body).where(_mine(rows.noise, self._wall))).scalar()
        return () if body is None else tuple(json.loads(body))


class SqlGrading:
    """The part of a transaction that concerns grades (see `ports.Writing`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    def put_grades(self, grades: Sequence[Grade]) -> None:
        """Keep grades of lessons; one of the same lesson and case is replaced."""
        t = rows.grades
        newest = {(grade.lesson, grade.run): grade for grade in grades}
        # A case that grades many lessons, or a lesson graded on many cases: one statement for the one of them.
        runs, lessons = {run for _, run in newest}, {lesson for lesson, _ in newest}
        one, many = (t.c.run_id, t.c.lesson_id) if len(runs) <= len(lessons) else (t.c.lesson_id, t.c.run_id)
        for key in sorted(runs if one is t.c.run_id else lessons):
            others = [lesson if one is t.c.run_id else run for lesson, run in newest if (run if one is t.c.run_id else lesson) == key]
            for some in _portions(others):
                self._connection.execute(delete(t).where(_mine(t, self._wall), one == key, many.in_(some)))
        put(
            self._connection,
            t,
            [
                {
                    **self._wall,
                    "lesson_id": grade.lesson,
                    "run_id": grade.run,
                    "is_right": grade.right,
                    "place": grade.place,
                    "reliability": repr(float(grade.reliability)),
                    "source": grade.source,
                    "wording": grade.wording,
                }
                for grade in newest.values()
            ],
        )

    def drop_grades(self, *, lessons: Collection[str] = (), runs: Collection[str] = ()) -> None:
        """Remove the grades of lessons, with what they amount to, and those by runs."""
        for name, ids in (("lesson_id", lessons), ("run_id", runs)):
            for some in _portions(ids):
                t = rows.grades
                self._connection.execute(delete(t).where(_mine(t, self._wall), t.c[name].in_(some)))
        for some in _portions(lessons):
            self._connection.execute(delete(rows.beliefs).where(_mine(rows.beliefs, self._wall), rows.beliefs.c.lesson_id.in_(some)))

    def put_beliefs(self, beliefs: Mapping[str, Belief]) -> None:
        """Keep what the grades of lessons amount to, by lesson id."""
        t = rows.beliefs
        for some in _portions(beliefs):
            self._connection.execute(delete(t).where(_mine(t, self._wall), t.c.lesson_id.in_(some)))
        put(
            self._connection,
            t,
            [
                {**self._wall, "lesson_id": one, "value": repr(float(said.value)), "times_right": said.right, "times_wrong": said.wrong}
                for one, said in sorted(beliefs.items())
            ],
        )

    def keep_noise(self, evidence: Sequence[float]) -> None:
        """Keep what all grades of the scope say of its labels."""
        self._connection.execute(delete(rows.noise).where(_mine(rows.noise, self._wall)))
        if evidence:
            put(self._connection, rows.noise, [{**self._wall, "body": json.dumps([float(one) for one in evidence])}])


def keep_label(connection: Connection, wall: Mapping[str, str], run: Run, place: int) -> None:
    """Keep the label of a run beside it, or let go of the one it had."""
    t = rows.labels
    connection.execute(delete(t).where(_mine(t, wall), t.c.run_id == run.id))
    if run.outcome.expected:
        row = {"run_id": run.id, "place": place, "text": run.task.text, "answer": run.outcome.expected}
        put(connection, t, [{**wall, **row, "reliability": repr(float(run.outcome.reliability or 0.0)), "counts": label_counts(run)}])


def _mine(table: Any, wall: Mapping[str, str]) -> Any:
    return and_(*(table.c[name] == value for name, value in wall.items()))


@lru_cache(maxsize=4)
def _of_scope(columns: tuple[Any, ...]) -> Any:
    """Columns of all rows of a scope."""
    table = columns[0].table
    return select(*columns).where(*of_scope(table))


def _portions(ids: Collection[str]) -> list[list[str]]:
    ordered = sorted(set(ids))
    return [ordered[start : start + _AT_ONCE] for start in range(0, len(ordered), _AT_ONCE)]
