"""Files that benches measure on: read in one place, so that a wrong one is an error that names the place, never a fault."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tenure.errors import UnreadableInput
from tenure.traces.decoding import DECODER, nested_too_deeply, reason_of, without_lone_surrogates

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: Path, *, wanted: str, replacing: bool = False) -> str:
    """The text of a file.

    Args:
        path: of the file.
        wanted: what to give instead, a sentence.
        replacing: whether bytes that are no UTF-8 become U+FFFD; else they are an error.

    Raises:
        UnreadableInput: it is no file, cannot be opened, or is no UTF-8 text.
    """
    try:
        if path.exists() and not path.is_file():  # opening a pipe or a device could wait for ever
            raise UnreadableInput(f"'{path}' is {'a folder' if path.is_dir() else 'not a regular file'}. {wanted}")
        raw = path.read_bytes()
    except OSError as exc:
        raise UnreadableInput(f"'{path}' cannot be read: {(exc.strerror or type(exc).__name__).lower()}. {wanted}") from exc
    if raw.startswith(_UTF16):
        raise UnreadableInput(f"'{path}' is UTF-16 text. Save it as UTF-8.")
    try:
        return raw.decode("utf-8-sig", "replace" if replacing else "strict")
    except UnicodeDecodeError as exc:
        place = f"byte {raw[exc.start]:#04x} at place {exc.start}"
        raise UnreadableInput(f"'{path}' is not UTF-8 text: {place}. Save it as UTF-8.") from exc


def read_json(path: Path, *, wanted: str) -> Any:
    """The JSON value in a file. Arguments as for `read_text`.

    Raises:
        UnreadableInput: as `read_text` says; or it is no JSON, or nested so deeply that no such file can be meant.
    """
    text = read_text(path, wanted=wanted)
    if not text.strip():
        raise UnreadableInput(f"'{path}' is empty. {wanted}")
    try:
        found = DECODER.decode(text)
    except (ValueError, RecursionError) as exc:
        raise UnreadableInput(f"'{path}' cannot be read: {reason_of(exc)}. {wanted}") from exc
    if nested_too_deeply(found):
        raise UnreadableInput(f"'{path}' cannot be read: JSON nested too deeply. {wanted}")
    return without_lone_surrogates(found)


class Place:
    """Where in a file a value stands, for messages; it gives the parts of the value, or says what is wrong with them.

    Args:
        path: of the file.
        value: the JSON value.
        wanted: what to give instead, a sentence.
        where: the place, such as `conversation 1, turn 3`; empty for the whole file.
    """

    def __init__(self, path: Path, value: Any, *, wanted: str, where: str = "") -> None:
        self.value, self._path, self._wanted, self._where = value, path, wanted, where

    def fields(self) -> Mapping[str, Any]:
        """The value as an object."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"an object is expected, not {_said(self.value)}")
        return self.value

    def elements(self, name: str) -> list[Place]:
        """The value as a list, each element with a place of its own, named and counted from 1."""
        if not isinstance(self.value, list):
            raise self.wrong(f"a list is expected, not {_said(self.value)}")
        return [self._at(f"{name} {number}", one) for number, one in enumerate(self.value, 1)]

    def field(self, name: str, default: Any = None) -> Place:
        """What stands under a name of the object.

        Args:
            name: the key.
            default: taken where the key is missing; none, it has to be there.
        """
        fields = self.fields()
        if name not in fields and default is None:
            raise self.wrong(f"it has no '{name}'")
        return self._at(f"'{name}'", fields.get(name, default))

    def text(self) -> str:
        """The value as text; numbers are written out."""
        if isinstance(self.value, bool) or not isinstance(self.value, str | int | float):
            raise self.wrong(f"text is expected, not {_said(self.value)}")
        try:
            return str(self.value)
        except ValueError as exc:  # a whole number of more digits than Python writes
            raise self.wrong("text is expected, not a number this long") from exc

    def wrong(self, what: str) -> UnreadableInput:
        """The error that says what is wrong here."""
        return UnreadableInput(f"'{self._path}'{f', {self._where}' if self._where else ''}: {what}. {self._wanted}")

    def _at(self, where: str, value: Any) -> Place:
        return Place(self._path, value, wanted=self._wanted, where=", ".join(filter(None, (self._where, where))))


def _said(value: Any) -> str:
    """A JSON value, short, for a message."""
    kinds: Sequence[tuple[type, str]] = ((dict, "an object"), (list, "a list"), (str, "the text "), (bool, ""), (int, "the number "))
    name = next((name for kind, name in kinds if isinstance(value, kind)), "")
    if isinstance(value, dict | list):
        return name
    try:
        shown = json.dumps(value, ensure_ascii=False)
    except ValueError:
        return "a number of very many digits"
    return f"{name}{shown if len(shown) <= 60 else shown[:59] + '…'}"
