"""What the adapters of `ports.Search` share: how a passage is taken apart, and one way to find."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Protocol

from tenure.errors import EmbeddingFailed
from tenure.fusion import ASIDE_WEIGHT, VECTOR_WEIGHT, Candidate, Scored, fuse, rarities, related
from tenure.ports import Embedder, Passage, PassageHit
from tenure.ranking import STOP_WORDS
from tenure.stores.vectors import pack
from tenure.terms import REQUEST_WORDS, Question, identifiers, indexed_words, length, question, shown, stem
from tenure.vectors import checked

CANDIDATES_PER_HIT, FEWEST_CANDIDATES = 4, 400
"""How many passages are weighed for each hit asked for, and in all at least: neighbours can raise what stood far down."""

_SURROGATE = re.compile("[\ud800-\udfff]")

NEAREST = 100
"""How many passages the vectors alone may put forward."""

RELATED_FROM, RELATED_LOOKED_AT = 10, 400
"""How many of the best passages related words are taken from, and how many words are looked at."""

RELATED_COMMON = 0.1
"""A word that a larger share of all passages holds is related to everything."""


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
        return length(" ".join(self.said)) + ASIDE_WEIGHT * length(" ".join(self.aside))


def indexed(passage: Passage) -> Indexed:
    """A passage taken apart."""
    return Indexed(
        id=storable(passage.id),
        group=storable(passage.group),
        place=passage.place,
        said=tuple(indexed_words(passage.text)),
        aside=tuple(indexed_words(passage.aside)),
        marks=tuple(dict.fromkeys((*identifiers(passage.text), *identifiers(passage.aside)))),
    )


def storable(name: str) -> str:
    """A name with lone surrogates, which no database keeps, as U+FFFD."""
    return _SURROGATE.sub("\ufffd", name)


class Cosines(Protocol):
    """What comparing a question's vector with those of a shelf gave."""

    @property
    def lowest(self) -> float | None:
        """The least of all; none where nothing was compared."""
        ...

    def nearest(self, most: int) -> Collection[int]:
        """The rows that are most like the question."""
        ...

    def of(self, rows: Collection[int]) -> Mapping[int, float]:
        """The cosines of rows, of those that have a vector."""
        ...


@dataclass(frozen=True, slots=True)
class AllCosines:
    """The cosines of all rows (see `Cosines`)."""

    by_row: Mapping[int, float] = field(default_factory=dict[int, float])

    @property
    def lowest(self) -> float | None:
        """The least of all."""
        return min(self.by_row.values(), default=None)

    def nearest(self, most: int) -> Collection[int]:
        """The rows that are most like the question; of equal ones the first."""
        return nsmallest(most, self.by_row, key=lambda row: (-self.by_row[row], row))

    def of(self, rows: Collection[int]) -> Mapping[int, float]:
        """The cosines of rows."""
        return {row: self.by_row[row] for row in rows if row in self.by_row}


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

    def cosines(self, model: str, vector: Sequence[float]) -> Cosines:
        """How like the rows are that have a vector of this model."""
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


def find(shelf: Shelf, text: str, *, limit: int, smooth: bool, meaning: Meaning, widen: bool = False) -> tuple[PassageHit, ...]:
    """The hits for a text, best first (see `ports.Search.find`)."""
    asked = question(text)
    if limit < 1:
        return ()
    held = any(shelf.held_by(word) for word in asked.words) or bool(asked.identifiers and shelf.holders((), asked.identifiers, 1))
    if not held and asked.others:
        # The words that say little are better than nothing. Nothing is related to them.
        asked, widen = asked.asking(asked.others), False
    return _find(shelf, asked, limit, smooth, meaning, widen)


def _find(shelf: Shelf, asked: Question, limit: int, smooth: bool, meaning: Meaning, widen: bool) -> tuple[PassageHit, ...]:
    total, length = shelf.size()
    if not total:
        return ()
    by_stem = {stem(word): word for word in asked.words}
    weights = rarities({stem_: shelf.held_by(word) for stem_, word in by_stem.items()}, total)
    compared: Cosines = shelf.cosines(meaning.model, meaning.vector) if meaning.vector is not None else AllCosines()
    most = max(FEWEST_CANDIDATES, CANDIDATES_PER_HIT * limit)
    rows = set(shelf.holders(asked.words, asked.identifiers, most))
    rows.update(compared.nearest(NEAREST))
    if smooth:
        rows.update(shelf.beside(rows, 2))
    kept = dict(shelf.take(rows))
    cosines = dict(compared.of(kept))

    def ordered(kin: Mapping[str, float]) -> tuple[list[Scored], dict[str, Candidate]]:
        candidates = _candidates(shelf, kept, asked, {*by_stem, *kin}, cosines)
        scored = fuse(
            candidates,
            weights,
            mean_length=length / total,
            smooth=smooth,
            vector_weight=meaning.weight,
            lowest=compared.lowest,
            related_weights=kin,
        )
        return scored, {one.key: one for one in candidates}

    scored, weighed = ordered({})
    kin: dict[str, float] = {}
    spoken: dict[str, str] = {}
    if widen and scored:
        by_id = {one.id: one for one in kept.values()}
        best = [(one.score, by_id[one.key]) for one in scored[:RELATED_FROM]]
        spoken, kin = _related(shelf, best, by_stem, total, length / total)
        if kin:
            more = set(shelf.holders([spoken[root] for root in kin], (), most)) - set(kept)
            if smooth:
                more.update(shelf.beside({*kept, *more}, 2))
            kept.update(shelf.take(more))
            cosines.update(compared.of(more))
            scored, weighed = ordered(kin)
    by_id = {one.id: one for one in kept.values()}
    hits = []
    for found in scored[:limit]:
        one, counted = by_id[found.key], weighed[found.key]
        hits.append(
            PassageHit(
                id=one.id,
                group=one.group,
                place=one.place,
                score=found.score,
                words=tuple(shown(word) for stem_, word in by_stem.items() if counted.counts.get(stem_)),
                related=tuple(shown(spoken[root]) for root in kin if counted.counts.get(root)),
                identifiers=tuple(shown(mark) for mark in asked.identifiers if mark in one.marks),
                cosine=counted.cosine,
                lent=found.neighbours,
            )
        )
    return tuple(hits)


def _candidates(
    shelf: Shelf, kept: Mapping[int, Indexed], asked: Question, stems: Collection[str], cosines: Mapping[int, float]
) -> list[Candidate]:
    counts = shelf.counts(kept, stems)
    return [
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


def _related(
    shelf: Shelf, best: Sequence[tuple[float, Indexed]], own: Collection[str], total: int, mean_length: float
) -> tuple[dict[str, str], dict[str, float]]:
    """Words that the best passages share: by stem as they are written, and with their weights."""
    texts = [(score, count_stems(one), one.length) for score, one in best]
    spoken = {stem(word): word for _, one in reversed(best) for word in (*one.aside, *one.said)}
    holding = Counter(root for _, counts, _ in texts for root in counts)
    shared = [root for root, times in holding.items() if times > 1 and root not in own and _tells(root)]
    looked_at = nsmallest(
        RELATED_LOOKED_AT, shared, key=lambda root: (-holding[root], -sum(counts.get(root, 0) for _, counts, _ in texts), root)
    )
    held_by = {root: shelf.held_by(spoken[root]) for root in looked_at}
    rare = {root: count for root, count in held_by.items() if count <= RELATED_COMMON * total}
    return spoken, related(texts, rarities(rare, total), mean_length=mean_length)


def _tells(root: str) -> bool:
    """Whether a stem may say what a text is about: no figure, no characters alone, none of the words that say little."""
    return not root.isdigit() and (len(root) > 2 or not root.isascii()) and length(root) > 0 and root not in _SAYS_LITTLE


_SAYS_LITTLE = frozenset(stem(word) for word in STOP_WORDS | REQUEST_WORDS)


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
        return [pack(vector) for vector in checked(embedder).embed(texts, query=query)], ""
    except EmbeddingFailed as exc:
        return [b""] * len(texts), str(exc)


def model_of(embedder: Embedder | None) -> tuple[str, int]:
    """What vectors have to be of to be compared with this embedder's: its name, and how many numbers (0 before a server said so)."""
    return (embedder.name, embedder.dimension) if embedder is not None else ("", 0)


def embed_in_batches(
    embedder: Embedder,
    waiting: Callable[[int], Sequence[tuple[int, str]]],
    keep: Callable[[Sequence[tuple[int, str, bytes]]], None],
    *,
    batch: int,
    most: int | None,
) -> tuple[int, str]:
    """Embed what waits, a batch at a time, each kept before the next; how many texts, and why it ended early.

    Args:
        embedder: makes the vectors.
        waiting: at most so many rows and texts that wait.
        keep: keeps rows, the texts that were embedded, and the vectors; no bytes where a text has none.
        batch, most: see `ports.Search.embed_missing`.
    """
    done, passed = 0, set[tuple[int, str]]()
    if not embedder.dimension:
        _, failed = embed(embedder, ["dimension"])  # a server's model says it with the first vector
        if failed:
            return 0, failed
    while most is None or done < most:
        found = [one for one in waiting(batch if most is None else min(batch, most - done)) if one not in passed]
        if not found:
            break
        vectors, failed = embed(embedder, [text for _, text in found])
        if failed:
            return done, failed
        keep([(row, text, vector) for (row, text), vector in zip(found, vectors, strict=True)])
        passed.update(found)  # what was edited meanwhile comes again with another text; the same must not come for ever
        done += len(found)
    return done, ""


def missing_note(missing: int, total: int, model: str) -> str:
    """What a search had to do without where passages have no vector of its model; empty if all have one."""
    if missing <= 0:
        return ""
    return f"{missing} of {total} passages have no vector of '{model}' yet: they are found by keywords. embed_missing makes them."
