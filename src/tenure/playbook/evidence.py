"""How useful a lesson is, with its uncertainty.

A Beta posterior over "using it helps", from counts that fade with age. A lesson seen once is never
proven: its interval stays wide. Where the single runs are known, a track record says more: what a lesson
did lately weighs more than what it did long ago, and a run of failures is told from noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Literal

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
    return _posterior(1.0 + good + indifferent / 2, 1.0 + bad + indifferent, weight=good + bad)


def _posterior(a: float, b: float, *, weight: float) -> Usefulness:
    """Mean and interval of a Beta distribution."""
    mean = a / (a + b)
    spread = DEVIATIONS * sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return Usefulness(mean=mean, lower=max(0.0, mean - spread), upper=min(1.0, mean + spread), weight=weight)


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


# -- run by run ----------------------------------------------------------------------------------------

HALF_LIFE_RUNS = 20.0
"""Later verdicts after which a verdict weighs half: what a lesson says can cease to be true."""

DEMOTE_AT, RETIRE_AT, PROMOTE_BELOW = 4.5, 7.2, 2.0
"""Doubt at which an active lesson becomes provisional, at which a lesson is retired, and above which none is promoted.

Doubt is a cumulative sum (Page 1954): each failure adds the reliability of its outcome, each success takes as
much away, never below 0. Five honest failures in a row demote, eight retire (of `human` signals as many). A lesson that is right
and meets 20 % of wrong labels is retired within 200 runs with a probability of 0.0013, and is provisional for
some runs among them with one of 0.083; a test works both out.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one run says of a lesson.

    Attributes:
        run: its id.
        effect: `helped`, `misled`, `neutral`, or empty if the run has no verdict.
        exposure: how the lesson took part: `cited`, `shown` (and not named), `withheld`, or `absent`.
        right: whether the run shows, by itself, that the lesson would have been right; none if it says nothing of that.
        reliability: of the outcome, 0 to 1.
        at: ISO 8601; empty if unknown.
    """

    run: str
    effect: Literal["helped", "misled", "neutral", ""] = ""
    exposure: Literal["cited", "shown", "withheld", "absent"] = "absent"
    right: bool | None = None
    reliability: float = 1.0
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """What the observations of a lesson amount to. Counts are of runs; nothing is counted under two of the four exposures.

    Attributes:
        support: runs that speak for it: it helped, or would have been right.
        contradictions: runs that speak against it: it misled, or would have been wrong.
        cited, shown, withheld: runs in which it was named, was there and not named, was deliberately not there.
        would_have_been_right, would_have_been_wrong: runs without it that show what it would have done.
        last_seen: when it was last cited or shown, ISO 8601; empty if never or unknown.
        helpful, harmful: the verdicts after fading with age and with later verdicts.
        usefulness: the posterior from these.
        doubt: see `DEMOTE_AT`; 0 or more.
    """

    support: int
    contradictions: int
    cited: int
    shown: int
    withheld: int
    would_have_been_right: int
    would_have_been_wrong: int
    last_seen: str
    helpful: float
    harmful: float
    usefulness: Usefulness
    doubt: float


def track_record(observations: Sequence[Observation], *, at: datetime | None = None) -> TrackRecord:
    """What observations amount to.

    Args:
        observations: newest first.
        at: the present moment; none lets nothing fade by age.
    """
    helpful = harmful = 0.0
    verdicts = 0
    for one in observations:
        good, bad = _says(one)
        if not good and not bad:
            continue
        fade = 0.5 ** (verdicts / HALF_LIFE_RUNS) * 0.5 ** (days_between(one.at, at) / HALF_LIFE_DAYS)
        # What a lesson would have done counts half: nobody was seen to follow it.
        weight = fade * one.reliability * (1.0 if one.effect in ("helped", "misled") else SUPPORT_WEIGHT)
        helpful += weight * good
        harmful += weight * bad
        verdicts += 1
    exposures = [one.exposure for one in observations]
    return TrackRecord(
        support=sum(_says(one)[0] for one in observations),
        contradictions=sum(_says(one)[1] for one in observations),
        cited=exposures.count("cited"),
        shown=exposures.count("shown"),
        withheld=exposures.count("withheld"),
        would_have_been_right=sum(_says(one)[0] for one in observations if one.effect not in ("helped", "misled")),
        would_have_been_wrong=sum(_says(one)[1] for one in observations if one.effect not in ("helped", "misled")),
        last_seen=next((one.at for one in observations if one.exposure in ("cited", "shown")), ""),
        helpful=helpful,
        harmful=harmful,
        usefulness=_posterior(1.0 + helpful, 1.0 + harmful, weight=helpful + harmful),
        doubt=doubt(observations),
    )


def doubt(observations: Sequence[Observation]) -> float:
    """How far recent runs speak against a lesson beyond noise (see `DEMOTE_AT`), 0 or more.

    Args:
        observations: newest first; only those count in which it helped or misled.
    """
    level = 0.0
    for one in reversed(observations):
        if one.effect in ("helped", "misled"):
            level = max(0.0, level + (one.reliability if one.effect == "misled" else -one.reliability))
    return level


def _says(one: Observation) -> tuple[bool, bool]:
    """Whether an observation speaks for a lesson, and whether against it."""
    if one.effect in ("helped", "misled"):
        return one.effect == "helped", one.effect == "misled"
    apart = one.exposure in ("withheld", "absent")
    return apart and one.right is True, apart and one.right is False
