"""What hooks leave for learning: one small file for each session that waits, and one for what it was shown and did.

Files, not rows: a hook must never wait for a writer of the database, and a file put in place by a rename is whole or not there.
They lie beside the database, in the folder `NAME-hooks`. A session told of twice is one file, so nothing is learned twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False  # without `typing`: see `tenure/__init__.py`
if TYPE_CHECKING:
    from typing import Any

QUIET_S = 600
"""How long a session has to be quiet, in seconds, to be learned from without having been told that it ended."""

MOST_ATTEMPTS = 5
"""Attempts to learn from a session before it is set aside."""

KEPT_DAYS = 30
"""How long what a session left is kept if it never ends."""


class Spool:
    """The folder of one database.

    Args:
        database: the database's file; its folder is made when there is something to keep.
    """

    def __init__(self, database: Path) -> None:
        self.database = database
        self.folder = database.with_name(f"{database.name}-hooks")

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
        handle = os.open(self.folder / f"{name_of(host, session)}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line.encode())  # in one piece, so that two hooks at once do not mix
        finally:
            os.close(handle)

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
            try:
                held = json.loads(path.read_text(encoding="utf-8"))
                found.append((float(held["at"]), path, held))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # it went meanwhile, or is no file of ours
        yield from ((path, held) for _, path, held in sorted(found, key=lambda one: (one[0], one[1])))

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
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
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
        if self.folder.is_dir():
            return
        above = self.database.parent
        if above.name == ".tenure" and not above.exists():
            above.mkdir(parents=True, exist_ok=True)
            (above / ".gitignore").write_text("*\n", encoding="utf-8")  # as where the database is made
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def name_of(host: str, session: str) -> str:
    """The name of a session's files."""
    return hashlib.sha256(f"{host}\n{session}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that are whole."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return []
    found: list[dict[str, Any]] = []
    for line in raw.splitlines():
        try:
            held = json.loads(line)
        except ValueError:
            continue  # cut off by a crash
        if isinstance(held, dict):
            found.append(held)
    return found
