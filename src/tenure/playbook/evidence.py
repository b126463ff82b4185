"""How useful a lesson is, with its uncertainty.

A Beta posterior over "using it helps", from counts that fade with age. A lesson seen once is never
proven: its interval stays wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import sqrt

from tenure.playbook.lessons import Brief, Lesson, Tallies

HALF_LIFE_DAYS = 180.0
"""Age at which old counts weigh half."""

SUPPORT_WEIGHT = 0.5
SUPPORT_CAP = 6
"""Each run that showed the lesson for itself counts as half a helpful run, six runs at most."""

DEVIATIONS = 1.28
"""Standard deviations below and above the mean: an 80 % interval where it is near normal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usefulness:
    """Posterior of "using this lesson helps".

    Attributes:
        mean, lower, upper: 0 to 1.
        weight: how many runs it rests on, after fading.
    """

    mean: float
    lower: float
    upper: float
    weight: float

    @property
    def proven(self) -> bool:
        """Whether it is known to help rather than not: the interval lies above one half, on three runs or more."""
        return self.weight >= 3 and self.lower > 0.5


def usefulness(tallies: Tallies, *, age_days: float = 0.0) -> Usefulness:
    """The posterior from a lesson's counts.

    Args:
        tallies: its counts.
        age_days: how long ago it was last written; counts fade by half every `HALF_LIFE_DAYS`.
    """
    fade = 0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS)
    good = (tallies.helpful + SUPPORT_WEIGHT * min(tallies.support, SUPPORT_CAP)) * fade
    bad = tallies.harmful * fade
    # A run in which it made no difference says a little of both.
    indifferent = 0.1 * min(tallies.neutral, 20) * fade
    a, b = 1.0 + good + indifferent / 2, 1.0 + bad + indifferent
    mean = a / (a + b)
    spread = DEVIATIONS * sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return Usefulness(mean=mean, lower=max(0.0, mean - spread), upper=min(1.0, mean + spread), weight=good + bad)


def age_in_days(lesson: Lesson | Brief, at: datetime | None) -> float:
    """Days since a lesson was last written; 0 where either time is unknown."""
    return days_between(lesson.updated, at)


def days_between(written_at: str, at: datetime | None) -> float:
    """Days from a moment to a later one; 0 where either is unknown or the first is the later.

    Args:
        written_at: ISO 8601; anything else is unknown.
        at: the later moment.
    """
    if at is None or not written_at:
        return 0.0
    try:
        written = datetime.fromisoformat(written_at)
    except ValueError:
        return 0.0
    if written.tzinfo is None or at.tzinfo is None:
        written, at = written.replace(tzinfo=None), at.replace(tzinfo=None)
    return max(0.0, (at - written).total_seconds() / 86_400)
