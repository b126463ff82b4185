"""Puts one table into a TOML file and takes it out again; every other byte stays.

The table goes to the end of the file, where a table of its own can always stand: no line that is there has to be understood
for that, and a file edited since needs no writing anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from tenure.connect.settings_text import BrokenSettings, Insertion

_OWN_LINES = re.compile(r"(?:(?![ \t]*\r?\n|[ \t]*#)[^\n]*\n?|[ \t]*#[^\n]*\n(?![ \t]*\r?\n)(?=[^\[]))*")
_EMPTY_LINE = re.compile(r"(?:^|(?<=\n))[ \t]*\r?\n\Z")
_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([^\]\r\n]+?)[ \t]*\]", re.MULTILINE)


def read_toml(text: str, name: str) -> dict[str, Any]:
    """The values of a file.

    Raises:
        BrokenSettings: it is no TOML; the message has the line.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as exc:
        where = re.search(r"line (\d+), column (\d+)", str(exc))
        place = f"line {where[1]}, column {where[2]}" if where else "at its end"
        raise BrokenSettings(
            f"{name}, {place}: {str(exc).partition(' (at ')[0].lower()}. Mend the file, then run this again; nothing was written."
        ) from exc


def has_table(text: str, table: str, name: str) -> bool:
    """Whether a table is there, in whatever way it is written."""
    held: Any = read_toml(text, name)
    for part in table.split("."):
        if not isinstance(held, dict) or part not in held:
            return False
        held = held[part]
    return True


def put_table(text: str, block: str, *, name: str) -> tuple[str, tuple[Insertion, ...]]:
    """A text with a table more.

    Args:
        text: of the file.
        block: the table, lines ended by `\\n`.
        name: of the file, for messages.

    Raises:
        BrokenSettings: the file is no TOML, or the table cannot stand in it.
    """
    read_toml(text, name)
    found = re.search(r"\r\n|\n", text)
    line_break = found.group() if found else "\n"
    gap = "" if not text.strip("\ufeff") else line_break if text.endswith("\n") else line_break * 2
    new = gap + block.replace("\n", line_break)
    try:
        read_toml(text + new, name)
    except BrokenSettings as exc:
        header = block.partition("\n")[0]
        raise BrokenSettings(
            f"{name}: {header} cannot be put at its end, because what stands above it is written in one line. "
            f"Write that as a table of its own ([{header.strip('[]').rpartition('.')[0]}]), then run this again; nothing was written."
        ) from exc
    return text + new, (Insertion(at=len(text), text=new),)


def without_table(text: str, table: str, *, name: str) -> str:
    """A text without a table and the tables below it, and without the empty line before it.

    Raises:
        BrokenSettings: the file is no TOML, or the table is written in a way that cannot be taken out alone.
    """
    held = read_toml(text, name)
    while has_table(text, table, name):
        # A line like a header may stand in a string of many lines: what is taken out is what leaves all other values as they are.
        shorter = next((one for one in _shorter(text, table) if _is_only_without(one, held, table, name)), None)
        if shorter is None:
            raise BrokenSettings(f"{name}: {table} is not written as a table of its own. Take it out by hand; nothing was written.")
        text = shorter
    return text


def _shorter(text: str, table: str) -> Iterator[str]:
    """Texts without a run of lines that looks like the table and those below it, for each such run, the longest first."""
    headers = list(_HEADER.finditer(text))
    ours = [one[1] == table or one[1].startswith(f"{table}.") for one in headers]
    runs = [(first, last) for first in range(len(headers)) for last in range(first, len(headers)) if all(ours[first : last + 1])]
    for first, last in sorted(runs, key=lambda run: run[0] - run[1]):
        inner = headers[last].start()
        end = headers[last + 1].start() if last + 1 < len(headers) else len(text)
        # Comments above the next header, after an empty line, are that one's.
        own = _OWN_LINES.match(text[inner:end])
        cut = inner + (own.end() if own and own.end() else end - inner)
        before = text[: headers[first].start()]
        blank = _EMPTY_LINE.search(before)
        yield (before[: blank.start()] if blank else before) + text[cut:]


def _is_only_without(text: str, held: dict[str, Any], table: str, name: str) -> bool:
    """Whether a text has all values that were there but for those of a table; objects that held nothing else may be gone too."""
    try:
        found = read_toml(text, name)
    except BrokenSettings:
        return False
    return _pruned(found, table.split(".")) == _pruned(held, table.split("."))


def _pruned(held: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """Values without those at a path, and without what holds nothing then."""
    first, *rest = path
    below = held.get(first)
    others = {key: value for key, value in held.items() if key != first}
    left = _pruned(below, rest) if rest and isinstance(below, dict) else {}
    return {**others, first: left} if left else others
