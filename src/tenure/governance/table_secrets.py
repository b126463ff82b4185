"""Secrets in a column of a table, whose name stands at its head: CSV and tab-separated rows, Markdown and database tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.governance.searching import Span
from tenure.governance.secret_fields import field_kind, is_secret

_STEMS = ("pass", "pwd", "secret", "token", "key", "cvv", "cvc")
_SEPARATORS = ("|", "\t", ",", ";")
_HEAD_CELL = re.compile(r"[\w.\- ]{1,40}")
_BARE_CELL = re.compile(r"[\w.\-]{1,40}")
_RULE = re.compile(r"[ |:+=-]+")
_LONGEST_HEAD = 1_000
_MOST_ROWS = 10_000
_KINDS = frozenset({"password", "secret", "token", "api-key", "private-key", "card-code"})


def find_in_tables(text: str, lower: str) -> Iterator[Span]:
    """Values below the name of a secret.

    Args:
        text: any text.
        lower: its `ascii_image` in small letters.
    """
    if "insert" in lower:
        yield from _inserted(text, lower)
    if "\n" not in text:
        return
    for stem in _STEMS:
        done = 0
        place = lower.find(stem)
        while place >= 0:
            start = text.rfind("\n", max(0, place - _LONGEST_HEAD), place) + 1
            end = text.find("\n", place, place + _LONGEST_HEAD)
            if end < 0:
                end = place  # the last line, or one too long to be the head of a table
            elif start >= done and (start or place < _LONGEST_HEAD):
                head = text[start:end]
                separator = next((one for one in _SEPARATORS if one in head), "")
                if separator:
                    spans, end = _column_values(text, head, separator, end)
                    yield from spans
            done = end
            place = lower.find(stem, max(end, place + 1))


def _column_values(text: str, head: str, separator: str, end: int) -> tuple[list[Span], int]:
    """What stands below the names of secrets in this line, and where the table ends."""
    names = [cell.strip(" \t\r\"'*`") for cell in head.split(separator)]
    fits = _HEAD_CELL if separator in "|\t" else _BARE_CELL
    if len(names) < 2 or not all(fits.fullmatch(name) or (not name and separator == "|") for name in names):
        return [], end
    columns = {place: kind for place, name in enumerate(names) if (kind := field_kind(name)) in _KINDS}
    if not columns:
        return [], end
    spans: list[Span] = []
    start = end + 1
    for _ in range(_MOST_ROWS):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        row = text[start : min(stop, start + 4 * _LONGEST_HEAD)]
        if not row or not (_RULE.fullmatch(row) or row.count(separator) == len(names) - 1):
            break
        place = start
        for number, cell in enumerate(row.split(separator)):
            value = cell.strip(" \t\r\"'`")
            if number in columns and is_secret(value, columns[number], data=separator != "," and " " not in value):
                at = place + cell.index(value)
                spans.append((at, at + len(value), columns[number]))
            place += len(cell) + 1
        start = stop + 1
        if stop == len(text):
            break
    return spans, start - 1


_INSERT = re.compile(r"insert\s{1,4}into\s{1,4}[\w.\"`\[\]]{1,80}\s{0,4}\((?P<names>[^()]{3,800})\)\s{0,4}values\s{0,4}", re.IGNORECASE)
_ROW = re.compile(r"\s{0,8},?\s{0,8}\(")
_CELL = re.compile(
    r"\s{0,8}(?:E?'(?P<v>(?:[^'\\\n]|''|\\.){0,1000})'|\"(?P<w>[^\"\n]{0,1000})\"|[^,()'\"]{1,200}|[a-z_]{1,30}\([^()]{0,400}\))\s{0,8}(?P<e>[,)])"
)


def _inserted(text: str, lower: str) -> Iterator[Span]:
    """Values that an SQL statement puts into a column with the name of a secret."""
    place = lower.find("insert")
    while place >= 0:
        found = _INSERT.match(text, place)
        stop = place + 6
        if found is not None:
            stop = found.end()
            kinds = [field_kind(name.strip(' \t\n"`[]')) for name in found["names"].split(",")]
            if any(kind in _KINDS for kind in kinds):
                for _ in range(_MOST_ROWS):
                    row = _ROW.match(text, stop)
                    if row is None:
                        break
                    spans, stop = _row_values(text, row.end(), kinds)
                    yield from spans
        place = lower.find("insert", stop)


def _row_values(text: str, place: int, kinds: list[str]) -> tuple[list[Span], int]:
    spans: list[Span] = []
    for kind in kinds:
        cell = _CELL.match(text, place)
        if cell is None:
            break
        place = cell.end()
        name = "v" if cell["v"] is not None else "w"
        if kind in _KINDS and cell[name] and is_secret(cell[name], kind, data=True):
            spans.append((cell.start(name), cell.end(name), kind))
        if cell["e"] == ")":
            break
    return spans, place
