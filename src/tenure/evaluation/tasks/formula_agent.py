"""The transparent agent of the task `formula`: it induces how answers come from numbers, out of cases that it is handed.

From cases under one condition (the name of the formula that the question asks to use) it takes the expression that makes
most of their answers, the simpler one of equals; a lesson is that expression with its condition and, for each role in it,
the cues by which its number is told from the others. What an expression is worth is checked by execution on the cases. The
formula that a question states in words is not read: all that the agent knows, its memory has handed to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import isfinite, log

from tenure.evaluation.tasks.formula_grammar import Expression, Solution, complexity, read_expression, solutions, work_out
from tenure.evaluation.tasks.formula_numbers import Number, numbers_of

SIMPLER = 0.4
"""Cases that a step of complexity has to explain more."""

MOST_LESSONS = 4
"""Expressions under one condition that are kept."""

MOST_CUES = 12
"""Cues of a role that a lesson names, the most telling ones."""

MOST_READINGS = 4
"""Ways to read one case by one expression that are weighed, of those that numbers which are alike allow."""

SMOOTHING = 0.4

_NAMED = re.compile(r"^Use formula (?P<name>.*?) to answer the question\.", re.DOTALL)
_ASKED = re.compile(r"\bQuestion:\s*(?P<question>.*?)\s*(?:Answer:\s*)?$", re.DOTALL)
_ANSWER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with its answer.

    Attributes:
        condition: what it asks to use.
        question: the question itself.
        answer: the number that is said to be right.
    """

    condition: str
    question: str
    answer: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaLesson:
    """How answers come from numbers, and when.

    Attributes:
        condition: what the question asks to use.
        expression: over roles.
        cues: of each role, how telling each cue is, as a logarithm of odds.
        verified: cases whose answer it makes.
        tried: cases under the condition.
    """

    condition: str
    expression: Expression
    cues: tuple[tuple[tuple[str, float], ...], ...]
    verified: int
    tried: int

    @property
    def text(self) -> str:
        """The lesson in words; `read_lesson` reads it."""
        roles = "; ".join(
            f"{chr(ord('a') + place)}: {', '.join(f'{cue} {weight:+.2f}' for cue, weight in some)}" for place, some in enumerate(self.cues)
        )
        return f"{self.condition}: answer = {self.expression}, where {roles}. Checked on {self.tried} cases, right in {self.verified}."


_LESSON = re.compile(
    r"(?P<condition>.*): answer = (?P<expression>\S.*?), where (?P<roles>.*)\. Checked on (?P<tried>\d+) cases, "
    r"right in (?P<verified>\d+)\.",
    re.DOTALL,
)


def read_lesson(text: str) -> FormulaLesson | None:
    """The lesson that a text is; none where it is no such lesson."""
    found = _LESSON.fullmatch(text.strip())
    if found is None:
        return None
    cues: list[tuple[tuple[str, float], ...]] = []
    try:
        for role in found["roles"].split("; "):
            told = role.partition(": ")[2].split(", ")
            cues.append(tuple((cue, float(weight)) for cue, _, weight in (one.rpartition(" ") for one in told if one)))
        expression = read_expression(found["expression"])
    except (ValueError, IndexError):
        return None
    return FormulaLesson(
        condition=found["condition"], expression=expression, cues=tuple(cues), verified=int(found["verified"]), tried=int(found["tried"])
    )


def condition_of(prompt: str) -> str:
    """What a question asks to use; empty if it names nothing."""
    found = _NAMED.match(prompt.strip())
    return " ".join(found["name"].split()) if found is not None else ""


def question_of(prompt: str) -> str:
    """The question itself, without the instruction and the formula in words before it."""
    found = _ASKED.search(prompt)
    return found["question"].strip() if found is not None else prompt.strip()


def answer_of(text: str) -> float | None:
    """A number as an answer has it; none where there is none."""
    found = _ANSWER.fullmatch(text.strip().lstrip("$").rstrip("%").strip())
    value = float(found[0].replace(",", "")) if found is not None else None
    return value if value is not None and isfinite(value) else None


def propose(question: str, memory_cases: Sequence[Case], lessons: Sequence[FormulaLesson], *, condition: str) -> str | None:
    """The answer to a question, with two decimals; none where nothing in the memory says how to come to it.

    Args:
        question: without the instruction.
        memory_cases: cases at hand; those under the condition are induced from.
        lessons: lessons at hand; those under the condition are followed beside what is induced.
        condition: what the question asks to use.
    """
    known = [lesson for lesson in lessons if lesson.condition == condition]
    known += induce(tuple(case for case in memory_cases if case.condition == condition), condition)
    numbers = numbers_of(question)
    best: tuple[float, float] | None = None
    for lesson in known:
        read = reading(lesson, numbers)
        if read is None:
            continue
        likelihood, value = read
        worth = likelihood + 2.0 * log((lesson.verified + 0.5) / (lesson.tried + 1.0)) - SIMPLER * complexity(lesson.expression) / 2
        if best is None or worth > best[0]:
            best = (worth, value)
    return f"{best[1]:.2f}" if best is not None else None


def learn(case: Case, memory_cases: Sequence[Case], lessons: Sequence[FormulaLesson]) -> FormulaLesson | None:
    """The lesson that a case, with those kept before it, gives; none where no expression makes its answer, or a lesson says it.

    Args:
        case: the newest one.
        memory_cases: those kept before it.
        lessons: those kept before it.
    """
    same = tuple(one for one in memory_cases if one.condition == case.condition)
    held = {str(lesson.expression) for lesson in lessons if lesson.condition == case.condition}
    here = {str(one.expression) for one in solved(case)}
    for lesson in induce((*same, case), case.condition):
        if str(lesson.expression) in here:
            return None if str(lesson.expression) in held else lesson
    return None


def solved(case: Case) -> tuple[Solution, ...]:
    """The ways from a case's numbers to its answer."""
    numbers = numbers_of(case.question)
    return solutions(tuple(number.value for number in numbers), case.answer) if numbers else ()


@lru_cache(maxsize=4096)
def induce(cases: tuple[Case, ...], condition: str) -> tuple[FormulaLesson, ...]:
    """Expressions that make the answers of cases, best first; each explains a case that those before it do not."""
    readings: list[dict[str, list[Solution]]] = []
    complexities: dict[str, tuple[float, Expression]] = {}
    for case in cases:
        by_form: dict[str, list[Solution]] = {}
        for one in solved(case):
            form = str(one.expression)
            by_form.setdefault(form, []).append(one)
            complexities.setdefault(form, (complexity(one.expression), one.expression))
        readings.append(by_form)
    left = set(range(len(cases)))
    found: list[FormulaLesson] = []
    while left and len(found) < MOST_LESSONS:
        support = Counter(form for place in left for form in readings[place])
        if not support:
            break
        form = max(support, key=lambda one: (support[one] - SIMPLER * complexities[one][0], one))
        explained = [place for place in range(len(cases)) if form in readings[place]]
        expression = complexities[form][1]
        told = [(numbers_of(cases[place].question), readings[place][form][:MOST_READINGS]) for place in explained]
        cues = _cues(told)
        found.append(
            FormulaLesson(condition=condition, expression=expression, cues=cues, verified=len(explained), tried=len(cases)),
        )
        left -= set(explained)
    return tuple(found)


def _cues(told: Sequence[tuple[Sequence[Number], Sequence[Solution]]]) -> tuple[tuple[tuple[str, float], ...], ...]:
    """How telling each cue is of each role, over cases; where a case can be read in several ways, first all alike, then the likeliest."""
    roles = len(told[0][1][0].places)
    weights: list[dict[str, float]] = []
    for _ in range(3):
        counts = [Counter[str]() for _ in range(roles)]
        totals = [0.0] * roles
        every: Counter[str] = Counter()
        seen = 0.0
        for numbers, ways in told:
            chances = _shares([_likelihood(weights, numbers, one.places) for one in ways]) if weights else [1 / len(ways)] * len(ways)
            for chance, one in zip(chances, ways, strict=True):
                for role, place in enumerate(one.places):
                    totals[role] += chance
                    for cue in numbers[place].cues:
                        counts[role][cue] += chance  # type: ignore[assignment]
            for number in numbers:
                seen += 1
                every.update(number.cues)
        weights = [
            {
                cue: log((counts[role][cue] + SMOOTHING * every[cue] / seen) / (totals[role] + SMOOTHING)) - log(every[cue] / seen)
                for cue in every
            }
            for role in range(roles)
        ]
    return tuple(
        tuple(
            sorted(((cue, round(weight, 2)) for cue, weight in some.items() if abs(weight) >= 0.05), key=lambda one: (-abs(one[1]), one[0]))
        )
        for some in weights
    )


def _shares(likelihoods: Sequence[float]) -> list[float]:
    most = max(likelihoods)
    raised = [2.718281828 ** (one - most) for one in likelihoods]
    return [one / sum(raised) for one in raised]


def _likelihood(weights: Sequence[Mapping[str, float]], numbers: Sequence[Number], places: Sequence[int]) -> float:
    return sum(sum(weights[role].get(cue, 0.0) for cue in numbers[place].cues) for role, place in enumerate(places))


def reading(lesson: FormulaLesson, numbers: Sequence[Number]) -> tuple[float, float] | None:
    """How well numbers fit the roles of a lesson (mean logarithm of odds a role), and the value; none where there are too few."""
    roles = len(lesson.cues)
    if roles > len(numbers):
        return None
    weights = [dict(some) for some in lesson.cues]
    scores = [[sum(some.get(cue, 0.0) for cue in number.cues) for number in numbers] for some in weights]
    best: tuple[float, float] | None = None
    for places in permutations(range(len(numbers)), roles):
        likelihood = sum(scores[role][place] for role, place in enumerate(places)) / roles
        if best is not None and likelihood <= best[0]:
            continue
        value = work_out(lesson.expression, [numbers[place].value for place in places])
        if value is not None and isfinite(value) and abs(value) < 1e18:
            best = (likelihood, value)
    return best
