"""Lists of rules in Markdown files such as AGENTS.md and CLAUDE.md, read as lessons.

Each entry of a list is a lesson, what is nested in it is part of it, and the heading above names
its section. Prose outside lists is left out, and said to be. A block that Tenure wrote (see `managed_block`)
is no rule of the person's, and is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tenure.playbook.delta import Add
from tenure.playbook.managed_block import BEGIN, END

_ENTRY = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?(.*)|$)", re.DOTALL)
_TITLE = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*)|$)", re.DOTALL)
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_RULER = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(slots=True)
class _Reader:
    """Where a reading of the lines stands.

    Attributes:
        rules, prose: what was found so far.
        places: first and last line of each rule, from 1.
        section: the heading above.
        rule: lines of the open rule; empty if none is open.
        first, last: where it stands so far.
        margin, offset: columns at which the open rule's mark and its text begin.
        fence: the mark that opened a block of code; empty outside one.
        fresh: whether a paragraph would begin with the next line.
    """

    rules: list[Add] = field(default_factory=list[Add])
    prose: list[str] = field(default_factory=list[str])
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    section: str = ""
    rule: list[str] = field(default_factory=list[str])
    first: int = 0
    last: int = 0
    margin: int = 0
    offset: int = 0
    fence: str = ""
    fresh: bool = True

    def close(self) -> None:
        """The open rule is complete."""
        text = "\n".join(self.rule).strip()
        if text:
            self.rules.append(Add(self.section, text))
            self.places.append((self.first, self.last))
        self.rule = []

    def open(self, number: int, entry: re.Match[str]) -> None:
        """A rule begins."""
        self.close()
        self.first = self.last = number
        self.margin, self.offset = len(entry[1]), entry.start(2) if entry[2] else len(entry[1]) + 2
        self.rule = [entry[2] or ""]
        code = _FENCE.fullmatch(self.rule[0])
        self.fence = code[1] if code else ""

    def go_on(self, number: int, line: str) -> None:
        """A line belongs to the open rule; it keeps its indentation inside the rule."""
        self.last = number if line.strip() else self.last
        if self.fresh and any(self.rule):
            self.rule.append("")
        self.rule.append(line[min(self.offset, len(line) - len(line.lstrip(" \t"))) :])

    def leave_out(self, number: int, line: str) -> None:
        """A line is no rule and part of none; the first of a paragraph stands for it."""
        self.close()
        if self.fresh:
            self.prose.append(f"line {number} is prose outside a list: {line.strip()[:80]!r}")


def read_rule_lists(text: str) -> tuple[tuple[Add, ...], tuple[str, ...]]:
    """The rules of a Markdown text, and a sentence for each paragraph outside its lists."""
    reader = _read(text)
    return tuple(reader.rules), tuple(reader.prose)


def read_rule_places(text: str) -> tuple[tuple[Add, int, int], ...]:
    """The rules of a Markdown text, each with its first and last line, from 1."""
    reader = _read(text)
    return tuple((rule, *place) for rule, place in zip(reader.rules, reader.places, strict=True))


def _read(text: str) -> _Reader:
    reader = _Reader()
    comment = managed = False
    lines = _BREAK.split(text)
    settings = _front_matter(lines)
    for number, line in enumerate(lines, 1):
        if number <= settings:
            continue
        if not reader.fence and line.lstrip(" \t\ufeff").startswith(BEGIN):
            reader.close()
            managed = True
        if managed:
            managed = END not in line
            reader.fresh = True
            continue
        comment = not reader.fence and (comment or line.lstrip().startswith("<!--"))
        if comment:
            comment = "-->" not in line
            reader.fresh = True
        elif not line.strip() and not reader.fence:
            reader.fresh = True
        else:
            _read_line(reader, number, line)
    reader.close()
    return reader


def _read_line(reader: _Reader, number: int, line: str) -> None:
    indented = len(line) - len(line.lstrip(" \t")) > reader.margin
    code = _FENCE.fullmatch(line)
    if reader.fence or code is not None:
        if reader.rule and (indented or reader.fence or not reader.fresh):
            reader.go_on(number, line)
        else:
            reader.leave_out(number, line)
        if code is not None and not reader.fence:
            reader.fence = code[1]
        elif code is not None and code[1].startswith(reader.fence) and not code[2].strip():
            reader.fence = ""
        reader.fresh = False
        return
    title, ruler = _TITLE.fullmatch(line), _RULER.fullmatch(line)
    entry = None if title or ruler else _ENTRY.fullmatch(line)
    if title is not None or ruler is not None:
        reader.close()
        reader.section = _without_closing(title[1] or "") if title is not None else reader.section
    elif entry is not None and not (reader.rule and indented):
        reader.open(number, entry)
    elif reader.rule and (indented or not reader.fresh):
        reader.go_on(number, line)
    else:
        reader.leave_out(number, line)
    reader.fresh = title is not None or ruler is not None


def _front_matter(lines: list[str]) -> int:
    """How many lines of settings between `---` marks a file begins with."""
    if lines[0].rstrip() != "---":
        return 0
    return next((place + 1 for place in range(1, min(len(lines), 100)) if lines[place].rstrip() == "---"), 0)


def _without_closing(title: str) -> str:
    """A title without the number signs that may close it."""
    head, _, tail = title.strip().rpartition(" ")
    return head.strip() if tail and not tail.strip("#") else title.strip()
