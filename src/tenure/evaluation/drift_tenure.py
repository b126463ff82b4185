"""The engine as an arm of the drift bench: lessons as deltas, grades on kept cases, standing, narrowing by replay, refine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenure.evaluation.drift_arms import REFINE_EVERY, Result
from tenure.evaluation.drift_world import Case, Condition, Rule, World
from tenure.playbook.apply import apply
from tenure.playbook.credit import credit, standing
from tenure.playbook.delta import Add, Delta, Operation, Tally, Update
from tenure.playbook.evidence import usefulness
from tenure.playbook.fields import Shapes, clauses_of, fields_of
from tenure.playbook.grading import MOST_GRADES, TRUSTED, UNGRADED, Belief, Filter, Noise
from tenure.playbook.lessons import Evidence, Lesson
from tenure.playbook.refine import Bounds, plan_refinement
from tenure.playbook.run import Outcome, Run, Task
from tenure.playbook.state import Playbook
from tenure.roles.narrow import narrow_by_replay

SECTION = "rules"


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
        self._filters: dict[str, Filter] = {}
        self._noise, self._weights = Noise(), Noise().weights
        self._shapes = Shapes()
        self._cases: list[Case] = []
        self._deltas = 0

    @property
    def playbook(self) -> Playbook:
        """What it has learned."""
        return self._book

    def matching(self, case: Case) -> Sequence[Rule]:
        """Live lessons that match, the most believed first; where none is trusted, what similar cases say comes before them."""
        live = [one for one in self._all_matching(case) if self._lessons[one].live]
        best = sorted(live, key=self._rank, reverse=True)[: self._world.shown]
        rules = [self._rules[one] for one in best]
        if not self._graded or (best and self._belief(best[0]) >= TRUSTED):
            return rules
        foretold = self._shapes.foretell(fields_of(_asked(case)))
        if not foretold:
            return rules
        answer = max(foretold, key=lambda one: (foretold[one], one))
        return [Rule(condition=(), action=int(answer[1:]), at=-1, source=()), *rules][: self._world.shown]

    def learn(self, result: Result) -> None:
        """One delta: credit, standing, and what was written."""
        case = result.case
        shown = tuple(self._id_of(rule) for rule in result.shown if rule.at >= 0)
        cited = shown[:1] if result.shown and result.shown[0].at >= 0 else ()
        outcome = Outcome(success=result.good, signal="label", expected=f"a{case.label}")
        run = Run(id=f"run-{case.at}", task=Task(text=_asked(case)), shown=shown, cited=cited, outcome=outcome)
        counts = credit(run)
        operations: list[Operation] = list(counts)
        self._cases.append(case)
        touched = set(shown)
        if self._graded:
            self._shapes.add(fields_of(run.task.text), outcome.expected)
            found = self._all_matching(case)
            for one in found:
                self._set_filter(one, self._filters.get(one, UNGRADED).after(self._rules[one].action == case.label))
            self._weights = self._noise.weights
            touched.update(found)
            moves = standing(
                [self._lessons[one] for one in sorted(touched)], counts, honest=True, beliefs={one: self._belief_in(one) for one in touched}
            )
        else:
            moves = standing([self._lessons[one] for one in shown], counts, honest=True)
        operations += moves
        if self._graded and cited and not result.good:
            operations += self._revised(cited[0])
        written = self._reshaped(result.written) if result.written is not None and self._graded else result.written
        known = self._known(written) if written is not None else None
        if written is not None and known is not None:
            operations.append(Tally(known, support=1))
        elif written is not None:
            place = Evidence(run=run.id, role="source")
            operations.append(Add(SECTION, written.text, applies_when=written.when, status="provisional", evidence=(place,)))
        receipts = self._apply(operations)
        if written is not None and known is None:
            self._stands(receipts[-1], written)
        self._read(dict.fromkeys(one for one in receipts if one))
        if (case.at + 1) % REFINE_EVERY == 0:
            plan = plan_refinement(self._book.lessons, Bounds(), review=False)
            if plan.operations:
                self._apply(plan.operations)
                self._read(self._lessons)

    def _reshaped(self, rule: Rule) -> Rule:
        """A rule with the conditions that replay finds in its source case."""
        found = narrow_by_replay(rule.when, _said(rule.source), self._shapes).condition
        return replace(rule, condition=_condition(found)) if found else rule

    def _revised(self, one: str) -> list[Operation]:
        """An UPDATE for a lesson that misled, if other conditions of its source case hold better on kept cases."""
        rule = self._rules[one]
        found = self._reshaped(rule)
        if found == rule or self._known(found) is not None or self._belief(one) >= TRUSTED:
            return []
        if self._replayed(found).belief(self._weights) <= self._belief(one):
            return []
        self._stands(one, found)
        return [Update(one, text=found.text, applies_when=found.when, verdict="too general")]

    def _known(self, rule: Rule) -> str | None:
        """The live lesson that says what a rule says."""
        same = (one for one in self._by_condition.get(rule.condition, ()) if self._rules[one].action == rule.action)
        return next((one for one in same if self._lessons[one].live), None)

    def _stands(self, one: str, rule: Rule) -> None:
        """A lesson reads as a rule from now on; it is graded anew if it read otherwise."""
        before = self._rules.get(one)
        if before is not None and before.text == rule.text:
            return
        if before is not None:
            self._by_condition[before.condition].remove(one)
        self._rules[one] = rule
        self._by_condition[rule.condition].append(one)
        if self._graded:
            self._set_filter(one, self._replayed(rule))
            self._weights = self._noise.weights

    def _replayed(self, rule: Rule) -> Filter:
        """What the newest kept cases that match a rule say of it."""
        found = UNGRADED
        for case in [case for case in self._cases if case.matches(rule.condition)][-MOST_GRADES:]:
            found = found.after(rule.action == case.label)
        return found

    def _belief_in(self, one: str) -> Belief:
        found = self._filters.get(one, UNGRADED)
        return Belief(value=self._belief(one), right=found.right, wrong=found.wrong)

    def _belief(self, one: str) -> float:
        return self._filters.get(one, UNGRADED).belief(self._weights)

    def _set_filter(self, one: str, after: Filter) -> None:
        self._noise = self._noise.changed(self._filters.get(one, UNGRADED), after)
        self._filters[one] = after

    def _rank(self, one: str) -> tuple[float, int, int]:
        rule = self._rules[one]
        bound = self._belief(one) if self._graded else usefulness(self._lessons[one].tallies).lower
        return (bound, len(rule.condition), rule.at)

    def _all_matching(self, case: Case) -> list[str]:
        return [one for condition in case.conditions() if condition in self._by_condition for one in self._by_condition[condition]]

    def _id_of(self, rule: Rule) -> str:
        return next(one for one in self._by_condition[rule.condition] if self._rules[one] is rule)

    def _apply(self, operations: Sequence[Operation]) -> list[str]:
        self._deltas += 1
        done = apply(self._book, Delta(f"d{self._deltas:09d}", operations))
        self._book = done.playbook
        return [receipt.id for receipt in done.receipts]

    def _read(self, ids: Iterable[str]) -> None:
        for one in list(ids):
            lesson = self._book.lesson(one)
            assert lesson is not None
            self._lessons[one] = lesson


def _condition(conditions: str) -> Condition:
    return tuple(sorted((int(name[1:]), int(value[1:])) for name, value in clauses_of(conditions).items()))


def _asked(case: Case) -> str:
    return _said(case.features)


def _said(features: Sequence[int]) -> str:
    return ", ".join(f"f{feature}=v{value}" for feature, value in enumerate(features))
