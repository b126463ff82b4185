"""What Tenure needs from outside, as small protocols. Adapters are in `stores` and `providers`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol, runtime_checkable


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, in UTC, with its zone set."""
        ...


class IdSource(Protocol):
    """Makes delta and run ids."""

    def next(self, after: str = "") -> str:
        """A ULID greater than every one made before, and than `after`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one model call is given.

    Attributes:
        system: stable instructions; first, so that providers can cache them.
        user: what differs from call to call.
        purpose: which role asks: `generate`, `reflect`, `curate`.
        max_tokens: cap on the reply, in the model's tokens.
    """

    system: str
    user: str
    purpose: str
    max_tokens: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What model calls used. Sums with `+`.

    Attributes:
        calls: requests sent, retries included.
        input_tokens, output_tokens, cached_tokens: as the provider counts them; cached is part of input.
        cost_usd: price in US dollars; none if unknown for the model, which is not the same as 0.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: Decimal | None = field(default_factory=lambda: Decimal(0))

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=(self.cost_usd or Decimal(0)) + (other.cost_usd or Decimal(0)) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        text: verbatim, lone surrogates replaced by U+FFFD.
        finish_reason: `stop`, `length` (cut off), `refused` or another word of the provider's.
        usage: of this call.
        model: the model's name as the provider gives it.
    """

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""


@runtime_checkable
class LanguageModel(Protocol):
    """Answers a prompt with text. Never called inside a database transaction."""

    @property
    def name(self) -> str:
        """Provider and model, such as `openai:gpt-4o`."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """The reply to a prompt.

        Raises:
            ModelError: the provider failed for good; the message names provider and reason.
            SpendCapReached: a cap would be passed; no call was made.
        """
        ...


class TaskAgent(Protocol):
    """Does a task, given the context text that recall chose."""

    def act(self, task: str, context: str) -> object:
        """The agent's own result for the task."""
        ...


