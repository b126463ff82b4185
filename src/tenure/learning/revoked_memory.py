"""Entries of the memory whose origin is revoked: set aside, so that nothing recalls them and no node rests on them, and put back.

They lie beside the log, one a line, in a text per origin. Forgetting reaches them there (see `forgetting_memory`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict

from tenure.learning.resting import names_origin
from tenure.memory_tree.entries import Entry
from tenure.ports import Reading, Writing

REVOKED = "memory.revoked"
"""Layer of what was set aside, named by origin."""


def set_aside(reading: Reading, name: str) -> Sequence[Entry]:
    """The entries of an origin that were set aside."""
    return [Entry(**json.loads(line)) for line in reading.memory_file(REVOKED, name).splitlines()]


def as_text(entries: Sequence[Entry]) -> str:
    """Entries as they are set aside."""
    return "".join(f"{json.dumps(asdict(one), ensure_ascii=True)}\n" for one in entries)


def entries_from(reading: Reading, asked: Collection[str]) -> Sequence[Entry]:
    """Entries in use whose origin is one of these or lies below one."""
    return [one for one in reading.entries() if one.origin and any(names_origin(one.origin, name) for name in asked)]


def follow_revocations(work: Writing, revoked: Collection[str]) -> tuple[Sequence[Entry], Sequence[Entry]]:
    """Set aside what is of a revoked origin, and put back what no longer is; both.

    Nodes that change are not built here: they are marked, and it is for the caller to drop those that must not stand.
    """
    back: list[Entry] = []
    for name in work.memory_files(REVOKED):
        if not any(names_origin(name, one) for one in revoked):
            back += set_aside(work, name)
            work.put_memory_file(REVOKED, name, "")
    work.keep_entries(back)
    out = entries_from(work, revoked) if revoked else []
    for name in sorted({one.origin for one in out}):
        own = [*set_aside(work, name), *(one for one in out if one.origin == name)]
        work.put_memory_file(REVOKED, name, as_text(own))
    if out:
        work.drop_entries([one.id for one in out])
    return out, back
