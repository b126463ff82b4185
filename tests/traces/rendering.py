"""Runs as text that a person can check, for golden files."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tenure.playbook.run import Run, Step


def rendered(runs: Iterable[Run]) -> str:
    """Every run with its steps, one a line."""
    return "\n".join(line for run in runs for line in _run(run)) + "\n"


def _run(run: Run) -> list[str]:
    outcome = run.outcome
    head = [
        f"run {run.id}",
        f"  session {run.session or '-'}, origin {run.origin.name}, {run.started or '-'} to {run.ended or '-'}",
        f"  task {json.dumps(run.task.text)}, kind {run.task.kind or '-'}, key {run.task.key or '-'}",
        f"  outcome success {outcome.success}, score {outcome.score}, signal {outcome.signal}, feedback {json.dumps(outcome.feedback)}",
    ]
    return head + [f"  {place:2} {_step(step)}" for place, step in enumerate(run.steps)]


def _step(step: Step) -> str:
    parts = [step.kind, step.role or "-", step.name or "-"]
    if step.origin:
        parts.append(step.origin.name)
    if step.arguments:
        parts.append(json.dumps(dict(step.arguments), ensure_ascii=False))
    if step.content:
        parts.append(json.dumps(step.content, ensure_ascii=False))
    if step.error:
        parts.append(f"ERROR {json.dumps(step.error, ensure_ascii=False)}")
    return " | ".join(parts)
