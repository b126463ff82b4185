"""A run as a model reads it: one JSON line a step, within a budget, cut in the middle and saying so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenure.playbook.run import Run, Step
from tenure.ranking import estimate_tokens
from tenure.roles.asking import data_line, present

LONGEST_TEXTS = (2000, 800, 300)
"""Characters kept of each text of a step; the first of these with which the run fits is taken."""

_LAST_STEPS = 3
_GAP_TOKENS = 24  # what the line for left out steps costs at most, and one can follow every step


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The steps of a run as lines for a prompt.

    Attributes:
        lines: JSON objects in the order of the steps; a line without `step` stands for left out ones.
        shown: indexes of the steps that are there.
        tokens: estimate for all lines.
    """

    lines: tuple[str, ...]
    shown: frozenset[int]
    tokens: int


def transcribe(run: Run, *, budget_tokens: int) -> Transcript:
    """The run's steps within a budget.

    Long texts lose their middles first. If that is not enough, whole steps are left out from the
    middle of the run, errors and what led to and followed them, persons' messages, and both ends of
    the run last.

    Args:
        run: with its steps.
        budget_tokens: cap on the estimate for all lines together.
    """
    lines: list[str] = []
    for longest in LONGEST_TEXTS:
        lines = [data_line(_described(index, step, longest)) for index, step in enumerate(run.steps)]
        tokens = sum(map(estimate_tokens, lines))
        if tokens <= budget_tokens:
            return Transcript(lines=tuple(lines), shown=frozenset(range(len(lines))), tokens=tokens)
    costs = [estimate_tokens(line) + _GAP_TOKENS for line in lines]
    room = budget_tokens - _GAP_TOKENS
    chosen: set[int] = set()
    for index in sorted(range(len(lines)), key=_urgency(run.steps)):
        if costs[index] <= room:
            chosen.add(index)
            room -= costs[index]
    kept = _with_gaps(lines, chosen)
    return Transcript(lines=tuple(kept), shown=frozenset(chosen), tokens=sum(map(estimate_tokens, kept)))


def shortened(text: str, longest: int) -> str:
    """A text without its middle if it is too long, with a mark that says how much is missing."""
    if len(text) <= longest:
        return text
    head, tail = longest * 2 // 3, longest - longest * 2 // 3
    return f"{text[:head]} [... {len(text) - longest} characters left out ...] {text[-tail:]}"


def _described(index: int, step: Step, longest: int) -> dict[str, Any]:
    content = "" if step.content.strip() == step.error.strip() else step.content
    return {"step": index} | present(
        kind=step.kind,
        role=step.role if step.kind == "message" else "",
        name=step.name,
        arguments=_trimmed(step.arguments, longest),
        content=shortened(content, longest),
        error=shortened(step.error, longest),
    )


def _trimmed(value: Any, longest: int, depth: int = 0) -> Any:
    """Arguments with long texts shortened and deep or long lists cut."""
    if isinstance(value, str):
        return shortened(value, longest)
    if depth >= 6 and isinstance(value, Mapping | list | tuple):
        return "[... left out ...]"
    if isinstance(value, Mapping):
        held = {str(key): _trimmed(one, longest, depth + 1) for key, one in list(value.items())[:40]}
        return held if len(value) <= 40 else {**held, "...": f"{len(value) - 40} more left out"}
    if isinstance(value, list | tuple):
        kept = [_trimmed(one, longest, depth + 1) for one in value[:20]]
        return kept if len(value) <= 20 else [*kept, f"[... {len(value) - 20} more left out ...]"]
    return value


def _urgency(steps: Sequence[Step]) -> Callable[[int], tuple[int, int, int]]:
    """A sort key for step indexes: what tells most about the run first, then what is nearest to its ends."""
    count = len(steps)
    first: set[int] = {index for index, step in enumerate(steps) if step.error}
    first |= {index for index, step in enumerate(steps) if step.kind == "message" and step.role == "user"}
    first |= set(range(max(0, count - _LAST_STEPS), count))
    second: set[int] = set()
    for index, step in enumerate(steps):
        if step.error:
            second |= {index - 1, index + 1, index + 2}

    def key(index: int) -> tuple[int, int, int]:
        return (0 if index in first else 1 if index in second else 2, min(index, count - 1 - index), index)

    return key


def _with_gaps(lines: Sequence[str], chosen: set[int]) -> list[str]:
    kept: list[str] = []
    begin = 0
    for index in [*sorted(chosen), len(lines)]:
        if index > begin:
            named = f"steps {begin} to {index - 1}" if index - 1 > begin else f"step {begin}"
            kept.append(data_line({"left_out": named}))
        if index < len(lines):
            kept.append(lines[index])
        begin = index + 1
    return kept
