"""What hooks leave for learning: one small file for each session that waits, and one for what it was shown and did.

Files, not rows: a hook must never wait for a writer of the database, and a file put in place by a rename is whole or not there.
They lie in the user's data folder, in one named by a digest of the database's place: what lies in a project may be anybody's.
No link is followed, and only names that `name_of` makes are looked at. A session told of twice is one file, so nothing is learned twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tenure.project import user_data_folder

TYPE_CHECKING = False  # without `typing`: see `tenure/__init__.py`
if TYPE_CHECKING:
    from typing import Any

QUIET_S = 600
"""How long a session has to be quiet, in seconds, to be learned from without having been told that it ended."""

MOST_ATTEMPTS = 5
"""Attempts to learn from a session before it is set aside."""

KEPT_DAYS = 30
"""How long what a session left is kept if it never ends."""


_OURS = re.compile(r"[0-9a-f]{24}\.json")

_FIELDS = (("at", (int, float)), ("due", (int, float)), ("host", str), ("session", str), ("scope", str), ("attempts", int))

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has none; there it takes an administrator to make a link


class Spool:
    """The folder of one database.

    Args:
        database: the database's file; the folder is made when there is something to keep.

    Raises:
        SettingError: the home folder is not known.
    """

    def __init__(self, database: Path) -> None:
        self.database = database
        self.folder = folder_of(database)

    def waits(self, host: str, session: str, told: Mapping[str, Any], *, now: bool) -> None:
        """Keep that a session waits to be learned from; on disk on return.

        Args:
            host, session: whose it is.
            told: scope, transcript and folder.
            now: whether it has ended; else it is learned once it has been quiet.
        """
        at = time.time()
        due = at if now else at + QUIET_S
        self._put(f"{name_of(host, session)}.json", {"host": host, "session": session, "due": due, "at": at, **told})

    def note(self, host: str, session: str, entry: Mapping[str, Any]) -> None:
        """Add a line to what a session was shown and did."""
        self._make()
        line = json.dumps({"at": round(time.time(), 3), **entry}, ensure_ascii=True, separators=(",", ":")) + "\n"
        # In one piece, so that two hooks at once do not mix.
        append(self.folder / f"{name_of(host, session)}.jsonl", line.encode())

    def log(self, said: str) -> None:
        """Add an entry to the log, which says what was learned lately and why something was not; it begins anew when it is long.

        Args:
            said: without secrets. Further lines are set in, so that none of them looks like an entry of its own.
        """
        self._make()
        log = self.folder / "log"
        if log.is_file() and log.stat().st_size > 1 << 18:
            log.unlink()
        lines = "\n    ".join(said.splitlines())
        append(log, f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {lines}\n".encode("utf-8", "replace"))

    def notes(self, host: str, session: str) -> list[dict[str, Any]]:
        """What a session was shown and did, in order; lines that were cut off are left out."""
        found: list[dict[str, Any]] = []
        for ending in (".taken.jsonl", ".jsonl"):
            found += read_lines(self.folder / f"{name_of(host, session)}{ending}")
        return found

    def sessions(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Sessions that wait, those that have waited longest first."""
        found: list[tuple[float, Path, dict[str, Any]]] = []
        for path in self.folder.glob("*.json") if self.folder.is_dir() else ():
            if not _OURS.fullmatch(path.name):
                continue
            try:
                held = json.loads(_bytes(path))
                wrong = [name for name, kind in _FIELDS if not isinstance(held.get(name, 0), kind) or isinstance(held.get(name), bool)]
                if wrong:
                    raise ValueError(f"'{wrong[0]}' is missing or of the wrong kind")
                float(held["due"])
                at = float(held["at"])
            except OSError:
                continue  # it went meanwhile
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as exc:
                self._set_aside(path, exc)
                continue
            found.append((at, path, held))
        yield from ((path, held) for _, path, held in sorted(found, key=lambda one: (one[0], one[1])))

    def _set_aside(self, path: Path, exc: Exception) -> None:
        """Put away a file that waits and cannot be read, so that the others are learned from."""
        with suppress(OSError):  # another process did
            os.replace(path, path.with_suffix(".failed"))
            self.log(f"{path.name} cannot be read and was set aside: {type(exc).__name__}: {exc}")

    def clear(self, version: str, digests: Collection[str]) -> None:
        """Keep the digests of lessons' texts in which the rules of a version find no secret; it may be lost, and is made again."""
        self._make()
        self._replace("cleared", "\n".join([version, *sorted(digests)]), sure=False)

    def _put(self, name: str, value: Mapping[str, Any]) -> None:
        self._make()
        self._replace(name, json.dumps(value), sure=True)

    def _replace(self, name: str, text: str, *, sure: bool) -> None:
        new = self.folder / f".{name}.{os.getpid()}"
        try:
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o600), "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                if sure:
                    os.fsync(stream.fileno())
            os.replace(new, self.folder / name)
        except OSError:
            with suppress(OSError):  # what went wrong first is what is told
                os.unlink(new)
            raise

    def _make(self) -> None:
        if not self.folder.is_dir():
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def folder_of(database: Path) -> Path:
    """Where what hooks leave for a database is kept.

    Raises:
        SettingError: the home folder is not known.
    """
    real = os.path.realpath(database).encode("utf-8", "surrogateescape")
    return user_data_folder() / "hooks" / hashlib.sha256(real).hexdigest()[:24]


def name_of(host: str, session: str) -> str:
    """The name of a session's files."""
    return hashlib.sha256(f"{host}\n{session}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def append(path: Path, raw: bytes, *, sure: bool = False) -> None:
    """Add bytes to a file of the spool; a link is refused.

    Args:
        sure: whether they have to be on disk on return.

    Raises:
        OSError: it cannot be written, or is a link.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK, 0o600)
    try:
        os.write(handle, raw)
        if sure:
            os.fsync(handle)
    finally:
        os.close(handle)


def _bytes(path: Path) -> bytes:
    with open(os.open(path, os.O_RDONLY | _NO_LINK | getattr(os, "O_BINARY", 0)), "rb") as stream:
        return stream.read()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that are whole."""
    try:
        raw = _bytes(path)
    except FileNotFoundError:
        return []
    found: list[dict[str, Any]] = []
    for line in raw.splitlines():
        try:
            held = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut off by a crash
        if isinstance(held, dict):
            found.append(held)
    return found
