"""The memory that Tenure is compared with: one note, rewritten whole after every run.

It stands for "summarise what you know and replace the note", with the cap that such notes have in
practice. Nothing in it is random: the newest findings come first, and what no longer fits goes.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenure.evaluation.demo.clerk import Work
from tenure.evaluation.demo.desk import Desk

WORDS = 100
"""Cap on the note, in words."""


@dataclass(slots=True)
class OverwriteMemory:
    """A note that is rewritten after every run.

    Attributes:
        note: what the agent reads next time.
    """

    note: str = ""

    def rewrite(self, desk: Desk, work: Work) -> None:
        """Summarise the run in front of what the note said, and cut at the cap."""
        parts: list[str] = []
        steps = list(zip(work.steps[::2], work.steps[1::2], strict=True))
        for place, (call, result) in enumerate(steps):
            accepted = next((later for later, given in steps[place + 1 :] if later.name == call.name and not given.error), None)
            if result.error and accepted is not None:
                stated = ", ".join(f"{name}={value}" for name, value in accepted.arguments.items() if call.arguments.get(name) != value)
                parts.append(f"{call.name}: {result.error}; error avoided with {stated}.")
        verdict = f"posted {desk.posted} EUR" if desk.posted is not None else "the close was locked and went to manual work"
        rows = ", ".join(f"{row.number} {row.currency} {row.amount}" for row in desk.invoices)
        parts.append(f"Week {desk.week}: {verdict}. Invoices: {rows}.")
        words = " ".join([*parts, self.note]).split()
        self.note = " ".join(words[:WORDS])
