"""Whether a case is one that a lesson's conditions speak of, as far as plain code can tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Run
from tenure.ranking import STOP_WORDS
from tenure.roles.actions import actions_of
from tenure.terms import search_words, stem

FITS = 0.5
"""Share of the telling words of a condition that a case must hold to be one of those it speaks of."""

_SAID = re.compile(r"\"([^\"]{1,120})\"|`([^`]{1,120})`")
_SAYING = frozenset("task tasks say says work call calls kind run runs case cases unless only applies apply tool tools".split())


def case_texts(run: Run) -> Iterator[str]:
    """All texts of a run: its task, its steps, and what was said of its outcome."""
    yield run.task.text
    yield run.task.kind
    for step in run.steps:
        yield step.name
        yield step.content
        yield step.error
        if step.arguments:
            yield json.dumps(step.arguments, ensure_ascii=False, default=str)
    yield run.outcome.feedback
    yield run.outcome.expected


def lesson_texts(lesson: Lesson) -> Iterator[str]:
    """All texts of a lesson that an agent is shown."""
    yield lesson.text
    yield lesson.applies_when
    yield lesson.avoid
    yield " ".join(lesson.tool_order)


def tools_of(run: Run) -> frozenset[str]:
    """Names of the tools that a run called."""
    return frozenset(action.tool for action in actions_of(run) if action.tool)


def input_words(run: Run) -> frozenset[str]:
    """Roots of the words of a run's input: its task, the kind of task, and the tools it called."""
    return frozenset(map(stem, search_words(" ".join((run.task.text, run.task.kind, *sorted(tools_of(run)))))))


def conditions_fit(conditions: str, case: Run, source: Run | None) -> bool | None:
    """Whether conditions hold in a case; none if nothing in them can be looked for.

    What stands in quotation marks must be in the case's input, all of it. Otherwise those words count that
    are in the source case's input too, and `FITS` of them must be in this one's.

    Args:
        conditions: as a lesson states them.
        case: the run to be looked at.
        source: the run that the lesson came from; none if it is not kept.
    """
    held = input_words(case)
    quoted = [word for match in _SAID.finditer(conditions) for word in telling_words(match[1] or match[2])]
    if quoted:
        return all(word in held for word in quoted)
    words = telling_words(conditions)
    if source is not None:
        words &= input_words(source)
    return sum(word in held for word in words) >= FITS * len(words) if words else None


def telling_words(text: str) -> frozenset[str]:
    """Roots of the words of a condition that say which cases it speaks of."""
    return frozenset(stem(word) for word in search_words(text) if word not in STOP_WORDS and word not in _SAYING)
