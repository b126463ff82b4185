"""Carries out what a host's files should hold, and takes it away again.

What is written is recorded with its places, so that a file which nothing else touched since comes back byte for byte; where
something else did, our entries alone go. All new texts are made before the first is written: a file that cannot be read stops it all.
"""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tenure.connect.journal import Connection, Journal, WrittenFile, digest_of
from tenure.connect.settings_text import BrokenSettings, Insertion, cut_out, put_in, read_json, take_out, without_entries
from tenure.connect.toml_text import has_table, put_table, without_table
from tenure.connect.wanted import Wanted, WantedFile, is_hook_command
from tenure.errors import UserError

Became = Literal["created", "changed", "unchanged", "theirs", "removed", "absent", "kept"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What becomes of one file.

    Attributes:
        path: of the file.
        meaning: what it is for.
        became: what was or would be done: `kept` is a file of ours that a person changed, which is left; `theirs` has an entry of
            our name that somebody else made, which is left too.
        before, after: its bytes; none where there is no file.
        exact: whether it comes back byte for byte as it was before it was connected.
    """

    path: Path
    meaning: str
    became: Became
    before: bytes | None
    after: bytes | None
    exact: bool = True

    def diff(self) -> str:
        """The change, for people."""
        old, new = ((raw or b"").decode("utf-8", "replace").splitlines(keepends=True) for raw in (self.before, self.after))
        lines = difflib.unified_diff(old, new, "/dev/null" if self.before is None else str(self.path), str(self.path), n=2)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ no line break at the end\n" for line in lines)


def connect(wanted: Wanted, journal: Journal, *, dry_run: bool = False, at: str = "") -> tuple[Step, ...]:
    """Write what a host needs.

    Args:
        wanted: what its files should hold.
        journal: what was written before.
        dry_run: only say what would be done.
        at: the present moment, for the record.

    Raises:
        BrokenSettings: a file cannot be read, or has something else where ours has to go. Nothing was written.
        UserError: a file or folder cannot be written.
    """
    with nullcontext() if dry_run else journal.held():
        return _connect(wanted, journal, dry_run=dry_run, at=at)


def _connect(wanted: Wanted, journal: Journal, *, dry_run: bool, at: str) -> tuple[Step, ...]:
    known = journal.find(wanted.host, wanted.root, wanted.whose)
    earlier = {one.path: one for one in known.files} if known else {}
    steps: list[Step] = []
    written: list[WrittenFile] = []
    for file in wanted.files:
        real = Path(os.path.realpath(file.path))
        before = _bytes(real)
        record = earlier.get(real)
        base = _without(file, record, before)
        made = _with(file, base)
        if made is None:
            steps.append(Step(path=file.path, meaning=file.meaning, became="theirs", before=before, after=before))
            continue
        text, insertions, new_paths = made
        after = text.encode("utf-8", "surrogatepass")
        became: Became = "unchanged" if after == before else "created" if before is None else "changed"
        steps.append(Step(path=file.path, meaning=file.meaning, became=became, before=before, after=after))
        written.append(
            WrittenFile(
                path=real,
                form=file.form,
                table=file.table,
                created=base is None,
                folders=record.folders if record else _missing_folders(real),
                after=digest_of(after),
                made=insertions,
                entries=tuple(entry.path for entry in (*file.entries, *(file.first if base is None else ())) if not entry.item),
                emptied=new_paths,
            )
        )
    if not dry_run:
        _refuse_read_only(steps)
        connection = Connection(host=wanted.host, root=wanted.root, whose=wanted.whose, at=at, files=tuple(written))
        # The record comes first: what a crash leaves half written can then be taken away.
        journal.keep(connection)
        try:
            _write([step for step in steps if step.became in ("created", "changed")])
        except UserError:
            if known is not None:
                journal.keep(known)
            else:
                journal.drop(wanted.host, wanted.root, wanted.whose)
                for one in connection.files:
                    _remove_folders(one.folders)
            raise
    return tuple(steps)


def disconnect(wanted: Wanted, journal: Journal, *, dry_run: bool = False) -> tuple[Step, ...]:
    """Take away what `connect` wrote. Without a record, what is plainly ours goes.

    Args and errors as for `connect`.
    """
    with nullcontext() if dry_run else journal.held():
        return _disconnect(wanted, journal, dry_run=dry_run)


def _disconnect(wanted: Wanted, journal: Journal, *, dry_run: bool) -> tuple[Step, ...]:
    known = journal.find(wanted.host, wanted.root, wanted.whose)
    records = {one.path: one for one in known.files} if known else {}
    meanings = {Path(os.path.realpath(file.path)): file for file in wanted.files}
    steps: list[Step] = []
    for path in dict.fromkeys((*records, *meanings)):
        record = records.get(path)
        file = meanings.get(path) or WantedFile(
            path=path,
            form=record.form if record else "whole",
            meaning="written by an earlier version",
            table=record.table if record else "",
        )
        before = _bytes(path)
        if before is None:
            steps.append(Step(path=file.path, meaning=file.meaning, became="absent", before=None, after=None))
            continue
        if file.form == "whole":
            ours = digest_of(before) == record.after if record else before == file.text.encode()
            steps.append(
                Step(
                    path=file.path,
                    meaning=file.meaning,
                    became="removed" if ours else "kept",
                    before=before,
                    after=None if ours else before,
                )
            )
            continue
        text = _without(file, record, before)
        after = None if text is None else text.encode("utf-8", "surrogatepass")
        exact = record is not None and digest_of(before) == record.after
        became: Became = "absent" if after == before else "removed"
        steps.append(Step(path=file.path, meaning=file.meaning, became=became, before=before, after=after, exact=exact))
    if not dry_run:
        _refuse_read_only(steps)
        _write([step for step in steps if step.became == "removed"])
        for record in records.values():
            _remove_folders(record.folders)
        journal.drop(wanted.host, wanted.root, wanted.whose)
    return tuple(steps)


def state_of(wanted: Wanted, journal: Journal) -> Literal["connected", "in part", "not connected"]:
    """Whether a host is connected: all of it, some of it, or nothing."""
    there = 0
    for file in wanted.files:
        before = _bytes(Path(os.path.realpath(file.path)))
        if before is None:
            continue
        if file.form == "whole":
            there += 1
            continue
        try:
            text = _without(file, None, before)
        except BrokenSettings:
            continue
        there += text is None or text.encode("utf-8", "surrogatepass") != before
    return "connected" if there == len(wanted.files) else "in part" if there else "not connected"


# -- one file ----------------------------------------------------------------------------------------


def _with(file: WantedFile, base: str | None) -> tuple[str, tuple[tuple[Insertion, ...], ...], tuple[tuple[str, ...], ...]] | None:
    """A file's text with ours in it, how that was done, and the paths that were not there; none if the name is somebody else's."""
    name = str(file.path)
    if file.form == "whole":
        if base is not None and base != file.text:
            raise UserError(f"{name} is there and is not what Tenure writes. Move it away, then run this again; nothing was written.")
        return file.text, (), ()
    text = base or ""
    if file.form == "toml":
        if has_table(text, file.table, name):
            return None
        text, made = put_table(text, file.text, name=name)
        return text, (made,), ()
    steps: list[tuple[Insertion, ...]] = []
    new_paths: list[tuple[str, ...]] = []
    for entry in (*(file.first if base is None else ()), *file.entries):
        held: Any = read_json(text, name).plain()
        for depth in range(len(entry.path)):
            held = held.get(entry.path[depth]) if isinstance(held, dict) else None
            if held is None:
                new_paths += [entry.path[: one + 1] for one in range(depth, len(entry.path))]
                break
        if held is not None and not entry.item:
            return None
        text, made = put_in(text, entry.path, entry.value, name=name, item=entry.item)
        steps.append(made)
    return text, tuple(steps), tuple(dict.fromkeys(new_paths))


def _without(file: WantedFile, record: WrittenFile | None, before: bytes | None) -> str | None:
    """A file's text without ours; none if there would be no file."""
    if before is None:
        return None
    name = str(file.path)
    if file.form == "whole":
        return None if record is not None and digest_of(before) == record.after else _text(before, name)
    text = _text(before, name)
    if record is not None and digest_of(before) == record.after:
        exact: str | None = text
        for made in reversed(record.made):
            exact = take_out(exact, made) if exact is not None else None
        if exact is not None:
            return None if record.created else exact
    if file.form == "toml":
        # Without a record, a table of that name may be a person's own.
        ours = record is not None or file.text.strip() in text.replace("\r\n", "\n")
        text = without_table(text, file.table, name=name) if ours else text
        return None if record is not None and record.created and not text.strip("\ufeff \t\r\n") else text
    members = set(record.entries) if record is not None else set[tuple[str, ...]]()
    values = {entry.path: entry.value for entry in file.entries if not entry.item}

    def is_ours(path: tuple[str | int, ...], value: Any) -> bool:
        if isinstance(value, dict) and is_hook_command(value.get("command")):
            return True
        names = tuple(str(part) for part in path)
        return (names in members and names != ("version",)) or (record is None and names in values and values[names] == value)

    made_by_us = set(record.emptied) if record is not None else set[tuple[str, ...]]()

    def emptied(path: tuple[str | int, ...]) -> bool:
        if path and isinstance(path[-1], int):
            return True
        names = tuple(part for part in path if isinstance(part, str))
        # A list of matcher groups inside one of ours goes with it.
        return record is None or names in made_by_us or (names[-1:] == ("hooks",) and isinstance(path[-2] if len(path) > 1 else "", int))

    # Where ours still stand as they were put in, all else stays byte for byte: if that leaves what taking them out by form leaves.
    cut: str | None = text
    for made in reversed(record.made if record is not None else ()):
        cut = cut_out(cut, made) if cut is not None else None
    text = without_entries(text, is_ours, name=name, emptied=emptied)
    if record is not None and cut is not None and _values_of(cut, name) == read_json(text, name).plain():
        text = cut
    if record is not None and record.created:
        left = read_json(text, name).plain()
        if isinstance(left, dict) and set(left) <= {"version"} and not text.strip("\ufeff \t\r\n{}").replace('"version": 1', "").strip():
            return None
    return text


def _values_of(text: str, name: str) -> Any:
    try:
        return read_json(text, name).plain()
    except BrokenSettings:
        return None


def _text(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = raw[: exc.start].count(b"\n") + 1
        raise BrokenSettings(
            f"{name}, line {line}: it is not UTF-8 text. Save it as UTF-8, then run this again; nothing was written."
        ) from exc


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except NotADirectoryError as exc:
        raise UserError(f"'{path}' cannot be written: a part of its path is a file, not a folder.") from exc
    except OSError as exc:
        raise UserError(f"'{path}' cannot be read: {(exc.strerror or str(exc)).lower()}. Nothing was written.") from exc


# -- the disk ------------------------------------------------------------------------------------------


def _missing_folders(path: Path) -> tuple[Path, ...]:
    """Folders that have to be made for a file, the outermost first."""
    return tuple(reversed([folder for folder in path.parents if not folder.exists()]))


def _refuse_read_only(steps: Sequence[Step]) -> None:
    """Who made a file read-only does not want it changed, though its folder lets us put another in its place.

    Raises:
        UserError: one that would be changed is. Nothing was written.
    """
    for step in steps:
        real = os.path.realpath(step.path)
        if step.became in ("changed", "removed") and os.path.exists(real) and not os.stat(real).st_mode & 0o222:
            raise UserError(f"'{step.path}' is read-only. Allow writing to it, then run this again; nothing was written.")


def _write(steps: Sequence[Step]) -> None:
    """Write all of them; where one cannot be, those before it get their old bytes back."""
    done: list[Step] = []
    try:
        for step in steps:
            _put(step.path, step.after)
            done.append(step)
    except OSError as exc:
        for step in reversed(done):
            _put(step.path, step.before)
        failed = steps[len(done)].path
        raise UserError(f"'{failed}' cannot be written: {(exc.strerror or str(exc)).lower()}. All files are as they were.") from exc


def _put(path: Path, raw: bytes | None) -> None:
    real = Path(os.path.realpath(path))
    if raw is None:
        real.unlink(missing_ok=True)  # a link that led to no file before stays one
        return
    real.parent.mkdir(parents=True, exist_ok=True)
    new = real.with_name(f".{real.name}.tenure-{os.getpid()}")
    for left in real.parent.glob(f".{glob.escape(real.name)}.tenure-*"):
        left.unlink(missing_ok=True)  # by one that crashed: the journal's lock lets one work at a time
    try:
        with new.open("wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        if real.exists():
            os.chmod(new, real.stat().st_mode & 0o7777)
        os.replace(new, real)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _remove_folders(folders: Sequence[Path]) -> None:
    """Remove folders that were made for ours and hold nothing else now."""
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return  # something else lies in it, or it is gone: either way it is not ours to remove
