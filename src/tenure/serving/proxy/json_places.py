"""Where things stand in a JSON text, so that something can be put between them and every other byte stays as it was.

The text is known to be JSON: these functions find places and check nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]')
_SCALAR = re.compile(r"[^,\]}\s]+")


class Member(NamedTuple):
    """A member of an object: its name, and where its value begins and ends."""

    name: str
    start: int
    end: int


class Insertion(NamedTuple):
    """A text to be put in at a place."""

    place: int
    text: str


def members(text: str, start: int) -> Iterator[Member]:
    """The members of the object that begins at a place, in their order; a name that comes twice is given twice."""
    place = _after_space(text, start + 1)
    while text[place] != "}":
        ended = _end_of(text, place)
        name = str(json.loads(text[place:ended]))
        place = _after_space(text, _after_space(text, ended) + 1)
        ended = _end_of(text, place)
        yield Member(name, place, ended)
        place = _after_space(text, ended)
        if text[place] == ",":
            place = _after_space(text, place + 1)


def elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the elements of the list that begins at a place begin and end, in their order."""
    place = _after_space(text, start + 1)
    while text[place] != "]":
        ended = _end_of(text, place)
        yield place, ended
        place = _after_space(text, ended)
        if text[place] == ",":
            place = _after_space(text, place + 1)


def root(text: str) -> int:
    """Where the value of a whole text begins."""
    return _after_space(text, 0)


def put_in(text: str, insertions: Sequence[Insertion]) -> str:
    """The text with all insertions; those of one place in the order in which they are given."""
    pieces: list[str] = []
    place = 0
    for insertion in sorted(insertions, key=lambda one: one.place):
        pieces += (text[place : insertion.place], insertion.text)
        place = insertion.place
    return "".join((*pieces, text[place:]))


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _end_of(text: str, place: int) -> int:
    """Where the value that begins at a place ends."""
    opening = text[place]
    if opening == '"':
        string = _STRING.match(text, place)
        assert string is not None, "the text is JSON"
        return string.end()
    if opening not in "{[":
        scalar = _SCALAR.match(text, place)
        assert scalar is not None, "the text is JSON"
        return scalar.end()
    depth = 0
    for found in _STRUCTURE.finditer(text, place):
        mark = found.group()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return found.end()
    raise AssertionError("the text is JSON")
