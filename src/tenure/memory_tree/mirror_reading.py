"""A day's raw log read back from its file: the entries that were written there, and what a person wrote since."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from tenure.errors import UserError
from tenure.memory_tree.entries import ENTRY_TYPES, Entry, one_line
from tenure.memory_tree.frontmatter import split_frontmatter
from tenure.memory_tree.mirror import Quote, unescaped
from tenure.memory_tree.periods import YEARS, stamp

_HEADING = re.compile(r"## .*<!-- tenure: (\{.*\}) -->[ \t]*")
_TEXTS = ("topic", "session", "role", "event", "origin")


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRead:
    """What the file of a day holds.

    Attributes:
        quotes: entries that an export wrote, in their order.
        added: texts that stand beside them, each from one place.
        problems: headings that could not be read, each with the whole line behind why. What stood there is in `added`.
    """

    quotes: tuple[Quote, ...] = ()
    added: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def is_day_file(text: str) -> bool:
    """Whether an export wrote the file, or a part of it."""
    return split_frontmatter(text)[0].get("type") == "raw" or any(_HEADING.fullmatch(line) for line in text.split("\n"))


def read_day_file(text: str, day: str) -> DayRead:
    """Read the file of a day.

    Args:
        text: with `\\n` as line ends.
        day: ISO date; entries are filed in it.
    """
    values, body = split_frontmatter(text)
    if values.get("type") != "raw":
        body = text
    quotes, added, problems = list[Quote](), list[str](), list[str]()
    rest = list[str]()
    lines = body.split("\n")
    place = 0

    def close() -> None:
        said = "\n".join(rest).strip("\n")
        if said.strip():
            added.append(said)
        rest.clear()

    while place < len(lines):
        line = lines[place]
        place += 1
        heading = _HEADING.fullmatch(line)
        if heading is None:
            if line.strip() != f"# {day}":
                rest.append(line)
            continue
        told = _told(heading[1])
        if isinstance(told, str):
            problems.append(f"A heading with a broken comment ({told}): {line}")
            rest.append(line)
            continue
        close()
        quoted = list[str]()
        while place < len(lines) and lines[place].startswith(">"):
            # `> ` and not more: blanks behind it belong to the text.
            quoted.append(lines[place][2:] if lines[place].startswith("> ") else lines[place][1:])
            place += 1
        own = _intact(quoted, str(told.get("digest", "")))
        shown = "\n".join(quoted if own is None else quoted[:own])
        entry = _entry(told, day, unescaped(shown) if told.get("escaped") is True else shown)
        quotes.append(Quote(entry=entry, intact=own is not None))
        if own is not None:
            rest.extend(quoted[own:])
    close()
    return DayRead(quotes=tuple(quotes), added=tuple(added), problems=tuple(problems))


def with_text(quote: Quote, text: str) -> Quote:
    """The same quote with another text of its entry."""
    return replace(quote, entry=replace(quote.entry, text=text))


def _intact(lines: list[str], digest: str) -> int | None:
    """How many lines, from the first, are the text that was written; none if it was changed."""
    held = sha256()
    for n, line in enumerate(lines):
        held.update(f"\n{line}".encode("utf-8", "surrogatepass") if n else line.encode("utf-8", "surrogatepass"))
        if held.hexdigest()[:16] == digest:
            return n + 1
    return None


def _told(comment: str) -> dict[str, Any] | str:
    """What a heading's comment says of an entry; or why it says nothing."""
    try:
        said = json.loads(comment)
    except (ValueError, RecursionError):
        return "no JSON"
    if not isinstance(said, dict) or not isinstance(said.get("id"), str) or not said["id"]:
        return "no id"
    try:
        moment = datetime.fromisoformat(said["at"])
    except (KeyError, TypeError, ValueError):
        return "no moment"
    if moment.utcoffset() is None:
        return "a moment without a zone"
    try:
        said["at"] = stamp(moment)
    except UserError:
        return f"a moment outside of the years {YEARS[0]} to {YEARS[-1]}"
    if said.get("type", "log") not in ENTRY_TYPES:
        return "no type of entry"
    if not all(isinstance(said.get(name, ""), str) for name in _TEXTS) or not isinstance(said.get("done", False), bool):
        return "values of other types"
    return said


def _entry(told: dict[str, Any], day: str, text: str) -> Entry:
    named = {name: told[name] for name in ("type", *_TEXTS, "done") if name in told}
    if "topic" in named:
        named["topic"] = one_line(named["topic"])
    return Entry(id=told["id"], at=told["at"], day=day, text=text, **named)
