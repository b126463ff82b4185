"""Arithmetic expressions over the numbers of a question: read, worked out and searched for. Nothing here is run as code.

    expression  an operand, or two of them joined by one of + - * / ^
    operand     a role `a`, `b`, ...; growth `(1 + a)`, loss `(1 - a)`; a constant of `CONSTANTS`; an expression
    whole       an expression, one times 100, or one less 1

The search finds what makes an answer out of numbers, both sides of the last sign apart: all expressions over at most three
numbers are listed, and for each the other side that the answer calls for is looked up.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

CONSTANTS = (365.0,)
"""Numbers that an expression may use beside those of the question."""

TOLERANCE = 0.005001
"""An answer with two decimals stands for what is this near to it."""

LISTED = 3
"""Numbers that one side of the last sign may use at most."""

MOST_FOUND = 600
"""Expressions of an answer that are kept, the simplest ones."""

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
    found: dict[tuple[str, tuple[int, ...]], tuple[float, Solution]] = {}

    def search(leaves: Sequence[tuple[float, Expression]], needed: Iterable[int] = ()) -> None:
        for expression in _search(leaves, answer, frozenset(needed)):
            solution = _canonical(expression)
            key = (str(solution.expression), solution.places)
            if key not in found:
                found[key] = (complexity(solution.expression), solution)

    own = [(amount, Expression("role", place=place)) for place, amount in enumerate(amounts)]
    search(own)
    if count <= 3 or (count == 4 and not found):
        for again in own:
            search([*own, again], (count,))
        for constant in CONSTANTS:
            search([*own, (constant, Expression("constant", amount=constant))], (count,))
    ranked = sorted(found.items(), key=lambda pair: (pair[1][0], pair[0]))
    return tuple(solution for _, (_, solution) in ranked[:MOST_FOUND])


def _search(leaves: Sequence[tuple[float, Expression]], answer: float, needed: frozenset[int]) -> Iterator[Expression]:
    places = range(len(leaves))
    tables = _tables(leaves)
    ordered = {some: (sorted((value, place) for place, (value, _) in enumerate(table)), table) for some, table in tables.items()}
    for goal, ending in ((answer, None), (answer / 100, ("*", 100.0)), (answer + 1, ("-", 1.0))):
        slack = TOLERANCE / 100 if ending == ("*", 100.0) else TOLERANCE

        def finished(expression: Expression, ending: tuple[str, float] | None = ending) -> Expression:
            return Expression(ending[0], (expression, Expression("constant", amount=ending[1]))) if ending else expression

        for some, table in tables.items():
            if needed <= some:
                yield from (finished(one) for value, one in table if abs(value - goal) <= slack)
        for size in range(2, len(leaves) + 1):
            for used in combinations(places, size):
                if not needed <= set(used):
                    continue
                for left, right in _splits(frozenset(used)):
                    if size <= LISTED:  # listed as a whole already
                        continue
                    for expression in _meet(tables[left], ordered[right], goal, slack):
                        yield finished(expression)


def _splits(used: frozenset[int]) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    for size in range(1, len(used)):
        if size <= LISTED and len(used) - size <= LISTED:
            for some in combinations(sorted(used), size):
                yield frozenset(some), used - frozenset(some)


Table = Sequence[tuple[float, Expression]]


def _tables(leaves: Sequence[tuple[float, Expression]]) -> Mapping[frozenset[int], Table]:
    """Every value over at most `LISTED` leaves with an expression that has it, each leaf used once; of equal values the simplest."""
    tables: dict[frozenset[int], Table] = {}
    for size in range(1, min(LISTED, len(leaves)) + 1):
        for used in combinations(range(len(leaves)), size):
            found: dict[float, Expression] = {}
            if size == 1:
                value, leaf = leaves[used[0]]
                found[value] = leaf
                if 0 < abs(value) < 1:
                    found.setdefault(1 + value, Expression("grown", (leaf,)))
                    found.setdefault(1 - value, Expression("lost", (leaf,)))
            for left, right in _splits(frozenset(used)):
                for one, first in tables[left]:
                    for two, second in tables[right]:
                        for sign in "+-*/^":
                            if sign in "+*" and min(left) > min(right):
                                continue
                            value_or_none = _joined(sign, one, two)
                            if value_or_none is None or not math.isfinite(value_or_none):
                                continue
                            expression = Expression(sign, (first, second))
                            found.setdefault(value_or_none, expression)
                            # A rate made of two numbers, such as one a year over periods a year, may grow too.
                            if sign == "/" and size == 2 and 0 < value_or_none < 0.5:
                                found.setdefault(1 + value_or_none, Expression("grown", (expression,)))
            tables[frozenset(used)] = list(found.items())
    return tables


def _meet(left: Table, right: tuple[list[tuple[float, int]], Table], goal: float, slack: float) -> Iterator[Expression]:
    values, table = right
    for value, expression in left:
        for sign in "+-*/^":
            bounds = _other_side(sign, value, goal, slack)
            if bounds is None:
                continue
            low, high = min(bounds), max(bounds)
            at = bisect_left(values, (low, -1))
            while at < len(values) and values[at][0] <= high:
                other = table[values[at][1]][1]
                at += 1
                yield Expression(sign, (expression, other))


def _other_side(sign: str, left: float, goal: float, slack: float) -> tuple[float, float] | None:
    """What has to stand to the right of a sign for the goal, as two bounds."""
    try:
        match sign:
            case "+":
                return goal - slack - left, goal + slack - left
            case "-":
                return left - goal - slack, left - goal + slack
            case "*":
                return (goal - slack) / left, (goal + slack) / left
            case "/":
                return (left / (goal - slack), left / (goal + slack)) if abs(goal) > 2 * slack else None
            case _:
                low, high = goal - slack, goal + slack
                return (math.log(low) / math.log(left), math.log(high) / math.log(left)) if left > 0 and left != 1 and low > 0 else None
    except (ZeroDivisionError, OverflowError, ValueError):
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
