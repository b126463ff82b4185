"""Whether a lesson that states an answer would have been right in a labelled case. No model is asked."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from tenure.playbook.fields import clauses_of, fields_of, holds
from tenure.playbook.lessons import Lesson, normalised
from tenure.playbook.run import Run
from tenure.roles.conditions import conditions_fit

LONGEST_ANSWER = 200
"""Characters of a label that can be the answer of a lesson; longer ones are texts, and no lesson states them as they are."""

_TOKEN = re.compile(r"[^\W_]+(?:[_.\-/:+]+[^\W_]+)*|[^\w\s]")


@lru_cache(maxsize=8192)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(normalised(text).casefold()))


def same_answer(one: str, other: str) -> bool:
    """Whether two labels are the same: white space, case and closing full stops do not count."""
    return normalised(one).casefold().rstrip(".") == normalised(other).casefold().rstrip(".")


def answers_in(text: str, answers: Collection[str]) -> tuple[str, ...]:
    """Those of some labels that a text states, whole; of two of which one lies in the other, the longer.

    Args:
        text: of a lesson.
        answers: labels of the scope.
    """
    said = _tokens(text)
    found: list[tuple[int, int, str]] = []
    for answer in answers:
        if not 0 < len(answer) <= LONGEST_ANSWER:
            continue
        tokens = _tokens(answer)
        width = len(tokens)
        found += [(at, at + width, answer) for at in range(len(said) - width + 1) if width and said[at : at + width] == tokens]
    outer = [one for one in found if not any(o[0] <= one[0] and one[1] <= o[1] and o[:2] != one[:2] for o in found)]
    return tuple(dict.fromkeys(answer for _, _, answer in outer))


def said_of(lesson: Lesson) -> str:
    """What a lesson says without its conditions, which may name values that are labels too."""
    text = lesson.text
    if lesson.applies_when and lesson.applies_when in text:
        text = text.replace(lesson.applies_when, " ")
    return text


def applies(lesson: Lesson, case: Run, source: Run | None = None) -> bool | None:
    """Whether a lesson's conditions hold in a case; fields exactly, else by their words; none if that cannot be told.

    Args:
        lesson: one without conditions applies nowhere that could be told.
        case: the case.
        source: the run it came from.
    """
    if not lesson.applies_when.strip():
        return None
    named = clauses_of(lesson.applies_when)
    if named:
        return holds(named, fields_of(case.task.text))
    return conditions_fit(lesson.applies_when, case, source)


class Labels:
    """The check that needs no code of a user's: a labelled case against the answer that a lesson states.

    Args:
        answers: labels of the scope's kept cases; what a lesson states is told by them.
    """

    name = "label"

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = tuple(dict.fromkeys(answers))
        self._stated: dict[tuple[str, str], tuple[str, ...]] = {}

    def would_be_right(self, lesson: Lesson, case: Run) -> bool | None:
        """Whether a case has the answer that a lesson states; none if there is no label or the lesson states none, or more than one."""
        if not case.outcome.expected:
            return None
        key = (lesson.text, lesson.applies_when)
        if key not in self._stated:
            self._stated[key] = answers_in(said_of(lesson), self._answers)
        stated = self._stated[key]
        if not stated:
            stated = answers_in(said_of(lesson), (case.outcome.expected,))
        return same_answer(stated[0], case.outcome.expected) if len(stated) == 1 else None
