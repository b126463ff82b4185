"""Markdown that people and other tools wrote, cut into what becomes entries. No line of it is lost.

A heading goes with what stands below it, a turn of a conversation ends where the next speaker begins, a top-level item
of a list is one piece with what is indented below it, and so is a paragraph or a block of code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_TITLE = 120
"""Characters of a heading that groups what stands below it."""

_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_MARK = re.compile(r"[-*+][ \t]+")
_TURN = re.compile(r"(?:\*\*)?(User|Human|Assistant|AI|System)(?:\*\*:|:\*\*|:)(?:[ \t]+|$)", re.IGNORECASE)
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "system": "system"}
_RULE = re.compile(r"[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?![\d:])")
# A heading that only says that a session is here: its id, its date and time.
_SESSION = re.compile(r"session\b[\s#:–—-]*[\w.-]*[\s:–—-]*(?:\d{4}-\d\d-\d\d)?[T\s]*(?:\d{1,2}:\d\d(?::\d\d)?)?Z?", re.IGNORECASE)
_DATED = re.compile(r"session date:\s*\d{4}-\d\d-\d\d\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text that becomes one entry.

    Attributes:
        text: with the headings right above it.
        title: the heading it stands under, for all that stand there; may be empty.
        role: who speaks, `user`, `assistant` or `system`; empty for notes.
        time: of day that the heading tells, `HH:MM:SS`; empty if none does.
    """

    text: str
    title: str = ""
    role: str = ""
    time: str = ""


def cut_notes(text: str, *, day: str = "") -> tuple[Piece, ...]:
    """The pieces of a text, in order. Each line that says something is in one of them, but for rules between parts and the day's heading.

    Args:
        text: Markdown, with `\\n` as line ends.
        day: ISO date of a day's log, whose heading says nothing.
    """
    cut = _Cut(day)
    for line in text.split("\n"):
        cut.take(line)
    return cut.end()


class _Cut:
    """What has been read: pieces that are whole, headings that wait for what they stand above, and the piece at hand."""

    def __init__(self, day: str) -> None:
        self._day = day
        self._pieces: list[Piece] = []
        self._headings: list[str] = []
        self._lines: list[str] = []
        self._title = self._role = self._time = self._fence = ""
        self._turns = self._blank = False

    def take(self, line: str) -> None:
        """Read one line."""
        if self._fence:
            self._lines.append(line)
            if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
            return
        fence = _FENCE.match(line)
        if fence is not None:
            self._break_after_blank(line)
            self._fence = fence[1]
            self._lines.append(line)
        elif (turn := _TURN.match(line)) is not None:
            self._close()
            self._role, self._turns = _ROLES[turn[1].casefold()], True
            self._lines.append(line[turn.end() :])
        elif (heading := _HEADING.fullmatch(line)) is not None:
            self._take_heading(line, heading[1])
        elif self._turns:
            self._lines.append(line)
        elif not line.strip():
            self._blank = True
            self._lines.append(line)
        elif _RULE.fullmatch(line):
            self._close()
        else:
            self._take_note(line)

    def end(self) -> tuple[Piece, ...]:
        """All pieces."""
        self._close()
        if self._headings:
            # Nothing stands below them: they are a piece of their own.
            self._pieces.append(Piece(text="\n".join(self._headings), title=self._title, time=self._time))
        return tuple(self._pieces)

    def _take_heading(self, line: str, said: str) -> None:
        self._close()
        if said == self._day and self._day:
            return
        self._title, self._turns = said[:LONGEST_TITLE], False
        told = _TIME.search(said)
        self._time = f"{int(told[1]):02}:{told[2]}:{told[3] or '00'}" if told else ""
        self._headings.append(line)

    def _take_note(self, line: str) -> None:
        if self._headings and not self._text() and _DATED.fullmatch(line) and _is_session(self._headings[-1]):
            return
        indented = line[0] in " \t"
        item = _ITEM.match(line) is not None
        before = self._lines[-1] if self._lines else ""
        # `Decided:` belongs to the first thing that it announces.
        announced = item and before.rstrip().endswith(":") and not _ITEM.match(self._lines[0])
        if (item and not announced) or (self._blank and not indented):
            self._close()
        self._blank = False
        self._lines.append(line)

    def _break_after_blank(self, line: str) -> None:
        if not self._turns and self._blank and line[:1] not in (" ", "\t"):
            self._close()
        self._blank = False

    def _text(self) -> str:
        return "\n".join(self._lines).strip("\n")

    def _close(self) -> None:
        said = self._text().rstrip()
        if said.strip():
            if not self._role:
                said = _without_mark(said)
            # What only says that a session begins is its title, and that is enough.
            above = self._headings[:-1] if self._headings and _is_session(self._headings[-1]) else self._headings
            self._pieces.append(Piece(text="\n".join([*above, said]), title=self._title, role=self._role, time=self._time))
            self._headings.clear()
        self._lines.clear()
        self._role, self._blank = "", False


def _is_session(heading: str) -> bool:
    found = _HEADING.fullmatch(heading)
    return found is not None and _SESSION.fullmatch(found[1]) is not None and len(found[1]) <= LONGEST_TITLE


def _without_mark(text: str) -> str:
    """A single item without the mark of its list; what is indented below it moves along."""
    mark = _MARK.match(text)
    if mark is None:
        return text
    first, *below = text[mark.end() :].split("\n")
    width = mark.end()
    return "\n".join([first, *(line[width:] if not line[:width].strip() else line for line in below)])
