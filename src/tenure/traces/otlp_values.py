"""Values of OTLP/JSON: typed attributes, names with dots, JSON inside texts, times in nanoseconds.

What is not there, or not right, reads as empty. Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tenure.traces.decoding import DECODER, may_hold_surrogates, nested_too_deeply, without_lone_surrogates
from tenure.traces.report import ReadReport
from tenure.traces.shapes import moment

_ID = re.compile(r"(?:0x)?([0-9a-fA-F]{16}|[0-9a-fA-F]{32})")
_ID_LENGTH = 64
_SECONDS_FROM = 1_000_000_000_000
"""Numbers below this are no nanoseconds: it would be the first quarter of an hour of 1970."""

_LATEST = 253_402_300_799_999_999  # the last microsecond of the year 9999


def attributes_of(listed: object, report: ReadReport) -> dict[str, Any]:
    """Attributes by name: from a list of `{key, value}` with typed values, or from an object with plain ones.

    Of a name that is there twice the last counts.
    """
    if isinstance(listed, dict):
        return {str(name): _value(value, report) for name, value in listed.items()}
    found: dict[str, Any] = {}
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            found[item["key"]] = _value(item.get("value"), report)
    return found


def nested(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The attributes whose names begin with a prefix, as the objects that their dots stand for.

    `m.0.role` and `m.1.role` with the prefix `m` become `{"0": {"role": ...}, "1": {"role": ...}}`. A value that stands where others hang
    is kept under the empty name.
    """
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(prefix) or name[len(prefix) : len(prefix) + 1] != ".":
            continue
        place = found
        *path, last = name[len(prefix) + 1 :].split(".")[:20]
        for part in path:
            inner = place.get(part)
            if not isinstance(inner, dict):
                inner = {} if inner is None else {"": inner}
                place[part] = inner
            place = inner
        if isinstance(place.get(last), dict):
            place[last][""] = value
        else:
            place[last] = value
    return found


def in_order(numbered: object) -> Iterator[Any]:
    """The elements of what `nested` made of numbered names, by their numbers; of a list, its elements."""
    if isinstance(numbered, list):
        yield from numbered
    elif isinstance(numbered, dict):
        digits = [name for name in numbered if name.isascii() and name.isdigit()]
        for name in sorted(digits, key=lambda name: (len(name.lstrip("0")), name.lstrip("0"))):
            yield numbered[name]


def unpacked(value: object) -> Any:
    """The JSON value that a text holds, if it is an object or a list; else the value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        found = DECODER.decode(value)
    except (ValueError, RecursionError):
        return value
    if nested_too_deeply(found):
        return value
    return without_lone_surrogates(found) if may_hold_surrogates(value, 0, len(value)) else found


def span_id(value: object) -> str:
    """The id of a trace or a span: hexadecimal in lower case, also where it was written as base64. Empty if there is none."""
    if not isinstance(value, str) or not value:
        return ""
    if plain := _ID.fullmatch(value):
        found = plain.group(1).lower()
        return found if found.strip("0") else ""
    if len(value) in (12, 24) and value.endswith("="):
        try:
            return base64.b64decode(value, validate=True).hex()
        except (binascii.Error, ValueError):
            return value
    return value[:_ID_LENGTH]


def nanoseconds(value: object) -> int:
    """A time in nanoseconds since 1970, from a number, its text, or an ISO 8601 text; 0 if it is none."""
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) <= 20:
            value = int(value)
        elif at := moment(value):
            return int(datetime.fromisoformat(at).timestamp() * 1_000_000) * 1_000
    if isinstance(value, int | float) and not isinstance(value, bool) and _SECONDS_FROM < value < _LATEST * 1_000:
        return int(value)
    return 0


def iso(time: int) -> str:
    """Nanoseconds since 1970 as ISO 8601 in UTC, to the microsecond; empty for 0."""
    if not time:
        return ""
    seconds, rest = divmod(time // 1_000, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest).isoformat()


def _value(value: object, report: ReadReport) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((name, inner),) = value.items()
    read = _TYPED.get(name)
    return read(inner, report) if read is not None else value


def _whole(value: object, _: ReadReport) -> Any:
    if isinstance(value, str) and len(value) <= 20 and value.lstrip("-").isdigit() and value.isascii():
        try:
            return int(value)
        except ValueError:  # such as --1
            return value
    return value


def _fraction(value: object, _: ReadReport) -> Any:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _plain(value: object, _: ReadReport) -> Any:
    return value


def _items(value: object, report: ReadReport) -> Any:
    held: Sequence[Any] = value["values"] if isinstance(value, dict) and isinstance(value.get("values"), list) else ()
    return [_value(item, report) for item in held]


def _pairs(value: object, report: ReadReport) -> Any:
    return attributes_of(value.get("values"), report) if isinstance(value, dict) else {}


def _bytes(value: object, report: ReadReport) -> Any:
    try:
        return base64.b64decode(value, validate=True).decode() if isinstance(value, str) else ""
    except ValueError:  # also bytes that are no text
        report.repaired("bytes that are no text left out")
        return ""


_TYPED: Mapping[str, Callable[[object, ReadReport], Any]] = {
    "stringValue": _plain,
    "boolValue": _plain,
    "intValue": _whole,
    "doubleValue": _fraction,
    "arrayValue": _items,
    "kvlistValue": _pairs,
    "bytesValue": _bytes,
    "string_value": _plain,
    "bool_value": _plain,
    "int_value": _whole,
    "double_value": _fraction,
    "array_value": _items,
    "kvlist_value": _pairs,
    "bytes_value": _bytes,
}
