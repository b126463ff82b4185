"""Intervals and paired tests over a few orders, by the standard library alone.

Student's t (1908) for means, exact sign flips for paired differences (Fisher 1935), McNemar's exact test (1947) for
paired yes and no. Each is held against published values in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, exp, inf, lgamma, log, sqrt
from random import Random
from statistics import fmean, stdev

MOST_EXACT = 14
"""Pairs of which all sign flips are looked at; of more, so many are drawn."""

DRAWN = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with its interval.

    Attributes:
        mean: of the values.
        low, high: bounds; none where a single value says nothing of spread.
    """

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Two series held against each other, pair by pair.

    Attributes:
        difference: mean of the first less the second, with its interval.
        p_t: two-sided, by the paired t-test; none below two pairs.
        p_flips: two-sided, share of sign flips that differ as much; its least value with n pairs is 2 / 2 ** n.
        pairs: how many.
    """

    difference: Interval
    p_t: float | None
    p_flips: float
    pairs: int


def interval(values: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """The mean of values with Student's interval.

    Args:
        values: one or more.
        confidence: of the interval, above 0 and below 1.
    """
    mean = fmean(values)
    if len(values) < 2:
        return Interval(mean=mean, low=None, high=None)
    half = t_quantile(0.5 + confidence / 2, len(values) - 1) * stdev(values) / sqrt(len(values))
    return Interval(mean=mean, low=mean - half, high=mean + half)


def paired(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Paired:
    """Hold two series of the same length, one or more, against each other.

    Args:
        first, second: values of the same orders, in the same places.
        seed: of the sign flips that are drawn where there are too many for all.
    """
    differences = [one - other for one, other in zip(first, second, strict=True)]
    return Paired(
        difference=interval(differences), p_t=_p_of_t(differences), p_flips=sign_flips(differences, seed=seed), pairs=len(differences)
    )


def sign_flips(differences: Sequence[float], *, seed: int = 0) -> float:
    """Two-sided probability, with every sign as likely either way, of a mean as far from 0; exact for few pairs."""
    seen = abs(sum(differences)) - 1e-12
    if len(differences) <= MOST_EXACT:
        sums = [
            abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
            for signs in product((1, -1), repeat=len(differences))
        ]
        return sum(one >= seen for one in sums) / len(sums)
    drawn = Random(f"flips:{seed}")
    as_far = sum(abs(sum(one if drawn.random() < 0.5 else -one for one in differences)) >= seen for _ in range(DRAWN))
    return (as_far + 1) / (DRAWN + 1)


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided exact probability that as uneven a split of changes comes by chance.

    Args:
        gained, lost: pairs that only the first, and only the second, got right.
    """
    total = gained + lost
    if not total:
        return 1.0
    return min(1.0, sum(comb(total, k) for k in range(min(gained, lost) + 1)) / float(2 ** (total - 1)))


def t_quantile(share: float, freedom: int) -> float:
    """The value that Student's t stays below with a probability.

    Args:
        share: the probability, 0.5 or more and below 1.
        freedom: degrees of freedom, 1 or more.
    """
    low, high = 0.0, 1.0
    while t_below(high, freedom) < share:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_below(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def t_below(value: float, freedom: int) -> float:
    """The probability that Student's t is below a value."""
    tail = 0.5 * _beta(freedom / (freedom + value * value), freedom / 2, 0.5)
    return 1 - tail if value >= 0 else tail


def _p_of_t(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    spread = stdev(differences)
    mean = fmean(differences)
    if not spread:
        return 1.0 if not mean else 0.0
    return 2 * (1 - t_below(abs(mean) / spread * sqrt(len(differences)), len(differences) - 1))


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction where that is quick."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    fraction, c, d = 1.0, 1.0, 0.0
    last = inf
    for step in range(300):
        half = step // 2
        if not step:
            term = 1.0
        elif step % 2 == 0:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        else:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        d = 1 / _not_zero(1 + term * d)
        c = _not_zero(1 + term / c)
        fraction *= c * d
        if abs(fraction - last) < 1e-15:
            break
        last = fraction
    return front * (fraction - 1)


def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
