"""What of an entry does not go into nodes: blocks of code, traces of errors, temporary notes. The raw log keeps all of it."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_PYTHON_TRACE = re.compile(
    r"^[ \t]*Traceback \(most recent call last\):[ \t]*\n(?:[ \t]+[^\n]*\n?|[ \t]*\n)*(?P<error>[^\n]*)", re.MULTILINE
)
_FRAMES = re.compile(r"(?:^[ \t]+at [^\n]+(?:\n|\Z)){2,}", re.MULTILINE)
_TEMPORARY = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\[?(?:tmp|temp|temporary|scratch)\]?[ \t]*:|<!--[ \t]*(?:tmp|temp)\b)[^\n]*\n?", re.MULTILINE | re.IGNORECASE
)


def without_exclusions(text: str) -> str:
    """A text without blocks of code and frames of traces, each of which leaves a word that it was there; temporary notes go whole.

    Of a trace the error's own line stays, of a block its language and length.
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(_code_mark, text)
    if "Traceback" in text:
        text = _PYTHON_TRACE.sub(lambda found: f"[trace] {found['error'].strip()}", text)
    if " at " in text or "\tat " in text:
        text = _FRAMES.sub("[trace]\n", text)
    return _TEMPORARY.sub("", text)


def _code_mark(found: re.Match[str]) -> str:
    lines = found[3].count("\n")
    return f"[code: {found[2] + ', ' if found[2] else ''}{lines} {'line' if lines == 1 else 'lines'}]"
