"""In the manner of Mem0's paper, with a model (arXiv 2504.19413; mem0ai/mem0, Apache-2.0).

One call extracts facts from the newest exchange, with the few before it for context. Each fact is held against the ten
memories most like it, and one call chooses: ADD, UPDATE one of them, DELETE one of them, or NOOP. The ten memories most like
the question stand before the agent. The paper's running summary of the conversation is left out: instances are no
conversation. Calls an instance: one to act, one to extract, one for each fact.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.likeness import Likeness
from tenure.evaluation.model_arms.asking import Asking, experience, text_of, texts_of, tokens_of

NEAREST = 10
RECENT = 2
"""Exchanges before the newest that the extraction is shown."""

MOST_FACTS = 5
"""Facts of one exchange that are taken; the prompt asks for no more."""


class MemZeroByModel:
    """Facts that are added, updated, deleted or left alone.

    Args:
        kit: of the comparison, with a model.
        nearest: memories that a fact is held against, and that stand before the agent.
    """

    def __init__(self, kit: Kit, *, nearest: int = NEAREST) -> None:
        self._kit, self._nearest, self.asking = kit, nearest, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """No facts."""
        self.facts: dict[str, str] = {}
        self._like = Likeness()
        self._recent: deque[dict[str, Any]] = deque(maxlen=RECENT)
        self._made = 0
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the most similar facts before the agent."""
        near = self._like.nearest(query.text, self._nearest)
        response = self._kit.agent.act(query, [Item(text=self.facts[name], like=like) for name, like in near])
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Extract facts, and choose an operation for each."""
        assert self._asked is not None
        now = experience(*self._asked, observation)
        parts = {"Exchanges before": list(self._recent) or "None.", "Newest exchange": [now]}
        found = self.asking.json("facts_extract", parts, purpose="reflect", expects=("facts",), max_tokens=1000)
        self._recent.append({key: value for key, value in now.items() if key != "said"})
        for fact in texts_of(found.get("facts") if found is not None else (), MOST_FACTS):
            self._take(fact)

    def memory_tokens(self) -> int:
        """Of all facts."""
        return tokens_of(list(self.facts.values()))

    def _take(self, fact: str) -> None:
        near = [name for name, _ in self._like.nearest(fact, self._nearest)]
        parts = {"New fact": fact, "Memories like it": [{"id": name, "text": self.facts[name]} for name in near] or "None."}
        found = self.asking.json("facts_choose", parts, purpose="curate", expects=("operation",), max_tokens=500)
        if found is None:
            return
        operation, name = text_of(found.get("operation")).upper(), text_of(found.get("id"))
        if operation == "ADD":
            self._made += 1
            self._put(f"f{self._made}", fact)
        elif operation == "UPDATE" and name in near:
            self._put(name, text_of(found.get("text")) or fact)
        elif operation == "DELETE" and name in near:
            del self.facts[name]
            self._like.drop(name)
        elif operation != "NOOP":
            self.asking.unread.append(f"curate: no operation '{operation}' on '{name}'")

    def _put(self, name: str, text: str) -> None:
        self.facts[name] = text
        self._like.put(name, text)
