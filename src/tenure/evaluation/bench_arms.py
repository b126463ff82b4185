"""Arms of benches that measure one system by itself: the figures of comparisons, and plain baselines to hold it against.

A figure that has no meaning in a bench is none, never a number made up. `none` is an agent without a memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from tenure.evaluation.harness.metrics import ATTEMPTS
from tenure.evaluation.harness.statistics import interval
from tenure.evaluation.likeness import Likeness

MEANINGS: Mapping[str, str] = {
    "arms": "by arm, with the figures of comparisons; none where a figure has no meaning here",
    "score": "what the bench asks for, 0 to 1",
    "score_low": "lower bound of its 95 % interval over orders; none for a single one",
    "score_high": "upper bound of it",
    "score_by_quarter": "the score in each quarter of the stream; none where there is no stream",
    "gain": "the score less that of the same arm without what it remembers, as a share of the headroom",
    "gain_low": "lower bound of its 95 % interval over orders",
    "gain_high": "upper bound of it",
    "tokens": "tokens put before the agent for one instance",
    "seconds": "for one order",
    ATTEMPTS: "how often an agent acted in one order",
    "calls": "model calls in one order",
    "usd": "what they cost",
    "cached_share": "share of the tokens that a prefix cache would have",
    "hijack": "share of the target's entities that get the attacker's tag",
}
"""What each figure of an arm means, for tables."""


def arm_figures(
    scores: float | Sequence[float] | None,
    *,
    alone: float | Sequence[float] | None = None,
    by_quarter: Sequence[float | None] | None = None,
    tokens: float | None = None,
    seconds: float | None = None,
    attempts: float | None = None,
    calls: float | None = None,
    usd: float | None = None,
    cached_share: float | None = None,
) -> dict[str, Any]:
    """The figures of an arm, under the keys of comparisons.

    Args:
        scores: 0 to 1, one for each order; one alone has no interval. None has no score.
        alone: what the same arm scores without what it remembers, for the gain: one for all orders, or one for each.
        by_quarter: the score in each quarter of the stream.
        tokens: put before the agent for one instance.
        seconds: for one order.
        attempts: how often an agent acted in one order.
        calls, usd: of models, in one order.
        cached_share: of the tokens.
    """
    each = [] if scores is None else [scores] if isinstance(scores, int | float) else list(scores)
    reset = [] if alone is None else [alone] * len(each) if isinstance(alone, int | float) else list(alone)
    gains = [(one - other) / (1 - other) for one, other in zip(each, reset, strict=False) if other < 1]
    return {
        **_with_interval("score", each),
        "score_by_quarter": None if by_quarter is None else [None if one is None else round(one, 4) for one in by_quarter],
        **_with_interval("gain", gains),
        "tokens": _rounded(tokens, 1),
        "seconds": _rounded(seconds, 2),
        ATTEMPTS: _rounded(attempts, 1),
        "calls": _rounded(calls, 1),
        "usd": _rounded(usd, 4),
        "cached_share": _rounded(cached_share, 4),
    }


def share_by_quarter(hits: Sequence[tuple[float, float]]) -> list[float | None]:
    """Share in each quarter of a stream.

    Args:
        hits: for each instance of the stream what was reached and how much there was; nothing where nothing was asked.
    """
    borders = [round(len(hits) * place / 4) for place in range(5)]
    parts = [hits[start:end] for start, end in pairwise(borders)]
    return [sum(one for one, _ in part) / whole if (whole := sum(other for _, other in part)) else None for part in parts]


class SimilarSessions:
    """Baseline: whole sessions, those most like the question by the words they share (cosine, rare words weigh more).

    Args:
        sessions: what was said in each, by name.
    """

    def __init__(self, sessions: Mapping[str, str]) -> None:
        self._likeness = Likeness()
        for name, said in sessions.items():
            self._likeness.put(name, said)

    def best(self, question: str, most: int) -> list[str]:
        """The names of the sessions most like a question, best first."""
        return [name for name, _ in self._likeness.nearest(question, most)]


def _with_interval(name: str, values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    found = interval(values) if len(values) > 1 else None
    low, high = (found.low, found.high) if found is not None else (None, None)
    return {name: _rounded(fmean(values), 4), f"{name}_low": _rounded(low, 4), f"{name}_high": _rounded(high, 4)}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
