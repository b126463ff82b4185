"""What a lesson or a proposed change says, as a short key: equal for two that say the same.

Two statements have one key if their normal forms agree (see `likeness`): every figure, name, sign, condition, what to
avoid, the order of tools and the subject. A key can be looked up in an index, so that finding who else says it costs
nothing however many wait. Keys of two versions of the word lists may differ; then nothing is found, which is safe.
"""

from __future__ import annotations

import hashlib

from tenure.playbook.delta import Add, Merge, Operation, Restore, Retire, Update
from tenure.playbook.lessons import Lesson, normalised
from tenure.playbook.likeness import read


def statement_key(lesson: Lesson) -> str:
    """The key of what a lesson says (32 hex characters)."""
    return _digest("says", read(lesson).key)


def lesson_of(add: Add, *, id: str = "", section: str = "") -> Lesson:
    """The lesson that an ADD would make."""
    return Lesson(
        id=id or add.id or "",
        section=section or add.section,
        kind=add.kind or "strategy",
        text=add.text,
        applies_when=add.applies_when,
        avoid=add.avoid,
        tool_order=tuple(add.tool_order),
        about=add.about,
        status=add.status,
        evidence=tuple(add.evidence),
        origin=add.origin,
        author=add.author,
    )


def proposal_key(operation: Operation) -> str:
    """The key of what an operation would do; empty for one that says nothing, such as a count."""
    if isinstance(operation, Add):
        return statement_key(lesson_of(operation))
    if isinstance(operation, Update) and (operation.text is not None or operation.applies_when is not None):
        return _digest(
            "update", operation.id, *(None if said is None else normalised(said) for said in (operation.text, operation.applies_when))
        )
    if isinstance(operation, Merge):
        ids = sorted({*operation.ids} - {operation.into})
        return _digest("merge", ids, operation.into, None if operation.text is None else normalised(operation.text))
    if isinstance(operation, Retire):
        return _digest("retire", operation.id)
    if isinstance(operation, Restore):
        return _digest("restore", operation.id, operation.unmerge, operation.status)
    return ""


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
