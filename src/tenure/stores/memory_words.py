"""The words of lessons and runs in memory, for search without a database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest

from tenure.playbook.lessons import Lesson
from tenure.stores.weighing import Searched, own_text, searched, searched_task
from tenure.terms import search_words, stem


class MemoryIndex:
    """Texts, each under its place (see `weighing.Index`).

    Args:
        texts: each with its name.
    """

    def __init__(self, texts: Sequence[tuple[str, Searched]]) -> None:
        self._texts = texts
        self._stems = [_all_stems(one) for _, one in texts]

    def size(self) -> int:
        """How many there are."""
        return len(self._texts)

    def held_by(self, token: str) -> int:
        """How many hold a word, or another with its stem, or an identifier."""
        wanted = stem(token)
        return sum(wanted in stems for stems in self._stems)

    def holders(self, tokens: Sequence[str], marks: Sequence[str], most: int) -> Collection[int]:
        """Rows that hold any of these. All of them: memory has no need to choose."""
        wanted = {stem(token) for token in (*tokens, *marks)}
        return [row for row, stems in enumerate(self._stems) if not wanted.isdisjoint(stems)]

    def lengths(self, most: int) -> Sequence[float]:
        """Lengths of so many of them, those whose names come first."""
        first = nsmallest(most, self._texts, key=lambda named: named[0])
        return [one.length for _, one in first]

    def take(self, rows: Collection[int]) -> Mapping[int, tuple[str, Searched]]:
        """The texts in rows."""
        return {row: self._texts[row] for row in rows}


def read_lesson(lesson: Lesson, asked: str = "") -> Searched:
    """A lesson as it is searched, with the inputs of the tasks it came from."""
    return _read(own_text(lesson), asked)


def shares(one: Searched, groups: Sequence[Sequence[str]]) -> bool:
    """Whether a text's own words, or others with their stems, are all the words of a group that has any."""
    held = _stems(one.said)
    wanted = ({stem(word) for part in group for word in search_words(part)} for group in groups)
    return any(group <= held for group in wanted if group)


# Texts are searched far more often than they change.
_read = lru_cache(maxsize=16_384)(searched)
read_task = lru_cache(maxsize=16_384)(searched_task)


@lru_cache(maxsize=16_384)
def _all_stems(one: Searched) -> frozenset[str]:
    return _stems(one.said) | _stems(one.asked) | _stems(one.marks)


@lru_cache(maxsize=65_536)
def _stems(said: str) -> frozenset[str]:
    return frozenset(map(stem, said.split()))
