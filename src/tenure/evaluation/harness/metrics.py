"""Figures of an arm from its samples. A reducer makes one number of one order; a metric makes a figure of all orders.

Gain is that of Continual Learning Bench (arXiv 2606.05661): the score with memory less the score of the same system
reset before each instance, divided by the headroom of the reset system (1 less its own mean), after averaging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from tenure.evaluation.harness.sample import Sample, Score, Scored
from tenure.evaluation.harness.statistics import interval

Reducer = Callable[[Sequence[Sample]], float | None]
"""One number of one order; none where nothing in it counts."""

BEST = 1.0
"""The best score there is."""

ATTEMPTS = "rollouts"
"""Key of how often an agent acted in one order, the reset twin not counted."""

QUARTERS = 4
POINTS = 20
"""Points of a learning curve."""


def mean_score(samples: Sequence[Sample]) -> float | None:
    """Mean of what could be scored."""
    return _mean(sample.score for sample in samples)


def mean_alone(samples: Sequence[Sample]) -> float | None:
    """Mean of what the reset arm reached."""
    return _mean(sample.alone for sample in samples)


def gain(samples: Sequence[Sample]) -> float | None:
    """Gain as a share of the headroom; none where there is no headroom, or an instance lacks one of its scores throughout."""
    both = [(one.score.value, one.alone.value) for one in samples if isinstance(one.score, Scored) and isinstance(one.alone, Scored)]
    if not both:
        return None
    alone = fmean(value for _, value in both)
    return (fmean(value for value, _ in both) - alone) / (BEST - alone) if alone < BEST else None


def by_parts(samples: Sequence[Sample], parts: int) -> list[float | None]:
    """Mean score of each of so many equal parts of an order, the first first."""
    return [mean_score(part) for part in _parts(samples, parts)]


def cached_share(samples: Sequence[Sample]) -> float | None:
    """Of the tokens that were read, the share that a prefix cache had; none where nothing was read, or calls were made and none told of it.

    A provider that tells nothing of its cache and one whose cache had nothing cannot be told apart, so neither counts as 0.
    """
    read, cached = sum(one.tokens - one.written for one in samples), sum(one.cached for one in samples)
    asked = any(one.calls for one in samples)
    return cached / read if read and (cached or not asked) else None


def figures(orders: Sequence[Sequence[Sample]]) -> dict[str, Any]:
    """The figures of one arm.

    Args:
        orders: its samples, order by order, one order or more.
    """
    every = [sample for order in orders for sample in order]
    tokens = sum(sample.tokens for sample in every)
    prices = [sample.usd for sample in every]
    usd = None if any(price is None for price in prices) else round(sum(price for price in prices if price is not None), 4)
    unscorable = sum(not isinstance(sample.score, Scored) for sample in every)
    return {
        **_told("score", orders, mean_score),
        "score_by_quarter": _by_parts(orders, QUARTERS),
        **_told("gain", orders, gain),
        "alone": _rounded(_average(orders, mean_alone)),
        "tokens": round(tokens / max(1, len(every)), 1),
        "seconds": round(sum(sample.seconds for sample in every) / max(1, len(orders)), 2),
        ATTEMPTS: round(sum(sample.attempts for sample in every) / max(1, len(orders)), 1),
        "calls": round(sum(sample.calls for sample in every) / max(1, len(orders)), 1),
        "usd": usd,
        "cached_share": _rounded(cached_share(every)),
        "memory_tokens": next((one.memory for one in reversed(every) if one.memory is not None), None),
        "unscorable": unscorable,
        "scores": [_rounded(mean_score(order)) for order in orders],
    }


def curves(orders: Sequence[Sequence[Sample]], points: int = POINTS) -> Mapping[str, list[float | None]]:
    """What changes along a stream, averaged over orders: score, tokens, memory and cached share, at so many points."""
    found: dict[str, list[float | None]] = {"score": _by_parts(orders, points)}
    shares: Mapping[str, Callable[[Sequence[Sample]], float | None]] = {
        "tokens": lambda some: fmean(one.tokens for one in some) if some else None,
        "memory": lambda some: some[-1].memory if some else None,
        "cached": cached_share,
    }
    for name, measure in shares.items():
        parts = [[measure(part) for part in _parts(order, points)] for order in orders]
        found[name] = [_mean_of(column) for column in zip(*parts, strict=True)]
    return found


def _parts(samples: Sequence[Sample], parts: int) -> list[Sequence[Sample]]:
    borders = [round(len(samples) * place / parts) for place in range(parts + 1)]
    return [samples[start:end] for start, end in pairwise(borders)]


def _by_parts(orders: Sequence[Sequence[Sample]], parts: int) -> list[float | None]:
    return [_rounded(_mean_of(column)) for column in zip(*(by_parts(order, parts) for order in orders), strict=True)]


def _told(name: str, orders: Sequence[Sequence[Sample]], reduce: Reducer) -> dict[str, float | None]:
    values = [value for value in map(reduce, orders) if value is not None]
    if not values:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    found = interval(values)
    return {name: _rounded(found.mean), f"{name}_low": _rounded(found.low), f"{name}_high": _rounded(found.high)}


def _average(orders: Sequence[Sequence[Sample]], reduce: Reducer) -> float | None:
    return _mean_of([reduce(order) for order in orders])


def _mean(scores: Iterable[Score]) -> float | None:
    return _mean_of([score.value if isinstance(score, Scored) else None for score in scores])


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
