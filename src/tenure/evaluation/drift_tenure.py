"""The engine as an arm of the drift bench: lessons as deltas, credit, grades on kept cases, refine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from tenure.evaluation.drift_arms import REFINE_EVERY, Result
from tenure.evaluation.drift_world import Case, Condition, Rule, World
from tenure.playbook.apply import apply
from tenure.playbook.credit import credit, standing
from tenure.playbook.delta import Add, Delta, Operation, Retire
from tenure.playbook.evidence import DEVIATIONS, usefulness
from tenure.playbook.lessons import Evidence, Lesson
from tenure.playbook.refine import Bounds, plan_refinement
from tenure.playbook.run import Outcome, Run, Task
from tenure.playbook.state import Playbook

HALF_LIFE = 16
"""Further matching cases after which a grade weighs half. Set before the first run; see design/drift-bench.md."""

LEAST_WEIGHT = 3.0
"""Weight of grades from which a lesson can be known to mislead; as many as `credit.standing` asks for."""

SECTION = "rules"


@dataclass(slots=True)
class Grades:
    """How often a lesson would have been right on kept cases, fading."""

    good: float = 0.0
    bad: float = 0.0

    def add(self, right: bool) -> None:
        """One more matching case."""
        fade = 0.5 ** (1 / HALF_LIFE)
        self.good, self.bad = self.good * fade + right, self.bad * fade + (not right)

    def bound(self, side: int) -> float:
        """The lower (-1) or upper (1) bound of the posterior, as `playbook.evidence` draws it."""
        a, b = 1.0 + self.good, 1.0 + self.bad
        return a / (a + b) + side * DEVIATIONS * sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))


class Engine:
    """A playbook that is taught case by case.

    Args:
        world: its parameters.
        graded: whether lessons are graded on kept cases, or only counted for when they were obeyed.
    """

    def __init__(self, world: World, *, graded: bool) -> None:
        self._world, self._graded = world, graded
        self._book = Playbook()
        self._lessons: dict[str, Lesson] = {}
        self._rules: dict[str, Rule] = {}
        self._by_condition: defaultdict[Condition, list[str]] = defaultdict(list)
        self._grades: defaultdict[str, Grades] = defaultdict(Grades)
        self._cases: list[Case] = []
        self._deltas = 0

    def matching(self, case: Case) -> Sequence[Rule]:
        """Live lessons that match, by the lower bound of usefulness."""
        live = [one for one in self._all_matching(case) if self._lessons[one].live]
        return [self._rules[one] for one in sorted(live, key=self._rank, reverse=True)[: self._world.shown]]

    def learn(self, result: Result) -> None:
        """One delta: credit, standing, and what was written."""
        case = result.case
        shown = tuple(self._id_of(rule) for rule in result.shown)
        outcome = Outcome(success=result.good, signal="label", expected=str(case.label))
        run = Run(id=f"run-{case.at}", task=Task(text=_asked(case)), shown=shown, cited=shown[:1], outcome=outcome)
        counts = credit(run)
        operations: list[Operation] = list(counts)
        if not self._graded:
            operations += standing([self._lessons[one] for one in shown], counts, honest=True)
        self._cases.append(case)
        touched = set(shown)
        if self._graded:
            for one in self._all_matching(case):
                self._grades[one].add(self._rules[one].action == case.label)
                misled = self._misled(one)
                operations += misled
                touched.update(op.id for op in misled)
        written = result.written
        if written is not None:
            place = Evidence(run=run.id, role="source")
            operations.append(Add(SECTION, written.text, applies_when=written.when, status="provisional", evidence=(place,)))
        receipts = self._apply(operations)
        if written is not None:
            touched.add(self._keep(written, receipts[-1]))
        self._read(touched)
        if (case.at + 1) % REFINE_EVERY == 0:
            plan = plan_refinement(self._book.lessons, Bounds(), review=False)
            if plan.operations:
                self._apply(plan.operations)
                self._read(self._lessons)

    def _rank(self, one: str) -> tuple[float, int, int]:
        rule = self._rules[one]
        bound = self._grades[one].bound(-1) if self._graded else usefulness(self._lessons[one].tallies).lower
        return (bound, len(rule.condition), rule.at)

    def _misled(self, one: str) -> list[Retire]:
        grades, lesson = self._grades[one], self._lessons[one]
        if lesson.live and grades.good + grades.bad >= LEAST_WEIGHT and grades.bound(1) < 0.5:
            return [Retire(one, f"wrong on {grades.bad:.1f} of {grades.good + grades.bad:.1f} kept cases that match it")]
        return []

    def _keep(self, rule: Rule, root: str) -> str:
        if root not in self._rules:
            self._rules[root] = rule
            self._by_condition[rule.condition].append(root)
            if self._graded:
                for case in self._cases:
                    if case.matches(rule.condition):
                        self._grades[root].add(rule.action == case.label)
        return root

    def _all_matching(self, case: Case) -> list[str]:
        return [one for condition in case.conditions() if condition in self._by_condition for one in self._by_condition[condition]]

    def _id_of(self, rule: Rule) -> str:
        return next(one for one in self._by_condition[rule.condition] if self._rules[one].action == rule.action)

    def _apply(self, operations: Sequence[Operation]) -> list[str]:
        self._deltas += 1
        done = apply(self._book, Delta(f"d{self._deltas:09d}", operations))
        self._book = done.playbook
        return [receipt.id for receipt in done.receipts]

    def _read(self, ids: object) -> None:
        for one in list(ids):  # type: ignore[call-overload]
            lesson = self._book.lesson(one)
            assert lesson is not None
            self._lessons[one] = lesson


def _asked(case: Case) -> str:
    return ", ".join(f"f{feature}=v{value}" for feature, value in enumerate(case.features))
