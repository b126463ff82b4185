"""What a task's words, and the runs of tasks like it, say about what will matter for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tenure import terms
from tenure.fusion import VECTOR_WEIGHT
from tenure.learning.embedding import Question
from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.grading import Belief
from tenure.playbook.lessons import Lesson, Tallies, normalised
from tenure.ports import Hit, Nearest, Reading

MOST_CANDIDATES = 100
"""How many lessons the search and the runs of like tasks may each put forward."""

LIKE_CASES = 24
"""How many runs of like tasks say what a task will do."""

UNSEEN_TOOL = 0.05
"""Chance that a task calls a tool which no like run called."""

LIKELY = 0.5
"""Chance from which on it is said that a tool will be called."""

LEAST_LIKE = 0.2
"""Share of a task's words, the rare ones counting more, from which on the task of a run is like it."""

LEAST_HELD = 0.34
"""The same as a plain share: where all tasks of a scope are alike, no word they share is rare."""

ENOUGH_EMBEDDED = 0.8
"""Share of the scope's lessons that must have a vector, for vectors to have a say."""

NAMED = 0.9
"""Least likeness of a lesson that holds an identifier of the task exactly, if few lessons do. What else it shares adds to that."""

NAMED_BY_FEW, NAMED_SHARE = 5, 0.1
"""An identifier that more lessons than this hold, and more than this share of the scope's, tells them apart no better than a word."""

MOST_WORDS = 5
"""How many words of the task that a lesson has are told."""

OTHER_CHANCE = 0.1
"""Chance that a lesson which is not about one tool's error matters, beyond its likeness to the task."""

COMES_AGAIN = 0.5
"""The same for a lesson from a run of the very task that is asked now, word for word: what came up there is likely to come up again."""

HABIT_CHANCE = 0.03
"""The same for a lesson that says what successful runs did anyway: it seldom changes what an agent does."""

NO_QUESTION = Question()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a task's words and the runs of tasks like it say about what will matter.

    Attributes:
        words: likeness of lessons to the task by id, 0 to 1: the share of it that they hold, and their nearness in meaning.
        cases: likeness of kept runs' tasks to the task by run id, alike.
        alike: the runs whose task is like this one in words or meaning, not only by a word or two.
        tools: by tool, the chance that the task calls it: its share among like runs.
        hits: what each lesson that was found by keywords holds of the task, by id.
        near: cosine of each lesson whose vector stands out among those of all, by id.
        search: how all this was found.
        notes: what was in the way, a sentence each.
        beliefs: what their grades on kept cases amount to, by lesson id.
        again: runs of the very same task, word for word.
        common: identifiers of the task that so many lessons hold that none stands out by them.
    """

    words: dict[str, float]
    cases: dict[str, float]
    tools: dict[str, float]
    alike: frozenset[str] = frozenset()
    hits: Mapping[str, Hit] = field(default_factory=dict[str, Hit])
    near: Mapping[str, float] = field(default_factory=dict[str, float])
    search: str = "keywords"
    notes: tuple[str, ...] = ()
    beliefs: Mapping[str, Belief] = field(default_factory=dict[str, Belief])
    again: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()

    def sure(self, lesson: Lesson, at: datetime) -> float:
        """How sure a lesson is to help, 0 to 1: by its grades where they decide, else by its live counts."""
        graded = self.beliefs.get(lesson.id)
        return graded.value if graded is not None and graded.decides else usefulness(lesson.tallies, age_days=age_in_days(lesson, at)).lower

    def helps(self, lesson: Lesson, at: datetime) -> float:
        """How likely a lesson is to help where it matters, 0 to 1: by its grades where they decide, else the mean of live verdicts."""
        graded = self.beliefs.get(lesson.id)
        if graded is not None and graded.decides:
            return graded.value
        counts = lesson.tallies
        live = Tallies(helpful=counts.helpful, harmful=counts.harmful, neutral=counts.neutral) if counts.support else counts
        return usefulness(live, age_days=age_in_days(lesson, at)).mean

    def likeness(self, lesson: Lesson) -> float:
        """How much a lesson's subject resembles the task, 0 to 1: through the runs it came from, else through its words."""
        said = self.words.get(lesson.id, 0.0)
        if lesson.evidence:
            said = 0.25 * said + 0.75 * max((self.cases.get(place.run, 0.0) for place in lesson.evidence), default=0.0)
        return NAMED + (1 - NAMED) * said if self.named(lesson) else said

    def named(self, lesson: Lesson) -> list[str]:
        """Identifiers of the task that the lesson holds exactly and few others do."""
        hit = self.hits.get(lesson.id)
        return [one for one in hit.identifiers if one not in self.common] if hit is not None else []

    def reasons(self, lesson: Lesson) -> list[str]:
        """What makes a lesson matter for the task, in words."""
        found: list[str] = []
        hit = self.hits.get(lesson.id)
        if named := self.named(lesson):
            found.append(f"it names {', '.join(named[:3])}")
        if hit is not None and hit.words:
            found.append(f"it has {', '.join(hit.words[:MOST_WORDS])}{'…' if len(hit.words) > MOST_WORDS else ''}")
        if lesson.id in self.near:
            found.append(f"near in meaning ({self.near[lesson.id]:.2f})")
        run = max((place.run for place in lesson.evidence), key=lambda run: self.cases.get(run, 0.0), default="")
        if run in self.alike:
            found.append("it came from a task like this one")
        kind, _, rest = lesson.about.partition(":")
        tool = rest.partition(":")[0] if kind == "tool-error" else ""
        if self.tools.get(tool, 0.0) >= LIKELY:
            found.append(f"tasks like this one call {tool}")
        return found or ["useful in general"]

    def chance(self, lesson: Lesson) -> float:
        """The chance that what a lesson is about comes up at all, 0 to 1."""
        kind, _, rest = lesson.about.partition(":")
        if kind == "sequence":
            return HABIT_CHANCE
        known = self.tools.get(rest.partition(":")[0], UNSEEN_TOOL) if kind == "tool-error" else OTHER_CHANCE
        return max(known, COMES_AGAIN) if any(place.run in self.again for place in lesson.evidence) else known


def look_out(reading: Reading, task: str, question: Question = NO_QUESTION) -> tuple[Outlook, list[Lesson]]:
    """What to expect of a task, and the lessons that may matter for it, from the scope and its parents."""
    hits = reading.search(task, limit=MOST_CANDIDATES)
    like = reading.cases_like(task, limit=LIKE_CASES)
    near, near_cases, search, notes = _near(reading, question, runs_too=max((case.score for case in like), default=0.0) < LEAST_LIKE)
    said = fused({hit.lesson.id: hit.score for hit in hits}, near)
    fused_cases = fused({case.run: case.score for case in like}, near_cases)
    weights = {run: fused_cases[run] for run in sorted(fused_cases, key=lambda run: (-fused_cases[run], run))[:LIKE_CASES]}
    # What a search finds in common stays below 1 even where a task comes again word for word.
    again = {run for run, said in reading.tasks_of(list(weights)).items() if said == normalised(task)}
    weights |= dict.fromkeys(again, 1.0)
    called = {**{one.id: one.tools for one in near_cases.hits}, **{case.run: case.tools for case in like}}
    total = sum(weights.values())
    tools: dict[str, float] = {}
    for run, weight in weights.items():
        for tool in called[run]:
            tools[tool] = tools.get(tool, 0.0) + weight
    asked = len(terms.question(task).words)
    alike = {case.run for case in like if case.score >= LEAST_LIKE or (case.words and len(case.words) >= LEAST_HELD * asked)}
    alike.update(one.id for one in near_cases.hits if near_cases.stands_out(one.cosine))
    outlook = Outlook(
        words=said,
        cases=weights,
        alike=frozenset(alike),
        tools={tool: (weight + 0.2) / (total + 1.0) for tool, weight in tools.items()},
        hits={hit.lesson.id: hit for hit in hits},
        near={one.id: one.cosine for one in near.hits if near.stands_out(one.cosine)},
        search=search,
        notes=notes,
        again=frozenset(again),
        common=_common([hit.identifiers for hit in hits], sum(count for count, _ in reading.sizes().values())),
    )
    resting = reading.near(list(weights), list(tools), limit=MOST_CANDIDATES)
    supported = reading.supported(limit=MOST_CANDIDATES // 2)
    in_meaning = (one.lesson for one in near.hits if one.lesson is not None)
    lessons = {lesson.id: lesson for lesson in (*(hit.lesson for hit in hits), *in_meaning, *resting, *supported)}
    return outlook, list(lessons.values())


def _common(held: Iterable[Sequence[str]], lessons: int) -> frozenset[str]:
    """Identifiers that too many of a scope's lessons hold to tell them apart, such as a sign of the notation they are all written in."""
    counted = Counter(one for identifiers in held for one in identifiers)
    return frozenset(one for one, count in counted.items() if count > max(NAMED_BY_FEW, NAMED_SHARE * lessons))


def _near(reading: Reading, question: Question, *, runs_too: bool) -> tuple[Nearest, Nearest, str, tuple[str, ...]]:
    """Lessons and runs near the question's vector, how they were looked for, and what was in the way.

    Runs are asked for only where no run is like the task in its words. Beside runs that are, those that are
    near in meaning blur what the task will do: on airline tasks one lesson met 6 of 18 errors, not 10.
    Where many lessons have no vector yet, as in the midst of a change of the embedder, those that have one
    would only crowd the others out.
    """
    if question.vector is None:
        return Nearest(), Nearest(), "keywords", ()
    lessons = reading.nearest(question.vector, model=question.model, kind="lesson", limit=MOST_CANDIDATES)
    runs = reading.nearest(question.vector, model=question.model, kind="run", limit=LIKE_CASES) if runs_too else Nearest()
    every = sum(count for count, _ in reading.sizes().values())
    notes: tuple[str, ...] = ()
    if lessons.compared < ENOUGH_EMBEDDED * every:
        waiting = reading.unembedded(question.model, dimension=len(question.vector), limit=1)
        some = f"Only {lessons.compared:,}" if lessons.compared else "None"
        notes = (
            f"{some} of {every:,} lessons {'have' if lessons.compared > 1 else 'has'} a vector of {question.model}, "
            "so lessons were searched by keywords. "
            f"{'Make the others: tenure embed' if waiting else 'It has none for the others.'}",
        )
        lessons = Nearest()
    if not lessons.compared and not runs.compared:
        return lessons, runs, "keywords", notes
    compared = ", ".join(
        f"{nearest.compared:,} {noun}{'' if nearest.compared == 1 else 's'}"
        for nearest, noun in ((lessons, "lesson"), (runs, "run"))
        if nearest.compared
    )
    return lessons, runs, f"keywords, and vectors of {question.model} ({compared})", notes


def fused(said: dict[str, float], near: Nearest) -> dict[str, float]:
    """Likeness by words and by vectors as one, 0 to 1, by id, as `fusion.fuse` weighs them.

    Args:
        said: likeness by words, 0 to 1.
        near: likeness by vectors; counted from the least to the greatest cosine of all that were compared.
            Nothing was compared: words alone count.
    """
    if not near.hits or near.hits[0].cosine <= near.lowest:
        return dict(said)
    spread = near.hits[0].cosine - near.lowest
    both = {one: (1 - VECTOR_WEIGHT) * worth for one, worth in said.items()}
    for hit in near.hits:
        both[hit.id] = both.get(hit.id, 0.0) + VECTOR_WEIGHT * (hit.cosine - near.lowest) / spread
    return both
