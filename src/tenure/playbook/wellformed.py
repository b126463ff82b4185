"""Whether a delta and its operations can be carried out at all, whatever the state is.

Deltas come from models, files and programs; what is wrong with one is a sentence in a receipt, so
that the other operations go on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime

from tenure.playbook.aggregates import KEY_LENGTH, NAME_LENGTH, UNIT_LENGTH, column, exact, moment
from tenure.playbook.delta import DECISIONS, OPERATION_NAMES, Add, Decision, Delta, Merge, Observe, Revoke, Tally, Update
from tenure.playbook.lessons import KINDS, MOST_COUNTED, STATUSES, TALLY_NAMES, Evidence

_TEXTS = frozenset(
    "section text id applies_when kind status avoid about origin author verdict revision reason into".split()
    + "name value unit key run mark at".split()
)
_OPTIONAL: Mapping[type, frozenset[str]] = {
    Add: frozenset({"id", "kind"}),
    Update: frozenset({"text", "applies_when", "status", "verdict", "kind", "about", "revision"}),
    Merge: frozenset({"text"}),
}
_FIELDS: Mapping[type, tuple[tuple[str, object], ...]] = {
    kind: tuple((f.name, f.default) for f in fields(kind)) for kind in OPERATION_NAMES
}
"""Names and defaults of the fields of operations, found once: each operation of each delta is looked at."""

_WRITABLE_STATUSES = tuple(status for status in STATUSES if status != "retired")

_USABLE_ID = re.compile(r"[^\s\[\]\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]{1,200}")


def delta_problem(delta: Delta) -> str:
    """Why no operation of a delta can count, or an empty text."""
    if not (_is_text(delta.id) and delta.id):
        return f"the delta's id {delta.id!r} is not a usable text"
    if delta.key is not None and not _is_text(delta.key):
        return f"the delta's key {delta.key!r} is not a usable text"
    if not _is_text(delta.author):
        return f"the delta's author {delta.author!r} is not a usable text"
    if delta.at is not None and not isinstance(delta.at, datetime) and not _is_text(delta.at):
        return f"the delta's time {delta.at!r} is neither a datetime nor a text"
    strange = next((one for one in delta.decisions if not _is_decision(one)), None)
    return f"the delta tells a decision that is none: {strange!r:.80}" if strange is not None else ""


def _is_decision(one: object) -> bool:
    return isinstance(one, Decision) and _is_text(one.change) and _is_text(one.note) and one.state in DECISIONS


def operation_problem(op: object) -> str:
    """Why an operation cannot be carried out, or an empty text."""
    if type(op) not in OPERATION_NAMES:
        return f"{type(op).__name__} is not an operation"
    return _type_problem(op) or _value_problem(op)


def usable_id(given: str) -> bool:
    """Whether an imported id can be kept: up to 200 visible characters without space or square brackets."""
    return _USABLE_ID.fullmatch(given) is not None


def storable(text: str) -> bool:
    """Whether a text can be written to a file: lone surrogates cannot."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def named_id(op: object) -> str:
    """The id an operation names, for its receipt; empty if it names none."""
    named = getattr(op, "id", None) or getattr(op, "into", None) or ""
    return named if isinstance(named, str) else ""


def _type_problem(op: object) -> str:
    optional = _OPTIONAL.get(type(op), frozenset())
    for name, default in _FIELDS[type(op)]:
        value = getattr(op, name)
        if value is default:  # which is of the right type
            continue
        if name in _TEXTS:
            if isinstance(value, str):
                if not storable(value):
                    return f"its {name} holds half a character (a lone surrogate), which no file can store"
            elif value is not None or name not in optional:
                return f"its {name} is {type(value).__name__}, not a text"
        elif name in TALLY_NAMES or name == "step":
            if not isinstance(value, int) or isinstance(value, bool):
                return f"its {name} is {type(value).__name__}, not a whole number"
            if abs(value) > MOST_COUNTED:
                return f"its {name} is beyond {MOST_COUNTED}, more than can be counted"
        elif name in ("unmerge", "pinned", "revoked"):
            if not isinstance(value, bool):
                return f"its {name} is {type(value).__name__}, not true or false"
        elif name in ("ids", "tool_order", "show"):
            if not (isinstance(value, tuple | list) and all(map(_is_text, value))):
                return f"its {name} is not a list of texts"
        elif name == "evidence" and not (isinstance(value, tuple | list) and all(map(_is_place, value))):
            return "its evidence is not a list of places in runs"
    return ""


def _is_place(place: object) -> bool:
    return isinstance(place, Evidence) and _is_text(place.run) and _is_text(place.role) and _is_count(place.step)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and storable(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST_COUNTED


def _observe_problem(op: Observe) -> str:
    if not op.name.strip():
        return "it names no aggregate; give its 'name'"
    for name, most in (("name", NAME_LENGTH), ("section", NAME_LENGTH), ("key", KEY_LENGTH), ("unit", UNIT_LENGTH), ("mark", KEY_LENGTH)):
        if len(getattr(op, name)) > most:
            return f"its {name} is longer than {most} characters"
    if not op.value and not op.show:
        return "nothing observed; give a 'value', or 'show' for the columns"
    if op.at and not moment(op.at):
        return f"its at {op.at[:40]!r} is not a time; write ISO 8601, such as 2026-03-15T09:30:00+00:00"
    try:
        for one in op.show:
            column(one)
        if op.value:
            exact(op.value)
    except ValueError as exc:
        return str(exc)
    return ""


def _value_problem(op: object) -> str:
    if isinstance(op, Observe):
        return _observe_problem(op)
    if isinstance(op, Revoke):
        return "" if op.ids else "no observation is named; give their 'ids'"
    text = getattr(op, "text", None)
    if text is not None and not text.strip():
        return "empty text"
    kind = getattr(op, "kind", None)
    if kind is not None and kind not in KINDS:
        return f"unknown kind '{kind}'; use one of: {', '.join(KINDS)}"
    status = getattr(op, "status", None)
    if status is not None and status not in _WRITABLE_STATUSES:
        return f"unknown status '{status}'; use one of: {', '.join(_WRITABLE_STATUSES)}"
    if isinstance(op, Tally) and not op.tallies and not op.evidence:
        return "nothing to count"
    if isinstance(op, Update) and not op.evidence and all(getattr(op, name) is None for name in _OPTIONAL[Update]):
        return "nothing to change"
    return ""
