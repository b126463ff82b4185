"""`tenure bench run service`: a server under load, on PostgreSQL and on SQLite beside it."""

from __future__ import annotations

from typing import Any

from tenure.evaluation.service_load import LESSONS, SECONDS, TENANTS, run_service

SEED = 0
"""Of texts and of who is asked."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures; reduced, of a few tenants for a moment."""
    if full:
        return run_service(tenants=TENANTS, lessons=LESSONS, seconds=SECONDS, seed=SEED)
    return run_service(tenants=5, lessons=20, seconds=1.0, at_once=4, seed=SEED)
