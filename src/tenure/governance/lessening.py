"""Whether a delta is another one with less in it, and what two that lost different things still have in common.

A tombstone of another installation may take things out of deltas that stand here too. It may not put anything in: what
it vouches for is taken only where it says no more than what is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from tenure.governance.redaction import redact_operations
from tenure.playbook.delta import Delta, Operation
from tenure.playbook.revision import Revision, read_revision
from tenure.playbook.subject import FORGOTTEN

_KIND = (
    "(?:access|anthropic|api|app|artifactory|auth|authorization|aws|azure|bank|account|basic|bot|card|client|cloud|cloudant|code|cookie"
    "|credentials|discord|email|github|gitlab|google|hmac|huggingface|iam|ibm|id|jwt|key|mailchimp|mailgun|name|npm|number|oauth|one"
    "|openai|password|phone|phrase|pin|place|private|pypi|recovery|seed|secret|security|sendgrid|session|signed|slack|social|softlayer"
    "|square|ssh|storage|stripe|telegram|time|token|twilio|url|web|webhook|json)"
)
_TAKEN_OUT = re.compile(rf"\[(?:forgotten|redacted:{_KIND}(?:-{_KIND}){{0,4}})\]")
"""What stands where something was: a forgotten text, or a secret. Fixed words, so that a mark can say nothing."""

_APART = object()
"""That two values have nothing in common."""


def is_less(now: Delta, before: Delta) -> bool:
    """Whether a delta says what another said, or some of it, and nothing else."""
    if now.id != before.id or now.key not in (None, before.key):
        return False
    empty = not now.operations and not now.decisions
    if not empty and (now.cause, now.time) != (before.cause, before.time):
        return False
    if not _text_is_less(now.author, before.author) or not (_text_is_less(now.note, before.note) or (empty and not now.note)):
        return False
    return _are_less(now.operations, before.operations) and _are_less(now.decisions, before.decisions)


def common(one: Delta, other: Delta) -> Delta:
    """What two deltas say that were one, and have lost different things since."""
    if is_less(one, other):
        return one
    if is_less(other, one):
        return other
    return replace(
        one,
        operations=_common_parts(one.operations, other.operations),
        decisions=_common_parts(one.decisions, other.decisions),
        key=one.key if one.key == other.key else None,
        author=_common_text(one.author, other.author),
        note=_common_text(one.note, other.note),
    )


def _are_less(now: Sequence[Any], before: Sequence[Any]) -> bool:
    """Whether parts are some of those that were there, in their order, each the same or with less in it."""
    rest = iter(before)
    return all(any(_part_is_less(part, was) for was in rest) for part in now)


def _part_is_less(now: Any, before: Any) -> bool:
    return type(now) is type(before) and all(
        _value_is_less(one.name, getattr(now, one.name), getattr(before, one.name)) for one in fields(now)
    )


def _value_is_less(name: str, now: Any, before: Any) -> bool:
    if now == before:
        return True
    if isinstance(now, str) and isinstance(before, str):
        return _revision_is_less(now, before) if name == "revision" else _text_is_less(now, before)
    if isinstance(now, tuple) and isinstance(before, tuple):
        rest = iter(before)
        return all(any(part == was or _part_of_list_is_less(part, was) for was in rest) for part in now)
    # What the runs that went supported, they support no more.
    return name == "support" and isinstance(now, int) and isinstance(before, int) and 0 <= now <= before


def _part_of_list_is_less(now: Any, before: Any) -> bool:
    if isinstance(now, str) and isinstance(before, str):
        return _text_is_less(now, before)
    return hasattr(now, "__dataclass_fields__") and _part_is_less(now, before)


def _text_is_less(now: str, before: str) -> bool:
    """Whether a text is another one, or that with something taken out of it."""
    if now == before:
        return True
    pieces = _TAKEN_OUT.split(now)
    if len(pieces) < 2 or not before.startswith(pieces[0]):
        return False
    place = len(pieces[0])
    for piece in pieces[1:-1]:
        found = before.find(piece, place + 1)  # a mark stands for something
        if found < 0:
            return False
        place = found + len(piece)
    return before.endswith(pieces[-1]) and len(before) - len(pieces[-1]) > place


def shortened_texts(now: Delta, before: Delta) -> set[str]:
    """Texts of operations in which more was taken out than redaction takes out today, and something else is left.

    A tombstone says what is gone and cannot show that it had to go: the rest may mean the opposite.
    """
    clean = {text for one in redact_operations(before.operations) for text in _texts(one)}
    known = clean | {text for one in before.operations for text in _texts(one)}
    return {text for one in now.operations for text in _texts(one) if text not in known and _TAKEN_OUT.sub("", text).strip()}


def _texts(operation: Operation) -> list[str]:
    return [value for one in fields(operation) if isinstance(value := getattr(operation, one.name), str)]


def _revision_is_less(now: str, before: str) -> bool:
    new, old = read_revision(now), read_revision(before)
    if new is None or old is None:
        return _text_is_less(now, before)
    return all(
        getattr(new, one.name) in ("", (), FORGOTTEN) or _value_is_less("", getattr(new, one.name), getattr(old, one.name))
        for one in fields(Revision)
    )


def _common_parts(ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    place = 0
    for part in ours:
        for at in range(place, len(theirs)):
            both = _common_part(part, theirs[at])
            if both is not None:
                found.append(both)
                place = at + 1
                break
    return tuple(found)


def _common_part(one: Any, other: Any) -> Operation | None:
    if type(one) is not type(other):
        return None
    values = {part.name: _common_value(part.name, getattr(one, part.name), getattr(other, part.name)) for part in fields(one)}
    if any(value is _APART for value in values.values()):
        return None
    made: Operation = replace(one, **values)
    return made


def _common_value(name: str, one: Any, other: Any) -> Any:
    if _value_is_less(name, one, other):
        return one
    if _value_is_less(name, other, one):
        return other
    if isinstance(one, str) and isinstance(other, str) and _TAKEN_OUT.search(one) and _TAKEN_OUT.search(other):
        return FORGOTTEN
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(part for part in one if part in other)
    return _APART


def _common_text(one: str, other: str) -> str:
    found = _common_value("", one, other)
    return FORGOTTEN if found is _APART else str(found)
