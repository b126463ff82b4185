"""Pure: what a text is searched by. Words of any script, their stems, and identifiers as they stand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from tenure.ranking import INVISIBLE, STOP_WORDS, bigrams, parts, words

REQUEST_WORDS = frozenset(
    """advice anything best better come consider considering currently day days decide deciding different does done ever everything
    find first get gets getting give given go goes going good got great happen happened help helping idea ideas keep know lately look
    looking made make makes making many much name names next new often plan planning possible put really recent recently recommend
    recommendation recommendations right said say see something start still sure suggest suggestion suggestions take taking talk
    tell thing things think thinking tip tips took try trying type use used using want way ways went wonder wondering work""".split()
)
"""Words that people wrap a question in. They stay in what is searched, and in a question that has no others."""

LONGEST_STEMMED = 64
"""Longer words stay as they are, as in SQLite's own stemmer."""

LONGEST_QUESTION = 60_000
"""Characters of a question that are read, about 10,000 words: the first 64 that tell something are searched for."""

LONGEST_IDENTIFIER = 200
"""Longer runs of characters are data, not names."""

_VOWELS = frozenset("aeiou")
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "alli": "al", "entli": "ent", "eli": "e",
    "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log", "bli": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = frozenset(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(),
)

# What may stand in an identifier: no white space, no quotes or brackets, nothing of a script that is written without spaces.
_CHUNK = re.compile(r"[^\s\"'`“”‘’«»()\[\]{}<>|,;\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef\ud800-\udfff]+")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*(=\S+)?")
_SPELLED = (
    re.compile(r"\w*[^\W_]_+[^\W_]\w*|_+[^\W_]\w*|[^\W_]\w*_+"),  # snake_case, __init__
    re.compile(r"[A-Za-z][A-Za-z0-9]*(\+\+|#)"),  # C++, F#
    re.compile(r"[~.]{0,2}[/\\][\w.@+-]+.*|[A-Za-z]:[/\\].+|[\w.@+-]+([/\\][\w.@+-]+){2,}[/\\]?|[\w.@+-]+/[\w@+-]*\.\w+"),  # paths
    re.compile(r"[A-Z][A-Z0-9]*/[A-Z0-9]+"),  # PDF/A, TCP/IP
    re.compile(r"[A-Za-z][A-Za-z]*[-.:#]\d[\w.:-]*(?<!s)"),  # ADR-0005, utf-8, gpt-4.1
    re.compile(r"(?=\S*\d)(?=\S*[A-Za-z]\d|\S*\d[a-f])[0-9A-Fa-f]{4,}(-[0-9A-Fa-f]{4,}){2,}"),  # UUIDs
    re.compile(r"\d+(\.\d+){2,}\S*|v\d+(\.\d+)+\S*"),  # versions, addresses
    re.compile(r"\w[\w-]*[^\W\d](\.[a-z][\w-]+)+(\(\))?|\.[A-Za-z][\w-]+"),  # app.py, os.path.join, .env
    re.compile(r"[@#$%][A-Za-z_][\w./-]*|#\d+|[\w.+-]+@[\w-]+[\w.-]*"),  # @scope/name, #123, $HOME, someone@host
    re.compile(r"[a-z]{2,}[a-z0-9]*([A-Z][a-z0-9]+)+"),  # camelCase
    re.compile(r"\w+(::\w+)+|https?://\S+"),  # std::vector, addresses of pages
)
# Marks that are left out in writing: accents on letters of Europe; points, vowels and the lengthening dash of Hebrew and Arabic.
# Vowel signs of Indian scripts are letters of the word.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff]"
)
_ALONE = "\ue001"
"""Ends a single character of a script without spaces, so that lengths do not count it beside the pairs that it stands in."""
_CODE = re.compile("u(?:[0-9a-f]{2})+q")
_MARK = 0xE000
"""Signs inside an identifier are written as characters of the private use area, which databases take for letters."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A word without its English endings; words of other scripts stay as they are.

    Source: Porter, An algorithm for suffix stripping (1980), with the later changes to two endings;
    the same stems as SQLite's `porter` (a test compares them).
    """
    if not 3 <= len(word) <= LONGEST_STEMMED or not word.isascii():
        return word
    word = _without_plural(word)
    word = _without_participle(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for table, lengths in ((_STEP_2, range(7, 2, -1)), (_STEP_3, range(5, 2, -1))):
        for length in lengths:
            ending = word[-length:]
            if len(word) >= length and ending in table:
                if _measure(word[:-length]) > 0:
                    word = word[:-length] + table[ending]
                break
    for length in range(5, 1, -1):
        ending = word[-length:]
        if ending in _STEP_4:
            rest = word[:-length]
            if _measure(rest) > 1 and (ending != "ion" or rest[-1:] in ("s", "t")):
                word = rest
            break
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _without_plural(word: str) -> str:
    if (word.endswith("sses") and len(word) > len("sses")) or (word.endswith("ies") and len(word) > len("ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_participle(word: str) -> str:
    if word.endswith("eed") and len(word) > len("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if word.endswith("ed") and _has_vowel(word[:-2]):
        word = word[:-2]
    elif word.endswith("ing") and _has_vowel(word[:-3]):
        word = word[:-3]
    else:
        return word
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _is_consonant(word: str, place: int) -> bool:
    letter = word[place]
    if letter != "y":
        return letter not in _VOWELS
    return place == 0 or not _is_consonant(word, place - 1)


def _measure(part: str) -> int:
    """How often a vowel is followed by a consonant."""
    kinds = [_is_consonant(part, place) for place in range(len(part))]
    return sum(consonant and not before for before, consonant in pairwise(kinds))


def _has_vowel(part: str) -> bool:
    return any(not _is_consonant(part, place) for place in range(len(part)))


def _is_short(part: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last not w, x or y."""
    last = len(part) - 1
    return (
        last >= 2
        and _is_consonant(part, last)
        and not _is_consonant(part, last - 1)
        and _is_consonant(part, last - 2)
        and part[last] not in "wxy"
    )


def folded(text: str) -> str:
    """A text in lower case, compatibility forms replaced (full-width letters, ligatures) and accents taken off."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold()
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))
    # The compatibility form takes these two vowels apart, which are one to whoever writes them.
    return bare.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


def search_words(text: str) -> list[str]:
    """The words of a text in order, folded, as they are asked for.

    Runs of scripts without spaces are overlapping pairs of characters; a character alone is marked
    as one, and found wherever it stands (see `indexed_words`). Emoji and signs are words.
    """
    return _read(text, inside=False)


def indexed_words(text: str) -> list[str]:
    """The words of a text as a database indexes them: those of `search_words`, and each character of a run without spaces."""
    return _read(text, inside=True)


def length(indexed: str) -> int:
    """How many words a text has, given its `indexed_words` between spaces; single characters inside runs do not count."""
    return indexed.count(" ") + bool(indexed) - indexed.count(_ALONE)


def _read(text: str, *, inside: bool) -> list[str]:
    plain = folded(text)
    if plain.isascii():
        return words(plain)
    found: list[str] = []
    for said, run in parts(plain, signs=True):
        if not run:
            found.append(_spelled(said))
            continue
        if inside or len(run) > 1:
            found.extend(map(_spelled, bigrams(run)))
        if inside or len(run) == 1:
            found.extend(_spelled(one) + _ALONE for one in run)
    return found


@lru_cache(maxsize=1 << 16)
def _spelled(word: str) -> str:
    """The word, or its code where a database may not take its characters for letters, or its end for an English one."""
    if word.isascii() or (not word[-1].isascii() and all(unicodedata.ucd_3_2_0.category(c)[0] in "LN" for c in word)):
        return word
    # `q` at the end: no ending of English, so that the code is never stemmed.
    return f"u{word.encode('utf-8', 'replace').hex()}q"


def identifiers(text: str) -> list[str]:
    """What in a text is spelled like a name in code, each once, in order: `--no-verify`, `C++`, `ADR-0005`, `src/app.py`.

    Lower case; signs as characters of the private use area, so that each is one word for any
    tokenizer and no ordinary word equals one.
    """
    found: dict[str, None] = {}
    if not text.isascii():
        text = INVISIBLE.sub("", text)
    for chunk in dict.fromkeys(_CHUNK.findall(text)):
        # Nearly all chunks are plain words: they are told apart without a pattern.
        if not chunk.isalpha() or not (chunk.islower() or chunk.istitle() or chunk.isupper()):
            name = _identifier(chunk)
            if name:
                found.setdefault(name)
    return list(found)


@lru_cache(maxsize=1 << 14)
def _identifier(chunk: str) -> str:
    """The identifier that a run of characters is, or nothing."""
    bare = chunk.rstrip(".:!?*…")
    for name in dict.fromkeys((bare, bare.lstrip("*:!?…"))):
        if len(name) <= LONGEST_IDENTIFIER and (_OPTION.fullmatch(name) or any(form.fullmatch(name) for form in _SPELLED)):
            return "".join(c if c.isalnum() else chr(_MARK + ord(c) % 0x1800) for c in name.lower())
    return ""


@lru_cache(maxsize=1 << 14)
def shown(token: str) -> str:
    """A word or an identifier as people write it, in lower case."""
    word = token.removesuffix(_ALONE)
    if _CODE.fullmatch(word):
        try:
            said = bytes.fromhex(word[1:-1]).decode()
        except UnicodeDecodeError:
            return word  # a word that only looks like a code
        return said if _spelled(said) == word else word
    return "".join(chr(ord(c) - _MARK) if _MARK <= ord(c) < _MARK + 0x1800 else c for c in word)


class Question:
    """What a text asks for. A plain class: hooks of coding agents load this, and `dataclasses` takes longer to load.

    Attributes:
        words: worth searching for, one per stem, in order.
        others: its remaining words, for when nothing holds any of `words`.
        identifiers: in it, as `identifiers` gives them.
    """

    __slots__ = ("identifiers", "others", "words")

    def __init__(self, *, words: tuple[str, ...] = (), others: tuple[str, ...] = (), identifiers: tuple[str, ...] = ()) -> None:
        self.words, self.others, self.identifiers = words, others, identifiers

    def asking(self, words: tuple[str, ...]) -> Question:
        """The same question with other words to search for."""
        return Question(words=words, others=self.others, identifiers=self.identifiers)


def question(text: str, *, most: int = 64) -> Question:
    """The words and identifiers of a question, without the words that say nothing about its subject, or with them if it has no others.

    Args:
        text: in any script; nothing in it is syntax. Only its first `LONGEST_QUESTION` characters are read.
        most: cap on the words, and on the identifiers.
    """
    text = _start(text)
    every = list(dict.fromkeys(search_words(text)))
    telling = [word for word in every if word not in STOP_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit())]
    chosen = [word for word in telling if word not in REQUEST_WORDS] or telling or every
    kept = _one_per_stem(chosen, most)
    taken = frozenset(chosen)
    others = _one_per_stem((word for word in every if word not in taken), most)
    return Question(words=kept, others=others, identifiers=tuple(identifiers(text)[:most]))


def _start(text: str) -> str:
    """The part of a question that is read, cut between words where it has any."""
    if len(text) <= LONGEST_QUESTION:
        return text
    start = text[:LONGEST_QUESTION]
    whole, *rest = start.rsplit(maxsplit=1)
    return whole if rest and not text[LONGEST_QUESTION].isspace() else start


def _one_per_stem(chosen: Iterable[str], most: int) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for word in chosen:
        if len(found) >= most:
            break
        found.setdefault(stem(word), word)
    return tuple(found.values())
