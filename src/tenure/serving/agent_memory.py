"""The long-term memory of a scope as agents use it: what they write down, and what they find of it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenure.errors import UserError
from tenure.governance.redaction import redact
from tenure.learning.resting import names_origin
from tenure.playbook.run import Origin

if TYPE_CHECKING:
    from tenure.wiring import Tenure

USUAL_BUDGET = 3_000
"""Tokens of what is found, where an agent says nothing of it."""

ROW = "  "
"""What further lines of a text begin with: they never look like lines of the answer's own."""


class AgentMemory:
    """The memory of one scope for agents. Safe to share between threads.

    Args:
        book: whose memory it is.
        principal: whose agents these are.
        channel: how they come, such as `mcp`; entries say so, and can be revoked or forgotten by it.
    """

    def __init__(self, book: Tenure, *, principal: str = "local", channel: str = "mcp") -> None:
        self._book, self._origin = book, Origin(principal=principal, channel=channel).name

    def checkpoint(self, request: str, analysis: str, decisions: str, outcome: str, references: str, event_id: str) -> str:
        """Write down what a task came to; what became of it, a sentence. The same event id twice is one entry.

        Raises:
            UserError: the origin of these agents is revoked, or there is nothing to write down.
        """
        revoked = next((name for name in sorted(self._book.revoked_origins) if names_origin(self._origin, name)), "")
        if revoked:
            raise UserError(f"Nothing was written down: origin '{revoked}' is revoked in scope '{self._book.scope}'.")
        kept = self._book.memory.checkpoint(
            request=request,
            analysis=analysis,
            decisions=decisions,
            outcome=outcome,
            references=references,
            event=event_id,
            origin=self._origin,
        )
        if kept is None:
            return f"Event '{redact(event_id).text}' was written down before; nothing was added."
        return f"Written down under {kept.day}. The next recall finds it."

    def recall(self, query: str, budget: int | None) -> str:
        """What memory holds for a query, with ages, within a budget of tokens; that there is nothing is said."""
        found = self._book.memory.recall(query, budget=USUAL_BUDGET if budget is None else budget)
        lines = [f"topic {one.name} ({one.type}): {', '.join(one.subs)}; look at {' '.join(one.days[-3:])}" for one in found.topics]
        lines += [f"{one.where} ({one.age}): {one.text}" for one in found.found]
        return "\n".join(redact(line).text.replace("\n", f"\n{ROW}") for line in [*lines, *filter(None, (found.note,))])

    def root(self) -> str:
        """The root of the tree: what is always loaded."""
        return self._book.memory.root()
