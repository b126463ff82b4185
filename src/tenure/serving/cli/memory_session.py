"""`tenure memory start`, `checkpoint` and `flush`: what a session loads, and what it leaves behind."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import OK, Request, read_text
from tenure.serving.cli.verbs import add_verb

Topic = Annotated[str, typer.Option("--topic", metavar="NAME", help="What it is about, a short name.")]
Session = Annotated[str, typer.Option("--session", metavar="ID", help="Groups entries, such as the turns of one conversation.")]
Event = Annotated[str, typer.Option("--event", metavar="ID", help="Id of the host's event. One that is told again is not kept again.")]


def register(group: typer.Typer) -> None:
    """Put the commands into their group."""
    add_verb(group, "start", start, "tenure memory start", "tenure memory start --budget 1000 --json")
    add_verb(
        group,
        "checkpoint",
        checkpoint,
        "tenure memory checkpoint --request 'fix login' --outcome 'fixed in 3f2a'",
        "tenure memory checkpoint --request 'choose a queue' --decisions 'NATS: we run it already' --event task-12",
    )
    add_verb(
        group,
        "flush",
        flush,
        "tenure memory flush - --event compact-17 < summary.txt",
        "tenure memory flush --messages 20 --window-used 0.4   # says whether one is due",
    )


def start(
    request: Request,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=1, help="Most tokens of the playbook; else context.tokens.", show_default=False),
    ] = None,
) -> int:
    """Print what an agent loads when a session begins.

    The stable part of the playbook, the root, then task queue, working file and scratchpad: what changes seldom first,
    so that prompt caches hold. The tree is brought up to date before. Named knowledge and plans are read when they are needed.
    """
    from tenure.ranking import estimate_tokens

    with request.writing() as book:
        loaded = book.memory.start(budget=budget)
    if request.as_json:
        parts = {"playbook": loaded.playbook, "root": loaded.root, "layers": dict(loaded.layers)}
        request.terminal.document(parts | {"text": loaded.text, "tokens": estimate_tokens(loaded.text), "scope": book.scope})
    else:
        request.terminal.text(f"{loaded.text}\n")
    return OK


def checkpoint(
    request: Request,
    asked: Annotated[str, typer.Option("--request", metavar="TEXT", help="What was asked for.")] = "",
    analysis: Annotated[str, typer.Option("--analysis", metavar="TEXT", help="What was found out.")] = "",
    decisions: Annotated[str, typer.Option("--decisions", metavar="TEXT", help="What was decided, and why.")] = "",
    outcome: Annotated[str, typer.Option("--outcome", metavar="TEXT", help="How it ended.")] = "",
    references: Annotated[str, typer.Option("--references", metavar="TEXT", help="Files, commits, pages.")] = "",
    topic: Topic = "",
    session: Session = "",
    event: Event = "",
) -> int:
    """Write down a finished task in one entry."""
    with request.writing() as book:
        kept = book.memory.checkpoint(
            request=asked,
            analysis=analysis,
            decisions=decisions,
            outcome=outcome,
            references=references,
            topic=topic,
            session=session,
            event=event,
        )
    if request.as_json:
        request.terminal.document({"kept": kept is not None, "entry": None if kept is None else asdict(kept), "scope": book.scope})
    elif kept is None:
        request.terminal.say(f"Event '{event}' was kept before; nothing was written.")
    else:
        request.terminal.say(
            f"Kept in {kept.day}. What is open still goes into the working file: {request.command('memory write working')}"
        )
    return OK


def flush(
    request: Request,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What would be lost; - reads standard input.")] = "",
    messages: Annotated[
        int | None, typer.Option("--messages", metavar="N", min=0, help="Messages since the last flush; from 20 one is due.")
    ] = None,
    window_used: Annotated[
        str, typer.Option("--window-used", metavar="SHARE", help="Of the host's window, such as 0.8 or 80%; from there one is due.")
    ] = "",
    decision: Annotated[bool, typer.Option("--decision", help="Something was decided: one is due at once.")] = False,
    session: Session = "",
    event: Event = "",
) -> int:
    """Write down what would be lost when the host compacts.

    The tree is brought up to date too. With --messages, --window-used or --decision it is done only if one is due:
    at a decision, at 20 messages, at 80 % of the window. Without them it is done at once.
    """
    from tenure.memory_tree.flushing import Due, flush_due

    asked = messages is not None or bool(window_used) or decision
    due = flush_due(messages=messages or 0, window_used=_share(window_used), decision=decision) if asked else Due(True, "")
    said = (read_text("-", request.terminal, what="a text") if text == "-" else text) if due.due else ""
    if not due.due:
        if request.as_json:
            request.terminal.document({"due": False, "why": due.why, "kept": False, "built": []})
        else:
            request.terminal.say(f"{due.why} Nothing was written.")
        return OK
    with request.writing() as book:
        done = book.memory.flush(said, session=session, event=event)
    if request.as_json:
        request.terminal.document({"due": True, "why": due.why} | asdict(done) | {"scope": book.scope})
        return OK
    if due.why:
        request.terminal.say(due.why)
    if not said.strip():
        told = "Nothing was given to write down: tenure memory flush - < summary.txt"
    else:
        told = "Kept." if done.kept is not None else f"Event '{event}' was kept before; nothing was written down again."
    request.terminal.say(f"{told} {counted(len(done.compacted.built), 'node')} built.")
    return OK


def _share(said: str) -> float:
    """A share that was given as `0.8` or `80%`.

    Raises:
        UserError: it is none.
    """
    if not said:
        return 0.0
    try:
        number = float(said.removesuffix("%"))
    except ValueError as exc:
        raise UserError(f"'{said}' is no share of a window. Give one such as 0.8 or 80%.") from exc
    return number / 100 if said.endswith("%") else number
