"""A subject that is to be forgotten, such as a person's name: where a text names it, and the text without it.

Matching is meant to find too much rather than too little: any part of a text counts, whatever the case, the
accents, the form of its characters and the blanks between words. A number that people write with blanks, dots
or hyphens is found however it is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

FORGOTTEN = "[forgotten]"
"""What stands where a forgotten text was."""

LEAST = 3
"""Fewest characters of a subject: fewer stand in nearly every text."""

_SEPARATORS = re.compile(r"[\s()./\-]+")
_BETWEEN_DIGITS = r"[ ()./\-]*"
_LEAST_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked for.

    Args:
        named: as the person wrote it; `LEAST` characters at least that are no blanks.

    Raises:
        ValueError: it is shorter.
    """

    named: str
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = fold(self.named)
        if len(plain.replace(" ", "")) < LEAST:
            raise ValueError(f"'{self.named}' is too short to look for: it takes {LEAST} characters or more")
        digits = _SEPARATORS.sub("", plain).removeprefix("+")
        is_number = digits.isdecimal() and len(digits) >= _LEAST_DIGITS
        pattern = r"\+?" + _BETWEEN_DIGITS.join(digits) if is_number else re.escape(plain)
        object.__setattr__(self, "_pattern", re.compile(pattern))

    def stands_in(self, text: str) -> bool:
        """Whether a text names it."""
        return self._pattern.search(fold(text)) is not None

    def taken_out(self, text: str) -> str:
        """The text with `FORGOTTEN` in each place that names it; the very same one if none does."""
        if not self.stands_in(text):
            return text
        composed = unicodedata.normalize("NFC", text)
        plain: list[str] = []
        places: list[int] = []
        for place, character in enumerate(composed):
            for piece in _fold_characters(character) if not character.isspace() else " ":
                if piece != " " or not plain or plain[-1] != " ":
                    plain.append(piece)
                    places.append(place)
        out: list[str] = []
        after = 0
        for match in self._pattern.finditer("".join(plain)):
            out += [composed[after : places[match.start()]], FORGOTTEN]
            after = places[match.end() - 1] + 1
        return "".join([*out, composed[after:]])


def fold(text: str) -> str:
    """A text for comparing: no case, no accents, no invisible characters, one blank for any run of white space."""
    plain = text.lower() if text.isascii() else _fold_characters(text)
    return " ".join(plain.split())


def _fold_characters(text: str) -> str:
    # Twice: what casefold makes of some letters can be taken apart once more.
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f" and unicodedata.category(c) != "Cf")


def through_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value of parsed JSON with every text in it changed, names of fields too; a number that reads like a changed text becomes it."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(name)): through_texts(held, change) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [through_texts(held, change) for held in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        said = str(value)
        changed = change(said)
        return value if changed == said else changed
    return value
