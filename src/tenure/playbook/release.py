"""Gradual release: a new lesson is shown in few runs first, in more as runs speak for it. Pure."""

from __future__ import annotations

from tenure.playbook.lessons import Lesson, Tallies

FIRST, SECOND = 0.1, 0.5
"""Shares of the matching runs in which a lesson is shown at the first and at the second stage; then in all."""

SECOND_AT, ALL_AT = 1.0, 3.0
"""Points at which the second stage and full release begin (see `release_points`)."""

UNHARMED = 0.25
"""Points of a run that went its way with the lesson in view: four of them weigh as much as one that it helped."""


def release_points(tallies: Tallies) -> float:
    """What speaks for showing a lesson to more runs: 1 for each run it helped, 1 for each run after the first that shows it
    by itself, `UNHARMED` for each with an outcome in which it changed nothing, and 2 less for each it misled."""
    return tallies.helpful + max(0, tallies.support - 1) + UNHARMED * tallies.neutral - 2 * tallies.harmful


def release_share(lesson: Lesson) -> float:
    """The share of matching runs in which a lesson is shown: 0.1, 0.5 or 1. Only provisional ones are held back."""
    if lesson.status != "provisional":
        return 1.0
    points = release_points(lesson.tallies)
    return FIRST if points < SECOND_AT else SECOND if points < ALL_AT else 1.0
