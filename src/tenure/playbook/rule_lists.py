"""Lists of rules in Markdown files such as AGENTS.md and CLAUDE.md, read as lessons.

Each entry of a list is a lesson, what is nested in it is part of it, and the heading above names
its section. Prose outside lists is left out, and said to be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tenure.playbook.delta import Add

_ENTRY = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?(.*)|$)", re.DOTALL)
_TITLE = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*)|$)", re.DOTALL)
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_RULER = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(slots=True)
class _Reader:
    """Where a reading of the lines stands."""

    rules: list[Add] = field(default_factory=list[Add])
    prose: list[str] = field(default_factory=list[str])
    section: str = ""
    rule: list[str] = field(default_factory=list[str])
    margin: int = 0
    offset: int = 0
    blank: bool = True

    def close(self) -> None:
        """The open rule is complete."""
        text = "\n".join(self.rule).strip()
        if text:
            self.rules.append(Add(self.section, text))
        self.rule = []

    def open(self, line: str, entry: re.Match[str]) -> None:
        """A rule begins."""
        self.close()
        self.margin, self.offset = len(entry[1]), entry.start(2) if entry[2] else len(entry[1]) + 2
        self.rule = [entry[2] or ""]

    def go_on(self, line: str) -> None:
        """A line belongs to the open rule; it keeps its indentation inside the rule."""
        if self.blank and any(self.rule):
            self.rule.append("")
        self.rule.append(line[min(self.offset, len(line) - len(line.lstrip(" \t"))) :])

    def leave_out(self, number: int, line: str) -> None:
        """A line is no rule and part of none; the first of a paragraph stands for it."""
        if self.blank:
            self.prose.append(f"line {number} is prose outside a list: {line.strip()[:80]!r}")


def read_rule_lists(text: str) -> tuple[tuple[Add, ...], tuple[str, ...]]:
    """The rules of a Markdown text, and a sentence for each paragraph outside its lists."""
    reader = _Reader()
    fence, comment = "", False
    lines = _BREAK.split(text)
    for number, line in enumerate(lines, 1):
        if number <= _front_matter(lines):
            continue
        mark = _FENCE.fullmatch(line)
        inside = bool(fence)
        if inside:
            fence = "" if mark and mark[1].startswith(fence) and not mark[2].strip() else fence
        elif mark is not None:
            fence, inside = mark[1], True
        comment = not inside and (comment or line.lstrip().startswith("<!--"))
        if comment:
            comment = "-->" not in line
        elif not inside and not line.strip():
            reader.blank = True
            continue
        else:
            _read_line(reader, number, line, inside)
        reader.blank = False
    reader.close()
    return tuple(reader.rules), tuple(reader.prose)


def _read_line(reader: _Reader, number: int, line: str, inside: bool) -> None:
    title = None if inside else _TITLE.fullmatch(line)
    entry = None if inside or title or _RULER.fullmatch(line) else _ENTRY.fullmatch(line)
    indented = len(line) - len(line.lstrip(" \t")) > reader.margin
    if title is not None:
        reader.close()
        reader.section = _without_closing(title[1] or "")
    elif entry is not None and not (reader.rule and indented):
        reader.open(line, entry)
    elif not inside and _RULER.fullmatch(line):
        reader.close()
    elif reader.rule and (indented or not reader.blank):
        reader.go_on(line)
    else:
        reader.close()
        reader.leave_out(number, line)


def _front_matter(lines: list[str]) -> int:
    """How many lines of settings between `---` marks a file begins with."""
    if lines[0].rstrip() != "---":
        return 0
    return next((place + 1 for place in range(1, min(len(lines), 100)) if lines[place].rstrip() == "---"), 0)


def _without_closing(title: str) -> str:
    """A title without the number signs that may close it."""
    head, _, tail = title.strip().rpartition(" ")
    return head.strip() if tail and not tail.strip("#") else title.strip()
