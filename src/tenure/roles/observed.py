"""Numbers that a model proposes to keep, held against the run that is said to show them.

A number that stands in no step of the run is a model's invention, and so is a key or a unit; what the agent itself said
or thought shows nothing. What stands there comes
from where it stands: revoking the origin of that step takes the number out of its table.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from tenure.playbook.aggregates import exact
from tenure.playbook.delta import Observe
from tenure.playbook.run import Run, Step

MOST_FIGURES = 20
"""Numbers that a model may keep of one run."""

LONGEST_NAME = 80
"""Characters of a section, a name, a key or a unit."""

_LOOKED_AT = 200_000
_WRITTEN = re.compile(r"(?<![\w.,])[-+−]?\d[\d.,'’\u00a0\u202f ]*")
_GAPS = re.compile(r"['’\u00a0\u202f ]")


def held_to_run(proposed: Observe, run: Run) -> Observe | str:
    """A proposed number as it may stand, or why it may not.

    Args:
        proposed: with its value; its step is looked at alone where it has one, else all are.
        run: what it is said to come from.

    Returns:
        The observation with run, step, origin and time of the step that shows it. Marks and columns are not a model's to set.
    """
    problem = _ill_formed(proposed, run)
    if problem:
        return problem
    value = exact(proposed.value)
    looked_at = [proposed.step] if proposed.step >= 0 else range(len(run.steps))
    place = next((one for one in looked_at if not _own_words(run.steps[one]) and shows_number(_text(run.steps[one]), value)), None)
    if place is None and proposed.step < 0 and shows_number(run.task.text, value):
        place = -1
    if place is None:
        if proposed.step >= 0:
            return f"its value {value} does not stand in step {proposed.step}, or that is what the agent itself said"
        return f"its value {value} stands in no step of the run but what the agent itself said"
    for field in ("key", "unit"):
        said = getattr(proposed, field)
        if said and not _stands_in(said, run):
            return f"its field '{field}' ({said!r}) does not stand in the run"
    step = run.steps[place] if place >= 0 else None
    return replace(
        proposed,
        value=value,
        show=(),
        mark="",
        run=run.id,
        step=place,
        origin=step.origin.name if step is not None and step.origin is not None else run.origin.name,
        at=(step.at if step is not None else "") or run.ended,
    )


def _ill_formed(proposed: Observe, run: Run) -> str:
    """What is wrong with a proposed number before it is looked for; empty if nothing is."""
    for field in ("value", "name"):
        if not getattr(proposed, field).strip():
            return f"its field '{field}' is empty"
    for field in ("section", "name", "key", "unit"):
        said = getattr(proposed, field)
        if len(said) > LONGEST_NAME or "\n" in said:
            return f"its field '{field}' is longer than {LONGEST_NAME} characters or one line"
    try:
        exact(proposed.value)
    except ValueError as exc:
        return str(exc)
    return f"the run has no step {proposed.step}" if proposed.step >= len(run.steps) else ""


def shows_number(text: str, value: str) -> bool:
    """Whether a number stands in a text, in any usual way of writing it."""
    wanted = Decimal(value)
    return any(wanted in _readings(found[0]) for found in _WRITTEN.finditer(text))


def _own_words(step: Step) -> bool:
    """Whether a step is what the agent thought or said: its own word is no observation."""
    return step.kind == "thought" or (step.kind == "message" and step.role == "assistant")


def _readings(written: str) -> set[Decimal]:
    """What a written number may mean: `1,204.50`, `1.204,50`, `1 204.50`; and its parts, where a blank only parts two numbers."""
    found: set[Decimal] = set()
    for part in {written, *written.split()}:
        plain = _GAPS.sub("", part).replace("−", "-").rstrip(".,")
        for said in (plain, plain.replace(",", ""), plain.replace(".", "").replace(",", ".")):
            try:
                found.add(Decimal(said))
            except InvalidOperation:
                continue  # that is no way to read it
    return found


def _stands_in(said: str, run: Run) -> bool:
    wanted = " ".join(said.casefold().split())
    return any(wanted in " ".join(text.casefold().split()) for text in (run.task.text, *map(_text, run.steps)))


def _text(step: Step) -> str:
    arguments = json.dumps(step.arguments, ensure_ascii=False, default=str) if step.arguments else ""
    return "\n".join((step.content[:_LOOKED_AT], step.error[:_LOOKED_AT], arguments[:_LOOKED_AT]))
