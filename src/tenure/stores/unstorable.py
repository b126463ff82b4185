"""Texts that no database keeps."""

from __future__ import annotations

from tenure.errors import UnstorableValue


def unstorable_text(exc: UnicodeEncodeError) -> UnstorableValue:
    """The error for a text that could not be written as UTF-8. It says which character it was, and nothing of the text around it."""
    found = ord(exc.object[exc.start])
    return UnstorableValue(f"a text with half a character (U+{found:04X})")
