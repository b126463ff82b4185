"""How foreign texts are made fit to stand inside a lesson."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")


def printable(text: str) -> str:
    """One line without control, format and surrogate characters."""
    if not text.isascii() or not text.isprintable():
        composed = unicodedata.normalize("NFC", text)
        text = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in composed)
    return _SPACE.sub(" ", text).strip()


def tool_name(tool: str) -> str:
    """A tool's name as a lesson writes it: one line, between backticks."""
    return f"`{printable(tool).replace('`', '')[:80]}`"
