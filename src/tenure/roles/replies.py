"""The JSON in a model's reply, whatever stands around it; and nothing at all from a reply that was cut.

Models wrap what they were asked for: in prose, in code fences, behind drafts in `<think>` blocks,
with trailing commas, raw line breaks in texts, Python's quotes and names. All of that is read. What
is not done is guessing: a reply that ends too early, or a value with an error inside, yields nothing,
since half of a lesson is another lesson. Such a reply is kept verbatim on `MalformedReply`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any

from tenure.errors import MalformedReply
from tenure.ports import Reply

MOST_NESTED = 100
"""Brackets inside brackets that are followed; deeper ones are an error in the reply."""

LONGEST_REPLY = 1_000_000
"""Characters of a reply that is read. Answers have a few thousand; what is longer is a model that does not stop."""

_FINISHES = {
    "length": "it was cut off at the token limit",
    "max_tokens": "it was cut off at the token limit",
    "refused": "the model or its provider refused to answer",
    "content_filter": "the model or its provider refused to answer",
    "error": "the provider broke it off with an error",
}

_EVENT = re.compile(r"[{\[]|<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_BLANK = re.compile(r"(?:[\s\ufeff\u200b]|//[^\n]*)*")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"[-+]?[A-Za-z]+")
_NAMES: dict[str, bool | None] = {"true": True, "false": False, "null": None, "none": None, "nan": None, "infinity": None, "inf": None}
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "\n"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class _Cut(Exception):
    """The text ends inside the value."""


class _Broken(Exception):
    """The value has an error at `place`."""

    def __init__(self, place: int) -> None:
        self.place = place


def read_json(reply: Reply, *, expects: Collection[str] = (), lists: bool = False) -> Any:
    """The value that a reply answers with: the last one in it that has an expected key.

    Args:
        reply: as the model gave it. Its finish reason is looked at first.
        expects: keys of which an object must have at least one; none takes any object.
        lists: whether a list of objects will do where no such object is found.

    Returns:
        A dict, or a list of dicts; numbers that JSON does not have (NaN, infinities) are none, and
        half characters (lone surrogates) are U+FFFD.

    Raises:
        MalformedReply: the reply was cut or refused, has an error inside a value, or holds no such
            value. It carries the reply verbatim.
    """
    if reply.finish_reason in _FINISHES:
        raise MalformedReply(_FINISHES[reply.finish_reason], reply=reply.text)
    if not reply.text.strip("\ufeff \t\r\n"):
        raise MalformedReply("it is empty", reply=reply.text)
    if len(reply.text) > LONGEST_REPLY:
        raise MalformedReply(f"it has {len(reply.text):,} characters, more than the {LONGEST_REPLY:,} that are read", reply=reply.text)
    values = _values(reply.text)
    for value in reversed(values):
        if isinstance(value, dict) and (not expects or any(key in value for key in expects)):
            return value
    if lists:
        for value in reversed(values):
            if isinstance(value, list) and all(isinstance(one, dict) for one in value):
                return value
    wanted = " or ".join(f"'{key}'" for key in expects)
    raise MalformedReply(f"it holds no JSON object{f' with {wanted}' if wanted else ''}", reply=reply.text)


def _values(text: str) -> list[Any]:
    """Every complete object and list outside thoughts, in order; an empty list if a thought ended without its beginning.

    Raises:
        MalformedReply: the text ends inside a value or a thought, or a value has an error.
    """
    found: list[Any] = []
    place, reader = 0, _Reader(text)
    while event := _EVENT.search(text, place):
        start = event.start()
        if text[start] != "<":
            value, place = _value_at(reader, start)
            if value is not None:
                found.append(value)
        elif event[1]:
            found.clear()  # some servers swallow the opening tag: all before this was a thought
            place = event.end()
        else:
            end = _THOUGHT_ENDS.search(text, event.end())
            if end is None:
                raise MalformedReply("it ends inside its thinking", reply=text)
            place = end.end()
    return found


def _value_at(reader: _Reader, start: int) -> tuple[Any, int]:
    """The value that a bracket begins, and the place after it; no value if the bracket belongs to prose."""
    text = reader.text
    try:
        return reader.read(start, 0)
    except _Cut:
        raise MalformedReply(f"it ends inside the JSON that begins at character {start}", reply=text) from None
    except _Broken as exc:
        seen = text[start + 1 : exc.place]
        if "{" in seen or "[" in seen or (text[start] == "{" and ":" in seen):
            # Looking for a value further inside would take a part for the whole, or a quoted text for an answer.
            reason = f"the JSON that begins at character {start} has an error at character {exc.place}"
            raise MalformedReply(reason, reply=text) from None
        return None, max(exc.place, start + 1)


class _Reader:
    """Reads one value. Each method takes the place to begin at and gives the place after what it read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._last_end = text.rfind("*/")  # looked up once: comments that never end must not each be searched for their end

    def read(self, place: int, depth: int) -> tuple[Any, int]:
        char = self._char(place)
        if char in "{[":
            if depth >= MOST_NESTED:
                raise _Broken(place)
            return self._object(place + 1, depth) if char == "{" else self._list(place + 1, depth)
        if char in "\"'":
            return self._string(place)
        if name := _NAME.match(self.text, place):
            return self._name(place, name[0])
        if number := _NUMBER.match(self.text, place):
            return self._number(place, number[0])
        raise _Broken(place)

    def _object(self, place: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        place = self._blank(place)
        while self._char(place) != "}":
            if self._char(place) not in "\"'":
                raise _Broken(place)
            key, place = self._string(place)
            place = self._blank(place)
            if self._char(place) != ":":
                raise _Broken(place)
            found[key], place = self.read(self._blank(place + 1), depth + 1)
            place = self._separator(place, "}")
        return found, place + 1

    def _list(self, place: int, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        place = self._blank(place)
        while self._char(place) != "]":
            value, place = self.read(place, depth + 1)
            found.append(value)
            place = self._separator(place, "]")
        return found, place + 1

    def _separator(self, place: int, closing: str) -> int:
        """Past a comma (a trailing one is let pass), or at the closing bracket."""
        place = self._blank(place)
        char = self._char(place)
        if char == ",":
            return self._blank(place + 1)
        if char != closing:
            raise _Broken(place)
        return place

    def _string(self, place: int) -> tuple[str, int]:
        quote = self.text[place]
        parts: list[str] = []
        place += 1
        while True:
            plain = _PLAIN[quote].match(self.text, place)
            assert plain is not None  # it matches the empty text
            parts.append(plain[0])
            place = plain.end()
            if self._char(place) == quote:
                return _whole("".join(parts)), place + 1
            part, place = self._escape(place + 1)
            parts.append(part)

    def _escape(self, place: int) -> tuple[str, int]:
        char = self._char(place)
        if char == "u":
            digits = self.text[place + 1 : place + 5]
            if re.fullmatch("[0-9a-fA-F]{4}", digits):
                return chr(int(digits, 16)), place + 5
        if char in "\"'\\/":
            return char, place + 1
        # An escape that JSON does not have is a backslash that nobody doubled: \d in a pattern, \( in a formula.
        return _ESCAPES.get(char, "\\" + char), place + 1

    def _name(self, place: int, name: str) -> tuple[bool | None, int]:
        plain = name.lstrip("-+").lower()
        if plain in _NAMES:
            return _NAMES[plain], place + len(name)
        if place + len(name) == len(self.text):
            raise _Cut
        raise _Broken(place)

    def _number(self, place: int, written: str) -> tuple[int | float | None, int]:
        if re.fullmatch(r"[-+]?\d+", written):
            if len(written) > 4000:  # beyond what int() reads; no count is that long
                raise _Broken(place)
            return int(written), place + len(written)
        value = float(written)
        return value if math.isfinite(value) else None, place + len(written)

    def _blank(self, place: int) -> int:
        while True:
            found = _BLANK.match(self.text, place)
            place = found.end() if found else place
            if not self.text.startswith("/*", place) or self._last_end < place + 2:
                return place
            place = self.text.index("*/", place + 2) + 2

    def _char(self, place: int) -> str:
        if place >= len(self.text):
            raise _Cut
        return self.text[place]


def _whole(text: str) -> str:
    """A text whose surrogate pairs are characters and whose halves are U+FFFD."""
    if not _LONE_SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
