"""The elements of a JSON list that is too large to decode at once, one at a time over a growing buffer."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tenure.traces.decoding import DECODER, Limits, Record, may_hold_surrogates, reason_of, without_lone_surrogates
from tenure.traces.report import ReadReport

_MARGIN = 32
"""A parse error this close to the end of what was read so far may only mean that more must be read."""

_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_KEY = re.compile(r'\{\s*"([^"\\\n]{1,64})"\s*:')


def read_elements(stream: BinaryIO, path: Path, report: ReadReport, limits: Limits) -> Iterator[Record]:
    """The elements of a JSON list, decoded one by one over a growing buffer."""
    text = _Text(stream, report, limits)
    buffer = text.more()
    while "[" not in buffer:  # the layout was looked at: there is one
        buffer = text.more()
    at = buffer.index("[") + 1
    number, key = 0, ""
    lost = False  # whether the place we are at follows a loss that was already named
    while True:
        at = _skip_space(buffer, at)
        if at == len(buffer):
            buffer, at = text.more(), 0
            if buffer:
                continue
            if not lost:
                report.lost(path, "the file ends before its list is closed", number=number + 1, unit="element")
            return
        if buffer[at] == "]":
            _name_rest(buffer[at + 1 :], text, path, report)
            return
        if buffer[at] == ",":
            at += 1
            continue
        number += not lost
        try:
            value, buffer, at = _element(buffer, at, text)
        except _Broken as broken:
            buffer, at = broken.buffer, broken.at
            if not key and (first := _FIRST_KEY.match(buffer, at)):
                key = first.group(1)
            found = _next_element(buffer, at + 1, text, key)
            if not lost:
                ends = "; the file ends inside it" if found is None and broken.at_end else ""
                report.lost(path, broken.reason + ends, number=number, unit="element")
            if found is None:
                return
            buffer, at = found
            lost = True
            number += 1
            continue
        lost = False
        if not key and isinstance(value, dict) and value:
            key = next(iter(value))
        yield Record(number, value, "element")


class _Broken(Exception):
    """An element that cannot be decoded; a signal inside this module, with the buffer as it is now."""

    def __init__(self, reason: str, buffer: str, at: int, at_end: bool) -> None:
        self.reason, self.buffer, self.at, self.at_end = reason, buffer, at, at_end
        super().__init__(reason)


def _element(buffer: str, at: int, text: _Text) -> tuple[Any, str, int]:
    while True:
        try:
            value, end = DECODER.raw_decode(buffer, at)
        except (ValueError, RecursionError) as error:
            at_end = isinstance(error, json.JSONDecodeError) and (
                error.pos >= len(buffer) - _MARGIN or error.msg.startswith("Unterminated string")
            )
            if text.ended or not at_end or len(buffer) - at > text.limits.record:
                reason = f"longer than {text.limits.record >> 20} MiB" if len(buffer) - at > text.limits.record else reason_of(error, at)
                raise _Broken(reason, buffer, at, at_end) from error
        else:
            # A number at the end of the buffer may go on in the next piece.
            if end < len(buffer) or text.ended or isinstance(value, dict | list):
                return without_lone_surrogates(value) if may_hold_surrogates(buffer, at, end) else value, buffer, end
        # At least doubling keeps the work of decoding again linear in the size of the element.
        buffer, at = buffer[at:] + text.more(len(buffer) - at), 0


def _next_element(buffer: str, at: int, text: _Text, key: str) -> tuple[str, int] | None:
    """Where the next element seems to begin: an object whose first key is that of the other elements."""
    if not key:
        return None
    begin = re.compile(r"\{\s*" + re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:")
    while True:
        found = begin.search(buffer, at)
        if found:
            return buffer, found.start()
        tail = buffer[max(at, len(buffer) - len(key) - 64) :]
        piece = text.more()
        if not piece:
            return None
        buffer, at = tail + piece, 0


def _name_rest(rest: str, text: _Text, path: Path, report: ReadReport) -> None:
    while not rest.strip():
        rest = text.more()
        if not rest:
            return
    report.lost(path, "text after the end of the list was not read")


def _skip_space(buffer: str, at: int) -> int:
    found = _SPACE.match(buffer, at)
    return found.end() if found else at


class _Text:
    """The characters of a byte stream, a piece at a time."""

    def __init__(self, stream: BinaryIO, report: ReadReport, limits: Limits) -> None:
        self._stream, self._report = stream, report
        self.limits = limits
        self._pending = b""
        self.ended = False

    def more(self, least: int = 0) -> str:
        """The next chunk as text, or `least` bytes if that is more; empty only at the end."""
        while not self.ended:
            read = self._stream.read(max(least, self.limits.chunk))
            self.ended = not read
            data = self._pending + read
            try:
                text, used = codecs.utf_8_decode(data, "strict", self.ended)
            except UnicodeDecodeError:
                self._report.repaired("piece with invalid UTF-8")
                text, used = codecs.utf_8_decode(data, "replace", self.ended)
            self._pending = data[used:]
            if "\x00" in text:
                self._report.repaired("piece with NUL bytes")
                text = text.replace("\x00", "")
            if text:
                return text
        return ""
