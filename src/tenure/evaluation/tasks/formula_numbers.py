"""Numbers of a question in words, each with what stands around it.

`$1.2 million` is 1200000, `5%` is 0.05, `two years` is 2, `compounded monthly` is 12. What stands around a number says which
one it is: the words before and behind it, its unit, its place among the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.ranking import STOP_WORDS
from tenure.terms import stem

BEFORE, BEHIND = 5, 4
"""Words on each side of a number that describe it; none beyond the number before or behind it."""

MOST = 6
"""Numbers of a question that are looked at, the first ones."""

_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12}
_COUNTS = {word: float(count) for count, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)}
_FREQUENCIES = (
    (re.compile(r"semi-?\s?annual(?:ly)?|half-?\s?yearly|twice a year|every (?:six|6) months", re.IGNORECASE), 2.0),
    (re.compile(r"quarterly|every (?:three|3) months|every quarter", re.IGNORECASE), 4.0),
    (re.compile(r"\bmonthly|every month", re.IGNORECASE), 12.0),
    (re.compile(r"\bweekly", re.IGNORECASE), 52.0),
    (re.compile(r"\bdaily", re.IGNORECASE), 365.0),
)
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-\u2212](?=[$\d.]))?(?P<money>[$€£¥₹]|US\$)?\s?(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b)|\s?(?P<scale>thousand|million|billion|trillion|mn|bn|[kKMB](?![\w$]))(?!\w))?"
)
_WORDED = re.compile(
    rf"\b(?P<count>{'|'.join(_COUNTS)})\b(?=[ -](?:years?|months?|days?|quarters?|weeks?|periods?|shares?))", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:_\w)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of a question.

    Attributes:
        value: its amount; a percentage as a fraction, with its scale.
        cues: what stands around it, as short marks.
    """

    value: float
    cues: frozenset[str]


@lru_cache(maxsize=4096)
def numbers_of(question: str) -> tuple[Number, ...]:
    """The numbers of a question in the order in which they stand, `MOST` at most; one that is said twice alike counts once."""
    found: list[tuple[int, int, float, str]] = []
    for match in _NUMBER.finditer(question):
        digits = match["digits"].replace(",", "").rstrip(".")
        value = float(digits) * (-1.0 if match["sign"] else 1.0)
        scale = (match["scale"] or "").lower()
        unit = "unit:percent" if match["percent"] else "unit:money" if match["money"] else "unit:scaled" if scale else "unit:plain"
        found.append((match.start(), match.end(), value / 100 if match["percent"] else value * _SCALES.get(scale, 1.0), unit))
    found += [(match.start(), match.end(), _COUNTS[match["count"].lower()], "unit:worded") for match in _WORDED.finditer(question)]
    for form, count in _FREQUENCIES:
        said = form.search(question)
        if said is not None:
            found.append((said.start(), said.end(), count, "unit:frequency"))
    found.sort()
    kept = [one for place, one in enumerate(found) if not place or one[0] >= found[place - 1][1]][:MOST]
    return tuple(_described(question, kept))


def _described(question: str, found: Sequence[tuple[int, int, float, str]]) -> list[Number]:
    described: list[Number] = []
    sizes = sorted(value for _, _, value, _ in found)
    for place, (start, end, value, unit) in enumerate(found):
        before = question[found[place - 1][1] if place else 0 : start]
        behind = question[end : found[place + 1][0] if place + 1 < len(found) else len(question)]
        cues = {unit, f"place:{place}", f"last:{len(found) - place}", f"size:{sizes.index(value)}"}
        cues |= {f"before:{word}" for word in _words(before)[-BEFORE:]}
        cues |= {f"behind:{word}" for word in _words(behind)[:BEHIND]}
        cues |= {f"near:{word}" for word in (*_words(before)[-BEFORE:], *_words(behind)[:BEHIND])}
        described.append(Number(value=value, cues=frozenset(cues)))
    return described


def _words(text: str) -> list[str]:
    return [stem(word.lower()) for word in _WORD.findall(text) if word.lower() not in STOP_WORDS or word.lower() in ("per", "of", "from")]
