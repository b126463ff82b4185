"""Whether a case is one that a lesson's conditions speak of, as far as plain code can tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Run
from tenure.ranking import STOP_WORDS
from tenure.roles.actions import actions_of
from tenure.terms import search_words, stem

FITS = 0.5
"""Share of the telling words of a condition that a case must hold to be one of those it speaks of."""

MOST_READ, LEAST_READ = 100_000, 4_000
"""Characters that are read of a run's texts, shared out among them; and of each text in any case."""

_SAID = re.compile(r"\"([^\"]{1,120})\"|`([^`]{1,120})`")
_SAYING = frozenset("task tasks say says work call calls kind run runs case cases unless only applies apply tool tools".split())


def case_texts(run: Run) -> Iterator[str]:
    """All texts of a run: its task, its steps, and what was said of its outcome.

    Long ones lose their middles, never what a model is shown of them (see `transcript`).
    """
    texts = [run.task.text, run.task.kind, run.outcome.feedback, run.outcome.expected]
    for step in run.steps:
        texts += [step.name, step.content, step.error]
        texts += [f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in step.arguments.items()]
    texts = [text for text in texts if text]
    longest = max(LEAST_READ, MOST_READ // max(1, len(texts)))
    for text in texts:
        yield text if len(text) <= longest else f"{text[: longest * 2 // 3]}\n{text[-(longest - longest * 2 // 3) :]}"


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
    return _roots(" ".join((run.task.text, run.task.kind, *sorted(tools_of(run)))))


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


@lru_cache(maxsize=4_096)
def _roots(text: str) -> frozenset[str]:
    return frozenset(map(stem, search_words(text)))


# One case is held against many lessons, and one lesson against many cases.
@lru_cache(maxsize=4_096)
def telling_words(text: str) -> frozenset[str]:
    """Roots of the words of a condition that say which cases it speaks of."""
    return frozenset(stem(word) for word in search_words(text) if word not in STOP_WORDS and word not in _SAYING)
