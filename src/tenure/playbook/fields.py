"""Fields of a case (`currency=EUR`), and which of them decide what is right.

Where tasks come as fields, a lesson's conditions can be held against a case exactly, and kept cases can say which
fields matter. For each set of fields (a *shape*), each labelled case is foretold from the newest earlier case with the
same values there: the lesson that case would have taught under conditions of this shape, graded on the next case it
matches. A shape's record is how probable the labels were, each foretold before it was seen. Too few fields foretell
badly, too many seldom foretell at all: the record is best for those that decide, without a threshold. It is the
prequential likelihood of Dawid (1984), which is the two-part code of a shape and its lessons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, exp, log

MOST_FIELDS = 12
"""Fields of a case that are looked at, in their order; a case with more is one of text."""

MOST_NAMED = 3
"""Fields that one condition can name."""

FADE = 0.8
"""What a newer case with the same values leaves of the weight of an older one."""

LUCK = (0.05, 0.3, 0.6, 0.9)
"""Shares of its answers that a shape may leave to chance; they are weighed against each other for each shape."""

NONE_DECIDES = 0.5
"""Belief, at first, that no field decides and answers come as often as they have come: without it some field would always seem to."""

Shape = tuple[str, ...]
"""Names of fields, in order."""

_FIELD = re.compile(r"(?:^|[\s,;{(])\"?([A-Za-z_][\w.-]{0,40})\"?\s*[=:]\s*(\"[^\"\n]{1,80}\"|[^\s,;:={}()\"]{1,80})(?=$|[\s,;})])")
_CLAUSE = re.compile(r"([A-Za-z_][\w.-]{0,40})\s*=\s*(\"[^\"\n]{1,80}\"|[^\s,;:={}()\"]{1,80})")
_BETWEEN = re.compile(r"\s*(?:,|;|and|if|when|only|all|of|the|case|task|has|with)?\s*", re.IGNORECASE)


@lru_cache(maxsize=4096)
def fields_of(text: str) -> Mapping[str, str]:
    """The fields of a task's text, `name=value` or `name: value`; empty where it has none, or more than `MOST_FIELDS`.

    Args:
        text: of the task; fields stand apart by white space, commas or semicolons.
    """
    found: dict[str, str] = {}
    for match in _FIELD.finditer(text[:4_000]):
        found.setdefault(match[1], match[2].strip('"'))
        if len(found) > MOST_FIELDS:
            return {}
    return found


@lru_cache(maxsize=4096)
def clauses_of(conditions: str) -> Mapping[str, str]:
    """The fields that conditions name, where they consist of such clauses (`f0=v1 and f2=v3`) and nothing else; else empty."""
    found: dict[str, str] = {}
    end = 0
    for match in _CLAUSE.finditer(conditions):
        between = conditions[end : match.start()]
        if any(not _BETWEEN.fullmatch(word) for word in between.split()) or match[1] in found:
            return {}
        found[match[1]] = match[2].strip('"')
        end = match.end()
    return found if not conditions[end:].strip(" .") else {}


def clauses(fields: Mapping[str, str], names: Sequence[str]) -> str:
    """Conditions that name these fields with their values: `f0=v1 and f2=v3`."""
    return " and ".join(f'{name}="{fields[name]}"' if re.search(r"\s", fields[name]) else f"{name}={fields[name]}" for name in names)


def holds(named: Mapping[str, str], fields: Mapping[str, str]) -> bool:
    """Whether a case has all the fields that conditions name, with these values."""
    return all(fields.get(name) == value for name, value in named.items())


class Shapes:
    """Which fields decide what is right in a scope, from its labelled cases, one after the other. Cost of a case: the number of shapes."""

    def __init__(self) -> None:
        self._answers: dict[str, int] = {}
        self._seen: dict[tuple[Shape, tuple[str, ...]], dict[str, float]] = {}
        self._record: dict[Shape, list[float]] = {}
        self._by_frequency = 0.0

    def add(self, fields: Mapping[str, str], answer: str) -> None:
        """Take in a labelled case: each shape is charged for what it foretold of it.

        Args:
            fields: of the case.
            answer: its label.
        """
        known = max(len(self._answers) + 1, 2)
        for shape, values in _shapes(fields):
            seen = self._seen.setdefault((shape, values), {})
            weight = sum(seen.values())
            # What was never seen has the weight of one case, shared by all answers there are.
            foretold = (seen.get(answer, 0.0) + 1.0 / known) / (weight + 1.0)
            record = self._record.setdefault(shape, [0.0] * len(LUCK))
            for place, luck in enumerate(LUCK):
                record[place] += log((1.0 - luck) * foretold + luck / known)
            for one in seen:
                seen[one] *= FADE
            seen[answer] = seen.get(answer, 0.0) + 1.0
        before = self._answers.get(answer, 0)
        self._by_frequency += log((before + 1.0 / known) / (sum(self._answers.values()) + 1.0))
        self._answers[answer] = before + 1

    def weights(self, fields: Mapping[str, str]) -> dict[Shape, float]:
        """Probability of each shape that the fields allow of being the one that decides; they sum to 1, all equal at first."""
        found = {shape: self._record.get(shape, _UNTRIED) for shape, _ in _shapes(fields)}
        most = max(max(record) for record in found.values())
        weighed = {shape: sum(exp(one - most) for one in record) for shape, record in found.items()}
        total = sum(weighed.values())
        return {shape: one / total for shape, one in weighed.items()}

    def best(self, fields: Mapping[str, str]) -> tuple[Shape, float]:
        """The shape that most probably decides for a case with these fields, and how probably; of equals the narrower.

        That none decides is weighed against all shapes together.
        """
        weights = self.weights(fields)
        shape = max(weights, key=lambda one: (weights[one], len(one), one))
        record = self._record.get(shape, _UNTRIED)
        most = max(*record, self._by_frequency)
        mine = sum(exp(one - most) for one in record) / len(record)
        none = exp(self._by_frequency - most) * NONE_DECIDES / (1.0 - NONE_DECIDES)
        together = mine / (weights[shape] * len(weights))
        return shape, weights[shape] * together / (together + none)

    def foretell(self, fields: Mapping[str, str]) -> dict[str, float]:
        """How probable each answer is for a case, by the shapes' records together; empty before the first case."""
        known = max(len(self._answers), 1)
        found = dict.fromkeys(self._answers, 0.0)
        weights = self.weights(fields)
        for shape, values in _shapes(fields):
            if weights[shape] < 1e-4:
                continue
            seen = self._seen.get((shape, values), {})
            total = sum(seen.values()) + 1.0
            luck = self._luck(shape)
            for answer in found:
                foretold = (seen.get(answer, 0.0) + 1.0 / known) / total
                found[answer] += weights[shape] * ((1.0 - luck) * foretold + luck / known)
        return found

    def _luck(self, shape: Shape) -> float:
        """The share that a shape leaves to chance, as expected from its record."""
        record = self._record.get(shape, _UNTRIED)
        most = max(record)
        weighed = [exp(one - most) for one in record]
        return sum(luck * one for luck, one in zip(LUCK, weighed, strict=True)) / sum(weighed)


def shapes_of(fields: Mapping[str, str]) -> int:
    """How many shapes a case with these fields has; 0 where it has none."""
    return sum(comb(len(fields), size) for size in range(MOST_NAMED + 1)) if fields else 0


_UNTRIED = [0.0] * len(LUCK)


def _shapes(fields: Mapping[str, str]) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    names = tuple(sorted(fields))[:MOST_FIELDS]
    for size in range(min(MOST_NAMED, len(names)) + 1):
        for shape in combinations(names, size):
            yield shape, tuple(fields[name] for name in shape)
