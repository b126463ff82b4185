"""When what a session knows has to be written down: before the host's window is full, and at once when something was decided."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.errors import UserError

MESSAGES = 20
"""Messages since the last flush after which one is due."""

WINDOW = 0.8
"""Share of the host's window from which one is due: above it hosts compact by themselves."""


@dataclass(frozen=True, slots=True)
class Due:
    """Whether a flush is due.

    Attributes:
        due: whether it is.
        why: what speaks for it, or how far it is, a sentence.
    """

    due: bool
    why: str


def flush_due(*, messages: int = 0, window_used: float = 0.0, decision: bool = False) -> Due:
    """Whether a flush is due: at a decision, at `MESSAGES` messages, or when `WINDOW` of the window is used.

    Args:
        messages: since the last flush.
        window_used: share of the host's context window, 0 to 1; a little above 1 where a host overran it.
        decision: whether something was decided that the next session has to know.

    Raises:
        UserError: the number of messages is below 0, or the share is none.
    """
    if messages < 0:
        raise UserError(f"{messages} messages cannot be: give the number since the last flush, from 0.")
    if not 0 <= window_used <= 2:
        raise UserError(f"A window used to {window_used:g} cannot be: give a share from 0 to 1, such as 0.8.")
    reasons = [
        "something was decided" if decision else "",
        f"{messages} messages came since the last one ({MESSAGES} is the most)" if messages >= MESSAGES else "",
        f"{window_used:.0%} of the window is used ({WINDOW:.0%} is the most)" if window_used >= WINDOW else "",
    ]
    said = " and ".join(filter(None, reasons))
    if said:
        return Due(True, f"A flush is due: {said}.")
    return Due(
        False, f"No flush is due: {messages} of {MESSAGES} messages, {window_used:.0%} of the window where {WINDOW:.0%} is the most."
    )
