"""Grow and refine: what must go to keep a playbook in bounds, as a delta that can be undone.

Texts are merged only where they say the same, with equal numbers, identifiers, signs, negations and
conditions (see `likeness`). Wording alone is no ground for a merge: "smallest first" and "largest
first" are alike and opposite; they are listed as a conflict.
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
from tenure.playbook.likeness import SAME_TEXT, Conflict, Read, SourceTasks, conflicts, contained, read, same_groups, share_a_task
from tenure.playbook.render import lesson_tokens
from tenure.playbook.state import Playbook


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a playbook may grow. Fit for an application, not a research knob.

    Attributes:
        lessons_per_section: cap on live lessons in one section.
        tokens: cap on the tokens of all live lessons of the scope.
        fill: the share of a bound that refine goes down to once it is passed, 0 to 1.
        trial_shown, trial_days: a provisional lesson that was shown in fewer runs than this and is
            younger than this is on probation: what can go instead goes first.
    """

    lessons_per_section: int = 200
    tokens: int = 40_000
    fill: float = 0.9
    trial_shown: int = 3
    trial_days: float = 14.0


PROBATION_SHARE = 0.5
"""Lessons on probation are spared in at most this share of a bound, so that a flood of new ones cannot push out what is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What refine would do, with reasons.

    Attributes:
        merges, evictions: the operations, each with its reason.
        conflicts: lessons alike in wording that differ in a fact, for a person to look at.
        tokens_before, tokens_after: of the live lessons.
        over: sentences about bounds that stay passed because what is left is protected.
    """

    merges: tuple[Merge, ...] = ()
    evictions: tuple[Retire, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
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


def plan_refinement(
    lessons: Sequence[Lesson],
    bounds: Bounds,
    *,
    at: datetime | None = None,
    tasks: SourceTasks | None = None,
    review: bool = True,
    unasked: bool = False,
) -> Plan:
    """What refine would do to these live lessons, with reasons.

    Args:
        lessons: live lessons.
        bounds: caps.
        at: the present moment.
        tasks: what makes the tasks of runs the same; lessons that say the same in other words are
            merged only if they come from the same task, as far as that is known.
        review: whether conflicts are looked for.
        unasked: whether nobody asked for it; then what a person wrote or imported is merged only into an equal text.
    """
    merges, apart = _merges(lessons, at, tasks, unasked)
    joined = {one: merge.into for merge in merges for one in merge.ids}
    targets = set(joined.values())
    counts: dict[str, Tallies] = {}
    for lesson in lessons:
        into = joined.get(lesson.id, lesson.id)
        if into in targets:
            counts[into] = counts.get(into, Tallies()) + lesson.tallies
    left = [replace(lesson, tallies=counts[lesson.id]) if lesson.id in targets else lesson for lesson in lessons if lesson.id not in joined]
    costs = {lesson.id: lesson_tokens(lesson) for lesson in lessons}
    evictions, over = _evictions(left, bounds, at, costs)
    evicted = {eviction.id for eviction in evictions}
    before = sum(costs.values())
    after = sum(costs[lesson.id] for lesson in left if lesson.id not in evicted)
    found = tuple(conflicts([one for one in apart if one.lesson.id not in evicted])) if review else ()
    return Plan(merges=merges, evictions=evictions, conflicts=found, tokens_before=before, tokens_after=after, over=over)


def within(lessons: Sequence[Lesson], bounds: Bounds) -> bool:
    """Whether live lessons keep the bounds."""
    sizes: defaultdict[str, int] = defaultdict(int)
    for lesson in lessons:
        sizes[lesson.section] += 1
    return max(sizes.values(), default=0) <= bounds.lessons_per_section and sum(map(lesson_tokens, lessons)) <= bounds.tokens


def learned(lesson: Lesson) -> bool:
    """Whether a lesson came from runs, so that refine may evict it; text from a person or an import stays."""
    return lesson.author.startswith(("extractive", "model:"))


def _merges(
    lessons: Sequence[Lesson], at: datetime | None, tasks: SourceTasks | None, unasked: bool
) -> tuple[tuple[Merge, ...], list[Read]]:
    """The merges, and the lessons that stay, read."""
    reads = list(map(read, lessons))
    into: dict[str, tuple[str, str]] = {}
    for group in same_groups(reads):
        into.update(_joined([one.lesson for one in group], at, tasks, unasked))
    apart = [one for one in reads if one.lesson.id not in into]
    for shorter, longer, said in contained(apart):
        protected = shorter.lesson.pinned or (not learned(shorter.lesson) and (unasked or learned(longer.lesson)))
        if not protected and (tasks is None or share_a_task(shorter.lesson, longer.lesson, tasks)):
            into[shorter.lesson.id] = (longer.lesson.id, said.reason)
    grouped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one, (_, reason) in into.items():
        target = one
        while target in into:
            target = into[target][0]
        grouped[target, reason].append(one)
    merges = tuple(Merge(tuple(ids), target, reason=reason) for (target, reason), ids in sorted(grouped.items()))
    return merges, [one for one in apart if one.lesson.id not in into]


def _joined(same: Sequence[Lesson], at: datetime | None, tasks: SourceTasks | None, unasked: bool) -> dict[str, tuple[str, str]]:
    """What becomes of lessons with one normal form: each that goes, with what it goes into and why."""
    # What stays: what is protected before what was learned, what is proven before what is not, then the most useful.
    first, *others = sorted(
        same, key=lambda one: (not one.pinned, learned(one), one.status != "active", -_lower(one, at), one.created, one.id)
    )
    said = meaning_key(first)
    kept = [first]
    found: dict[str, tuple[str, str]] = {}
    waiting = [one for one in others if not one.pinned]
    # Equal texts first: whom they bring with them decides which tasks a lesson comes from.
    for one in sorted(waiting, key=lambda one: meaning_key(one) != said):
        if normalised(one.text) == normalised(first.text):
            reason = SAME_TEXT
        elif unasked and not learned(one):
            continue
        elif meaning_key(one) == said:
            reason = "the same statement: equal words in the same order, equal figures, signs and conditions"
        elif tasks is None or any(share_a_task(one, other, tasks) for other in kept):
            reason = "the same statement in other words: every figure, name, sign and condition agrees"
        else:
            continue
        kept.append(one)
        found[one.id] = (first.id, reason)
    return found


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


def on_probation(lesson: Lesson, bounds: Bounds, at: datetime | None) -> bool:
    """Whether a lesson has not had its chance yet.

    Provisional, hardly shown, young, and nobody has said that it harms; or brought back a short while ago, whatever
    its counts were before.
    """
    if _brought_back(lesson, bounds, at):
        return True
    t = lesson.tallies
    return lesson.status == "provisional" and not t.harmful and t.shown < bounds.trial_shown and age_in_days(lesson, at) < bounds.trial_days


def _brought_back(lesson: Lesson, bounds: Bounds, at: datetime | None) -> bool:
    return bool(lesson.restored) and age_in_days(replace(lesson, updated=lesson.restored), at) < bounds.trial_days


def _spared(lessons: Sequence[Lesson], bounds: Bounds, at: datetime | None) -> set[str]:
    """Ids of the lessons on probation that nothing else is kept in place of: what was brought back, and the newest in their share."""
    spared = {one.id for one in lessons if learned(one) and _brought_back(one, bounds, at)}
    taken: defaultdict[str, int] = defaultdict(int)
    tokens = 0
    waiting = (one for one in lessons if one.id not in spared and learned(one) and on_probation(one, bounds, at))
    for one in sorted(waiting, key=lambda one: (one.created, one.id), reverse=True):
        tokens += lesson_tokens(one)
        taken[one.section] += 1
        if taken[one.section] <= max(1, PROBATION_SHARE * bounds.lessons_per_section) and tokens <= PROBATION_SHARE * bounds.tokens:
            spared.add(one.id)
    return spared


def _evictions(
    lessons: Sequence[Lesson], bounds: Bounds, at: datetime | None, costs: Mapping[str, int]
) -> tuple[tuple[Retire, ...], tuple[str, ...]]:
    sizes: defaultdict[str, int] = defaultdict(int)
    for lesson in lessons:
        sizes[lesson.section] += 1
    total = sum(costs[lesson.id] for lesson in lessons)
    crowded = {name for name, size in sizes.items() if size > bounds.lessons_per_section}
    if not crowded and total <= bounds.tokens:
        return (), ()
    known = {lesson.id: usefulness(lesson.tallies, age_days=age_in_days(lesson, at)) for lesson in lessons}
    free = [one for one in lessons if learned(one) and not one.pinned and not known[one.id].proven]
    order = sorted(free, key=lambda one: (known[one.id].lower, one.updated, one.id))
    spared = _spared(lessons, bounds, at)
    found: dict[str, Retire] = {}

    def take(lesson: Lesson, bound: str) -> int:
        """Mark a lesson as evicted; the tokens that frees."""
        t, cost = lesson.tallies, costs[lesson.id]
        counts = f"lower bound {known[lesson.id].lower:.2f}; helpful {t.helpful}, harmful {t.harmful}, support {t.support}, shown {t.shown}"
        trial = "; on probation, but all others are proven, pinned or not learned" if lesson.id in spared else ""
        found[lesson.id] = Retire(lesson.id, f"{bound}; least sure to help ({counts}); frees {cost} tokens{trial}")
        sizes[lesson.section] -= 1
        return cost

    # Sections first: what leaves them may be all that the tokens need. Lessons on probation go last, and no further than to the bound.
    for trial in (False, True):
        for lesson in order:
            goal = bounds.lessons_per_section if trial else _goal(bounds.lessons_per_section, bounds.fill)
            if lesson.section in crowded and (lesson.id in spared) == trial and sizes[lesson.section] > goal:
                total -= take(lesson, f"section '{lesson.section}' holds more than {bounds.lessons_per_section} lessons")
    passed = total > bounds.tokens
    for trial in (False, True):
        for lesson in order:
            goal = bounds.tokens if trial else _goal(bounds.tokens, bounds.fill)
            if passed and lesson.id not in found and (lesson.id in spared) == trial and total > goal:
                total -= take(lesson, f"the scope holds more than {bounds.tokens} tokens")
    rest = "the rest is pinned, proven, imported or written by a person"
    over = [
        f"section '{name}' stays at {sizes[name]} lessons: {rest}" for name in sorted(crowded) if sizes[name] > bounds.lessons_per_section
    ]
    if total > bounds.tokens:
        over.append(f"the scope stays at {total} tokens: {rest}")
    return tuple(found.values()), tuple(over)


def _goal(bound: int, fill: float) -> int:
    """What refine goes down to; never to nothing where the bound leaves room for one."""
    return max(min(bound, 1), int(bound * fill))
