"""What the adapters of `ports.Search` share: how a passage is taken apart, and one way to find."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tenure.errors import EmbeddingFailed
from tenure.fusion import ASIDE_WEIGHT, VECTOR_WEIGHT, Candidate, fuse, rarities
from tenure.ports import Embedder, Passage, PassageHit
from tenure.stores.vectors import pack
from tenure.terms import Question, identifiers, question, search_words, shown, stem

CANDIDATES_PER_HIT, FEWEST_CANDIDATES = 4, 400
"""How many passages are weighed for each hit asked for, and in all at least: neighbours can raise what stood far down."""

_SURROGATE = re.compile("[\ud800-\udfff]")

NEAREST = 100
"""How many passages the vectors alone may put forward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A passage as it is searched.

    Attributes:
        id, group, place: the passage's.
        said, aside: words in order, folded, of text and aside.
        marks: identifiers in text and aside.
    """

    id: str
    group: str
    place: int
    said: tuple[str, ...]
    aside: tuple[str, ...]
    marks: tuple[str, ...]

    @property
    def length(self) -> float:
        """Words, those of the aside counted less."""
        return len(self.said) + ASIDE_WEIGHT * len(self.aside)


def indexed(passage: Passage) -> Indexed:
    """A passage taken apart."""
    return Indexed(
        id=storable(passage.id),
        group=storable(passage.group),
        place=passage.place,
        said=tuple(search_words(passage.text)),
        aside=tuple(search_words(passage.aside)),
        marks=tuple(dict.fromkeys((*identifiers(passage.text), *identifiers(passage.aside)))),
    )


def storable(name: str) -> str:
    """A name with lone surrogates, which no database keeps, as U+FFFD."""
    return _SURROGATE.sub("\ufffd", name)


class Shelf(Protocol):
    """The passages of one scope, as an adapter keeps them, each under a row number."""

    def size(self) -> tuple[int, float]:
        """How many there are, and the sum of their lengths."""
        ...

    def held_by(self, word: str) -> int:
        """How many hold a word or another with its stem."""
        ...

    def holders(self, words: Sequence[str], marks: Sequence[str], most: int) -> Sequence[int]:
        """Rows that hold a word (by stem) or a mark, those with marks first, then the likeliest, as far as the adapter can tell."""
        ...

    def beside(self, rows: Collection[int], reach: int) -> Collection[int]:
        """Rows that stand at most `reach` places from these in their groups, these left out."""
        ...

    def take(self, rows: Collection[int]) -> Mapping[int, Indexed]:
        """The passages in rows."""
        ...

    def counts(self, kept: Mapping[int, Indexed], stems: Collection[str]) -> Mapping[int, Mapping[str, float]]:
        """How often each of these passages holds each stem, words of the aside counted less."""
        ...

    def cosines(self, model: str, vector: Sequence[float]) -> Mapping[int, float]:
        """Likeness of every row that has a vector of this model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A question's vector.

    Attributes:
        model: the embedder it is of; vectors of others are never compared with it.
        vector: of length 1; none, keywords alone serve.
        weight: of the vector arm, 0 to 1.
    """

    model: str = ""
    vector: Sequence[float] | None = None
    weight: float = VECTOR_WEIGHT


def find(shelf: Shelf, text: str, *, limit: int, smooth: bool, meaning: Meaning) -> tuple[PassageHit, ...]:
    """The hits for a text, best first (see `ports.Search.find`)."""
    asked = question(text)
    if limit < 1:
        return ()
    hits = _find(shelf, asked, limit, smooth, meaning)
    if not any(hit.words or hit.identifiers for hit in hits) and asked.others:
        # The words that say little are better than nothing.
        hits = _find(shelf, replace(asked, words=asked.others), limit, smooth, meaning)
    return hits


def _find(shelf: Shelf, asked: Question, limit: int, smooth: bool, meaning: Meaning) -> tuple[PassageHit, ...]:
    total, length = shelf.size()
    if not total:
        return ()
    by_stem = {stem(word): word for word in asked.words}
    cosines = shelf.cosines(meaning.model, meaning.vector) if meaning.vector is not None else {}
    rows = set(shelf.holders(asked.words, asked.identifiers, max(FEWEST_CANDIDATES, CANDIDATES_PER_HIT * limit)))
    rows.update(sorted(cosines, key=lambda row: (-cosines[row], row))[:NEAREST])
    if smooth:
        rows.update(shelf.beside(rows, 2))
    kept = shelf.take(rows)
    counts = shelf.counts(kept, by_stem)
    candidates = [
        Candidate(
            key=one.id,
            group=one.group,
            place=one.place,
            counts=counts.get(row, {}),
            length=one.length,
            identifiers=sum(mark in one.marks for mark in asked.identifiers),
            cosine=cosines.get(row),
        )
        for row, one in kept.items()
    ]
    weights = rarities({stem_: shelf.held_by(word) for stem_, word in by_stem.items()}, total)
    by_id = {one.id: one for one in kept.values()}
    weighed = {one.key: one for one in candidates}
    ordered = fuse(
        candidates,
        weights,
        mean_length=length / total,
        smooth=smooth,
        vector_weight=meaning.weight,
        lowest=min(cosines.values(), default=None),
    )
    hits = []
    for scored in ordered[:limit]:
        one, counted = by_id[scored.key], weighed[scored.key]
        hits.append(
            PassageHit(
                id=one.id,
                group=one.group,
                place=one.place,
                score=scored.score,
                words=tuple(word for stem_, word in by_stem.items() if counted.counts.get(stem_)),
                identifiers=tuple(shown(mark) for mark in asked.identifiers if mark in one.marks),
                cosine=counted.cosine,
                lent=scored.neighbours,
            )
        )
    return tuple(hits)


def count_stems(one: Indexed, stems: Collection[str] | None = None) -> dict[str, float]:
    """How often a passage holds each stem, or each of some, words of the aside counted less."""
    counts: dict[str, float] = {}
    for words, weight in ((one.said, 1.0), (one.aside, ASIDE_WEIGHT)):
        for word, times in Counter(words).items():
            root = stem(word)
            if stems is None or root in stems:
                counts[root] = counts.get(root, 0.0) + weight * times
    return counts


def embed(embedder: Embedder | None, texts: Sequence[str], *, query: bool = False) -> tuple[list[bytes], str]:
    """Vectors of texts, packed, none as no bytes; and why there are none, where the embedder failed."""
    if embedder is None or not texts:
        return [b""] * len(texts), ""
    try:
        return [pack(vector) for vector in embedder.embed(texts, query=query)], ""
    except EmbeddingFailed as exc:
        return [b""] * len(texts), str(exc)
    except Exception as exc:  # noqa: BLE001  # Whatever a foreign model library raises, keyword search goes on and says so.
        return [b""] * len(texts), str(EmbeddingFailed(embedder.name, f"{type(exc).__name__}: {exc}"))
