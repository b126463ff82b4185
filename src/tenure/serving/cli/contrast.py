"""Texts that are alike, cut to where they differ, for a person who has to see it at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from tenure.serving.cli.output import one_line

AROUND = 5
"""Words shown on each side of what differs."""

MOST_WORDS = 400
"""Longer texts are compared up to here: beyond, nobody reads them in a table."""

Piece = tuple[str, str]


def contrasted(text: str, other: str, *, style: str = "bold", most: int = 320) -> list[Piece]:
    """A text with what it has and another does not in a style, and what they share cut to the words around.

    Args:
        text: the one to show.
        other: what it is held against.
        style: of what differs.
        most: characters shown; what is beyond is cut with a mark.
    """
    mine, theirs = one_line(text).split(" ")[:MOST_WORDS], one_line(other).split(" ")[:MOST_WORDS]
    pieces: list[Piece] = []
    for kind, start, end, _, _ in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        run = mine[start:end]
        if not run:
            continue
        if kind == "equal":
            run = _around(run, first=start == 0, last=end == len(mine))
        pieces.append((" ".join(run), "" if kind == "equal" else style))
    return _cut(pieces, most)


def _around(words: Sequence[str], *, first: bool, last: bool) -> list[str]:
    """Of a stretch that is the same in both texts, the words next to what differs; the first few of a text always."""
    if len(words) <= 2 * AROUND + 1:
        return list(words)
    if first and last:
        return list(words)
    begin = list(words[:AROUND])
    return [*begin, "…"] if last else [*begin, "…", *words[-AROUND:]]


def _cut(pieces: Sequence[Piece], most: int) -> list[Piece]:
    room, found = most, list[Piece]()
    for text, style in pieces:
        said = f" {text}" if found else text
        if len(said) > room:
            return [*found, (f"{' ' if found else ''}{one_line(said[:room])}…", style)]
        found.append((said, style))
        room -= len(said)
    return found
