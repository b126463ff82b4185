"""What an agent says of a run, read and bounded: steps, outcome, cited lessons. It is an agent's word, and marked as that."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast, get_args

from tenure.errors import UserError
from tenure.playbook.run import RELIABILITY, STEP_KINDS, Origin, Outcome, Run, Signal, Step, StepKind
from tenure.traces.echo import is_own_tool, without_injected

MOST_STEPS = 1_000
LONGEST_STEP = 20_000
"""Characters of a step. Whoever has more should report what decided the run, not the whole of a file."""

LONGEST_STEPS = 1_000_000
"""Characters of all steps of a report."""

MOST_CITED = 500

SIGNALS: tuple[str, ...] = ("self", "test", "environment", "human")
"""What an agent can say that showed the outcome. Labels and judges report through code, not through the judged."""

TOLD_RELIABILITY = 0.7
"""Most reliability of an outcome that an agent tells: an account of a test is less than the test.

At this one failure revises nothing and two in a row do (see `playbook.revision`); it counts all the same for what it used."""

_OWN = frozenset({"report_outcome", "propose_lesson", "submit_reflection", "submit_revision"})
"""Tools of ours that an agent may report by their bare names, which no other tool has."""

_TEXTS = ("role", "name", "content", "error", "call_id")
_USUAL = {"message": "assistant", "thought": "assistant", "tool_call": "assistant", "tool_result": "tool"}


def read_steps(given: Sequence[object], *, principal: str, at: str) -> tuple[Step, ...]:
    """The steps that an agent reports.

    Tool results are untrusted, as everywhere. So are messages of a person or the system: that they were said is the
    agent's word, and whoever talked the agent into it could speak as anybody.

    Args:
        given: parsed JSON objects with `kind` and, as they apply, `role`, `name`, `arguments`, `content`, `error`, `call_id`.
        principal: whose agent it is.
        at: the present moment, ISO 8601.

    Raises:
        UserError: there are too many, one is too long, or one is malformed; the message names it.
    """
    if len(given) > MOST_STEPS:
        raise UserError(f"There are {len(given):,} steps; a report may have {MOST_STEPS:,}. Leave out those that decided nothing.")
    read = (_step(one, place, principal, at) for place, one in enumerate(given))
    steps = tuple(step for step in read if not is_own_tool(step.name) and step.name not in _OWN)
    total = sum(_size(step) for step in steps)
    if total > LONGEST_STEPS:
        raise UserError(f"The steps have {total:,} characters together; {LONGEST_STEPS:,} is the most. Shorten long results.")
    return steps


def _step(said: object, place: int, principal: str, at: str) -> Step:
    where = f"steps[{place}]"
    if not isinstance(said, Mapping):
        raise UserError(f"{where} is no object. Write such as {{'kind': 'tool_call', 'name': 'search', 'arguments': {{}}}}")
    unknown = sorted(str(name)[:40] for name in said if name not in ("kind", "arguments", *_TEXTS))
    if unknown:
        raise UserError(f"{where} has the unknown field '{unknown[0]}'. Fields: kind, arguments, {', '.join(_TEXTS)}.")
    kind = said.get("kind")
    if kind not in STEP_KINDS:
        raise UserError(f"{where}.kind is {json.dumps(kind, default=str)[:60]}; it is one of {', '.join(STEP_KINDS)}.")
    texts: dict[str, str] = {}
    for name in _TEXTS:
        value = said.get(name)
        if value is not None and not isinstance(value, str):
            raise UserError(f"{where}.{name} is {type(value).__name__}, not a text.")
        texts[name] = without_injected(value or "")
    arguments = said.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise UserError(f"{where}.arguments is no object. Put other forms into content.")
    role = texts.pop("role") or _USUAL.get(kind, "")
    origin: Origin | None = None
    if kind in ("tool_result", "event"):
        origin = Origin(principal=principal, channel="tool", document=texts["name"][:200], trusted=False)
    elif role not in ("assistant", ""):
        origin = Origin(principal=principal, channel="agent", trusted=False)
    step = Step(kind=cast(StepKind, kind), role=role, arguments=dict(arguments), origin=origin, at=at, **texts)
    size = _size(step)
    if size > LONGEST_STEP:
        raise UserError(f"{where} has {size:,} characters; a step may have {LONGEST_STEP:,}. Shorten it to what decided the run.")
    return step


def _size(step: Step) -> int:
    arguments = len(json.dumps(dict(step.arguments), ensure_ascii=False, default=str)) if step.arguments else 0
    return len(step.content) + len(step.error) + len(step.name) + len(step.role) + len(step.call_id) + arguments


def read_outcome(success: bool | None, score: float | None, feedback: str, signal: str, *, at: str) -> Outcome:
    """The outcome that an agent tells.

    Args:
        success, score: at most one of them is needed.
        feedback: what was said about it.
        signal: one of `SIGNALS`.
        at: the present moment, ISO 8601.

    Raises:
        UserError: the signal is not known, the score is out of range, or both contradict.
    """
    if signal not in SIGNALS:
        raise UserError(f"signal is '{signal[:40]}'; it is one of {', '.join(SIGNALS)}.")
    if success is not None and score is not None and success != (score >= 0.5):
        raise UserError(f"success is {str(success).lower()} and score {score:g}: they contradict. Give one of them.")
    known = success is not None or score is not None
    said: Signal = cast(Signal, signal) if known else "none"
    assert said in get_args(Signal)
    try:
        return Outcome(
            success=success,
            score=score,
            feedback=without_injected(feedback),
            signal=said,
            reliability=min(RELIABILITY[said], TOLD_RELIABILITY),
            at=at,
        )
    except ValueError as exc:
        raise UserError(str(exc)) from exc


def cited_lessons(run: Run, cited: Sequence[str], is_lesson: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Full ids of cited lessons, and names that stand for none.

    Args:
        run: with what it was shown.
        cited: as the agent names them: an id, its beginning, either in square brackets.
        is_lesson: of the names, those that are ids of lessons.
    """
    found: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for name in cited:
        plain = plain_name(name)
        match = [one for one in run.shown if one == plain] or [one for one in run.shown if plain and one.startswith(plain)]
        if match:
            found[match[0]] = None
        elif plain in is_lesson:
            found[plain] = None
        elif plain:
            unknown[plain[:80]] = None
    return tuple(found), tuple(unknown)


def plain_name(name: str) -> str:
    """A lesson's name as an agent writes it, without brackets and blanks."""
    return name.strip().strip("[]").strip()
