"""Pure ranking: words of any script, token estimates, likeness, and choice under a budget."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from math import ceil

STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could did do does doing for from
    further had has have having he her here hers him his how i if in into is it its itself just let like me more most my myself
    no nor now of on once only or other our ours out over own please same she should so some such than that the their theirs them
    then there these they this those through to too under until up us very was we were what when where which while who whom why
    will with would you your yours hi hello thanks thank yes okay ok need want help""".split()
)
"""Words of a question that say nothing about its subject. Lessons keep theirs."""

_PART = re.compile(r"[^\W_]+", re.UNICODE)
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
"""What nobody sees inside a word: soft hyphens, joiners, directions, variation selectors."""
_UNSPACED = re.compile(
    "[\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff]"
)
"""Chinese, Japanese and Korean; Thai, Lao, Burmese and Khmer."""
_PLAIN = re.compile(
    "[\0-\u00a1\u00a7\u00aa\u00ab\u00b2\u00b3\u00b5-\u00b7\u00b9-\u00d6\u00d8-\u00f6\u00f8-\u02c1"
    "\u0370-\u03f5\u03f7-\u0481\u048a-\u0559\u2000-\u200a\u2010-\u2027\u2030-\u2043]*"
)
"""Texts of European letters and typography: no marks, no signs, no scripts without spaces, so that `_PART` finds their words."""
_AM = "\u0e33\u0eb3"
"""Vowels of Thai and Lao that Unicode counts as letters though they never stand alone."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002fa1f]+")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")
_ASCII_TOKEN = re.compile(r"[^\r\n\w]?[A-Za-z]{1,8}|\d{1,3}|_+| ?[^\sA-Za-z\d_]{1,4}[\r\n]*|\s*[\r\n]+|\s+")


_ITEM = "\n- "
"""Between two items of a list, such as two lessons in a prompt."""

SHORT = 1_000
"""Characters of a text up to which its tokens are remembered."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, without a tokenizer.

    Cuts as byte-pair tokenizers do before they merge: a word with the character before it, eight
    letters at most; three digits; four signs; a run of line breaks. Chinese and Japanese characters
    count 1.15 each, Korean ones 1, other letters 0.4. On English, code, JSON, Chinese, Japanese,
    Korean and Russian this came within 15 % of cl100k; on German and French it reads 25 to 35 % low
    (`benchmarks/bench_token_estimate.py`).
    """
    if not text:
        return 0
    if text.isascii():
        return _ascii_tokens(text)
    korean = sum(len(run) for run in _HANGUL.findall(text))
    ideographs = sum(len(run) for run in _CJK.findall(text)) - korean
    narrow = text.encode("ascii", "ignore").decode()
    others = len(text) - len(narrow) - korean - ideographs
    return _ascii_tokens(narrow) + ceil(1.15 * ideographs) + korean + ceil(0.4 * others)


class Estimate:
    """Counts tokens by `estimate_tokens`; see `ports.TokenCounter`."""

    name = "estimate"

    def __call__(self, text: str) -> int:
        """About how many tokens a text has."""
        return estimate_tokens(text)


def _ascii_tokens(text: str) -> int:
    if len(text) <= SHORT:
        line = text[:-1]
        if not text.endswith("\n") or not line or line[-1].isspace():
            return _short_tokens(text)
        # A sign takes the line end behind it into its token. So a line is counted once, with and without its end.
        return _short_tokens(line) + (line[-1].isalnum() or line[-1] == "_")
    # No token reaches over the end of a line into an item of a list. So a prompt is the sum of its lines, most of which come again.
    first, *items = text.split(_ITEM)
    if not items:
        return len(_ASCII_TOKEN.findall(text))
    *between, last = items
    return _ascii_tokens(f"{first}\n") + sum(_ascii_tokens(f"- {item}\n") for item in between) + _ascii_tokens(f"- {last}")


@lru_cache(maxsize=8_192)
def _short_tokens(text: str) -> int:
    """Lessons are counted again for every task that they may matter for."""
    return len(_ASCII_TOKEN.findall(text))


def words(text: str) -> list[str]:
    """The words of a text in order, lower-cased, for search in any script.

    Runs of scripts that are written without spaces (Chinese, Japanese, Korean, Thai, Lao, Burmese,
    Khmer) become overlapping pairs of characters, each with its marks (one character alone stays
    itself). An identifier such as `snake_case`, `ADR-0005` or `src/app.py` gives its parts.
    """
    low = text.lower()
    if low.isascii() or _PLAIN.fullmatch(low):
        return _PART.findall(low)
    found: list[str] = []
    for said, run in parts(low):
        if run:
            found.extend(bigrams(run))
        else:
            found.append(said)
    return found


def bigrams(run: Sequence[str]) -> list[str]:
    """Overlapping pairs of characters; a single character is itself."""
    return [run[i] + run[i + 1] for i in range(len(run) - 1)] or ["".join(run)]


def parts(text: str, *, signs: bool = False) -> Iterator[tuple[str, Sequence[str]]]:
    """The words of a text in order, and the characters of those that are a run of a script without spaces, else none.

    Vowel signs and accents stay with the letter before them. Characters that nobody sees are left out.

    Args:
        text: in any script.
        signs: whether emoji and other signs outside ASCII (`→`, `€`) are words of their own too.
    """
    if _PLAIN.fullmatch(text):
        yield from ((word, ()) for word in _PART.findall(text))
        return
    plain = INVISIBLE.sub("", text)
    # Each character as its kind: patterns know no marks.
    kinds = plain.translate(_KINDS)
    for match in (_WORD_OR_SIGN if signs else _WORD).finditer(kinds):
        start, end = match.span()
        if kinds[start] != "c":
            yield plain[start:end], ()
        else:
            yield plain[start:end], [plain[start + one.start() : start + one.end()] for one in _CHARACTER.finditer(match[0])]


def _kind(character: str) -> str:
    """`w` in a word, `c` in a run without spaces, `m` a mark, `s` a sign, `r` half a flag, else a space."""
    category = unicodedata.category(character)
    if category[0] == "M" or character in _AM:
        return "m"
    if character.isalnum():
        return "c" if category[0] != "N" and _UNSPACED.match(character) else "w"
    if category[0] == "S" and category != "Sk" and not character.isascii() and character != "\u2044":  # which "½" is made of
        return "r" if "\U0001f1e6" <= character <= "\U0001f1ff" else "s"
    return " "


class _Kinds(dict[int, str]):
    """The kind of each character that was met."""

    def __missing__(self, code: int) -> str:
        """Look at a character that is new."""
        self[code] = kind = _kind(chr(code))
        return kind


_KINDS = _Kinds()
_WORD = re.compile("w[wm]*|c[cm]*")
_WORD_OR_SIGN = re.compile("w[wm]*|c[cm]*|rr?|s")
_CHARACTER = re.compile("cm*")


def choose(costs: Sequence[int], worths: Sequence[float], budget: int) -> list[int]:
    """Places of what to take under a budget, in order of worth.

    Goes down the list by worth and takes whatever still fits, so that one long text never shuts
    out shorter ones behind it.

    Args:
        costs: tokens of each.
        worths: value of each; what is worth 0 or less is never taken.
        budget: tokens in all.
    """
    taken: list[int] = []
    left = budget
    for place in sorted(range(len(costs)), key=lambda i: (-worths[i], costs[i], i)):
        if worths[place] <= 0:
            break
        if costs[place] <= left:
            taken.append(place)
            left -= costs[place]
    return taken


def overlap(a: Iterable[str], b: Iterable[str]) -> float:
    """Share of the smaller set of words that is in the other, 0 to 1."""
    first, second = set(a), set(b)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))


def likeness_of_words(one: Collection[str], other: Collection[str]) -> float:
    """Share of the words of both that both have, 0 to 1 (Jaccard)."""
    shared = len(frozenset(one) & frozenset(other))
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def likeness_of_bits(one: int, other: int) -> float:
    """`likeness_of_words` of sets whose words are the bits of two numbers."""
    shared = (one & other).bit_count()
    return shared / (one | other).bit_count() if shared else 0.0


def _nearest_of_bits(one: int, others: Sequence[int], nearest: float) -> float:
    """The greatest `likeness_of_bits` to any of the others, and no less than what is given. Thousands of pairs are looked at."""
    for other in others:
        shared = (one & other).bit_count()
        if shared and (found := shared / (one | other).bit_count()) > nearest:
            nearest = found
    return nearest


SAME_AGAIN = 0.8
"""What a text loses of its worth that says just what a chosen one says."""


def choose_apart(
    costs: Sequence[int],
    worths: Sequence[float],
    budget: int,
    *,
    likeness: Callable[[int, int], float] | None = None,
    bits: Sequence[int] = (),
    votes: Sequence[Collection[str]] = (),
) -> list[int]:
    """Places of what to take under a budget, in the order taken: worth most beside what is taken already.

    Takes whatever still fits, as `choose` does. What resembles a chosen text is worth less by up to
    `SAME_AGAIN` of its worth.

    Args:
        costs: tokens of each.
        worths: value of each; what is worth 0 or less is never taken.
        budget: tokens in all.
        likeness: of the texts at two places, 0 to 1; none takes `likeness_of_bits` of `bits`.
        bits: the words of each as bits of a number, where `likeness` is none.
        votes: for each, the origins it speaks for, each of which may speak once; without any it is free.
            One whose origins have all spoken is not taken.

    Source: Carbonell and Goldstein, The Use of MMR (1998), as a factor instead of a difference.
    """
    taken: list[int] = []
    taken_bits: list[int] = []
    spoken: set[str] = set()
    left = budget
    # Worth only falls as texts are taken, so what is best by an old figure is looked at anew, and all else can wait.
    waiting = [(-worth, costs[place], place, 0, 0.0) for place, worth in enumerate(worths) if worth > 0]
    heapify(waiting)
    while waiting:
        _, cost, place, seen, nearest = heappop(waiting)
        mine = frozenset(votes[place]) if votes else frozenset[str]()
        if cost > left or (mine and mine <= spoken):
            continue
        if likeness is None:
            nearest = _nearest_of_bits(bits[place], taken_bits[seen:], nearest)
        else:
            nearest = max([nearest, *(likeness(place, other) for other in taken[seen:])])
        if seen < len(taken):
            heappush(waiting, (-worths[place] * (1 - SAME_AGAIN * nearest), cost, place, len(taken), nearest))
            continue
        taken.append(place)
        if bits:
            taken_bits.append(bits[place])
        spoken |= mine
        left -= cost
    return taken
