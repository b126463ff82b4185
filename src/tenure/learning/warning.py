"""What a person is told of their own words that a learned lesson could not have: they may, and they should know."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.governance.admission import admit
from tenure.governance.hidden_text import hidden_characters
from tenure.playbook.delta import Operation

LOOKED_AT = 1_000
"""Operations of one delta that are searched for attacks; a search takes most of a millisecond. Hidden characters are looked for in all."""

NAMED = 20
"""Warnings that are told one by one."""

_TEXTS = ("text", "applies_when", "avoid", "section", "reason", "name", "key")


def warnings_of(operations: Sequence[Operation]) -> tuple[str, ...]:
    """A sentence for each operation of a person whose words would be refused from a run, and what was not looked at.

    Hidden and bidirectional characters, orders to ignore instructions, capabilities, recipients, disabled checks, what to
    fetch and run, encoded texts. A person's operation is carried out all the same.
    """
    found: list[str] = []
    for number, operation in enumerate(operations, 1):
        if number <= LOOKED_AT or any(hidden_characters(said) for name in _TEXTS if isinstance(said := getattr(operation, name, ""), str)):
            decision = admit(operation, author_trusted=True)
            if decision.reason and decision.action == "pass":
                found.append(f"operation {number}: {decision.reason.removeprefix('warning: ')}; a run could not bring it")
    told = found[:NAMED] + ([f"and {len(found) - NAMED} more operations like these"] if len(found) > NAMED else [])
    if len(operations) > LOOKED_AT:
        told.append(f"only the first {LOOKED_AT:,} of {len(operations):,} operations were searched for orders to the agent")
    return tuple(told)
