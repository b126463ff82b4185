"""A folder of Markdown files, and what the export wrote into it: reading without leaving it, writing whole files or nothing."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PureWindowsPath

from tenure.errors import UserError

MANIFEST = ".tenure-mirror.json"
"""What the export wrote, by digest, so that it knows its own files from those that a person wrote or changed."""

LARGEST = 64 << 20
"""Bytes of a file that are read; what is larger is named and left."""


@dataclass(slots=True, kw_only=True)
class Manifest:
    """What an export wrote.

    Attributes:
        scope: whose memory it is.
        zone: in which its days begin.
        files: digests by path, `/` between the parts. Two where an export was under way: the file before and the one after.
        texts: digest by path of the text that a file has of its own, of layers, knowledge and plans.
        names: of knowledge and plans by path.
    """

    scope: str = ""
    zone: str = ""
    files: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """A file as it was found.

    Attributes:
        path: below the folder, with `/`.
        raw: its bytes; empty where it could not be read.
        text: those as text with `\\n` as line ends.
        changed: whether it is not what an export wrote.
        mtime: seconds since 1970.
        notes: what had to be done to read it, a sentence each.
        refused: why it was not read; empty if it was.
    """

    path: str
    raw: bytes = b""
    text: str = ""
    changed: bool = True
    mtime: float = 0.0
    notes: tuple[str, ...] = ()
    refused: str = ""


class MirrorFolder:
    """A folder.

    Args:
        path: of it.
        largest: bytes of a file that are read.

    Raises:
        UserError: there is something else than a folder.
    """

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        if path.exists() and not path.is_dir():
            raise UserError(f"'{path}' is no folder. Name a folder for the files of the memory.")
        self.path, self._largest = path, largest

    def manifest(self) -> Manifest | None:
        """What an export wrote here; none if it never did.

        Raises:
            UserError: its file is damaged, or names files that are not below the folder.
        """
        place = self.path / MANIFEST
        if not place.is_file():
            return None
        try:
            said = json.loads(place.read_text(encoding="utf-8"))
            found = Manifest(
                scope=str(said["scope"]),
                zone=str(said["zone"]),
                files={str(path): [str(one) for one in digests] for path, digests in said["files"].items()},
                texts={str(path): str(one) for path, one in said["texts"].items()},
                names={str(path): str(one) for path, one in said["names"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as exc:
            raise UserError(
                f"{place} cannot be read: it is damaged. Delete it; then files that are here already are left as they are."
            ) from exc
        for path in found.files:
            # An export removes what is named here: a manifest that came with a folder of somebody else is no order to delete.
            if not _below(path):
                raise UserError(
                    f"{place} names {path[:80]!r}, which is no file below the folder. No export wrote that, so nothing was touched. "
                    "Delete it; then files that are here already are left as they are."
                )
        return found

    def keep_manifest(self, manifest: Manifest) -> None:
        """Write what was written, if that differs from what the file says."""
        said = {
            "form": 1,
            "scope": manifest.scope,
            "zone": manifest.zone,
            "files": manifest.files,
            "texts": manifest.texts,
            "names": manifest.names,
        }
        raw = (json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8", "replace")
        place = self.path / MANIFEST
        if not place.is_file() or place.read_bytes() != raw:
            write_whole(place, raw)

    def held(self, path: str) -> bytes | None:
        """Bytes of a file; none if it is not there.

        Raises:
            UserError: there is a link, a folder or a device, or it cannot be read.
        """
        place = self._place(path)
        try:
            if place.exists() and not place.is_file():
                raise UserError(f"'{place}' is no file; the export leaves it. Remove it, or choose another folder.")
            return place.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise UserError(f"'{place}' cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc

    def write(self, path: str, raw: bytes) -> None:
        """Write a file whole or not at all, and the folders above it."""
        place = self._place(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise UserError(f"Folder '{place.parent}' cannot be made: {(exc.strerror or str(exc)).lower()}.") from exc
        write_whole(place, raw)

    def remove(self, path: str) -> None:
        """Remove a file, and its folder if that is empty then."""
        place = self._place(path)
        try:
            place.unlink(missing_ok=True)
        except OSError as exc:
            raise UserError(f"'{place}' cannot be removed: {(exc.strerror or str(exc)).lower()}.") from exc
        if place.parent != self.path and place.parent.is_dir() and not any(place.parent.iterdir()):
            place.parent.rmdir()

    def read(self, path: str, manifest: Manifest | None) -> FileRead:
        """Read a file as text, whatever its encoding and line ends, or say why not."""
        place = self.path / path
        if not _inside(place, self.path):
            return FileRead(path=path, refused="is a link that leads out of the folder; not read")
        try:
            found = place.stat()
            if not place.is_file():
                return FileRead(path=path, refused="is no file; not read")
            if found.st_size > self._largest:
                return FileRead(path=path, refused=f"has {found.st_size:,} bytes, more than {self._largest:,}; not read. Split it")
            raw = place.read_bytes()
        except OSError as exc:
            return FileRead(path=path, refused=f"cannot be read: {(exc.strerror or str(exc)).lower()}")
        text, notes = _decoded(raw)
        ours = manifest is not None and digest_of(raw) in manifest.files.get(path, ())
        if not ours and "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
            # A checkout that writes other line ends changes nothing that was said.
            ours = manifest is not None and not notes and digest_of(text.encode()) in manifest.files.get(path, ())
            notes = notes if ours else (*notes, "has line ends of Windows or old Macs; read as \\n")
        return FileRead(path=path, raw=raw, text=text, changed=not ours, mtime=found.st_mtime, notes=notes)

    def _place(self, path: str) -> Path:
        """Where a file of the folder is.

        Raises:
            UserError: it is not below the folder, or behind a link.
        """
        place = self.path
        for part in path.split("/"):
            place = place / part
            if place.is_symlink():
                raise UserError(f"'{place}' is a link; the export writes no file through a link. Remove it, or choose another folder.")
        if not _below(path) or not _inside(place, self.path):
            raise UserError(f"{path[:80]!r} is not below the folder '{self.path}'. Only files below it are read, written or removed.")
        return place


def files_below(top: Path, folder: str = "") -> Iterator[tuple[str, str]]:
    """Paths below a folder, sorted, `/` between parts; of folders that are not entered also why not, else an empty text."""
    start = top / folder if folder else top
    for at, folders, names in os.walk(start, followlinks=False):
        folders.sort()
        here = Path(at)
        for name in list(folders):
            linked = (here / name).is_symlink()
            if linked or name.startswith("."):
                folders.remove(name)
                why = "is a folder behind a link; not entered" if linked else "is a hidden folder; not entered"
                yield (here / name).relative_to(top).as_posix(), why
        for name in sorted(names):
            yield (here / name).relative_to(top).as_posix(), ""


def digest_of(raw: bytes) -> str:
    """What tells a file from another, hex."""
    return sha256(raw).hexdigest()


def write_whole(place: Path, raw: bytes) -> None:
    """Write a file so that readers see the old one or the new one, whole.

    Raises:
        UserError: it cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=".tenure-", suffix=".new")
    except OSError as exc:
        raise UserError(f"Folder '{place.parent}' cannot be written to: {(exc.strerror or str(exc)).lower()}.") from exc
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask())
        os.replace(name, place)
    except OSError as exc:
        Path(name).unlink(missing_ok=True)
        raise UserError(f"File '{place}' cannot be written: {(exc.strerror or str(exc)).lower()}.") from exc


def _umask() -> int:
    # There is no other way to ask for it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _below(path: str) -> bool:
    """Whether a path leads below where it begins, on every system."""
    parts = path.split("/")
    plain = not any(c in path for c in "\0\\") and not PureWindowsPath(path).drive
    return plain and all(part not in ("", ".", "..") for part in parts)


def _inside(place: Path, top: Path) -> bool:
    try:
        return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(top))
    except (OSError, ValueError):
        return False


def _decoded(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """Bytes as text, and what had to be done."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return raw.decode("utf-16"), ("is UTF-16; read as that",)
        except UnicodeDecodeError:
            pass
    try:
        return raw.decode("utf-8-sig"), ("begins with a byte order mark; left out",) if raw[:3] == b"\xef\xbb\xbf" else ()
    except UnicodeDecodeError as exc:
        told = f"is not UTF-8 (byte {raw[exc.start]:#04x} at place {exc.start:,}); read as Windows-1252"
        try:
            return raw.decode("cp1252"), (told,)
        except UnicodeDecodeError:
            return raw.decode("latin-1"), (f"{told.rsplit(';', 1)[0]}; read as Latin-1",)
