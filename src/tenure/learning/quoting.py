"""Whether a text quotes others: it repeats seven words of one in a row, or the whole of a short one. Pure.

Words are compared as search does, so that case, punctuation and line breaks make no difference, and scripts without spaces
count by pairs of characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenure.terms import search_words

IN_A_ROW = 7
"""Words of a text in a row that nobody else is likely to have written."""

SHORTEST = 4
"""Words of a text that is looked for whole; shorter ones, such as `done` or `yes, do that`, are everybody's."""

DIFFERENT = 4
"""Different words among them: a row of noughts is no quotation."""


class Quotations:
    """What a text would quote.

    Args:
        texts: whose words it would repeat.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._rows: set[tuple[str, ...]] = set()
        for text in texts:
            words = search_words(text)
            length = min(len(words), IN_A_ROW)
            if length >= SHORTEST:
                self._rows.update(row for row in _rows(words, length) if len(set(row)) >= DIFFERENT)
        self._lengths = sorted({len(row) for row in self._rows})

    def __bool__(self) -> bool:
        """Whether there is anything to quote."""
        return bool(self._rows)

    def stand_in(self, text: str) -> bool:
        """Whether a text quotes any of it."""
        return any(True for _ in self._found(search_words(text)))

    def lines_in(self, text: str) -> frozenset[int]:
        """Numbers of the lines of a text, from 0, that quote any of it; a quotation may go over several lines."""
        words, lines = list[str](), list[int]()
        for number, line in enumerate(text.splitlines()):
            own = search_words(line)
            words += own
            lines += [number] * len(own)
        return frozenset(line for start, length in self._found(words) for line in lines[start : start + length])

    def _found(self, words: list[str]) -> Iterator[tuple[int, int]]:
        for length in self._lengths:
            for start, row in enumerate(_rows(words, length)):
                if row in self._rows:
                    yield start, length


def _rows(words: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))
