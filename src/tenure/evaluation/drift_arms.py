"""The memories that the drift bench compares. Each hands out rules that match, and is told what came of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from typing import Protocol

from tenure.evaluation.drift_world import MEANING, Case, Condition, Rule, World

REFINE_EVERY = 50
SECTION_BOUND = 40
COSINE = 0.86


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a memory is told after a case.

    Attributes:
        case: with its label.
        shown: the rules it handed out.
        action: what the agent did.
        written: the lesson that the writer wrote; none if it had no reason to.
    """

    case: Case
    shown: tuple[Rule, ...]
    action: int
    written: Rule | None

    @property
    def good(self) -> bool:
        """Whether the agent did what the label says."""
        return self.action == self.case.label


class Memory(Protocol):
    """A memory policy."""

    def matching(self, case: Case) -> Sequence[Rule]:
        """Rules for a case, the one to obey first."""
        ...

    def learn(self, result: Result) -> None:
        """Take in what came of it."""
        ...


class Nothing:
    """No memory."""

    def matching(self, case: Case) -> Sequence[Rule]:
        """Nothing."""
        return ()

    def learn(self, result: Result) -> None:
        """Nothing."""


class Overwrite:
    """One lesson a condition, the newest; the oldest go beyond the capacity."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._rules: dict[Condition, Rule] = {}

    def matching(self, case: Case) -> Sequence[Rule]:
        """The newest first."""
        found = [self._rules[one] for one in case.conditions() if one in self._rules]
        return sorted(found, key=lambda rule: -rule.at)[: self._world.shown]

    def learn(self, result: Result) -> None:
        """Replace what has the same condition."""
        if result.written is not None:
            self._rules.pop(result.written.condition, None)
            self._rules[result.written.condition] = result.written
            if len(self._rules) > self._world.capacity:
                del self._rules[next(iter(self._rules))]


class _Heap:
    """Rules by condition."""

    def __init__(self) -> None:
        self.by_condition: defaultdict[Condition, list[Rule]] = defaultdict(list)

    def add(self, rule: Rule) -> None:
        """Keep a rule; an equal one is there already."""
        if all(one.action != rule.action for one in self.by_condition[rule.condition]):
            self.by_condition[rule.condition].append(rule)

    def of(self, case: Case) -> list[Rule]:
        """All that match."""
        return [rule for one in case.conditions() if one in self.by_condition for rule in self.by_condition[one]]


class AppendOnly:
    """Every lesson stays: the most specific first, then the oldest."""

    def __init__(self, world: World) -> None:
        self._world, self._heap = world, _Heap()

    def matching(self, case: Case) -> Sequence[Rule]:
        """The most specific first, then the oldest."""
        return sorted(self._heap.of(case), key=lambda rule: (-len(rule.condition), rule.at))[: self._world.shown]

    def learn(self, result: Result) -> None:
        """Keep what was written."""
        if result.written is not None:
            self._heap.add(result.written)


class Counters:
    """ACE's counters with pruning, by the published rule."""

    def __init__(self, world: World) -> None:
        self._world, self._heap = world, _Heap()
        self._helpful: Counter[str] = Counter()
        self._harmful: Counter[str] = Counter()

    def _rank(self, rule: Rule) -> tuple[int, int, int]:
        return (self._helpful[rule.text] - 2 * self._harmful[rule.text], len(rule.condition), rule.at)

    def matching(self, case: Case) -> Sequence[Rule]:
        """The best ranked first."""
        return sorted(self._heap.of(case), key=self._rank, reverse=True)[: self._world.shown]

    def learn(self, result: Result) -> None:
        """Count for the lesson that was obeyed; refine at every 50th case."""
        if result.shown:
            (self._helpful if result.good else self._harmful)[result.shown[0].text] += 1
        if result.written is not None:
            self._heap.add(result.written)
        if (result.case.at + 1) % REFINE_EVERY == 0:
            self._refine()

    def _refine(self) -> None:
        rules = sorted((rule for found in self._heap.by_condition.values() for rule in found), key=self._rank, reverse=True)
        kept: list[Rule] = []
        vectors: list[Counter[str]] = []
        for rule in rules:
            if len(kept) == SECTION_BOUND:
                break
            vector = Counter(rule.text.split())
            if self._harmful[rule.text] > self._helpful[rule.text] or any(cosine(vector, one) >= COSINE for one in vectors):
                continue
            kept.append(rule)
            vectors.append(vector)
        names = {rule.text for rule in kept}
        # What is dropped is forgotten with its counts.
        self._helpful = Counter({text: count for text, count in self._helpful.items() if text in names})
        self._harmful = Counter({text: count for text, count in self._harmful.items() if text in names})
        self._heap = _Heap()
        for rule in kept:
            self._heap.add(rule)


def cosine(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Likeness of two texts as counts of words, 0 to 1."""
    product = sum(count * b.get(word, 0) for word, count in a.items())
    return product / sqrt(sum(count * count for count in a.values()) * sum(count * count for count in b.values()))


class ReviseOnFailure:
    """Append-only, newest first; what failed once is rewritten at once."""

    def __init__(self, world: World) -> None:
        self._world, self._heap = world, _Heap()

    def matching(self, case: Case) -> Sequence[Rule]:
        """The newest first."""
        return sorted(self._heap.of(case), key=lambda rule: -rule.at)[: self._world.shown]

    def learn(self, result: Result) -> None:
        """Rewrite the lesson that was obeyed and failed; keep what was written."""
        if result.shown and not result.good:
            failed = result.shown[0]
            self._heap.by_condition[failed.condition].remove(failed)
            missing = [feature for feature in range(MEANING) if feature not in dict(failed.condition)]
            if missing:
                condition = tuple(sorted((*failed.condition, *((feature, failed.source[feature]) for feature in missing))))
                self._heap.add(replace(failed, condition=condition))
            else:
                self._heap.add(replace(failed, action=result.case.label, at=result.case.at))
        if result.written is not None:
            self._heap.add(result.written)


class SimilarCases:
    """No lessons: the past cases that share most features vote with their labels."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._cases: list[Case] = []
        self._having: defaultdict[tuple[int, int], int] = defaultdict(int)

    def matching(self, case: Case) -> Sequence[Rule]:
        """One rule: what the most similar cases had for a label."""
        if not self._cases:
            return ()
        near = self._nearest(case.features, self._world.shown)
        votes: Counter[int] = Counter(one.label for one in near)
        most = max(votes.values())
        newest = max((one for one in near if votes[one.label] == most), key=lambda one: one.at)
        return (Rule(condition=(), action=newest.label, at=newest.at, source=newest.features),)

    def learn(self, result: Result) -> None:
        """Keep the case."""
        for named in enumerate(result.case.features):
            self._having[named] |= 1 << len(self._cases)
        self._cases.append(result.case)

    def _nearest(self, features: Sequence[int], most: int) -> list[Case]:
        """The cases that share most features, of equals the newest. Sets of cases are bits of a number, counted column by column."""
        columns: list[int] = []
        for named in enumerate(features):
            carried = self._having[named]
            for place, column in enumerate(columns):
                columns[place], carried = column ^ carried, column & carried
            if carried:
                columns.append(carried)
        every = (1 << len(self._cases)) - 1
        found: list[Case] = []
        for count in range((1 << len(columns)) - 1, -1, -1):
            alike = every
            for place, column in enumerate(columns):
                alike &= column if count >> place & 1 else ~column
            while alike and len(found) < most:
                newest = alike.bit_length() - 1
                found.append(self._cases[newest])
                alike ^= 1 << newest
            if len(found) == most:
                break
        return found


def _tenure(world: World, *, graded: bool) -> Memory:
    from tenure.evaluation.drift_tenure import Engine

    return Engine(world, graded=graded)


ARMS: Mapping[str, Callable[[World], Memory]] = {
    "none": lambda _: Nothing(),
    "overwrite": Overwrite,
    "append-only": AppendOnly,
    "counters": Counters,
    "revise-on-failure": ReviseOnFailure,
    "similar-cases": SimilarCases,
    "tenure": lambda world: _tenure(world, graded=True),
    "tenure-live": lambda world: _tenure(world, graded=False),
}


def score(arm: str, world: World, cases: Sequence[Case], rule_of: Callable[[Case], Rule], seed: int) -> list[bool]:
    """Whether the agent did the right thing, case by case.

    Args:
        arm: its name.
        world: its parameters.
        cases: the stream.
        rule_of: the writer.
        seed: of the agent's draws.
    """
    memory, drawn = ARMS[arm](world), Random(f"drift:{seed}:agent")
    found: list[bool] = []
    for case in cases:
        shown = tuple(memory.matching(case))
        guess = drawn.randrange(world.actions)
        action = shown[0].action if shown else guess
        found.append(action == case.right)
        written = rule_of(case) if not shown or action != case.label else None
        memory.learn(Result(case=case, shown=shown, action=action, written=written))
    return found
