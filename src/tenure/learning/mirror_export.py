"""The memory of a scope as a folder of Markdown files: what changed is written anew, whole files or nothing.

The folder belongs to the person as well. What an export wrote it may replace and remove; what somebody else wrote or
changed it leaves, unless all that stands there is kept in the memory already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

from tenure.errors import UserError
from tenure.governance.redaction import redact, redact_all
from tenure.learning.mirror_folder import FileRead, Manifest, MirrorFolder, digest_of
from tenure.learning.mirror_import import plan_day
from tenure.memory_tree.entries import KEPT, Entry, without_half_characters
from tenure.memory_tree.frontmatter import split_frontmatter
from tenure.memory_tree.mirror import (
    FOLDERS,
    LAYER_FILES,
    NAMED_FOLDERS,
    ROOT_FILE,
    day_file,
    named_file,
    node_file,
    root_file,
    split_kept,
    text_digest,
)
from tenure.memory_tree.mirror_names import file_names, place_name
from tenure.ports import Reading, Store

AT_ONCE = 256
"""Files that are written together, after the manifest says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorExported:
    """What an export did.

    Attributes:
        folder: where the files are.
        written, removed: files, in order.
        unchanged: how many files were as they should be.
        left: files that were left as they are, each with the reason.
    """

    folder: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    left: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A file as it should be: its path, what stands in it, the day of a raw log, and what it has of its own."""

    path: str
    text: str
    day: str = ""
    layer: str = ""
    name: str = ""
    own: str = ""

    @property
    def raw(self) -> bytes:
        return without_half_characters(self.text).encode()


def export_mirror(store: Store, scope: str, path: Path, *, root: str, zone: str, zone_of: tzinfo, force: bool = False) -> MirrorExported:
    """Write the memory of a scope into a folder.

    Args:
        store, scope: what is written.
        path: the folder; it is made if it is not there.
        root: of the tree.
        zone, zone_of: in which days begin.
        force: whether files that a person wrote or changed are replaced too.

    Raises:
        UserError: the folder has the memory of another scope, or cannot be written to.
    """
    folder = MirrorFolder(path)
    before = folder.manifest() or Manifest(scope=scope, zone=zone)
    if before.scope != scope:
        raise UserError(f"'{path}' has the memory of scope '{before.scope}', not of '{scope}'. Choose another folder.")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UserError(f"Folder '{path}' cannot be made: {(exc.strerror or str(exc)).lower()}.") from exc
    export = _Export(folder, before, Manifest(scope=scope, zone=zone), zone_of, force=force)
    with store.reading(scope) as look:
        for wanted in _wanted(look, root, zone):
            export.put(look, wanted)
    export.write_waiting()
    export.remove_rest()
    folder.keep_manifest(export.after)
    return MirrorExported(
        folder=str(path),
        written=tuple(redact_all(export.written)),
        removed=tuple(redact_all(export.removed)),
        unchanged=export.unchanged,
        left=tuple((redact(path).text, redact(why).text) for path, why in export.left),
    )


class _Export:
    """An export under way: what was written, and what the manifest is to say."""

    def __init__(self, folder: MirrorFolder, before: Manifest, after: Manifest, zone: tzinfo, *, force: bool) -> None:
        self._folder, self._before, self.after, self._zone, self._force = folder, before, after, zone, force
        self.written, self.removed, self.left = list[str](), list[str](), list[tuple[str, str]]()
        self.unchanged = 0
        self._waiting: dict[str, bytes] = {}

    def put(self, look: Reading, wanted: _Wanted) -> None:
        """Write a file if it is not as it should be, and may be written."""
        path, raw = wanted.path, wanted.raw
        known = self._before.files.get(path, [])
        try:
            held = self._folder.held(path)
            same = held == raw
            free = same or held is None or self._force or digest_of(held) in known
            why = "" if free else self._unsafe(look, wanted, known=bool(known))
        except UserError as exc:
            same, why = False, str(exc)
        if why:
            self.left.append((path, why))
            if path in self._before.files:
                self.after.files[path] = self._before.files[path]
            if path in self._before.texts:
                self.after.texts[path] = self._before.texts[path]
            if path in self._before.names:
                self.after.names[path] = self._before.names[path]
            return
        self.after.files[path] = [digest_of(raw)]
        if wanted.layer:
            self.after.texts[path] = text_digest(wanted.own)
            if wanted.name:
                self.after.names[path] = wanted.name
        if same:
            self.unchanged += 1
            return
        self._waiting[path] = raw
        if len(self._waiting) >= AT_ONCE:
            self.write_waiting()

    def write_waiting(self) -> None:
        """Write the files that wait to be written."""
        if not self._waiting:
            return
        for path in self._waiting:
            # Before the files: after a crash both are known to be ours, the file before and the one after.
            self._before.files[path] = [*self._before.files.get(path, [])[-1:], *self.after.files[path]]
        self._folder.keep_manifest(self._before)
        for path, raw in self._waiting.items():
            self._folder.write(path, raw)
            self.written.append(path)
        self._waiting.clear()

    def remove_rest(self) -> None:
        """Remove what was written before and is no part of the memory any more."""
        for path, known in sorted(self._before.files.items()):
            if path in self.after.files or any(path == other for other, _ in self.left):
                continue
            try:
                held = self._folder.held(path)
                if held is not None and digest_of(held) not in known and not self._force:
                    raise UserError("is no part of the memory any more, and was changed by hand. Delete it or import it")
                if held is not None:
                    self._folder.remove(path)
                    self.removed.append(path)
            except UserError as exc:
                self.left.append((path, str(exc)))
                self.after.files[path] = known

    def _unsafe(self, look: Reading, wanted: _Wanted, *, known: bool) -> str:
        """Why a file that is there may not be replaced; empty if all that it says is kept in the memory."""
        if not known:
            return "was not written by an export"
        file = self._folder.read(wanted.path, self._before)
        if file.refused:
            return file.refused
        if wanted.day:
            plan = plan_day(look, file, wanted.day, key=wanted.day, zone=self._zone)
            new = "1 entry" if len(plan.new) == 1 else f"{len(plan.new)} entries"
            return f"was changed by hand: {new} more than the memory has. Import it first" if plan.new else ""
        if wanted.layer:
            return "" if _says_the_same(file, wanted) else "was changed by hand. Import it first"
        return "was changed by hand, and follows from entries"


def _says_the_same(file: FileRead, wanted: _Wanted) -> bool:
    if not wanted.name:
        return redact(file.text).text == wanted.own
    text, below = split_kept(split_frontmatter(file.text)[1])
    return redact(text).text == wanted.own and set(below) <= set(wanted.text.split("\n"))


def _wanted(look: Reading, root: str, zone: str) -> Iterator[_Wanted]:
    """All files as they should be; one day at a time, as the log may be long."""
    days = look.memory_days()
    kept: dict[str, list[Entry]] = defaultdict(list)
    entries = 0
    for day in days:
        own = [_clean(one) for one in look.entries(day=day)]
        texts = redact_all([one.text for one in own])
        own = [one if one.text == text else replace(one, text=text) for one, text in zip(own, texts, strict=True)]
        entries += len(own)
        for one in own:
            if one.type in KEPT:
                kept[one.topic or one.type].append(one)
        yield _Wanted(path=f"{day}.md", text=day_file(day, own), day=day)
    months = look.nodes("month")
    for kind, folder in FOLDERS.items():
        for node in months if kind == "month" else look.nodes(kind):
            yield _Wanted(path=f"{folder}/{node.period.key}.md", text=node_file(replace(node, text=redact(node.text).text)))
    named = {layer: sorted({*look.memory_files(layer), *(kept if layer == "knowledge" else ())}) for layer in NAMED_FOLDERS}
    files = {layer: file_names(names) for layer, names in named.items()}
    clean = redact(root).text
    for name, file in files["knowledge"].items():
        # The root says where to look; in the mirror that is a file, whose name may not be the topic's.
        clean = clean if file == f"{name}.md" else clean.replace(f"knowledge/{place_name(name)})", f"knowledge/{file})")
    yield _Wanted(path=ROOT_FILE, text=root_file(clean, zone=zone, entries=entries, months=[node.period.key for node in months]))
    for layer, file in LAYER_FILES.items():
        if text := look.memory_file(layer):
            clean = redact(text).text
            yield _Wanted(path=file, text=clean, layer=layer, own=clean)
    for layer, folder in NAMED_FOLDERS.items():
        for name in named[layer]:
            clean = redact(look.memory_file(layer, name)).text
            quoted = sorted(kept.get(name, ()), key=lambda one: one.order) if layer == "knowledge" else []
            text = named_file(layer, name, clean, quoted)
            yield _Wanted(path=f"{folder}/{files[layer][name]}", text=text, layer=layer, name=name, own=clean)


def _clean(entry: Entry) -> Entry:
    return entry if entry.text.isascii() else replace(entry, text=without_half_characters(entry.text))
