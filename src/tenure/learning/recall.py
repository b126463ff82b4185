"""Choosing what an agent sees for a task: the stable core, then what this task calls for, in a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from tenure.governance.redaction import redact
from tenure.learning.cases import (
    NO_CASES,
    SIMILAR_SHARE,
    WHOLE_SHARE,
    Cases,
    CaseShown,
    age_said,
    similar_cases,
    whole_cases,
)
from tenure.learning.embedding import Question
from tenure.learning.foretelling import Answer, Foretold, foretell
from tenure.learning.freshness import age_said_of, note_of_ages
from tenure.learning.holdouts import Drawing, WithheldLesson, draw_lessons, withheld_of
from tenure.learning.outlook import NO_QUESTION, Outlook, look_out
from tenure.learning.tables import FIGURES_SHARE, FIGURES_TOKENS, tables_for
from tenure.playbook.evidence import age_in_days
from tenure.playbook.grading import Belief
from tenure.playbook.lessons import Lesson, short_ids
from tenure.playbook.render import (
    INTRODUCTION,
    TAIL_SHARE,
    Core,
    Rendered,
    build_core,
    choose_core,
    continue_core,
    least_core,
    lesson_block,
    lesson_tokens,
    without,
)
from tenure.playbook.run import Draw, vote_of
from tenure.playbook.shelf_life import ShelfLives
from tenure.playbook.tables import Tables
from tenure.ports import Reading, TokenCounter
from tenure.ranking import Estimate, choose_apart, words

SMALL_BUDGET = 1_000
"""Below this many tokens all goes to the task at hand: a core would leave no room for it."""

CORE_SHARE = 0.6
"""The largest share of a budget that core and tail may take together when not everything fits."""

ANSWERS_SHARE = 0.1
"""The largest share of a budget that what similar cases were answered may take."""

SEEN_ONCE = 0.2
"""Added to how often a lesson's subject came up: what came once may come again."""

FOR_THIS_TASK = "## for this task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a lesson is in a context.

    Attributes:
        id: the lesson.
        part: `core`, `tail` or `recall`.
        relevance: of the lesson to the task, 0 to 1; 0 where it is there for its usefulness alone.
        usefulness: lower bound of the posterior that it helps, 0 to 1; where kept cases graded it, the probability that it is right.
        tokens: what it costs, estimated.
        reason: what spoke for it, in words.
        would_have_been_right, would_have_been_wrong: kept cases that say so by replay, followed or not.
    """

    id: str
    part: str
    relevance: float
    usefulness: float
    tokens: int
    reason: str = ""
    would_have_been_right: int = 0
    would_have_been_wrong: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an agent is shown for a task.

    Attributes:
        text: for the prompt; empty if there is nothing to say yet.
        stable: what `text` begins with that is the same for other tasks: core and tail. What else there is follows as `for_task`.
        tokens: its size, as `counted_by` counts.
        lessons: ids of the lessons in it, in order.
        cases: ids of the runs in it, in order.
        parts: tokens of `core`, `tail`, `recall` and `cases`, and of `ages`, `figures` and `answers` where there are some.
        why: one entry per lesson.
        why_cases: one entry per run.
        answers: how the labels of similar cases divide, the best first; empty where no two of them agree.
        left_out: lessons that may matter for the task too and are not shown: there was no room, or a lesson shown says much the same.
        core: the core to keep for the next context; none if this budget had no room for one.
        core_size: the size to keep it under; 0 for that of the settings.
        search: how what resembles the task was found, such as `keywords`, or `keywords and vectors of NAME`.
        counted_by: what counted the tokens, such as `estimate` or `o200k_base (tiktoken)`.
        notes: what did not work on the way, a sentence each.
        withheld: lessons that matched and were left out by chance; their room stays empty.
        draws: every lesson for which chance decided, shown or left out: to be kept with the run.
        holdout: whether lessons are held out of this run, in a sentence; empty where hold-outs are off.
    """

    text: str = ""
    stable: str = ""
    tokens: int = 0
    lessons: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    parts: dict[str, int]
    why: tuple[Why, ...] = ()
    why_cases: tuple[CaseShown, ...] = ()
    answers: tuple[Answer, ...] = ()
    left_out: int = 0
    core: Core | None = None
    core_size: int = 0
    search: str = "keywords"
    counted_by: str = "estimate"
    notes: tuple[str, ...] = ()
    withheld: tuple[WithheldLesson, ...] = ()
    draws: tuple[Draw, ...] = ()
    holdout: str = ""

    @property
    def for_task(self) -> str:
        """What of the text is chosen for this task: it stands behind all that a prompt cache can keep."""
        return self.text[len(self.stable) :]


def recall(
    reading: Reading,
    task: str,
    *,
    budget: int,
    core_tokens: int,
    at: datetime,
    question: Question = NO_QUESTION,
    count: TokenCounter | None = None,
    drawing: Drawing | None = None,
    lives: ShelfLives | None = None,
    explain: bool = True,
    bare: bool = False,
) -> Context:
    """The context for a task: the stable core, then lessons for this task, then cases.

    Cost follows what is shown and what the search finds, not the size of the playbook, except when a
    core is built. A budget below `SMALL_BUDGET` holds lessons alone.

    Args:
        reading: the scope.
        task: the input, in any script.
        budget: tokens in all; never passed.
        core_tokens: cap on the stable core, in estimated tokens.
        at: the present moment.
        question: the task as a vector, where there is an embedder.
        count: counts tokens; none estimates them.
        drawing: how chance leaves lessons out; none leaves out none.
        lives: how long lessons keep; none says no lesson's age.
        explain: whether to say why each lesson is there.
        bare: whether to do without the stable part, as where it does not fit once its secrets are taken out.
    """
    counted = count or Estimate()
    stable, lessons, size = stable_part(reading, budget, core_tokens, at, counted, drawing)
    stable, lessons = (None, {}) if bare else (stable, lessons)
    text = stable.text if stable is not None else ""
    shown = set(stable.ids) if stable is not None else set[str]()
    outlook, candidates = _look_out_beside(shown, reading, task, question)
    ids = short_ids([*shown, *candidates])
    room = budget - counted(text)
    tables = tables_for(reading, task, min(int(budget * FIGURES_SHARE), FIGURES_TOKENS, room))
    ages = note_of_ages(list(lessons.values()), ids, stable.core if stable is not None else None, lives, at)
    foretold = foretell(reading, outlook.cases, min(int(budget * ANSWERS_SHARE), room), counted)
    room -= counted(tables.text) + counted(ages) + counted(foretold.text)
    whole, cases = _cases(reading, outlook, room, at, counted) if budget >= SMALL_BUDGET else (NO_CASES, NO_CASES)
    chosen = _choose_recalled(list(candidates.values()), outlook, ids, room - cases.tokens - counted(_heading(text)) - 1, at, counted)
    recalled = _for_this_task(chosen, ids, text)
    if whole.shown and counted(recalled) + whole.tokens <= room:
        cases = whole
    lessons = {**lessons, **candidates}

    def aged() -> str:
        seen = [lessons[one] for one in (*(stable.ids if stable is not None else ()), *(lesson.id for lesson in chosen))]
        return note_of_ages(seen, ids, stable.core if stable is not None else None, lives, at)

    ages = aged()

    # Figures change with every observation: they stand behind all that a prefix cache can keep.
    def whole_text() -> str:
        return redact(text + recalled + ages + tables.text + cases.text + foretold.text).text

    told = whole_text()
    if not told.startswith(text) and counted(redact(text).text) > budget:  # what stands for a secret can be longer than it
        return recall(
            reading,
            task,
            budget=budget,
            core_tokens=core_tokens,
            at=at,
            question=question,
            count=count,
            drawing=drawing,
            lives=lives,
            explain=explain,
            bare=True,
        )
    while counted(told) > budget and (chosen or cases.shown or tables.ids or ages or foretold.text):
        # Together, texts can have a few tokens more than apart.
        if chosen:
            chosen = chosen[:-1]
            ages = aged()
        elif cases.shown or tables.ids:
            cases, tables = (NO_CASES, tables) if cases.shown else (cases, Tables())
        elif ages:
            ages = ""
        else:
            foretold = Foretold()
        recalled = _for_this_task(chosen, ids, text)
        told = whole_text()
    parts = _parts_of(stable, chosen)
    draws = draw_lessons(reading, [lessons[one] for one in parts], drawing) if drawing is not None else ()
    withheld = withheld_of(draws, parts, drawing)
    offered = len(chosen)
    if withheld:
        # Left out at the very end: what is shown beside a lesson is the same with and without it, so that only it makes the difference.
        gone = {one.id for one in withheld}
        parts = {one: part for one, part in parts.items() if one not in gone}
        stable = without(stable, gone) if stable is not None else None
        text = stable.text if stable is not None else ""
        chosen = [lesson for lesson in chosen if lesson.id not in gone]
        recalled, ages = _for_this_task(chosen, ids, text), aged() if ages else ""
        told = whole_text()
    # Mostly there was nothing to take out. A secret that reached over the seam has another form alone; then nothing is promised to stay.
    kept = text if told.startswith(text) else redact(text).text
    return Context(
        text=told,
        stable=kept if told.startswith(kept) else "",
        tokens=counted(told),
        lessons=tuple(parts),
        cases=tuple(case.run for case in cases.shown),
        parts={
            "core": stable.core_tokens if stable is not None else 0,
            "tail": stable.tail_tokens if stable is not None else 0,
            "recall": counted(recalled),
            "cases": cases.tokens,
        }
        | ({"ages": counted(ages)} if ages else {})
        | ({"figures": counted(tables.text)} if tables.ids else {})
        | ({"answers": counted(foretold.text)} if foretold.text else {}),
        why=tuple(
            _why(lessons[lesson_id], part, outlook, at, age_said_of(lessons[lesson_id], lives, at))
            for lesson_id, part in (parts.items() if explain else ())
        ),
        why_cases=cases.shown,
        answers=foretold.answers,
        left_out=len(candidates) - offered,
        core=stable.core if stable is not None else None,
        core_size=size,
        search=outlook.search,
        counted_by=counted.name,
        notes=(*_notes(question, lessons), *outlook.notes),
        withheld=withheld,
        draws=draws,
        holdout=drawing.said if drawing is not None else "",
    )


def _look_out_beside(shown: Collection[str], reading: Reading, task: str, question: Question) -> tuple[Outlook, dict[str, Lesson]]:
    """What to expect of a task with what is believed of all lessons that may be shown, and those that are not shown yet, by id."""
    outlook, found = look_out(reading, task, question)
    beliefs = reading.beliefs([*shown, *(lesson.id for lesson in found)])
    return replace(outlook, beliefs=beliefs), {lesson.id: lesson for lesson in found if lesson.id not in shown}


def _parts_of(stable: Rendered | None, chosen: Sequence[Lesson]) -> dict[str, str]:
    """Which part of the context each lesson stands in, by id, in their order."""
    tail = {line.id for line in stable.core.tail} if stable is not None else set[str]()
    parts = {one: "tail" if one in tail else "core" for one in (stable.ids if stable is not None else ())}
    return parts | {lesson.id: "recall" for lesson in chosen}


def _for_this_task(chosen: Sequence[Lesson], ids: Mapping[str, str], stable: str) -> str:
    lines = "".join(f"{lesson_block(lesson, ids[lesson.id])}\n" for lesson in chosen)
    return f"{_heading(stable)}\n{lines}" if lines else ""


def _cases(reading: Reading, outlook: Outlook, room: int, at: datetime, count: TokenCounter) -> tuple[Cases, Cases]:
    """All cases, if they fit the room at all, and those that are worth keeping room free for, before lessons are chosen."""
    whole = whole_cases(reading, room, count, likeness=outlook.cases)
    if whole.shown and whole.tokens <= WHOLE_SHARE * room:
        return whole, whole
    like = {run: outlook.cases[run] for run in outlook.alike if run in outlook.cases}
    return whole, similar_cases(reading, like, int(SIMILAR_SHARE * room), count, at=at)


def _why(lesson: Lesson, part: str, outlook: Outlook, at: datetime, age: str = "") -> Why:
    relevance = outlook.likeness(lesson)
    graded = outlook.beliefs.get(lesson.id)
    return Why(
        id=lesson.id,
        part=part,
        relevance=round(relevance, 3),
        usefulness=round(outlook.sure(lesson, at), 3),
        tokens=lesson_tokens(lesson),
        reason=", ".join(
            filter(None, (_place_said(lesson, part), *outlook.reasons(lesson), _record_said(lesson, at), _graded_said(graded), age))
        ),
        would_have_been_right=graded.right if graded is not None else 0,
        would_have_been_wrong=graded.wrong if graded is not None else 0,
    )


def _graded_said(graded: Belief | None) -> str:
    """What kept cases say of it by replay."""
    return f"would have been right {graded.right}, wrong {graded.wrong}" if graded is not None else ""


def _place_said(lesson: Lesson, part: str) -> str:
    if part == "recall":
        return ""
    return "pinned" if lesson.pinned else "new since the core was made" if part == "tail" else "among the surest"


def _record_said(lesson: Lesson, at: datetime) -> str:
    """What its counts say, and how old it is."""
    tallies = lesson.tallies
    counted = [f"helped {tallies.helpful}" if tallies.helpful else "", f"misled {tallies.harmful}" if tallies.harmful else ""]
    seen = f"seen in {tallies.support} runs" if tallies.support > 1 else ""
    age = age_said(age_in_days(lesson, at)).removesuffix(" ago")
    return ", ".join(filter(None, (*counted, seen, f"{age} old" if age else "")))


def _notes(question: Question, lessons: Mapping[str, Lesson]) -> tuple[str, ...]:
    if question.failed:
        return (question.failed,)
    if question.model and question.vector is None and lessons:
        return (f"Nothing here has vectors of {question.model} yet, so search was by keywords. Make them: tenure embed",)
    return ()


def stable_part(
    reading: Reading, budget: int, core_tokens: int, at: datetime, count: TokenCounter, drawing: Drawing | None = None
) -> tuple[Rendered | None, dict[str, Lesson], int]:
    """Core and tail with their lessons, where the budget has room for them, and the size under which the core is kept.

    A lesson that is released gradually stands in neither before it is shown to all: most prompts would have to do without it.
    """

    def waits(lesson: Lesson) -> bool:
        return drawing is not None and drawing.waits(lesson)

    everything = sum(tokens for _, tokens in reading.sizes().values())
    whole = everything * 1.1 + 60 <= min(budget, core_tokens)
    if not everything or (budget < SMALL_BUDGET and not whole) or core_tokens <= least_core():
        return None, {}, 0
    room = budget if whole else int(budget * CORE_SHARE)
    cap = core_tokens if whole else min(core_tokens, int(room / (1 + TAIL_SHARE)))
    size = cap if cap < core_tokens else 0
    kept = reading.core(size)
    reason = "first core"
    if kept is not None:
        known = {line.id for line in (*kept.lines, *kept.tail)}
        shown = dict(reading.named(known))
        # Of a playbook that fits whole, what waited when the core was made comes in once it is shown to all.
        came = reading.lessons() if whole and drawing is not None and drawing.gradual else reading.since(kept.version)
        new = [lesson for lesson in came if lesson.id not in known and not waits(lesson)]
        went_on = continue_core(kept, shown, new, cap)
        if isinstance(went_on, Rendered) and count(went_on.text) <= room:
            return went_on, {**shown, **{lesson.id: lesson for lesson in new}}, size
        reason = went_on if isinstance(went_on, str) else reason
    briefs = reading.briefs()
    chosen = _released(reading.named(choose_core(briefs, cap, at=at)), waits)
    built = build_core(list(chosen.values()), kept, reason=reason, version=reading.version())
    if (tokens := count(built.text)) > room:
        # The estimate reads these texts low. Without a core that fits, one would be sought again for every task.
        room = int(budget * CORE_SHARE)
        chosen = _released(reading.named(choose_core(briefs, int(built.core_tokens * room / (1 + TAIL_SHARE) / tokens), at=at)), waits)
        built = build_core(list(chosen.values()), kept, reason=reason, version=reading.version())
    return (built, dict(chosen), size) if count(built.text) <= room else (None, {}, 0)


def _released(lessons: Mapping[str, Lesson], waits: Callable[[Lesson], bool]) -> Mapping[str, Lesson]:
    return {one: lesson for one, lesson in lessons.items() if not waits(lesson)}


def _heading(stable: str) -> str:
    """What stands above the lessons for a task: who has read the core knows what lessons are for."""
    return FOR_THIS_TASK if stable else INTRODUCTION


def _choose_recalled(
    lessons: Sequence[Lesson], outlook: Outlook, ids: dict[str, str], room: int, at: datetime, count: TokenCounter
) -> list[Lesson]:
    costs = [count(f"{lesson_block(lesson, ids[lesson.id])}\n") for lesson in lessons]
    # By the root of the cost: short lessons go first where worth is near, but length alone never decides.
    worths = [worth(lesson, outlook, at) / cost**0.5 for lesson, cost in zip(lessons, costs, strict=True)]
    # Words as bits: what two lessons share is then one operation, and thousands of pairs are looked at.
    bits: dict[str, int] = {}
    places = choose_apart(
        costs,
        worths,
        room,
        bits=[_as_bits(_word_set(f"{lesson.text} {lesson.applies_when}"), bits) for lesson in lessons],
        votes=[frozenset({vote_of(lesson.origin)} - {""}) if lesson.status == "provisional" else () for lesson in lessons],
    )
    return [lessons[place] for place in places]


def _as_bits(text: Collection[str], bits: dict[str, int]) -> int:
    """Words as the bits of a number; words that have no bit yet get one."""
    found = 0
    for word in text:
        bit = bits.get(word)
        if bit is None:
            bit = bits[word] = 1 << len(bits)
        found |= bit
    return found


@lru_cache(maxsize=4_096)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(words(text))


def worth(lesson: Lesson, outlook: Outlook, at: datetime) -> float:
    """What showing a lesson for a task is worth: how likely it is to help, times how likely it is to matter.

    It matters if the task resembles those it came from, and if what it is about keeps coming up in
    runs that do what this task will do. The runs that a lesson came from say how often its subject
    comes up, and are counted there alone: as help too, they would keep out what was seen once. To
    show a lesson is a bet, so the mean decides; the lower bound is for what is kept and what is proven.
    """
    often = SEEN_ONCE + 1 - 0.75 ** min(lesson.tallies.support, 12)
    return outlook.helps(lesson, at) * (0.05 + 0.4 * outlook.likeness(lesson) + 3.0 * outlook.chance(lesson) * often)
