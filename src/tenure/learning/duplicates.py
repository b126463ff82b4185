"""Whether a new lesson is there already, asked of the store's index instead of the whole playbook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from tenure.playbook.lessons import Lesson
from tenure.playbook.likeness import ALIKE, Likeness, SourceTasks, compare_read, read
from tenure.playbook.word_lists import (
    ANTONYMS,
    CJK_DROPPED,
    COMPARISONS,
    DROPPED,
    FUNCTION_WORDS,
    GERUND_AFTER,
    NEGATIONS,
    NUMBERS,
    PHRASES,
    STRESSED,
    SYNONYMS,
    UNITS,
    VERBS,
)
from tenure.ranking import STOP_WORDS, words

CANDIDATES = 40
"""How many lessons that share words are compared; more share so much only where many are written to one pattern."""

MOST_SENTENCES = 6

_OF_PHRASES = {word for phrases in PHRASES.values() for phrase, said in phrases for word in (*phrase, *said)}
_MAY_DIFFER = frozenset(
    {
        *STOP_WORDS,
        *FUNCTION_WORDS,
        *DROPPED,
        *STRESSED,
        *_OF_PHRASES,
        *SYNONYMS,
        *SYNONYMS.values(),
        *VERBS,
        *VERBS.values(),
        *UNITS,
        *NUMBERS,
        *NEGATIONS,
        *COMPARISONS,
    }
)
"""Words that another text may not have although it says the same; figures may be written out in it."""


_GERUND_BEHIND = {*GERUND_AFTER, *(word for word, said in SYNONYMS.items() if said in GERUND_AFTER), "you", "t"}


class Shared(Protocol):
    """Finds lessons by the words they share: any `Reading`."""

    def sharing(self, groups: Sequence[Sequence[str]], *, limit: int) -> Sequence[Lesson]:
        """Live lessons that hold every word of at least one group."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A lesson that another resembles.

    Attributes:
        lesson: the one that is there.
        likeness: how the two stand to each other.
    """

    lesson: Lesson
    likeness: Likeness


def duplicate_of(lesson: Lesson, index: Shared, *, tasks: SourceTasks | None = None) -> Found | None:
    """The lesson that says the same as a new one, or none. Cost follows what shares its words, not the playbook.

    Args:
        lesson: the new one; one of its own id is not a duplicate.
        index: where to look; a `Reading`.
        tasks: see `likeness.compare`.
    """
    groups = [_telling(lesson.text), *map(_telling, _sentences(lesson.text)[:MOST_SENTENCES])]
    found = [one for one in _compared(lesson, index, groups, tasks) if one.likeness.relation == "same"]
    return min(found, key=lambda one: (bool(one.likeness.keeps), one.lesson.id), default=None)


def conflicts_of(lesson: Lesson, index: Shared) -> list[Found]:
    """Lessons that are alike in wording and differ from a new one in a fact, sorted by id."""
    ordinary = [word for word in _telling(lesson.text) if word not in ANTONYMS]
    # Who shares three words in four has all words of at least one of these groups.
    count = int((1 - ALIKE) * len(ordinary)) + 1
    groups = [ordinary[start::count] for start in range(count)]
    return [one for one in _compared(lesson, index, groups, None) if one.likeness.relation == "conflict"]


def _compared(lesson: Lesson, index: Shared, groups: Sequence[Sequence[str]], tasks: SourceTasks | None) -> Iterator[Found]:
    mine = read(lesson)
    wanted = list(dict.fromkeys(tuple(group) for group in groups if group))
    for other in index.sharing(wanted, limit=CANDIDATES) if wanted else ():
        if other.id != lesson.id:
            yield Found(lesson=other, likeness=compare_read(mine, read(other), tasks))


def _telling(text: str) -> list[str]:
    """The words of a text that another in other words has too; all of them if none is."""
    for courtesy in CJK_DROPPED:
        text = text.removeprefix(courtesy)
    every = words(text)
    # Behind these a verb and its gerund say the same, so that neither has to be in both texts.
    either = {word for before, word in pairwise(every) if before in _GERUND_BEHIND}
    telling = [word for word in every if word not in _MAY_DIFFER and not word.isdigit()]
    return list(dict.fromkeys([word for word in telling if word not in either] or telling or every))


def _sentences(text: str) -> list[str]:
    plain = text
    for mark in "!?;。！？；\n":
        plain = plain.replace(mark, ".")
    return [part for part in plain.split(". ") if part.strip()]
