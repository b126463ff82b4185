"""Pages of a list. A cursor is opaque to callers: where a page ended, and of which list."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from tenure.serving.service.problems import Problem
from tenure.traces.decoding import without_lone_surrogates

MOST = 200
USUAL = 50

Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
After = Annotated[str, Query(max_length=2_000, description="`next` of the page before; empty for the first.")]

T = TypeVar("T")


_NUMBER = re.compile(r"[0-9]{1,18}")


def read_cursor(cursor: str, *of: str, counts: bool = False) -> str:
    """Where the page before ended; empty for the first page.

    Args:
        cursor: as the caller sent it.
        of: what names the list: route, scope, filters.
        counts: whether pages of the list end at a number.

    Raises:
        Problem: 422, it is none, or another list's.
    """
    if not cursor:
        return ""
    try:
        read = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        read = None
    sound = isinstance(read, list) and len(read) == 2 and read[0] == _list_name(of) and isinstance(read[1], str) and read[1]
    if (
        not isinstance(read, list)
        or not sound
        or (counts and not _NUMBER.fullmatch(read[1]))
        or without_lone_surrogates(read[1]) != read[1]
    ):
        raise Problem(
            422, "cursor", "The cursor is none of this list. Take `next` of the page before, and leave the other parameters alone."
        )
    return str(read[1])


def page(
    items: Sequence[T], *of: str, after: str, limit: int, name: Callable[[T], str], told: Callable[[T], Any], more: bool | None = None
) -> dict[str, Any]:
    """A page of a list as JSON: `items`, and `next`, the cursor of the next page or null.

    Args:
        items: the whole list in its order; with `more` only this page.
        of: what names the list.
        after: name of the item before the page; empty for the first. If it is gone, the next is unknown: the caller begins anew.
        limit: how many at most.
        name: of an item, unique in the list.
        told: an item as JSON.
        more: whether there are further ones, where `items` is only this page.

    Raises:
        Problem: 422, the item that the cursor names is gone.
    """
    if more is None:
        start = 0
        if after:
            place = next((place for place, item in enumerate(items) if name(item) == after), None)
            if place is None:
                raise Problem(422, "cursor", "What the cursor named is gone. Begin again without it.")
            start = place + 1
        shown, more = items[start : start + limit], len(items) > start + limit
    else:
        shown = items[:limit]
    return {"items": [told(item) for item in shown], "next": cursor_to(name(shown[-1]), *of) if more and shown else None}


def cursor_to(after: str, *of: str) -> str:
    """The cursor of a list after an item."""
    return base64.urlsafe_b64encode(json.dumps([_list_name(of), after]).encode("utf-8")).decode("ascii").rstrip("=")


def _list_name(of: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(of).encode("utf-8", "surrogatepass")).hexdigest()[:12]
