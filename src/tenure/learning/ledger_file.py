"""Files that hold a shared ledger: read line by line in any order, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tenure.errors import UnreadableInput, UserError
from tenure.governance.ledger import amendments
from tenure.governance.ledger_lines import BadLine, Link, is_ledger_line, read_line
from tenure.governance.ledger_tree import Place

TOLD_EVERY = 500
"""Lines after which reading says how far it is."""

NAMED = 5
"""Bad lines that an error names."""

_LOOKED_AT = 40
"""First lines of a file that are looked at to tell what it is."""


class Entry(NamedTuple):
    """What is remembered of a line: enough to judge the chain, and where to read the rest again."""

    line: int
    offset: int
    size: int
    writer: str
    place: Place
    sealed: str
    delta: str
    genuine: bool
    tombstone: str


class LedgerFile:
    """A file of ledger lines. Memory holds a few hundred bytes a line; texts are read again where they are wanted.

    Args:
        source: open for reading, and able to seek.
        name: for messages.
        tell: called now and then with the bytes read.

    Raises:
        UnreadableInput: a line is no link, or was changed; nothing of the file may be used then.
    """

    def __init__(self, source: BinaryIO, name: str, *, tell: Callable[[int], None] | None = None) -> None:
        self._source, self.name = source, name
        self.links: dict[str, list[Entry]] = {}
        self.repeated = 0
        problems: list[str] = []
        source.seek(0)
        offset = 0
        for number, raw in enumerate(source, 1):
            try:
                self._take(number, offset, raw)
            except BadLine as exc:
                problems.append(f"line {number}: {exc}")
                if len(problems) > NAMED:
                    break
            offset += len(raw)
            if tell is not None and number % TOLD_EVERY == 0:
                tell(offset)
        if problems:
            more = "; and more" if len(problems) > NAMED else ""
            raise UnreadableInput(f"{name}, {'; '.join(problems[:NAMED])}{more}. Nothing was imported.")

    def _take(self, number: int, offset: int, raw: bytes) -> None:
        text = _decoded(raw, first=number == 1).strip()
        if not text:
            return
        link = read_line(text)
        held = link.held
        entry = Entry(
            number,
            offset,
            len(raw),
            link.writer,
            Place(link.seq, link.previous, link.digest),
            link.sealed,
            str(held["id"]),
            link.genuine,
            link.payload if "amends" in held else "",
        )
        known = self.links.setdefault(link.digest, [])
        if known and (known[0].writer, known[0].place) != (entry.writer, entry.place):
            raise BadLine(f"it has the digest of line {known[0].line} and stands elsewhere in the chain: one of the two was changed")
        if any(one.sealed == entry.sealed for one in known):
            self.repeated += 1
        else:
            known.append(entry)

    def link(self, entry: Entry) -> Link:
        """The link that a line holds, read again."""
        self._source.seek(entry.offset)
        return read_line(_decoded(self._source.read(entry.size), first=entry.line == 1).strip())

    def vouched(self, but: Iterable[str] = ()) -> dict[str, dict[int, str]]:
        """What the tombstones of the file say (see `ledger.amendments`), those among some links left out."""
        left_out = set(but)
        found = (one for digest, entries in self.links.items() if digest not in left_out for one in entries if one.tombstone)
        order = sorted(found, key=lambda one: (one.delta, one.place.digest))
        return amendments((one.writer, one.place.seq, one.tombstone) for one in order)


def _decoded(raw: bytes, *, first: bool) -> str:
    try:
        return raw.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError as exc:
        raise BadLine(f"it is no UTF-8 text: byte {raw[exc.start]:#04x}") from exc


def holds_ledger(start: bytes) -> bool:
    """Whether a file that begins so holds a shared ledger; conflict markers and damaged lines among the first do not hide it."""
    lines = start[:1_000_000].decode("utf-8-sig", "replace").splitlines()[:_LOOKED_AT]
    return any(map(is_ledger_line, lines)) or any(_begins_like_one(line) for line in lines[:1])


def _begins_like_one(line: str) -> bool:
    """Whether a line that is too long to be seen whole, or was cut off, begins as a link does."""
    return line.startswith('{"digest":"') and '"ledger":' in line[:120]


def write_lines(target: Path, lines: Iterable[str]) -> tuple[int, bool]:
    """Write a file so that readers see the old one or the new one, whole.

    Args:
        target: its path; what is there is replaced, unless it holds the same already.
        lines: without their ends.

    Returns:
        Its size in bytes, and whether it was written: false if nothing had changed.

    Raises:
        UserError: it is a folder, or cannot be written.
    """
    real = Path(os.path.realpath(target))
    if real.is_dir():
        raise UserError(f"'{target}' is a folder. Name a file in it, such as {target / 'playbook.ledger.jsonl'}")
    try:
        if os.path.exists(real) and not os.path.isfile(real):  # a device or a pipe: a file put in its place would break it
            with real.open("wb") as pipe:
                return _write(pipe, lines), True
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=".tenure-", suffix=".new")
    except FileNotFoundError as exc:
        raise UserError(f"Folder '{real.parent}' does not exist; make it first, or name another.") from exc
    except OSError as exc:
        raise UserError(f"File '{target}' cannot be written: {(exc.strerror or str(exc)).lower()}.") from exc
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            size = _write(file, lines)
            file.flush()
            os.fsync(file.fileno())
        if real.exists() and _same(made, real):
            return size, False
        os.chmod(made, real.stat().st_mode & 0o777 if real.exists() else 0o644)
        os.replace(made, real)
    except OSError as exc:
        raise UserError(f"File '{target}' cannot be written: {(exc.strerror or str(exc)).lower()}.") from exc
    finally:
        made.unlink(missing_ok=True)
    return size, True


def _write(file: BinaryIO, lines: Iterable[str]) -> int:
    size = 0
    for line in lines:
        size += file.write(f"{line}\n".encode())
    return size


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        return all(a == b for a, b in zip(_blocks(left), _blocks(right), strict=True))


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(1 << 20):
        yield block


def portions(values: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    """Values in portions that a database can be asked for at once."""
    return (values[start : start + size] for start in range(0, len(values), size))
