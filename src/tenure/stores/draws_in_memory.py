"""Draws of lessons in a scope that is held in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tenure.playbook.holdout import DrawCount, counted_score
from tenure.stores.contents import Contents
from tenure.stores.growth import one_each


class DrawsInMemory:
    """The part of a look at a scope that concerns draws (see `holdout.Draws`)."""

    _now: Contents

    def draw_counts(self, lessons: Collection[str] | None = None) -> Sequence[DrawCount]:
        """Runs by lesson, text, reason, chance and fate, sorted by these. Cost follows the runs."""
        sums: dict[tuple[str, str, str, float, bool], tuple[int, int, float]] = {}
        # In the order of arrival, so that sums of the same runs are the same to the last digit.
        for kept in self._now.by_arrival(newest_first=False):
            if kept.revoked:
                continue
            score = counted_score(kept.run)
            for one in one_each(kept.run.draws):
                if lessons is None or one.lesson in lessons:
                    key = (one.lesson, one.text, one.reason, one.chance, one.withheld)
                    runs, judged, total = sums.get(key, (0, 0, 0.0))
                    sums[key] = (runs + 1, judged + (score is not None), total + (score or 0.0))
        return [
            DrawCount(lesson=lesson, text=text, reason=reason, chance=chance, withheld=withheld, runs=runs, judged=judged, total=total)
            for (lesson, text, reason, chance, withheld), (runs, judged, total) in sorted(sums.items())
        ]
