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
        figures: what each figure of the result means, by its name.
        run: takes the path (or none), budget and seed, and gives the result.
    """

    name: str
    measures: str
    needs_data: bool
    figures: Mapping[str, str]
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
            figures={
                "runs": "runs in the file",
                "errors": "tool errors in them",
                "recurrent": "errors that an earlier run had too",
                "covered": "recurrent errors with a lesson about them in the context",
                "coverage": "covered of recurrent, 0 to 1",
                "coverage_random": "the same, if lessons were drawn at random within the budget",
                "actionable": "share of lessons that state a cure or a check",
                "off_target": "share of lessons shown, in runs where an error came again, that are about none of its errors",
                "held": "changes that wait for a review",
                "lessons": "lessons in use at the end",
                "context_tokens_mean": "tokens of a context, on average",
                "seconds": "time for all of it",
                "signatures": "different errors",
                "all_fit": "share of recurrent errors at which all lessons fitted the budget",
                "unreadable": "places in the file that could not be read",
            },
            run=_recurrence,
        ),
    )
}
