"""The transparent agent: it does what its memory says, and nothing else.

It has no language ability at all, so that what it reaches is what a memory is worth and not what a model knows. Where
several things are handed over that speak for different answers, they vote, each with its likeness to the question times
the trust the memory puts into it. Where nothing speaks for any answer, it guesses, with a draw of its own for each
instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tenure.evaluation.harness.ports import Item, Query, Response


class VotingAgent:
    """Follows the vote of what its memory hands it.

    Args:
        seed: of its guesses.
    """

    name = "transparent agent"

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """The answer with the most votes; of equals the one that was named first."""
        votes: dict[str, float] = {}
        for item in items:
            if item.says and item.like > 0:
                votes[item.says] = votes.get(item.says, 0.0) + item.like * item.trust
        memory = tuple(item.text for item in items)
        best = max(votes, key=lambda answer: votes[answer], default=None)
        if best is None or votes[best] <= 0:
            guess = Random(f"{self._seed}:{query.id}").choice(query.options) if query.options else None
            return Response(answer=guess, memory=memory, problem="" if guess is not None else "nothing to go by, and no options")
        used = tuple(place for place, item in enumerate(items) if item.says == best and item.like > 0)
        return Response(answer=best, memory=memory, used=used)
