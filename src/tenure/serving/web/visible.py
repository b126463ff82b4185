"""Texts of runs and lessons as pages show them: as text, whatever they try to be, with every hidden character in sight."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

MOST_WORDS = 2_000
"""Longer texts are shown as one gone and one new: comparing them word by word would take seconds."""

_WORD = re.compile(r"\s+|[^\s]+")
_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def is_hidden(character: str) -> bool:
    """Whether a character is one that nobody sees: of control, direction, without width. Tabs and line ends are none."""
    return character not in "\n\t" and unicodedata.category(character) in _HIDDEN


def shown(text: object) -> Markup:
    """A text in a box of its own direction; a hidden character stands as its number, such as U+202E."""
    return Markup("<bdi>{}</bdi>").format(with_marks(str(text)))


def with_marks(text: str) -> Markup:
    """A text, escaped, with a mark for each hidden character."""
    plain = text.replace("\r\n", "\n")
    if plain.isascii() and plain.replace("\n", "").replace("\t", "").isprintable():
        return escape(plain)
    parts: list[Markup] = []
    start = 0
    for place, character in enumerate(plain):
        if is_hidden(character):
            parts += [escape(plain[start:place]), Markup('<span class="hidden-mark">U+{:04X}</span>').format(ord(character))]
            start = place + 1
    return Markup("").join([*parts, escape(plain[start:])])


def shortened(text: object, most: int = 160) -> Markup:
    """A text on one line, cut to `most` characters with a mark."""
    line = " ".join(str(text).split())
    return shown(line if len(line) <= most else f"{line[: most - 1].rstrip()}…")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that was compared with another.

    Attributes:
        kind: `same`, `gone` or `new`.
        text: it.
    """

    kind: str
    text: str


def compared(before: str, after: str) -> tuple[Piece, ...]:
    """How a text became another, word by word; what stays, goes and comes in the order of reading."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if not before or not after or max(len(old), len(new)) > MOST_WORDS:
        return tuple(Piece(kind, text) for kind, text in (("gone", before), ("new", after)) if text)
    return tuple(_joined(old, new))


def _joined(old: list[str], new: list[str]) -> Iterator[Piece]:
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield Piece("same", "".join(old[a:b]))
            continue
        if b > a:
            yield Piece("gone", "".join(old[a:b]))
        if d > c:
            yield Piece("new", "".join(new[c:d]))
