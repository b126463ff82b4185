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
from tenure.playbook.delta import Add, Operation, Pin, Retire, Tally
from tenure.playbook.exchange import read_exchange, unread_lines
from tenure.playbook.lessons import Lesson
from tenure.playbook.notation import FORMAT, loads
from tenure.playbook.operations_json import operation_from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """What was read from another tool's file.

    Attributes:
        form: the form it was recognised as: `playbook`, `exchange`, `operations`, `entries`,
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
    if plain.lstrip()[:1] in ("{", "["):
        found = _read_json(plain)
    elif re.search(r"^\[[^\s\[\]]+\]([ \t]|$)", plain, re.MULTILINE) and "](" not in plain[:40]:
        found = Foreign(
            form="exchange",
            operations=read_exchange(plain),
            rejections=tuple(f"line {number} belongs to no lesson: {line[:80]!r}" for number, line in unread_lines(plain)),
        )
    else:
        found = Foreign(form="markdown", operations=tuple(_markdown_rules(plain)))
    if not found.operations and not found.rejections:
        raise UnreadableInput(
            "No lesson was found in it. Known forms: tenure export (json, ace), ACE operations, Skillbook JSON, and Markdown lists of rules (- ...)."
        )
    return found


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
    if lesson.pinned:
        found.append(Pin(lesson.id))
    return found


def _read_json(text: str) -> Foreign:
    try:
        held = json.loads(text)
    except ValueError as exc:
        raise UnreadableInput(f"It looks like JSON but cannot be read: {exc}") from exc
    if isinstance(held, list):
        held = {"operations": held}
    if held.get("tenure") == FORMAT:
        return Foreign(form="playbook", operations=tuple(op for lesson in loads(text).every_lesson for op in lesson_operations(lesson)))
    if isinstance(held.get("operations"), list):
        return _collect("operations", (operation_from_json(entry) for entry in held["operations"]))
    if any(isinstance(held.get(name), list) for name in ("new_entries", "update_entries", "delete_entries")):
        return _collect("entries", _read_entries(held))
    for name in ("skills", "bullets", "lessons"):
        entries = held.get(name)
        if isinstance(entries, Mapping):
            entries = [{"id": key, **value} if isinstance(value, Mapping) else value for key, value in entries.items()]
        if isinstance(entries, list):
            return _collect("skillbook", (found for entry in entries for found in _read_skill(entry)))
    raise UnreadableInput(
        f"This JSON has none of the keys that hold lessons (operations, new_entries, skills, bullets, lessons); it has: {', '.join(list(held)[:8])}"
    )


def _collect(form: str, read: Iterator[Operation | str]) -> Foreign:
    operations: list[Operation] = []
    rejections: list[str] = []
    for place, found in enumerate(read):
        if isinstance(found, str):
            rejections.append(f"{form[:-1] if form.endswith('s') else form} {place}: {found}")
        else:
            operations.append(found)
    return Foreign(form=form, operations=tuple(operations), rejections=tuple(rejections))


def _read_entries(held: Mapping[str, Any]) -> Iterator[Operation | str]:
    for entry in held.get("new_entries") or ():
        yield operation_from_json({"op": "ADD", **entry}) if isinstance(entry, Mapping) else f"{entry!r} is not an object"
    for entry in held.get("update_entries") or ():
        yield operation_from_json({"op": "UPDATE", **entry}) if isinstance(entry, Mapping) else f"{entry!r} is not an object"
    for entry in held.get("delete_entries") or ():
        named = entry.get("id") if isinstance(entry, Mapping) else entry
        yield Retire(named, "deleted by the imported file") if isinstance(named, str) else f"{entry!r} names no lesson"


def _read_skill(entry: object) -> Iterator[Operation | str]:
    if not isinstance(entry, Mapping):
        yield f"{entry!r} is not an object"
        return
    read = operation_from_json({**{key: entry[key] for key in ("id", "section", "applies_when") if key in entry}, "op": "ADD", "text": entry.get("content", entry.get("text"))})
    yield read
    if not isinstance(read, Add) or read.id is None:
        return
    counts = {name: entry.get(name, 0) for name in ("helpful", "harmful", "neutral")}
    if all(isinstance(value, int) and value >= 0 for value in counts.values()) and any(counts.values()):
        yield Tally(read.id, **counts)
    if entry.get("status") in ("invalid", "retired", "deleted"):
        yield Retire(read.id, "retired where it was imported from")


_RULE = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")
_TITLE = re.compile(r"#{1,6}[ \t]+(.*?)[ \t]*#*")


def _markdown_rules(text: str) -> Iterator[Operation]:
    """Each top-level list entry is a lesson, its nested lines part of it; headings name sections."""
    rule: list[str] = []
    section, margin, fenced = "", 0, False
    for line in re.split(r"\r\n|\n|\r", text):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        title = None if fenced else _TITLE.fullmatch(line)
        entry = None if fenced else _RULE.fullmatch(line)
        if title is not None or (entry is not None and (not rule or len(entry[1]) <= margin)):
            if rule:
                yield Add(section, "\n".join(rule).strip())
            rule = []
            if title is not None:
                section = title[1]
            elif entry is not None:
                margin, rule = len(entry[1]), [entry[2]]
        elif rule and line.strip() and (line.startswith((" ", "\t")) or fenced):
            rule.append(line.strip() if not fenced else line)
        elif rule and line.strip():
            rule.append(line)
        elif rule and not fenced:
            yield Add(section, "\n".join(rule).strip())
            rule = []
    if rule:
        yield Add(section, "\n".join(rule).strip())

