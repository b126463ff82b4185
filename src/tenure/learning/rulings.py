"""Changes that wait for a person, from Python: what `Tenure` offers for a review."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from tenure.learning.review import Decided, Ruling, decide, find_held, held_changes
from tenure.learning.taking_back import Undone, undo_review
from tenure.ports import Clock, HeldChange, IdSource, LedgerCheck, Store


class ReviewKeeping(ABC):
    """Held changes of a scope: looked at, decided in batches, taken back in one step; and the proof of the ledger."""

    scope: str
    clock: Clock
    ids: IdSource

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where all of it is kept."""

    def held(self) -> Sequence[HeldChange]:
        """Everything that waits for a review, oldest first."""
        with self.store.reading(self.scope) as reading:
            return held_changes(reading)

    def approve(self, ids: Sequence[str], *, note: str = "", author: str = "person:api", anyway: bool = False) -> Decided:
        """Carry out held changes, as one delta that one step takes back.

        Args:
            ids: of the changes, or as much of each as makes it unique.
            note: why, for those who read the log.
            author: who decides.
            anyway: also what admission would refuse today; without it such a change is left open, and its receipt says so.

        Raises:
            UserError: an id is that of no held change, or of several; then none is decided.
        """
        return self._rule("approved", ids, note, author, anyway)

    def reject(self, ids: Sequence[str], *, note: str = "", author: str = "person:api") -> Decided:
        """Close held changes without carrying them out, as one delta that one step takes back. Arguments as for `approve`.

        Raises:
            UserError: an id is that of no held change, or of several; then none is decided.
        """
        return self._rule("rejected", ids, note, author, False)

    def undo_review(self, batch: str = "", *, author: str = "person:api") -> Undone:
        """Take back one batch of a review; its changes wait again, and what others changed since stays.

        Args:
            batch: its version or id; empty takes the newest that stands.
            author: who asked for it.

        Raises:
            UserError: there is no such batch.
        """
        with self.store.writing(self.scope) as work:
            return undo_review(work, batch, ids=self.ids, at=self.clock.now(), author=author)

    def check_ledger(self, *, tell: Callable[[int], None] | None = None) -> LedgerCheck:
        """Whether the hash chains of the scope are whole, with the first break; see `tenure ledger verify`.

        Args:
            tell: called now and then with the number of deltas looked at.
        """
        with self.store.reading(self.scope) as reading:
            return reading.check_ledger(tell=tell)

    def _rule(self, state: str, ids: Sequence[str], note: str, author: str, anyway: bool) -> Decided:
        named = (ids,) if isinstance(ids, str) else tuple(ids)
        with self.store.writing(self.scope) as work:
            waiting = held_changes(work)
            changes = {change.id: change for change in (find_held(work, one, waiting=waiting) for one in named)}
            rulings = [Ruling(change=change, state=state, note=note) for change in changes.values()]
            return decide(work, rulings, ids=self.ids, at=self.clock.now(), author=author, anyway=anyway)
