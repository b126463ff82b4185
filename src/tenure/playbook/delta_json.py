"""A delta as plain JSON values, for ledgers and the files in which they are shared, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any

from tenure.playbook.delta import Decision, Delta
from tenure.playbook.operations_json import operation_from_json, operation_to_json
from tenure.playbook.wellformed import operation_problem


def storable(text: str) -> str:
    """A text with lone surrogates replaced by U+FFFD; the very same one if it has none."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def plain(value: Any) -> dict[str, Any]:
    """A flat dataclass as a dict without its defaults; nested values are left to the caller."""
    out: dict[str, Any] = {}
    for name, default in _defaults(value.__class__):
        held = getattr(value, name)
        if held is not default and (held != default or type(held) is not type(default)):
            out[name] = held
    return out


@lru_cache(maxsize=64)
def _defaults(kind: type) -> tuple[tuple[str, object], ...]:
    """The names of a dataclass's fields, each with its default; `MISSING` for none."""
    return tuple((one.name, one.default_factory() if one.default_factory is not MISSING else one.default) for one in fields(kind))


def delta_to_json(delta: Delta) -> dict[str, Any]:
    """A delta as plain JSON values."""
    return {
        "id": delta.id,
        "key": delta.key,
        "scope": delta.scope,
        "author": delta.author,
        "cause": delta.cause,
        "at": delta.time,
        "note": delta.note,
        "operations": [operation_to_json(op) for op in delta.operations],
        # Left out where there are none, so that what was chained before there were any reads as it did.
        **({"decisions": [plain(one) for one in delta.decisions]} if delta.decisions else {}),
    }


def storable_delta(delta: Delta) -> dict[str, Any]:
    """A delta as JSON values that a file can hold; operations that cannot be read back, which `apply` skips, are left out."""
    held = delta_to_json(delta)
    # What is well formed can be read back; only the rest has to be tried.
    pairs = zip(delta.operations, held["operations"], strict=True)
    kept = [operation for op, operation in pairs if not operation_problem(op) or _writable(operation)]
    names = {name: storable(value) if isinstance(value, str) else value for name, value in held.items() if name != "operations"}
    return {**names, "operations": kept}


def _writable(operation: Mapping[str, Any]) -> bool:
    text = json.dumps(operation, ensure_ascii=False, default=str)
    return storable(text) is text and not isinstance(operation_from_json(operation), str)


def delta_from_json(held: Mapping[str, Any]) -> Delta:
    """The delta that `delta_to_json` gave.

    Raises:
        ValueError: an operation in it cannot be read.
    """
    operations = []
    for entry in held["operations"]:
        op = operation_from_json(entry)
        if isinstance(op, str):
            raise ValueError(f"delta {held['id']}: {op}")
        operations.append(op)
    return Delta(
        held["id"],
        tuple(operations),
        key=held["key"],
        scope=held["scope"],
        author=held["author"],
        cause=held["cause"],
        at=held["at"] or None,
        note=held["note"],
        decisions=tuple(Decision(**one) for one in held.get("decisions", ())),
    )
