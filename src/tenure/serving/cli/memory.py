"""`tenure memory`: what is written down from session to session, and what is found of it again."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli import memory_mirror, memory_session
from tenure.serving.cli.memory_session import Event, Session, Topic
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import OK, Request, read_text
from tenure.serving.cli.verbs import add_group, add_verb

TEXTS = ("scratchpad", "working", "queue", "knowledge", "plan")
"""Layers whose texts can be shown."""


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "memory",
        "Long-term memory: a raw log, and a tree of days up to a root.",
        "tenure memory log 'We ship on Fridays.' --type feedback --topic releases",
        "tenure memory start",
        "tenure memory recall 'when do we ship'",
        default=root,
    )
    add_verb(
        group, "log", log, "tenure memory log 'Ask before deleting.' --type feedback --topic safety", "tenure memory log - < notes.txt"
    )
    add_verb(group, "compact", compact, "tenure memory compact", "tenure memory compact --all   # the whole tree from the raw log")
    add_verb(group, "root", root, "tenure memory root")
    add_verb(
        group,
        "show",
        show,
        "tenure memory show 2026-W11",
        "tenure memory show 2026-03-15#3   # a raw session",
        "tenure memory show knowledge/releases",
    )
    add_verb(group, "topics", topics, "tenure memory topics", "tenure memory topics 2026-03")
    add_verb(group, "recall", recall, "tenure memory recall 'which rate did we use for invoices'")
    add_verb(group, "write", write, "tenure memory write queue queue.md", "tenure memory write plan --name release plan.md")
    memory_session.register(group)
    memory_mirror.register(group)


LOG = "memory log 'We ship on Fridays.'"
"""What makes the database of a memory that is not there."""


def log(
    request: Request,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to keep; - reads standard input.", show_default=False)],
    type: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="user, feedback, project, reference or log; else the rules of memory.types.")
    ] = "",
    topic: Topic = "",
    session: Session = "",
    role: Annotated[str, typer.Option("--role", metavar="WHO", help="Who speaks, such as user or assistant.")] = "",
    done: Annotated[bool, typer.Option("--done", help="Of a project: its topic is finished.")] = False,
    event: Event = "",
) -> int:
    """Write an entry down; the next recall finds it.

    Secrets are taken out first. The type is what you set, whoever speaks. Blocks of code, traces of errors and lines that
    begin with tmp: stay in the raw log, and out of the tree.
    """
    said = read_text("-", request.terminal, what="a text") if text == "-" else text
    with request.writing() as book:
        kept = book.memory.log(said, type=type, topic=topic, session=session, role=role, done=done, event=event)
    if request.as_json:
        request.terminal.document({"kept": kept is not None, "entry": None if kept is None else asdict(kept), "scope": book.scope})
    elif kept is None:
        request.terminal.say(f"Event '{event}' was kept before; nothing was written.")
    else:
        started = request.command("memory start")
        request.terminal.say(f"Kept in {kept.day} as {kept.type}. Recall finds it now, the next start has it: {started}")
    return OK


def compact(
    request: Request,
    all: Annotated[bool, typer.Option("--all", help="Build the whole tree again from the raw log.")] = False,
) -> int:
    """Bring the tree up to date.

    Builds the nodes in which entries arrived, and those that ended. Starts, flushes, exports and imports do it too.

    A model, if one is set, writes the summaries of what is over; summaries that are there are used again. Where there is an
    embedder, a portion of the vectors is made that recall lacks.
    """
    with request.writing() as book:
        done = book.memory.compact(all=all)
    if request.as_json:
        request.terminal.document(asdict(done) | {"scope": book.scope})
        return OK
    if done.anew and not all:
        request.terminal.say(f"The whole tree was built: {done.anew}.")
    if done.refiled:
        request.terminal.say(f"{counted(done.refiled, 'entry', 'entries')} went to another day.")
    if not done.built:
        request.terminal.say("Nothing arrived since the tree was last built.")
    else:
        kinds = f"{done.fixed} fixed, {done.tentative} tentative, {counted(done.summaries, 'summary', 'summaries')}"
        request.terminal.say(f"{counted(len(done.built), 'node')} built: {kinds}. See: {request.command('memory root')}")
    if done.by_model or done.waiting:
        waits = f"; {done.waiting} wait for it" if done.waiting else ""
        request.terminal.say(f"{counted(done.by_model, 'summary', 'summaries')} written by the model{waits}.")
    for problem in done.problems:
        request.terminal.warn(problem)
    return OK


def root(request: Request) -> int:
    """Print the root: the one short page that an agent always loads."""
    with request.reading(writes=LOG) as book:
        text = book.memory.root()
    if request.as_json:
        from tenure.ranking import estimate_tokens

        request.terminal.document({"root": text, "tokens": estimate_tokens(text), "scope": book.scope})
    else:
        request.terminal.text(f"{text}\n")
    return OK


def show(
    request: Request,
    where: Annotated[
        str,
        typer.Argument(
            metavar="WHERE",
            help="A day, week or month, a session such as 2026-03-15#3, or a text such as knowledge/releases.",
            show_default=False,
        ),
    ],
) -> int:
    """Print a node, a raw session or a text.

    Nodes are days, weeks and months. Texts are scratchpad, working, queue, knowledge/NAME and plan/NAME.
    """
    layer, _, name = where.partition("/")
    if layer in TEXTS:
        return _show_text(request, layer, name)
    with request.reading(writes=LOG) as book:
        if "#" in where:
            entries = book.memory.session(where)
            if request.as_json:
                request.terminal.document({"where": where, "entries": [asdict(one) for one in entries], "scope": book.scope})
            else:
                said = (f"{one.at[11:16]} {one.role or one.type}: {one.text}" for one in entries)
                request.terminal.text("\n".join(said) + "\n")
            return OK
        node = book.memory.node(where)
        failure = book.memory.failure(where) if node is not None and node.by == "extractive" else ""
    if node is None:
        raise UserError(f"Nothing is kept in {where}, or it was not compacted yet: {request.command('memory compact')}")
    if request.as_json:
        topics = [asdict(one) for one in node.topics]
        said_of = {"where": where, "state": node.state, "form": node.form, "by": node.by, "entries": node.entries, "digest": node.digest}
        said_of |= {"model_failed": failure, "left_out": asdict(node.left_out)}
        request.terminal.document(said_of | {"text": node.text, "topics": topics, "scope": book.scope})
    else:
        request.terminal.text(f"{node.text}\n")
        by = "" if node.form == "verbatim" else f", {node.by}"
        request.terminal.say(f"{node.form}, {node.state}, from {counted(node.entries, 'entry', 'entries')}{by}.")
        if failure:
            request.terminal.warn(f"The model's summary could not be used: {failure}.")
    return OK


def topics(
    request: Request,
    where: Annotated[str, typer.Argument(metavar="WHERE", help="A day, week or month; without it the whole tree.")] = "",
) -> int:
    """List every topic that a writer named.

    Newest first, with type, age and days.
    """
    from tenure.memory_tree.topics import topic_line

    with request.reading(writes=LOG) as book:
        found, today = book.memory.topics(where), book.memory.today()
    if request.as_json:
        request.terminal.document({"topics": [asdict(one) for one in found], "scope": book.scope})
    elif not found:
        request.terminal.say(f"No topic is named{f' in {where}' if where else ''}, or it was not compacted yet.")
    else:
        request.terminal.text("\n".join(topic_line(one, today) for one in found) + "\n")
        request.terminal.say(f"{counted(len(found), 'topic')}.")
    return OK


def _show_text(request: Request, layer: str, name: str) -> int:
    with request.reading(writes=LOG) as book:
        text = book.memory.read(layer, name=name)
        with book.store.reading(book.scope) as look:
            others = [one for one in look.memory_files(layer) if one]
    if not text:
        known = f" There are {', '.join(others[:10])}." if others else ""
        raise UserError(
            f"There is no text {layer}{f'/{name}' if name else ''}.{known} Write one: {request.command(f'memory write {layer}')}"
        )
    if request.as_json:
        request.terminal.document({"layer": layer, "name": name, "text": text, "scope": book.scope})
    else:
        request.terminal.text(f"{text}\n" if not text.endswith("\n") else text)
    return OK


def recall(
    request: Request,
    text: Annotated[str, typer.Argument(metavar="QUESTION", help="What to look for, in any words.", show_default=False)],
    budget: Annotated[int, typer.Option("--budget", metavar="N", min=50, help="Tokens of what is found in all.")] = 3_000,
) -> int:
    """Find what the memory holds for a question.

    Topics first, then pieces of the raw log, each with its age and where it stands.
    """
    with request.reading(writes=LOG) as book:
        found = book.memory.recall(text, budget=budget)
    if request.as_json:
        request.terminal.document(asdict(found) | {"scope": book.scope})
        return OK
    if found.topics or found.nodes or found.found:
        request.terminal.text(f"{replace(found, note='').text}\n")
    if found.note:
        request.terminal.say(found.note)
    return OK


def write(
    request: Request,
    layer: Annotated[str, typer.Argument(metavar="LAYER", help="scratchpad, working, queue, knowledge or plan.", show_default=False)],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The text; - reads standard input.")] = "-",
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of a text of knowledge or a plan.")] = "",
) -> int:
    """Write a text of a layer in place of the one before.

    Texts that are always loaded have a cap: scratchpad 150 lines, working 100, queue 50.
    """
    text = read_text(file, request.terminal, what="a text")
    with request.writing() as book:
        book.memory.write(layer, text, name=name)
    if request.as_json:
        request.terminal.document({"layer": layer, "name": name, "lines": len(text.splitlines()), "scope": book.scope})
    else:
        request.terminal.say(f"Wrote {counted(len(text.splitlines()), 'line')} to {layer}{f' {name}' if name else ''}.")
    return OK
