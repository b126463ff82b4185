"""What the adapters of `ports.Store` share when lessons and runs are searched: what is indexed of each, and one way to weigh them.

The words, the rarities and the order are those of `terms` and `fusion`, as for passages. An adapter
gives candidates by its own measure; only they are weighed exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import Protocol

from tenure.fusion import Candidate, rarities, shares
from tenure.playbook.lessons import Lesson
from tenure.terms import Question, identifiers, indexed_words, length, question, shown, stem

ASKED_WEIGHT = 0.7
"""What a word in the tasks that a lesson came from counts against one in the lesson."""

SOURCE_TASKS, SOURCE_CHARACTERS = 8, 2_000
"""How many of the tasks that a lesson came from are searched with it, and how much of each, in characters."""

TASK_CHARACTERS = 4_000
"""How much of a run's task is searched, in characters."""

MORE_CANDIDATES, FEWEST_CANDIDATES = 60, 160
"""How many more texts are weighed than hits are asked for, and how many in all at least: databases measure a little differently."""

ENOUGH_HOLDERS = 10_000
"""When the rarest words of a question are held this often, its other words put forward no candidates; they are weighed all the same."""

MEASURED = 32
"""How many texts of an index tell how long its texts are. Those that a question brings forward would tell each adapter otherwise."""

_END = "\ue000"
"""Ends each identifier: no stemmer takes an ending off it, and no word equals one without signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A lesson or a task as it is searched; words are folded and stand between single spaces.

    Attributes:
        said: its own words.
        asked: words and identifiers of the tasks that a lesson came from.
        marks: its own identifiers.
    """

    said: str
    asked: str = ""
    marks: str = ""

    @property
    def length(self) -> float:
        """Words, those of the tasks counted less."""
        return settled(length(self.said) + ASKED_WEIGHT * length(self.asked))


def settled(weighed: float) -> float:
    """A sum of whole numbers and of `ASKED_WEIGHT`s, whatever was added first and however exactly a database keeps it."""
    return round(weighed, 1)


def own_text(lesson: Lesson) -> str:
    """What of a lesson itself is searched."""
    return f"{lesson.text}\n{lesson.applies_when}\n{lesson.avoid}"


def searched(own: str, asked: str) -> Searched:
    """A lesson with the inputs of the tasks it came from.

    Args:
        own: see `own_text`.
        asked: the inputs.
    """
    return Searched(said=_words(own), asked=" ".join(filter(None, (_words(asked), _marks(asked)))), marks=_marks(own))


def searched_task(text: str) -> Searched:
    """The input of a run's task."""
    start = text[:TASK_CHARACTERS]
    return Searched(said=_words(start), marks=_marks(start))


def _words(text: str) -> str:
    return " ".join(indexed_words(text))


def _marks(text: str) -> str:
    return " ".join(name + _END for name in identifiers(text))


class Index(Protocol):
    """The lessons or the runs that a question is asked of, as an adapter keeps them, each under a row number."""

    @property
    def exact(self) -> bool:
        """Whether `holders` puts forward the best by the very measure of `weigh`, so that no more are weighed than are asked for."""
        ...

    def size(self) -> int:
        """How many there are."""
        ...

    def held_by(self, token: str) -> int:
        """How many hold a word, or another with its stem, or an identifier. Never asked for a stem, which may have a stem of its own."""
        ...

    def holders(self, tokens: Sequence[str], marks: Sequence[str], most: int) -> Collection[int]:
        """Rows that hold any of these: at most so many for `marks`, then so many for `tokens`, the likeliest as far as it can tell."""
        ...

    def lengths(self, most: int) -> Sequence[float]:
        """Lengths of so many of them, those whose names come first: the same ones in every adapter, whatever is asked."""
        ...

    def take(self, rows: Collection[int], wanted: Collection[str], marks: Collection[str]) -> Mapping[int, Candidate]:
        """The texts in rows, as `candidate` reads them, under names that break ties.

        Args:
            rows: of those that `holders` gave.
            wanted: stems and identifiers of the question.
            marks: its identifiers.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A row that answers a question.

    Attributes:
        row: its number.
        score: share of the question's rarity that it holds, above 0 and below 1.
        words: of the question that it holds, in the question's order.
        identifiers: of the question that it holds exactly, in lower case.
    """

    row: int
    score: float
    words: tuple[str, ...]
    identifiers: tuple[str, ...]


def weigh(index: Index, text: str, *, limit: int) -> list[Weighed]:
    """Rows that hold a word or an identifier of a text, best first; those whose own words hold more of its identifiers before others.

    Args:
        index: where to look.
        text: a question, in any script; nothing in it is syntax.
        limit: how many at most.
    """
    asked = question(text)
    if limit < 1:
        return []
    found = _weigh(index, asked, limit)
    if not found and asked.others:
        # The words that say little are better than nothing, and still a small share of what was asked.
        found = _weigh(index, asked.asking((*asked.words, *asked.others)), limit)
    return found


def asked_for(text: str) -> list[str]:
    """Words and identifiers of a text that `weigh` asks an index for first, as it asks for them."""
    asked = question(text)
    return [*asked.words, *(name + _END for name in asked.identifiers)]


def _weigh(index: Index, asked: Question, limit: int) -> list[Weighed]:
    total = index.size()
    if not total:
        return []
    words = {stem(word): word for word in asked.words}
    marks = {name + _END: name for name in asked.identifiers}
    held_by = {token: index.held_by(words.get(token, token)) for token in (*words, *marks)}
    tokens = _rarest(held_by)
    if not tokens:
        return []
    # Words, not stems: whoever indexes texts stems what it is asked for, and a stem may have another stem ("databas", "databa").
    tokens = [words.get(token, token) for token in tokens]
    whole = len(tokens) == sum(map(bool, held_by.values()))
    most = limit if index.exact and whole else max(limit + MORE_CANDIDATES, FEWEST_CANDIDATES)
    candidates = list(index.take(index.holders(tokens, [mark for mark in marks if held_by[mark]], most), held_by, marks).items())
    lengths = index.lengths(MEASURED)
    mean_length = sum(lengths) / max(len(lengths), 1)
    weights = rarities(held_by, total)
    # Summed exactly: one adapter knows the words of a text in their order, another does not.
    scores = [fsum(shares(one, weights, mean_length).values()) for _, one in candidates]
    order = sorted(
        (place for place, score in enumerate(scores) if score > 0),
        key=lambda place: (-candidates[place][1].identifiers, -round(scores[place], 12), candidates[place][1].key, candidates[place][0]),
    )
    return [
        Weighed(
            row=row,
            score=scores[place],
            words=tuple(shown(word) for token, word in words.items() if token in one.counts),
            identifiers=tuple(shown(name) for mark, name in marks.items() if mark in one.counts),
        )
        for place in order[:limit]
        for row, one in (candidates[place],)
    ]


def _rarest(held_by: Mapping[str, int]) -> list[str]:
    """What of a question puts candidates forward: whatever is held at all, the rarest first, until enough hold it."""
    chosen: list[str] = []
    reached = 0
    for token in sorted((token for token, count in held_by.items() if count), key=lambda token: (held_by[token], token)):
        if chosen and reached + held_by[token] > ENOUGH_HOLDERS:
            break
        chosen.append(token)
        reached += held_by[token]
    return chosen


@lru_cache(maxsize=16_384)
def counted(one: Searched) -> Mapping[str, float]:
    """How often a text holds each stem and each identifier, those of tasks counted less, in the order in which they first stand in it."""
    own = Counter(map(stem, one.said.split()))
    own.update(map(stem, one.marks.split()))
    counts = {root: float(count) for root, count in own.items()}
    if one.asked:
        for root, count in Counter(map(stem, one.asked.split())).items():
            counts[root] = settled(counts.get(root, 0.0) + count * ASKED_WEIGHT)
    return counts


def candidate(key: str, one: Searched, wanted: Collection[str], marks: Collection[str]) -> Candidate:
    """A text as it is weighed: how often it holds what is wanted, and how many of the identifiers as its own.

    Args:
        key: its name.
        one: the text.
        wanted: stems and identifiers of the question.
        marks: its identifiers.
    """
    return Candidate(
        key=key,
        counts={root: count for root, count in counted(one).items() if root in wanted},
        length=one.length,
        identifiers=sum(mark in marks for mark in one.marks.split()) if marks else 0,
    )
