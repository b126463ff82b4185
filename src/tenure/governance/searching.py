"""How rules look through a text: by places of literal anchors, in an image of it that is quick to search."""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int, str]
"""Start, end and kind of a place in a text that has to go."""

NOT_ASCII = "\x7f"
"""What stands for a letter outside ASCII in an `ascii_image`."""


def ascii_image(text: str) -> str:
    """A text of the same length to look for anchors in.

    Each character outside ASCII is `NOT_ASCII`, which makes looking some ten times as fast, because one such
    character makes Python keep the whole text in wider units. The letter of an escaped line end or tab
    (`\\n` in JSON inside JSON) is a blank, so that it does not stick to the name or number behind it.
    """
    image = text
    if not text.isascii():  # the coder writes `?` for what it cannot code
        image = text.replace("?", "\x1a").encode("ascii", "replace").decode("ascii").replace("?", NOT_ASCII).replace("\x1a", "?")
    if "\\" in image:
        image = image.replace("\\n", "\\ ").replace("\\r", "\\ ").replace("\\t", "\\ ")
    return image


_ESCAPED_END = re.compile(r"(?<!\\)\\[nr]")


def with_line_ends(text: str) -> str:
    """A text of the same length in which line ends that are escaped, as in JSON, are line ends: `a\\nb` is read as two lines."""
    return _ESCAPED_END.sub(" \n", text) if "\\" in text else text


def find_foreign(pattern: re.Pattern[str], text: str, image: str) -> Iterator[re.Match[str]]:
    """Matches of a pattern that starts at, or at most three places before, a character outside ASCII.

    Args:
        pattern: matches are at most 15 characters long.
        text: any text.
        image: its `ascii_image`, in any case of letters.
    """
    if image.count(NOT_ASCII) * 20 > len(image):
        yield from pattern.finditer(text)
        return
    place = image.find(NOT_ASCII)
    seen = 0
    while place >= 0:  # in text that is mostly ASCII, ten times as fast as searching all of it
        found = pattern.search(text, max(seen, place - 3), min(len(text), place + 16))
        if found is not None:
            seen = found.end()
            yield found
        place = image.find(NOT_ASCII, max(place + 1, seen))


def places(text: str, anchor: str) -> Iterator[int]:
    """Where an anchor stands in a text, from the start, without overlaps."""
    place = text.find(anchor)
    while place >= 0:
        yield place
        place = text.find(anchor, place + len(anchor))
