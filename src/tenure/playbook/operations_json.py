"""Operations as JSON objects: how files, replies and logs spell them.

The exact names of the operations' own fields are always understood; beside them stand the names
that ACE playbooks and other systems use. Types are checked here and values by `apply`: what comes
out of `operation_from_json` is well-typed, and what is wrong with its values is a receipt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from typing import Any

from tenure.playbook.delta import OPERATION_NAMES, OPERATIONS, Add, Merge, Observe, Operation, Pin, Restore, Retire, Revoke, Tally, Update
from tenure.playbook.lessons import TALLY_NAMES, Evidence

_NAME_ALIASES: Mapping[str, str] = {"DELETE": "RETIRE", "REMOVE": "RETIRE"}

_FIELD_ALIASES: Mapping[str, tuple[str, ...]] = {
    "text": ("content",),
    "id": ("bullet_id", "lesson_id", "skill_id"),
    "ids": ("bullet_ids", "lesson_ids", "skill_ids"),
    "into": ("into_id",),
}

_TAGS = ("helpful", "harmful", "neutral")

_REQUIRED: Mapping[type[Operation], tuple[str, ...]] = {
    Add: ("text",),
    Update: ("id",),
    Tally: ("id",),
    Merge: ("ids", "into"),
    Retire: ("id",),
    Restore: ("id",),
    Pin: ("id",),
    Observe: ("name",),
    Revoke: ("ids",),
}

_OPTIONAL: Mapping[type[Operation], frozenset[str]] = {
    Add: frozenset({"id", "kind"}),
    Update: frozenset({"text", "applies_when", "status", "verdict", "kind", "about", "revision"}),
    Merge: frozenset({"text"}),
}
"""Fields whose value can be none, so that null stands for itself."""


def operation_from_json(obj: object) -> Operation | str:
    """The operation that a parsed JSON object spells, or, as a text, why it spells none.

    The name stands under `op` or `type` in any case; DELETE and REMOVE mean RETIRE, and TAG counts
    one `helpful`, `harmful` or `neutral`. `content` means `text`; `bullet_id`, `lesson_id` and
    `skill_id` mean `id`, and there an empty text means none. Keys that are not known are ignored.
    A missing `section` is empty, which takes the section of the kind.

    Args:
        obj: a parsed JSON value of any type.

    Returns:
        A well-typed operation, or a reason that names the field. Never raises.
    """
    if not isinstance(obj, Mapping):
        return f"it is {_told(obj)}, not an object"
    name = obj.get("op", obj.get("type"))
    if not isinstance(name, str) or not name.strip():
        return "its field 'op' is missing" if name is None else f"its field 'op' is {_told(name)}, not a text"
    name = name.strip().upper()
    if name == "TAG":
        return _read_tag(obj)
    kind = OPERATIONS.get(_NAME_ALIASES.get(name, name))
    if kind is None:
        return f"operation '{name[:40]}' is not known; use one of: {', '.join(OPERATIONS)}"
    return _read(kind, obj)


def operation_to_json(op: Operation) -> dict[str, Any]:
    """The JSON object of an operation, without the fields that have their default.

    `operation_from_json` gives the same operation back. Keys come in the order of the fields.
    """
    obj: dict[str, Any] = {"op": OPERATION_NAMES[type(op)]}
    for name, default in _FIELDS[type(op)]:
        value = getattr(op, name)
        if value is default or (default is not MISSING and value == default):
            continue
        if name == "evidence":
            obj[name] = [{"run": place.run, "step": place.step, "role": place.role} for place in value]
        else:
            obj[name] = list(value) if isinstance(value, tuple) else value
    return obj


_FIELDS: Mapping[type, tuple[tuple[str, object], ...]] = {
    kind: tuple((one.name, one.default) for one in fields(kind)) for kind in OPERATION_NAMES
}


def _read(kind: type[Operation], obj: Mapping[str, object]) -> Operation | str:
    found: dict[str, Any] = {}
    for one in fields(kind):
        key, value = _look_up(one.name, obj)
        if key is None or (value is None and one.name in _OPTIONAL.get(kind, ())):
            continue
        problem = _problem(one.name, value)
        if problem:
            return f"its field '{key}' {problem}"
        found[one.name] = _converted(one.name, value)
    missing = [name for name in _REQUIRED[kind] if name not in found]
    if missing:
        return f"its field '{missing[0]}' is missing"
    if kind in (Add, Observe):
        found.setdefault("section", "")
    return kind(**found)


def _look_up(name: str, obj: Mapping[str, object]) -> tuple[str | None, object]:
    """The key a field stands under and its value; no key if it is absent."""
    if name in obj:
        return name, obj[name]
    for alias in _FIELD_ALIASES.get(name, ()):
        # ACE writes an empty id into the ADD of a lesson that has none yet.
        if alias in obj and not (name == "id" and obj[alias] == ""):
            return alias, obj[alias]
    return None, None


def _problem(name: str, value: object) -> str:
    """What is wrong with the type of a field's value, or an empty text."""
    if name in TALLY_NAMES:
        return "" if isinstance(value, int) and not isinstance(value, bool) else f"is {_told(value)}, not a whole number"
    if name == "value" and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return ""
    if name == "step":
        return "" if isinstance(value, int) and not isinstance(value, bool) else f"is {_told(value)}, not a whole number"
    if name in ("unmerge", "pinned", "revoked"):
        return "" if isinstance(value, bool) else f"is {_told(value)}, not true or false"
    if name in ("ids", "tool_order", "show"):
        wrong = [one for one in value if not isinstance(one, str)] if isinstance(value, list | tuple) else [value]
        return "" if not wrong else f"is not a list of texts: it has {_told(wrong[0])}"
    if name == "evidence":
        return _evidence_problem(value)
    return "" if isinstance(value, str) else f"is {_told(value)}, not a text"


def _evidence_problem(value: object) -> str:
    if not isinstance(value, list | tuple):
        return f"is {_told(value)}, not a list of places"
    for place in value:
        if not isinstance(place, Mapping):
            return f"has {_told(place)} where a place should be"
        if not isinstance(place.get("run"), str) or not isinstance(place.get("role", ""), str):
            return "has a place whose 'run' or 'role' is not a text"
        step = place.get("step", -1)
        if not isinstance(step, int) or isinstance(step, bool):
            return f"has a place whose 'step' is {_told(step)}, not a whole number"
    return ""


def _converted(name: str, value: Any) -> Any:
    if name == "evidence":
        return tuple(Evidence(run=place["run"], step=place.get("step", -1), role=place.get("role", "source")) for place in value)
    return tuple(value) if isinstance(value, list) else value


def _read_tag(obj: Mapping[str, object]) -> Operation | str:
    """TAG as others write it: `{"tag": "helpful"}`, or counts under `metadata`."""
    tag, counts = obj.get("tag"), obj.get("metadata")
    if isinstance(tag, str) and tag.strip().lower() in _TAGS:
        return _read(Tally, {**_without_counts(obj), tag.strip().lower(): 1})
    if isinstance(counts, Mapping):
        return _read(Tally, {**_without_counts(obj), **{name: counts[name] for name in _TAGS if name in counts}})
    if any(name in obj for name in _TAGS):
        return _read(Tally, obj)
    return f"its field 'tag' is {_told(tag)}; use one of: {', '.join(_TAGS)}"


def _without_counts(obj: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in obj.items() if key not in TALLY_NAMES}


def _told(value: object) -> str:
    """A value of the wrong type, in a few words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return "a number"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list | tuple) else type(value).__name__
