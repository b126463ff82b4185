"""Retention: what is older than a scope keeps it goes, once a day with refine or when it is asked for. By default nothing does.

Only what was named goes: raw runs, memory entries, held changes, failed replies, retired lessons. Lessons stay when their runs go.
A run that a live lesson rests on stays too, and so does what a person said to keep in the memory, and this is told, unless
`retention.evidence` says that they go. Days, weeks and months of the memory are made of its entries, and go with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from tenure.learning.forgetting_memory import drop_derived
from tenure.learning.replay import forget_grades_by
from tenure.learning.resting import find_resting
from tenure.memory_tree.entries import KEPT
from tenure.playbook.delta import DECISIONS, Delta
from tenure.playbook.records import component
from tenure.playbook.removal import Gone, without
from tenure.ports import IdSource, Reading, Writing
from tenure.settings import Settings

LAST = "retention.last"
"""Setting that holds the day (UTC) on which it was carried out last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What goes because it is older than the scope keeps it, or went.

    Attributes:
        runs: raw runs that go.
        needed: older runs that stay because live lessons rest on them.
        bereft: live lessons that lose the raw case they rest on; none unless `retention.evidence` is `go`.
        held: held changes that go, decided ones too.
        failed: failed replies that go.
        lessons: retired lessons that go, texts and all.
        entries: memory entries that go; the days, weeks and months above are built anew.
        told_to_keep: older entries that stay because a person said to keep them (types `user` and `feedback`).
        days: on which the entries that go were filed.
        version: of the tombstone; none before it is done, or if nothing goes.
    """

    runs: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    bereft: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    told_to_keep: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    version: int | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """How much goes, by name; what is 0 is left out."""
        every = {"run": self.runs, "held change": self.held, "failed reply": self.failed, "retired lesson": self.lessons}
        every["memory entry"] = self.entries
        return {name: len(gone) for name, gone in every.items() if gone}

    @property
    def nothing(self) -> bool:
        """Whether nothing goes."""
        return not self.counts

    def told(self) -> str:
        """It in one sentence; empty if nothing goes and nothing had to stay."""
        plural = {"failed reply": "failed replies", "memory entry": "memory entries"}
        gone = [f"{count:,} {name if count == 1 else plural.get(name, f'{name}s')}" for name, count in self.counts.items()]
        parts = [f"past their retention: {', '.join(gone)}"] if gone else []
        if self.needed:
            parts.append(f"{len(self.needed):,} older runs stay, because live lessons rest on them (retention.evidence)")
        if self.told_to_keep:
            one = len(self.told_to_keep) == 1
            stay = "1 older entry stays" if one else f"{len(self.told_to_keep):,} older entries stay"
            parts.append(f"{stay}, because a person said to keep {'it' if one else 'them'} (retention.evidence)")
        if self.bereft:
            parts.append(f"{len(self.bereft):,} live lessons no longer have the run they rest on")
        return "; ".join(parts)


def is_set(settings: Settings) -> bool:
    """Whether a scope has any retention at all."""
    return any(settings.days(f"retention.{name}") is not None for name in ("raw", "memory", "held", "failed", "retired"))


def plan_retention(reading: Reading, settings: Settings, *, at: datetime) -> Retention:
    """What is older than the scope keeps it."""

    def before(name: str) -> str:
        days = settings.days(f"retention.{name}")
        return "" if days is None else (at.astimezone(UTC) - timedelta(days=days)).isoformat()

    found = Retention()
    limit = before("raw")
    if limit:
        old = set(reading.runs_before(limit))
        resting = {lesson.id: {place.run for place in lesson.evidence} for lesson in reading.lessons()}
        needed = set().union(*resting.values()) & old if resting else set[str]()
        keep = settings.text("retention.evidence") == "keep"
        bereft = () if keep else tuple(sorted(one for one, runs in resting.items() if runs & old))
        going = old - needed if keep else old
        found = replace(found, runs=tuple(sorted(going)), needed=tuple(sorted(needed)) if keep else (), bereft=bereft)
    limit = before("memory")
    if limit:
        keep = settings.text("retention.evidence") == "keep"
        old_entries = [one for one in reading.entries() if _is_before(one.at, limit)]
        going_entries = [one for one in old_entries if not (keep and one.type in KEPT)]
        stay = tuple(one.id for one in old_entries if keep and one.type in KEPT)
        days = tuple(sorted({one.day for one in going_entries}))
        found = replace(found, entries=tuple(one.id for one in going_entries), told_to_keep=stay, days=days)
    limit = before("held")
    if limit:
        held = [change.id for state in DECISIONS for change in reading.held(state=state) if _is_before(change.at, limit)]
        found = replace(found, held=tuple(held))
    limit = before("failed")
    if limit:
        found = replace(found, failed=tuple(one.id for one in reading.failed_replies() if _is_before(one.at, limit)))
    limit = before("retired")
    if limit:
        retired = [lesson.id for lesson in reading.lessons(live=False) if lesson.status == "retired" and _is_before(lesson.updated, limit)]
        found = replace(found, lessons=tuple(retired))
    return found


def retain(work: Writing, settings: Settings, *, ids: IdSource, at: datetime, author: str = "retention") -> Retention:
    """Take out what is older than the scope keeps it, inside a transaction on it, with a tombstone."""
    plan = plan_retention(work, settings, at=at)
    work.set(LAST, at.astimezone(UTC).date().isoformat())
    if plan.nothing:
        return plan
    changed: dict[int, Delta] = {}
    if plan.lessons:
        dead = {key for one in plan.lessons for key in component(work, one)}
        resting = find_resting(work, Gone(), named=dead)
        less = {version: without(entry.delta, resting.gone) for version, entry in resting.entries.items()}
        changed = {version: delta for version, delta in less.items() if delta is not resting.entries[version].delta}
    tombstone = Delta(ids.next(work.newest_delta_id()), (), scope=work.scope, author=author, cause="forget", at=at, note=plan.told())
    version = work.rewrite(changed, tombstone)
    if plan.runs:
        forget_grades_by(work, plan.runs)
        work.drop_runs(plan.runs)
        work.remember_forgotten(plan.runs, at.isoformat())
    if plan.entries:
        work.drop_entries(plan.entries)
        drop_derived(work, plan.days)
    if plan.held:
        work.drop_held(plan.held)
    for failed in plan.failed:
        work.drop_failed_reply(failed)
    return replace(plan, version=version)


def retain_if_due(work: Writing, settings: Settings, *, ids: IdSource, at: datetime) -> str:
    """Carry it out, once a day; what went, in one sentence, empty if nothing did."""
    if not is_set(settings) or work.setting(LAST) == at.astimezone(UTC).date().isoformat():
        return ""
    done = retain(work, settings, ids=ids, at=at)
    return done.told() if not done.nothing else ""


def _is_before(moment: str, limit: str) -> bool:
    """Whether a moment is known and lies before another, whatever their zones."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return False
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)) < datetime.fromisoformat(limit)
