"""Values as JSON, the same for every door: the command line, and later REST, MCP and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tenure.playbook.delta import Operation, Receipt
from tenure.playbook.evidence import TrackRecord
from tenure.playbook.lessons import Lesson
from tenure.playbook.operations_json import operation_to_json
from tenure.playbook.revision import read_revision
from tenure.ports import HeldChange, LedgerEntry, Usage

if TYPE_CHECKING:
    from tenure.learning.history import Blame, Difference
    from tenure.learning.learned import Summary
    from tenure.learning.recall import Context


def lesson_json(lesson: Lesson) -> dict[str, Any]:
    """A lesson with all its fields; tallies, evidence and revision are objects, a revision that never was is null."""
    revision = read_revision(lesson.revision)
    return {**asdict(lesson), "revision": asdict(revision) if revision is not None else None}


def track_record_json(record: TrackRecord) -> dict[str, Any]:
    """What the newest runs of a lesson amount to; counts and shares as in `evidence.TrackRecord`."""
    return asdict(record)


def operation_json(operation: Operation) -> dict[str, Any]:
    """An operation as `tenure apply` reads it, but that the record of a revision is an object."""
    found = operation_to_json(operation)
    revision = read_revision(found["revision"]) if "revision" in found else None
    return {**found, "revision": asdict(revision)} if revision is not None else found


def receipt_json(receipt: Receipt, op: str) -> dict[str, Any]:
    """A receipt, with the name of the operation it is for."""
    return {"op": op, "status": receipt.status, "reason": receipt.reason, "id": receipt.id}


def held_json(change: HeldChange, number: int) -> dict[str, Any]:
    """A held change, with its number in the list (from 1)."""
    return {
        "number": number,
        "id": change.id,
        "operation": operation_json(change.operation),
        "reason": change.reason,
        "author": change.author,
        "run": change.run,
        "at": change.at,
        "state": change.state,
        "rule": change.rule,
        "origin": change.origin,
        "voices": list(change.voices),
        "decided": change.decided,
        "batch": change.batch,
    }


def entry_json(entry: LedgerEntry) -> dict[str, Any]:
    """A delta as it stands in the ledger."""
    delta = entry.delta
    return {
        "version": entry.version,
        "id": delta.id,
        "key": delta.key,
        "scope": delta.scope,
        "author": delta.author,
        "cause": delta.cause,
        "at": delta.time,
        "note": delta.note,
        "operations": [operation_json(operation) for operation in delta.operations],
        "decisions": [asdict(decision) for decision in delta.decisions],
        "writer": entry.writer,
        "digest": entry.digest,
    }


def difference_json(difference: Difference) -> dict[str, Any]:
    """How a lesson differs between two versions; `before` and `after` are whole lessons or null."""
    return {
        "id": difference.id,
        "change": difference.change,
        "before": lesson_json(difference.before) if difference.before is not None else None,
        "after": lesson_json(difference.after) if difference.after is not None else None,
    }


def blame_json(blame: Blame) -> dict[str, Any]:
    """A delta that touched a lesson, with those of its operations that did."""
    return {**entry_json(blame.entry), "operations": [operation_json(operation) for operation in blame.operations]}


def context_json(context: Context) -> dict[str, Any]:
    """What an agent is shown: text, size, ids of lessons and cases, and why each lesson is there."""
    return {
        "text": context.text,
        "tokens": context.tokens,
        "lessons": list(context.lessons),
        "cases": list(context.cases),
        "parts": dict(context.parts),
        "why": [asdict(why) for why in context.why],
        "why_cases": [asdict(why) for why in context.why_cases],
        "answers": [asdict(one) for one in context.answers],
        "left_out": context.left_out,
        "search": context.search,
        "counted_by": context.counted_by,
        "notes": list(context.notes),
        "withheld": [asdict(one) for one in context.withheld],
        "draws": [asdict(one) for one in context.draws],
        "holdout": context.holdout,
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """What model calls used; a cost of null is unknown, which is not 0."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": float(usage.cost_usd) if usage.cost_usd is not None else None,
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    """What became of many runs."""
    return {
        "runs": summary.runs,
        "successes": summary.successes,
        "failures": summary.failures,
        "skipped": summary.skipped,
        "added": summary.added,
        "merged": summary.merged,
        "held": summary.held,
        "revised": summary.revised,
        "retired": summary.retired,
        "released": summary.released,
        "conflicts": summary.conflicts,
        "postponed": summary.postponed,
        "why_postponed": {limit: {"runs": runs, "reason": reason} for limit, (runs, reason) in summary.why_postponed.items()},
        "interrupted": summary.interrupted,
        "left": list(summary.left),
        "problems": list(summary.problems),
        "usage": usage_json(summary.usage),
    }


def lessons_json(lessons: Sequence[Lesson]) -> list[dict[str, Any]]:
    """Lessons in their order."""
    return [lesson_json(lesson) for lesson in lessons]


def counts_json(counts: Mapping[str, int]) -> dict[str, int]:
    """Sizes by name."""
    return dict(counts)
