"""Arms that rewrite their memory: overwrite, and Dynamic Cheatsheet.

Overwrite is the summarise-and-replace memory that the ACE paper shows collapsing (arXiv 2510.04618, section 2.2). Dynamic
Cheatsheet (arXiv 2504.07952, MIT): cumulative, one curator call rewrites the whole sheet after each question, within
2,000 to 2,500 words, with a count of uses at each item; retrieval-synthesis, a fresh sheet from the three most similar
past questions before each answer. It is told no labels in the original; the arms here are told what all arms are told,
and `dynamic-cheatsheet-unlabelled` is the original.
"""

from __future__ import annotations

from collections import Counter

from tenure.evaluation.arms.shelf import Shelf
from tenure.evaluation.harness.ports import Item, Kit, Note, Observation, Query, Response
from tenure.evaluation.likeness import Likeness

SHEET_WORDS = 2_500
SYNTHESIS = 3


class Overwrite:
    """All lessons summarised and replaced after each instance, within a cap.

    Args:
        kit: of the comparison.
        most_words: of the summary.
    """

    def __init__(self, kit: Kit, *, most_words: int = SHEET_WORDS) -> None:
        self._kit, self._most = kit, most_words
        self.reset()

    def reset(self) -> None:
        """An empty memory."""
        self._shelf = Shelf()
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the whole summary before the agent."""
        response = self._kit.agent.act(query, self._shelf.items(query.text))
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Summarise what was known and what came."""
        assert self._asked is not None
        note = self._kit.writer.lesson(*self._asked, observation)
        if note is not None:
            self._shelf.fill(self._kit.writer.summarise([*self._shelf.notes.values(), note], self._most))

    def memory_tokens(self) -> int:
        """Of the summary."""
        return self._shelf.tokens()


class CumulativeSheet:
    """Dynamic Cheatsheet, cumulative: a sheet that is rewritten whole, its most used items first.

    Args:
        kit: of the comparison.
        labels: whether it is told the labels.
        most_words: of the sheet.
    """

    def __init__(self, kit: Kit, *, labels: bool = True, most_words: int = SHEET_WORDS) -> None:
        self._kit, self._labels, self._most = kit, labels, most_words
        self.reset()

    def reset(self) -> None:
        """An empty sheet."""
        self._shelf = Shelf()
        self._uses: Counter[str] = Counter()
        self._asked: tuple[Query, Response, list[str]] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the whole sheet before the agent."""
        names = list(self._shelf.notes)
        response = self._kit.agent.act(query, self._shelf.items(query.text))
        self._asked = (query, response, [names[place] for place in response.used])
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Count what was used, add what is new, and let go of the least used beyond the cap."""
        assert self._asked is not None
        query, response, used = self._asked
        self._uses.update(used)
        told = observation if self._labels else Observation(text="")
        note = self._kit.writer.lesson(query, response, told)
        if note is None:
            return
        self._shelf.add(note)
        words = sum(len(one.text.split()) for one in self._shelf.notes.values())
        places = {name: place for place, name in enumerate(self._shelf.notes)}
        for name in sorted(self._shelf.notes, key=lambda one: (self._uses[one], places[one])):
            if words <= self._most:
                break
            words -= len(self._shelf.notes[name].text.split())
            self._shelf.drop(name)
            self._uses.pop(name, None)

    def memory_tokens(self) -> int:
        """Of the sheet."""
        return self._shelf.tokens()


class SynthesisedSheet:
    """Dynamic Cheatsheet with retrieval and synthesis: a fresh sheet for each question, from the past questions most like it."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self.reset()

    def reset(self) -> None:
        """No past."""
        self._like = Likeness()
        self._past: dict[str, Note] = {}
        self._sheet: tuple[Note, ...] = ()
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Make the sheet anew, and answer by it."""
        near = self._like.nearest(query.text, SYNTHESIS)
        found = [self._past[name] for name, _ in near]
        like: Counter[str] = Counter()
        for name, one in near:
            like[self._past[name].says] = max(like[self._past[name].says], one)  # type: ignore[assignment]
        self._sheet = self._kit.writer.summarise([*found], SHEET_WORDS) if found else ()
        items = [Item(text=note.text, says=note.says, like=float(like[note.says]), trust=float(len(note.sources))) for note in self._sheet]
        response = self._kit.agent.act(query, items)
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Keep the question with its answer."""
        assert self._asked is not None
        query, response = self._asked
        note = self._kit.writer.lesson(query, response, observation)
        if note is not None:
            name = f"{query.id}@{query.index}"
            self._past[name] = note
            self._like.put(name, note.when)

    def memory_tokens(self) -> int:
        """Of the past questions."""
        return sum(note.tokens for note in self._past.values())
