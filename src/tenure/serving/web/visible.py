"""Texts of runs and lessons as pages show them: as text, whatever they try to be, with every hidden character in sight."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from tenure.governance.hidden_text import hidden_places

MOST_WORDS = 2_000
"""Longer texts are shown as one gone and one new: comparing them word by word would take seconds."""

_WORD = re.compile(r"\s+|[^\s]+")
_UNSEEN = ("Cc", "Co", "Cs", "Zl", "Zp")


def shown(text: object) -> Markup:
    """A text in a box of its own direction; a hidden character stands as its number, such as U+202E."""
    return Markup("<bdi>{}</bdi>").format(with_marks(str(text)))


def with_marks(text: str) -> Markup:
    """A text, escaped, with a mark for each hidden character."""
    plain = text.replace("\r\n", "\n")
    parts: list[Markup] = []
    start = 0
    for place in _hidden(plain):
        parts += [escape(plain[start:place]), Markup('<span class="hidden-mark">U+{:04X}</span>').format(ord(plain[place]))]
        start = place + 1
    return Markup("").join([*parts, escape(plain[start:])])


def without_hidden(text: str) -> str:
    """A text to be edited: without its hidden characters, which nobody could see to keep or take out."""
    hidden = set(_hidden(text))
    return "".join(character for place, character in enumerate(text) if place not in hidden) if hidden else text


def holds_hidden(text: str) -> bool:
    """Whether a text has hidden characters."""
    return bool(_hidden(text))


def _hidden(text: str) -> list[int]:
    """Where characters stand that nobody sees: of control and direction, without width; not what a script or an emoji needs."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return []
    unseen = (place for place, c in enumerate(text) if c not in "\n\t" and unicodedata.category(c) in _UNSEEN)
    return sorted({*unseen, *hidden_places(text)})


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


def _joined(old: list[str], new_words: list[str]) -> Iterator[Piece]:
    gone = new = ""
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new_words, autojunk=False).get_opcodes():
        same = "".join(old[a:b])
        if kind == "equal" and (same.strip() or not (gone or new)):
            yield from _turned(gone, new)
            gone = new = ""
            yield Piece("same", same)
        elif kind == "equal":  # a space between two changes belongs to both: a reader sees one
            gone, new = gone + same, new + same
        else:
            gone, new = gone + same, new + "".join(new_words[c:d])
    yield from _turned(gone, new)


def _turned(gone: str, new: str) -> Iterator[Piece]:
    shared = len(new) - len(new.rstrip()) if gone.endswith(new[len(new.rstrip()) :]) else 0
    tail = new[len(new) - shared :] if shared and gone else ""
    parts = ("gone", gone.removesuffix(tail)), ("new", new.removesuffix(tail)), ("same", tail)
    yield from (Piece(kind, text) for kind, text in parts if text)
