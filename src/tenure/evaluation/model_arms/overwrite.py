"""Overwrite, with a model: one summary, replaced whole after each instance.

The summarise-and-replace memory that the ACE paper shows collapsing (arXiv 2510.04618, section 2.2). Calls an instance: one
to act, one to rewrite.
"""

from __future__ import annotations

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.model_arms.asking import Asking, experience, tokens_of

MOST_WORDS = 2_500
"""Words that the model is told the summary may have: the allowance of the transparent form."""

MOST_TOKENS = 6_000


class OverwriteByModel:
    """A summary that a model rewrites.

    Args:
        kit: of the comparison, with a model.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit, self.asking = kit, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """No summary."""
        self.summary = ""
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the summary before the agent."""
        response = self._kit.agent.act(query, [Item(text=self.summary)] if self.summary else [])
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Have the summary rewritten with what came; whatever the model writes takes the place of all that was known."""
        assert self._asked is not None
        parts = {
            "Summary so far": self.summary or "None yet.",
            "What happened since": [experience(*self._asked, observation)],
            "Room": f"At most {MOST_WORDS:,} words.",
        }
        written = self.asking.text("overwrite", parts, purpose="summarise", max_tokens=MOST_TOKENS)
        if written is not None:
            self.summary = written

    def memory_tokens(self) -> int:
        """Of the summary."""
        return tokens_of([self.summary])
