"""How JSON of unknown making is decoded: what a record is, its limits, and what is mended on the way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from tenure.traces.report import Unit

DEPTH_LIMIT = 100
"""Most lists and objects inside one another in a record."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")

# Not strict: raw tabs and line ends inside strings are wrong JSON but easy to read.
# NaN and Infinity are no JSON and could not be stored; their names can.
DECODER = json.JSONDecoder(strict=False, parse_constant=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is held at once, in bytes.

    Attributes:
        chunk: read in one go.
        long_line: lines up to this length are parsed as they stand; in longer ones long strings are cut first.
        string_kept: kept of each string in a long line; more than any reader keeps of a text.
        record: the largest record that is parsed; in long lines, after cutting.
        whole: the same where strings must stay whole (Tenure's own runs).
    """

    chunk: int = 1 << 20
    long_line: int = 4 << 20
    string_kept: int = 512 << 10
    record: int = 32 << 20
    whole: int = 512 << 20


DEFAULT_LIMITS = Limits()


class Record(NamedTuple):
    """One JSON value and its place.

    Attributes:
        number: line or element, from 1.
        value: an object, or a list where lists were asked for.
        unit: what `number` counts.
    """

    number: int
    value: Any
    unit: Unit


def nested_too_deeply(value: Any) -> bool:
    """Whether a JSON value has more than `DEPTH_LIMIT` lists and objects inside one another.

    No log needs so many, and code that walks deeper ones could run out of stack.
    """
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def may_hold_surrogates(text: str, start: int, end: int) -> bool:
    """Whether a part of a JSON text has escapes that could decode to lone surrogates."""
    return text.find("\\ud", start, end) >= 0 or text.find("\\uD", start, end) >= 0


def without_lone_surrogates(value: Any) -> Any:
    """The same JSON value with every lone surrogate, which no encoding can write, replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_lone_surrogates(key): without_lone_surrogates(item) for key, item in value.items()}
    return value


def reason_of(error: Exception, start: int = 0) -> str:
    """Why JSON could not be read, without any of its text.

    Args:
        error: what the decoder raised.
        start: where the record begins in what the decoder was given.
    """
    if isinstance(error, json.JSONDecodeError):
        what = error.msg.lower().removesuffix(" at")
        return f"not valid JSON ({what} at character {error.pos - start + 1})"
    if isinstance(error, RecursionError):
        return "JSON nested too deeply"
    return "JSON with a number too long to read"
