"""The world of the drift bench: hidden rules that change, labels that lie, a writer that errs. See design/drift-bench.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import combinations, product
from random import Random

from tenure.errors import UserError

MEANING = 2
"""How many features the hidden rules look at: the first ones."""

MOST_NAMED = MEANING + 1
"""Features that a lesson can name: those that mean something, and one that does not."""

Condition = tuple[tuple[int, int], ...]
"""Features with their values, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What can be set of the world.

    Attributes:
        features, values, actions: see the note; whole numbers.
        length: cases of the stream.
        changed: share of the conditions whose action changes at mid-stream.
        overgeneral, spurious: chances of the writer's mistakes.
        shown, capacity: lessons that the agent is handed; lessons that `overwrite` holds.
        seeds: how many worlds.
    """

    features: int = 6
    values: int = 4
    actions: int = 6
    length: int = 2000
    changed: float = 0.4
    overgeneral: float = 0.45
    spurious: float = 0.25
    shown: int = 5
    capacity: int = 40
    seeds: int = 8


LEAST: Mapping[str, int] = {"features": 3, "values": 2, "actions": 3, "length": 20, "shown": 1, "capacity": 1, "seeds": 2}
MOST: Mapping[str, int] = {"features": 12, "values": 20, "actions": 100, "length": 100_000, "shown": 50, "capacity": 10_000, "seeds": 100}


def read_world(given: Mapping[str, object]) -> World:
    """A world from a JSON object; what is missing has its default.

    Raises:
        UserError: a name is not known, or a value is out of range.
    """
    known = {one.name: type(one.default) for one in fields(World)}
    for name, value in given.items():
        if name not in known:
            raise UserError(f"The drift bench knows no parameter '{name}'. It knows: {', '.join(known)}")
        if known[name] is int:
            if type(value) is not int or not LEAST[name] <= value <= MOST[name]:
                raise UserError(f"{name} = {value!r}: it is a whole number from {LEAST[name]} to {MOST[name]}.")
        elif not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            raise UserError(f"{name} = {value!r}: it is a share from 0 to 1.")
    return World(**given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of the stream.

    Attributes:
        at: its place, from 0.
        features: their values.
        right: the right action, which no arm sees.
        label: what the agent is told, after it acted.
    """

    at: int
    features: tuple[int, ...]
    right: int
    label: int

    def conditions(self) -> Iterator[Condition]:
        """All conditions that match it and that a lesson could have."""
        named = tuple(enumerate(self.features))
        for size in range(1, MOST_NAMED + 1):
            yield from combinations(named, size)

    def matches(self, condition: Condition) -> bool:
        """Whether a condition holds for it."""
        return all(self.features[feature] == value for feature, value in condition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a lesson says: if all of the condition holds, do this.

    Attributes:
        condition: features with values.
        action: what to do.
        at: the case it was written after.
        source: the features of that case.
    """

    condition: Condition
    action: int
    at: int
    source: tuple[int, ...]

    @property
    def when(self) -> str:
        """Its condition as text."""
        return " and ".join(f"f{feature}=v{value}" for feature, value in self.condition)

    @property
    def text(self) -> str:
        """It as the text of a lesson."""
        return f"If {self.when} then choose a{self.action}"


def stream(world: World, noise: float, seed: int) -> list[Case]:
    """The cases of a seed: the same features, rules and changes at every noise level.

    Args:
        world: its parameters.
        noise: chance that a label is another action.
        seed: of all draws.
    """
    rules, cases, labels = (Random(f"drift:{seed}:{purpose}") for purpose in ("rules", "cases", "labels"))
    conditions = list(product(range(world.values), repeat=MEANING))
    right = {one: rules.randrange(world.actions) for one in conditions}
    later = dict(right)
    for one in rules.sample(conditions, round(world.changed * len(conditions))):
        later[one] = _another(rules, right[one], world.actions)
    found = []
    for at in range(world.length):
        features = tuple(cases.randrange(world.values) for _ in range(world.features))
        true = (right if at < world.length // 2 else later)[features[:MEANING]]
        # Drawn whether or not it is used, so that all noise levels see the same cases with nested lies.
        lie, other = labels.random(), _another(labels, true, world.actions)
        found.append(Case(at=at, features=features, right=true, label=other if lie < noise else true))
    return found


class Writer:
    """Writes lessons, with mistakes that are the same at a case for whoever asks.

    Args:
        world: its parameters.
        seed: of its mistakes.
    """

    def __init__(self, world: World, seed: int) -> None:
        drawn = Random(f"drift:{seed}:writer")
        self._mistakes = [
            (
                drawn.random() < world.overgeneral,
                drawn.randrange(MEANING),
                drawn.random() < world.spurious,
                drawn.randrange(MEANING, world.features),
            )
            for _ in range(world.length)
        ]

    def rule(self, case: Case) -> Rule:
        """The lesson it writes after a case."""
        overgeneral, kept, spurious, extra = self._mistakes[case.at]
        named = {kept} if overgeneral else set(range(MEANING))
        if spurious:
            named.add(extra)
        condition = tuple((feature, case.features[feature]) for feature in sorted(named))
        return Rule(condition=condition, action=case.label, at=case.at, source=case.features)


def _another(drawn: Random, action: int, actions: int) -> int:
    other = drawn.randrange(actions - 1)
    return other + (other >= action)
