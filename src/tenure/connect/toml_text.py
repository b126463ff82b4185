"""Puts one table into a TOML file and takes it out again; every other byte stays.

The table goes to the end of the file, where a table of its own can always stand: no line that is there has to be understood
for that, and a file edited since needs no writing anew.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tenure.connect.settings_text import BrokenSettings, Insertion

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
    while True:
        headers = list(_HEADER.finditer(text))
        mine = next((at for at, one in enumerate(headers) if one[1] == table or one[1].startswith(f"{table}.")), None)
        if mine is None:
            if has_table(text, table, name):
                raise BrokenSettings(f"{name}: {table} is not written as a table of its own. Take it out by hand; nothing was written.")
            return text
        start = headers[mine].start()
        end = headers[mine + 1].start() if mine + 1 < len(headers) else len(text)
        # Comments above the next header, after an empty line, are that one's.
        inner = text[start:end]
        own = re.match(r"(?:(?![ \t]*\r?\n|[ \t]*#)[^\n]*\n?|[ \t]*#[^\n]*\n(?![ \t]*\r?\n)(?=[^\[]))*", inner)
        cut = start + (own.end() if own and own.end() else len(inner))
        before = text[:start]
        blank = re.search(r"(?:^|(?<=\n))[ \t]*\r?\n\Z", before)
        text = (before[: blank.start()] if blank else before) + text[cut:]
