"""Whether a memory is sound: its tree follows from its raw entries, and what stands in the store fits together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenure.learning.memory import Memory
from tenure.memory_tree.nodes import Node
from tenure.memory_tree.periods import Period, weeks_of
from tenure.ports import Clock, IdSource, Reading, Store

MONTHS = 3
"""Months that are built again to be compared: the newest, the oldest and one between."""

NAMED = 3
"""Nodes that are named where they differ."""


def check_memory(
    store: Store, scope: str, *, clock: Clock, ids: IdSource, fresh: Callable[[], Store], months: int = MONTHS
) -> tuple[str, ...]:
    """What is wrong with a memory, a sentence each; empty if it is sound. Nothing is changed.

    A sample of months is built again from the raw entries, in a store of its own, and compared with what is kept. What entries arrived
    in since it was compacted is left out: it is known to be behind.

    Args:
        store, scope: whose memory it is.
        clock, ids: of the engine.
        fresh: makes an empty store.
        months: how many are built again, at most.
    """
    with store.reading(scope) as look:
        wrong = list(look.check_memory())
        sample = _sample([one.period for one in look.nodes("month")], look.stale_periods(), months)
        if not sample:
            return tuple(wrong)
        weeks = sorted({week for month in sample for week in weeks_of(month)})
        days = [Period("day", day) for day in sorted({day for week in weeks for day in week.days})]
        entries = [entry for day in days for entry in look.entries(day=day.key)]
        stale = set(look.stale_periods())
        compared = [one for one in (*days, *weeks, *sample) if one not in stale]
        kept = _nodes(look, compared)
        named = {name: value for name, value in look.settings_kept().items() if name.startswith("memory.")}
    trial = fresh()
    try:
        with trial.writing(scope) as work:
            work.keep_entries(entries)
            for name, value in named.items():
                work.set(name, value)
        Memory(trial, scope, clock=clock, ids=ids).compact(all=True)
        with trial.reading(scope) as look:
            built = _nodes(look, compared)
    finally:
        trial.close()
    # What later days say of a project can change a summary; only what a sample says by itself is compared to the letter.
    projects = {entry.day for entry in entries if entry.type == "project"}
    other = [one for one in compared if not _alike(kept.get(one), built.get(one), letter=projects.isdisjoint(one.days))]
    if other:
        some = ", ".join(one.key for one in other[:NAMED]) + (f" and {len(other) - NAMED:,} more" if len(other) > NAMED else "")
        wrong.append(f"nodes that do not follow from the raw log: {some}")
    return tuple(wrong)


def _sample(months: Sequence[Period], stale: Sequence[Period], most: int) -> list[Period]:
    """Months that are up to date, spread over all of them, the newest and the oldest among them."""
    known = [one for one in sorted(months) if one not in set(stale)]
    if len(known) <= most:
        return known
    return sorted({known[round(place * (len(known) - 1) / max(1, most - 1))] for place in range(most)})


def _nodes(look: Reading, periods: Sequence[Period]) -> dict[Period, Node]:
    return {period: node for period in periods if (node := look.node(period)) is not None}


def _alike(kept: Node | None, built: Node | None, *, letter: bool) -> bool:
    if kept is None or built is None:
        return kept is built
    return (kept.entries, kept.raw_lines) == (built.entries, built.raw_lines) and (not letter or kept.digest == built.digest)
