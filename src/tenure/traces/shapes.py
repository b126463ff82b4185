"""Reading untyped JSON without trusting its shape: what is not there, or not right, reads as empty."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tenure.traces.decoding import nested_too_deeply
from tenure.traces.report import ReadReport

NESTED = "[nested too deeply; kept as JSON]"
"""Stands before a text that was a value nested too deeply."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MILLISECONDS_FROM = 1e11
"""Numbers above this are milliseconds since 1970, below it seconds (in seconds it is the year 5138)."""

_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", ""})
_MEDIA_BLOCKS: Mapping[str, str] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "document": "document",
    "file": "document",
    "input_file": "document",
    "audio": "audio",
    "input_audio": "audio",
}


def text_at(record: Mapping[str, Any], *keys: str) -> str:
    """The first of the fields that is a text and not empty; numbers count as their text."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def map_at(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The field if it is an object, else an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def list_at(record: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The field if it is a list, else an empty one."""
    value = record.get(key)
    return value if isinstance(value, list) else ()


def number_of(value: object) -> float | None:
    """A finite number from a number, a truth value or a text that is one; else none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 else None  # inf and nan fail this


def moment(value: object) -> str:
    """A time as ISO 8601 with offset: texts as they are, a missing offset read as UTC, numbers as seconds or milliseconds since 1970.

    Empty if it is no time.
    """
    if isinstance(value, str):
        if not _DATE.match(value):
            number = number_of(value)
            return moment(number) if number is not None else ""
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return ""
        return value if at.tzinfo else at.replace(tzinfo=UTC).isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS_FROM else value, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return ""
    return ""


def digest(*parts: object) -> str:
    """Short digest of JSON values (20 hex characters, 80 bits), the same however they were laid out in the file."""
    form = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def text_of(content: object, report: ReadReport) -> str:
    """The text of a message or result, whatever shape its content has.

    Lists of blocks give the text of their text blocks, a line each; images, audio and documents
    are left out and counted. Other JSON values give their JSON text, and so do those that are nested too deeply, with a mark.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list | dict) and nested_too_deeply(content):
        return flat_text(content, report)
    if isinstance(content, list):
        return "\n".join(piece for block in content if (piece := _block_text(block, report)))
    if isinstance(content, dict) and isinstance(content.get("type"), str) and (content["type"] in _MEDIA_BLOCKS or "text" in content):
        return _block_text(content, report)
    return json.dumps(content, ensure_ascii=False)


def flat_text(value: object, report: ReadReport) -> str:
    """A JSON value that is nested too deeply to be walked, as its JSON text behind a mark that says so."""
    report.repaired("what was nested too deeply kept as a text")
    try:
        return f"{NESTED} {json.dumps(value, ensure_ascii=False)}"
    except RecursionError:
        return NESTED


def _block_text(block: object, report: ReadReport) -> str:
    if not isinstance(block, dict):
        return text_of(block, report)
    kind = block.get("type", "")
    if isinstance(kind, str):
        if kind in _TEXT_BLOCKS:
            text = block.get("text", block.get("refusal"))
            return text if isinstance(text, str) else json.dumps(block, ensure_ascii=False)
        if kind in _MEDIA_BLOCKS:
            report.repaired(f"{_MEDIA_BLOCKS[kind]} left out")
            return ""
        if isinstance(block.get("text"), str):
            return str(block["text"])
    return json.dumps(block, ensure_ascii=False)
