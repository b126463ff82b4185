"""Replies that could not be used, as they are kept."""

from __future__ import annotations

from tenure.errors import MalformedReply
from tenure.governance.redaction import redact
from tenure.ports import FailedReply
from tenure.roles.transcript import shortened

LONGEST_KEPT = 100_000
"""Characters of a reply that are kept; of a longer one the middle is left out, with a mark that says how much."""


def kept_reply(error: MalformedReply, *, id_: str, run: str, purpose: str, at: str) -> FailedReply:
    """A reply that could not be used: verbatim, but for secrets and for the middle of an endless one.

    Args:
        error: holds the reply and why it could not be used.
        id_: names it.
        run: the run it was about.
        purpose: the role that asked.
        at: the present moment, ISO 8601.
    """
    said = redact(shortened(error.reply, LONGEST_KEPT)).text
    return FailedReply(id=id_, run=run, purpose=purpose, reason=error.reason, reply=said, at=at)
