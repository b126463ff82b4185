"""The words of texts in memory, for search without a database: who holds each, and how often."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest

from tenure.fusion import Candidate, damping, rarities
from tenure.playbook.lessons import Lesson
from tenure.stores.weighing import MEASURED, Searched, candidate, counted, own_text, searched, searched_task
from tenure.terms import search_words, stem

ROUNDING = 1e-9
"""More than two sums of the same shares can differ: who is as near as this to the last one chosen is chosen too."""

_MOST = 1 << 40
"""More than the texts that ever come under one of several parts."""


class MemoryWords:
    """Texts under names, which come, change and go. Each has a number of its own, which is never used twice."""

    def __init__(self) -> None:
        self.texts: dict[str, Searched] = {}
        self.names: dict[int, str] = {}
        self.lengths: dict[int, float] = {}
        self.numbers: dict[str, int] = {}
        self.holding: dict[str, dict[int, float]] = {}
        self.marked: dict[str, dict[int, float]] = {}
        self._saying: dict[str, dict[int, float]] = {}
        self._first: list[tuple[str, float]] | None = None
        self._made = 0

    def put(self, name: str, one: Searched) -> None:
        """Hold a text under a name, in place of one that was there."""
        if self.texts.get(name) == one:
            return
        self.drop(name)
        self._made += 1
        number = self._made
        self.texts[name], self.names[number], self.numbers[name], self.lengths[number] = one, name, number, one.length
        self._first = self._kept_first(name)
        for kept, tokens in self._indexed(one):
            for token, count in tokens:
                kept.setdefault(token, {})[number] = count

    def drop(self, name: str) -> None:
        """Let go of a text, if it is there."""
        one = self.texts.pop(name, None)
        if one is None:
            return
        self._first = self._kept_first(name)
        number = self.numbers.pop(name)
        del self.names[number], self.lengths[number]
        for kept, tokens in self._indexed(one):
            for token, _ in tokens:
                holders = kept[token]
                del holders[number]
                if not holders:
                    del kept[token]

    def first(self) -> Sequence[tuple[str, float]]:
        """Names and lengths of `MEASURED` texts, those whose names come first, in their order."""
        if self._first is None:
            self._first = [(name, self.lengths[self.numbers[name]]) for name in nsmallest(MEASURED, self.numbers)]
        return self._first

    def _kept_first(self, name: str) -> list[tuple[str, float]] | None:
        """What is known of the first texts, unless one under a name that comes or goes makes a difference."""
        first = self._first
        return first if first is not None and len(first) == MEASURED and name > first[-1][0] else None

    def saying(self, groups: Sequence[Sequence[str]]) -> set[str]:
        """Names of the texts whose own words, or others with their stems, are all the words of a group that has any."""
        found = set[int]()
        for group in groups:
            wanted = {stem(word) for part in group for word in search_words(part)}
            holders = sorted((self._saying.get(root, {}).keys() for root in wanted), key=len)
            if holders:
                found |= set(holders[0]).intersection(*holders[1:])
        return {self.names[number] for number in found}

    def _indexed(self, one: Searched) -> tuple[tuple[dict[str, dict[int, float]], Iterable[tuple[str, float]]], ...]:
        return (
            (self.holding, counted(one).items()),
            (self._saying, ((root, 1.0) for root in _stems(one.said))),
            (self.marked, ((mark, 1.0) for mark in dict.fromkeys(one.marks.split()))),
        )


class MemoryIndex:
    """Texts of a scope and its parents, each under its place (see `weighing.Index`).

    Args:
        parts: those of each scope. They are not to change while this is used.
    """

    exact = True

    def __init__(self, parts: Sequence[MemoryWords]) -> None:
        self._parts = parts

    def size(self) -> int:
        """How many there are."""
        return sum(len(part.texts) for part in self._parts)

    def held_by(self, token: str) -> int:
        """How many hold a word, or another with its stem, or an identifier."""
        root = stem(token)
        return sum(len(part.holding.get(root, ())) for part in self._parts)

    def holders(self, tokens: Sequence[str], marks: Sequence[str], most: int) -> Collection[int]:
        """Rows that hold an identifier as their own, and of those that hold any of these the best, by the measure of `weighing.weigh`."""
        wanted = list(dict.fromkeys(map(stem, (*tokens, *marks))))
        weights = rarities({root: sum(len(part.holding.get(root, ())) for part in self._parts) for root in wanted}, self.size())
        lengths = self.lengths(MEASURED)
        mean = sum(lengths) / max(len(lengths), 1)
        scores: dict[int, float] = {}
        marked = set[int]()
        for place, part in enumerate(self._parts):
            mine: dict[int, float] = {}
            for root in wanted:
                weight = weights[root]
                for number, count in part.holding.get(root, {}).items():
                    mine[number] = mine.get(number, 0.0) + weight * count / (count + damping(part.lengths[number], mean))
            scores |= {self._row(place, number): score for number, score in mine.items()}
            marked.update(self._row(place, number) for mark in marks for number in part.marked.get(mark, ()))
        if len(scores) <= most:
            return scores
        last = sorted(scores.values(), reverse=True)[most - 1] - ROUNDING
        return {row for row, score in scores.items() if score >= last} | marked

    def lengths(self, most: int) -> Sequence[float]:
        """Lengths of so many of them, those whose names come first."""
        first = sorted(one for part in self._parts for one in part.first())
        return [length for _, length in first[: min(most, MEASURED)]]

    def take(self, rows: Collection[int], wanted: Collection[str], marks: Collection[str]) -> Mapping[int, Candidate]:
        """The texts in rows, as they are weighed."""
        named = ((row, *self.named(row)) for row in rows)
        return {row: candidate(name, self._parts[place].texts[name], wanted, marks) for row, place, name in named}

    def named(self, row: int) -> tuple[int, str]:
        """Which part a row is of, from 0, and the name it has there."""
        place, number = divmod(row, _MOST)
        return place, self._parts[place].names[number]

    @staticmethod
    def _row(place: int, number: int) -> int:
        return place * _MOST + number


def read_lesson(lesson: Lesson, asked: str = "") -> Searched:
    """A lesson as it is searched, with the inputs of the tasks it came from."""
    return _read(own_text(lesson), asked)


# Texts are searched far more often than they change.
_read = lru_cache(maxsize=16_384)(searched)
read_task = lru_cache(maxsize=16_384)(searched_task)


@lru_cache(maxsize=65_536)
def _stems(said: str) -> frozenset[str]:
    return frozenset(map(stem, said.split()))
