"""Small real stand-ins for tests: a clock that stands, ids that count, a model that follows a script.

They pass the same contracts as what they stand in for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import sqrt
from zlib import crc32

from tenure.errors import EmbeddingFailed
from tenure.ports import Embedder
from tenure.providers.scripted import RuleModel, ScriptedModel
from tenure.ranking import words
from tenure.stores.in_memory import InMemoryStore
from tenure.wiring import Tenure

__all__ = ["CountingIds", "InMemoryStore", "RuleModel", "ScriptedModel", "SteppingClock", "WordEmbedder", "open_trial"]


class SteppingClock:
    """A clock that starts at a moment and goes on by a fixed step each time it is read.

    Args:
        start: with its zone; none starts on 2026-01-05 08:00 UTC.
        step_s: seconds from one reading to the next; 0 stands still.
    """

    def __init__(self, start: datetime | None = None, *, step_s: float = 1.0) -> None:
        self._now = start or datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
        self._step = timedelta(seconds=step_s)

    def now(self) -> datetime:
        """The moment; the next reading is a step later."""
        now = self._now
        self._now = now + self._step
        return now


class CountingIds:
    """Ids that count up: the same test makes the same ids every time."""

    def __init__(self) -> None:
        self._count = 0

    def next(self, after: str = "") -> str:
        """The next id: 26 characters, greater than all before it and than `after`."""
        self._count += 1
        made = f"01{self._count:024d}"
        if after >= "02":  # no count passes it
            return after + made
        while made <= after:
            self._count = int(after[2:]) + 1 if after[:2] == "01" and after[2:].isdigit() else self._count * 10
            made = f"01{self._count:024d}"
        return made


class WordEmbedder:
    """An embedder that knows only words: texts are near each other as far as they share them. Needs no library.

    Args:
        dimension: numbers in a vector.
        name: as vectors are stored under; none makes one of the dimension.
        synonyms: words that mean another one, such as `{"car": "vehicle"}`.
    """

    def __init__(self, dimension: int = 64, *, name: str = "", synonyms: dict[str, str] | None = None) -> None:
        self.name, self.dimension = name or f"words-{dimension}", dimension
        self.failing = ""
        """Set it to a reason to have every call fail."""
        self.embedded: list[str] = []
        """Every text that was embedded, in order."""
        self._synonyms = synonyms or {}

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[tuple[float, ...] | None]:
        """One vector per text; none for a text without words.

        Raises:
            EmbeddingFailed: `failing` is set.
        """
        if self.failing:
            raise EmbeddingFailed(self.name, self.failing)
        self.embedded.extend(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> tuple[float, ...] | None:
        numbers = [0.0] * self.dimension
        for word in words(text):
            numbers[crc32(self._synonyms.get(word, word).encode("utf-8", "replace")) % self.dimension] += 1.0
        length = sqrt(sum(number * number for number in numbers))
        return tuple(number / length for number in numbers) if length else None


def open_trial(scope: str = "local/trial", *, url: str = "memory://", model: object = None, embedder: str | Embedder = "none") -> Tenure:
    """A playbook for a test: in memory, with a stepping clock and counting ids.

    Args:
        scope: its scope.
        url: another store, such as `sqlite:///path`.
        model: an object that answers prompts, such as a `ScriptedModel`.
        embedder: an object that makes vectors, such as a `WordEmbedder`; none, so that a trial does not depend on what is installed.
    """
    return Tenure.open(url, scope=scope, clock=SteppingClock(), ids=CountingIds(), model=model, embedder=embedder)  # type: ignore[arg-type]
