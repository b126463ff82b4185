"""Changes that wait for a person, and what a store says of them. `ports` offers these names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tenure.governance.ledger_check import LedgerCheck
from tenure.playbook.delta import Operation
from tenure.playbook.lessons import Lesson


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldChange:
    """An operation that waits for a review, or did.

    Attributes:
        id: names it in `tenure review`; for a lesson that stands in the playbook as held, the lesson's.
        operation: what would be done.
        reason: why it was held, or refused.
        author: who proposed it.
        run: the run it came from; empty for others.
        at: ISO 8601.
        state: `open`, `approved`, `edited`, `rejected`, `corroborated` or `refused`.
        decided: who decided, and when, in one text; empty while open.
        rule: the rule that held or refused it (see `governance.admission.RULES`); empty if none is known.
        origin: name of the origin that its words may come from; empty if none is known.
        voices: ids of runs of trusted origins that said the same while it waited.
        batch: id of the delta that decided it; empty while open.
    """

    id: str
    operation: Operation
    reason: str
    author: str
    run: str = ""
    at: str = ""
    state: str = "open"
    decided: str = ""
    rule: str = ""
    origin: str = ""
    voices: tuple[str, ...] = ()
    batch: str = ""


class Waiting(Protocol):
    """The part of a look at a scope that concerns changes that wait."""

    def held(self, *, state: str = "open") -> Sequence[HeldChange]:
        """Held changes in a state, oldest first."""
        ...

    def held_change(self, change: str) -> HeldChange | None:
        """The held change of an id, whatever its state."""
        ...

    def held_named(self, ids: Collection[str]) -> Mapping[str, HeldChange]:
        """The held changes of some ids, whatever their states."""
        ...

    def held_lessons(self) -> Sequence[Lesson]:
        """Lessons that stand in the playbook as held, sorted by id."""
        ...

    def held_saying(self, keys: Collection[str]) -> Sequence[str]:
        """Ids of held lessons and of open changes that say what a key stands for (see `playbook.statements`), sorted."""
        ...

    def check_ledger(self, *, tell: Callable[[int], None] | None = None) -> LedgerCheck:
        """Whether the hash chains of the scope are whole, with the first break of each; read as a stream, in bounded memory.

        Args:
            tell: called now and then with the number of deltas looked at.
        """
        ...


class Deciding(Waiting, Protocol):
    """The part of a transaction on a scope that concerns changes that wait."""

    def hold(self, waits: HeldChange) -> None:
        """Put an operation into the review queue."""
        ...

    def decide(self, held_id: str, *, state: str, decided: str) -> None:
        """Close a held change as `approved` or `rejected`."""
        ...

    def amend(self, *changes: HeldChange) -> None:
        """Write held changes anew, or for the first time: their state, voices and decision."""
        ...
