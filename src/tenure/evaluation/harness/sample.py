"""What is known of one answered instance. A response that could not be scored is a value with a reason, not a zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scored:
    """A score.

    Attributes:
        value: 0 (wrong) to 1 (right), or in the task's own unit where it says so.
    """

    value: float


@dataclass(frozen=True, slots=True)
class Unscorable:
    """No score.

    Attributes:
        reason: why, in a few words.
    """

    reason: str


Score = Scored | Unscorable


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One instance in one order, answered by one arm.

    Attributes:
        id: of the instance.
        index: its place in the order, from 0.
        score: of the arm with its memory.
        alone: of the same arm reset before the instance.
        answer: what was answered; none if nothing was.
        attempts: how often the agent acted, the reset arm not counted.
        tokens: read and written: what the memory put before the agent, and what model calls took.
        written: of the tokens, those that models wrote.
        cached: of the tokens that were read, those that a prefix cache would have had, or as the provider says of model calls.
        memory: tokens of all that the arm remembered afterwards; none if it cannot say.
        calls: model calls.
        usd: what they cost; none if that is unknown.
        seconds: processor time of answering and taking in.
    """

    id: str
    index: int
    score: Score
    alone: Score
    answer: str | None = None
    attempts: int = 1
    tokens: int = 0
    written: int = 0
    cached: int = 0
    memory: int | None = None
    calls: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As it stands in a record."""
        return {**asdict(self), "score": _score_json(self.score), "alone": _score_json(self.alone)}

    @classmethod
    def from_json(cls, held: Mapping[str, Any]) -> Sample:
        """A sample from a record; other keys of the line are left alone."""
        known = {name: held[name] for name in cls.__dataclass_fields__ if name in held}
        return cls(**{**known, "score": _score_from(held["score"]), "alone": _score_from(held["alone"])})


def _score_json(score: Score) -> float | dict[str, str]:
    return score.value if isinstance(score, Scored) else {"unscorable": score.reason}


def _score_from(held: float | Mapping[str, str]) -> Score:
    return Unscorable(held["unscorable"]) if isinstance(held, Mapping) else Scored(float(held))
