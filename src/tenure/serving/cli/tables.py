"""Lessons as a person reads them: one table for a playbook, one page for a lesson."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tenure.playbook.lessons import Evidence, Lesson, Tallies, short_ids
from tenure.playbook.revision import Revision, read_revision
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, local_time, one_line

if TYPE_CHECKING:
    from tenure.playbook.evidence import TrackRecord
    from tenure.playbook.run import Run

STATUS_STYLES = {"active": "green", "provisional": "yellow", "held": "red", "retired": "dim"}

_COLUMNS = (
    Column(title="id", style="cyan"),
    Column(title="lesson", wraps=True),
    Column(title="status"),
    Column(title="runs", right=True, optional=True),
    Column(title="helped", right=True, optional=True),
    Column(title="harmed", right=True, optional=True),
)


def lesson_table(terminal: Terminal, lessons: Sequence[Lesson], ids: dict[str, str] | None = None) -> None:
    """Print lessons by section.

    Args:
        terminal: where to.
        lessons: in any order.
        ids: each id as it is shown; none shortens them as far as these lessons allow.
    """
    shown = ids or short_ids([lesson.id for lesson in lessons])
    rows: list[Sequence[Cell]] = []
    section = None
    for lesson in sorted(lessons, key=lambda one: (one.section, one.id)):
        if lesson.section != section:
            rows += [("", "", "", "", "", "")] if rows else []
            section = lesson.section
            size = sum(one.section == section for one in lessons)
            rows.append(("", [(section, "bold"), (f"  {counted(size, 'lesson')}", "dim")], "", "", "", ""))
        rows.append(
            (
                shown.get(lesson.id, lesson.id),
                said(lesson),
                [(lesson.status, STATUS_STYLES.get(lesson.status, "")), (", pinned" if lesson.pinned else "", "")],
                _count(lesson.tallies.support),
                _count(lesson.tallies.helpful),
                _count(lesson.tallies.harmful),
            )
        )
    terminal.table(_COLUMNS, rows)


def said(lesson: Lesson) -> list[tuple[str, str]]:
    """What a lesson says, with its conditions."""
    parts = [(lesson.text.strip("\n"), "")]
    if lesson.applies_when:
        parts.append((f"\nApplies when: {lesson.applies_when}", "dim"))
    if lesson.avoid:
        parts.append((f"\nAvoid: {lesson.avoid}", "dim"))
    if lesson.tool_order:
        parts.append((f"\nOrder of tools: {', '.join(lesson.tool_order)}", "dim"))
    return parts


def lesson_page(
    terminal: Terminal, lesson: Lesson, runs: Sequence[tuple[str, Run | None]], record: TrackRecord | None = None, graded: str = ""
) -> None:
    """Print everything about one lesson.

    Args:
        terminal: where to.
        lesson: the lesson.
        runs: the kept run behind each id of a run in its evidence.
        record: what its newest runs amount to; none leaves it out.
        graded: what kept cases say of it by replay, in words; empty leaves it out.
    """
    facts: list[tuple[str, Cell]] = [
        ("id", lesson.id),
        ("section", lesson.section),
        ("kind", lesson.kind.replace("_", " ")),
        ("status", [(lesson.status, STATUS_STYLES.get(lesson.status, "")), (", pinned" if lesson.pinned else "", "")]),
        ("lesson", lesson.text),
    ]
    optional: list[tuple[str, str]] = [
        ("applies when", lesson.applies_when),
        ("avoid", lesson.avoid),
        ("order of tools", ", ".join(lesson.tool_order)),
        ("about", lesson.about),
        ("verdict", lesson.verdict),
        ("revision", revision_told(revision) if (revision := read_revision(lesson.revision)) is not None else ""),
        ("author", lesson.author),
        ("origin", lesson.origin),
        ("created", local_time(lesson.created)),
        ("updated", local_time(lesson.updated) if local_time(lesson.updated) != local_time(lesson.created) else ""),
        ("merged from", ", ".join(lesson.merged)),
    ]
    facts += [(name, value) for name, value in optional if value]
    facts.append(("counts", tallied(lesson.tallies) or "none yet"))
    if record is not None and (record.support or record.contradictions):
        facts.append(("lately", recorded(record)))
    if graded:
        facts.append(("by replay", graded))
    terminal.facts(facts)
    if lesson.evidence:
        terminal.text("\n")
        evidence_table(terminal, lesson.evidence, dict(runs))


def evidence_table(terminal: Terminal, places: Sequence[Evidence], runs: dict[str, Run | None]) -> None:
    """Print the places a lesson rests on, with what stands there in the kept runs."""
    rows: list[Sequence[Cell]] = []
    for place in places:
        rows.append((one_line(place.run, 40), str(place.step) if place.step >= 0 else "", place.role, _at(runs.get(place.run), place.step)))
    columns = [
        Column(title="evidence: run"),
        Column(title="step", right=True, optional=True),
        Column(title="shows"),
        Column(title="what stands there", wraps=True),
    ]
    terminal.table(columns, rows)


def tallied(tallies: Tallies) -> str:
    """Counts above 0 in words."""
    words = (
        ("support", "seen in {}"),
        ("shown", "shown in {}"),
        ("cited", "named in {}"),
        ("helpful", "helped in {}"),
        ("harmful", "misled in {}"),
        ("neutral", "no difference in {}"),
        ("withheld", "held back in {}"),
    )
    return ", ".join(text.format(counted(getattr(tallies, name), "run")) for name, text in words if getattr(tallies, name))


def recorded(record: TrackRecord) -> str:
    """What the newest runs of a lesson amount to, in words."""
    useful = record.usefulness
    parts = [
        f"{counted(record.support, 'run')} for it, {record.contradictions:,} against",
        f"after fading {record.helpful:.1f} to {record.harmful:.1f}",
        f"helps in {useful.mean:.0%} ({useful.lower:.0%} to {useful.upper:.0%})",
        f"would have been right in {record.would_have_been_right:,} without it" if record.would_have_been_right else "",
        f"doubt {record.doubt:.1f}" if record.doubt else "",
        f"last seen {local_time(record.last_seen)}" if record.last_seen else "",
    ]
    return "; ".join(part for part in parts if part)


def revision_told(revision: Revision) -> str:
    """What is recorded of a revision, in one line."""
    checked = revision.author != "code" and revision.verdict != "confirmed"
    parts = [
        f"{revision.verdict} by {revision.author or 'nobody named'}",
        f"tested by run {one_line(revision.run, 40)}" if revision.run else "",
        f"source run {one_line(revision.source, 40)}" if revision.source else "",
        f"grounded {revision.grounded:.0%}, leaked {revision.leaked:.0%}" if checked else "",
        counted(revision.hypotheses, "hypothesis", "hypotheses") if revision.hypotheses else "",
        f"{counted(revision.dropped, 'statement')} dropped" if revision.dropped else "",
        f"basis: {one_line(revision.basis, 200)}" if revision.basis else "",
        *(one_line(check, 200) for check in revision.checks),
    ]
    return "; ".join(part for part in parts if part)


def _at(run: Run | None, place: int) -> str:
    if run is None:
        return "(this run is not kept here)"
    if place < 0:
        return one_line(run.task.text, 160)
    if place >= len(run.steps):
        return "(this step is not kept)"
    step = run.steps[place]
    if step.error:
        return one_line(f"{step.name}: {step.error}", 160)
    if step.kind == "tool_result" and step.call_id:
        # What was accepted says more than what came back.
        step = next((one for one in run.steps[:place] if one.kind == "tool_call" and one.call_id == step.call_id), step)
    if step.arguments:
        given = ", ".join(f"{name}={value}" for name, value in step.arguments.items())
        return one_line(f"{step.name}({given})", 160)
    return one_line(f"{step.name or step.role}: {step.content}", 160)


def _count(number: int) -> str:
    return f"{number:,}" if number else ""
