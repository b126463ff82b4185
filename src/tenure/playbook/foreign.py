"""Playbooks of other tools, read as operations.

Recognised by content: Tenure's own JSON, exchange and ACE text with or without counters, ACE
`{"operations": [...]}`, `{"new_entries", "update_entries", "delete_entries"}`, Skillbook JSON, and
plain Markdown rule lists such as AGENTS.md. Sources of the forms: ace-agent/ace (Apache-2.0),
kayba's ace-framework (its Skillbook), the AGENTS.md convention.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenure.errors import UnreadableInput
from tenure.playbook.delta import Add, Operation, Pin, Retire, Tally, Update
from tenure.playbook.exchange import read_exchange, unread_lines
from tenure.playbook.lessons import Lesson
from tenure.playbook.notation import loads
from tenure.playbook.observations import observing_operations
from tenure.playbook.operations_json import operation_from_json
from tenure.playbook.rule_lists import read_rule_lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """What was read from another tool's file.

    Attributes:
        form: the form it was recognised as: `playbook`, `ace`, `operations`, `entries`,
            `skillbook` or `markdown`.
        operations: in file order.
        rejections: what could not be read, one sentence each, naming the place.
    """

    form: str
    operations: tuple[Operation, ...]
    rejections: tuple[str, ...] = ()


def read_foreign(text: str) -> Foreign:
    """Read a playbook in any known form.

    Raises:
        UnreadableInput: the text is of no known form, or holds nothing that could be a lesson.
    """
    plain = text.lstrip("\ufeff")
    if _BY_ID.search(plain):
        found = Foreign(
            form="ace",
            operations=read_exchange(plain),
            rejections=tuple(f"line {number} belongs to no lesson: {line[:80]!r}" for number, line in unread_lines(plain)),
        )
    elif plain.lstrip()[:1] == "{" or (plain.lstrip()[:1] == "[" and not _ENTRY_LINE.search(plain)):
        found = _read_json(plain)
    else:
        rules, prose = read_rule_lists(plain)
        found = Foreign(form="markdown", operations=rules, rejections=prose)
    if not found.operations and (found.form == "markdown" or not found.rejections):
        raise UnreadableInput(
            "No lesson was found in it. Known forms: what tenure export writes (json, ace), ACE operations, Skillbook JSON, "
            "and Markdown lists of rules (- ...)."
        )
    return found


# A lesson by its id: with counts behind it, or an id of letters and a number such as `ctx-00263`.
_BY_ID = re.compile(
    r"^\[[^\s\[\]]+\][ \t]+helpful=[0-9]|^\[[^\s\[\]]*-(?=[0-9a-z]*[0-9])[0-9a-z]+\](?:[ \t]|$)", re.MULTILINE | re.IGNORECASE
)


# No line of JSON begins like this, so a text that does is no JSON although it opens with a bracket.
_ENTRY_LINE = re.compile(r"^[-*+][ \t]", re.MULTILINE)


def lesson_operations(lesson: Lesson) -> list[Operation]:
    """The operations that put a lesson with its counts and standing into another playbook."""
    status = lesson.status if lesson.status in ("provisional", "held") else "active"
    found: list[Operation] = [
        Add(
            lesson.section,
            lesson.text,
            id=lesson.id,
            applies_when=lesson.applies_when,
            kind=lesson.kind,
            status=status,
            avoid=lesson.avoid,
            tool_order=lesson.tool_order,
            about=lesson.about,
            evidence=lesson.evidence,
            origin=lesson.origin,
            author=lesson.author,
        )
    ]
    counts = {name: getattr(lesson.tallies, name) for name in ("helpful", "harmful", "neutral", "shown", "withheld", "cited")}
    counts["support"] = lesson.tallies.support - (1 if lesson.evidence else 0)
    if any(counts.values()):
        found.append(Tally(lesson.id, **counts))
    if lesson.status == "retired":
        found.append(Retire(lesson.id, "retired where it was imported from"))
    if lesson.verdict:
        found.append(Update(lesson.id, verdict=lesson.verdict, revision=lesson.revision or None))
    if lesson.pinned:
        found.append(Pin(lesson.id))
    return found


def _read_json(text: str) -> Foreign:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise UnreadableInput(f"It looks like JSON but cannot be read: {exc}. It may be cut off: nothing of it was taken.") from exc
    if isinstance(held, list):
        held = {"operations": held}
    if "tenure" in held:
        book = loads(text)
        lessons = tuple(op for lesson in book.every_lesson for op in lesson_operations(lesson))
        return Foreign(form="playbook", operations=(*lessons, *observing_operations(book.observations)))
    if isinstance(held.get("operations"), list):
        return _collect("operations", "operation", (operation_from_json(entry) for entry in held["operations"]))
    if any(isinstance(held.get(name), list) for name in ("new_entries", "update_entries", "delete_entries")):
        return _collect("entries", "entry", _read_entries(held))
    for name in ("skills", "bullets", "lessons"):
        entries = held.get(name)
        if isinstance(entries, Mapping):
            entries = [{"id": key, **value} if isinstance(value, Mapping) else value for key, value in entries.items()]
        if isinstance(entries, list):
            return _collect("skillbook", "entry", (found for entry in entries for found in _read_skill(entry)))
    raise UnreadableInput(
        "This JSON has none of the keys that hold lessons (operations, new_entries, skills, bullets, lessons); "
        f"it has: {', '.join(list(held)[:8]) or 'none'}"
    )


def _collect(form: str, what: str, read: Iterator[Operation | str]) -> Foreign:
    operations: list[Operation] = []
    rejections: list[str] = []
    for place, found in enumerate(read):
        if isinstance(found, str):
            rejections.append(f"{what} {place}: {found}")
        else:
            operations.append(found)
    return Foreign(form=form, operations=tuple(operations), rejections=tuple(rejections))


def _read_entries(held: Mapping[str, Any]) -> Iterator[Operation | str]:
    for list_name, op, bare in (("new_entries", "ADD", "text"), ("update_entries", "UPDATE", "id"), ("delete_entries", "RETIRE", "id")):
        for entry in _listed(held, list_name):
            told = {bare: entry} if isinstance(entry, str) else entry
            if isinstance(told, Mapping):
                yield operation_from_json({"reason": "deleted by the imported file", **told, "op": op})
            else:
                yield f"it is not an object but {type(entry).__name__}"


def _listed(held: Mapping[str, Any], name: str) -> list[object]:
    entries = held.get(name)
    return entries if isinstance(entries, list) else []


def _read_skill(entry: object) -> Iterator[Operation | str]:
    if not isinstance(entry, Mapping):
        yield "it is not an object"
        return
    told = {key: entry[key] for key in ("id", "section", "applies_when") if entry.get(key) is not None}
    told["text"] = entry.get("content", entry.get("text"))
    if told["text"] is None and "issue" in entry:
        # The second version of Skillbooks splits a lesson into a situation and what to do in it.
        told["text"] = entry.get("insight") or entry["issue"]
        if told["text"] != entry["issue"]:
            told["applies_when"] = entry["issue"]
    read = operation_from_json({**told, "op": "ADD"})
    yield read
    if not isinstance(read, Add):
        return
    counts = {name: entry.get(name, entry.get(f"{name}_count", 0)) for name in ("helpful", "harmful", "neutral")}
    wrong = [name for name, value in counts.items() if not isinstance(value, int) or isinstance(value, bool) or value < 0]
    if wrong or (read.id is None and any(counts.values())):
        yield f"its counts are left out: {f'{wrong[0]} is no count' if wrong else 'it has no id to count for'}"
    elif read.id is not None and any(counts.values()):
        yield Tally(read.id, **counts)
    if read.id is not None and (entry.get("status") in ("invalid", "retired", "deleted") or entry.get("active") is False):
        yield Retire(read.id, "retired where it was imported from")
