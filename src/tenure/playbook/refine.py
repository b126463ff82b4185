"""Grow and refine: what must go to keep a playbook in bounds, as a delta that can be undone.

Texts are merged only where they say the same: equal content words in the same order, equal numbers,
identifiers and negations, equal conditions. Wording alone is no ground for a merge: "smallest
first" and "largest first" are alike and opposite.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tenure.playbook.delta import Delta, Merge, Operation, Retire
from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.lessons import Lesson, normalised
from tenure.playbook.state import Playbook
from tenure.ranking import STOP_WORDS, estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a playbook may grow. Fit for an application, not a research knob.

    Attributes:
        lessons_per_section: cap on live lessons in one section.
        tokens: cap on the tokens of all live lessons of the scope.
        fill: the share of a bound that refine goes down to once it is passed, 0 to 1.
    """

    lessons_per_section: int = 200
    tokens: int = 40_000
    fill: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What refine would do, with reasons.

    Attributes:
        merges, evictions: the operations, each with its reason.
        tokens_before, tokens_after: of the live lessons.
        over: sentences about bounds that stay passed because what is left is protected.
    """

    merges: tuple[Merge, ...] = ()
    evictions: tuple[Retire, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    over: tuple[str, ...] = field(default=())

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Merges, then evictions."""
        return (*self.merges, *self.evictions)


def refine(playbook: Playbook, bounds: Bounds | None = None, *, id: str, at: datetime | None = None) -> Delta:
    """The delta that merges duplicates and evicts down to the bounds; without operations if nothing must go.

    Args:
        playbook: the value to refine; it is not changed.
        bounds: caps; none takes the defaults.
        id: the delta's id.
        at: the present moment, for the fading of old counts.
    """
    plan = plan_refinement(playbook.lessons, bounds or Bounds(), at=at)
    return Delta(id, plan.operations, author="refine", cause="refine", at=at)


def plan_refinement(lessons: Sequence[Lesson], bounds: Bounds, *, at: datetime | None = None) -> Plan:
    """What refine would do to these live lessons, with reasons.

    Args:
        lessons: live lessons.
        bounds: caps.
        at: the present moment.
    """
    merges, gone = _merges(lessons, at)
    left = [lesson for lesson in lessons if lesson.id not in gone]
    cost = {lesson.id: lesson_tokens(lesson) for lesson in left}
    before = sum(lesson_tokens(lesson) for lesson in lessons)
    evictions, over = _evictions(left, cost, bounds, at)
    evicted = {eviction.id for eviction in evictions}
    after = sum(tokens for lesson_id, tokens in cost.items() if lesson_id not in evicted)
    return Plan(merges=tuple(merges), evictions=tuple(evictions), tokens_before=before, tokens_after=after, over=tuple(over))


def lesson_tokens(lesson: Lesson) -> int:
    """Estimated tokens of a lesson as a prompt shows it."""
    return estimate_tokens(lesson.text) + estimate_tokens(lesson.applies_when) + (4 if lesson.applies_when else 0) + 8


def within(lessons: Sequence[Lesson], bounds: Bounds) -> bool:
    """Whether live lessons keep the bounds."""
    sizes: defaultdict[str, int] = defaultdict(int)
    for lesson in lessons:
        sizes[lesson.section] += 1
    return max(sizes.values(), default=0) <= bounds.lessons_per_section and sum(map(lesson_tokens, lessons)) <= bounds.tokens


def learned(lesson: Lesson) -> bool:
    """Whether a lesson came from runs, so that refine may evict it; text from a person or an import stays."""
    return lesson.author.startswith(("extractive", "model:"))


def _merges(lessons: Sequence[Lesson], at: datetime | None) -> tuple[list[Merge], set[str]]:
    alike: defaultdict[tuple[str, ...], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        alike[meaning_key(lesson)].append(lesson)
    merges: list[Merge] = []
    gone: set[str] = set()
    for same in alike.values():
        if len(same) < 2:
            continue
        first, *others = sorted(same, key=lambda one: (not one.pinned, -_lower(one, at), one.created, one.id))
        exact = all(normalised(one.text) == normalised(first.text) for one in others)
        reason = "the same text" if exact else "the same statement: equal content words in the same order, equal figures and conditions"
        merges.append(Merge(tuple(one.id for one in others), first.id, reason=reason))
        gone.update(one.id for one in others)
    return sorted(merges, key=lambda merge: merge.into), gone


_TOKEN = re.compile(r"[^\W_]+(?:[._/:+#@&'\-]+[^\W_]+)*|[^\w\s]", re.UNICODE)
_KEPT_STOP_WORDS = frozenset("no nor not only before after until from to into over under more than once again all any out up down if while".split())
_DROPPED = STOP_WORDS - _KEPT_STOP_WORDS
_PUNCTUATION = frozenset(".,;:!?'\"`()[]*_")


def meaning_key(lesson: Lesson) -> tuple[str, ...]:
    """What must be equal for two lessons to say the same.

    Content words in order (stop words that carry no sense left out, case kept where it is not the
    first of a sentence), with figures, identifiers, operators and negations as they stand, and the
    conditions. Deliberately strict: a missed merge costs tokens, a wrong one costs knowledge.
    """
    return (*_content(lesson.text), "\x1f", *_content(lesson.applies_when), "\x1f", *_content(lesson.avoid), *lesson.tool_order)


def _content(text: str) -> list[str]:
    kept: list[str] = []
    for token in _TOKEN.findall(normalised(text)):
        plain = token[0].lower() + token[1:] if token[1:].islower() or len(token) == 1 else token
        if plain in _DROPPED or plain in _PUNCTUATION:
            continue
        kept.append(plain)
    return kept


def _lower(lesson: Lesson, at: datetime | None) -> float:
    return usefulness(lesson.tallies, age_days=age_in_days(lesson, at)).lower


def _evictions(lessons: list[Lesson], cost: dict[str, int], bounds: Bounds, at: datetime | None) -> tuple[list[Retire], list[str]]:
    order = sorted((lesson for lesson in lessons if learned(lesson) and not lesson.pinned), key=lambda one: (_lower(one, at), one.updated, one.id))
    sizes: defaultdict[str, int] = defaultdict(int)
    for lesson in lessons:
        sizes[lesson.section] += 1
    total = sum(cost.values())
    section_goal = {name: int(bounds.lessons_per_section * bounds.fill) for name, size in sizes.items() if size > bounds.lessons_per_section}
    token_goal = int(bounds.tokens * bounds.fill) if total > bounds.tokens else None
    found: list[Retire] = []
    for lesson in order:
        name = lesson.section
        crowded = name in section_goal and sizes[name] > section_goal[name]
        heavy = token_goal is not None and total > token_goal
        if not crowded and not heavy:
            continue
        bound = f"section '{name}' holds more than {bounds.lessons_per_section} lessons" if crowded else f"the scope holds more than {bounds.tokens} tokens"
        t = lesson.tallies
        found.append(Retire(lesson.id, f"{bound}; least sure to help ({_lower(lesson, at):.2f}: helpful {t.helpful}, harmful {t.harmful}, support {t.support})"))
        sizes[name] -= 1
        total -= cost[lesson.id]
    over = [f"section '{name}' stays at {sizes[name]} lessons: the rest is pinned, imported or written by a person" for name in sorted(section_goal) if sizes[name] > bounds.lessons_per_section]
    if token_goal is not None and total > bounds.tokens:
        over.append(f"the scope stays at {total} tokens: the rest is pinned, imported or written by a person")
    return found, over
