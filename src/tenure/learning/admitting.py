"""Which proposed operations pass, wait for a person, or are refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tenure.governance.admission import admit
from tenure.playbook.delta import Add, Merge, Operation, Retire, Update
from tenure.ports import Reading
from tenure.roles.taint import UntrustedText


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """An operation before admission.

    Attributes:
        operation: what would be done.
        basis: whose words it is made of (see `roles.reflection.Insight`).
        author: who proposes it.
    """

    operation: Operation
    basis: str
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What admission decided.

    Attributes:
        passed: for the delta; an ADD that has to wait is among them, with status `held`.
        held: other operations that have to wait, each with the reason.
        refused: a sentence for each operation that was refused.
    """

    passed: tuple[Operation, ...]
    held: tuple[tuple[Proposed, str], ...]
    refused: tuple[str, ...]


def admit_operations(reading: Reading, proposals: Iterable[Proposed]) -> Admission:
    """Decide on learned operations, in their order."""
    passed: list[Operation] = []
    held: list[tuple[Proposed, str]] = []
    refused: list[str] = []
    for proposal in proposals:
        operation = proposal.operation
        decision = admit(operation, author_trusted=False, basis=proposal.basis, protected=_protected(reading, operation))
        if decision.action == "refuse":
            refused.append(f"refused a lesson by {proposal.author}: {decision.reason}")
        elif decision.action == "hold" and isinstance(operation, Add):
            passed.append(replace(operation, status="held"))
        elif decision.action == "hold":
            held.append((proposal, decision.reason))
        else:
            passed.append(operation)
    return Admission(passed=tuple(passed), held=tuple(held), refused=tuple(refused))


def basis_of(operation: Operation, outside: UntrustedText | None) -> str:
    """Whose words a model's operation is made of: its own, or perhaps those of a stranger in the run.

    The Curator is shown no insight that may be a stranger's, and its words are looked at all the same: it is a model.
    """
    said = (getattr(operation, name, None) for name in ("text", "applies_when", "avoid"))
    return "untrusted" if outside is not None and outside.may_have_written("\n".join(text for text in said if text)) else "model"


def _protected(reading: Reading, operation: Operation) -> bool:
    """Whether an operation would change or remove what is pinned or what a person wrote."""
    if isinstance(operation, Merge):
        ids = [*operation.ids, *([operation.into] if operation.text is not None else [])]
    elif isinstance(operation, Retire) or (
        isinstance(operation, Update) and (operation.text is not None or operation.applies_when is not None)
    ):
        ids = [operation.id]
    else:
        return False
    lessons = [lesson for lesson in map(reading.lesson, ids) if lesson is not None]
    return any(lesson.pinned or lesson.author.startswith(("person", "import")) for lesson in lessons)
