"""The Reviser without a model: conditions by contrast between the cases a lesson helped and those it hurt.

A condition is something that all cases it helped have and the failing one has not: a word of the task, the
kind of task, a tool. It is taken only if it separates the two groups beyond chance: by Fisher's exact test,
corrected for how many contrasts were looked at (Tarone 1990, which counts only those that could have been
significant at all). Where nothing does, nothing is changed. By the rule for revisions a condition is never
made of what only the failing cases have.

Where tasks come as fields and are labelled, replay says more than contrast: which fields decide is read off all kept
cases (`playbook.fields`), and the conditions become those fields with the values of the lesson's own source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

from tenure.playbook.fields import Shapes, clauses, clauses_of, fields_of
from tenure.playbook.grounding import Grounds
from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Run
from tenure.ranking import STOP_WORDS
from tenure.roles.conditions import case_texts, lesson_texts, tools_of
from tenure.terms import REQUEST_WORDS, search_words, stem

BEYOND_CHANCE = 0.05
"""Probability, over all contrasts looked at, that chance alone separates the cases as well; a condition needs less."""

MOST_WORDS = 2
"""Words that one condition names."""

SURE = 0.8
"""Probability from which a set of fields is held to be the one that decides."""

LEAST_CASES = 2
"""Cases of either sort below which there is no contrast."""

Feature = tuple[str, str]
"""Sort (`word`, `tool`, `kind`) and the word's root or the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What contrast says of a lesson.

    Attributes:
        condition: what to add to its conditions; empty if nothing separates the cases beyond chance.
        chance: probability that chance alone separates them as well as the best contrast, corrected, 0 to 1.
        reason: one sentence, for either.
    """

    condition: str = ""
    chance: float = 1.0
    reason: str = ""


def narrow_by_contrast(lesson: Lesson, *, source: Run | None, helped: Sequence[Run], hurt: Sequence[Run]) -> Narrowing:
    """A condition that tells the cases a lesson helped from those it hurt, or why there is none.

    Args:
        lesson: as it stands.
        source: the run it came from; none if it is not kept.
        helped: runs in which it helped, the source among them where it was one.
        hurt: runs in which it misled or did nothing, the one at hand first.
    """
    if len(helped) < LEAST_CASES or len(hurt) < LEAST_CASES:
        return Narrowing(reason=f"it helped in {len(helped)} kept cases and failed in {len(hurt)}: too few for a contrast")
    good, bad = [features_of(run) for run in helped], [features_of(run) for run in hurt]
    patterns = _patterns([*good, *bad])
    level = _level(patterns, len(good), len(bad))
    grounds = Grounds(
        source=case_texts(source) if source is not None else (),
        old=lesson_texts(lesson),
        current=case_texts(hurt[0]),
        tools=tools_of(hurt[0]),
    )
    mine = set().union(*(features_of(source) if source is not None else {}, _words(" ".join(lesson_texts(lesson)))))
    best: tuple[float, list[Feature]] | None = None
    for pattern, features in patterns.items():
        if not all(pattern[: len(good)]) or pattern[len(good)]:
            continue
        own = [feature for feature in features if feature in mine and not grounds.leaks(feature[1])]
        chance = _fisher(sum(pattern[: len(good)]), sum(pattern[len(good) :]), len(good), len(bad))
        if own and (best is None or chance < best[0]):
            best = (chance, own)
    if best is None:
        return Narrowing(
            reason="nothing that all cases it helped have, and its source or its text names, is missing in the one it failed in"
        )
    corrected = min(1.0, best[0] * level)
    if corrected > BEYOND_CHANCE:
        return Narrowing(chance=corrected, reason=f"what separates the cases best does so by chance with a probability of {corrected:.2f}")
    condition = _said(best[1], [*([source] if source is not None else []), *helped], lesson)
    shared = sum(best[1][0] in one for one in bad)
    return Narrowing(
        condition=condition,
        chance=corrected,
        reason=f"so in all {len(good)} cases it helped, and in {shared} of {len(bad)} it failed in",
    )


def narrow_by_replay(conditions: str, source: str, shapes: Shapes) -> Narrowing:
    """Conditions that name the fields which decide, with the values of the source case; or why they stay as they are.

    What is missing is added and what means nothing is dropped; both rest on the source, as the rule for revisions asks.

    Args:
        conditions: as they stand: fields with values, or none.
        source: text of the task that the lesson came from.
        shapes: what the kept cases say of fields.

    Returns:
        The whole conditions, not an addition; empty where they stay. `chance` is the probability that other fields decide.
    """
    fields, named = fields_of(source), clauses_of(conditions)
    if not fields:
        return Narrowing(reason="its source case has no fields")
    if conditions.strip() and not named:
        return Narrowing(reason="its conditions speak of more than fields")
    shape, weight = shapes.best(fields)
    if weight < SURE or not shape:
        return Narrowing(chance=1.0 - weight, reason="kept cases do not say yet which fields decide")
    if set(shape) == set(named):
        return Narrowing(chance=1.0 - weight, reason="its conditions name the fields that decide")
    return Narrowing(
        condition=clauses(fields, shape),
        chance=1.0 - weight,
        reason=f"on kept cases {' and '.join(shape)} foretell the answer best, with a probability of {weight:.2f}",
    )


def features_of(run: Run) -> Mapping[Feature, None]:
    """What a case can be told by, in order: tools, the kind of task, words of the task."""
    found: dict[Feature, None] = {("tool", tool): None for tool in sorted(tools_of(run))}
    if run.task.kind:
        found["kind", run.task.kind] = None
    found.update(_words(run.task.text))
    return found


def _words(text: str) -> dict[Feature, None]:
    every = (word for word in search_words(text) if word not in STOP_WORDS and word not in REQUEST_WORDS)
    return {("word", stem(word)): None for word in every if not word.isdigit() and (len(word) > 1 or not word.isascii())}


def _patterns(cases: Sequence[Mapping[Feature, None]]) -> dict[tuple[bool, ...], list[Feature]]:
    """The features by the cases they occur in; what occurs in the same cases is one contrast."""
    found: dict[tuple[bool, ...], list[Feature]] = {}
    for feature in dict.fromkeys(feature for case in cases for feature in case):
        pattern = tuple(feature in case for case in cases)
        if not all(pattern):
            found.setdefault(pattern, []).append(feature)
    return found


def _fisher(in_good: int, in_bad: int, good: int, bad: int) -> float:
    """Probability, by chance, of a feature being in so many good cases or more, given how many cases have it."""
    total = in_good + in_bad
    ways = comb(good + bad, total)
    return sum(comb(good, k) * comb(bad, total - k) for k in range(in_good, min(good, total) + 1) if total - k <= bad) / ways


def _level(patterns: Mapping[tuple[bool, ...], object], good: int, bad: int) -> int:
    """By how much a probability is multiplied for the contrasts that were looked at (Tarone's number)."""
    least = sorted(_fisher(min(good, sum(pattern)), sum(pattern) - min(good, sum(pattern)), good, bad) for pattern in patterns)
    for number in range(1, len(least) + 1):
        if sum(one <= BEYOND_CHANCE / number for one in least) <= number:
            return number
    return max(1, len(least))


def _said(features: Sequence[Feature], cases: Sequence[Run], lesson: Lesson) -> str:
    """Features as a condition in words."""
    for sort, name in features:
        if sort == "kind":
            return f'the task is of the kind "{name}"'
    spelled = _spellings(" ".join((*(run.task.text for run in cases), *lesson_texts(lesson))))
    named = list(dict.fromkeys(spelled[name] for sort, name in features if sort == "word" and name in spelled))
    if named:
        return "the task says " + " and ".join(f'"{word}"' for word in _whole(named, cases)[:MOST_WORDS])
    return "the work calls " + " and ".join(f"`{name}`" for sort, name in features[:MOST_WORDS] if sort == "tool")


def _spellings(text: str) -> dict[str, str]:
    """Each root with the spelling it has most often."""
    counts: Counter[tuple[str, str]] = Counter((stem(word), word) for word in search_words(text))
    found: dict[str, str] = {}
    for (root, word), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        found.setdefault(root, word)
    return found


def _whole(named: Sequence[str], cases: Sequence[Run]) -> list[str]:
    """Pairs of characters of scripts without spaces, joined to the words they were cut from."""
    joined: list[str] = []
    for word in named:
        last = joined[-1] if joined else ""
        merged = last + word[1:]
        if (
            last
            and last[-1] == word[0]
            and not word.isascii()
            and any(merged in re.sub(r"\s+", "", run.task.text.lower()) for run in cases)
        ):
            joined[-1] = merged
        else:
            joined.append(word)
    return joined
