"""The exchange text: a lesson a line, readable by people and by ACE's own tools.

    ## invoices
    [inv-7k2m9qxa] helpful=3 harmful=0 :: Convert each line at the invoice-date rate before summing.
      Applies when: the invoice has line items in more than one currency.

Further lines of a text are indented by two spaces. A text that could be mistaken for structure, or
that holds control characters, is written as a JSON string instead; both read back unchanged.
Texts without counters, as in ACE's trained AppWorld playbooks, are read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tenure.playbook.delta import Add, Operation, Tally
from tenure.playbook.lessons import Lesson, section_name

# Counts have at most 15 digits (`lessons.MOST_COUNTED`); a longer run of digits is text.
_COUNTS = r"[ \t]+helpful=([0-9]{1,15})[ \t]+harmful=([0-9]{1,15})(?:[ \t]+neutral=([0-9]{1,15}))?[ \t]*::[ \t]?"
_BULLET = re.compile(r"\[([^\s\[\]]+)\](?:" + _COUNTS + r"|[ \t]+|$)(.*)", re.DOTALL)
_HEADING = re.compile(r"##[ \t]+(.*)", re.DOTALL)
_CONDITION = "Applies when: "
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_LINE = re.compile(r"\r\n|\n|\r")


def write_exchange(lessons: Iterable[Lesson]) -> str:
    """Lessons as exchange text, sections sorted by name, lessons by id."""
    sections: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        sections.setdefault(lesson.section, []).append(lesson)
    lines: list[str] = []
    for name in sorted(sections):
        lines.append(f"## {name}")
        for lesson in sorted(sections[name], key=lambda one: one.id):
            counts = f"helpful={lesson.tallies.helpful} harmful={lesson.tallies.harmful}"
            lines.append(f"[{lesson.id}] {counts} :: {_written(lesson.text)}")
            if lesson.applies_when:
                lines.append(f"  {_CONDITION}{_quoted(lesson.applies_when)}")
        lines.append("")
    return "\n".join(lines)


def read_exchange(text: str) -> tuple[Operation, ...]:
    """The operations that put an exchange text into a playbook: an ADD a lesson, and its counts.

    A lesson before any heading goes to the section of its kind. Lines that belong to nothing are
    left out: see `unread_lines`.
    """
    operations: list[Operation] = []
    section = ""
    open_lesson: list[str] | None = None
    head: tuple[str, str, str, str] | None = None

    def close() -> None:
        if head is not None and open_lesson is not None:
            operations.extend(_lesson_operations(section, head, open_lesson))

    for line in _LINE.split(text.lstrip("\ufeff")):
        bullet = _BULLET.fullmatch(line)
        heading = None if bullet else _HEADING.fullmatch(line)
        if bullet is not None:
            close()
            head = (bullet[1], bullet[2] or "", bullet[3] or "", bullet[4] or "")
            open_lesson = [bullet[5]]
        elif heading is not None:
            close()
            head, open_lesson = None, None
            section = section_name(heading[1])
        elif open_lesson is not None:
            open_lesson.append(line)
    close()
    return tuple(operations)


def unread_lines(text: str) -> tuple[tuple[int, str], ...]:
    """Lines before the first lesson of a section that are neither heading nor blank: number from 1, text."""
    left: list[tuple[int, str]] = []
    inside = False
    for number, line in enumerate(_LINE.split(text.lstrip("\ufeff")), 1):
        if _BULLET.fullmatch(line):
            inside = True
        elif _HEADING.fullmatch(line):
            inside = False
        elif not inside and line.strip():
            left.append((number, line))
    return tuple(left)


def _lesson_operations(section: str, head: tuple[str, str, str, str], lines: list[str]) -> list[Operation]:
    lesson_id, helpful, harmful, neutral = head
    ours = helpful != ""
    while len(lines) > 1 and not lines[-1].strip():
        lines = lines[:-1]
    condition, text = "", "\n".join(lines)
    # Text of our own indents every further line; text of others that has counts need not.
    if ours and all(line.startswith("  ") for line in lines[1:]):
        rest = [line[2:] for line in lines[1:]]
        if rest and rest[-1].startswith(_CONDITION):
            condition = _unquoted(rest.pop()[len(_CONDITION) :])
        text = _unquoted("\n".join([lines[0], *rest]))
    found: list[Operation] = [Add(section, text, id=lesson_id, applies_when=condition)]
    tally = Tally(lesson_id, helpful=int(helpful or 0), harmful=int(harmful or 0), neutral=int(neutral or 0))
    if tally.tallies:
        found.append(tally)
    return found


def _written(text: str) -> str:
    """A text as it stands after `::`: plain with indented further lines, or a JSON string."""
    lines = text.split("\n")
    plain = (
        not _UNSAFE.search(text)
        and text == text.strip()
        and not text.startswith('"')
        and all(line.strip() for line in lines)
        and not any(line.startswith(_CONDITION) for line in lines[1:])
    )
    return "\n  ".join(lines) if plain else _escape(text)


def _quoted(text: str) -> str:
    """A condition in one line: plain where that reads back, else a JSON string."""
    plain = not _UNSAFE.search(text) and "\n" not in text and text == text.strip() and not text.startswith('"')
    return text if plain else _escape(text)


def _escape(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)


def _unquoted(written: str) -> str:
    if written.startswith('"'):
        try:
            value = json.loads(written)
        except ValueError:
            return written
        if isinstance(value, str):
            return value
    return written
