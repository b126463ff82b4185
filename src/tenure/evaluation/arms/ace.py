"""ACE: agentic context engineering (Zhang et al., ICLR 2026, arXiv 2510.04618; ace-agent/ace, Apache-2.0).

The Generator sees the whole playbook and names the lessons it relied on; the Reflector tags each of them helpful or
harmful; the Curator only adds; plain code merges, raises counters and removes duplicates by likeness of text. Online it
predicts, then learns from the same instance. Offline it learns over a training set, for some epochs, and is frozen.
Without labels the Reflector has the answer alone to go by. In the transparent form the agent trusts a lesson by its
counters as they stand in the text.
"""

from __future__ import annotations

from collections import Counter

from tenure.evaluation.arms.shelf import Shelf
from tenure.evaluation.harness.ports import Kit, Observation, Query, Response

DUPLICATE = 0.9
"""Likeness from which on a new lesson with the same answer is a duplicate: the reference implementation's threshold."""

WINDOW = 80_000
"""Tokens of the playbook, the reference implementation's budget; beyond it the worst counters go, as no original says how."""


class Ace:
    """A playbook with counters.

    Args:
        kit: of the comparison.
        labels: whether the Reflector is told the labels.
    """

    def __init__(self, kit: Kit, *, labels: bool = True) -> None:
        self._kit, self._labels = kit, labels
        self.reset()

    def reset(self) -> None:
        """An empty playbook."""
        self._shelf = Shelf()
        self._helpful: Counter[str] = Counter()
        self._harmful: Counter[str] = Counter()
        self._tokens = 0
        self._asked: tuple[Query, Response, list[str]] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the whole playbook before the agent."""
        names = list(self._shelf.notes)
        trust = {name: (1 + self._helpful[name]) / (2 + self._helpful[name] + self._harmful[name]) for name in names}
        response = self._kit.agent.act(query, self._shelf.items(query.text, names, trust))
        self._asked = (query, response, [names[place] for place in response.used])
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Tag what was used, and add the lesson unless it is there."""
        assert self._asked is not None
        query, response, used = self._asked
        told = observation if self._labels else Observation(text="")
        if told.score is not None:
            (self._helpful if told.score >= 0.5 else self._harmful).update(used)
        note = self._kit.writer.lesson(query, response, told)
        if note is None or any(
            like >= DUPLICATE and self._shelf.notes[name].says == note.says for name, like in self._shelf.nearest(note.when, 5)
        ):
            return
        self._shelf.add(note)
        self._tokens += note.tokens
        if self._tokens > WINDOW:
            worst = min(self._shelf.notes, key=lambda name: self._helpful[name] - self._harmful[name])
            self._tokens -= self._shelf.notes[worst].tokens
            self._shelf.drop(worst)

    def memory_tokens(self) -> int:
        """Of the playbook."""
        return self._tokens
