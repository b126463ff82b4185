"""The benches that `tenure bench` offers. A bench is a function from options to a JSON-like result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One thing that can be measured.

    Attributes:
        name: as in `tenure bench run NAME`.
        measures: what it measures, in one sentence.
        needs_data: whether `--data` must be given.
        run: takes the path (or none), budget and seed, and gives the result.
    """

    name: str
    measures: str
    needs_data: bool
    run: Callable[[Path | None, int | None, int], dict[str, Any]]


def _recurrence(data: Path | None, budget: int | None, seed: int) -> dict[str, Any]:
    from tenure.evaluation.recurrence import BUDGET, run_recurrence

    assert data is not None  # `needs_data` is checked by whoever runs it
    return run_recurrence(data, budget=budget or BUDGET, seed=seed)


BENCHES: Mapping[str, Bench] = {
    bench.name: bench
    for bench in (
        Bench(
            name="recurrence",
            measures="whether a tool error that came before meets a lesson about it before it comes again, within a small budget",
            needs_data=True,
            run=_recurrence,
        ),
    )
}
