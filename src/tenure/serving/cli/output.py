"""What the command line prints: results on stdout, talk on stderr, in colour only where that is wanted.

Text of lessons and runs is data. `visible` takes from it whatever could steer a terminal, and tables
never read markup in it. The drawing library is imported only where a bar is drawn.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TextIO

from tenure.serving.cli.layout import Column, Piece, lay_out

if TYPE_CHECKING:
    from rich.console import Console

COLOURS = ("auto", "always", "never")
"""What `--color` takes."""

WIDTH = 100
"""Columns where there is no terminal to ask."""

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANSI = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


_for_now: list[TextIO] = []
"""Streams on whose last line stands something that the next one takes the place of."""

Cell = str | Sequence[Piece]
"""A plain text, or pieces of text each with a style."""


class Terminal:
    """Where a command prints.

    Args:
        colour: one of `COLOURS`.
    """

    def __init__(self, colour: str = "auto") -> None:
        self._colour = colour

    # -- results: stdout ---------------------------------------------------------------------------

    def text(self, text: str) -> None:
        """Print a text as it is, with nothing added but a closing line break if it has none.

        On a terminal, what could steer it is shown as its escape; a file or a program gets the text itself.
        """
        shown = visible(text) if is_terminal(sys.stdout) else text
        self._write(sys.stdout, shown if shown.endswith("\n") or not shown else f"{shown}\n")

    def document(self, value: object) -> None:
        """Print one JSON document."""
        plain = _encodes_everything(sys.stdout)
        text = json.dumps(value, ensure_ascii=not plain, indent=2, default=_jsonable)
        # A lone surrogate is no character; as an escape it is still JSON, and reads back as it was.
        self._write(sys.stdout, _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")

    def heading(self, text: str) -> None:
        """Print a line that names what follows."""
        self._write(sys.stdout, f"{self._styled(visible(text), 'bold', sys.stdout)}\n")

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, headed: bool = True) -> None:
        """Print a table. Texts are wrapped to the width at hand, never cut; lines of a cell stay lines.

        Args:
            columns: at least one.
            rows: a cell per column.
            headed: whether the columns' titles stand above.
        """
        cells = [[_pieces(cell) for cell in row] for row in rows]
        width = shutil.get_terminal_size((WIDTH, 24)).columns
        coloured = self._coloured(sys.stdout)
        painted = (
            "".join(_painted(text, style if coloured else "") for text, style in line)
            for line in lay_out(columns, cells, width=width, headed=headed)
        )
        # The filling up to the table's width is of no use to anybody, least of all in a file.
        self._write(sys.stdout, "".join(f"{line.rstrip()}\n" for line in painted))

    def facts(self, facts: Iterable[tuple[str, Cell]]) -> None:
        """Print names and values, one pair a line."""
        self.table([Column(title="", style="bold"), Column(title="", wraps=True)], facts, headed=False)

    def verdict(self, good: bool, yes: str, no: str, width: int) -> str:
        """One of two words for stdout, as a cell of a width, in the colour it deserves."""
        word = yes if good else no
        return self._styled(word, "green" if good else "red", sys.stdout) + " " * max(0, width - len(word))

    # -- talk: stderr ------------------------------------------------------------------------------

    def say(self, text: str = "") -> None:
        """Tell the person something that is not the result."""
        self._write(sys.stderr, f"{visible(text)}\n")

    def for_now(self, text: str) -> None:
        """Say on a terminal, and nowhere else, what takes a while; what is written next takes its place."""
        if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb":
            self._write(sys.stderr, visible(text))
            _for_now.append(sys.stderr)

    def warn(self, text: str) -> None:
        """Tell the person what did not go as asked."""
        self._write(sys.stderr, f"{self._styled('note:', 'yellow', sys.stderr)} {visible(text)}\n")

    def fail(self, text: str) -> None:
        """Say why the command ends without its result."""
        self._write(sys.stderr, f"{self._styled('error:', 'red', sys.stderr)} {visible(text)}\n")

    @contextmanager
    def progress(self, what: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
        """A bar on stderr while work lasts; nothing where stderr is no terminal.

        Args:
            what: the work, in a word.
            total: how much there is to do; none if that is not known.

        Yields:
            A function that takes how much is done and a text with counts.
        """
        if not is_terminal(sys.stderr):
            yield lambda done, counts: None
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        _take_back()
        share = (TaskProgressColumn(),) if total else ()
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            *share,
            TextColumn("{task.fields[counts]}", markup=False),
        )
        with Progress(*columns, TimeElapsedColumn(), console=self._console(sys.stderr), transient=True) as bar:
            task = bar.add_task(what, total=total or None, counts="")
            yield lambda done, counts: bar.update(task, completed=done, counts=counts)

    def ask(self, question: str) -> None:
        """Put a question to the person, whose answer is read behind it."""
        self._write(sys.stderr, visible(question))

    def confirm(self, question: str) -> bool:
        """Whether the person at the terminal agrees; yes without asking where nobody is there to ask."""
        if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            return True
        self._write(sys.stderr, f"{visible(question)} [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    # -- how ---------------------------------------------------------------------------------------

    def _styled(self, text: str, style: str, stream: TextIO) -> str:
        return _painted(text, style if self._coloured(stream) else "")

    def _coloured(self, stream: TextIO) -> bool:
        if self._colour != "auto":
            return self._colour == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return is_terminal(stream) and os.environ.get("TERM") != "dumb"

    def _console(self, stream: TextIO) -> Console:
        """A console to draw on."""
        from rich.console import Console

        coloured = self._coloured(stream)
        return Console(
            file=stream,
            width=shutil.get_terminal_size((WIDTH, 24)).columns,
            force_terminal=coloured or is_terminal(stream),
            color_system="standard" if coloured else None,
            no_color=not coloured,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def _write(self, stream: TextIO | None, text: str) -> None:
        if stream is None:  # closed by whoever started this: nobody wants to hear it
            return
        _take_back()
        stream.write(text)
        # Both streams often lead to one place: what is said must stand in the order in which it was said.
        stream.flush()


def _take_back() -> None:
    while _for_now:
        stream = _for_now.pop()
        stream.write("\r\x1b[K")
        stream.flush()


def visible(text: str) -> str:
    """A text that cannot steer a terminal: every character that is not seen stands as its escape. Lines stay lines."""
    plain = text.replace("\r\n", "\n")
    if plain.isascii() and plain.isprintable():
        return plain
    return "".join(_escape(c) if c not in "\n\t" and unicodedata.category(c) in _HIDDEN else c for c in plain)


def one_line(text: str, most: int | None = None) -> str:
    """A text as one line, cut to `most` characters with a mark."""
    plain = " ".join(visible(text).split())
    return plain if most is None or len(plain) <= most else plain[: most - 1].rstrip() + "…"


def local_time(at: str) -> str:
    """An ISO 8601 moment in the local zone, to the minute; what is none comes back as it is."""
    if not at:
        return ""
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return one_line(at, 30)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 lesson`, `1,200 lessons`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def money(cost_usd: Decimal | None) -> str:
    """An amount in US dollars; an unknown one is not 0."""
    if cost_usd is None:
        return "cost unknown"
    return f"${cost_usd:.2f}" if cost_usd >= 1 or not cost_usd else f"${cost_usd:.4f}"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sits at the other end of a stream; none is what Python has for one that was closed before it began."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _pieces(cell: Cell) -> list[Piece]:
    return [(visible(cell), "")] if isinstance(cell, str) else [(visible(text), style) for text, style in cell]


def _painted(text: str, style: str) -> str:
    return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if style and text else text


def _encodes_everything(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig")


def _jsonable(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, frozenset | set | tuple):
        return list(value)
    return str(value)
