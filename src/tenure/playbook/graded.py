"""What a look at a scope says of labelled cases and of grades (a part of `ports.Reading`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tenure.playbook.grading import Belief, Grade
from tenure.playbook.run import Outcome, Run, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A kept case with a label.

    Attributes:
        run: its id.
        place: in the order of arrival; a later case has a greater one.
        text: of its task.
        answer: the label.
        reliability: of the label, 0 to 1.
        counts: whether the label comes from an honest signal and a trusted origin; others grade nothing.
    """

    run: str
    place: int
    text: str
    answer: str
    reliability: float = 1.0
    counts: bool = True

    def as_run(self) -> Run:
        """The case without its steps."""
        outcome = Outcome(signal="label", expected=self.answer, reliability=self.reliability)
        return Run(id=self.run, task=Task(text=self.text), outcome=outcome)


class Grades(Protocol):
    """Labelled cases, and the grades that kept cases gave lessons."""

    def place_of(self, run_id: str) -> int | None:
        """The place of a kept run in the order of arrival; none if it is not kept."""
        ...

    def labelled(self, *, after: int = 0, limit: int) -> Sequence[Labelled]:
        """The newest kept cases with a label that came after a place, oldest first."""
        ...

    def labels_of(self, runs: Collection[str]) -> Mapping[str, Labelled]:
        """The labels of kept cases, by run id; those without one are left out."""
        ...

    def grades(self, lessons: Collection[str]) -> Sequence[Grade]:
        """All grades of lessons, in the order of their cases."""
        ...

    def graded_by(self, runs: Collection[str]) -> Sequence[str]:
        """Ids of the lessons that any of these runs graded, sorted."""
        ...

    def beliefs(self, lessons: Collection[str]) -> Mapping[str, Belief]:
        """What the grades of lessons amount to, by lesson id; those without grades are left out."""
        ...

    def noise(self) -> Sequence[float]:
        """What all grades of the scope say of its labels (see `grading.Noise`); empty if nothing was graded."""
        ...
