"""Choosing what an agent sees for a task: the stable core, then what this task calls for, in a budget."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tenure.governance.redaction import redact
from tenure.learning.embedding import Question
from tenure.playbook.aggregates import Aggregate
from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.lessons import Lesson, short_ids
from tenure.playbook.render import (
    INTRODUCTION,
    TAIL_SHARE,
    Core,
    Rendered,
    build_core,
    choose_core,
    continue_core,
    defused,
    lesson_block,
    lesson_tokens,
)
from tenure.playbook.run import Run
from tenure.playbook.tables import Tables, tables_text
from tenure.ports import Nearest, Reading
from tenure.ranking import choose, estimate_tokens, query_words

SMALL_BUDGET = 1_000
"""Below this many tokens all goes to the task at hand: a core would leave no room for it."""

CORE_SHARE = 0.6
"""The largest share of a budget that core and tail may take together when not everything fits."""

CASES_LOOKED_AT = 20
"""While a scope has no more runs than this they are shown whole, if the budget allows."""

MOST_CANDIDATES = 100
"""How many lessons the search and the runs of like tasks may each put forward."""

LIKE_CASES = 24
"""How many runs of like tasks say what a task will do."""

VECTOR_SHARE = 0.15
"""Weight of likeness by vectors beside that by words. More lets a weak embedder outvote the words; at this it never lost on any set."""

UNSEEN_TOOL = 0.05
"""Chance that a task calls a tool which no like run called."""

OTHER_CHANCE = 0.1
"""Chance that a lesson which is not about one tool's error matters, beyond its likeness to the task."""

HABIT_CHANCE = 0.03
"""The same for a lesson that says what successful runs did anyway: it seldom changes what an agent does."""

SEEN_ONCE = 0.2
"""Added to how often a lesson's subject came up: what came once may come again."""

FIGURES_SHARE = 0.15
"""The largest share of a budget that tables of figures may take."""

FIGURES_TOKENS = 800
"""The most that they may take, whatever the budget."""

TABLES_LOOKED_AT = 20
"""How many tables are read for one context, those that share words with the task first."""

ROWS_SHOWN = 12
"""Rows of one table."""

LONGEST_KEY = 4
"""Words of the task in a row that are looked up as the key of a row."""

FOR_THIS_TASK = "## for this task"

NO_QUESTION = Question()


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a lesson is in a context.

    Attributes:
        id: the lesson.
        part: `core`, `tail` or `recall`.
        relevance: of the lesson to the task, 0 to 1; 0 where it is there for its usefulness alone.
        usefulness: lower bound of the posterior that it helps, 0 to 1.
        tokens: what it costs.
    """

    id: str
    part: str
    relevance: float
    usefulness: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an agent is shown for a task.

    Attributes:
        text: for the prompt; empty if there is nothing to say yet.
        tokens: its estimated size.
        lessons: ids of the lessons in it, in order.
        cases: ids of the runs in it, in order.
        parts: estimated tokens of `core`, `tail`, `recall` and `cases`, and of `figures` where the scope has some.
        why: one entry per lesson.
        core: the core to keep for the next context; none if this budget had no room for one.
        search: how what resembles the task was found, such as `keywords`, or `keywords and vectors of NAME`.
        notes: what did not work on the way, a sentence each.
        shown_as: each lesson's id as it stands in the text, by the full id.
    """

    text: str = ""
    tokens: int = 0
    lessons: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    parts: dict[str, int]
    why: tuple[Why, ...] = ()
    core: Core | None = None
    search: str = "keywords"
    notes: tuple[str, ...] = ()


def recall(reading: Reading, task: str, *, budget: int, core_tokens: int, at: datetime, question: Question = NO_QUESTION) -> Context:
    """The context for a task.

    Cost follows what is shown and what the search finds, not the size of the playbook, except when a
    core is built.

    Args:
        reading: the scope.
        task: the input, in any script.
        budget: tokens in all; never passed.
        core_tokens: cap on the stable core.
        at: the present moment.
        question: the task as a vector, where there is an embedder.
    """
    stable, lessons = _stable(reading, budget, core_tokens, at)
    text = stable.text if stable is not None else ""
    shown = set(stable.ids) if stable is not None else set()
    tables = _tables(reading, task, min(int(budget * FIGURES_SHARE), FIGURES_TOKENS, budget - estimate_tokens(text)))
    outlook, found = look_out(reading, task, question)
    candidates = {lesson.id: lesson for lesson in found if lesson.id not in shown}
    ids = short_ids([*shown, *candidates])
    chosen = _choose_recalled(
        list(candidates.values()), outlook, ids, budget - estimate_tokens(text + tables.text) - estimate_tokens(_heading(text)) - 1, at
    )
    recalled = "".join(f"{lesson_block(lesson, ids[lesson.id])}\n" for lesson in chosen)
    if recalled:
        recalled = f"{_heading(text)}\n{recalled}"
    # Figures change with every observation: they stand behind all that a prefix cache can keep.
    recalled += tables.text
    cases, case_text = _whole_cases(reading, budget - estimate_tokens(text + recalled))
    whole = redact(text + recalled + case_text).text
    tail = {line.id for line in stable.core.tail} if stable is not None else set[str]()
    lessons = {**lessons, **candidates}
    why = [
        Why(
            id=lesson_id,
            part="recall" if lesson_id not in shown else "tail" if lesson_id in tail else "core",
            relevance=round(outlook.likeness(lessons[lesson_id]), 3),
            usefulness=round(_lower(lessons[lesson_id], at), 3),
            tokens=lesson_tokens(lessons[lesson_id]),
        )
        for lesson_id in (*(stable.ids if stable is not None else ()), *(lesson.id for lesson in chosen))
    ]
    return Context(
        text=whole,
        tokens=estimate_tokens(whole),
        lessons=tuple(entry.id for entry in why),
        cases=cases,
        parts={
            "core": stable.core_tokens if stable is not None else 0,
            "tail": stable.tail_tokens if stable is not None else 0,
            "recall": estimate_tokens(recalled) - tables.tokens,
            "cases": estimate_tokens(case_text),
        }
        | ({"figures": tables.tokens} if tables.ids else {}),
        why=tuple(why),
        core=stable.core if stable is not None else None,
        search=outlook.search,
        notes=_notes(question, lessons),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a task's words and the runs of tasks like it say about what will matter.

    Attributes:
        words: likeness of lessons to the task by id, the best being 1.
        cases: likeness of kept runs' tasks to the task by run id, the best being 1.
        tools: by tool, the chance that the task calls it: its share among like runs.
        search: how all this was found.
    """

    words: dict[str, float]
    cases: dict[str, float]
    tools: dict[str, float]
    search: str = "keywords"

    def likeness(self, lesson: Lesson) -> float:
        """How much a lesson's subject resembles the task, 0 to 1: through the runs it came from, else through its words."""
        said = self.words.get(lesson.id, 0.0)
        if not lesson.evidence:
            return said
        return 0.25 * said + 0.75 * max((self.cases.get(place.run, 0.0) for place in lesson.evidence), default=0.0)

    def chance(self, lesson: Lesson) -> float:
        """The chance that what a lesson is about comes up at all, 0 to 1."""
        kind, _, rest = lesson.about.partition(":")
        if kind == "tool-error":
            return self.tools.get(rest.partition(":")[0], UNSEEN_TOOL)
        return HABIT_CHANCE if kind == "sequence" else OTHER_CHANCE


def look_out(reading: Reading, task: str, question: Question = NO_QUESTION) -> tuple[Outlook, list[Lesson]]:
    """What to expect of a task, and the lessons that may matter for it, from the scope and its parents."""
    query = query_words(task)
    hits = reading.search(query, limit=MOST_CANDIDATES)
    like = reading.cases_like(query, limit=LIKE_CASES)
    near, near_cases, search = _near(reading, question, runs_too=not like)
    best = max((hit.score for hit in hits), default=1.0)
    nearest = max((case.score for case in like), default=1.0)
    said = fused({hit.lesson.id: hit.score / best for hit in hits}, near)
    fused_cases = fused({case.run: case.score / nearest for case in like}, near_cases)
    weights = {run: fused_cases[run] for run in sorted(fused_cases, key=lambda run: (-fused_cases[run], run))[:LIKE_CASES]}
    called = {**{one.id: one.tools for one in near_cases.hits}, **{case.run: case.tools for case in like}}
    total = sum(weights.values())
    tools: dict[str, float] = {}
    for run, weight in weights.items():
        for tool in called[run]:
            tools[tool] = tools.get(tool, 0.0) + weight
    outlook = Outlook(
        words=said,
        cases=weights,
        tools={tool: (weight + 0.2) / (total + 1.0) for tool, weight in tools.items()},
        search=search,
    )
    resting = reading.near(list(weights), list(tools), limit=MOST_CANDIDATES)
    supported = reading.supported(limit=MOST_CANDIDATES // 2)
    alike = (one.lesson for one in near.hits if one.lesson is not None)
    lessons = {lesson.id: lesson for lesson in (*(hit.lesson for hit in hits), *alike, *resting, *supported)}
    return outlook, list(lessons.values())


def _near(reading: Reading, question: Question, *, runs_too: bool) -> tuple[Nearest, Nearest, str]:
    """Lessons and runs near the question's vector, and how they were looked for.

    Runs are asked for only where no run shares a word with the task. Beside runs that do, those that are
    near in meaning blur what the task will do: on airline tasks one lesson met 6 of 18 errors, not 10.
    """
    if question.vector is None:
        return Nearest(), Nearest(), "keywords"
    lessons = reading.nearest(question.vector, model=question.model, kind="lesson", limit=MOST_CANDIDATES)
    runs = reading.nearest(question.vector, model=question.model, kind="run", limit=LIKE_CASES) if runs_too else Nearest()
    if not lessons.compared and not runs.compared:
        return lessons, runs, "keywords"
    return lessons, runs, f"keywords, and vectors of {question.model} ({lessons.compared} lessons, {runs.compared} runs)"


def fused(said: dict[str, float], near: Nearest) -> dict[str, float]:
    """Likeness by words and by vectors as one, 0 to 1, by id.

    Args:
        said: likeness by words, 0 to 1.
        near: likeness by vectors; counted from the least to the greatest cosine of all that were compared.
            Nothing was compared: words alone count.
    """
    if not near.hits or near.hits[0].cosine <= near.lowest:
        return dict(said)
    spread = near.hits[0].cosine - near.lowest
    both = {one: (1 - VECTOR_SHARE) * worth for one, worth in said.items()}
    for hit in near.hits:
        both[hit.id] = both.get(hit.id, 0.0) + VECTOR_SHARE * (hit.cosine - near.lowest) / spread
    return both


def _notes(question: Question, lessons: Mapping[str, Lesson]) -> tuple[str, ...]:
    if question.failed:
        return (question.failed,)
    if question.model and question.vector is None and lessons:
        return (f"Nothing here has vectors of {question.model} yet, so search was by keywords. Make them: tenure embed",)
    return ()


def _stable(reading: Reading, budget: int, core_tokens: int, at: datetime) -> tuple[Rendered | None, dict[str, Lesson]]:
    """Core and tail with their lessons, where the budget has room for them."""
    everything = sum(tokens for _, tokens in reading.sizes().values())
    whole = everything * 1.1 + 60 <= min(budget, core_tokens)
    if not everything or (budget < SMALL_BUDGET and not whole):
        return None, {}
    room = budget if whole else int(budget * CORE_SHARE)
    cap = core_tokens if whole else min(core_tokens, int(room / (1 + TAIL_SHARE)))
    kept = reading.core()
    reason = "first core"
    if kept is not None:
        known = {line.id for line in (*kept.lines, *kept.tail)}
        shown = dict(reading.named(known))
        new = [lesson for lesson in reading.since(kept.version) if lesson.id not in known]
        went_on = continue_core(kept, shown, new)
        # A core that was made for a larger budget does not fit; this budget gets its own, which is not kept.
        if isinstance(went_on, Rendered) and estimate_tokens(went_on.text) <= room:
            return went_on, {**shown, **{lesson.id: lesson for lesson in new}}
        reason = went_on if isinstance(went_on, str) else reason
    chosen = reading.named(choose_core(reading.briefs(), cap, at=at))
    built = build_core(list(chosen.values()), kept, reason=reason, version=reading.version())
    return (built, dict(chosen)) if estimate_tokens(built.text) <= room else (None, {})


def _tables(reading: Reading, task: str, room: int) -> Tables:
    """The scope's figures, those first whose names share words with the task; rows that the task names before others."""
    if room <= 0:
        return Tables()
    known = reading.aggregate_names()
    asked = set(query_words(task))
    shared = {one: len(asked.intersection(query_words(f"{section} {name}"))) for one, (section, name) in known.items()}
    chosen = sorted(known, key=lambda one: (-shared[one], known[one]))[:TABLES_LOOKED_AT]
    words = task.split()[:200]
    keys = {" ".join(words[at : at + length]).strip(".,;:?!\"'()") for at in range(len(words)) for length in range(1, LONGEST_KEY + 1)}
    own = reading.aggregates(ids=chosen, most_rows=ROWS_SHOWN, keys=keys) if chosen else ()
    # A scope's own table stands in the place of one of the same name above it.
    tables = {table.id: table for _, table in reversed(reading.inherited_aggregates(most_rows=ROWS_SHOWN, keys=keys))}
    tables |= {table.id: table for table in own}

    def order(table: Aggregate) -> tuple[int, bool, bool, str, str]:
        said = len(asked.intersection(query_words(f"{table.section} {table.name}")))
        return (-said, table.id not in known, not any(row.key in keys for row in table.rows), table.section, table.name)

    return tables_text(sorted(tables.values(), key=order), room)


def _heading(stable: str) -> str:
    """What stands above the lessons for a task: who has read the core knows what lessons are for."""
    return FOR_THIS_TASK if stable else INTRODUCTION


def _choose_recalled(lessons: Sequence[Lesson], outlook: Outlook, ids: dict[str, str], room: int, at: datetime) -> list[Lesson]:
    costs = [estimate_tokens(lesson_block(lesson, ids[lesson.id])) + 1 for lesson in lessons]
    # By the root of the cost: short lessons go first where worth is near, but length alone never decides.
    worths = [worth(lesson, outlook, at) / cost**0.5 for lesson, cost in zip(lessons, costs, strict=True)]
    return [lessons[place] for place in choose(costs, worths, room)]


def worth(lesson: Lesson, outlook: Outlook, at: datetime) -> float:
    """What showing a lesson for a task is worth: how sure it is to help, times how likely it is to matter.

    It matters if the task resembles those it came from, and if what it is about keeps coming up in
    runs that do what this task will do.
    """
    often = SEEN_ONCE + 1 - 0.75 ** min(lesson.tallies.support, 12)
    return _lower(lesson, at) * (0.05 + 0.4 * outlook.likeness(lesson) + 3.0 * outlook.chance(lesson) * often)


def _lower(lesson: Lesson, at: datetime) -> float:
    return usefulness(lesson.tallies, age_days=age_in_days(lesson, at)).lower


def _whole_cases(reading: Reading, room: int) -> tuple[tuple[str, ...], str]:
    """All runs of the scope, where they are few and fit: raw history is a strong baseline."""
    ids = reading.run_ids(limit=CASES_LOOKED_AT + 1)
    if not ids or len(ids) > CASES_LOOKED_AT or room < SMALL_BUDGET:
        return (), ""
    blocks: list[str] = []
    for run_id in reversed(ids):
        run = reading.run(run_id)
        if run is None or not run.steps:
            return (), ""
        blocks.append(case_block(run))
        room -= estimate_tokens(blocks[-1])
        if room < 0:
            return (), ""
    return tuple(reversed(ids)), "## earlier runs\n" + "".join(blocks)


def case_block(run: Run) -> str:
    """A run as a prompt shows it: what was asked, each step in a line, how it ended."""
    lines = [f"- run {run.id}: {defused(run.task.text)}"]
    for step in run.steps:
        said = step.content if not step.arguments else f"{json.dumps(dict(step.arguments), ensure_ascii=False)} {step.content}"
        if step.error and step.error not in said:  # most logs of others hold it in both
            said = f"error: {step.error} {said}"
        label = step.name or step.role or step.kind
        lines.append(f"  | {label}: {defused(' '.join(said.split()))}")
    if run.outcome.known or run.outcome.feedback:
        verdict = "succeeded" if run.outcome.success else "failed" if run.outcome.known else "unknown"
        lines.append(f"  | outcome: {verdict}. {defused(run.outcome.feedback)}".rstrip())
    return "\n".join(lines) + "\n"
