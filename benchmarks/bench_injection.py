"""`tenure bench run injection` on its own set: attacks pushed through learning, and harmless lessons that mention the same words."""

from __future__ import annotations

from typing import Any

from tenure.evaluation.injection import run_injection

SEED = None
"""Nothing is drawn."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures; it has one size."""
    return {name: value for name, value in run_injection(None).items() if isinstance(value, int | float | dict)}
