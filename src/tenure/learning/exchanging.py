"""A playbook's ledger in files, from Python: what `Tenure` offers to share it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tenure.errors import UnreadableInput
from tenure.learning.ledger_file import LedgerFile, write_lines
from tenure.learning.sharing import Shared, holds_secrets, shared_lines, take_in, take_secrets_out
from tenure.ports import Clock, IdSource, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A ledger that was written to a file.

    Attributes:
        links: how many lines it has.
        size: in bytes.
        changed: whether it was written; false if the file held the same already.
        cleaned: deltas out of which secrets were taken first.
    """

    links: int
    size: int
    changed: bool
    cleaned: int = 0


class LedgerSharing(ABC):
    """The ledger of a scope written to a file and taken in from one."""

    scope: str
    clock: Clock
    ids: IdSource

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where all of it is kept."""

    def export_ledger(self, path: str | Path, *, author: str = "person:api", tell: Callable[[int], None] | None = None) -> Written:
        """Write the ledger of the scope to a file that other installations take in: a line a link, whole or not at all.

        What redaction takes out today and did not when it was written is taken out of the ledger first.

        Args:
            path: the file; it is left alone if nothing has changed.
            author: who asked for it.
            tell: called after each link with the number written.

        Raises:
            UserError: it is a folder, or cannot be written.
        """
        cleaned = self.clean_ledger(author=author)
        with self.store.reading(self.scope) as reading:
            size, changed = write_lines(Path(path), shared_lines(reading, tell=tell))
            links = reading.version()
        return Written(links=links, size=size, changed=changed, cleaned=cleaned)

    def clean_ledger(self, *, author: str = "person:api") -> int:
        """Take out of the ledger what redaction takes out today and did not when it was written; how many deltas held some."""
        with self.store.reading(self.scope) as reading:
            unclean = holds_secrets(reading)
        if not unclean:
            return 0
        with self.store.writing(self.scope) as work:
            cleaned = take_secrets_out(work, ids=self.ids, at=self.clock.now(), author=author)
        self.store.scrub()
        return cleaned

    def import_ledger(self, path: str | Path, *, trust: bool = False, dry_run: bool = False) -> Shared:
        """Take in the ledger that another installation wrote. Afterwards both read the same, once it has taken in ours.

        Args:
            path: a file of ledger lines, of one export or of several put together, in any order.
            trust: let in installations of which nothing is here yet. What is left out without it is in the result.
            dry_run: say what would come of it; nothing is written.

        Raises:
            UnreadableInput: it cannot be read, or a chain in it is broken; the message names the line. Nothing was imported.
        """
        try:
            with Path(path).open("rb") as source:
                return self.take_ledger_in(source, Path(path).name, trust=trust, dry_run=dry_run)
        except OSError as exc:
            raise UnreadableInput(f"File '{path}' cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc

    def take_ledger_in(
        self, source: BinaryIO, name: str, *, trust: bool = False, dry_run: bool = False, tell: Callable[[int], None] | None = None
    ) -> Shared:
        """`import_ledger` from an open file that can seek. `tell` is called with the bytes read."""
        file = LedgerFile(source, name, tell=tell)
        return take_in(self.store, self.scope, file, ids=self.ids, now=self.clock.now, trust=trust, dry_run=dry_run)
