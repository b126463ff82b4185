"""`tenure bench run redaction` on its own labelled lines; shares, not times."""

from __future__ import annotations

from typing import Any

from tenure.evaluation.redaction_bench import run_redaction

SEED = 0
"""Of the fake secrets."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures; it has one size."""
    return {name: value for name, value in run_redaction(None).items() if isinstance(value, int | float) or name == "parts"}
