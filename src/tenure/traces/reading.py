"""Runs out of files and directory trees. What cannot be read is named in the report; the rest goes on."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from tenure.errors import UnreadableInput
from tenure.playbook.run import Run
from tenure.traces.formats import FORMATS, detect
from tenure.traces.placing import Place
from tenure.traces.report import ReadReport
from tenure.traces.streaming import is_utf16

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "CVS", "_darcs"})
"""Directories that are not entered."""


def read_runs(path: Path, *, format: str | None = None, scope: Place = "", report: ReadReport) -> Iterator[Run]:
    """The runs in one file, as they are read: memory holds one run at a time.

    Args:
        path: the file.
        format: one of `FORMATS`; none tells it by the file's content.
        scope: the scope the runs go to, or what gives one for a session's working directory (see `Projects`); empty keeps
            the one that Tenure's own format records.
        report: told what was read and what was not.

    Raises:
        UnreadableInput: the format's name is not known. Trouble with the file itself goes to the report.
    """
    if format is not None and format not in FORMATS:
        raise UnreadableInput(f"Run format '{format}' is not known. Use one of: {', '.join(FORMATS)}.")
    return _runs(path, format, scope, report)


def walk(paths: Sequence[Path], *, format: str | None = None, scope: Place = "", report: ReadReport) -> Iterator[tuple[Path, Run]]:
    """The runs in files and directory trees, each with its file, in the order of `paths` and of names inside a tree.

    Directories of version control are skipped. A file that is reached twice is read once.

    Args:
        paths: files and directories.
        format: as for `read_runs`, for every file.
        scope: as for `read_runs`.
        report: names every file that could not be read or whose format is none of `FORMATS`.

    Raises:
        UnreadableInput: the format's name is not known.
    """
    if format is not None and format not in FORMATS:
        raise UnreadableInput(f"Run format '{format}' is not known. Use one of: {', '.join(FORMATS)}.")
    return ((file, run) for file in _files(paths, report) for run in _runs(file, format, scope, report))


def _runs(path: Path, format: str | None, scope: Place, report: ReadReport) -> Iterator[Run]:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            # Opening a pipe or a device could wait for ever.
            report.lost(path, "is a directory" if stat.S_ISDIR(found.st_mode) else "is not a regular file")
            return
        if not found.st_size:
            report.lost(path, "the file is empty")
            return
        name = format or detect(path)
        if name is None:
            report.lost(path, "is UTF-16 text; save it as UTF-8" if is_utf16(path) else f"is in none of the formats {', '.join(FORMATS)}")
            return
        report.files += 1
        for run in FORMATS[name](path, scope=scope, report=report):
            report.runs += 1
            yield run
    except OSError as error:
        report.lost(path, _why(error))


def _files(paths: Sequence[Path], report: ReadReport) -> Iterator[Path]:
    """Files, each once however many links lead to it; links that form a loop end where they began."""
    seen: set[tuple[int, int]] = set()
    waiting = list(reversed(paths))
    while waiting:
        path = waiting.pop()
        try:
            found = path.stat()
            if (found.st_dev, found.st_ino) in seen:
                continue
            seen.add((found.st_dev, found.st_ino))
            if stat.S_ISDIR(found.st_mode):
                names = sorted(os.listdir(path), reverse=True)
                waiting.extend(path / name for name in names if name not in VERSION_CONTROL)
            else:
                yield path
        except OSError as error:
            report.lost(path, _why(error))


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
