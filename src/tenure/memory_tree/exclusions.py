"""What of an entry does not go into nodes: blocks of code, traces of errors, temporary notes. The raw log keeps all of it.

Nothing is left out silently: a block and a trace leave a mark where they stood, and every node says how many of each it is without.
A temporary note is a line that begins with `tmp:`, `temp:`, `temporary:` or `scratch:`, the word in square brackets or not, with a
dash before it or not; or all that stands between `<!-- tmp -->` and `<!-- /tmp -->`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_PYTHON_TRACE = re.compile(
    r"^[ \t]*Traceback \(most recent call last\):[ \t]*\n(?:[ \t]+[^\n]*\n?|[ \t]*\n)*(?P<error>[^\n]*)", re.MULTILINE
)
_FRAMES = re.compile(r"(?:^[ \t]+(?:\d+: [^\n]+\n[ \t]+)?at [^\n]+(?:\n|\Z)){2,}", re.MULTILINE)
_GOROUTINE = re.compile(r"^goroutine \d+ \[[^\]\n]*\]:\n(?:[^\n]+\n?)+", re.MULTILINE)
_TEMPORARY_BLOCK = re.compile(r"<!--[ \t]*(?:tmp|temp)[ \t]*-->.*?(?:<!--[ \t]*/(?:tmp|temp)[ \t]*-->|\Z)\n?", re.IGNORECASE | re.DOTALL)
_TEMPORARY = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\[(?:tmp|temp|temporary|scratch)\][ \t]*:?|(?:tmp|temp|temporary|scratch)[ \t]*:|<!--[ \t]*(?:tmp|temp)\b)"
    r"[^\n]*\n?",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How much stays out of a node. Sums with `+`.

    Attributes:
        code: blocks of code.
        code_lines: lines in them.
        traces: traces of errors.
        notes: temporary notes.
    """

    code: int = 0
    code_lines: int = 0
    traces: int = 0
    notes: int = 0

    def __add__(self, other: LeftOut) -> LeftOut:
        return LeftOut(self.code + other.code, self.code_lines + other.code_lines, self.traces + other.traces, self.notes + other.notes)

    def __str__(self) -> str:
        parts = [
            f"{_number(self.code, 'code block')} ({_number(self.code_lines, 'line')})" if self.code else "",
            _number(self.traces, "trace") if self.traces else "",
            _number(self.notes, "temporary note") if self.notes else "",
        ]
        return ", ".join(filter(None, parts))


NOTHING = LeftOut()


def exclude(text: str) -> tuple[str, LeftOut]:
    """A text without what is excluded, and how much that was.

    Of a trace the error's own line stays, of a block its language and length; temporary notes go whole.
    """
    blocks, traces, notes = list[int](), 0, 0

    def fence(found: re.Match[str]) -> str:
        lines = found[3].count("\n")
        blocks.append(lines)
        return f"[code: {found[2] + ', ' if found[2] else ''}{_number(lines, 'line')}]"

    if "```" in text or "~~~" in text:
        text = _FENCE.sub(fence, text)
    if "Traceback" in text:
        text, number = _PYTHON_TRACE.subn(lambda found: f"[trace] {found['error'].strip()}", text)
        traces += number
    if " at " in text or "\tat " in text:
        text, number = _FRAMES.subn("[trace]\n", text)
        traces += number
    if "goroutine " in text:
        text, number = _GOROUTINE.subn("[trace]\n", text)
        traces += number
    if "<!--" in text:
        text, number = _TEMPORARY_BLOCK.subn("", text)
        notes += number
    text, number = _TEMPORARY.subn("", text)
    return text, LeftOut(len(blocks), sum(blocks), traces, notes + number)


def without_exclusions(text: str) -> str:
    """A text without what is excluded (see `exclude`)."""
    return exclude(text)[0]


def _number(number: int, one: str) -> str:
    return f"{number:,} {one if number == 1 else one + 's'}"
