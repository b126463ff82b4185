"""Marks for Anthropic's prompt cache: how many a request has, how long they are for, and whether one of ours fits.

The API takes four marks in a request, counted over tools, system, messages and the request itself, and wants those for an hour
to stand before those for five minutes (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 4
"""Marks that a request may have."""

_LONG = "1h"


def own_mark(value: Mapping[str, Any]) -> Mapping[str, str] | None:
    """The mark for a block of ours at the end of the system prompt; none if the caller's leave no room for it, or no order.

    Args:
        value: the request.
    """
    before = [*_marks(value.get("tools")), *_marks(value.get("system"))]
    own = value.get("cache_control")  # of the request as a whole: it stands for its last block
    after = [*_marks(value.get("messages")), *([own] if isinstance(own, dict) else [])]
    if len(before) + len(after) >= MOST:
        return None
    if not any(mark.get("ttl") == _LONG for mark in after):
        return {"type": "ephemeral"}
    return {"type": "ephemeral", "ttl": _LONG} if all(mark.get("ttl") == _LONG for mark in before) else None


def _marks(value: Any) -> Iterator[Mapping[str, Any]]:
    """The marks inside a value, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            mark = one.get("cache_control")
            if isinstance(mark, dict):
                yield mark
            waiting.extend(reversed([inner for name, inner in one.items() if name in ("content", "source", "function")]))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
