"""How tests look at a run that was kept."""

from __future__ import annotations

from tenure import Run, Step, Tenure


def kept(book: Tenure, run_id: str) -> Run:
    """The run as the store has it."""
    with book.store.reading(book.scope) as reading:
        found = reading.run(run_id)
    assert found is not None
    return found


def told(run: Run) -> list[tuple[str, ...]]:
    """Kind, role, name and text of each step."""
    return [_told(step) for step in run.steps]


def _told(step: Step) -> tuple[str, ...]:
    said = step.error or step.content or (str(dict(step.arguments)) if step.arguments else "")
    return tuple(filter(None, (step.kind, step.role, step.name, said)))
