"""The memory of a scope as a folder of Markdown files, out and in. A part of `Memory`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenure.learning.memory_settings import zone_of

if TYPE_CHECKING:
    from tenure.learning.mirror_export import MirrorExported
    from tenure.learning.mirror_import import MirrorImported
    from tenure.ports import Clock, Store

ZONE = "memory.zone"
"""Setting of a scope: the zone in which its days begin."""


class MirrorKeeping:
    """Exports and imports of a memory."""

    _store: Store
    _scope: str
    _clock: Clock
    compact: Callable[..., Any]
    root: Callable[[], str]
    set_zone: Callable[[str], None]

    def export(self, folder: str | Path, *, force: bool = False) -> MirrorExported:
        """Bring the tree up to date and write the memory as Markdown files that agents read with file tools.

        Files that are as they should be are not touched. What a person wrote or changed is left, unless all of it is kept here.

        Args:
            folder: where to; it is made if it is not there.
            force: whether to replace also what a person wrote or changed.

        Raises:
            UserError: the folder has the memory of another scope, or cannot be written to.
        """
        from tenure.learning.mirror_export import export_mirror

        self.compact()
        with self._store.reading(self._scope) as look:
            zone = look.setting(ZONE) or "UTC"
        return export_mirror(self._store, self._scope, Path(folder), root=self.root(), zone=zone, zone_of=zone_of(zone), force=force)

    def import_folder(
        self, folder: str | Path, *, force: bool = False, dry_run: bool = False, largest: int | None = None
    ) -> MirrorImported:
        """Take in a folder that an export wrote and people changed, or one that Hipocampus kept. The same folder again adds nothing.

        Args:
            folder: of the export, of the project, or its `memory`.
            force: whether texts of layers, knowledge and plans that were changed on both sides are taken from the folder.
            dry_run: only say what would be done.
            largest: bytes of a file that is still read; none takes 64 MiB.

        Raises:
            UserError: there is no such folder, or nothing in it could be a memory.
        """
        from tenure.learning.mirror_import import MirrorImport, read_folder

        files = read_folder(Path(folder), largest=largest)
        found = files.manifest()
        with self._store.reading(self._scope) as look:
            zone, empty = look.setting(ZONE), not look.memory_days()
        took = found.zone if found is not None and not zone and empty and found.zone != "UTC" else ""
        days_in = zone_of(took or zone or "UTC")
        if took and not dry_run:
            self.set_zone(took)
        work = MirrorImport(self._store, self._scope, files, now=self._clock.now(), zone=days_in, force=force, dry_run=dry_run)
        done = replace(work.run(), zone=took)
        if not dry_run:
            self.compact()
            work.restore_summaries()
        return done
