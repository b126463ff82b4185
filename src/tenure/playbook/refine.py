"""Grow and refine: what must go to keep a playbook in bounds, as a delta that can be undone.

Texts are merged only where they say the same: equal words in the same order, equal numbers,
identifiers, signs and negations, equal conditions. Wording alone is no ground for a merge: "smallest
first" and "largest first" are alike and opposite.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tenure.playbook.delta import Delta, Merge, Operation, Retire
from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.lessons import Lesson, Tallies, normalised
from tenure.playbook.render import lesson_tokens
from tenure.playbook.state import Playbook


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
    merges = _merges(lessons, at)
    joined = {one: merge.into for merge in merges for one in merge.ids}
    counts: dict[str, Tallies] = {}
    for lesson in lessons:
        into = joined.get(lesson.id, lesson.id)
        counts[into] = counts.get(into, Tallies()) + lesson.tallies
    left = [replace(lesson, tallies=counts[lesson.id]) for lesson in lessons if lesson.id not in joined]
    evictions, over = _evictions(left, bounds, at)
    evicted = {eviction.id for eviction in evictions}
    before = sum(map(lesson_tokens, lessons))
    after = sum(lesson_tokens(lesson) for lesson in left if lesson.id not in evicted)
    return Plan(merges=merges, evictions=evictions, tokens_before=before, tokens_after=after, over=over)


def within(lessons: Sequence[Lesson], bounds: Bounds) -> bool:
    """Whether live lessons keep the bounds."""
    sizes: defaultdict[str, int] = defaultdict(int)
    for lesson in lessons:
        sizes[lesson.section] += 1
    return max(sizes.values(), default=0) <= bounds.lessons_per_section and sum(map(lesson_tokens, lessons)) <= bounds.tokens


def learned(lesson: Lesson) -> bool:
    """Whether a lesson came from runs, so that refine may evict it; text from a person or an import stays."""
    return lesson.author.startswith(("extractive", "model:"))


def _merges(lessons: Sequence[Lesson], at: datetime | None) -> tuple[Merge, ...]:
    alike: defaultdict[tuple[str, ...], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        alike[meaning_key(lesson)].append(lesson)
    merges: list[Merge] = []
    for same in alike.values():
        # What stays: what is protected before what was learned, what is proven before what is not, then the most useful.
        first, *others = sorted(
            same, key=lambda one: (not one.pinned, learned(one), one.status != "active", -_lower(one, at), one.created, one.id)
        )
        others = [one for one in others if not one.pinned]
        if not others:
            continue
        exact = all(normalised(one.text) == normalised(first.text) for one in others)
        reason = "the same text" if exact else "the same statement: equal words in the same order, equal figures, signs and conditions"
        merges.append(Merge(tuple(one.id for one in others), first.id, reason=reason))
    return tuple(sorted(merges, key=lambda merge: merge.into))


_DROPPED = frozenset(("the", "please"))
# One mark that ends a word or sentence. After a single letter or a figure `!` is a sign, not a mark.
_END_MARK = re.compile(r"(?:(?<=[^\W\d_]{2})[!！]|(?<=[\w)\]}\"'`”’»])[.,;:。，；：、])$")
_QUOTED = re.compile(r"""([`'"])([^\s`'"]+)\1|[“«‘]([^\s“”«»‘’]+)[”»’]""")


def meaning_key(lesson: Lesson) -> tuple[str, ...]:
    """What must be equal for two lessons to say the same.

    The words in order, with figures, identifiers, operators, brackets and negations as they stand,
    and the conditions; left out are "the" and "please", the mark that ends a word, quotes around
    one word, and the capital that begins a sentence. Deliberately strict: a missed merge costs
    tokens, a wrong one costs knowledge.
    """
    parts: list[str] = [str(lesson.kind == "prohibition"), lesson.about]
    for text in (lesson.text, lesson.applies_when, lesson.avoid):
        parts += [*_content(text), "\x1f"]
    return (*parts, *lesson.tool_order)


def _content(text: str) -> list[str]:
    kept: list[str] = []
    begins = True
    for written in normalised(text).split(" "):
        mark = _END_MARK.search(written)
        word = written[: mark.start()] if mark else written
        quoted = _QUOTED.fullmatch(word)
        if quoted:
            kept.append(quoted[2] or quoted[3])
        else:
            plain = word.lower() if begins and (word[1:].islower() or (word == "A" and not mark)) else word
            if plain not in _DROPPED:
                kept.append(plain)
        # After an abbreviation such as "e.g." the sentence goes on.
        begins = mark is not None and mark[0] in ".!:。！：" and "." not in word
    return kept


def _lower(lesson: Lesson, at: datetime | None) -> float:
    return usefulness(lesson.tallies, age_days=age_in_days(lesson, at)).lower


def _evictions(lessons: Sequence[Lesson], bounds: Bounds, at: datetime | None) -> tuple[tuple[Retire, ...], tuple[str, ...]]:
    sure = {lesson.id: _lower(lesson, at) for lesson in lessons}
    order = sorted((one for one in lessons if learned(one) and not one.pinned), key=lambda one: (sure[one.id], one.updated, one.id))
    sizes: defaultdict[str, int] = defaultdict(int)
    for lesson in lessons:
        sizes[lesson.section] += 1
    found: dict[str, Retire] = {}
    # Sections first: what leaves them may be all that the tokens need.
    crowded = {name: _goal(bounds.lessons_per_section, bounds.fill) for name, size in sizes.items() if size > bounds.lessons_per_section}
    for lesson in order:
        if lesson.section in crowded and sizes[lesson.section] > crowded[lesson.section]:
            found[lesson.id] = _eviction(lesson, sure, f"section '{lesson.section}' holds more than {bounds.lessons_per_section} lessons")
            sizes[lesson.section] -= 1
    total = sum(lesson_tokens(lesson) for lesson in lessons if lesson.id not in found)
    token_goal = _goal(bounds.tokens, bounds.fill) if total > bounds.tokens else total
    for lesson in order:
        if lesson.id not in found and total > token_goal:
            found[lesson.id] = _eviction(lesson, sure, f"the scope holds more than {bounds.tokens} tokens")
            total -= lesson_tokens(lesson)
    rest = "the rest is pinned, imported or written by a person"
    over = [
        f"section '{name}' stays at {sizes[name]} lessons: {rest}" for name in sorted(crowded) if sizes[name] > bounds.lessons_per_section
    ]
    if total > bounds.tokens:
        over.append(f"the scope stays at {total} tokens: {rest}")
    return tuple(found.values()), tuple(over)


def _eviction(lesson: Lesson, sure: Mapping[str, float], bound: str) -> Retire:
    t = lesson.tallies
    counts = f"{sure[lesson.id]:.2f}: helpful {t.helpful}, harmful {t.harmful}, support {t.support}"
    return Retire(lesson.id, f"{bound}; least sure to help ({counts})")


def _goal(bound: int, fill: float) -> int:
    """What refine goes down to; never to nothing where the bound leaves room for one."""
    return max(min(bound, 1), int(bound * fill))
