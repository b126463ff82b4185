"""Refine: lazily, when a bound is passed, and every so many deltas; by hand whenever asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from tenure.learning.duplicates import duplicate_of
from tenure.learning.retention import retain_if_due
from tenure.playbook.delta import Delta, Merge
from tenure.playbook.likeness import SAME_TEXT
from tenure.playbook.refine import Bounds, Plan, learned, plan_refinement
from tenure.ports import Admitted, IdSource, Reading, Writing
from tenure.settings import Settings
from tenure.telemetry import span

READ_WHOLE = 2_000
"""While bounds are kept, a playbook of more lessons than this is not read as a whole between two runs: only what is new
since the last time is looked up among all."""


def refine_if_due(work: Writing, settings: Settings, *, ids: IdSource, at: datetime) -> str:
    """Refine a scope if a bound is passed or the interval is over, and carry out its retention once a day.

    Returns:
        What it did, in one sentence; empty if nothing was due or nothing had to go.
    """
    refined = _refine_if_due(work, settings, ids=ids, at=at)
    return "; ".join(filter(None, (refined, retain_if_due(work, settings, ids=ids, at=at))))


def _refine_if_due(work: Writing, settings: Settings, *, ids: IdSource, at: datetime) -> str:
    every = settings.whole("refine.every")
    due = every > 0 and work.version() % every == 0
    bounds = settings.bounds
    passed = _passed(work, bounds)
    if not due and not passed:
        return ""
    with span("tenure.refine", scope=work.scope) as told:
        plan = _plan(work, bounds, every, passed, at)
        told.note(merges=len(plan.merges), evictions=len(plan.evictions))
        if not plan.operations:
            return ""
        carry_out(work, plan, ids=ids, at=at)
    return describe(plan)


def _plan(work: Writing, bounds: Bounds, every: int, passed: bool, at: datetime) -> Plan:
    if not passed and sum(count for count, _ in work.sizes().values()) > READ_WHOLE:
        return plan_for_new(work, since=work.version() - every)
    return plan_refinement(work.lessons(), bounds, at=at, tasks=work.tasks_of, review=False, unasked=True)


def plan_for_new(reading: Reading, *, since: int) -> Plan:
    """What refine would merge of the lessons that came after a version. Cost follows their number, not the playbook."""
    merges: list[Merge] = []
    gone: set[str] = set()
    for lesson in reading.since(since):
        found = duplicate_of(lesson, reading, tasks=reading.tasks_of)
        if found is None or {lesson.id, found.lesson.id} & gone:
            continue
        goes, stays = (found.lesson, lesson) if found.likeness.keeps == lesson.id else (lesson, found.lesson)
        if goes.pinned or (not learned(goes) and found.likeness.reason != SAME_TEXT):
            continue
        gone |= {goes.id, stays.id}
        merges.append(Merge((goes.id,), stays.id, reason=found.likeness.reason))
    return Plan(merges=tuple(merges))


def carry_out(work: Writing, plan: Plan, *, ids: IdSource, at: datetime, author: str = "refine") -> Admitted:
    """Put a plan into effect as one delta; the next prompt is built anew, without what went."""
    admitted = work.admit(Delta(ids.next(work.newest_delta_id()), plan.operations, scope=work.scope, author=author, cause="refine", at=at))
    if admitted.version is not None:
        renew_prompt(work, "refine tidied the playbook")
    return admitted


def renew_prompt(work: Writing, reason: str) -> None:
    """Have the stable part of the next prompt built anew, for what must not wait until the tail has grown."""
    for size in work.core_sizes():
        core = work.core(size)
        if core is not None and not core.stale:
            work.keep_core(replace(core, stale=reason), size)


def describe(plan: Plan) -> str:
    """What a plan does, in one sentence."""
    parts = []
    if plan.merges:
        parts.append(f"merged {sum(len(merge.ids) for merge in plan.merges)} duplicates")
    if plan.evictions:
        parts.append(f"retired {len(plan.evictions)} {'lesson' if len(plan.evictions) == 1 else 'lessons'} to keep the bounds")
    return ("refine " + " and ".join(parts)) if parts else ""


def _passed(work: Reading, bounds: Bounds) -> bool:
    sizes = work.sizes()
    return (
        any(count > bounds.lessons_per_section for count, _ in sizes.values())
        or sum(tokens for _, tokens in sizes.values()) > bounds.tokens
    )


def raise_bounds(work: Writing, settings: Settings) -> str:
    """Raise a scope's bounds to what it holds, after a person put it there.

    Returns:
        What was raised, in one sentence; empty if the bounds held.
    """
    bounds, sizes = settings.bounds, work.sizes()
    most = max((count for count, _ in sizes.values()), default=0)
    tokens = sum(size for _, size in sizes.values())
    raised: list[str] = []
    if most > bounds.lessons_per_section:
        work.set("bounds.lessons_per_section", str(most))
        raised.append(f"bounds.lessons_per_section from {bounds.lessons_per_section} to {most}")
    if tokens > bounds.tokens:
        work.set("bounds.tokens", str(tokens))
        raised.append(f"bounds.tokens from {bounds.tokens} to {tokens}")
    return f"Raised {' and '.join(raised)}, to hold what you put in." if raised else ""
