"""Tables as lines of text: columns as wide as they need to be, texts wrapped to the room at hand, nothing cut.

Own code, because a table of ten thousand lessons must not take ten seconds, nor a small one the time
to load a drawing library.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Piece = tuple[str, str]
"""A text and its style; an empty style is plain."""

Line = list[Piece]
"""Pieces that stand side by side."""

LEAST_TEXT = 30
"""Columns that a text needs beside others; where there are fewer it stands below them."""

GAP = 2
"""Columns between two columns of a table."""

_TOKEN = re.compile(r"\S+|\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes:
        title: its heading.
        style: a colour or weight for its plain cells.
        right: whether its values are set to the right.
        wraps: whether its texts may be broken over several lines; others are broken only where a line is all theirs.
        optional: whether it is left out where it has no value in any row.
    """

    title: str
    style: str = ""
    right: bool = False
    wraps: bool = False
    optional: bool = False


def lay_out(columns: Sequence[Column], rows: Sequence[Sequence[Sequence[Piece]]], *, width: int, headed: bool) -> Iterator[Line]:
    """The lines of a table.

    Args:
        columns: at least one.
        rows: a cell per column, each as pieces; line breaks in them are kept.
        width: columns of the terminal.
        headed: whether the titles stand above.
    """
    kept = [place for place, column in enumerate(columns) if not column.optional or any(text for row in rows for text, _ in row[place])]
    shown = [columns[place] for place in kept]
    cells = [[_styled(row[place], columns[place].style) for place in kept] for row in rows]
    natural = [max((_widest(row[place]) for row in cells), default=0) for place in range(len(shown))]
    if headed:
        natural = [max(size, cells_of(column.title)) for size, column in zip(natural, shown, strict=True)]
    room = width - GAP * (len(shown) - 1) - sum(size for size, column in zip(natural, shown, strict=True) if not column.wraps)
    texts = [size for size, column in zip(natural, shown, strict=True) if column.wraps]
    if room < 0 and headed and not texts and natural[0] + GAP + max(natural[1:], default=width) <= width:
        yield from _figures(shown, cells, natural, width)
        return
    if room < min(sum(texts), LEAST_TEXT * len(texts)):
        yield from _stacked(shown, cells, width)
        return
    shares = iter(_shared(texts, room))
    widths = [next(shares) if column.wraps else size for size, column in zip(natural, shown, strict=True)]
    if headed:
        yield from _side_by_side([[[(column.title, "bold")]] for column in shown], shown, widths)
    for row in cells:
        yield from _side_by_side([wrapped(cell, size) for cell, size in zip(row, widths, strict=True)], shown, widths)


def wrapped(cell: Sequence[Piece], width: int) -> list[Line]:
    """A cell as lines of at most `width` columns: broken at spaces, and inside a word only if it is wider than a line."""
    wrapping = _Wrapping(width)
    for text, style in cell:
        for place, part in enumerate(text.expandtabs(4).split("\n")):
            if place:
                wrapping.begin_line(continued=False)
            for token in _TOKEN.findall(part):
                wrapping.put(token, style)
    return wrapping.lines


class _Wrapping:
    """Lines that fill up with words."""

    def __init__(self, width: int) -> None:
        self.lines: list[Line] = [[]]
        self._width = self._room = width
        self._continued = False

    def begin_line(self, *, continued: bool) -> None:
        self.lines.append([])
        self._room, self._continued = self._width, continued

    def put(self, token: str, style: str) -> None:
        """Add a word, or the space between two."""
        size = cells_of(token)
        if token.isspace() and (size > self._room or (self._continued and not self.lines[-1])):
            if self.lines[-1]:
                self.begin_line(continued=True)
            return  # spaces at which a line is broken
        if size > self._room and self.lines[-1]:
            self.begin_line(continued=True)
        rest = token
        while cells_of(rest) > self._room:
            head = _head(rest, max(1, self._room))
            self._append(head, style)
            self.begin_line(continued=True)
            rest = rest[len(head) :]
        self._append(rest, style)

    def _append(self, text: str, style: str) -> None:
        line = self.lines[-1]
        if line and line[-1][1] == style:
            line[-1] = (line[-1][0] + text, style)
        elif text:
            line.append((text, style))
        self._room -= cells_of(text)


def cells_of(text: str) -> int:
    """How many columns a text takes on a terminal: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _head(token: str, width: int) -> str:
    """As much of a word as fits, at least one character."""
    size = 0
    for place, character in enumerate(token):
        size += _cells(character)
        if size > width:
            return token[: max(1, place)]
    return token


def _widest(cell: Sequence[Piece]) -> int:
    text = "".join(text for text, _ in cell)
    return max(map(cells_of, text.expandtabs(4).split("\n")))


def _styled(cell: Sequence[Piece], style: str) -> Sequence[Piece]:
    return [(text, own or style) for text, own in cell] if style else cell


def _shared(wanted: Sequence[int], room: int) -> list[int]:
    """Room dealt out: none gets more than it wants, and what one leaves goes to the others."""
    given = [0] * len(wanted)
    for rank, place in enumerate(sorted(range(len(wanted)), key=lambda place: wanted[place])):
        given[place] = min(wanted[place], room // (len(wanted) - rank))
        room -= given[place]
    return given


def _side_by_side(cells: Sequence[list[Line]], columns: Sequence[Column], widths: Sequence[int]) -> Iterator[Line]:
    for number in range(max(map(len, cells))):
        line: Line = []
        for place, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
            part = cell[number] if number < len(cell) else []
            filling = " " * (width - sum(cells_of(text) for text, _ in part))
            gap = " " * GAP if place < len(cells) - 1 else ""
            line += [(filling, ""), *part, (gap, "")] if column.right else [*part, (filling + gap, "")]
        yield line


def _figures(columns: Sequence[Column], rows: Sequence[Sequence[Sequence[Piece]]], widths: Sequence[int], width: int) -> Iterator[Line]:
    """Short values in more columns than there is room for: turned around if that fits, else in parts below each other.

    Each part has the first column again, which says what a row is of, and its titles.
    """
    titles = [[(column.title, "bold")] for column in columns]
    sides = [max([_widest(row[0]), *(_widest(cell) for cell in row[1:])]) for row in rows]
    if rows and max(map(_widest, titles)) + sum(sides) + GAP * len(sides) <= width:
        turned = [Column(title=""), *(Column(title="", right=columns[-1].right) for _ in rows)]
        sizes = [max(map(_widest, titles)), *sides]
        for place, title in enumerate(titles):
            cells = [title, *(row[place] for row in rows)]
            yield from _side_by_side([wrapped(cell, size) for cell, size in zip(cells, sizes, strict=True)], turned, sizes)
        return
    start = 1
    while start < len(columns):
        end, room = start + 1, width - widths[0] - GAP - widths[start]
        while end < len(columns) and room >= GAP + widths[end]:
            room -= GAP + widths[end]
            end += 1
        if start > 1:
            yield []
        places = (0, *range(start, end))
        part, sizes = [columns[place] for place in places], [widths[place] for place in places]
        for row in (titles, *rows):
            yield from _side_by_side([wrapped(row[place], widths[place]) for place in places], part, sizes)
        start = end


def _stacked(columns: Sequence[Column], rows: Sequence[Sequence[Sequence[Piece]]], width: int) -> Iterator[Line]:
    """Rows for a narrow terminal: short values in a line, texts below it."""
    for row in rows:
        short: list[Piece] = []
        for cell, column in zip(row, columns, strict=True):
            if not column.wraps and any(text for text, _ in cell):
                short += [*([("  ", "")] if short else []), *cell]
        if short:
            yield from wrapped(short, width)
        for cell, column in zip(row, columns, strict=True):
            if column.wraps and any(text for text, _ in cell):
                yield from ([("  ", ""), *line] for line in wrapped(cell, max(1, width - 2)))
