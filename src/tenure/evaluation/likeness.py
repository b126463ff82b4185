"""How much texts resemble each other in a comparison of memories: one measure, shared by every arm that has none of its own.

Cosine of words weighed by rarity (Salton and Buckley 1988), over what the memory holds at the time. The weights follow
the size of the memory in steps of a tenth, so that nothing is worked out anew for each text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache
from math import log, sqrt

from tenure.ranking import STOP_WORDS
from tenure.terms import search_words, stem

GROWTH = 1.1
"""Growth of the memory after which words are weighed anew."""


@lru_cache(maxsize=8192)
def roots(text: str) -> tuple[tuple[str, int], ...]:
    """Roots of the telling words of a text with their counts; numbers tell nothing of kind."""
    found = Counter(stem(word) for word in search_words(text) if word not in STOP_WORDS and not word.isdigit())
    return tuple(found.items())


class Likeness:
    """Texts that are looked up by likeness."""

    def __init__(self) -> None:
        self._texts: dict[str, Mapping[str, int]] = {}
        self._holding: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._rarity: dict[str, float] = {}
        self._norms: dict[str, float] = {}
        self._weighed_at = 0
        self._unseen = 1.0

    def __len__(self) -> int:
        return len(self._texts)

    def put(self, name: str, text: str) -> None:
        """Hold a text under a name; one that was there under it is replaced."""
        self.drop(name)
        words = dict(roots(text))
        self._texts[name] = words
        for word, count in words.items():
            self._holding[word][name] = count
        self._norms[name] = self._norm(words)

    def drop(self, name: str) -> None:
        """Let go of a text, if it is there."""
        for word in self._texts.pop(name, {}):
            del self._holding[word][name]
        self._norms.pop(name, None)

    def of(self, text: str) -> dict[str, float]:
        """Likeness of a text to all that share a word with it, by name, above 0 and at most 1."""
        self._weigh_if_due()
        words = dict(roots(text))
        found: defaultdict[str, float] = defaultdict(float)
        for word, count in words.items():
            squared = self._rarity.get(word, self._unseen) ** 2 * count
            for name, there in self._holding.get(word, {}).items():
                found[name] += squared * there
        own = self._norm(words)
        return {name: min(1.0, dot / (own * self._norms[name])) for name, dot in found.items()}

    def nearest(self, text: str, most: int) -> list[tuple[str, float]]:
        """The names most alike, best first; of equals the one held last."""
        found = self.of(text)
        places = {name: place for place, name in enumerate(self._texts)} if len(found) > most else {}
        return sorted(found.items(), key=lambda one: (-one[1], -places.get(one[0], 0)))[:most]

    def _weigh_if_due(self) -> None:
        size = len(self._texts)
        if self._weighed_at and self._weighed_at / GROWTH <= size <= self._weighed_at * GROWTH:
            return
        self._weighed_at = size
        self._rarity = {word: log(1 + (size + 1) / (len(held) + 0.5)) for word, held in self._holding.items() if held}
        self._unseen = log(1 + (size + 1) / 0.5)
        self._norms = {name: self._norm(words) for name, words in self._texts.items()}

    def _norm(self, words: Mapping[str, int]) -> float:
        return sqrt(sum((count * self._rarity.get(word, self._unseen)) ** 2 for word, count in words.items())) or 1.0
