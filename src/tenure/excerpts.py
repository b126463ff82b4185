"""Pure: what of many earlier conversations goes into a budget. Short pieces that say something, from many of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.ranking import estimate_tokens
from tenure.terms import indexed_words, stem

LEAST_TOKENS = 60
"""A piece of a longer text has at least this many tokens: less is torn from what it means."""

FACT_WEIGHT = 0.2
"""What each figure and each statement of someone about themselves adds to a piece's worth, as a share of it, two of each counted at most.

What a later question needs of an earlier talk is mostly what was said in passing: a number, a purchase, a plan. A question
asked then says what the talk was about, and seldom what is asked for now."""

DENSITY = 0.5
"""The power of the cost that worth is divided by: at 1 only short pieces would go, at 0 length would cost nothing."""

LEAST_COST = 15
"""Tokens that a shorter piece is weighed as: a word of thanks is not worth more for being short."""

MORE_OF_THE_SAME = 0.3
"""What the next piece of a conversation is worth against the first: the first one names what it was about."""

LONGEST_MEASURED = 60_000
"""Characters of a text that are weighed sentence by sentence. Of a longer one it is the part that holds most words of the question."""

_BLOCKS = 3
_BLOCK = LONGEST_MEASURED // _BLOCKS

_FIGURE = re.compile(r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half|twice)\b", re.IGNORECASE)
_OF_ONESELF = re.compile(
    r"\b(?:i've|i just|i recently|i got|i bought|i had|i was|i went|i attended|i used|i spent|i started|i finished|i met|i made|i took"
    r"|my new|my \w+ (?:is|was|has)|last|ago|yesterday|today|we)\b|[我俺私저내]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？]+[\"'”’)\]]*(?=\s|$)|[。！？]|\n|$|[.!?])", re.UNICODE)


def facts(text: str) -> int:
    """How much a text states: figures, and things that someone says of what they did or have; 0 to 4."""
    return min(len(_FIGURE.findall(text)), 2) + min(len(_OF_ONESELF.findall(text)), 2)


def excerpt(text: str, stems: Collection[str], *, least: int = LEAST_TOKENS) -> str:
    """The run of sentences of a text that holds most of a question's words and most facts, just long enough; short texts whole.

    Args:
        text: what is cut.
        stems: of the question's words.
        least: tokens that the piece has at least.
    """
    sentences = _measured_sentences(_likeliest(text, stems), least)
    if not sentences:
        return text
    wanted = frozenset(stems)
    costs = [cost for _, cost, _, _ in sentences]
    worths = [len(held & wanted) + 0.5 * stated for _, _, stated, held in sentences]
    best, chosen = -1.0, (0, len(sentences))
    for start in range(len(sentences)):
        cost, end = 0, start
        while end < len(sentences) and cost < least:
            cost, end = cost + costs[end], end + 1
        if cost < least and start:
            break
        worth = sum(worths[start:end]) / max(cost, 1) ** DENSITY
        if worth > best:
            best, chosen = worth, (start, end)
    return "".join(part for part, *_ in sentences[chosen[0] : chosen[1]]).strip()


def _likeliest(text: str, stems: Collection[str]) -> str:
    """The part of a very long text whose blocks hold most of some stems, letter by letter; any other text whole."""
    if len(text) <= LONGEST_MEASURED:
        return text
    starts = range(0, len(text), _BLOCK)
    held = [sum(one in block for one in stems) for block in (text[start : start + _BLOCK].casefold() for start in starts)]
    best = max(range(len(held)), key=lambda n: (sum(held[n : n + _BLOCKS]), -n))
    return text[best * _BLOCK : best * _BLOCK + LONGEST_MEASURED]


@lru_cache(maxsize=1 << 14)
def _measured_sentences(text: str, least: int) -> tuple[tuple[str, int, int, frozenset[str]], ...]:
    """The sentences of a text with their tokens, facts and stems; none of a text too short to be cut.

    Kept, because the same turns come with each request.
    """
    if estimate_tokens(text) <= least * 1.25:
        return ()
    return tuple(
        (part, estimate_tokens(part), facts(part), frozenset(stem(word) for word in indexed_words(part)))
        for part in _sentences(text, least)
        if part.strip()
    )


def _sentences(text: str, least: int) -> list[str]:
    """The sentences of a text in order; a long one without an end is cut between words."""
    found: list[str] = []
    for part in (match[0] for match in _SENTENCE.finditer(text) if match[0]):
        if len(part) <= least * 8:
            found.append(part)
            continue
        pieces = re.findall(rf".{{1,{least * 4}}}(?:\s|$)|.{{1,{least * 4}}}", part, re.DOTALL)
        found.extend(pieces)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A text that may go into a budget.

    Attributes:
        source: what it is a piece of, such as a conversation.
        text: as it would be shown.
        worth: relevance to the question, above 0.
        cost: tokens of the text.
        under: the heading it stands under, such as a month; pieces under one heading share it.
    """

    source: str
    text: str
    worth: float
    cost: int
    under: str = ""


def pack(pieces: Sequence[Piece], budget: int, *, heading: int = 0) -> list[int]:
    """Places of the pieces to show, best first: worth against cost, further pieces of the same source valued less.

    Args:
        pieces: in any order.
        budget: tokens in all; never passed.
        heading: tokens that the first piece under each heading costs besides.
    """
    density = [one.worth / max(one.cost, LEAST_COST) ** DENSITY for one in pieces]
    merits, earlier = list[tuple[float, int]](), dict[str, int]()
    for n in sorted(range(len(pieces)), key=lambda n: (-density[n], pieces[n].source, n)):
        source = pieces[n].source
        merits.append((-density[n] * MORE_OF_THE_SAME ** earlier.get(source, 0), n))
        earlier[source] = earlier.get(source, 0) + 1
    left, headings, chosen = budget, set[str](), list[int]()
    for _, n in sorted(merits, key=lambda merit: (merit[0], pieces[merit[1]].cost, pieces[merit[1]].source, merit[1])):
        one = pieces[n]
        cost = one.cost + (heading if one.under not in headings else 0)
        if one.worth > 0 and cost <= left:
            left -= cost
            headings.add(one.under)
            chosen.append(n)
    return chosen
