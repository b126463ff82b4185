"""Keyword relevance over documents in memory, by the measure that databases use too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

SATURATION, LENGTH_SHARE = 1.2, 0.75
"""The usual constants: how soon repeats stop counting, and how much a document's length does (as in FTS5)."""


@dataclass(frozen=True, slots=True)
class Document:
    """The words of a text, counted.

    Attributes:
        counts: how often each word occurs.
        length: words in all.
    """

    counts: Mapping[str, int]
    length: int

    @classmethod
    def of(cls, words: Sequence[str]) -> Document:
        """The document that a list of words makes."""
        return cls(Counter(words), len(words))


def score(query: Sequence[str], documents: Sequence[Document]) -> list[float]:
    """Relevance of each document to a query, 0 or more; 0 for exactly those that hold none of its words.

    Args:
        query: distinct words, in the form in which the documents have them.
        documents: what is compared; a word that few of them hold counts more.

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the logarithm
    kept above 0 so that a word that most documents hold still counts a little.
    """
    if not documents:
        return []
    mean_length = sum(document.length for document in documents) / len(documents) or 1.0
    scores = [0.0] * len(documents)
    for word in query:
        holders = [place for place, document in enumerate(documents) if word in document.counts]
        rarity = log(1.0 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for place in holders:
            count = documents[place].counts[word]
            damping = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * documents[place].length / mean_length)
            scores[place] += rarity * count * (SATURATION + 1.0) / (count + damping)
    return scores
