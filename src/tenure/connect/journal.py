"""What was written into hosts' files: where, and what the file was like afterwards. A file of the person's data folder.

No copy of a settings file is kept, since they hold keys: what was put in, and where, is enough to take it out again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tenure.connect.locking import alone
from tenure.connect.settings_text import Insertion
from tenure.errors import UserError
from tenure.project import user_data_folder

Form = Literal["json", "toml", "whole"]
_FORM = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """One file that was written.

    Attributes:
        path: links resolved.
        form, table: see `wanted.WantedFile`.
        created: whether there was no such file before.
        folders: those that were made for it, the outermost first.
        after: digest of its bytes when it was written.
        made: what was put in, one group after the other.
        entries: paths of members that are ours.
        emptied: paths that were not there before.
    """

    path: Path
    form: Form
    table: str
    created: bool
    folders: tuple[Path, ...]
    after: str
    made: tuple[tuple[Insertion, ...], ...]
    entries: tuple[tuple[str, ...], ...]
    emptied: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A host connected in one place. For `host`, `root` and `whose` see `wanted.Wanted`; `at` is when."""

    host: str
    root: Path
    whose: Literal["project", "user"]
    at: str
    files: tuple[WrittenFile, ...]


def digest_of(raw: bytes) -> str:
    """Of a file's bytes."""
    return hashlib.sha256(raw).hexdigest()


def journal_path() -> Path:
    """Where the record lies.

    Raises:
        SettingError: the home folder is not known.
    """
    return user_data_folder() / "connections.json"


class Journal:
    """The record of all connections.

    Args:
        path: of its file, which is made when there is something to record and removed with the last record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def all(self) -> tuple[Connection, ...]:
        """Every connection, as they were made.

        Raises:
            UserError: the file cannot be read.
        """
        try:
            held = json.loads(self.path.read_text(encoding="utf-8"))
            if held["form"] != _FORM:
                raise UserError(f"{self.path} was written by another version of Tenure. Upgrade, then run this again.")
            return tuple(_connection(one) for one in held["connections"])
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise UserError(f"{self.path} cannot be read: {exc}. Move it away; entries are then found by their form.") from exc

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from recording and writing meanwhile; those that come wait.

        Raises:
            UserError: nothing can be recorded here, or another process holds it for too long.
        """
        with ExitStack() as stack:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                first = stack.enter_context(alone(self.path.with_suffix(".lock"), wait=True))
            except OSError as exc:
                raise _unrecorded(self.path, exc) from exc
            if not first:
                raise UserError("Another `tenure connect` is at work. Wait until it is done, then run this again; nothing was written.")
            yield

    def find(self, host: str, root: Path, whose: str) -> Connection | None:
        """The connection of a host in one place; none if there is none."""
        return next((one for one in self.all() if (one.host, one.root, one.whose) == (host, root, whose)), None)

    def keep(self, connection: Connection) -> None:
        """Record a connection in place of an earlier one; on disk on return."""
        self._write((*self._others(connection.host, connection.root, connection.whose), connection))

    def drop(self, host: str, root: Path, whose: str) -> None:
        """Forget a connection."""
        if self.find(host, root, whose) is not None:
            self._write(self._others(host, root, whose))

    def _others(self, host: str, root: Path, whose: str) -> tuple[Connection, ...]:
        return tuple(one for one in self.all() if (one.host, one.root, one.whose) != (host, root, whose))

    def _write(self, connections: tuple[Connection, ...]) -> None:
        if not connections:
            self.path.unlink(missing_ok=True)
            return
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
                json.dump({"form": _FORM, "connections": [_as_json(one) for one in connections]}, stream, indent=1)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(new, self.path)
        except OSError as exc:
            new.unlink(missing_ok=True)
            raise _unrecorded(self.path, exc) from exc


def _unrecorded(path: Path, exc: OSError) -> UserError:
    return UserError(f"What is written cannot be recorded in {path}: {(exc.strerror or str(exc)).lower()}. Nothing was written.")


def _as_json(connection: Connection) -> dict[str, Any]:
    return {
        "host": connection.host,
        "root": str(connection.root),
        "whose": connection.whose,
        "at": connection.at,
        "files": [
            {
                "path": str(file.path),
                "form": file.form,
                "table": file.table,
                "created": file.created,
                "folders": [str(folder) for folder in file.folders],
                "after": file.after,
                "made": [[[one.at, one.text] for one in group] for group in file.made],
                "entries": file.entries,
                "emptied": file.emptied,
            }
            for file in connection.files
        ],
    }


def _connection(held: Mapping[str, Any]) -> Connection:
    return Connection(
        host=held["host"],
        root=Path(held["root"]),
        whose=held["whose"],
        at=held["at"],
        files=tuple(
            WrittenFile(
                path=Path(file["path"]),
                form=file["form"],
                table=file["table"],
                created=file["created"],
                folders=tuple(Path(folder) for folder in file["folders"]),
                after=file["after"],
                made=tuple(tuple(Insertion(at=at, text=text) for at, text in group) for group in file["made"]),
                entries=tuple(tuple(path) for path in file["entries"]),
                emptied=tuple(tuple(path) for path in file["emptied"]),
            )
            for file in held["files"]
        ),
    )
