"""The normal form of a statement: what it says, apart from how it is put; and the facts in it.

Two texts with the same normal form differ only in what changes nothing: articles and courtesies,
"make sure to" before an imperative, a plural, a gerund after "before", a condition moved to the other
end of its sentence, and words of a short list of exact synonyms. Everything else stays, in its order:
figures, units, names, quoted values, negations, comparisons, conditions. The lists are short on
purpose: a missed merge costs tokens, a wrong one costs knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import intern

from tenure.playbook.lessons import normalised
from tenure.playbook.word_lists import (
    ANTONYMS,
    CJK_ANTONYMS,
    CJK_DROPPED,
    CJK_NEGATIONS,
    COMPARISONS,
    CONDITIONS,
    DROPPED,
    FUNCTION_WORDS,
    GERUND_AFTER,
    LETTER_NOUNS,
    LIST_OPENERS,
    NEGATIONS,
    NO_PLURALS,
    NUMBERS,
    PHRASES,
    QUANTIFIERS,
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
_TURNING = frozenset(("a", "an", "always", *DROPPED, *UNITS, *PHRASES))
"""Words whose reading depends on more than the word before them."""

_MOVING = frozenset((*CONDITIONS, *LIST_OPENERS))
"""Words that begin what may stand in another order."""

KNOWN_WORDS = 4_096
"""How many words are remembered as read before."""

KNOWN_CHARACTERS = 32
"""Longest word that is remembered, so that what is remembered stays small whatever is read."""

_CJK_SENTENCE = re.compile(r"(?<=[。！？；，、])(?=[^\s])")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a normal form.

    Attributes:
        said: the word as it counts.
        fact: what kind of fact it is (see `FACTS`); empty for an ordinary word.
        mark: the mark that followed it, or an empty text.
    """

    said: str
    fact: str = ""
    mark: str = ""


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
        for word in sentence:
            if word.fact or not word.said.isascii():
                _file(word, skeleton, facts)
            elif word.said not in FUNCTION_WORDS:
                skeleton.add(word.said)
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
    elif word.fact:
        pass
    elif not word.said.isascii() and _CJK.search(word.said):
        skeleton.update(map(intern, _cjk(word.said, facts)))
    elif word.said not in FUNCTION_WORDS:
        skeleton.add(word.said)


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
    starts = [0, *ends]
    return [part for start, end in zip(starts, [*ends, len(found)], strict=True) if (part := found[start:end])]


def _read(text: str) -> list[tuple[str, str, bool]]:
    """Words with the mark after each, and whether each is plain, so that its form may change."""
    plain_text = normalised(text) if text.isascii() else _CJK_SENTENCE.sub(" ", normalised(text.translate(_FULL_WIDTH)))
    read: list[tuple[str, str, bool]] = []
    begins = True
    for written in plain_text.split(" "):
        parts, begins = (_read_short if len(written) <= KNOWN_CHARACTERS else _read_word)(written, begins)
        read += parts
    return read


def _read_word(written: str, begins: bool) -> tuple[Sequence[tuple[str, str, bool]], bool]:
    """What is written between two spaces, and whether a sentence begins after it.

    Args:
        written: the characters.
        begins: whether a sentence begins with them.
    """
    match = _END_MARK.search(written) if written[-1:] in _MARKS else None
    word, mark = (written[: match.start()], match[0]) if match else (written, "")
    quoted = _QUOTED.fullmatch(word) if word and not word.isalnum() else None
    parts: Sequence[tuple[str, str, bool]]
    if quoted:
        parts = [(quoted[2] or quoted[3], mark, False)]
    elif not word.isascii() and _CJK.match(word):
        for dropped in CJK_DROPPED:
            word = word.removeprefix(dropped)
        parts = [(word, mark, False)] if word else []
    else:
        lowered = word.lower() if begins and (word[1:].islower() or (word == "A" and not mark)) else word
        parts = _parts(lowered, mark)
    # After an abbreviation such as "e.g." the sentence goes on.
    return parts, mark != "" and mark in ".!?:。！？：" and "." not in word


_read_short = lru_cache(maxsize=KNOWN_WORDS)(_read_word)


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


def _rewritten(read: Sequence[tuple[str, str, bool]]) -> list[Word]:
    """Words with phrases replaced, courtesies dropped, and plain words brought to one form."""
    found: list[Word] = []
    place, before, broken = 0, "", True
    while place < len(read):
        word, mark, plain = read[place]
        if plain and word not in _TURNING:  # by far the most
            formed = _formed(word, mark, broken or before in VERB_AFTER, before in GERUND_AFTER)
            found.append(formed)
            place, before, broken = place + 1, formed.said, bool(mark)
            continue
        length, said = _phrase(read, place) if word in PHRASES else (0, ())
        if length:
            mark = read[place + length - 1][1]
            for number, one in enumerate(said):
                found.append(_filed(one, mark if number == len(said) - 1 else "", True))
            before, broken = (said[-1] if said else before), (broken and not said) or bool(mark)
            place += length
            continue
        place += 1
        following = read[place][0] if place < len(read) and not mark else ""
        if plain and _dropped(word, before, following):
            continue
        if plain and word in UNITS and before and before[0].isdigit():
            formed = _filed(UNITS[word], mark, True)
        elif plain:
            formed = _formed(word, mark, broken or before in VERB_AFTER, before in GERUND_AFTER)
        else:
            formed = _filed(word, mark, False)
        found.append(formed)
        before, broken = formed.said, bool(mark)
    return found


def _phrase(read: Sequence[tuple[str, str, bool]], place: int) -> tuple[int, tuple[str, ...]]:
    following = read[place + 1][0] if place + 1 < len(read) else ""
    for phrase, said in PHRASES[read[place][0]]:
        end = place + len(phrase)
        if len(phrase) > 1 and phrase[1] != following:
            continue
        if tuple(word for word, _, _ in read[place:end]) == phrase and not any(mark for _, mark, _ in read[place : end - 1]):
            return len(phrase), said
    return 0, ()


def _dropped(word: str, before: str, following: str) -> bool:
    if word in ("a", "an"):
        # An article, not a name: a word follows that can have one.
        return len(following) > 2 and following.isalpha() and following not in FUNCTION_WORDS and before not in LETTER_NOUNS
    if word == "always":
        return before != "§not"
    return word in DROPPED


@lru_cache(maxsize=2 * KNOWN_WORDS)
def _formed(word: str, mark: str, verb: bool, gerund: bool) -> Word:
    """A plain word in the one form that counts.

    Args:
        word, mark: as read.
        verb: whether it stands where a verb can.
        gerund: whether it stands where a gerund and its verb mean the same.
    """
    return _word(_form(VERBS.get(word, word) if verb else word, gerund), mark, True)


def _form(word: str, gerund: bool) -> str:
    word = SYNONYMS.get(word, word)
    if word.endswith("ing") and len(word) > 5 and gerund:
        word = _root(word[:-3])
    elif word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")) and word not in NO_PLURALS:
        if word.endswith("ies") and len(word) > 4:
            word = f"{word[:-3]}y"
        else:
            word = word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zzes")) else word[:-1]
    elif gerund:
        word = _root(word)
    return SYNONYMS.get(word, word)


def _root(word: str) -> str:
    """What a verb and its gerund share: `us` of use and using, `stop` of stop and stopping."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word.removesuffix("e") if len(word) > 2 else word


def _word(word: str, mark: str, plain: bool) -> Word:
    """A word with the kind of fact that it is."""
    return Word(intern(word), _fact(word, plain), mark)


_filed = lru_cache(maxsize=KNOWN_WORDS)(_word)

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
    """A sentence without its conditions, and these, sorted: it does not matter at which end they stand."""
    main, clauses = list(sentence), []
    if main and main[0].said in CONDITIONS:
        end = next((place for place, word in enumerate(main) if word.mark in (",", "，")), None)
        if end is not None and end + 1 < len(main):
            clauses.append(tuple(word.said for word in main[: end + 1]))
            main = main[end + 1 :]
    while True:
        start = len(main) - 2
        while start > 0 and (main[start].said not in CONDITIONS or main[start - 1].said in _BINDS_CONDITION):
            start -= 1
        if start < 1:
            return main, sorted(clauses)
        clauses.append(tuple(word.said for word in main[start:]))
        main = main[:start]


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
                places.append(place + 2)
                break
            if sentence[place].mark not in (",", "、"):
                places = []
                break
            place += 1
        if len(places) > 1:
            for place, word in zip(places, sorted((sentence[one] for one in places), key=lambda word: word.said), strict=True):
                done[place] = Word(word.said, word.fact, sentence[place].mark)
    return done
