"""The statements of a text, and the facts in each: what must not be made up.

Facts are numbers, dates, names, quoted strings and identifiers, each with its readings: forms in which
equal facts are equal however they are spelled.

What is equal:

- **Numbers** by value: 1,000 = 1000 = 1 000 = 1'000 = 1_000 = 1k = 1 thousand = １０００ = ١٠٠٠; 2.5 million = 2,500,000; 3万 = 30000;
  12,50 = 12.5; 3rd = 3; two = 2, up to twelve. `1.000` reads as 1 and as 1000. A sign counts (-5 is not 5); units, percent and currency
  signs do not (5 % = 5 EUR = 5, and none of them is 0.05). Numerals written out in Chinese characters are words, not numbers.
- **Dates** by year, month and day: 2026-03-15 = 15.03.2026 = March 15, 2026 = 15 mars 2026 = 2026年3月15日. `03/04/2026` reads both ways.
  A date with a year stands for one without, never the reverse.
- **Quoted strings** and **identifiers** letter by letter, but for case, white space and width.
- **Names** are capitalised words inside a sentence, words in capitals and words like `GitHub`, whatever their case elsewhere. In a
  sentence with German function words only the last two, for there every noun is capitalised. Scripts without capitals have no names here;
  what of them comes from another run is found as leaked words (see `grounding`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from tenure.ranking import STOP_WORDS
from tenure.terms import folded, identifiers, shown

FactKind = Literal["number", "date", "name", "quoted", "identifier", "tool"]

Reading = str | Decimal | tuple[int | None, int, int | None]
"""A text, a number, or a date as year, month and day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something in a statement that is right or wrong, whatever else it says.

    Attributes:
        kind: see the module.
        said: as it is written.
        readings: what it can mean; one of them is enough.
    """

    kind: FactKind
    said: str
    readings: frozenset[Reading]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A piece of a text that can be true or not by itself.

    Attributes:
        text: as written, without white space around it.
        lead: what stands before it: white space and, for the first of a line, a list's mark.
        tail: the white space behind the last one of a text; empty for others.
    """

    text: str
    lead: str = ""
    tail: str = ""


_END = re.compile(r"[.!?…]+[\"'”’»)\]*_`]*(?=\s)|[;；](?=\s|$)|[。！？｡]+[」』”’）)]*|\n+")
_ABBREVIATED = re.compile(r"(?i)(?<!\w)(?:e\.g|i\.e|cf|vs|etc|approx|dr|mr|mrs|ms|st|z\. ?b|d\. ?h|u\. ?a|bzw|ca|p\. ?ex|[^\W\d_])\.$")
_BEFORE_FIGURE = re.compile(r"(?i)(?<!\w)(?:no|nos|nr|fig|art|sec|pp?)\.$")
_LIST_NUMBER = re.compile(r"\s*\d{1,3}\.")
_SPACE = re.compile(r"\s*")
_DAY = re.compile(r"(?<!\w)\d{1,2}\.$")


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a text: sentences, lines, and what a semicolon parts; quoted ones stay whole.

    Nothing is lost: lead, text and tail of all, joined, are the text again.
    """
    covered = [match.span() for match in _QUOTED.finditer(text)]
    ends = [match.end() for match in _END.finditer(text) if not _inside(match.start(), covered) and not _abbreviates(text, match)]
    found: list[Statement] = []
    begin, owed = 0, ""
    for end in dict.fromkeys((*ends, len(text))):
        piece = text[begin:end]
        # Elsewhere than at the start of a line a number or a dash says something.
        lead = (_LEAD if begin == 0 or text[begin - 1] == "\n" else _SPACE).match(piece)
        assert lead is not None  # both match the empty text
        said = piece[lead.end() :].rstrip()
        if said:
            found.append(Statement(text=said, lead=owed + lead[0]))
            owed = piece[lead.end() + len(said) :]
        else:
            owed += piece
        begin = end
    if owed and found:
        found[-1] = replace(found[-1], tail=owed)
    elif owed.strip():  # marks of lists and nothing else
        said = owed.strip()
        begin = owed.index(said)
        found.append(Statement(text=said, lead=owed[:begin], tail=owed[begin + len(said) :]))
    return tuple(found)


def joined(pieces: Sequence[Statement]) -> str:
    """The text of statements, laid out as they were."""
    return "".join(piece.lead + piece.text + piece.tail for piece in pieces)


def _abbreviates(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop ends an abbreviation, an initial or the number of a list, and no sentence."""
    before = text[max(0, match.end() - 12) : match.end()]
    if match[0] != ".":
        return False
    if _LIST_NUMBER.fullmatch(text[text.rfind("\n", 0, match.end()) + 1 : match.end()]):
        return True
    following = text[match.end() : match.end() + 20].lstrip()
    if _ABBREVIATED.search(before):
        return not (before.lower().endswith("etc.") and following[:1].isupper())
    if _BEFORE_FIGURE.search(before):
        return following[:1].isdigit()
    month = re.match(r"[^\W\d_]+", following)
    return _DAY.search(before) is not None and month is not None and (month[0].lower() in _MONTHS or month[0].islower())


def _inside(place: int, spans: Collection[tuple[int, int]]) -> bool:
    return any(begin < place < end - 1 for begin, end in spans)


_QUOTED = re.compile(
    r"(?<!`)`{1,4}([^`\n]{1,400})`{1,4}|\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|„([^“”\n]{1,400})[“”]|«([^»\n]{1,400})»|「([^」\n]{1,400})」"
    r"|『([^』\n]{1,400})』|‘([^’\n]{1,400})’(?!\w)|(?<![\w'])'([^'\n]{1,400})'(?!\w)"
)

# --- dates --------------------------------------------------------------------------------------------

_MONTH_NAMES = {
    1: "january jan januar jänner janvier janv enero ene gennaio",
    2: "february feb februar février févr fevrier febrero febbraio",
    3: "march mar märz maerz mars marzo",
    4: "april apr avril avr abril abr aprile",
    5: "may mai mayo maggio",
    6: "june jun juni juin junio giugno",
    7: "july jul juli juillet juil julio luglio",
    8: "august aug août aout agosto ago",
    9: "september sept sep septembre septiembre settembre",
    10: "october oct oktober okt octobre octubre ottobre",
    11: "november nov novembre noviembre",
    12: "december dec dezember dez décembre déc decembre diciembre dic dicembre",
}
_MONTHS = {name: number for number, names in _MONTH_NAMES.items() for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_NOT_A_DAY = rf"(?!\s*(?i:{_MONTH})\b)"
_LEAD = re.compile(rf"\s*(?:(?:[-*+•]|\d{{1,3}}[.)]{_NOT_A_DAY})\s+)?")
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<![\d.])(?P<a>\d{1,2})(?P<s>[./-])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?!\d)"),
    re.compile(
        rf"(?i)(?<!\w)(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?(?P<n>{_MONTH})\b\.?(?:,?\s+(?:de\s+)?(?P<y>\d{{4}})\b)?"
    ),
    re.compile(rf"(?i)\b(?P<n>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<y>\d{{4}})\b)?"),
    re.compile(rf"(?i)\b(?P<n>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日号일]"),
    re.compile(r"(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]"),
    re.compile(r"(?<![\d.-])(?P<y>\d{4})-(?P<m>0[1-9]|1[0-2])(?![\d-])"),
)


def _date_readings(match: re.Match[str]) -> frozenset[Reading]:
    got = match.groupdict()
    year = int(got["y"]) if got.get("y") else None
    if got.get("a"):
        pairs = {(int(got["a"]), int(got["b"])), (int(got["b"]), int(got["a"]))}
        return frozenset((year, month, day) for month, day in pairs if 1 <= month <= 12 and 1 <= day <= 31)
    month = int(got["m"]) if got.get("m") else _MONTHS[got["n"].lower()]
    day = int(got["d"]) if got.get("d") else None
    return frozenset({(year, month, day)}) if 1 <= month <= 12 and (day is None or 1 <= day <= 31) else frozenset()


# --- numbers ------------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_])(?<![A-Za-z_][-./#@])(?<!\d[.,])(?P<sign>(?<![\w)])[-−])?"
    r"(?P<body>\d{1,3}(?:(?P<sep>[,.'’ \u00a0\u202f_])\d{3})(?:(?P=sep)\d{3})*(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?P<unit>(?:k|K|M|bn)(?![A-Za-z0-9])|\s?(?:thousand|million|billion|Tausend|Millionen|Million|mille|millones)\b|[千万萬億亿만천억]"
    r"|[A-Za-zµ°]{1,4}(?![A-Za-z0-9_]))?(?![A-Za-z_])"
)
_SCALES = {
    "k": 3, "K": 3, "M": 6, "bn": 9, "thousand": 3, "tausend": 3, "mille": 3, "million": 6, "millionen": 6, "millones": 6, "billion": 9,
    "千": 3, "천": 3, "万": 4, "萬": 4, "만": 4, "億": 8, "亿": 8, "억": 8,
}  # fmt: skip
_NUMBER_WORDS = {word: number for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)}
_GROUPED = re.compile(r"\d{1,3}(?:_\d{3})+")
_NUMBER_WORD = re.compile(rf"(?i)(?<![\w-])({'|'.join(_NUMBER_WORDS)})(?![\w-])")
_LIST_MARK = re.compile(rf"(?m)^\s*\d{{1,3}}[.)]{_NOT_A_DAY}(?=[ \t]+\S)")


def _number_readings(match: re.Match[str]) -> frozenset[Reading]:
    body, sep, unit = match["body"], match["sep"], (match["unit"] or "").strip()
    plain = body.translate(_NO_MARKS)
    forms: set[str] = set()
    if sep:
        whole, mark, rest = body, "", ""
        tail = body[body.rfind(sep) + 4 :]
        if tail:
            whole, mark, rest = body[: -len(tail)], tail[0], tail[1:]
        grouped = whole.replace(sep, "") + (f".{rest}" if rest else "")
        forms.add(grouped)
        if sep == "." and body.count(".") == 1 and not mark:
            forms.add(body)
    else:
        forms.add(plain.replace(",", "."))
    scale = _SCALES.get(unit) or _SCALES.get(unit.lower() if len(unit) > 2 else unit, 0)
    values = (Decimal(form).scaleb(scale) for form in forms)
    return frozenset(-value if match["sign"] else value for value in values)


_NO_MARKS = str.maketrans("", "", "'’ \u00a0\u202f_")

# --- names --------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[^\W\d_][\w’'-]*[^\W_]|[^\W\d_]")
_EMPHASIS = frozenset("not never always only must do dont don't all any none no yes before after first last stop note ok todo".split())
_GERMAN = re.compile(r"(?i)(?<!\w)(?:der|die|das|und|nicht|ist|eine|einen|einem|wenn|mit|für|oder|auf|bei|wird|werden|nur|vor|nach)(?!\w)")


def _names(text: str) -> Iterator[str]:
    german = len(_GERMAN.findall(text)) > 1
    for match in _TOKEN.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s")
        if word.lower() in STOP_WORDS or word.lower() in _EMPHASIS or word.lower().split("'")[0] == "i":
            continue
        inner = any(c.isupper() for c in word[1:])
        before = text[max(0, match.start() - 16) : match.start()].rstrip(" \"'“‘«([*_`")
        first = not before or before[-1] in ".!?:;\n。！？"
        if inner or (word[0].isupper() and not first and not german):
            yield word


# --- all facts ----------------------------------------------------------------------------------------


def plain_form(text: str) -> str:
    """A text in which decimal digits of any script are ASCII and compatibility forms are replaced."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return "".join(str(unicodedata.decimal(c)) if not c.isascii() and c.isdecimal() else c for c in text)


def facts(text: str, *, tools: Collection[str] = (), lists: bool = True) -> tuple[Fact, ...]:
    """The facts of a text, in the order of their kinds.

    Args:
        text: one statement, or a whole source.
        tools: names of tools that are facts where they occur as a word of their own.
        lists: whether a number that begins a line may be the mark of a list and no fact.
    """
    rest = _LIST_MARK.sub(" ", plain_form(text)) if lists else plain_form(text)
    found: list[Fact] = []

    def taken(match: re.Match[str], kind: FactKind, readings: frozenset[Reading]) -> str:
        if not readings:
            return match[0]
        found.append(Fact(kind=kind, said=match[0].strip(), readings=readings))
        return " " * len(match[0])

    quoted: list[str] = []

    def opened(match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None)
        if _only_figures(inner):  # a quoted figure is a figure
            return f" {inner} "
        quoted.append(inner)
        found.append(Fact(kind="quoted", said=inner, readings=frozenset({spaced(inner)})))
        return " … "

    rest = _QUOTED.sub(opened, rest)
    for pattern in _DATES:
        rest = pattern.sub(lambda match: taken(match, "date", _date_readings(match)), rest)
    for name in (*identifiers(rest), *(name for inner in quoted for name in identifiers(inner))):
        if not _GROUPED.fullmatch(shown(name)):
            found.append(Fact(kind="identifier", said=shown(name), readings=frozenset({name})))
    rest = _NUMBER.sub(lambda match: taken(match, "number", _number_readings(match)), rest)
    rest = _NUMBER_WORD.sub(lambda match: taken(match, "number", frozenset({Decimal(_NUMBER_WORDS[match[0].lower()])})), rest)
    found += [Fact(kind="name", said=name, readings=frozenset({folded(name)})) for name in dict.fromkeys(_names(rest))]
    present = set(re.findall(r"[\w.:-]*\w", plain_form(text)))
    found += [Fact(kind="tool", said=tool, readings=frozenset({tool})) for tool in sorted(set(tools) & present)]
    return tuple(found)


def numbers(text: str) -> frozenset[Reading]:
    """All readings of all numbers of a text, wherever they stand."""
    rest = plain_form(text)
    found = {reading for match in _NUMBER.finditer(rest) for reading in _number_readings(match)}
    return frozenset(found | {Decimal(_NUMBER_WORDS[match[0].lower()]) for match in _NUMBER_WORD.finditer(rest)})


def _only_figures(text: str) -> bool:
    if not any(c.isdigit() for c in text):
        return False
    left = text
    for pattern in (*_DATES, _NUMBER):
        left = pattern.sub("", left)
    return not any(c.isalnum() for c in left)


def spaced(text: str) -> str:
    """A text folded, with each run of white space as one space: how quoted strings are compared."""
    return " ".join(folded(plain_form(text)).split())
