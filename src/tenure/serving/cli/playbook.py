"""The playbook itself: `tenure show`, `apply` and `refine`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UnreadableInput, UserError
from tenure.serving.cli import completion, figures, holdouts
from tenure.serving.cli.contrast import contrasted
from tenure.serving.cli.elsewhere import next_step
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, one_line
from tenure.serving.cli.request import IN_PART, OK, Request, person, read_text
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from datetime import datetime

    from tenure.learning.retention import Retention
    from tenure.playbook.delta import Merge, Operation, Receipt
    from tenure.playbook.lessons import Lesson
    from tenure.playbook.refine import Plan
    from tenure.ports import Reading

NAMED = 10
"""Reasons named on the terminal; `--json` has all."""

SHOWN_STATUSES = ("provisional", "active", "held", "retired")


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(
        app,
        "show",
        show,
        "tenure show",
        "tenure show inv-7k2m9q               # one lesson, with its evidence",
        'tenure show --section "tool rules" --status active',
        "tenure show --all --json",
    )
    add_verb(
        app,
        "apply",
        apply,
        "tenure apply operations.json",
        """echo '[{"op": "PIN", "id": "inv-7k2m9q"}]' | tenure apply -""",
    )
    add_verb(app, "refine", refine, "tenure refine --dry-run", "tenure refine")


def show(
    request: Request,
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="A lesson, or as much of its id as makes it unique.",
            show_default=False,
            autocompletion=completion.lesson_ids,
        ),
    ] = None,
    section: Annotated[str | None, typer.Option("--section", metavar="NAME", help="Only this section.")] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status", metavar="STATUS", autocompletion=completion.statuses, help=f"Only lessons that are {', '.join(SHOWN_STATUSES)}."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are held or retired.")] = False,
) -> int:
    """Show the lessons, or all that is known of one."""
    terminal = request.terminal
    wanted = _statuses(status)
    with request.reading() as book, book.store.reading(book.scope) as reading:
        if id is not None:
            table = figures.find_table(reading, id)
            return figures.show_one(request, reading, table) if table is not None else _show_one(request, reading, id, book.clock.now())
        kept = list(reading.lessons(live=not (everything or wanted - {"provisional", "active"})))
        tables = [] if wanted else list(reading.aggregates())
        if section is not None:
            tables = [one for one in tables if one.section.casefold() == section.strip().casefold()]
            kept = _in_section(kept, section) if not tables else [one for one in kept if one.section == tables[0].section]
        if wanted:
            kept = [lesson for lesson in kept if lesson.status in wanted]
        counts, inherited = reading.counts(), Counter(scope for scope, _ in reading.inherited())
        scope = reading.scope
        instead = next_step(request, book, "show") if not kept and not request.as_json else ""
    if request.as_json:
        from tenure.serving.wire import counts_json, lessons_json

        said = {"lessons": lessons_json(kept), "scope": scope, "counts": counts_json(counts), "inherited": dict(inherited)}
        terminal.document(said | figures.tables_json(tables))
        return OK
    if kept or not tables:
        _show_many(request, kept, scope, counts, instead, narrowed=bool(section or wanted), everything=everything)
    figures.show_tables(request, tables)
    for parent, number in inherited.items():
        terminal.say(f"{counted(number, 'lesson')} more from {parent}: tenure show --scope {parent}")
    return OK


def apply(
    request: Request,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A JSON file with operations; - for stdin.", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would become of each operation; write nothing.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 if an operation was skipped.")] = False,
) -> int:
    """Change the playbook by hand, from a file of operations.

    All of it is one delta. The file holds {"operations": [{"op": "ADD", "section": "...", "text": "..."}]} or only the list. Each operation
    gets a receipt; one that cannot be carried out does not touch the others.
    """
    terminal = request.terminal
    entries = _operations_in(read_text(file, terminal, what="operations"), "stdin" if file == "-" else file)
    read = [_read(entry) for entry in entries]
    good = [op for _, op in read if not isinstance(op, str)]
    version, raised, receipts, warnings = _carry_out(request, good, dry_run=dry_run)
    from tenure.playbook.delta import Receipt

    left = iter(receipts)
    all_receipts = [(name, Receipt("skipped", op) if isinstance(op, str) else next(left)) for name, op in read]
    skipped = sum(receipt.status == "skipped" for _, receipt in all_receipts)
    if request.as_json:
        from tenure.serving.wire import receipt_json

        found = {
            "receipts": [receipt_json(receipt, name) for name, receipt in all_receipts],
            "version": version,
            "raised": raised,
            "warnings": list(warnings),
        }
        terminal.document({**found, "dry_run": True} if dry_run else found)
    else:
        _show_receipts(request, all_receipts, version, raised, dry_run=dry_run)
        for warning in warnings:
            terminal.warn(warning)
    return IN_PART if strict and skipped else OK


def refine(
    request: Request, dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done, with reasons.")] = False
) -> int:
    """Merge duplicates, and keep the playbook in its bounds.

    Lessons that say the same become one; where a bound is passed, the least useful are retired: only learned ones, and
    none that is pinned or proven. All of it is one delta that can be rolled back. Lessons that are alike in wording and
    differ in a fact are listed, and left as they are. What is older than the scope keeps it (tenure config set
    retention.raw 180d) goes for good; by default nothing does.
    """
    with request.reading() if dry_run else request.writing() as book:
        plan, receipts = book.refine(dry_run=dry_run)
        with book.store.reading(book.scope) as reading:
            texts = {lesson.id: lesson for lesson in map(reading.lesson, _ids_of(plan)) if lesson is not None}
            version = reading.version() if receipts else None
        retained = book.retain(dry_run=dry_run, author=person())
    if request.as_json:
        request.terminal.document(
            {
                "retention": _retained(retained),
                "merges": [{"ids": list(merge.ids), "into": merge.into, "reason": merge.reason} for merge in plan.merges],
                "evictions": [{"id": eviction.id, "reason": eviction.reason} for eviction in plan.evictions],
                "conflicts": [{"ids": list(conflict.ids), "reason": conflict.reason} for conflict in plan.conflicts],
                "tokens_before": plan.tokens_before,
                "tokens_after": plan.tokens_after,
                "over": list(plan.over),
                "version": version,
                "dry_run": dry_run,
            }
        )
        return OK
    _show_plan(request, plan, texts, version, dry_run=dry_run)
    if retained.told():
        undone = "" if retained.nothing else " Nothing was taken out." if dry_run else f" Gone for good, as version {retained.version}."
        request.terminal.say(f"Retention: {retained.told()}.{undone}")
    return OK


def _retained(found: Retention) -> Mapping[str, Any]:
    names = ("runs", "needed", "bereft", "held", "failed", "lessons", "entries", "told_to_keep")
    return {**{name: list(getattr(found, name)) for name in names}, "version": found.version}


# -- show --------------------------------------------------------------------------------------------


def _statuses(given: Sequence[str] | None) -> set[str]:
    asked = {part.strip().lower() for one in given or () for part in one.split(",")}
    unknown = asked - set(SHOWN_STATUSES)
    if unknown:
        raise UserError(f"There is no status '{sorted(unknown)[0]}'. Use one of: {', '.join(SHOWN_STATUSES)}.")
    return asked


def _in_section(lessons: Sequence[Lesson], section: str) -> list[Lesson]:
    found = [lesson for lesson in lessons if lesson.section.casefold() == section.strip().casefold()]
    if not found and lessons:
        names = sorted({lesson.section for lesson in lessons})
        raise UserError(f"There is no section '{section}'. There are: {', '.join(names[:12])}{' ...' if len(names) > 12 else ''}")
    return found


def _show_one(request: Request, reading: Reading, named: str, at: datetime) -> int:
    from tenure.learning.history import find_lesson
    from tenure.learning.holdouts import trial_of
    from tenure.learning.observing import observations
    from tenure.playbook.evidence import track_record
    from tenure.playbook.shelf_life import ageing
    from tenure.serving.cli.grades import grades_json, grades_told
    from tenure.settings import read_settings

    lesson = find_lesson(reading, named)
    record = track_record(observations(reading, lesson), at=at)
    trial, age = trial_of(reading, lesson), ageing(lesson, read_settings(reading.setting).shelf_lives, at)
    if request.as_json:
        from tenure.serving.wire import lessons_json, track_record_json

        said = {"lessons": lessons_json([lesson]), "scope": reading.scope, "track_record": track_record_json(record)}
        tried = holdouts.trial_json(trial) if trial is not None else None
        request.terminal.document(said | {"grades": grades_json(reading, lesson.id), "holdout": tried, "shelf_life": asdict(age)})
        return OK
    from tenure.serving.cli.tables import lesson_page

    runs = list(dict.fromkeys(place.run for place in lesson.evidence))
    more = [("by replay", grades_told(reading.beliefs([lesson.id]).get(lesson.id), reading.grades([lesson.id])))]
    more += [("hold-outs", holdouts.trial_told(trial))] if trial is not None else []
    more.append(("shelf life", age.said))
    lesson_page(request.terminal, lesson, [(run, reading.run(run)) for run in runs], record, more)
    request.terminal.say(f"\nWho wrote it, and when: {request.command(f'blame {lesson.id}')}")
    return OK


def _show_many(
    request: Request, lessons: Sequence[Lesson], scope: str, counts: Any, instead: str, *, narrowed: bool, everything: bool
) -> None:
    from tenure.playbook.lessons import short_ids
    from tenure.serving.cli.tables import lesson_table

    terminal = request.terminal
    if not lessons:
        if narrowed:
            terminal.say(f"No lesson of scope {scope} is like that. See all: {request.command('show --all')}")
        else:
            terminal.say(f"Scope {scope} has no lessons yet. {instead}")
    else:
        lesson_table(terminal, lessons, short_ids([lesson.id for lesson in lessons]))
    hidden = [f"{counts[name]:,} {name}" for name in ("held", "retired") if counts.get(name)]
    if hidden and not (narrowed or everything):
        terminal.say(f"Not shown: {' and '.join(hidden)}. See them: {request.command('show --all')}")


# -- apply -------------------------------------------------------------------------------------------


def _operations_in(text: str, name: str) -> list[object]:
    try:
        held = json.loads(text, parse_float=Decimal)  # a number keeps all its digits
    except RecursionError as exc:
        raise UnreadableInput(f"{name} is nested too deeply to be operations.") from exc
    except ValueError as exc:
        raise UnreadableInput(f'{name} is not JSON: {exc}. It should hold {{"operations": [...]}}') from exc
    entries = held.get("operations") if isinstance(held, dict) else held
    if not isinstance(entries, list):
        has = f"an object with {', '.join(map(repr, list(held)[:6])) or 'nothing'}" if isinstance(held, dict) else "no list"
        raise UnreadableInput(f'{name} holds no operations: it is {has}. It should hold {{"operations": [...]}} or the list alone.')
    return entries


def _read(entry: object) -> tuple[str, Operation | str]:
    """An operation with its name, or why it is none."""
    from tenure.playbook.delta import OPERATION_NAMES
    from tenure.playbook.operations_json import operation_from_json

    operation = operation_from_json(entry)
    if not isinstance(operation, str):
        return OPERATION_NAMES[type(operation)], operation
    said = entry.get("op", entry.get("type", "")) if isinstance(entry, dict) else ""
    return one_line(said, 20) if isinstance(said, str) else "", operation


def _carry_out(
    request: Request, operations: Sequence[Operation], *, dry_run: bool
) -> tuple[int | None, str, Sequence[Receipt], Sequence[str]]:
    """The version, a sentence about raised bounds, the receipts of operations applied in one delta, and warnings of their words."""
    from tenure.learning.warning import warnings_of
    from tenure.playbook.apply import fold_in
    from tenure.playbook.delta import Delta

    if not operations:
        return None, "", (), ()
    if dry_run:
        with request.reading() as book, book.store.reading(book.scope) as reading:
            delta = Delta(book.ids.next(reading.newest_delta_id()), operations, author=person(), cause="hand", at=book.clock.now())
            return None, "", fold_in(reading, delta).receipts, warnings_of(operations)
    with request.writing() as book:
        before = book.settings().bounds
        admitted = book.apply(operations, author=person())
        after = book.settings().bounds
    raised = [
        f"{name} from {old} to {new}"
        for name, old, new in (
            ("bounds.lessons_per_section", before.lessons_per_section, after.lessons_per_section),
            ("bounds.tokens", before.tokens, after.tokens),
        )
        if new > old
    ]
    said = f"Raised {' and '.join(raised)}, to hold what you put in." if raised else ""
    return admitted.version, said, admitted.receipts, admitted.warnings


def _show_receipts(request: Request, receipts: Sequence[tuple[str, Receipt]], version: int | None, raised: str, *, dry_run: bool) -> None:
    terminal = request.terminal
    styles = {"applied": "green", "merged": "green", "held": "yellow", "skipped": "red"}
    rows: list[Sequence[Cell]] = [
        (f"{place}", name, [(receipt.status, styles.get(receipt.status, ""))], receipt.id, receipt.reason)
        for place, (name, receipt) in enumerate(receipts, 1)
    ]
    if rows:
        columns = [Column(title="", right=True), Column(title="operation"), Column(title="became"), Column(title="lesson", style="cyan")]
        terminal.table([*columns, Column(title="why", wraps=True)], rows)
    if raised:
        terminal.say(raised)
    if dry_run:
        terminal.say("Nothing was written. To do it, leave out --dry-run.")
    elif version is None:
        terminal.say("Nothing was changed." if rows else "There was no operation in it.")
    else:
        terminal.say(
            f"This is version {version}. See it: {request.command('show')}   Undo it: {request.command(f'rollback {version - 1}')}"
        )


# -- refine ------------------------------------------------------------------------------------------


def _ids_of(plan: Plan) -> list[str]:
    merged = [one for merge in plan.merges for one in (*merge.ids, merge.into)]
    alike = [one for conflict in plan.conflicts for one in conflict.ids]
    return list(dict.fromkeys([*merged, *(eviction.id for eviction in plan.evictions), *alike]))


def _show_plan(request: Request, plan: Plan, lessons: dict[str, Lesson], version: int | None, *, dry_run: bool) -> None:
    terminal: Terminal = request.terminal
    rows: list[Sequence[Cell]] = []
    for merge in plan.merges:
        rows += _merge_rows(merge, {one: lesson.text for one, lesson in lessons.items()})
    for eviction in plan.evictions:
        text = one_line(lessons[eviction.id].text, 160) if eviction.id in lessons else ""
        rows.append(("retire", eviction.id, [(text, ""), (f"\n{eviction.reason}", "dim")]))
    if rows:
        columns = [Column(title=""), Column(title="lesson", style="cyan"), Column(title="text, and why", wraps=True)]
        terminal.table(columns, rows)
    if plan.conflicts:
        from tenure.serving.cli.review_screens import show_conflicts

        show_conflicts(terminal, plan.conflicts, {one: lesson.text for one, lesson in lessons.items()})
    for sentence in plan.over:
        terminal.warn(sentence)
    if rows or plan.conflicts:
        terminal.say(_in_short(plan, dry_run=dry_run))
    if not rows:
        terminal.say(f"Nothing to merge, and the bounds are kept: {plan.tokens_before:,} tokens in all lessons.")
    elif dry_run:
        terminal.say(
            f"From {plan.tokens_before:,} to {plan.tokens_after:,} tokens. Nothing was written. To do it: {request.command('refine')}"
        )
    else:
        undo = f" Undo it: {request.command(f'rollback {version - 1}')}" if version else ""
        terminal.say(f"From {plan.tokens_before:,} to {plan.tokens_after:,} tokens, as version {version}.{undo}")
    if plan.evictions:
        terminal.say(_back(plan.evictions[0].id, dry_run=dry_run))


def _merge_rows(merge: Merge, texts: Mapping[str, str]) -> list[Sequence[Cell]]:
    """What stays, and what goes into it; equal texts are shown once, others with what is different in them."""
    from tenure.playbook.lessons import normalised

    kept = texts.get(merge.into, "")
    others = {one: texts[one] for one in merge.ids if one in texts and normalised(texts[one]) != normalised(kept)}
    stays: Cell = contrasted(kept, next(iter(others.values()))) if others else one_line(kept, 160)
    rows: list[Sequence[Cell]] = [("keep", merge.into, stays)]
    equal = [one for one in merge.ids if one not in others]
    rows += [("merge", one, [(merge.reason, "dim")]) for one in equal]
    for one, text in others.items():
        rows.append(("merge", one, [*contrasted(text, kept), (f"\n{merge.reason}", "dim")]))
    return rows


def _in_short(plan: Plan, *, dry_run: bool) -> str:
    gone = sum(len(merge.ids) for merge in plan.merges)
    would = "would be " if dry_run else ""
    parts = []
    if gone:
        parts.append(f"{counted(gone, 'duplicate')} {would}merged into {counted(len(plan.merges), 'lesson')}, evidence and counts added")
    if plan.evictions:
        parts.append(f"{counted(len(plan.evictions), 'lesson')} {would}retired")
    if plan.conflicts:
        parts.append(f"{counted(len(plan.conflicts), 'conflict')} for you to decide, left as they are")
    return f"{'; '.join(parts)}."


def _back(lesson: str, *, dry_run: bool) -> str:
    if dry_run:
        return f"""Keep one for good: echo '[{{"op": "PIN", "id": "{lesson}"}}]' | tenure apply -"""
    return f"""What is retired can be brought back: echo '[{{"op": "RESTORE", "id": "{lesson}"}}]' | tenure apply -"""
