"""The normal form of a statement: what it says, apart from how it is put; and the facts in it.

Two texts with the same normal form differ only in what changes nothing: articles and courtesies,
"make sure to" before an imperative, a gerund after "before", a condition moved to the other
end of a plain sentence, and words of a short list of exact synonyms. Everything else stays, in its order:
figures, units, names, quoted values, negations, comparisons, conditions. The lists are short on
purpose: a missed merge costs tokens, a wrong one costs knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from tenure.playbook.lessons import normalised
from tenure.playbook.word_lists import (
    ANTONYMS,
    CJK_ANTONYMS,
    CJK_BEGIN_A_WORD,
    CJK_DROPPED,
    CJK_NEGATIONS,
    COMPARISONS,
    CONDITIONS,
    DETERMINERS,
    DROPPED,
    FUNCTION_WORDS,
    GERUND_AFTER,
    LETTER_NOUNS,
    LIST_OPENERS,
    MAY_HOLD_IT,
    NEGATIONS,
    NUMBERS,
    PHRASES,
    QUANTIFIERS,
    SHORT_NAMES,
    STRESSED,
    SYNONYMS,
    UNITS,
    VERB_AFTER,
    VERBS,
)
from tenure.ranking import words

FACTS = ("number", "name", "negation", "comparison", "opposite", "quantity", "condition")
"""What must agree: figures with their units; names and quoted values; negations; comparisons and bounds; words that
have an opposite; how many; under what conditions."""

# One mark that ends a word or sentence. After a single letter or a figure `!` is a sign, not a mark.
_END_MARK = re.compile(r"(?:(?<=[^\W\d_]{2})[!！]|(?<=[\w)\]}\"'`”’»%])[.,;:。，；：、?？])$")
_MARKS = frozenset("!！.,;:。，；：、?？")
_QUOTED = re.compile(r"""([`'"])([^\s`'"]+)\1|[“«‘]([^\s“”«»‘’]+)[”»’]""")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "！，；：？。"}
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?)(%|[a-z]+)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_SENTENCE = re.compile(r"(?<=[。！？；，、])(?=[^\s])")

KNOWN_WORDS = 8_192
"""How many words are remembered as read before; texts repeat most of theirs."""

KNOWN_CHARACTERS = 32
"""Longest word that is remembered, so that what is remembered stays small whatever is read."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a normal form.

    Attributes:
        said: the word as it counts.
        fact: what kind of fact it is (see `FACTS`); empty for an ordinary word.
        mark: the mark that followed it, or an empty text.
        ordinary: whether it says what the statement is about: no fact, no function word, and written with spaces around.
        looked_into: whether there is more to it than itself: it is a fact, or written without spaces around.
    """

    said: str
    fact: str = ""
    mark: str = ""
    ordinary: bool = False
    looked_into: bool = False


class Written(NamedTuple):
    """One word as it is written.

    Attributes:
        word: the word.
        mark: the mark after it, or an empty text.
        plain: whether its form may change.
        formed: what it says wherever it stands, unless `gerund` holds; none where that depends on what is around it.
        gerund: what it says where a gerund and its verb mean the same.
    """

    word: str
    mark: str
    plain: bool
    formed: Word | None = None
    gerund: Word | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """The normal form of one text.

    Attributes:
        sentences: its sentences in order, each as its words; conditions stand after what they limit.
        skeleton: its ordinary words, each once, sorted; a word with an opposite stands as its pair.
        facts: what must agree, by kind, in order.

    Tuples throughout and shared words, because refine holds one of these for every lesson.
    """

    sentences: tuple[tuple[str, ...], ...]
    skeleton: tuple[str, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def key(self) -> tuple[str, ...]:
        """All words in order; equal for two texts that say the same."""
        if len(self.sentences) == 1:
            return self.sentences[0]
        return tuple(word for sentence in self.sentences for word in sentence)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """The facts of a kind, in order."""
        return next((said for one, said in self.facts if one == kind), ())


@lru_cache(maxsize=4096)
def wording(text: str) -> Wording:
    """The normal form of a text, in any script."""
    sentences: list[tuple[str, ...]] = []
    skeleton: set[str] = set()
    facts: dict[str, list[str]] = {}
    for sentence in _sentences(text):
        said = [word.said for word in sentence]
        if not _MOVING.isdisjoint(said):
            main, conditions = _split(_sorted_lists(sentence))
            said = [word.said for word in main] + [part for clause in conditions for part in ("§if", *clause)]
            for clause in conditions:
                facts.setdefault("condition", []).append(" ".join(clause))
        sentences.append(tuple(said))
        skeleton.update([word.said for word in sentence if word.ordinary])
        for word in [word for word in sentence if word.looked_into]:
            _file(word, skeleton, facts)
    return Wording(
        tuple(one for one in sentences if one),
        tuple(sorted(skeleton)),
        tuple((kind, tuple(facts[kind])) for kind in sorted(facts)),
    )


def _file(word: Word, skeleton: set[str], facts: dict[str, list[str]]) -> None:
    if word.fact:
        facts.setdefault(word.fact, []).append(word.said)
    if word.fact == "opposite":
        skeleton.add(ANTONYMS[word.said][0])
    elif not word.fact:
        skeleton.update(map(intern, _cjk(word.said, facts)))


def _cjk(run: str, facts: dict[str, list[str]]) -> list[str]:
    """The pairs of characters of a run without spaces, its facts filed."""
    for number in re.findall(r"\d+(?:\.\d+)?", run):
        facts.setdefault("number", []).append(number)
    for said, (pair, _) in CJK_ANTONYMS.items():
        if said in run:
            facts.setdefault("opposite", []).append(said)
            run = run.replace(said, pair)
    for sign in CJK_NEGATIONS:
        for _ in range(run.count(sign)):
            facts.setdefault("negation", []).append(sign)
        run = run.replace(sign, "")
    return words(re.sub(r"\d+", " ", run))


# -- reading words -----------------------------------------------------------------------------------


def _sentences(text: str) -> list[list[Word]]:
    """The words of each sentence, as they count."""
    found = _rewritten(_read(text))
    ends = [place for place, word in enumerate(found, 1) if word.mark and word.mark in ".!?;。！？；"]
    return [part for start, end in zip([0, *ends], [*ends, len(found)], strict=True) if (part := found[start:end])]


def _read(text: str) -> list[Written]:
    """Words with the mark after each."""
    plain_text = normalised(text) if text.isascii() else _CJK_SENTENCE.sub(" ", normalised(text.translate(_FULL_WIDTH)))
    read: list[Written] = []
    begins = True
    for written in plain_text.split(" "):
        parts, begins = (_read_short if len(written) <= KNOWN_CHARACTERS else _read_word)(written, begins)
        if not parts and read and written[-1] in "?？":  # nothing but a courtesy, so that what stands before it asks
            read[-1:] = _asked(read[-1:], written[-1])
        read += parts
    return read


def _read_word(written: str, begins: bool) -> tuple[Sequence[Written], bool]:
    """What is written between two spaces, and whether a sentence begins after it.

    Args:
        written: the characters.
        begins: whether a sentence begins with them.
    """
    match = _END_MARK.search(written) if written[-1:] in _MARKS else None
    word, mark = (written[: match.start()], match[0]) if match else (written, "")
    quoted = _QUOTED.fullmatch(word) if word and not word.isalnum() else None
    parts: list[tuple[str, str, bool]]
    if quoted:
        parts = [(quoted[2] or quoted[3], mark, False)]
    elif not word.isascii() and _CJK.match(word):
        for dropped in CJK_DROPPED:
            if word.startswith(dropped) and not (dropped == "请" and word[1:2] in CJK_BEGIN_A_WORD):
                word = word.removeprefix(dropped)
        parts = [(word, mark, False)] if word else []
    else:
        lowered = word.lower() if begins and (word[1:].islower() or (word == "A" and not mark)) else word
        parts = _parts(lowered, mark)
    read = [
        Written(*part, *(_word(_form(part[0], gerund), part[1], True) for gerund in (False, True)))
        if part[2] and part[0] not in _TURNING
        else Written(*part)
        for part in parts
    ]
    # After an abbreviation such as "e.g." the sentence goes on.
    return _asked(read, mark) if mark in ("?", "？") else read, mark != "" and mark in ".!?:。！？：" and "." not in word


_read_short = lru_cache(maxsize=KNOWN_WORDS)(_read_word)


def _asked(read: list[Written], mark: str) -> list[Written]:
    """Words that end in a question mark: a question is no statement."""
    if not read:
        return []
    last = read[-1]
    formed, gerund = (replace(one, mark="") if one is not None else None for one in last[3:])
    return [*read[:-1], Written(last.word, "", last.plain, formed, gerund), Written("§?", mark, False)]


def _parts(word: str, mark: str) -> list[tuple[str, str, bool]]:
    if word.isalpha():
        return (
            [(NUMBERS[word], mark, False)]
            if word in NUMBERS
            else [(word, mark, word.islower())]
            if word != "cannot"
            else [("can", "", True), ("not", mark, True)]
        )
    if _GROUPED.fullmatch(word):
        return [(word.replace(",", ""), mark, False)]
    unit = _WITH_UNIT.fullmatch(word)
    if unit and unit[2] in UNITS:
        return [(unit[1], "", False), (UNITS[unit[2]], mark, True)]
    straight = word.replace("’", "'")
    if straight == "can't":
        return [("can", "", True), ("not", mark, True)]
    if straight == "won't":
        return [("will", "", True), ("not", mark, True)]
    if straight.endswith("n't"):
        return [(straight[:-3], "", True), ("not", mark, True)]
    return [(word, mark, False)]


_DENYING = {*NEGATIONS, *(word for word, said in SYNONYMS.items() if said == "§not")}
_TURNING = frozenset(("a", "an", *STRESSED, *DROPPED, *UNITS, *PHRASES, *VERBS, *SHORT_NAMES, *_DENYING, *CONDITIONS))
"""Plain words whose reading depends on more than whether a gerund may follow, or which turn how others are read."""

_MOVING = CONDITIONS | LIST_OPENERS
"""Words that begin what may stand in another order."""


def _rewritten(read: Sequence[Written]) -> list[Word]:
    """Words with phrases replaced, courtesies dropped, and plain words brought to one form."""
    found: list[Word] = []
    place, before, broken = 0, "", True
    # Whether a word that stresses says something: after a negation, within a condition.
    denied = conditional = False
    while place < len(read):
        word, mark, plain, formed, gerund = read[place]
        if formed is not None:  # by far the most
            place += 1
            if gerund is not None and before in GERUND_AFTER:
                formed = gerund
            found.append(formed)
            before, broken = formed.said, bool(mark)
            if mark:
                denied, conditional = denied and mark not in _ENDS, False
            continue
        length, said = _phrase(read, place, broken)
        if length:
            mark = read[place + length - 1][1]
            denied = (denied or "§not" in said) and not (mark and mark in _ENDS)
            conditional = (conditional or bool(CONDITIONS.intersection(said))) and not mark
            found += [_filed(one, mark if number == len(said) - 1 else "", True) for number, one in enumerate(said)]
            before, broken = (said[-1] if said else before), (broken and not said) or bool(mark)
            place += length
            continue
        following = read[place + 1][0] if place + 1 < len(read) and not mark else ""
        place += 1
        stressed = word in STRESSED and (denied or conditional)
        denied = (denied or word in _DENYING) and not (mark and mark in _ENDS)
        conditional = (conditional or word in CONDITIONS) and not mark
        if plain and not stressed and _dropped(word, before, following, broken):
            continue
        if plain and before and before[0].isdigit() and word in UNITS:
            word = UNITS[word]
        elif plain:
            verb = broken or (before in VERB_AFTER and (before not in ("and", "or") or following in DETERMINERS))
            name = word in SHORT_NAMES and (before in _TOOL_FOLLOWS or SYNONYMS.get(following, following) == "directory")
            word = word if name else _form(VERBS.get(word, word) if verb else word, before in GERUND_AFTER)
        found.append((_filed if len(word) <= KNOWN_CHARACTERS else _word)(word, mark, plain))
        before, broken = word, bool(mark)
    return found


_ENDS = ".!?;。！？；"
_TOOL_FOLLOWS = frozenset(("use", "run", "call", "execute", "type"))


def _phrase(read: Sequence[Written], place: int, broken: bool) -> tuple[int, tuple[str, ...]]:
    phrases = PHRASES.get(read[place][0])
    if phrases is None:
        return 0, ()
    following = read[place + 1][0] if place + 1 < len(read) else ""
    for phrase, said in phrases:
        if len(phrase) > 1 and phrase[1] != following:
            continue
        if phrase[0] == "you" and not said and not broken:  # "pay what you must pay"
            continue
        end = place + len(phrase)
        if tuple(one.word for one in read[place:end]) == phrase and not any(one.mark for one in read[place : end - 1]):
            return len(phrase), said
    return 0, ()


def _dropped(word: str, before: str, following: str, broken: bool) -> bool:
    if word in ("a", "an"):
        # An article, not a name or a word of another language: a word follows that can have one.
        noun = len(following) > 2 and following.isalpha() and following.islower() and following not in FUNCTION_WORDS
        return noun and before not in LETTER_NOUNS and (following[0] in "aeiouh" if word == "an" else following[0] not in "aei")
    if word in DROPPED:
        return bool(following) or broken  # "say please"
    return word == "always"


def _form(word: str, gerund: bool) -> str:
    word = SYNONYMS.get(word, word)
    if not gerund or word in FUNCTION_WORDS:
        return word
    stem = word[:-3]
    root = stem if word.endswith("ing") and len(word) > 4 and _VOWEL.search(stem) else _root(word)
    # "After use" is not "after us".
    return f"{root}~" if root in FUNCTION_WORDS and root != word else SYNONYMS.get(root, root)


_VOWEL = re.compile("[aeiouy]")
_DOUBLES = re.compile("[^aeiou]*[aeiou][^aeiouwxy]")


def _root(word: str) -> str:
    """What a verb has before the end of its gerund: `us` of use, `stopp` of stop, so that tape and tap stay apart."""
    if _DOUBLES.fullmatch(word):
        return word + word[-1]
    return word.removesuffix("e") if len(word) > 2 else word


def _word(word: str, mark: str, plain: bool) -> Word:
    """A word with the kind of fact that it is."""
    fact = _fact(word, plain)
    run = not fact and bool(_CJK.search(word))
    return Word(intern(word), fact, mark, not fact and not run and word not in FUNCTION_WORDS, bool(fact) or run)


_filed = lru_cache(maxsize=KNOWN_WORDS // 4)(_word)

_UNIT_FORMS = frozenset(UNITS.values())
_DIGIT = re.compile(r"\d")


def _fact(word: str, plain: bool) -> str:
    if _DIGIT.search(word) or word in _UNIT_FORMS:
        fact = "number"
    elif word in NEGATIONS:
        fact = "negation"
    elif word in COMPARISONS:
        fact = "comparison"
    elif word in ANTONYMS:
        fact = "opposite"
    elif word in QUANTIFIERS:
        fact = "quantity"
    elif not plain and not _CJK.search(word):
        fact = "name"
    else:
        fact = ""
    return fact


# -- what may stand in another order -----------------------------------------------------------------


def _split(sentence: Sequence[Word]) -> tuple[list[Word], list[tuple[str, ...]]]:
    """A sentence without its condition and this, at whichever end it stands; with several, their places count.

    So does the place where the condition may belong to a part of the sentence: then it stays what it was.
    """
    main, front = list(sentence), tuple[str, ...]()
    if main and main[0].said in CONDITIONS:
        end = next((place for place, word in enumerate(main) if word.mark in (",", "，")), None)
        if end is not None and end + 1 < len(main):
            front = tuple(word.said for word in main[: end + 1])
            main = main[end + 1 :]
    start = next(
        (place for place in range(1, len(main) - 1) if main[place].said in CONDITIONS and main[place - 1].said not in _BINDS_CONDITION),
        None,
    )
    back = tuple(word.said for word in main[start:]) if start is not None else ()
    main = main[:start]
    if front and back:
        return main, [front, ("§then", *back)]
    movable = not any(word.said in MAY_HOLD_IT for word in main) and not main[-1:][0].said.endswith("ed") if main else True
    if back and any(said in CONDITIONS for said in back[1:]):
        movable = False
    clause = front or back
    return main, [clause if movable or back else ("§first", *clause)] if clause else []


_BINDS_CONDITION = frozenset(("only", "even", "except", "§not", "and", "or", "but", "than", "just", "right", "long", "soon"))


def _sorted_lists(sentence: list[Word]) -> list[Word]:
    """Single words listed after "including" and its like, in one order."""
    done = list(sentence)
    for start, opener in enumerate(sentence):
        if opener.said not in LIST_OPENERS:
            continue
        places: list[int] = []
        place = start + 1
        while place < len(sentence):
            places.append(place)
            following = sentence[place + 1].said if place + 1 < len(sentence) else ""
            if following in ("and", "or") and place + 2 < len(sentence):
                # "Including tax and net total": its last word belongs to both or to one.
                ends = opener.said in ("both", "either") or place + 2 == len(sentence) - 1 or sentence[place + 2].mark
                places = [*places, place + 2] if ends else []
                break
            if sentence[place].mark not in (",", "、"):
                places = []
                break
            place += 1
        if len(places) > 1:
            for place, word in zip(places, sorted((sentence[one] for one in places), key=lambda word: word.said), strict=True):
                done[place] = Word(word.said, word.fact, sentence[place].mark)
    return done
