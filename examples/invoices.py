"""What the examples share: a tool that refuses one thing, and a scripted clerk that knows only what it is told.

The clerk stands where a language model would: it is plain code, so that an example runs without a key and shows what a
lesson changes. Told nothing, it takes the rate of the payment date; told a lesson about `post`, it heeds it and names it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tenure.active_run import ActiveRun

POSTED: set[int] = set()
"""Invoices that are posted."""


def post(invoice: int, rate_on: str) -> str:
    """Post an invoice.

    Args:
        invoice: its number.
        rate_on: `payment_date` or `invoice_date`.

    Raises:
        ValueError: the rate is not the one that is accepted.
    """
    if rate_on != "invoice_date":
        raise ValueError("the rate of the payment date is not accepted; use the rate of the invoice date")
    POSTED.add(invoice)
    return "posted"


def decide(told: str, results: Sequence[str]) -> dict[str, Any] | str:
    """What the clerk does next: arguments for `post`, or its answer.

    Args:
        told: everything in its prompt.
        results: what `post` gave back so far.
    """
    lesson = re.search(r"\[([\w-]+)\] `post` error", told)
    if results:
        if "posted" not in results[-1]:
            return "I could not post it."
        return f"Posted, as [{lesson[1]}] says." if lesson else "Posted."
    invoice = re.findall(r"post invoice (\d+)", told)[-1]
    return {"invoice": int(invoice), "rate_on": "invoice_date" if lesson else "payment_date"}


def tell(run: ActiveRun, answer: str, *, success: bool) -> None:
    """Print how a run went and what was learned from it."""
    print(f"{run.task.text}: {'succeeded' if success else 'failed'}. {answer}")
    print(f"  lessons: {len(run.shown.lessons)} shown, {run.learned.added if run.learned else 0} learned")
