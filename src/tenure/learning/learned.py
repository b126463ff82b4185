"""What became of runs that were learned from: of one, and of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tenure.playbook.delta import Receipt
from tenure.playbook.run import Run
from tenure.ports import Usage
from tenure.postponed import Limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What became of one run.

    Attributes:
        run: its id.
        skipped: why it was not learned from; empty if it was.
        version: of the delta; none if it left none.
        added, merged, held: lessons new, joined to one that was there, and waiting for a review.
        revised, retired, promoted: lessons whose text, use or standing changed.
        released: held lessons that came into use, because independent trusted origins say the same.
        refined: what refine did right after, one sentence; empty if it was not due.
        conflicts: a sentence for each new lesson that differs in a fact from one that is alike; both stay, for a review.
        left: a sentence for each used lesson that the run speaks against and that stayed as it is.
        problems: what went wrong on the way (a model's reply that could not be used), a sentence each.
        postponed: why the model's part was left for later (see `Postponed.reason`); empty if it was done, or there is no model.
        limit: what stood in its way (see `Postponed.limit`); empty if nothing did.
        usage: of the model calls.
        refused: lessons that were not admitted.
        receipts: one per operation of the delta.
    """

    run: str
    skipped: str = ""
    version: int | None = None
    added: int = 0
    merged: int = 0
    held: int = 0
    revised: int = 0
    retired: int = 0
    promoted: int = 0
    released: int = 0
    refined: str = ""
    conflicts: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    postponed: str = ""
    limit: Limit | Literal[""] = ""
    usage: Usage = field(default_factory=Usage)
    refused: int = 0
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What became of many runs. Counts are as in `Learned`.

    Attributes:
        runs: runs read, skipped ones included.
        successes, failures: among them, as far as known.
        skipped: runs that had been learned before, or could not be.
        left: why used lessons that runs speak against stayed as they are, the first 20.
        postponed: runs that were learned from without the model, which can reflect on them later.
        why_postponed: how many of them each limit held back (see `Postponed.limit`), with the last reason.
        interrupted: whether it was stopped before the last one; what is left can be learned later.
    """

    runs: int = 0
    successes: int = 0
    failures: int = 0
    skipped: int = 0
    added: int = 0
    merged: int = 0
    held: int = 0
    revised: int = 0
    retired: int = 0
    released: int = 0
    conflicts: int = 0
    left: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    postponed: int = 0
    why_postponed: Mapping[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    usage: Usage = field(default_factory=Usage)
    interrupted: bool = False

    def plus(self, run: Run, learned: Learned) -> Summary:
        """The summary with one more run."""
        return replace(
            self,
            runs=self.runs + 1,
            successes=self.successes + (run.outcome.success is True),
            failures=self.failures + (run.outcome.success is False),
            skipped=self.skipped + bool(learned.skipped),
            added=self.added + learned.added,
            merged=self.merged + learned.merged,
            held=self.held + learned.held,
            revised=self.revised + learned.revised,
            retired=self.retired + learned.retired,
            released=self.released + learned.released,
            conflicts=self.conflicts + len(learned.conflicts),
            left=(*self.left, *learned.left)[:20],
            problems=(*self.problems, *learned.problems)[:20],
            postponed=self.postponed + bool(learned.postponed),
            why_postponed={**self.why_postponed, **self._why(learned)},
            usage=self.usage + learned.usage,
        )

    def _why(self, learned: Learned) -> dict[str, tuple[int, str]]:
        known = self.why_postponed.get(learned.limit, (0, ""))
        return {learned.limit: (known[0] + 1, learned.postponed)} if learned.limit else {}
