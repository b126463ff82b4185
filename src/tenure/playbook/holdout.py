"""Whether a lesson makes a difference: it is left out of some runs that chance picks, and their outcomes are compared.

A draw is a digest of run and lesson, so the same run always gets the same draw, and nothing here needs a source
of chance. design/holdout.md says why it is done this way and what it costs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, Protocol

from tenure.playbook.credit import LEAST_RELIABILITY
from tenure.playbook.evidence import usefulness
from tenure.playbook.lessons import Lesson, text_digest
from tenure.playbook.run import Run

MOST_SHARE = 0.1
"""The largest share of matching runs in which a lesson is left out, unless a setting says otherwise."""

CHANCE_IN_RUN = 0.25
"""The largest chance that a lesson is left out of a hold-out run. The share of such runs follows: 0.1 is 0.25 of 0.4."""

STEPS: tuple[tuple[float, float], ...] = ((0.4, 1.0), (0.2, 0.5), (0.0, 0.2))
"""Width of the interval above which a lesson is left out with this part of the largest chance.

Few steps, because runs are compared only with those that had the same chance.
"""

LEAST_RUNS = 20
"""Runs with it, and as many without it, below which nothing is concluded of a lesson."""

Z = 1.96
"""Standard deviations of the interval that is reported: right in 95 of 100 looks at any one moment."""

DECIDING_Z = 3.5
"""The same for what is acted on. Who looks after each run looks often: with this, a lesson that makes no difference is found
to help or to harm within 800 hold-out runs in about 1 of 200 cases (simulated; a test bounds it)."""

POWER_Z = 0.84
"""Added to `Z` for a difference that is found in 4 of 5 cases."""

LEAST_SPREAD = 0.05
"""Lessons of a group differ in what they do by a standard deviation of at least this: they are never taken for one."""

LEAST_KIN, LEAST_KIN_RUNS = 2, 5
"""Other lessons of the group, each with this many runs without it, below which nothing is pooled."""

Finding = Literal["helps", "harms", "undecided", "not enough data"]


def fate(run: str, lesson: str, purpose: str) -> float:
    """What chance says of a lesson in a run: a number from 0 to below 1, the same for the same three texts, evenly spread.

    Args:
        run: the run's id.
        lesson: the lesson's id; empty for the run as a whole.
        purpose: what it is drawn for; draws for different purposes have nothing to do with each other.
    """
    digest = hashlib.blake2b("\x1f".join((purpose, run, lesson)).encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2.0**56


def is_holdout_run(run: str, share: float) -> bool:
    """Whether lessons are left out of a run at all; all others get the prompt they would get without hold-outs.

    Args:
        run: its id.
        share: the largest share of matching runs in which one lesson is left out, above 0 and at most `CHANCE_IN_RUN`.
    """
    return fate(run, "", "holdout-run") < share / CHANCE_IN_RUN


def chance_of(lesson: Lesson, lift: Lift | None) -> float:
    """The chance that a lesson is left out of a hold-out run. It falls as more is known of the lesson.

    What counts is the narrower of two intervals: that of the lesson's usefulness, from its counts, and that of its lift.
    """
    useful = usefulness(lesson.tallies)
    width = useful.upper - useful.lower
    if lift is not None:
        width = min(width, lift.upper - lift.lower)
    return CHANCE_IN_RUN * next(part for least, part in STEPS if width > least or least == 0.0)


def counted_score(run: Run) -> float | None:
    """The score of a run whose outcome counts: from outside the model, reliable enough, told by a trusted origin; else none."""
    outcome = run.outcome
    return outcome.score if outcome.honest and (outcome.reliability or 0.0) >= LEAST_RELIABILITY and run.origin.trusted else None


_PROTECTED_SECTION = re.compile(r"\b(safe|safety|security|secrets?|privacy|compliance|legal|prohibitions?|emergency)\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\b(never|must not|mustn't|forbidden|prohibited|not allowed|under no circumstances|niemals|verboten|jamais|interdit|nunca|prohibido)\b"
    r"|禁止|不得|严禁|嚴禁|絶対に",
    re.IGNORECASE,
)


def protected_because(lesson: Lesson) -> str:
    """Why a lesson is never left out, in words; empty if it may be."""
    if lesson.pinned:
        return "it is pinned"
    if lesson.author.startswith(("person", "import")):
        return "a person wrote it or brought it"
    if lesson.kind == "prohibition" or _FORBIDS.search(lesson.text):
        return "it forbids something"
    if _PROTECTED_SECTION.search(lesson.section):
        return f"its section is '{lesson.section}'"
    return ""


def said_digest(lesson: Lesson) -> str:
    """Short digest of what a lesson says: what was learned of an earlier text is not held for or against a later one.

    Nor is what led to its retirement, once somebody brought it back.
    """
    return text_digest("\x1f".join((lesson.text, lesson.applies_when, lesson.avoid, lesson.restored)))[:10]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawCount:
    """Runs of one lesson that had the same chance and the same fate.

    Attributes:
        lesson, text, reason, chance, withheld: as in `Draw`.
        runs: how many there are.
        judged: how many of them have an honest outcome.
        total: sum of the scores of these.
    """

    lesson: str
    text: str
    reason: str
    chance: float
    withheld: bool
    runs: int
    judged: int
    total: float


class Draws(Protocol):
    """The part of a look at a scope that concerns draws."""

    def draw_counts(self, lessons: Collection[str] | None = None) -> Sequence[DrawCount]:
        """Runs by lesson, text, reason, chance and fate, sorted by these; of some lessons, or of all.

        Args:
            lessons: ids as they were drawn; those of merged lessons count apart.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """By how much outcomes are better with a lesson than without it. Shares are from -1 to 1, those of one arm from 0 to 1.

    Attributes:
        lift: difference of the mean scores; 0 where one side has no run.
        lower, upper: its interval, right in 95 of 100 looks at one moment.
        surely_lower, surely_upper: the interval for who looks after each run; what is acted on.
        with_it, without_it: mean scores.
        shown, withheld: runs behind them, with an honest outcome.
        least: the least lift, up or down, that so many runs would show in 4 of 5 cases; 1 where there are too few to say.
        runs_for_tenth: hold-out runs in all that it takes, about, to see a lift of 0.1.
    """

    lift: float
    lower: float
    upper: float
    surely_lower: float
    surely_upper: float
    with_it: float
    without_it: float
    shown: int
    withheld: int
    least: float
    runs_for_tenth: int

    @property
    def finding(self) -> Finding:
        """What may be concluded. Nothing on fewer than `LEAST_RUNS` runs on either side."""
        if min(self.shown, self.withheld) < LEAST_RUNS:
            return "not enough data"
        if self.surely_upper < 0:
            return "harms"
        return "helps" if self.surely_lower > 0 else "undecided"

    @property
    def said(self) -> str:
        """The finding in a sentence."""
        finding = self.finding
        if finding == "not enough data":
            return f"not enough data: {self.shown} runs with it and {self.withheld} without; it takes {LEAST_RUNS} of each at the least"
        if finding == "undecided":
            return f"undecided: a lift of {self.least:.2f} or more, up or down, would most likely show by now; a smaller one may be there"
        return f"{finding}: outcomes are {abs(self.lift):.2f} {'better' if self.lift > 0 else 'worse'} with it"


NO_LIFT = Lift(
    lift=0.0,
    lower=-1.0,
    upper=1.0,
    surely_lower=-1.0,
    surely_upper=1.0,
    with_it=0.0,
    without_it=0.0,
    shown=0,
    withheld=0,
    least=1.0,
    runs_for_tenth=0,
)
"""What is known of a lesson that was never drawn."""


@dataclass(slots=True)
class _Stratum:
    """Runs that had one chance: how many with and without the lesson, and the sums of their scores."""

    shown: int = 0
    shown_total: float = 0.0
    withheld: int = 0
    withheld_total: float = 0.0

    @property
    def weight(self) -> float:
        return self.shown * self.withheld / (self.shown + self.withheld) if self.shown and self.withheld else 0.0


def lift_of(counts: Sequence[DrawCount]) -> Lift:
    """The lift of one lesson from its draws.

    Runs are compared only with those in which the lesson had the same chance (a stratum), for the chance changes
    with what is known, and tasks change with time. Strata are weighed by n1 n0 / (n1 + n0) (Mantel and Haenszel). The
    interval is Newcombe's (1998, method 10) from Wilson intervals of both sides, each with the number of
    runs that its weighted mean amounts to; for scores between 0 and 1 it is a little wide.

    Args:
        counts: of this lesson and this text of it.
    """
    strata: dict[tuple[str, float], _Stratum] = {}
    for one in counts:
        stratum = strata.setdefault((one.reason, round(one.chance, 6)), _Stratum())
        if one.withheld:
            stratum.withheld += one.judged
            stratum.withheld_total += one.total
        else:
            stratum.shown += one.judged
            stratum.shown_total += one.total
    # Where one side of a stratum has no run, it says nothing of the difference.
    told = [one for one in strata.values() if one.weight > 0]
    if not told:
        shown, withheld = sum(one.shown for one in strata.values()), sum(one.withheld for one in strata.values())
        return Lift(
            **{name: getattr(NO_LIFT, name) for name in ("lift", "lower", "upper", "surely_lower", "surely_upper", "least")},
            with_it=sum(one.shown_total for one in strata.values()) / shown if shown else 0.0,
            without_it=sum(one.withheld_total for one in strata.values()) / withheld if withheld else 0.0,
            shown=shown,
            withheld=withheld,
            runs_for_tenth=0,
        )
    weights = [one.weight / sum(each.weight for each in told) for one in told]
    with_it = sum(part * one.shown_total / one.shown for part, one in zip(weights, told, strict=True))
    without_it = sum(part * one.withheld_total / one.withheld for part, one in zip(weights, told, strict=True))
    amount_with = 1 / sum(part**2 / one.shown for part, one in zip(weights, told, strict=True))
    amount_without = 1 / sum(part**2 / one.withheld for part, one in zip(weights, told, strict=True))
    lower, upper = _newcombe(with_it, amount_with, without_it, amount_without, Z)
    surely_lower, surely_upper = _newcombe(with_it, amount_with, without_it, amount_without, DECIDING_Z)
    shown, withheld = sum(one.shown for one in told), sum(one.withheld for one in told)
    # A spread of 0 would promise too much: one success and one failure are added.
    mean = (with_it * shown + without_it * withheld + 1) / (shown + withheld + 2)
    per_run = mean * (1 - mean) * (1 / amount_with + 1 / amount_without)
    return Lift(
        lift=with_it - without_it,
        lower=lower,
        upper=upper,
        surely_lower=surely_lower,
        surely_upper=surely_upper,
        with_it=with_it,
        without_it=without_it,
        shown=shown,
        withheld=withheld,
        least=min(1.0, (Z + POWER_Z) * sqrt(per_run)),
        runs_for_tenth=round((shown + withheld) * per_run * ((Z + POWER_Z) / 0.1) ** 2),
    )


def _newcombe(one: float, runs: float, other: float, other_runs: float, z: float) -> tuple[float, float]:
    """Interval of a difference of two means between 0 and 1."""
    low, high = _wilson(one, runs, z)
    other_low, other_high = _wilson(other, other_runs, z)
    lift = one - other
    return (
        max(-1.0, lift - sqrt((one - low) ** 2 + (other_high - other) ** 2)),
        min(1.0, lift + sqrt((high - one) ** 2 + (other - other_low) ** 2)),
    )


def _wilson(mean: float, runs: float, z: float) -> tuple[float, float]:
    """Interval of a mean between 0 and 1 (Wilson 1927)."""
    scale = 1 + z**2 / runs
    middle = (mean + z**2 / (2 * runs)) / scale
    half = z * sqrt(max(0.0, mean * (1 - mean)) / runs + z**2 / (4 * runs**2)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


# -- alike lessons -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """The lift of a lesson when those of alike lessons are taken into account.

    Attributes:
        lift, lower, upper: 95 % interval, over lessons like these.
        group: mean lift of the other lessons of the group.
        lessons: how many they are.
        weight: how much of `lift` is the lesson's own, 0 to 1.
    """

    lift: float
    lower: float
    upper: float
    group: float
    lessons: int
    weight: float


def group_of(lesson: Lesson) -> str:
    """What makes lessons alike: section and kind, and for errors of a tool the tool."""
    kind, _, rest = lesson.about.partition(":")
    tool = rest.partition(":")[0] if kind == "tool-error" else ""
    return " / ".join(filter(None, (lesson.section, lesson.kind.replace("_", " "), tool)))


def pool(lifts: Mapping[str, Lift], groups: Mapping[str, str]) -> dict[str, Pooled]:
    """Each lift drawn towards the mean of the others in its group, the more the less is known of it.

    Partial pooling (random effects, DerSimonian and Laird 1986): lessons of a group differ by a spread that is estimated from
    them and is at least `LEAST_SPREAD`; a lesson's own lift and the mean of the others are weighed by what is known of each.
    It says what to expect of a lesson before enough is known of it. Nothing is retired or promoted for it.

    Args:
        lifts: by lesson.
        groups: the group of each.

    Returns:
        By lesson, for those with enough kin that were drawn (see `LEAST_KIN`).
    """
    members: dict[str, list[str]] = {}
    for lesson, lift in lifts.items():
        if min(lift.shown, lift.withheld) >= LEAST_KIN_RUNS:
            members.setdefault(groups[lesson], []).append(lesson)
    found: dict[str, Pooled] = {}
    for lesson, lift in lifts.items():
        kin = [one for one in members.get(groups[lesson], ()) if one != lesson]
        if len(kin) >= LEAST_KIN:
            found[lesson] = _drawn_to(lift, [lifts[one] for one in kin])
    return found


def _drawn_to(own: Lift, kin: Sequence[Lift]) -> Pooled:
    variances = [_variance(one) for one in kin]
    weights = [1 / one for one in variances]
    total = sum(weights)
    mean = sum(weight * one.lift for weight, one in zip(weights, kin, strict=True)) / total
    scatter = sum(weight * (one.lift - mean) ** 2 for weight, one in zip(weights, kin, strict=True))
    spread = (scatter - (len(kin) - 1)) / (total - sum(weight**2 for weight in weights) / total)
    spread = max(LEAST_SPREAD**2, spread)
    weights = [1 / (one + spread) for one in variances]
    mean = sum(weight * one.lift for weight, one in zip(weights, kin, strict=True)) / sum(weights)
    expected = spread + 1 / sum(weights)
    known = 1 / _variance(own) if min(own.shown, own.withheld) else 0.0
    weight = known / (known + 1 / expected)
    lift = weight * own.lift + (1 - weight) * mean
    half = Z * sqrt(1 / (known + 1 / expected))
    return Pooled(lift=lift, lower=max(-1.0, lift - half), upper=min(1.0, lift + half), group=mean, lessons=len(kin), weight=weight)


def _variance(lift: Lift) -> float:
    """Of a lift, from the width of its interval, which is never 0."""
    return ((lift.upper - lift.lower) / (2 * Z)) ** 2
