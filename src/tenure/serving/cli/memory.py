"""`tenure memory`: what is written down from session to session, and what is found of it again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import OK, Request, read_text
from tenure.serving.cli.verbs import add_group, add_verb

Topic = Annotated[str, typer.Option("--topic", metavar="NAME", help="What it is about, a short name.")]
Session = Annotated[str, typer.Option("--session", metavar="ID", help="Groups entries, such as the turns of one conversation.")]
Event = Annotated[str, typer.Option("--event", metavar="ID", help="Id of the host's event. One that is told again is not kept again.")]


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
    add_verb(group, "start", start, "tenure memory start")
    add_verb(group, "checkpoint", checkpoint, "tenure memory checkpoint --request 'fix login' --outcome 'fixed in 3f2a'")
    add_verb(group, "flush", flush, "tenure memory flush --event compact-17 < summary.txt")


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
        request.terminal.say(f"Kept in {kept.day} as {kept.type}. The tree takes it up with: {request.command('memory compact')}")
    return OK


def compact(
    request: Request,
    all: Annotated[bool, typer.Option("--all", help="Build the whole tree again from the raw log.")] = False,
) -> int:
    """Build the nodes in which entries arrived, and those that ended.

    A model, if one is set, writes the summaries of what is over; summaries that are there are used again.
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
    with request.reading() as book:
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
            help="A day, week or month, a session such as 2026-03-15#3, or knowledge/NAME or plan/NAME.",
            show_default=False,
        ),
    ],
) -> int:
    """Print a node of the tree, a raw session, or a named text."""
    with request.reading() as book:
        layer, slash, name = where.partition("/")
        if slash and layer in ("knowledge", "plan"):
            text = book.memory.read(layer, name=name)
            if not text:
                raise UserError(
                    f"There is no {layer} '{name}'. Topics with rules of people are listed by: {request.command('memory topics')}"
                )
            if request.as_json:
                request.terminal.document({"where": where, "text": text, "scope": book.scope})
            else:
                request.terminal.text(f"{text}\n")
            return OK
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

    with request.reading() as book:
        found, today = book.memory.topics(where), book.memory.today()
    if request.as_json:
        request.terminal.document({"topics": [asdict(one) for one in found], "scope": book.scope})
    elif not found:
        request.terminal.say(f"No topic is named{f' in {where}' if where else ''}, or it was not compacted yet.")
    else:
        request.terminal.text("\n".join(topic_line(one, today) for one in found) + "\n")
        request.terminal.say(f"{counted(len(found), 'topic')}.")
    return OK


def recall(
    request: Request,
    text: Annotated[str, typer.Argument(metavar="QUESTION", help="What to look for, in any words.", show_default=False)],
    budget: Annotated[int, typer.Option("--budget", metavar="N", min=50, help="Tokens of what is found in all.")] = 3_000,
) -> int:
    """Find what the memory holds for a question.

    Topics first, then pieces of the raw log, each with its age and where it stands.
    """
    with request.reading() as book:
        found = book.memory.recall(text, budget=budget)
    if request.as_json:
        request.terminal.document(asdict(found) | {"scope": book.scope})
        return OK
    for topic in found.topics:
        request.terminal.text(f"topic {topic.name} ({topic.type}): {', '.join(topic.subs)}; look at {' '.join(topic.days[-3:])}\n")
    for one in found.found:
        request.terminal.text(f"{one.where} ({one.age}): {one.text}\n")
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


def start(request: Request) -> int:
    """Print what an agent loads when a session begins.

    The tree is brought up to date first.
    """
    with request.writing() as book:
        loaded = book.memory.start()
    if request.as_json:
        request.terminal.document({"root": loaded.root, "layers": dict(loaded.layers), "scope": book.scope})
    else:
        parts = [loaded.root, *(f"# {name.capitalize()}\n{text.rstrip()}" for name, text in loaded.layers.items())]
        request.terminal.text("\n\n".join(parts) + "\n")
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
    """Write down a finished task."""
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
    else:
        request.terminal.say("Kept." if kept is not None else f"Event '{event}' was kept before; nothing was written.")
    return OK


def flush(
    request: Request,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What would be lost; - reads standard input.")] = "",
    session: Session = "",
    event: Event = "",
) -> int:
    """Write down what would be lost when the host compacts.

    The tree is brought up to date too.
    """
    said = read_text("-", request.terminal, what="a text") if text == "-" else text
    with request.writing() as book:
        done = book.memory.flush(said, session=session, event=event)
    if request.as_json:
        request.terminal.document(asdict(done) | {"scope": book.scope})
    else:
        request.terminal.say(f"Flushed; {counted(len(done.built), 'node')} built.")
    return OK
