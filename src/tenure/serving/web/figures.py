"""The figures of the overview: how runs ended, what models cost, and how much of a prompt came from the cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import sqrt

from tenure.playbook.evidence import DEVIATIONS
from tenure.ports import RunOutline, Usage
from tenure.serving.cli.output import counted, money
from tenure.serving.web.charts import Chart, bar_chart, line_chart

RUNS_READ = 400
"""Newest runs that the learning curve and the days are drawn from."""

WINDOW = 20
"""Decided runs that a point of the learning curve looks back over."""

FEWEST = 3
"""Decided runs before the curve begins; up to `WINDOW` it looks back over all there are."""

DAYS = 14

MOST_ROWS = 40
"""Points of the learning curve in the table behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of successes with its interval (Wilson 1927, 80 %).

    Attributes:
        mean, lower, upper: 0 to 1.
        count: runs it rests on.
    """

    mean: float
    lower: float
    upper: float
    count: int


def share_of(successes: int, count: int) -> Share:
    """A share of successes among so many runs, at least one."""
    mean, z2 = successes / count, DEVIATIONS**2
    middle = (mean + z2 / (2 * count)) / (1 + z2 / count)
    spread = DEVIATIONS * sqrt(mean * (1 - mean) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return Share(mean=mean, lower=max(0.0, min(mean, middle - spread)), upper=min(1.0, max(mean, middle + spread)), count=count)


def learning_curve(runs: Sequence[RunOutline]) -> Chart:
    """The share of successes over the newest decided runs.

    Args:
        runs: newest first.
    """
    decided = [one for one in reversed(runs) if one.success is not None]
    window = min(WINDOW, max(3, len(decided) // 3))
    found: list[tuple[int, Share]] = []
    for last in range(min(FEWEST, len(decided)) or 1, len(decided) + 1):
        some = decided[max(0, last - window) : last]
        found.append((last, share_of(sum(one.success is True for one in some), len(some))))
    told = "No run has an outcome yet."
    if found:
        first, newest = found[0][1], found[-1][1]
        told = (
            f"Of the newest {newest.count} runs with an outcome {newest.mean:.0%} succeeded ({newest.lower:.0%} to {newest.upper:.0%}); "
            f"of the first {first.count} shown, {first.mean:.0%}."
        )
    step = max(1, len(found) // MOST_ROWS)
    kept = found[::-1][::step][::-1]
    return line_chart(
        "curve",
        "Learning curve",
        told,
        points=[(str(place), one.mean, one.lower, one.upper) for place, one in found],
        columns=("run", f"succeeded, of the last {window}", "interval (80 %)"),
        rows=[(str(place), f"{one.mean:.0%}", f"{one.lower:.0%} to {one.upper:.0%}") for place, one in kept],
    )


def outcomes_by_day(runs: Sequence[RunOutline], today: date) -> Chart:
    """How the runs of the last days ended."""
    days = _days(today)
    counts: dict[str, Counter[str]] = {day: Counter() for day in days}
    for one in runs:
        day = _day_of(one.ended or one.started)
        if day in counts:
            counts[day]["success" if one.success else "undecided" if one.success is None else "failure"] += 1
    order = ("success", "failure", "undecided")
    total = Counter[str]()
    for found in counts.values():
        total += found
    told = f"In {DAYS} days {counted(total['success'], 'success', 'successes')}, {counted(total['failure'], 'failure')}"
    return bar_chart(
        "outcomes",
        "Outcomes by day",
        f"{told}, {total['undecided']:,} undecided.",
        stacks=[(day, [counts[day][one] for one in order]) for day in days] if sum(total.values()) else (),
        looks=(("good", "succeeded"), ("bad", "failed"), ("open", "undecided")),
        said=[[f"{counts[day][one]:,}" for one in order] for day in days] if sum(total.values()) else (),
        columns=("day", "succeeded", "failed", "undecided"),
    )


def cost_by_day(spent: Mapping[str, Usage]) -> Chart:
    """What models cost on the last days; tokens where no price is known."""
    priced = all(one.cost_usd is not None for one in spent.values())
    values = {day: float(one.cost_usd or 0) if priced else float(_tokens(one)) for day, one in spent.items()}
    used = any(one.calls for one in spent.values())
    whole = sum((one.cost_usd or Decimal(0) for one in spent.values()), Decimal(0))
    told = (
        f"{money(whole)} in {DAYS} days."
        if priced
        else f"{sum(map(_tokens, spent.values())):,} tokens in {DAYS} days; some had no known price."
    )
    return bar_chart(
        "cost",
        "Cost by day" if priced else "Tokens by day",
        told if used else "No model was called in these days.",
        stacks=[(day, [value]) for day, value in values.items()] if used else (),
        looks=(("one", ""),),
        said=[[money(one.cost_usd) if priced else f"{_tokens(one):,}"] for one in spent.values()] if used else (),
        columns=("day", "cost" if priced else "tokens"),
        level="${:,.2f}" if priced else "{:,.0f}",
    )


def cache_by_day(spent: Mapping[str, Usage]) -> Chart:
    """The share of the tokens of prompts that providers took from their caches."""
    used = any(one.input_tokens for one in spent.values())
    given, cached = (sum(getattr(one, name) for one in spent.values()) for name in ("input_tokens", "cached_tokens"))
    return bar_chart(
        "cache",
        "Cache share by day",
        f"{cached / given:.0%} of {given:,} prompt tokens came from a cache." if given else "No model was called in these days.",
        stacks=[(day, [cache_share(one) or 0.0]) for day, one in spent.items()] if used else (),
        looks=(("one", "from the cache"),),
        said=[[f"{cache_share(one):.0%}" if cache_share(one) is not None else "no calls"] for one in spent.values()] if used else (),
        columns=("day", "from the cache"),
        top=1.0,
        level="{:.0%}",
    )


def cache_share(usage: Usage) -> float | None:
    """The share of prompt tokens that came from a cache, 0 to 1; none where there were none."""
    return usage.cached_tokens / usage.input_tokens if usage.input_tokens else None


def days_of(now: datetime) -> tuple[str, ...]:
    """The days that charts show, ISO dates in UTC, oldest first."""
    return _days(now.astimezone(UTC).date())


def _days(today: date) -> tuple[str, ...]:
    return tuple((today - timedelta(days=back)).isoformat() for back in range(DAYS - 1, -1, -1))


def _day_of(at: str) -> str:
    try:
        return datetime.fromisoformat(at).astimezone(UTC).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
