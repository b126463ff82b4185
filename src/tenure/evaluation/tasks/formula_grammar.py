"""Arithmetic expressions over the numbers of a question: read, worked out and searched for. Nothing here is run as code.

    expression  an operand, or two of them joined by one of + - * / ^
    operand     a role `a`, `b`, ...; growth `(1 + a)`, loss `(1 - a)`; a constant of `CONSTANTS`; an expression
    whole       an expression, one times 100, or one less 1

The search finds what makes an answer out of numbers, both sides of the last sign apart: all expressions over at most three
numbers are listed, and for each the other side that the answer calls for is looked up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from math import isfinite, log

CONSTANTS = (365.0,)
"""Numbers that an expression may use beside those of the question."""

TOLERANCE = 0.005001
"""An answer with two decimals stands for what is this near to it."""

LISTED = 3
"""Numbers that one side of the last sign may use at most."""

MOST_FOUND = 600
"""Expressions of an answer that are kept, the simplest ones, and that one search looks at, those over the fewest numbers."""

MOST_EXPONENT = 60.0
"""Larger exponents are not looked at."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A node: a leaf, or two parts and a sign.

    Attributes:
        sign: one of + - * / ^ for two parts; `role` or `constant` for a leaf; `grown` (1 + x) or `lost` (1 - x) for one part.
        parts: below it.
        place: of a role, from 0.
        amount: of a constant.
    """

    sign: str
    parts: tuple[Expression, ...] = ()
    place: int = 0
    amount: float = 0.0

    def __str__(self) -> str:
        match self.sign:
            case "role":
                return chr(ord("a") + self.place)
            case "constant":
                return f"{self.amount:g}"
            case "grown" | "lost":
                return f"(1 {'+' if self.sign == 'grown' else '-'} {self.parts[0]})"
            case _:
                return f"({self.parts[0]} {self.sign} {self.parts[1]})"


def work_out(expression: Expression, amounts: Sequence[float]) -> float | None:
    """The value with these amounts for its roles; none where it has none, such as a division by zero."""
    match expression.sign:
        case "role":
            return amounts[expression.place]
        case "constant":
            return expression.amount
    parts = [work_out(part, amounts) for part in expression.parts]
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if expression.sign in ("grown", "lost"):
        return 1 + known[0] if expression.sign == "grown" else 1 - known[0]
    return _joined(expression.sign, known[0], known[1])


def _joined(sign: str, left: float, right: float) -> float | None:
    try:
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case _:
                return left**right if left > 0 and abs(right) <= MOST_EXPONENT else None
    except (ZeroDivisionError, OverflowError):
        return None


def read_expression(text: str) -> Expression:
    """The expression that `str` wrote.

    Raises:
        ValueError: it is none.
    """
    node, rest = _read(text.replace(" ", ""))
    if rest:
        raise ValueError(f"'{text}' goes on after an expression: '{rest}'")
    return node


def _read(text: str) -> tuple[Expression, str]:
    if not text.startswith("("):
        if text[:1].isalpha() and text[:1].islower() and text[:1].isascii():
            return Expression("role", place=ord(text[0]) - ord("a")), text[1:]
        digits = len(text) - len(text.lstrip("0123456789."))
        return Expression("constant", amount=float(text[:digits])), text[digits:]
    left, rest = _read(text[1:])
    sign, (right, rest) = rest[:1], _read(rest[1:])
    if sign not in ("+", "-", "*", "/", "^") or not rest.startswith(")"):
        raise ValueError(f"'{text}' is no expression")
    if left.sign == "constant" and left.amount == 1 and sign in "+-":
        return Expression("grown" if sign == "+" else "lost", (right,)), rest[1:]
    return Expression(sign, (left, right)), rest[1:]


def complexity(expression: Expression) -> float:
    """How much an expression says: 1 a role, more for a power or a constant."""
    own = {"role": 1.0, "constant": 1.5, "grown": 0.5, "lost": 0.7, "^": 0.5}.get(expression.sign, 0.0)
    return own + sum(map(complexity, expression.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """One way from the numbers of a question to its answer.

    Attributes:
        expression: over roles, in a canonical form: the same whatever the order of the numbers.
        places: of the number that each role stands for.
    """

    expression: Expression
    places: tuple[int, ...]


@lru_cache(maxsize=8192)
def solutions(amounts: tuple[float, ...], answer: float) -> tuple[Solution, ...]:
    """Expressions that make an answer out of numbers, simplest first, `MOST_FOUND` at most.

    A number may be used twice, or a constant once, where there are at most three numbers, or four that make the answer by no
    shorter way.
    """
    count = len(amounts)
    leaves = [(amount, Expression("role", place=place)) for place, amount in enumerate(amounts)]
    further = [*leaves, *((amount, Expression("constant", amount=amount)) for amount in CONSTANTS)]
    tables = _Tables([*leaves, *further])
    own = tuple(range(count))
    found: dict[tuple[str, tuple[int, ...]], tuple[float, Solution]] = {}

    def search(some: tuple[int, ...], needed: frozenset[int]) -> None:
        for expression in islice(_search(tables, some, answer, needed), MOST_FOUND):
            solution = _canonical(expression)
            found.setdefault((str(solution.expression), solution.places), (complexity(solution.expression), solution))

    search(own, frozenset())
    if count <= 3 or (count == 4 and not found):
        for one in range(count, count + len(further)):
            search((*own, one), frozenset({one}))
    ranked = sorted(found.items(), key=lambda pair: (pair[1][0], pair[0]))
    return tuple(solution for _, (_, solution) in ranked[:MOST_FOUND])


Way = tuple[str, float, frozenset[int], float, frozenset[int]]
"""How a value is come by: the sign, then value and leaves of each side; `leaf`, `grown` and `lost` have one side."""


class _Tables:
    """Every value over at most `LISTED` leaves, each used once, with the first way to it that was found. Worked out when asked for.

    Args:
        leaves: value and expression of each.
    """

    def __init__(self, leaves: Sequence[tuple[float, Expression]]) -> None:
        self._leaves = leaves
        self._found: dict[frozenset[int], dict[float, Way]] = {}
        self._ordered: dict[frozenset[int], list[float]] = {}

    def values(self, some: frozenset[int]) -> dict[float, Way]:
        """The values over exactly these leaves."""
        if some not in self._found:
            self._found[some] = self._listed(some)
        return self._found[some]

    def ordered(self, some: frozenset[int]) -> list[float]:
        """The same, in order of size."""
        if some not in self._ordered:
            self._ordered[some] = sorted(self.values(some))
        return self._ordered[some]

    def expression(self, value: float, some: frozenset[int]) -> Expression:
        """The expression that has a value over leaves."""
        sign, one, left, two, right = self.values(some)[value]
        if sign == "leaf":
            return self._leaves[min(some)][1]
        if sign in ("grown", "lost"):
            return Expression(sign, (self.expression(one, left),))
        return Expression(sign, (self.expression(one, left), self.expression(two, right)))

    def _listed(self, some: frozenset[int]) -> dict[float, Way]:
        none: frozenset[int] = frozenset()
        found: dict[float, Way] = {}
        if len(some) == 1:
            value = self._leaves[min(some)][0]
            found[value] = ("leaf", 0.0, none, 0.0, none)
            if 0 < abs(value) < 1:
                found.setdefault(1 + value, ("grown", value, some, 0.0, none))
                found.setdefault(1 - value, ("lost", value, some, 0.0, none))
            return found
        for left, right in _splits(some):
            signs = "+-*/^" if min(left) < min(right) else "-/^"
            for one in self.values(left):
                for two in self.values(right):
                    for sign in signs:
                        value_or_none = _joined(sign, one, two)
                        if value_or_none is not None and isfinite(value_or_none) and value_or_none not in found:
                            found[value_or_none] = (sign, one, left, two, right)
        if len(some) == 2:  # a rate made of two numbers, such as one a year over periods a year, may grow too
            for value, way in list(found.items()):
                if way[0] == "/" and 0 < value < 0.5:
                    found.setdefault(1 + value, ("grown", value, some, 0.0, none))
        return found


def _search(tables: _Tables, leaves: tuple[int, ...], answer: float, needed: frozenset[int]) -> Iterator[Expression]:
    for goal, ending in ((answer, None), (answer / 100, ("*", 100.0)), (answer + 1, ("-", 1.0))):
        slack = TOLERANCE / 100 if ending == ("*", 100.0) else TOLERANCE
        for expression in _reaching(tables, leaves, goal, slack, needed):
            yield Expression(ending[0], (expression, Expression("constant", amount=ending[1]))) if ending else expression


def _reaching(tables: _Tables, leaves: tuple[int, ...], goal: float, slack: float, needed: frozenset[int]) -> Iterator[Expression]:
    for size in range(1, len(leaves) + 1):
        for used in map(frozenset, combinations(leaves, size)):
            if not needed <= used:
                continue
            if size <= LISTED:
                for value in _between(tables.ordered(used), goal - slack, goal + slack):
                    yield tables.expression(value, used)
                continue
            for few, many in _splits(used):
                if len(few) <= len(many):
                    yield from _meet(tables, few, many, goal, slack)


def _meet(tables: _Tables, few: frozenset[int], many: frozenset[int], goal: float, slack: float) -> Iterator[Expression]:
    """Expressions that join a value over few leaves with one over many, which is looked up."""
    ordered = tables.ordered(many)
    for value in tables.values(few):
        for sign, first in (("+", True), ("*", True), ("-", True), ("/", True), ("^", True), ("-", False), ("/", False), ("^", False)):
            bounds = _right_of(sign, value, goal, slack) if first else _left_of(sign, value, goal, slack)
            if bounds is None:
                continue
            for other in _between(ordered, min(bounds), max(bounds)):
                if _joined(sign, *((value, other) if first else (other, value))) is None:  # an exponent beyond bounds, say
                    continue
                parts = (tables.expression(value, few), tables.expression(other, many))
                yield Expression(sign, parts if first else parts[::-1])


def _between(ordered: Sequence[float], low: float, high: float) -> Iterator[float]:
    at = bisect_left(ordered, low)
    while at < len(ordered) and ordered[at] <= high:
        yield ordered[at]
        at += 1


def _splits(used: frozenset[int]) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    for size in range(1, len(used)):
        if size <= LISTED and len(used) - size <= LISTED:
            for some in combinations(sorted(used), size):
                yield frozenset(some), used - frozenset(some)


def _right_of(sign: str, left: float, goal: float, slack: float) -> tuple[float, float] | None:
    """What has to stand to the right of a sign for the goal, as two bounds."""
    low, high = goal - slack, goal + slack
    try:
        match sign:
            case "+":
                return low - left, high - left
            case "-":
                return left - high, left - low
            case "*":
                return low / left, high / left
            case "/":
                return (left / low, left / high) if abs(goal) > 2 * slack else None
            case _:
                return (log(low) / log(left), log(high) / log(left)) if left > 0 and left != 1 and low > 0 else None
    except (ZeroDivisionError, OverflowError):
        return None


def _left_of(sign: str, right: float, goal: float, slack: float) -> tuple[float, float] | None:
    """What has to stand to the left of a sign for the goal, as two bounds."""
    low, high = goal - slack, goal + slack
    try:
        match sign:
            case "-":
                return low + right, high + right
            case "/":
                return low * right, high * right
            case _:
                return (low ** (1 / right), high ** (1 / right)) if low > 0 and abs(right) <= MOST_EXPONENT else None
    except (ZeroDivisionError, OverflowError):
        return None


def _canonical(expression: Expression) -> Solution:
    """Commutative parts in one order, roles named as they come."""
    ordered = _ordered(expression)
    names: dict[int, int] = {}
    renamed = _renamed(ordered, names)
    return Solution(expression=renamed, places=tuple(names))


def _ordered(one: Expression) -> Expression:
    if not one.parts:
        return one
    parts = tuple(map(_ordered, one.parts))
    if one.sign in ("+", "*") and _shape(parts[1]) > _shape(parts[0]):
        parts = parts[::-1]
    return Expression(one.sign, parts)


def _shape(one: Expression) -> tuple[float, str]:
    return complexity(one), "".join(c for c in str(one) if not c.islower())


def _renamed(one: Expression, names: dict[int, int]) -> Expression:
    if one.sign == "role":
        return Expression("role", place=names.setdefault(one.place, len(names)))
    return Expression(one.sign, tuple(_renamed(part, names) for part in one.parts), amount=one.amount)
