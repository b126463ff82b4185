"""Records out of a file, one at a time and in bounded memory: JSON lines, one JSON list, or one JSON document.

What is broken is named in the report and left out; the rest goes on.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tenure.traces.decoding import (
    DECODER,
    DEFAULT_LIMITS,
    Limits,
    Record,
    may_hold_surrogates,
    nested_too_deeply,
    reason_of,
    without_lone_surrogates,
)
from tenure.traces.json_list import read_elements
from tenure.traces.report import ReadReport

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HALF_CODE = re.compile(rb"u[0-9a-fA-F]{0,3}$")


def read_records(
    path: Path, report: ReadReport, *, lists: bool = False, whole_strings: bool = False, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """The objects in a file, in order.

    Args:
        path: a JSONL file, a file with one JSON list, or one with a single JSON object over many lines.
        report: told what could not be read.
        lists: whether elements of a JSON list may themselves be lists.
        whole_strings: read long lines as they are instead of cutting long strings in them.
        limits: how much is held at once.

    Raises:
        OSError: the file cannot be opened or read on.
    """
    with path.open("rb") as stream:
        start = stream.read(4)
        if start.startswith(_UTF16):
            report.lost(path, "is UTF-16 text; save it as UTF-8")
            return
        stream.seek(3 if start.startswith(codecs.BOM_UTF8) else 0)
        layout = _layout(stream, limits)
        if layout == "empty":
            report.lost(path, "the file is empty")
            return
        stream.seek(3 if start.startswith(codecs.BOM_UTF8) else 0)
        as_list = layout == "list"
        for record in read_elements(stream, path, report, limits) if as_list else _lines(stream, path, report, limits, whole_strings):
            if not isinstance(record.value, dict) and not (lists and record.unit == "element" and isinstance(record.value, list)):
                report.lost(path, "is valid JSON but not an object", number=record.number, unit=record.unit)
            elif nested_too_deeply(record.value):
                report.lost(path, "JSON nested too deeply", number=record.number, unit=record.unit)
            else:
                yield record


def is_utf16(path: Path) -> bool:
    """Whether a file says that it is UTF-16 text, which some shells write by default.

    Raises:
        OSError: the file cannot be opened.
    """
    with path.open("rb") as stream:
        return stream.read(2).startswith(_UTF16)


def _layout(stream: BinaryIO, limits: Limits) -> str:
    """`empty`, `list` or `lines`, from the first characters that are neither space nor NUL."""
    head = b""
    while len(head) < 2:
        more = stream.read(limits.chunk)
        if not more:
            return "lines" if head else "empty"
        head = (head + more).lstrip(b"\x00 \t\r\n") if not head else head + more
    inner = head[1:].lstrip(b"\x00 \t\r\n")[:1] if head[:1] == b"[" else b""
    if inner not in (b"{", b"[", b"]"):  # a log line such as "[2026-01-01] started" opens no list
        return "lines"
    first_line, _, rest = head.partition(b"\n")
    closed = first_line.rstrip().endswith(b"]") and rest.lstrip()[:1] in (b"{", b"[")
    return "lines" if closed else "list"


def _lines(stream: BinaryIO, path: Path, report: ReadReport, limits: Limits, whole_strings: bool) -> Iterator[Record]:
    number, first = 0, True
    while True:
        line = stream.readline(limits.long_line)
        if not line:
            return
        number += 1
        if len(line) == limits.long_line and not line.endswith(b"\n"):
            line = _whole_line(stream, line, limits) if whole_strings else _cut_line(stream, line, report, limits)
            if not line:
                limit = limits.whole if whole_strings else limits.record
                report.lost(path, f"longer than {limit >> 20} MiB", number=number, unit="line")
                continue
        if b"\x00" in line:  # left behind by a crash while the line was written
            line = line.replace(b"\x00", b"")
            if not line.strip():
                report.lost(path, "holds only NUL bytes", number=number, unit="line")
                continue
            report.repaired("line with NUL bytes")
        if not line.strip():
            continue
        try:
            value = _parsed(line, report)
        except (ValueError, RecursionError) as error:
            if first and (document := _document(stream, line, report, limits)) is not None:
                yield Record(1, document, "line")
                return
            ends = "" if line.endswith(b"\n") else "; the file ends inside it"
            report.lost(path, reason_of(error) + ends, number=number, unit="line")
        else:
            yield Record(number, value, "line")
        first = False


def _parsed(line: bytes, report: ReadReport) -> Any:
    if line.startswith(codecs.BOM_UTF8):  # files joined end to end
        line = line[3:]
    try:
        text = line.decode()
    except UnicodeDecodeError:
        report.repaired("record with invalid UTF-8")
        text = line.decode("utf-8", "replace")
    value = DECODER.decode(text)
    return without_lone_surrogates(value) if may_hold_surrogates(text, 0, len(text)) else value


def _document(stream: BinaryIO, first_line: bytes, report: ReadReport, limits: Limits) -> dict[str, Any] | None:
    """The whole file as one object laid out over many lines, if that is what it is; else the stream is where it was."""
    if not first_line.lstrip().startswith((b"{", codecs.BOM_UTF8)):
        return None
    place = stream.tell()
    rest = stream.read(limits.record)
    try:
        value = _parsed((first_line + rest).replace(b"\x00", b""), report) if len(rest) < limits.record else None
    except (ValueError, RecursionError):
        value = None
    stream.seek(place)
    return value if isinstance(value, dict) else None


def _whole_line(stream: BinaryIO, start: bytes, limits: Limits) -> bytes:
    """A long line as it is; empty if it is too long."""
    line, too_long = bytearray(start), False
    while not line.endswith(b"\n") and (part := stream.readline(limits.chunk)):
        too_long = too_long or len(line) > limits.whole
        if too_long:
            line.clear()  # past the limit the line is only read to its end
        line += part
    return b"" if too_long else bytes(line)


def _cut_line(stream: BinaryIO, start: bytes, report: ReadReport, limits: Limits) -> bytes:
    """A long line with its long strings cut, in bounded memory; empty if even that is too long."""
    cutter = _StringCutter(limits)
    part = start
    while part:
        cutter.feed(part)
        part = b"" if part.endswith(b"\n") else stream.readline(limits.chunk)
    report.repaired("string cut in a long line", cutter.cut)
    return b"" if cutter.too_long else bytes(cutter.out)


class _StringCutter:
    """Copies JSON text and keeps only the start of long strings, without holding more than the result."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.out = bytearray()
        self.cut = 0
        self.too_long = False
        self._inside = False
        self._escaped = False  # whether a backslash at the end of the last piece escapes the next character
        self._kept_from = 0
        self._dropped = 0

    def feed(self, piece: bytes) -> None:
        """Takes the next bytes of the text."""
        # The same bytes without escapes, so that a quote in them is the start or end of a string.
        bare = b"x" + piece[1:] if self._escaped else piece
        bare = bare.replace(b"\\\\", b"xx").replace(b'\\"', b"xx")
        self._escaped = bare.endswith(b"\\")
        at = 0
        while (quote := bare.find(b'"', at)) >= 0:
            self._take(piece[at:quote])
            self._quote()
            at = quote + 1
        self._take(piece[at:])

    def _take(self, part: bytes) -> None:
        if self._inside:
            self._inner(part)
        else:
            self._copy(part)

    def _quote(self) -> None:
        if self._inside and self._dropped:
            self._close_cut()
        self._copy(b'"')
        self._inside = not self._inside
        self._kept_from, self._dropped = len(self.out), 0

    def _inner(self, part: bytes) -> None:
        room = max(0, self._limits.string_kept - (len(self.out) - self._kept_from))
        self._copy(part[:room])
        self._dropped += max(0, len(part) - room)

    def _close_cut(self) -> None:
        """Ends a cut string behind a whole character, so that what is kept is still JSON."""
        kept = bytes(self.out[self._kept_from :])
        half_code = _HALF_CODE.search(kept[-4:])
        stem = kept[: len(kept) - len(half_code.group())] if half_code else kept
        if (len(stem) - len(stem.rstrip(b"\\"))) % 2:  # an escape that was cut in two
            kept = stem[:-1]
        _, used = codecs.utf_8_decode(kept, "replace", False)
        kept = kept[:used]
        mark = f"\\n[... {self._dropped} bytes left out here by Tenure ...]"
        self.out[self._kept_from :] = kept + mark.encode()
        self.cut += 1

    def _copy(self, part: bytes) -> None:
        if len(self.out) + len(part) > self._limits.record:
            self.too_long = True
            self.out.clear()
        if not self.too_long:
            self.out += part
