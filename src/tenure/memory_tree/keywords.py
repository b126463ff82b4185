"""Which words stand for a conversation, when there is room for few: the ones that a later reader will come with.

What is remembered of a talk is what someone stated in it, in the words of its subject. Measured on past
chats and the facts that were later asked for (bench `memory-tree`): a word is in the fact more often if it
stands in the first turn, in a sentence that states figures or what someone did, if it returns, if the reply
takes it up, if it is a name or a number; and less often if it is long or comes late. How rare a word is in all
says nothing about that; it says how far the word leads, which is weighed where nodes are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

from tenure.excerpts import facts
from tenure.ranking import STOP_WORDS, estimate_tokens
from tenure.terms import REQUEST_WORDS, search_words, shown, stem

FIRST_TURN, LATE_TURN = 1.0, -0.5
STATED = 0.4
"""For each figure and each statement about oneself in the word's best sentence, four at most."""
NAMED, NUMBER = 0.4, 0.25
RETURNS, ANSWERED = 0.5, 0.3
"""For each e-fold of how often it is said, and of how often it is answered with."""
LONG = -0.1
"""For each letter beyond seven."""

LATE = 3
"""Turns before the late ones."""

READ = 1_200
"""Characters of a sentence that are read, of what a person says: longer ones are pasted."""

SAID_LESS = 0.85
"""What each further word of a line counts against the one before it: the first ones name what it was about."""

_COMMON = frozenset(
    """actually add already always amazing another anything appreciate around away awesome bit big certain check come could couple
    curious definitely don doesn didn else enjoy especially even ever everyone exactly example excited feel few figure found fun general
    getting glad guess guys haven hear heard hey hope important include including interested interesting isn kind least let little
    ll lot love made main maybe mean mentioned mind might nice note oh once one part particularly perfect perhaps person please
    pretty probably provide question questions quite re read several share since some someone sounds specific specifically stuff
    such sure two ve whole won wouldn yet able also back being better been com www http https""".split()
)
"""Words that are said in most conversations and name none. Stop words of questions are left out besides."""

_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b[DM]r\.)(?<!\bM[rs]s\.)(?<!\bMs\.)(?<!\bSt\.)\s+|[。！？\n]+")
_REDACTED = re.compile(r"\[redacted:[^\]\n]{1,40}\]")
_CAPITAL = re.compile(r"[A-Z][^\W_]*")


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word that stands for what it was taken from.

    Attributes:
        word: as it is shown; a name with its capital.
        weight: whole number, comparable within a tree.
    """

    word: str
    weight: int


@dataclass(slots=True)
class _Seen:
    word: str
    turn: int
    count: int = 0
    stated: int = 0
    named: int = 0
    small: int = 0


def keywords(said: Sequence[str], answered: Sequence[str] = (), *, most: int = 48) -> tuple[Keyword, ...]:
    """The words that stand for a conversation, the weightiest first, one per stem.

    Args:
        said: turns of whom it is remembered for, in order, without what is excluded.
        answered: the other turns. Their words count only where they take up what was said.
        most: how many at most.
    """
    seen: dict[str, _Seen] = {}
    for turn, text in enumerate(said):
        for sentence in _SENTENCE_END.split(_REDACTED.sub(" ", text)):
            if sentence.strip():
                _read(sentence[:READ], turn, seen)
    if not seen:
        return ()
    echoes = Counter(root for text in answered for word in search_words(text) if (root := stem(word)) in seen)
    found = {root: Keyword(_spelled(one), round(1000 * exp(_merit(root, one, echoes[root])))) for root, one in seen.items()}
    best = sorted(found, key=lambda root: (-found[root].weight, root))[:most]
    return tuple(found[root] for root in best)


def _read(sentence: str, turn: int, seen: dict[str, _Seen]) -> None:
    stated = facts(sentence)
    capitals = {match[0].lower() for match in _CAPITAL.finditer(sentence) if match.start()}
    for word in search_words(sentence):
        root = telling(word)
        if not root:
            continue
        one = seen.get(root)
        if one is None:
            one = seen[root] = _Seen(word, turn)
        one.count += 1
        one.stated = max(one.stated, stated)
        if word in capitals:
            one.named += 1
        else:
            one.small += 1


@lru_cache(maxsize=1 << 16)
def telling(word: str) -> str:
    """The stem of a word that says something about a subject; empty for any other."""
    if word in STOP_WORDS or word in REQUEST_WORDS or word in _COMMON or (len(word) < 2 and word.isascii() and not word.isdigit()):
        return ""
    return stem(word)


def _merit(root: str, one: _Seen, echoes: int) -> float:
    return (
        FIRST_TURN * (one.turn == 0)
        + LATE_TURN * (one.turn >= LATE)
        + STATED * min(one.stated, 4)
        + NAMED * (one.named > 0)
        + NUMBER * one.word.isdigit()
        + RETURNS * min(log(one.count), 2.0)
        + ANSWERED * min(log(echoes + 1), 4.0)
        + LONG * max(0, len(one.word) - 7)
    )


def _spelled(one: _Seen) -> str:
    word = shown(one.word)
    return word.capitalize() if one.named > one.small else word


@lru_cache(maxsize=1 << 16)
def word_cost(word: str) -> int:
    """Tokens of a word behind a space."""
    return estimate_tokens(f" {word}")


def rarer_first(lines: Mapping[str, Sequence[Keyword]], power: float) -> dict[str, tuple[Keyword, ...]]:
    """Lines of keywords with each weighed by how few of the lines hold it.

    Args:
        lines: by name.
        power: of the rarity; 0 leaves the weights as they are.
    """
    held = Counter(root for line in lines.values() for root in {stem(one.word.lower()) for one in line})
    total = len(lines)
    weighed: dict[str, tuple[Keyword, ...]] = {}
    for name, line in lines.items():
        found = [
            Keyword(one.word, round(one.weight * max(log(1 + (total - count + 0.5) / (count + 0.5)), 0.05) ** power))
            for one in line
            for count in (held[stem(one.word.lower())],)
        ]
        weighed[name] = tuple(sorted(found, key=lambda one: (-one.weight, one.word)))
    return weighed


def pooled(lines: Iterable[Sequence[Keyword]], *, most: int) -> tuple[Keyword, ...]:
    """One line of several: each word once, weighed by its place in the line where it counts most, the weightiest first."""
    best: dict[str, Keyword] = {}
    for line in lines:
        for place, one in enumerate(line):
            worth, root = round(one.weight * SAID_LESS**place), stem(one.word.lower())
            if root not in best or (worth, one.word) > (best[root].weight, best[root].word):
                best[root] = Keyword(one.word, worth)
    return tuple(sorted(best.values(), key=lambda one: (-one.weight, one.word)))[:most]


def shared_out(
    lines: Mapping[str, Sequence[Keyword]], budget: int, *, least: int = 0, most: int = 48, less: float = 1.0
) -> dict[str, tuple[Keyword, ...]]:
    """How many of its first words each line shows within a budget of tokens: the weightiest of all lines, some of every line first.

    Args:
        lines: the weightiest word first.
        budget: tokens of all words together.
        least: words that each line has before any has more, as far as the budget goes.
        most: words of a line at most.
        less: what each further word of a line counts against the one before it.
    """
    offers = [
        ((0, place) if place < least else (1, 0), -one.weight * less**place, name, place, word_cost(one.word))
        for name, line in lines.items()
        for place, one in enumerate(line[:most])
    ]
    taken, left = dict.fromkeys(lines, 0), budget
    for _, _, name, place, cost in sorted(offers):
        # Only the next word of a line may follow: a line without its first words would say something else.
        if place == taken[name] and cost <= left:
            taken[name] += 1
            left -= cost
    return {name: tuple(line[: taken[name]]) for name, line in lines.items()}


def as_text(line: Sequence[Keyword]) -> str:
    """Keywords as they are shown, names that follow each other unchanged."""
    return " ".join(one.word for one in line)
