"""Arms that keep lessons and retrieve a few: ReHarness, ReasoningBank, and one in the manner of Mem0."""

from __future__ import annotations

from tenure.evaluation.arms.shelf import Shelf
from tenure.evaluation.harness.ports import Kit, Note, Observation, Query, Response

MOST_ITEMS = 3
"""Items that ReasoningBank extracts from one task at most."""


class ReHarness:
    """One lesson a past instance, the k most similar before the agent, each of them revised backwards by what came of it.

    ReHarness as documented with Hermit (infini-ai-lab.github.io/hermit): forward read, backward revision by the source
    case under the rule that the new one is only a test, forward write beside the revised ones. Its k is not published.

    Args:
        kit: of the comparison.
        k: how many are read, and revised.
    """

    def __init__(self, kit: Kit, *, k: int = 3) -> None:
        self._kit, self._k = kit, k
        self.reset()

    def reset(self) -> None:
        """An empty bank."""
        self._shelf = Shelf()
        self._sources: dict[str, str] = {}
        self._asked: tuple[Query, Response, list[str]] | None = None

    def respond(self, query: Query) -> Response:
        """Answer from the most similar lessons."""
        names = [name for name, _ in self._shelf.nearest(query.text, self._k)]
        response = self._kit.agent.act(query, self._shelf.items(query.text, names))
        self._asked = (query, response, names)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Revise what was read, then write the new lesson unless a revised one says it."""
        assert self._asked is not None
        query, response, names = self._asked
        if observation.label is not None:
            for name in names:
                read = self._shelf.notes[name]
                if read.says != observation.label:
                    self._shelf.replace(name, self._kit.writer.revise(read, source=self._sources[name], failed=query.text))
        note = self._kit.writer.lesson(query, response, observation)
        if note is not None:
            self._sources[self._shelf.add(note)] = query.text

    def memory_tokens(self) -> int:
        """Of the bank."""
        return self._shelf.tokens()


class ReasoningBank:
    """Items from successes and failures, appended; those of the one most similar past task before the agent.

    ReasoningBank (arXiv 2509.25140; google-research/reasoning-bank, Apache-2.0): at most three items a task, top 1 past
    task by likeness of the query, no pruning. Its judge labels success and failure; here the feedback does.

    Args:
        kit: of the comparison.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self.reset()

    def reset(self) -> None:
        """An empty bank."""
        self._shelf = Shelf()
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer from the items of the most similar past task."""
        names = [name for name, _ in self._shelf.nearest(query.text, 1)]
        response = self._kit.agent.act(query, self._shelf.items(query.text, names))
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Append what the task taught."""
        assert self._asked is not None
        note = self._kit.writer.lesson(*self._asked, observation)
        if note is not None:
            self._shelf.add(note)

    def memory_tokens(self) -> int:
        """Of the bank."""
        return self._shelf.tokens()


class MemZeroLike:
    """Facts that are added, updated, deleted or left alone, each held against its nearest ones; the ten most similar before the agent.

    In the manner of Mem0's paper (arXiv 2504.19413, Apache-2.0): ten nearest memories, then one of four operations. The
    transparent form of the choice: NOOP where one says the same in nearly the same words, UPDATE where one says the same
    in like words, DELETE of what says otherwise in nearly the same words, ADD otherwise.

    Args:
        kit: of the comparison.
        nearest: memories that a fact is held against, and that are handed over.
    """

    SAME, LIKE = 0.9, 0.5

    def __init__(self, kit: Kit, *, nearest: int = 10) -> None:
        self._kit, self._nearest = kit, nearest
        self.reset()

    def reset(self) -> None:
        """No facts."""
        self._shelf = Shelf()
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer from the most similar facts."""
        names = [name for name, _ in self._shelf.nearest(query.text, self._nearest)]
        response = self._kit.agent.act(query, self._shelf.items(query.text, names))
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Choose one of the four operations for what was learned."""
        assert self._asked is not None
        note = self._kit.writer.lesson(*self._asked, observation)
        if note is not None:
            self._take(note)

    def _take(self, note: Note) -> None:
        near = self._shelf.nearest(note.when, self._nearest)
        for name, like in near:
            if like >= self.SAME and self._shelf.notes[name].says != note.says:
                self._shelf.drop(name)
        alike = [(name, like) for name, like in near if name in self._shelf.notes and self._shelf.notes[name].says == note.says]
        if any(like >= self.SAME for _, like in alike):
            return
        if alike and alike[0][1] >= self.LIKE:
            self._shelf.replace(alike[0][0], self._kit.writer.merge([self._shelf.notes[alike[0][0]], note]))
        else:
            self._shelf.add(note)

    def memory_tokens(self) -> int:
        """Of all facts."""
        return self._shelf.tokens()
