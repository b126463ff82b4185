"""Tenure: agents that learn on the job.

An evolving playbook of graded lessons, from what an agent's runs really showed. Start with
`Tenure.open`; the algebra of deltas (`apply`, `refine`, `render`, `dumps`, `loads`) is pure and can
be used alone.
"""

from __future__ import annotations

import importlib

from tenure.version import __version__

# Without `typing`, whose import is felt in a hook of a coding agent; checkers of types take a name like this for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenure.errors import TenureError, UserError
    from tenure.learning.practice import Attempt, Instance, Scorer
    from tenure.playbook.apply import Applied, apply
    from tenure.playbook.delta import Add, Delta, Merge, Pin, Receipt, Restore, Retire, Tally, Update
    from tenure.playbook.lessons import Evidence, Lesson
    from tenure.playbook.notation import dumps, loads
    from tenure.playbook.refine import Bounds, refine
    from tenure.playbook.render import render
    from tenure.playbook.run import Origin, Outcome, Run, Step, Task
    from tenure.playbook.state import Playbook
    from tenure.ports import TaskAgent
    from tenure.wiring import Tenure

__all__ = [
    "Add",
    "Applied",
    "Attempt",
    "Bounds",
    "Delta",
    "Evidence",
    "Instance",
    "Lesson",
    "Merge",
    "Origin",
    "Outcome",
    "Pin",
    "Playbook",
    "Receipt",
    "Restore",
    "Retire",
    "Run",
    "Scorer",
    "Step",
    "Tally",
    "Task",
    "TaskAgent",
    "Tenure",
    "TenureError",
    "Update",
    "UserError",
    "__version__",
    "apply",
    "dumps",
    "loads",
    "refine",
    "render",
]


_HOMES = {
    "tenure.errors": ("TenureError", "UserError"),
    "tenure.learning.practice": ("Attempt", "Instance", "Scorer"),
    "tenure.playbook.apply": ("Applied", "apply"),
    "tenure.playbook.delta": ("Add", "Delta", "Merge", "Pin", "Receipt", "Restore", "Retire", "Tally", "Update"),
    "tenure.playbook.lessons": ("Evidence", "Lesson"),
    "tenure.playbook.notation": ("dumps", "loads"),
    "tenure.playbook.refine": ("Bounds", "refine"),
    "tenure.playbook.render": ("render",),
    "tenure.playbook.run": ("Origin", "Outcome", "Run", "Step", "Task"),
    "tenure.playbook.state": ("Playbook",),
    "tenure.ports": ("TaskAgent",),
    "tenure.wiring": ("Tenure",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Loaded on first use: `tenure --help` needs none of it, and the algebra does not need the engine's database library.
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tenure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
