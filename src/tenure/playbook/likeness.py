"""Which lessons say the same, and which are alike in wording but differ in a fact.

Likeness of words alone is no ground for a merge: "at most 3 times" and "at most 5 times" share nearly
all of theirs. Two lessons are the same only if their normal forms are (see `wording`), with equal
figures, names, negations, comparisons and conditions, or if one holds every sentence of the other
and adds only what that is good for, in one of a few closed forms. Two that share nearly all ordinary words and differ in a fact are a
conflict, for a person to look at.

No pair is looked at that shares no rare word: equal forms meet by their key, alike ones by prefix
filtering (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from tenure.playbook.lessons import Lesson, normalised
from tenure.playbook.word_lists import ANTONYMS, CJK_ANTONYMS
from tenure.playbook.wording import Wording, wording

ALIKE = 0.75
"""Share of ordinary words (of all that either has) from which two lessons count as alike in wording."""

COMMON = 300
"""A word in more lessons than this says nothing about which of them are alike."""

FAMILY = 4
"""More lessons than this that differ only in facts are listed as one family, not pair by pair."""

SAME_TEXT = "the same text"
"""Why two lessons with equal texts are one."""

MOST_CONFLICTS = 500
"""Conflicts listed at once; a person works through no more."""

SHOWN_OF_FAMILY = 20

_NAMES = {
    "number": "a figure or unit",
    "name": "a name or quoted value",
    "negation": "a negation",
    "comparison": "a bound",
    "opposite": "a word and its opposite",
    "quantity": "how many or how strictly",
    "condition": "the condition",
}
_GOOD = "right|correct|consistent|short|clear|readable|stable|reliable|reproducible"
_PURPOSES = re.compile(
    "this (?:"
    "(?:prevents|avoids) (?:errors|mistakes|failures|duplicates|confusion|(?:wrong|incorrect|duplicate|failed) [a-z]+)"
    "|helps (?:readers|reviewers|users|customers|auditors|support|debugging|maintenance)"
    f"|(?:keeps|makes) [a-z]+ (?:{_GOOD})"
    f"|(?:ensures|guarantees) (?:{_GOOD}) [a-z]+"
    "|saves (?:time|tokens|money|effort|calls)"
    ")"
)

Relation = Literal["same", "conflict", "unlike"]

SourceTasks = Callable[[Collection[str]], Mapping[str, str]]
"""From ids of runs to what makes their tasks the same; unknown runs are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How two lessons stand to each other.

    Attributes:
        relation: `same` (may be merged), `conflict` (alike in wording, different in a fact) or `unlike`.
        reason: why, in words for a person; empty if unlike.
        keeps: id of the lesson whose text has everything the other says; empty if both have.
    """

    relation: Relation
    reason: str = ""
    keeps: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Lessons that are alike in wording and differ in a fact. Never merged; a person decides which holds.

    Attributes:
        ids: two lessons, or more where a family differs in nothing else.
        reason: in what they differ.
    """

    ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Read:
    """A lesson with the normal forms of its texts."""

    lesson: Lesson
    text: Wording
    applies_when: Wording
    avoid: Wording

    @property
    def setting(self) -> tuple[object, ...]:
        """What has to be equal around the text itself."""
        one = self.lesson
        around = (_said_in(self.applies_when, one.applies_when), _said_in(self.avoid, one.avoid))
        return (one.kind == "prohibition", one.about, tuple(one.tool_order), *around)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two lessons that say the same."""
        return (_said_in(self.text, self.lesson.text), self.setting)

    @property
    def skeleton(self) -> tuple[str, ...]:
        """The ordinary words of text and conditions, each once, sorted."""
        if not self.applies_when.skeleton:
            return self.text.skeleton
        return tuple(sorted({*self.text.skeleton, *self.applies_when.skeleton}))

    def facts(self, kind: str) -> tuple[str, ...]:
        """The facts of a kind, in text, conditions and what to avoid."""
        found = tuple(said for part in (self.text, self.applies_when, self.avoid) for said in part.of_kind(kind))
        if kind == "condition" and self.applies_when.sentences:
            found = (*found, " ".join(self.applies_when.key))
        return (*found, *self.lesson.tool_order) if kind == "name" else found


def _said_in(form: Wording, text: str) -> object:
    # A text of nothing but courtesies says itself, not nothing.
    return form.key or (normalised(text) if text else "")


def read(lesson: Lesson) -> Read:
    """A lesson with the normal forms of its texts."""
    return Read(lesson, wording(lesson.text), wording(lesson.applies_when), wording(lesson.avoid))


def compare(one: Lesson, other: Lesson, *, tasks: SourceTasks | None = None) -> Likeness:
    """How two lessons stand to each other.

    Args:
        one, other: the lessons; the order does not matter.
        tasks: what makes the tasks of runs the same; lessons in other words that come from different
            tasks stay apart. None does not look at them.
    """
    return compare_read(read(one), read(other), tasks)


def compare_read(a: Read, b: Read, tasks: SourceTasks | None = None) -> Likeness:
    """`compare` for lessons whose normal forms are known."""
    if a.setting == b.setting:
        if normalised(a.lesson.text) == normalised(b.lesson.text):
            return Likeness(relation="same", reason=SAME_TEXT)
        said = _same_statement(a, b)
        if said.relation == "same" and (tasks is None or share_a_task(a.lesson, b.lesson, tasks)):
            return said
    return Likeness(relation="conflict", reason=reason) if alike(a, b) and (reason := difference(a, b)) else Likeness(relation="unlike")


def _same_statement(a: Read, b: Read) -> Likeness:
    if a.key == b.key:
        return Likeness(relation="same", reason="the same statement in other words: every figure, name, sign and condition agrees")
    longer, shorter = (a, b) if len(a.text.key) > len(b.text.key) else (b, a)
    added = adds_only(longer.text, shorter.text)
    if added:
        said = " ".join(added[0])
        reason = f"it stands word for word in the longer lesson, which only adds: {said[:80]}{'…' if len(said) > 80 else ''}"
        return Likeness(relation="same", reason=reason, keeps=longer.lesson.id)
    return Likeness(relation="unlike")


def adds_only(longer: Wording, shorter: Wording) -> Sequence[tuple[str, ...]]:
    """The sentences a text has beyond another's, if it has all of the other's in their order and those it adds state no fact.

    Returns:
        Nothing if it lacks one, or if one that it adds could limit or turn round what the other says.
    """
    rest: list[tuple[str, ...]] = []
    wanted = list(shorter.sentences)
    for sentence in longer.sentences:
        if wanted and sentence == wanted[0]:
            wanted.pop(0)
        else:
            rest.append(sentence)
    if wanted or not shorter.sentences or not rest:
        return ()
    # "Do not skip tests. This saves time.": what is denied, or the denial?
    if longer.facts != shorter.facts or shorter.of_kind("negation"):
        return ()
    return rest if all(map(_explains, rest)) else ()


def _explains(sentence: tuple[str, ...]) -> bool:
    """Whether a sentence says nothing but what the one before it is good for, in one of a few closed forms.

    What any other sentence does to the one before is not known: "Caching is forbidden." and "Pages are small." have one form.
    """
    return bool(_PURPOSES.fullmatch(" ".join(sentence)))


def share_a_task(one: Lesson, other: Lesson, tasks: SourceTasks) -> bool:
    """Whether two lessons come from the same task, as far as is known."""
    runs = [{place.run for place in lesson.evidence} for lesson in (one, other)]
    if not all(runs):
        return True
    known = tasks(runs[0] | runs[1])
    first, second = ({known[run] for run in of if run in known} for of in runs)
    return not first or not second or bool(first & second)


def alike(a: Read, b: Read) -> bool:
    """Whether two lessons share nearly all of their ordinary words."""
    one, other = set(a.skeleton), set(b.skeleton)
    return bool(one) and (one == other or (len(one & other) >= 2 and len(one & other) >= ALIKE * len(one | other)))


def difference(a: Read, b: Read) -> str:
    """The facts in which two lessons differ, in words for a person; empty if in none.

    Lessons about two different errors of tools differ by nature: that is no conflict.
    """
    if a.lesson.about and b.lesson.about and a.lesson.about != b.lesson.about:
        return ""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for kind in _NAMES:
        one, other = Counter(a.facts(kind)), Counter(b.facts(kind))
        if kind == "opposite":
            pair = _opposed(one - other, other - one)
            if pair is not None:
                found[kind] = ([pair[0]], [pair[1]])
        elif one != other:
            found[kind] = (_in_order(a.facts(kind), one - other), _in_order(b.facts(kind), other - one))
        elif kind in ("number", "name") and a.facts(kind) != b.facts(kind):
            # The same figures in another order: from 3 to 5, from 5 to 3.
            found[kind] = (list(a.facts(kind)), list(b.facts(kind)))
    return f"alike in wording, but they differ in {_told(found, a, b)}" if found else ""


def _in_order(facts: Sequence[str], wanted: Counter[str]) -> list[str]:
    left, found = Counter(wanted), list[str]()
    for fact in facts:
        if left[fact] > 0:
            left[fact] -= 1
            found.append(fact)
    return found


_POINT = re.compile(r"\(?\d{1,2}[.)]")
_AFTER_POINT = re.compile(r"(?:^|\s)\(?\d{1,2}[.)]\s+([^\W\d_]+)")


def _told(found: Mapping[str, tuple[list[str], list[str]]], a: Read, b: Read) -> str:
    """What differs, in words: first what only one of the texts says at all, whatever its capitals and the points of its lists."""
    said = [_all_words(one.lesson) for one in (a, b)]
    points = {word for one in (a, b) for word in _AFTER_POINT.findall(one.lesson.text)}
    real: list[str] = []
    for kind, (mine, theirs) in found.items():
        if kind in ("name", "quantity", "number") and Counter(mine) != Counter(theirs):
            left = [fact for fact in _phrases(mine) if not _says_too(fact, said[1], points)]
            right = [fact for fact in _phrases(theirs) if not _says_too(fact, said[0], points)]
            if not left and not right:
                continue
        else:
            left, right = mine, theirs
        real.append(_against(_NAMES[kind], " ".join(left), " ".join(right), brief=kind == "condition"))
    if real:
        return " and ".join(real)
    mine, theirs = found.get("name", ([], []))
    capitals = [word for word in (*mine, *theirs) if word not in points]
    return "how the points of their lists are put" if not capitals else f"how a word is written ({_said(capitals[0])})"


_OPENING, _CLOSING = "'\"`“‘", "'\"`”’"
_AROUND = f"{_OPENING}{_CLOSING}.,;:!?()[]"


def _phrases(facts: Sequence[str]) -> list[str]:
    """Facts with the words of each quotation put together."""
    found: list[str] = []
    for fact in filter(None, facts):
        if found and found[-1][0] in _OPENING and found[-1][-1] not in _CLOSING:
            found[-1] = f"{found[-1]} {fact}"
        else:
            found.append(fact)
    return found


def _all_words(lesson: Lesson) -> str:
    text = " ".join((lesson.text, lesson.applies_when, lesson.avoid, *lesson.tool_order))
    return f" {' '.join(word.strip(_AROUND).casefold() for word in text.split())} "


def _says_too(fact: str, said: str, points: Collection[str]) -> bool:
    """Whether the other text says it too, or it only marks or begins a point of a list."""
    return fact in points or bool(_POINT.fullmatch(fact)) or f" {fact.strip(_AROUND).casefold()} " in said


def _against(name: str, one: str, other: str, *, brief: bool) -> str:
    # A condition is kept by its stems, which are nothing to read at length.
    if brief and max(len(one), len(other)) > 40:
        return name
    if one and other:
        return f"{name} ({_said(one)} against {_said(other)})"
    return f"{name} (only one says {_said(one or other)})"


def _opposed(one: Counter[str], other: Counter[str]) -> tuple[str, str] | None:
    both = {**ANTONYMS, **CJK_ANTONYMS}
    for mine in sorted(one):
        for theirs in sorted(other):
            if both[mine][0] == both[theirs][0]:
                return mine, theirs
    return None


def _said(text: str) -> str:
    plain = text.replace("§not", "not").replace("§", "").strip("'\"`")
    return f"'{plain[:60]}{'…' if len(plain) > 60 else ''}'"


# -- many lessons ------------------------------------------------------------------------------------


def same_groups(reads: Sequence[Read]) -> list[list[Read]]:
    """Lessons whose normal forms are equal, in groups of two or more; cost follows their number."""
    # By hash first: the keys of a hundred thousand lessons are not held all at once.
    alike_by_hash: defaultdict[int, list[Read]] = defaultdict(list)
    for one in reads:
        alike_by_hash[hash(one.key)].append(one)
    found: list[list[Read]] = []
    for some in alike_by_hash.values():
        if len(some) > 1:
            groups: defaultdict[tuple[object, ...], list[Read]] = defaultdict(list)
            for one in some:
                groups[one.key].append(one)
            found += [group for group in groups.values() if len(group) > 1]
    return found


def contained(reads: Sequence[Read]) -> Iterator[tuple[Read, Read, Likeness]]:
    """Pairs of a shorter lesson and a longer one that holds all it says; each shorter one comes at most once."""
    by_sentence: defaultdict[tuple[object, ...], list[Read]] = defaultdict(list)
    for one in reads:
        if len(one.text.sentences) > 1:
            setting = one.setting
            for sentence in dict.fromkeys(one.text.sentences):
                by_sentence[sentence, setting].append(one)
    for shorter in reads:
        if not shorter.text.sentences:
            continue
        setting = shorter.setting
        rarest = min((by_sentence.get((sentence, setting), []) for sentence in shorter.text.sentences), key=len)
        for longer in rarest[:COMMON]:
            if longer is not shorter and len(longer.text.sentences) > len(shorter.text.sentences):
                said = _same_statement(longer, shorter)
                if said.relation == "same":
                    yield shorter, longer, said
                    break


def conflicts(reads: Sequence[Read]) -> list[Conflict]:
    """Lessons that are alike in wording and differ in a fact, sorted by id; `MOST_CONFLICTS` at most."""
    blocks: defaultdict[tuple[str, ...], list[Read]] = defaultdict(list)
    for one in reads:
        if one.skeleton:
            blocks[one.skeleton].append(one)
    found: dict[tuple[str, ...], str] = {}
    for block in blocks.values():
        if len(block) > 1:
            found.update(_within(block))
    first = {skeleton: block[0] for skeleton, block in blocks.items()}
    for a, b in _near(list(first)):
        if reason := difference(first[a], first[b]):
            found[_ids(first[a], first[b])] = reason
    return [Conflict(ids=ids, reason=found[ids]) for ids in sorted(found)][:MOST_CONFLICTS]


def _within(block: Sequence[Read]) -> dict[tuple[str, ...], str]:
    """Conflicts among lessons with the same ordinary words."""
    variants: dict[tuple[object, ...], Read] = {}
    for one in block:
        variants.setdefault((one.lesson.about, *(one.facts(kind) for kind in _NAMES)), one)
    distinct = list(variants.values())
    if len(distinct) <= FAMILY:
        pairs = [(one, other) for place, one in enumerate(distinct) for other in distinct[place + 1 :]]
        return {_ids(one, other): reason for one, other in pairs if (reason := difference(one, other))}
    reason = difference(distinct[0], distinct[1])
    if not reason:
        return {}
    ids = tuple(sorted(one.lesson.id for one in distinct))
    more = f"{len(ids)} lessons that differ only in facts; the first two: " if len(ids) > 2 else ""
    return {ids[:SHOWN_OF_FAMILY]: f"{more}{reason}"}


def _near(skeletons: Sequence[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Pairs of different skeletons that share nearly all words, by prefix filtering."""
    often = Counter(word for skeleton in skeletons for word in skeleton)
    ordered = sorted(skeletons, key=lambda one: (len(one), one))
    rarity = {word: place for place, word in enumerate(sorted(often, key=lambda word: (often[word], word)))}
    # Which skeletons have a word, each with how many of its words are no rarer; one packed number, for a pair takes six times the room.
    radix = max(map(len, skeletons), default=0) + 1
    holders: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    for number, skeleton in enumerate(ordered):
        mine = frozenset(skeleton)
        size = len(skeleton)
        rarest = sorted(skeleton, key=rarity.__getitem__)
        # Two sets that share enough words share one of so many of their rarest.
        prefix = [(word, size - place) for place, word in enumerate(rarest[: size - ceil(ALIKE * size) + 1]) if often[word] <= COMMON]
        met: set[int] = set()
        for word, rest in prefix:
            for held in holders[word]:
                place, others_rest = divmod(held, radix)
                other = ordered[place]
                if place not in met and len(other) >= ALIKE * size:
                    met.add(place)
                    # It is the rarest word they share: what is less rare in both is the most they can.
                    most = min(rest, others_rest)
                    if most < ALIKE * (size + len(other) - most):
                        continue
                    shared = len(mine.intersection(other))
                    if shared >= 2 and shared >= ALIKE * (size + len(other) - shared):
                        yield other, skeleton
        for word, rest in prefix:
            holders[word].append(number * radix + rest)


def _ids(one: Read, other: Read) -> tuple[str, str]:
    first, second = sorted((one.lesson.id, other.lesson.id))
    return first, second
