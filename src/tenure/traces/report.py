"""What reading logs met on its way: how much was read, and what was not."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Unit = Literal["file", "line", "element"]

DETAILS_KEPT = 100
"""Unreadable places kept with path and reason; all of them are counted."""

_KINDS_KEPT = 200
_KIND_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """One place that could not be read.

    Attributes:
        path: the file, as text that can always be printed.
        number: line of a JSONL file or element of a JSON list, from 1; 0 for the file as a whole.
        reason: why, in words; never holds text from the file, which may be private.
        unit: what `number` counts.
    """

    path: str
    number: int = 0
    reason: str
    unit: Unit = "file"

    def __str__(self) -> str:
        place = f", {self.unit} {self.number}" if self.number else ""
        return f"{self.path}{place}: {self.reason}"


@dataclass(slots=True, kw_only=True)
class ReadReport:
    """Collects what reading met; one can be shared by many files.

    Attributes:
        files: files whose format was recognised and that were opened.
        runs: runs that were handed out.
        unreadable: the first `DETAILS_KEPT` places that could not be read; `count` has them all.
        unknown_kinds: record kinds that no reader knows, as `host:kind`, with their counts. They
            are left out of the run; the rest of it is read.
        repairs: what was mended or left out on purpose, in words, with counts: `image left out`.
    """

    files: int = 0
    runs: int = 0
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])
    unknown_kinds: Counter[str] = field(default_factory=Counter[str])
    repairs: Counter[str] = field(default_factory=Counter[str])
    _count: int = field(default=0, init=False)

    @property
    def count(self) -> int:
        """How many places could not be read, those without details included."""
        return self._count

    def lost(self, path: Path, reason: str, *, number: int = 0, unit: Unit = "file") -> None:
        """Records a place that could not be read."""
        self._count += 1
        if len(self.unreadable) < DETAILS_KEPT:
            self.unreadable.append(Unreadable(path=printable(path), number=number, reason=reason, unit=unit if number else "file"))

    def unknown(self, host: str, kind: str) -> None:
        """Records a record of a kind that the reader of `host` does not know."""
        name = f"{host}:{kind}"[:_KIND_LENGTH]
        # A hostile file could name a new kind on every line; the report must stay small.
        self.unknown_kinds[name if name in self.unknown_kinds or len(self.unknown_kinds) < _KINDS_KEPT else "other"] += 1

    def repaired(self, what: str, times: int = 1) -> None:
        """Records something that was mended or left out on purpose."""
        if times:
            self.repairs[what] += times

    def summary(self, *, places: int = 10) -> str:
        """What was read and what was not, for a person; lines without a closing newline.

        Args:
            places: how many unreadable places to name.
        """
        lines = [f"Read {_counted(self.runs, 'run')} from {_counted(self.files, 'file')}."]
        if self._count:
            lines.append(f"Could not read {_counted(self._count, 'place')}:")
            lines.extend(f"  {place}" for place in self.unreadable[:places])
            if self._count > min(places, len(self.unreadable)):
                lines.append(f"  and {self._count - min(places, len(self.unreadable))} more")
        if self.repairs:
            lines.append("Mended or left out: " + ", ".join(f"{what} ({n})" for what, n in sorted(self.repairs.items())) + ".")
        if self.unknown_kinds:
            lines.append("Unknown record kinds: " + ", ".join(f"{kind} ({n})" for kind, n in self.unknown_kinds.most_common(10)) + ".")
        return "\n".join(lines)


def printable(path: Path) -> str:
    """A path as text that any terminal and any JSON can hold, also if its name is not valid UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
