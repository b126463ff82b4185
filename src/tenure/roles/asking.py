"""How the roles put things to a model: instructions from files, and data that stays data.

Instructions are the Markdown files in `prompts`, sent as they are. All that comes from runs, lessons
and people is sent as lines of JSON in a fenced block, in which no text can end its line, its block
or the message, whatever it holds.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

_FENCE = "```"
# What could end the block (backticks) or the message (a chat template's own tokens); and all beyond the
# letters in daily use, which is looked at one by one for what no reader sees.
_UNSAFE = re.compile(
    r"`{3,}|<(?=\||/?s>)|\[(?=/?INST\])"
    r"|[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u03ff\u0400-\u052f\u3000-\u9fff\uac00-\ud7a3]"
)
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


@cache
def instructions(name: str) -> str:
    """The text of `prompts/<name>.md`, without the line break at its end."""
    return (resources.files("tenure.roles") / "prompts" / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


def data_line(value: Any) -> str:
    """A JSON value on one line that cannot be taken for structure.

    Backticks in threes, the special tokens of chat templates, and characters that nobody sees
    (control, format, private, unpaired) are written as JSON escapes, so it still parses to the value.
    """
    return _UNSAFE.sub(_escaped, json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str))


def data_block(values: Iterable[Any]) -> str:
    """JSON values, one a line, in a fenced block; lines that are already made are taken as they are."""
    lines = [value if isinstance(value, str) else data_line(value) for value in values]
    return "\n".join((f"{_FENCE}jsonl", *lines, _FENCE))


def present(**values: Any) -> dict[str, Any]:
    """The values that say something: none, empty texts, lists and objects are left out."""
    return {key: value for key, value in values.items() if value is not None and value not in ("", (), [], {})}


def _escaped(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 1 and text not in "<[" and unicodedata.category(text) not in _UNSEEN:
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
