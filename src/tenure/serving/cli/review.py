"""Changes that wait for a person: `tenure review list`, `show`, `approve` and `reject`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli.contrast import contrasted
from tenure.serving.cli.figures import told
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, local_time, one_line
from tenure.serving.cli.request import OK, Request, person
from tenure.serving.cli.verbs import add_group, add_verb

if TYPE_CHECKING:
    from tenure.playbook.delta import Operation
    from tenure.playbook.lessons import Evidence
    from tenure.playbook.likeness import Conflict
    from tenure.ports import HeldChange, Reading

SHOWN_TEXTS = 4
"""Lessons of one conflict that are shown with their texts."""

Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Its number in the list, its id, or as much of it as makes it unique.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Everything that waits.")]


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "review",
        "Look at changes that wait for a person, and decide.",
        "tenure review",
        "tenure review show 1",
        "tenure review approve 1 3",
        'tenure review reject 2 --reason "it names a customer"',
        default=list_,
    )
    add_verb(group, "list", list_, "tenure review list", "tenure review list --json")
    add_verb(group, "show", show, "tenure review show 1")
    add_verb(group, "approve", approve, "tenure review approve 1 3", "tenure review approve --all")
    add_verb(group, "reject", reject, 'tenure review reject 2 --reason "it names a customer"')


def list_(request: Request) -> int:
    """List the changes that wait and the lessons that contradict."""
    from tenure.learning.review import conflicts_in, held_changes

    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        held = held_changes(reading)
        found = conflicts_in(reading)
        texts = {one: lesson.text for one, lesson in reading.named([one for conflict in found for one in conflict.ids]).items()}
    if request.as_json:
        from tenure.serving.wire import held_json

        told = [{"ids": list(conflict.ids), "reason": conflict.reason} for conflict in found]
        waiting = [held_json(change, number) for number, change in enumerate(held, 1)]
        terminal.document({"held": waiting, "conflicts": told, "scope": book.scope})
        return OK
    if found:
        show_conflicts(terminal, found, texts)
        terminal.say("Decide by writing what holds (tenure apply) or retiring what does not. Nothing is merged by itself.")
    if not held and found:
        return OK
    if not held:
        terminal.say(f"Nothing waits for a review in scope {book.scope}.")
        return OK
    rows: list[Sequence[Cell]] = [
        (
            str(number),
            change.id,
            [(_told(change.operation), ""), (f"\n{change.reason}", "yellow")],
            one_line(change.author, 24),
            local_time(change.at),
        )
        for number, change in enumerate(held, 1)
    ]
    columns = [Column(title="", right=True, style="cyan"), Column(title="id"), Column(title="change, and why it waits", wraps=True)]
    terminal.table([*columns, Column(title="by"), Column(title="when")], rows)
    terminal.say(f"Look at one: {request.command('review show 1')}   Decide: tenure review approve|reject NUMBER...")
    return OK


def show_conflicts(terminal: Terminal, found: Sequence[Conflict], texts: Mapping[str, str]) -> None:
    """A table of lessons that are alike in wording and differ in a fact."""
    rows: list[Sequence[Cell]] = []
    for conflict in found:
        first, *others = [one for one in conflict.ids[:SHOWN_TEXTS] if one in texts] or conflict.ids[:1]
        for one in (first, *others):
            rows.append((one, contrasted(texts.get(one, ""), texts.get(others[0] if others and one == first else first, ""))))
        more = (
            f"and {len(conflict.ids) - SHOWN_TEXTS} more: {', '.join(conflict.ids[SHOWN_TEXTS:])}\n"
            if len(conflict.ids) > SHOWN_TEXTS
            else ""
        )
        rows.append(("", [(more, "dim"), (conflict.reason, "yellow")]))
    terminal.table([Column(title="conflict", style="cyan"), Column(title="texts, cut to where they differ, and in what", wraps=True)], rows)


def show(
    request: Request,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Its number in the list, its id, or as much of it as makes it unique.", show_default=False)
    ],
) -> int:
    """Show one change that waits, and what it rests on."""
    from tenure.learning.review import find_held, held_changes

    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        change = find_held(reading, id)
        number = [one.id for one in held_changes(reading)].index(change.id) + 1
        if request.as_json:
            from tenure.serving.wire import held_json

            terminal.document({"held": [held_json(change, number)], "scope": book.scope})
            return OK
        _show_change(terminal, reading, change)
    terminal.say(f"\nDecide: {request.command(f'review approve {number}')}   or   {request.command(f'review reject {number}')}")
    return OK


def approve(request: Request, ids: Named = None, everything: All = False) -> int:
    """Carry changes out.

    They become one delta of yours, which a rollback undoes.
    """
    from tenure.learning.review import approve as carry_out

    terminal = request.terminal
    with request.writing() as book, book.store.writing(book.scope) as work:
        changes = _chosen(work, ids, everything)
        receipts = carry_out(work, changes, ids=book.ids, at=book.clock.now(), author=person()) if changes else ()
        version = work.version()
    if request.as_json:
        from tenure.playbook.delta import OPERATION_NAMES
        from tenure.serving.wire import receipt_json

        told = [receipt_json(receipt, OPERATION_NAMES[type(change.operation)]) for change, receipt in zip(changes, receipts, strict=True)]
        terminal.document({"approved": [change.id for change in changes], "receipts": told, "version": version, "scope": book.scope})
        return OK
    for change, receipt in zip(changes, receipts, strict=True):
        why = f" ({receipt.reason})" if receipt.reason else ""
        terminal.say(f"{receipt.status}: {_told(change.operation)}{why}")
    if changes:
        terminal.say(
            f"Approved {counted(len(changes), 'change')}, as version {version}. Undo it: {request.command(f'rollback {version - 1}')}"
        )
    return OK


def reject(
    request: Request,
    ids: Named = None,
    everything: All = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for those who read the log.")] = "",
) -> int:
    """Close changes without carrying them out.

    Their texts stay readable in the log.
    """
    from tenure.learning.review import reject as close

    terminal = request.terminal
    with request.writing() as book, book.store.writing(book.scope) as work:
        changes = _chosen(work, ids, everything)
        if changes:
            close(work, changes, ids=book.ids, at=book.clock.now(), author=person(), reason=reason)
    if request.as_json:
        terminal.document({"rejected": [change.id for change in changes], "reason": reason, "scope": book.scope})
        return OK
    for change in changes:
        terminal.say(f"rejected: {_told(change.operation)}")
    if changes:
        terminal.say(f"Rejected {counted(len(changes), 'change')}.")
    return OK


def _chosen(reading: Reading, ids: Sequence[str] | None, everything: bool) -> list[HeldChange]:
    from tenure.learning.review import find_held, held_changes

    if everything and ids:
        raise UserError("Name the changes or use --all, not both.")
    if everything:
        return list(held_changes(reading))
    if not ids:
        raise UserError("Name the changes, or use --all. See them with their numbers: tenure review list")
    # All are looked up before any is decided, so that numbers mean what the list showed.
    return list({change.id: change for change in [find_held(reading, one) for one in ids]}.values())


def _show_change(terminal: Terminal, reading: Reading, change: HeldChange) -> None:
    from tenure.playbook.operations_json import operation_to_json

    facts: list[tuple[str, Cell]] = [("id", change.id), ("why it waits", [(change.reason, "yellow")]), ("by", change.author)]
    if change.at:
        facts.append(("when", local_time(change.at)))
    names = {"op": "operation", "applies_when": "applies when", "tool_order": "order of tools"}
    for name, value in operation_to_json(change.operation).items():
        if name != "evidence":
            facts.append((names.get(name, name), ", ".join(value) if isinstance(value, list) else str(value)))
    target = reading.lesson(change.operation.id) if getattr(change.operation, "id", None) else None  # type: ignore[union-attr,arg-type]
    if target is not None and target.text != getattr(change.operation, "text", target.text):
        facts.append(("text now", [(target.text, "dim")]))
    terminal.facts(facts)
    places: tuple[Evidence, ...] = getattr(change.operation, "evidence", ())
    if places:
        from tenure.serving.cli.tables import evidence_table

        terminal.text("\n")
        evidence_table(terminal, places, {run: reading.run(run) for run in dict.fromkeys(place.run for place in places)})
    elif change.run:
        run = reading.run(change.run)
        terminal.facts([("run", change.run), ("task", one_line(run.task.text, 200) if run is not None else "(this run is not kept here)")])


def _told(operation: Operation) -> str:
    """What an operation would do, in one line."""
    from tenure.playbook.delta import OPERATION_NAMES, Add, Merge, Observe, Revoke

    name = OPERATION_NAMES[type(operation)]
    if isinstance(operation, Observe | Revoke):
        return told(operation)
    if isinstance(operation, Add):
        return f"{name} to {one_line(operation.section or 'its section', 40)}: {one_line(operation.text, 200)}"
    if isinstance(operation, Merge):
        return f"{name} {', '.join(operation.ids)} into {operation.into}"
    text = getattr(operation, "text", None)
    return f"{name} {operation.id}" + (f": {one_line(text, 200)}" if text else "")
