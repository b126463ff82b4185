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
    ARTICLE_TELLS,
    CJK_ANTONYMS,
    CJK_BEGIN_A_WORD,
    CJK_DROPPED,
    CJK_NEGATIONS,
    COMPARISONS,
    CONDITIONS,
    DETERMINERS,
    DROPPED,
    FINITE,
    FUNCTION_WORDS,
    GERUND_AFTER,
    LETTER_NOUNS,
    NAMING,
    NEGATIONS,
    NUMBERS,
    PHRASES,
    QUANTIFIERS,
    SHORT_NAMES,
    SHORT_UNITS,
    STRESSED,
    SYNONYMS,
    THEN_IS_A_TIME,
    TICKED,
    UNITS,
    VERB_AFTER,
    VERBS,
)
from tenure.playbook.word_order import MOVING, Word, sorted_lists, split_off
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
_ENGLISH = frozenset("the and from with than when if not before after each every once are between".split())
_NOT_ENGLISH = frozenset(
    """und oder der die das ist zu zur zum für mit von den dem nicht ein eine einen le la les un une el los las de des du di il lo het een
    van en y e o que por para con et ou och og""".split()
)
_WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?)(%|[a-z]+)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_SENTENCE = re.compile(r"(?<=[。！？；，、])(?=[^\s])")

KNOWN_WORDS = 8_192
"""How many words are remembered as read before; texts repeat most of theirs."""

KNOWN_CHARACTERS = 32
"""Longest word that is remembered, so that what is remembered stays small whatever is read."""


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
        if not MOVING.isdisjoint(said):
            main, conditions = split_off(sorted_lists(sentence))
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
    # "1,500 EUR" may be one and a half; it is a thousand and more only where the words are English.
    if "," in plain_text and any(_GROUPED.fullmatch(one.word) for one in read) and _is_english({one.word for one in read}):
        read = [one._replace(word=one.word.replace(",", "")) if _GROUPED.fullmatch(one.word) else one for one in read]
    return read


def _is_english(said: set[str]) -> bool:
    return not _ENGLISH.isdisjoint(said) and _NOT_ENGLISH.isdisjoint(said)


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
        # An identifier says the same without its quotes; a word or figure does not: answer "no".
        value = quoted[2] or quoted[3]
        parts = [(f'"{value}"' if value.isalnum() else value, mark, False)]
    elif not word.isascii() and _CJK.match(word):
        for dropped in CJK_DROPPED:
            goes_on = {"请": CJK_BEGIN_A_WORD, "必须": ("之", "品", "的")}.get(dropped, ())
            if word.startswith(dropped) and not word[len(dropped) :].startswith(goes_on):
                word = word.removeprefix(dropped)
        parts = [(word, mark, False)] if word else []
    else:
        lowered = word.lower() if begins and (word[1:].islower() or (word == "A" and not mark)) else word
        parts = _parts(lowered, mark)
    read = [
        Written(*part, _word(_form(part[0], False), part[1], True), _gerund(part[0], part[1]))
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
_TURNING = frozenset(("a", "an", *STRESSED, *DROPPED, *UNITS, *PHRASES, *VERBS, *SYNONYMS, *SHORT_NAMES, *_DENYING, *CONDITIONS))
"""Plain words whose reading depends on more than whether a gerund may follow, or which turn how others are read."""


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
                if before == "§not":
                    formed = gerund
                elif gerund.acts or found[-1].acts:
                    formed = _acting(gerund)
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
            spoken_to = read[place + length - 1].word == "you" and length > 1
            found += [_filed(one, mark if number == len(said) - 1 else "", True) for number, one in enumerate(said)]
            if spoken_to and said:
                found[-1] = replace(found[-1], acts=True)
            before, broken = (said[-1] if said else before), (broken and not said) or bool(mark)
            place += length
            continue
        following = read[place + 1][0] if place + 1 < len(read) and not mark else ""
        place += 1
        stressed = word in STRESSED and (denied or conditional)
        denied = (denied or word in _DENYING) and not (mark and mark in _ENDS)
        conditional = (conditional or word in CONDITIONS) and not mark
        if plain and not stressed and _dropped(word, before, following, broken):
            if word in _ARTICLES:  # "The display" is no command, "before the building" no deed.
                found += _article(word, read, place)
                before, broken = "the", False
            continue
        if plain and before in GERUND_AFTER and before != "§not" and (found[-1].acts or _is_gerund(word)):  # "before you check"
            word = _put(word, before, following, broken, True, found, read[place : place + 8])
            found.append(_acting(_word(word, mark, True)))
            before, broken = word, bool(mark)
            continue
        if plain:
            word = _put(word, before, following, broken, before == "§not", found, read[place : place + 8])
        found.append((_filed if len(word) <= KNOWN_CHARACTERS else _word)(word, mark, plain))
        before, broken = word, bool(mark)
    return found


def _article(word: str, read: Sequence[Written], place: int) -> list[Word]:
    """What an article says that ends with its noun what is said: "delete a row" is not "delete the row"."""
    ends = word != "the" and (read[place].mark or place + 1 == len(read) or read[place + 1].word in CONDITIONS)
    return [_filed("a", "", True)] if ends else []


def _put(word: str, before: str, following: str, broken: bool, acts: bool, found: Sequence[Word], ahead: Sequence[Written]) -> str:
    """A plain word in the one form that it has in common with others that say the same there."""
    if before and before[0].isdigit() and word in UNITS and (word not in SHORT_UNITS or _ends_measure(following)):
        return UNITS[word]
    if _stands_for_itself(word, before, following, broken, found):
        return word
    verb = broken or (before in VERB_AFTER and (before not in ("and", "or") or following in DETERMINERS))
    return _form(VERBS[word] if verb and word in VERBS and _commands(word, broken, ahead) else word, acts)


_ENDS = ".!?;。！？；"
_ARTICLES = frozenset(("a", "an", "the"))
_NOUNS_OF_NAMES = LETTER_NOUNS | frozenset(
    "function tool command branch property attribute parameter argument method module package".split()
)


def _stands_for_itself(word: str, before: str, following: str, broken: bool, found: Sequence[Word]) -> bool:
    """Whether a word that could be put in another way may not: it is a name, or no command."""
    if word in ("never", "avoid"):  # "The tool never retries" states what is, "never retry" what to do.
        return not broken and before not in VERB_AFTER
    if word == "each" and following.startswith("other"):
        return True
    if word in SHORT_NAMES and (before in _TOOL_FOLLOWS or SYNONYMS.get(following, following) == "directory"):
        return True
    return word in SYNONYMS and word != "not" and (before in _NOUNS_OF_NAMES or any(one.said in NAMING for one in found[-4:]))


def _commands(word: str, begins: bool, rest: Sequence[Written]) -> bool:
    """Whether a word that can be a verb and can be put in another way is one here, and may be."""
    if word == "verify":
        return TICKED.isdisjoint([one.word for one in rest])
    if not begins or not rest or rest[0].word in DETERMINERS:
        return True
    # "Display cases are closed."
    return not _has_verb(rest[:4])


def _has_verb(rest: Sequence[Written]) -> bool:
    for one in rest:
        if one.word in FINITE:
            return True
        if one.mark or one.word in CONDITIONS:
            return False
    return False


def _ends_measure(following: str) -> bool:
    return not following.isalpha() or following in FUNCTION_WORDS | CONDITIONS | _AFTER_MEASURE


_AFTER_MEASURE = frozenset(
    "after before between and or later ago per without then at first long apart each every more less than not".split()
)
_TOOL_FOLLOWS = frozenset(("use", "run", "call", "execute", "type"))


def _phrase(read: Sequence[Written], place: int, broken: bool) -> tuple[int, tuple[str, ...]]:
    phrases = PHRASES.get(read[place][0])
    if phrases is None:
        return 0, ()
    following = read[place + 1][0] if place + 1 < len(read) else ""
    for phrase, said in phrases:
        if len(phrase) > 1 and phrase[1] != following:
            continue
        if phrase[0] == "you" and not broken:  # "pay what you must pay"
            continue
        # "Check that row" is not "check the row".
        if phrase in _THAT and not _has_verb(read[place + 2 :]):
            continue
        # "Tools do not retry" states what is, "do not retry" what to do.
        if phrase == _DO_NOT and not broken and (place == 0 or read[place - 1].word not in VERB_AFTER):
            continue
        end = place + len(phrase)
        if tuple(one.word for one in read[place:end]) == phrase and not any(one.mark for one in read[place : end - 1]):
            return len(phrase), said
    return 0, ()


_DO_NOT = ("do", "not")
_THAT = frozenset((("check", "that"), ("verify", "that")))


def _dropped(word: str, before: str, following: str, broken: bool) -> bool:
    if word in _ARTICLES and (following in ARTICLE_TELLS or following[:1].isdigit()):
        return False
    if word in ("a", "an"):
        # An article, not a name or a word of another language: a word follows that can have one.
        noun = len(following) > 2 and following.isalpha() and following.islower() and following not in FUNCTION_WORDS
        return noun and before not in LETTER_NOUNS and (following[0] in "aeiouh" if word == "an" else following[0] not in "aei")
    if word in STRESSED or word == "kindly":  # "The tool always retries" states more than "the tool retries".
        return (broken or before in VERB_AFTER) and bool(following)
    return word in DROPPED and (bool(following) or broken) and not (word == "then" and before in THEN_IS_A_TIME)  # "say please"


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


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and word not in _NO_GERUNDS


def _gerund(word: str, mark: str) -> Word:
    """What a word says behind one that a gerund may follow."""
    said = _word(_form(word, True), mark, True)
    return replace(said, acts=True) if _is_gerund(word) else said


_NO_GERUNDS = frozenset("morning evening spring thing nothing anything everything something king ring string meeting building".split())


@lru_cache(maxsize=KNOWN_WORDS // 4)
def _acting(said: Word) -> Word:
    """A verb in a condition, apart from a noun of its form: "when listing songs", "when list is empty"."""
    return said if said.fact or said.said in CONDITIONS else replace(said, said=intern(f"{said.said}~"), acts=True)


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
