"""Arms that keep no lessons: no memory, the whole history, and the most similar cases of it.

They are the raw baselines of Continual Learning Bench (arXiv 2606.05661) and ReHarness: strong ones there, and cheap.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.likeness import Likeness
from tenure.evaluation.model_arms.asking import case_text
from tenure.ranking import estimate_tokens


class NoMemory:
    """The agent alone."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    def respond(self, query: Query) -> Response:
        """Answer from nothing."""
        return self._kit.agent.act(query, ())

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Take in nothing."""

    def reset(self) -> None:
        """Nothing to forget."""

    def memory_tokens(self) -> int:
        """None."""
        return 0


class Cases:
    """Past inputs with the answers that were said to be right, word for word.

    Args:
        kit: of the comparison.
        most: how many of the most similar ones are handed over; none hands over all that fit the window, oldest first, and
            lets go of the oldest beyond it, as a chat does.
    """

    def __init__(self, kit: Kit, *, most: int | None) -> None:
        self._kit, self._most = kit, most
        self.reset()

    def reset(self) -> None:
        """Forget all cases."""
        self._like = Likeness()
        self._items: dict[str, Item] = {}
        self._costs: dict[str, int] = {}
        self._tokens = 0
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer from the cases."""
        if self._most is None:
            like: Mapping[str, float] = self._like.of(query.text)
            names = list(self._items)
        else:
            like = dict(self._like.nearest(query.text, self._most))
            names = list(like)
        response = self._kit.agent.act(query, [_with_likeness(self._items[name], like.get(name, 0.0)) for name in names])
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Keep the case."""
        assert self._asked is not None
        query, response = self._asked
        if self._kit.model is not None:  # which reads the whole question, and what came of it where there is no label
            text = case_text(query, response, observation)
        elif observation.label is None:
            return
        else:
            text = f"{query.text} -> {observation.label}"
        name = f"{query.id}@{query.index}"
        self._items[name] = Item(text=text, says=observation.label or "")
        self._like.put(name, query.text)
        self._costs[name] = estimate_tokens(self._items[name].text)
        self._tokens += self._costs[name]
        while self._most is None and self._tokens > self._kit.window:
            oldest = next(iter(self._items))
            del self._items[oldest]
            self._like.drop(oldest)
            self._tokens -= self._costs.pop(oldest)

    def memory_tokens(self) -> int:
        """Of all cases."""
        return self._tokens


def _with_likeness(item: Item, like: float) -> Item:
    return Item(text=item.text, says=item.says, like=like, trust=item.trust)
