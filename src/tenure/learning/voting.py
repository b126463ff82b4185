"""One vote per untrusted origin in what supports a lesson: the first of its runs that says it does, the others do not.

Without this, whoever can report runs could prove a lesson of theirs by reporting often. How their runs ended counts
for nothing at all (see `playbook.credit`). Trusted origins have a vote for each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenure.playbook.apply import added_keys
from tenure.playbook.delta import Add, Delta, Merge, Operation, Tally
from tenure.playbook.lessons import Evidence, section_name, text_digest
from tenure.playbook.records import group_key, root_of
from tenure.playbook.run import Run
from tenure.ports import Reading


def support_left(reading: Reading, run: Run, operations: Sequence[Operation], *, delta: str) -> tuple[Operation, ...]:
    """The operations of a run, without the support for lessons that its untrusted origin has spoken on in another run.

    Args:
        reading: the playbook as it is.
        run: with its origin.
        operations: as they would be admitted; none goes, and each keeps its place.
        delta: id of the delta they will be in.
    """
    vote = run.origin.vote
    if not vote or not operations:
        return tuple(operations)
    keys = added_keys(Delta(delta, operations))
    told_again = {place: _told_again(reading, op) for place, op in enumerate(operations) if isinstance(op, Add)}
    merged = {op.into: tuple(op.ids) for op in operations if isinstance(op, Merge)}
    named = (
        {op.id for op in operations if isinstance(op, Tally)} | {one for ids in merged.values() for one in ids} | set(told_again.values())
    )
    spoken = reading.spoken_on(vote, named - {""}, but=run.id)
    if not spoken:
        return tuple(operations)
    found: list[Operation] = []
    for place, op in enumerate(operations):
        if isinstance(op, Tally) and op.support > 0 and op.id in spoken:
            found.append(replace(op, support=0, evidence=op.evidence or _places(run)))
        elif isinstance(op, Add) and told_again[place] in spoken:
            found.append(Tally(told_again[place], evidence=op.evidence or _places(run)))
        elif isinstance(op, Add) and spoken.intersection(merged.get(keys.get(place, ""), ())):
            # It takes the place of a lesson of its own origin: what bore that out bears it out, and no more.
            found.append(replace(op, evidence=()))
        else:
            found.append(op)
    return tuple(found)


def _places(run: Run) -> tuple[Evidence, ...]:
    return (Evidence(run=run.id, role="context"),)


def _told_again(reading: Reading, op: Add) -> str:
    """The lesson that has the very text of an ADD in its section; empty if none has."""
    members = reading.group(group_key(section_name(op.section, op.kind or "strategy"), text_digest(op.text)))
    return root_of(reading, members[0].key) if members and op.status != "held" else ""
