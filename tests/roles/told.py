"""Runs written down as they are told: who said what, what was called, what came back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tenure.playbook.run import Outcome, Run, Step, Task


def user(text: str) -> Step:
    """A message of the person."""
    return Step(kind="message", role="user", content=text)


def agent(text: str) -> Step:
    """A message of the agent."""
    return Step(kind="message", role="assistant", content=text)


def call(tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Step:
    """A tool call."""
    return Step(kind="tool_call", role="assistant", name=tool, arguments={**(arguments or {}), **more})


def gave(content: Any) -> Step:
    """An accepted result; what is no text is given as JSON."""
    return Step(kind="tool_result", role="tool", content=content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))


def refused(error: str) -> Step:
    """A rejected result."""
    return Step(kind="tool_result", role="tool", content=error, error=error)


def told(*steps: Step, success: bool | None = None, id: str = "run-1", kind: str = "", key: str = "", task: str = "") -> Run:
    """A run with these steps; its task is the first message of the person unless one is given."""
    first = next((step.content for step in steps if step.kind == "message" and step.role == "user"), "")
    outcome = Outcome() if success is None else Outcome(success=success, signal="environment")
    return Run(id=id, task=Task(text=task or first, kind=kind, key=key), steps=steps, outcome=outcome)
