"""Draws of lessons in a SQL database: kept with each run, counted by lesson."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, and_, delete, func, insert, select

from tenure.playbook.holdout import DrawCount, counted_score
from tenure.playbook.run import Run
from tenure.stores import rows
from tenure.stores.growth import one_each

_AT_ONCE = 500


class SqlDraws:
    """The part of a look at a scope that concerns draws (see `holdout.Draws`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    def draw_counts(self, lessons: Collection[str] | None = None) -> Sequence[DrawCount]:
        """Runs by lesson, text, reason, chance and fate, sorted by these."""
        t = rows.draws
        kind = (t.c.lesson_id, t.c.text, t.c.reason, t.c.chance, t.c.withheld)
        here = and_(*(t.c[name] == value for name, value in self._wall.items()))
        asked = select(*kind, func.count(), func.count(t.c.score), func.sum(t.c.score)).where(here).group_by(*kind).order_by(*kind)
        ids = sorted(lessons) if lessons is not None else ()
        portions = [asked.where(t.c.lesson_id.in_(ids[at : at + _AT_ONCE])) for at in range(0, len(ids), _AT_ONCE)]
        return [
            DrawCount(
                lesson=lesson,
                text=text,
                reason=reason,
                chance=chance,
                withheld=bool(withheld),
                runs=runs,
                judged=judged,
                total=float(total or 0.0),
            )
            for portion in (portions if lessons is not None else [asked])
            for lesson, text, reason, chance, withheld, runs, judged, total in self._connection.execute(portion)
        ]


def same(earlier: Run, now: Run) -> bool:
    """Whether a run's draws, and the score they count with, stand as they stood."""
    return one_each(earlier.draws) == one_each(now.draws) and counted_score(earlier) == counted_score(now)


def keep(connection: Connection, wall: Mapping[str, str], run: Run) -> None:
    """Keep the draws of a run with its score as it stands now."""
    if not run.draws:
        return
    t = rows.draws
    connection.execute(delete(t).where(and_(*(t.c[name] == value for name, value in wall.items()), t.c.run_id == run.id)))
    score = counted_score(run)
    connection.execute(
        insert(t),
        [
            {
                **wall,
                "lesson_id": one.lesson,
                "run_id": run.id,
                "text": one.text,
                "reason": one.reason,
                "chance": one.chance,
                "withheld": one.withheld,
                "score": score,
            }
            for one in one_each(run.draws)
        ],
    )
