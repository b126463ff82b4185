"""Which file of a folder is what: of a mirror of ours, and of a folder that Hipocampus kept.

Layout and names of Hipocampus are those of its `spec/file-formats.md` and `spec/layers.md` (kevin-hs-sohn/hipocampus, MIT,
read in 2026-11): a project with MEMORY.md, USER.md, SCRATCHPAD.md, WORKING.md, TASK-QUEUE.md, knowledge/, plans/, and below
memory/ the root, a raw log for each day, and daily, weekly and monthly nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tenure.errors import UserError
from tenure.learning.mirror_folder import MANIFEST, Manifest, files_below
from tenure.memory_tree.mirror import FOLDERS, LAYER_FILES, NAMED_FOLDERS, ROOT_FILE
from tenure.memory_tree.periods import YEARS, read_period

FileKind = Literal["day", "node", "root", "layer", "named", "profile", "notes", "other"]

_TEXT = (".md", ".markdown", ".txt")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ _.-].*)?")
_DOMAIN = re.compile(r"(SCRATCHPAD|WORKING)[-_.](.+)", re.IGNORECASE)
_LAYERS = {file.casefold(): layer for layer, file in LAYER_FILES.items()}
_PROFILES = {"user.md": "user", "memory.md": "memory"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file and what it is.

    Attributes:
        path: below the folder, with `/`.
        kind: `day` (a raw log), `node`, `root`, `layer`, `named` (knowledge or a plan), `profile` (USER.md, MEMORY.md),
            `notes` (Markdown without a date), `other`.
        name: the day, the period, the layer; of named texts `knowledge` or `plan`.
        key: what ids of its entries follow from, or the name of a named text.
        why: of `other`: why it is not read.
    """

    path: str
    kind: FileKind
    name: str = ""
    key: str = ""
    why: str = ""


def find_files(top: Path, manifest: Manifest | None) -> tuple[Found, ...]:
    """What of a folder belongs to a memory, sorted by path.

    Everything in a folder that has the log in it is looked at, and what is no part of a memory is named as `other`. Where
    the log is below `memory/`, or there is none, the folder is a project: only files with names of a memory are looked at.

    Raises:
        UserError: nothing in it could be a memory.
    """
    whole = manifest is not None or _holds_log(top)
    found = tuple(_named_files(top, "") if whole else _of_project(top))
    if not any(one.kind != "other" for one in found):
        raise UserError(
            f"'{top}' holds no memory: no day such as 2026-03-15.md, no ROOT.md, no SCRATCHPAD.md, no knowledge or plans. "
            "Name the folder of an export, or the project that Hipocampus kept."
        )
    return found


def _holds_log(folder: Path) -> bool:
    if not folder.is_dir() or folder.is_symlink():
        return False
    names = [one.name for one in folder.iterdir()]
    return ROOT_FILE in names or any(name in FOLDERS.values() for name in names) or any(_day_in(name) for name in names)


def _of_project(top: Path) -> Iterator[Found]:
    if _holds_log(top / "memory"):
        yield from _named_files(top, "memory")
    for name in sorted(one.name for one in top.iterdir()):
        lower = name.casefold()
        if (lower in _LAYERS or lower in _PROFILES or _DOMAIN.fullmatch(Path(name).stem)) and not (top / name).is_dir():
            yield _in_top(name, name)
    for folder in NAMED_FOLDERS.values():
        if (top / folder).is_dir() and not (top / folder).is_symlink():
            yield from _named_files(top, folder)


def _named_files(top: Path, folder: str) -> Iterator[Found]:
    for path, why in files_below(top, folder):
        name = path.rsplit("/", 1)[-1]
        if why:
            yield Found(path=path, kind="other", why=why)
        elif name != MANIFEST and not (name.startswith(".tenure-") and name.endswith(".new")):
            yield _told(path, path.removeprefix("memory/") if folder == "memory" else path)


def _told(path: str, own: str) -> Found:
    """What a file is, by its path below the log's folder."""
    first, _, rest = own.partition("/")
    ending = Path(own).suffix.casefold()
    if ending not in _TEXT:
        why = "holds a whole session of a host: tenure learn reads those" if ending == ".jsonl" else "is no Markdown; not read"
        return Found(path=path, kind="other", why=why)
    if not rest:
        return _in_top(path, own)
    stem = rest[: -len(ending)]
    for layer, folder in NAMED_FOLDERS.items():
        if first == folder:
            return Found(path=path, kind="named", name=layer, key=stem)
    for kind, folder in FOLDERS.items():
        if first == folder and _is_period(stem, kind):
            return Found(path=path, kind="node", name=stem, key=own)
    day = _day_in(rest.rsplit("/", 1)[-1]) if first not in FOLDERS.values() else ""
    return Found(path=path, kind="day" if day else "notes", name=day, key=own)


def _in_top(path: str, name: str) -> Found:
    lower, stem = name.casefold(), Path(name).stem
    if name == ROOT_FILE:
        return Found(path=path, kind="root", key=name)
    if lower in _LAYERS:
        return Found(path=path, kind="layer", name=_LAYERS[lower], key=name)
    if lower in _PROFILES:
        return Found(path=path, kind="profile", name=_PROFILES[lower], key=name)
    if _DOMAIN.fullmatch(stem):
        # One of several scratchpads; there is one here, so it becomes a plan of that name.
        return Found(path=path, kind="named", name="plan", key=stem.casefold())
    if day := _day_in(name):
        return Found(path=path, kind="day", name=day, key=stem)
    return Found(path=path, kind="notes", key=name)


def _day_in(name: str) -> str:
    """The day with which a file's name begins; empty if it begins with none that exists."""
    stem, dot, ending = name.rpartition(".")
    found = _DAY.fullmatch(stem) if dot and f".{ending.casefold()}" in _TEXT else None
    return found[1] if found is not None and _is_period(found[1], "day") else ""


def _is_period(name: str, kind: str) -> bool:
    try:
        period = read_period(name)
    except UserError:
        return False
    return period.kind == kind and period.bounds[0].year in YEARS and period.bounds[1].year in YEARS
