"""Tenure: agents that learn on the job.

An evolving playbook of graded lessons, from what an agent's runs really showed. Start with
`Tenure.open`; the algebra of deltas (`apply`, `refine`, `render`, `dumps`, `loads`) is pure and can
be used alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenure.errors import TenureError, UserError
from tenure.playbook.apply import Applied, apply
from tenure.playbook.delta import Add, Delta, Merge, Pin, Receipt, Restore, Retire, Tally, Update
from tenure.playbook.lessons import Evidence, Lesson
from tenure.playbook.notation import dumps, loads
from tenure.playbook.refine import Bounds, refine
from tenure.playbook.render import render
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.playbook.state import Playbook
from tenure.version import __version__

if TYPE_CHECKING:
    from tenure.wiring import Tenure

__all__ = [
    "Add",
    "Applied",
    "Bounds",
    "Delta",
    "Evidence",
    "Lesson",
    "Merge",
    "Outcome",
    "Pin",
    "Playbook",
    "Receipt",
    "Restore",
    "Retire",
    "Run",
    "Step",
    "Tally",
    "Task",
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


def __getattr__(name: str) -> Any:
    # The engine brings SQLAlchemy with it; who only wants the algebra does not pay for that.
    if name == "Tenure":
        from tenure.wiring import Tenure

        return Tenure
    raise AttributeError(f"module 'tenure' has no attribute {name!r}")
