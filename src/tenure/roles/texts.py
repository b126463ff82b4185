"""How foreign texts are made fit to stand inside a lesson."""

from __future__ import annotations

import re
import unicodedata

from tenure.governance.hidden_text import quote

# `get_order` and `webSearch` are seen to be names; `Read` and `charge` are not. Marks cost tokens, and budgets are small.
_COMPOUND = re.compile(r"[A-Za-z]\w*(?:_|[a-z](?=[A-Z]))\w+")
_SPACE = re.compile(r"\s+")


def printable(text: str) -> str:
    """One line without control, format and surrogate characters."""
    if not text.isascii() or not text.isprintable():
        composed = unicodedata.normalize("NFC", text)
        text = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in composed)
    return _SPACE.sub(" ", text).strip()


def tool_name(tool: str) -> str:
    """A tool's name as a lesson writes it: one line; between backticks if it could be taken for a word of the sentence."""
    name = quote(tool, limit=80)
    return name if _COMPOUND.fullmatch(name) else f"`{name}`"
