"""Pure: one order from keywords, exact identifiers, vectors and neighbours.

Keyword relevance is BM25 as a share of the best score that the question could reach, so that a text
which shares one unimportant word scores near 0 and the vectors decide exactly where the words say
nothing. Vectors come in as min-max cosines with a small weight: an equal vote of a small embedder
was measured to lower recall. Texts that stand in an order (turns, steps) lend each other relevance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

SATURATION, LENGTH_SHARE = 1.2, 0.4
"""How soon repeats stop counting, and how much length does: less than the usual 0.75, as turns and lessons are short."""

VECTOR_WEIGHT = 0.15
"""Share of the vector arm. From 0.1 to 0.2 it never lost against keywords alone, with any embedder measured."""

WHOLE_VECTOR_WEIGHT = 0.4
"""Share of the vector arm in a search over whole conversations: their text says enough for an embedder to vote on."""

ASIDE_WEIGHT = 0.3
"""What a word in a text's aside (who, when) counts against one in the text itself."""

WORD_NEXT_DOOR = 0.4
"""What a word of the question counts for a text if it stands in the text before or after it only."""

NEAR, NEAR_BY = 0.3, 0.2
"""Share of the best direct neighbour's score, and of the best one two places away, that is added to a text's own."""

RELATED_WEIGHT = 0.5
"""What all related words together count against all words of the question."""

RELATED_MOST = 40
"""How many related words are searched for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text that may answer a question.

    Attributes:
        key: names it; breaks ties.
        group, place: the order it stands in, such as a conversation and the turn's number; no group, no neighbours.
        counts: occurrences of the question's stems in it, weighted by field.
        length: words in all, weighted alike.
        identifiers: how many of the question's identifiers it holds.
        cosine: likeness to the question's vector, -1 to 1; none without vectors.
    """

    key: str
    group: str = ""
    place: int = 0
    counts: Mapping[str, float] = field(default_factory=dict)
    length: float = 0.0
    identifiers: int = 0
    cosine: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate in its order.

    Attributes:
        key: the candidate's.
        score: above 0; comparable within one question only. At most 1, plus what related words give and neighbours lend.
        words: share of the score from its own words and its neighbours' words.
        vectors: share from the vector arm.
        neighbours: share that neighbours lent.
        related: share from words that are related to the question's.
    """

    key: str
    score: float
    words: float
    vectors: float
    neighbours: float
    related: float = 0.0


def rarities(held_by: Mapping[str, int], total: int) -> dict[str, float]:
    """Weight of each word of a question, above 0: the fewer of the texts hold it, the more.

    Args:
        held_by: number of texts that hold each word.
        total: texts in all.

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), kept above 0.
    """
    return {word: log(1.0 + (max(total, count) - count + 0.5) / (count + 0.5)) for word, count in held_by.items()}


def shares(candidate: Candidate, weights: Mapping[str, float], mean_length: float) -> dict[str, float]:
    """What each word of the question gives a candidate. Their sum is below 1, which only a text could reach that is all question."""
    whole = sum(weights.values()) or 1.0
    against = damping(candidate.length, mean_length)
    return {
        word: weights[word] / whole * count / (count + against) for word, count in candidate.counts.items() if count and word in weights
    }


def related(
    best: Sequence[tuple[float, Mapping[str, float], float]],
    rarity: Mapping[str, float],
    *,
    mean_length: float,
    most: int = RELATED_MOST,
) -> dict[str, float]:
    """Words that the texts which answer a question best have in common, with their weights, the weightiest first.

    Args:
        best: for each text its score, its counts of all stems and its length.
        rarity: of the words to choose from (see `rarities`); without the question's own.
        mean_length: of all texts.
        most: how many words at most.

    Source: relevance models (Lavrenko and Croft, 2001), with BM25's saturation and rarity in place of their probabilities.
    """
    whole = sum(score for score, _, _ in best) or 1.0
    weights: dict[str, float] = {}
    for score, counts, length in best:
        against = damping(length, mean_length)
        for word, count in counts.items():
            if count and word in rarity:
                weights[word] = weights.get(word, 0.0) + score / whole * count / (count + against) * rarity[word]
    ranked = sorted(weights, key=lambda word: (-round(weights[word], 12), word))
    return {word: weights[word] for word in ranked[:most]}


def fuse(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    *,
    mean_length: float,
    smooth: bool,
    vector_weight: float = VECTOR_WEIGHT,
    lowest: float | None = None,
    related_weights: Mapping[str, float] | None = None,
) -> list[Scored]:
    """Candidates that anything speaks for, best first; equal ones by group, place and key.

    Those that hold more of the question's identifiers come first, whatever else is said.

    Args:
        candidates: with the neighbours of each, where `smooth`.
        weights: of the question's stems (see `rarities`); stems that no text holds too.
        mean_length: of all texts, in the words of `Candidate.length`.
        smooth: whether neighbours lend relevance.
        vector_weight: 0 to 1, of the vector arm where any candidate has a cosine.
        lowest: the least cosine of all texts, where it is not among the candidates.
        related_weights: of words related to the question's (see `related`), where they are searched for too.
    """
    at = {(one.group, one.place): number for number, one in enumerate(candidates) if one.group} if smooth else {}
    beside = [tuple(at.get((one.group, one.place + step)) for step in (-1, 1, -2, 2)) for one in candidates] if at else []
    own = [shares(one, weights, mean_length) for one in candidates]
    words = (
        [sum(_lent(own, place, beside[place]).values()) for place in range(len(candidates))] if at else [sum(one.values()) for one in own]
    )
    likeness = _min_max([one.cosine for one in candidates], lowest)
    weight = vector_weight if any(one.cosine is not None for one in candidates) else 0.0
    kin = [RELATED_WEIGHT * sum(shares(one, related_weights, mean_length).values()) if related_weights else 0.0 for one in candidates]
    fused = [(1.0 - weight) * (said + akin) + weight * like for said, akin, like in zip(words, kin, likeness, strict=True)]
    scored = []
    for place, one in enumerate(candidates):
        near = _lent_score(fused, beside[place]) if at else 0.0
        score = fused[place] + near
        if score > 0 or one.identifiers:
            # A text that holds an identifier but no word of the question still is a hit.
            found = Scored(
                key=one.key,
                score=max(score, 1e-9),
                words=(1.0 - weight) * words[place],
                vectors=weight * likeness[place],
                neighbours=near,
                related=(1.0 - weight) * kin[place],
            )
            scored.append(((-one.identifiers, -round(score, 12), one.group, one.place, one.key), found))
    return [found for _, found in sorted(scored, key=lambda pair: pair[0])]


def _lent(own: Sequence[Mapping[str, float]], place: int, beside: Sequence[int | None]) -> Mapping[str, float]:
    """What each word gives a text, be it through the text before or after it."""
    found = own[place]
    for neighbour in beside[:2]:
        if neighbour is not None and own[neighbour]:
            mine = dict(found)
            for word, share in own[neighbour].items():
                mine[word] = max(mine.get(word, 0.0), WORD_NEXT_DOOR * share)
            found = mine
    return found


def damping(length: float, mean_length: float) -> float:
    """What a count is weighed against: more in a longer text."""
    return SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / (mean_length or 1.0))


def _lent_score(scores: Sequence[float], beside: Sequence[int | None]) -> float:
    """What the best of the two direct neighbours and the best of the next two lend a text."""
    one, other, further, furthest = (0.0 if place is None else scores[place] for place in beside)
    return NEAR * max(one, other) + NEAR_BY * max(further, furthest)


def _min_max(cosines: Sequence[float | None], lowest: float | None) -> list[float]:
    """Cosines stretched to 0 to 1; 0 for what has none. Where they do not differ, as with a single one, they stay what they are."""
    known = [cosine for cosine in cosines if cosine is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    low = low if lowest is None else min(low, lowest)
    if high <= low:
        return [max(cosine or 0.0, 0.0) for cosine in cosines]
    return [(cosine - low) / (high - low) if cosine is not None else 0.0 for cosine in cosines]
