"""Frontmatter: the lines of names and values between two `---` on top of a Markdown file. What is written here is YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

Value = str | int | Sequence[str]

_KEY = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*?))?[ \t]*")
# JSON leaves these as they are; YAML takes some for ends of lines and refuses others.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
# A comma within quotes ends no item.
_ITEM = re.compile(r'[ \t]*("(?:[^"\\]|\\.)*"(?=[ \t]*(?:,|$))|[^,]*)(?:[ \t]*,|$)')
_BARE = re.compile(r"[A-Za-z][\w+-]*")


def write_frontmatter(values: Mapping[str, Value]) -> str:
    """Names and values as the top of a Markdown file, with a blank line below.

    Args:
        values: in the order in which they are to stand; texts, whole numbers, lists of texts.
    """
    lines = [f"{name}: {_written(value)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def split_frontmatter(text: str) -> tuple[dict[str, Value], str]:
    """The values on top of a file, and what stands below them.

    Reads what `write_frontmatter` writes, and of other YAML plain values and lists on one line. Where there is no
    frontmatter, or something else than names and values in it, there are no values and the text stays whole.
    """
    if not text.startswith("---\n"):
        return {}, text
    head, mark, rest = text[4:].partition("\n---\n")
    if not mark:
        head, mark, rest = text[4:].removesuffix("\n---"), "", ""
        if len(head) == len(text) - 4:
            return {}, text
    values: dict[str, Value] = {}
    for line in head.split("\n"):
        found = _KEY.fullmatch(line)
        if found is None:
            return {}, text
        values[found[1]] = _read(found[2] or "")
    return values, rest.removeprefix("\n")


def texts_of(value: Value | None) -> tuple[str, ...]:
    """A value as a list of texts; a text is cut at its commas."""
    if value is None or isinstance(value, int):
        return ()
    return tuple(filter(None, (part.strip() for part in value.split(",")))) if isinstance(value, str) else tuple(value)


def _written(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    return f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text) and text.casefold() not in ("null", "true", "false", "yes", "no", "on", "off", "y", "n"):
        return text
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _read(said: str) -> Value:
    if said.startswith("["):
        try:
            held = json.loads(said)
            if all(isinstance(one, str) for one in held):
                return tuple(held)
        except ValueError:
            pass
        parts = (found[1].strip() for found in _ITEM.finditer(said[1:].removesuffix("]")))
        return tuple(str(_read(part)) for part in parts if part)
    if said.startswith('"'):
        try:
            held = json.loads(said)
        except ValueError:
            return said
        return held if isinstance(held, str) else said
    if re.fullmatch(r"-?\d{1,18}", said):
        return int(said)
    return said.split(" #", 1)[0].rstrip()
