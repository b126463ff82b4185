"""`tenure context`: what an agent would be shown for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli.elsewhere import next_step
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import counted, one_line
from tenure.serving.cli.request import OK, Request, read_text
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.recall import Context


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "context",
        context,
        'tenure context "reconcile invoice 7"',
        'tenure context "reconcile invoice 7" --budget 500 --explain',
        "tenure context - < task.txt",
        'tenure context "reconcile invoice 7" --run week-7 --explain   # as that run would see it',
    )


def context(
    request: Request,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What the agent is asked to do; - reads it from stdin.", show_default=False)],
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", help="Tokens in all. Else the setting context.tokens.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each lesson is in it.")] = False,
    run: Annotated[
        str,
        typer.Option("--run", metavar="ID", help="The run it is for: where hold-outs are on, chance goes by its id.", show_default=False),
    ] = "",
    bill: Annotated[bool, typer.Option("--bill", help="Say what each part costs in tokens.")] = False,
) -> int:
    """Print what an agent would be shown for a task.

    The text is meant for the prompt: lessons that hold in general, then those for this task, within a budget of tokens.
    """
    terminal = request.terminal
    text = read_text("-", terminal, what="task") if task == "-" else task
    if not text.strip():
        raise UserError("The task is empty. Say what the agent is asked to do: tenure context TASK")
    with request.reading() as book:
        found = book.context(text, budget=budget, run=run)
        empty = not found.text and not book.playbook.lessons
        instead = next_step(request, book, "context TASK") if empty else ""
    if request.as_json:
        from tenure.serving.wire import context_json

        terminal.document({**context_json(found), "scope": book.scope})
        return OK
    terminal.text(found.text)
    for note in found.notes:
        terminal.warn(note)
    if not found.text and not empty:
        terminal.say(f"Nothing fits this task within the budget. Give it more tokens: {request.command('context TASK --budget 2000')}")
    elif empty:
        terminal.say(f"There is nothing to show for this task yet. {instead}")
    if explain:
        _explain(request, found)
    if bill:
        rows = [(part, f"{tokens:,}") for part, tokens in found.parts.items()]
        terminal.text("" if not found.text else "\n")
        terminal.table([Column(title="part"), Column(title="tokens", right=True)], [*rows, ("in all", f"{found.tokens:,}")])
    return OK


def _explain(request: Request, found: Context) -> None:
    from tenure.playbook.lessons import short_ids

    terminal = request.terminal
    terminal.text("" if not found.text else "\n")
    ids = short_ids(found.lessons)
    figures = [Column(title="fits the task", right=True), Column(title="sure to help", right=True), Column(title="tokens", right=True)]
    why = Column(title="why", wraps=True)
    terminal.table(
        [Column(title="lesson"), Column(title="part"), *figures, why],
        [(ids[one.id], one.part, f"{one.relevance:.2f}", f"{one.usefulness:.2f}", f"{one.tokens:,}", one.reason) for one in found.why],
    )
    if found.why_cases:
        terminal.text("\n")
        terminal.table(
            [Column(title="run"), Column(title="fits the task", right=True), Column(title="tokens", right=True), why],
            [(one_line(one.run), f"{one.relevance:.2f}", f"{one.tokens:,}", one.reason) for one in found.why_cases],
        )
    if found.answers:
        terminal.text("\n")
        terminal.table(
            [Column(title="answer of similar cases", wraps=True), Column(title="cases", right=True), Column(title="share", right=True)],
            [(one_line(one.answer), str(one.cases), f"{one.share:.0%}") for one in found.answers],
        )
    if found.withheld:
        terminal.text("\n")
        names = short_ids([one.id for one in found.withheld])
        terminal.table(
            [Column(title="left out"), Column(title="part"), Column(title="chance", right=True), why],
            [(names[one.id], one.part, f"{one.chance:.2f}", one.reason) for one in found.withheld],
        )
    if found.holdout:
        terminal.text(found.holdout)
    terminal.text(f"What resembles the task was found by {found.search}. Tokens: {found.counted_by}.")
    if found.left_out:
        many = counted(found.left_out, "lesson")
        terminal.text(f"Left out: {many} that may matter too, for want of room or because a chosen one says much the same.")
