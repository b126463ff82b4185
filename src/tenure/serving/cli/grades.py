"""What kept cases say of a lesson by replay, for people and as JSON; apart from live counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenure.serving.cli.output import counted, one_line

if TYPE_CHECKING:
    from tenure.playbook.grading import Belief, Grade
    from tenure.ports import Reading

MOST_NAMED = 3
"""Cases that are named to a person: the newest ones that speak against a lesson."""

MOST_LISTED = 50
"""Grades in the JSON, the newest."""


def grades_told(belief: Belief | None, grades: Sequence[Grade]) -> str:
    """The grades of a lesson in words; empty if there are none.

    Args:
        belief: what they amount to.
        grades: in the order of their cases.
    """
    if belief is None or not belief.graded:
        return ""
    against = [one_line(grade.run, 40) for grade in reversed(grades) if not grade.right][:MOST_NAMED]
    checks = sorted({grade.source for grade in grades} - {"label"})
    parts = [
        f"would have been right in {counted(belief.right, 'kept case')}, would have been wrong in {belief.wrong:,}",
        f"right at present with a probability of {belief.value:.0%}" if belief.decides else "too few to judge it by",
        f"against it {'lately ' if len(against) < belief.wrong else ''}run {', '.join(against)}" if against else "",
        f"checked by {', '.join(one_line(check, 40) for check in checks)}" if checks else "",
    ]
    return "; ".join(part for part in parts if part)


def grades_json(reading: Reading, lesson: str) -> dict[str, Any]:
    """The grades of a lesson: counts, the probability that it is right at present (null without any), the newest cases.

    `label_noise` is the share of wrong labels that all grades of the scope speak for; null where nothing was graded.
    """
    from tenure.learning.replay import noise_in

    belief, grades = reading.beliefs([lesson]).get(lesson), reading.grades([lesson])
    return {
        "would_have_been_right": belief.right if belief is not None else 0,
        "would_have_been_wrong": belief.wrong if belief is not None else 0,
        "right_at_present": round(belief.value, 4) if belief is not None else None,
        "label_noise": round(noise_in(reading).rate, 4) if reading.noise() else None,
        "cases": [
            {"run": grade.run, "right": grade.right, "source": grade.source, "reliability": grade.reliability}
            for grade in grades[-MOST_LISTED:]
        ],
    }
