"""How far a lesson can be believed, from its grades on kept cases.

A *grade* says that following a lesson would have been right, or wrong, in one kept case. It is a noisy reading of
something hidden: the lesson is right or wrong at present, and either can change. So the belief is a forward filter
(Rabiner 1989) over the grades in the order of their cases:

- a lesson that is right is graded right except for the noise of the labels, the same for all lessons of a scope;
- one that is wrong is right by chance in some share of its cases (`CHANCES`): never, or now and then, as one whose
  conditions are too wide;
- between two grades it changes sides with the probability `HAZARD`.

**The noise is not assumed.** The filter runs once for each rate in `NOISES` and keeps how probable the grades are
under it; multiplied over all lessons of a scope this weighs the rates (empirical Bayes). Where lessons agree with
their cases without exception, one grade against a lesson turns the belief; where three labels in ten lie, it takes several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

NOISES = (0.005, 0.03, 0.08, 0.15, 0.22, 0.3, 0.4)
"""Rates of wrong labels that are weighed against each other."""

CHANCES = (0.01, 0.08, 0.2, 0.35, 0.5)
"""Shares of its cases in which a wrong lesson is right by chance; all below what a right one reaches under the greatest noise."""

HAZARD = 0.01
"""Probability that a lesson changes sides from one matching case to the next: once in a hundred."""

FIRST = 0.5
"""Belief in a lesson that nothing was graded of."""

MOST_GRADES = 200
"""Newest grades of a lesson that count: what is further back says nothing any more."""

TRUSTED, PROMOTED, RETIRED = 0.5, 0.8, 0.05
"""Belief from which a lesson is held to be right rather than wrong, from which it can be promoted, and below which it can be retired."""

LEAST_GRADES, LEAST_WRONG = 3, 3
"""Grades with which a lesson is judged by them alone, and grades against it with which it can be retired."""

_STATES = len(CHANCES) + 1
_EMIT = {
    right: tuple(tuple((one if right else 1.0 - one) for one in (1.0 - noise, *CHANCES)) for noise in NOISES) for right in (True, False)
}
_START = (FIRST, *((1.0 - FIRST) / len(CHANCES) for _ in CHANCES))
_FLAT = _START * len(NOISES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What one kept case says of a lesson, by its label or by a check.

    Attributes:
        lesson: its id.
        run: the case.
        right: whether following the lesson would have been right there.
        place: of the case in the order of arrival, from 0.
        reliability: of the label or check, 0 to 1; at 0 it says nothing.
        source: what graded it: `label`, or the name of the check.
        wording: digest of the lesson's text and conditions that were graded; others are no longer its own.
    """

    lesson: str
    run: str
    right: bool
    place: int = 0
    reliability: float = 1.0
    source: str = "label"
    wording: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """What the grades of one lesson amount to.

    Attributes:
        value: probability that it is right at present, 0 to 1.
        right, wrong: kept cases in which it would have been right, and wrong.
    """

    value: float
    right: int
    wrong: int

    @property
    def graded(self) -> int:
        """How many kept cases it was graded on."""
        return self.right + self.wrong

    @property
    def decides(self) -> bool:
        """Whether there are grades enough to judge the lesson by them alone."""
        return self.graded >= LEAST_GRADES


@dataclass(frozen=True, slots=True)
class Filter:
    """The belief in one lesson under each rate of noise, and how probable its grades were.

    Attributes:
        states: for each of `NOISES`: the probability that the lesson is right, then that it is wrong and right by each of `CHANCES`.
        evidence: for each of `NOISES`, the logarithm of the probability of the grades.
        right, wrong: how many grades there were of either sort.
    """

    states: tuple[float, ...] = _FLAT
    evidence: tuple[float, ...] = (0.0,) * len(NOISES)
    right: int = 0
    wrong: int = 0

    def after(self, right: bool, reliability: float = 1.0) -> Filter:
        """It with one more grade.

        Args:
            right: the grade.
            reliability: of it, 0 to 1.
        """
        states: list[float] = []
        evidence: list[float] = []
        flip = HAZARD / len(CHANCES)
        doubtful = reliability < 1.0
        place = 0
        for certain, before in zip(_EMIT[right], self.evidence, strict=True):
            # What cannot be relied on says less: at 0 it is as likely either way.
            emit = tuple(reliability * one + (1.0 - reliability) * 0.5 for one in certain) if doubtful else certain
            good = self.states[place]
            new = [(good * (1.0 - HAZARD) + (1.0 - good) * HAZARD) * emit[0]]
            gained = good * flip
            new += [
                (one * (1.0 - HAZARD) + gained) * by for one, by in zip(self.states[place + 1 : place + _STATES], emit[1:], strict=True)
            ]
            total = sum(new)
            states += [one / total for one in new]
            evidence.append(before + log(total))
            place += _STATES
        return Filter(tuple(states), tuple(evidence), self.right + right, self.wrong + (not right))

    @property
    def graded(self) -> int:
        """How many grades there were."""
        return self.right + self.wrong

    def belief(self, weights: Sequence[float]) -> float:
        """Probability that the lesson is right at present, 0 to 1.

        Args:
            weights: of the rates of noise, as `Noise.weights` gives them.
        """
        return sum(weight * one for weight, one in zip(weights, self.states[::_STATES], strict=True))

    def belief_in(self, noise: Noise) -> Belief:
        """What the grades amount to where labels are as noisy as this."""
        return Belief(value=min(1.0, max(0.0, self.belief(noise.weights))), right=self.right, wrong=self.wrong)


UNGRADED = Filter()
"""A lesson that nothing was graded of."""


def read_grades(grades: Iterable[Grade]) -> Filter:
    """The filter over the grades of one lesson; the newest `MOST_GRADES` in the order of their cases. Their own order is irrelevant."""
    found = UNGRADED
    for grade in sorted(grades, key=lambda one: (one.place, one.run))[-MOST_GRADES:]:
        found = found.after(grade.right, grade.reliability)
    return found


@dataclass(frozen=True, slots=True)
class Noise:
    """What the grades of a scope say of its labels.

    Attributes:
        evidence: for each of `NOISES`, the logarithm of the probability of all grades.
    """

    evidence: tuple[float, ...] = (0.0,) * len(NOISES)

    def changed(self, before: Filter, after: Filter) -> Noise:
        """It once one lesson's filter reads differently."""
        return Noise(tuple(one - was + now for one, was, now in zip(self.evidence, before.evidence, after.evidence, strict=True)))

    @property
    def weights(self) -> tuple[float, ...]:
        """Probability of each of `NOISES`; they sum to 1. All were equally likely at first."""
        most = max(self.evidence)
        found = [exp(one - most) for one in self.evidence]
        total = sum(found)
        return tuple(one / total for one in found)

    @property
    def rate(self) -> float:
        """The share of labels that are wrong, as expected, 0 to 1."""
        return sum(weight * noise for weight, noise in zip(self.weights, NOISES, strict=True))


def noise_of(filters: Mapping[str, Filter] | Iterable[Filter]) -> Noise:
    """What the filters of a scope's lessons say together of its labels."""
    found = Noise()
    for one in filters.values() if isinstance(filters, Mapping) else filters:
        found = found.changed(UNGRADED, one)
    return found
