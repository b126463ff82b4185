"""`tenure learn`: runs in, lessons out."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UnreadableInput, UserError
from tenure.serving.cli import completion
from tenure.serving.cli.adapting import Practising, adapt
from tenure.serving.cli.destinations import Destinations
from tenure.serving.cli.interrupts import Interrupts
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import counted, money
from tenure.serving.cli.projects import (
    BEST,
    NewLesson,
    new_in,
    projects_json,
    show_best,
    show_databases,
    show_projects,
    tell_not_learned,
    with_evidence,
)
from tenure.serving.cli.request import FAILED, IN_PART, INTERRUPTED, OK, Request, database_file, existing, is_there, read_bytes
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.learned import Summary
    from tenure.playbook.lessons import Lesson
    from tenure.playbook.run import Run
    from tenure.traces import Projects, ReadReport
    from tenure.traces.placing import Place
    from tenure.wiring import Tenure

LEFT_KEPT = 20
"""Lessons left as they are that a summary keeps."""

NAMED = 10
"""Unreadable places and problems named on the terminal; `--json` has all that are known."""


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(
        app,
        "learn",
        learn,
        "tenure learn runs.jsonl",
        "tenure learn ~/.claude/projects --dry-run    # what your sessions teach, project by project",
        "tenure learn runs.jsonl --model openai:gpt-4o-mini",
        "tenure learn runs.jsonl --dry-run    # what would be learned; nothing is written",
        "tenure learn --agent my_agent:act --train train.jsonl --validation held.jsonl --epochs 5",
        "my-agent --log - | tenure learn -",
    )


def learn(
    request: Request,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Files and folders with runs; - for stdin.", show_default=False)
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", autocompletion=completion.run_formats, help="The form of the files. Else it is told by content."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Reflect with a model too, such as openai:gpt-4o-mini. Else TENURE_MODEL, or none."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server for the model.")
    ] = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="Also learn what waits: runs only kept so far, and reflections that a model still owes.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be learned without a model; write nothing.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 if anything could not be read.")] = False,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="MODULE:FUNCTION", help="An agent that acts and learns: a function of a task and a context."),
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", metavar="NAME", help="A task that plain code acts on, in place of an agent: finer, formula.")
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option("--scorer", metavar="MODULE:FUNCTION", help="What judges the agent. Else answers are compared with 'expected'."),
    ] = None,
    train: Annotated[str | None, typer.Option("--train", metavar="FILE", help="Instances that the agent learns from.")] = None,
    validation: Annotated[
        str | None, typer.Option("--validation", metavar="FILE", help="Instances that say which epoch's playbook is kept.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", metavar="N", min=1, help="How often the agent acts on the instances, at most. Else 5.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", metavar="N", min=1, help="Epochs without a better validation score before it ends. Else 2.")
    ] = None,
) -> int:
    """Learn lessons from runs.

    Reads logs of agents and learns from each run: which tool calls were rejected and what was accepted instead,
    what a person corrected, how failed and successful runs of a task differ. A run is learned once, however often
    it is read. Interrupt it at any time: what was learned is kept.

    Sessions of a project that Tenure is in use in go into its own database, where hooks look; --db puts all into one.

    Formats are told by content. In Tenure's own, a run is one line of JSON:
    {"task": "book a flight", "outcome": {"success": false}, "steps": [{"kind": "tool_call", "name": "book"},
    {"kind": "tool_result", "name": "book", "error": "no seats"}]}

    With --agent or --task there are no logs: the agent acts on the instances of --train, in epochs, and learns from each
    attempt; the playbook with which it solves most of --validation is kept. An instance is one line of JSON:
    {"task": "Book invoice 7", "expected": "booked"}
    """
    given = paths or []
    asked = Practising(
        agent=agent,
        scorer=scorer,
        task=task,
        train=train,
        validation=validation,
        epochs=epochs,
        patience=patience,
        model=model,
        base_url=base_url,
        dry_run=dry_run,
    )
    if asked.asked:
        if given or pending or format is not None or strict:
            raise UserError(
                "An agent that acts makes its own runs. Leave out PATH, --pending, --format and --strict, or --agent and --task."
            )
        return adapt(request, asked, _book, _check_switched_on)
    if not given and not pending:
        raise UserError("Name the files or folders with runs, or use --pending. See: tenure learn --help")
    existing([path for path in given if path != "-"])
    request.terminal.for_now("Loading ...")
    from tenure.project import default_scope
    from tenure.traces import Projects, ReadReport
    from tenure.wiring import scoped

    report, began = ReadReport(), time.perf_counter()
    # A run that names its own scope goes there, and a session to its project's, unless a scope was asked for.
    named = scoped(default_scope(request.scope)) if request.scope or os.environ.get("TENURE_SCOPE") else ""
    projects = Projects()
    one_database = bool(named or request.db or os.environ.get("TENURE_DB"))
    with _files(given, request) as files, _book(request, model, base_url, dry_run) as book:
        _check_switched_on(book)
        with book.store.reading(book.scope) as reading:
            version = reading.version()
        sorting = None if one_database else projects
        with Destinations(request, book, _sizes(files), sorting, model=model, base_url=base_url, dry_run=dry_run) as places:
            learned = _learn_all(request, book, files, format, pending=pending, scope=named or projects, places=places, report=report)
            new = new_in(places)
            best = with_evidence(places, new[:BEST]) if dry_run else []
            fresh = _new_lessons(book, version) if dry_run else ()
            if not dry_run and not learned.interrupted:
                places.embed()
        with book.store.reading(book.scope) as reading:
            live = reading.counts()["live"]
        waiting = 0 if dry_run else book.waits_for_model()
    _name_stdin(report, files)
    nothing = bool(given) and not report.runs and bool(report.count or not report.files)
    if request.as_json:
        found = _learned_json(request, book, learned, report, places, fresh, live, time.perf_counter() - began, dry_run)
        request.terminal.document({**found, **projects_json(places, new, projects, format=format)})
    elif learned.runs:
        _show_learned(request, learned, dry_run)
        _show_where(request, places, learned, new, best, projects, format=format, dry_run=dry_run)
    if not request.as_json or nothing:
        _tell_what_was_lost(request, report)
    if nothing:
        raise UnreadableInput(_no_runs(given, format))
    if not request.as_json:
        tell_not_learned(request.terminal, places)
        _tell_what_next(request, book, learned, places, dry_run, waiting)
    if learned.interrupted:
        request.terminal.say("Interrupted. What was learned is on disk; the same command goes on from there.")
        return INTERRUPTED
    if places.not_learned and not learned.runs:
        return FAILED
    return IN_PART if strict and (report.count or places.not_learned) else OK


# -- learn, step by step -----------------------------------------------------------------------------


@contextmanager
def _files(given: list[str], request: Request) -> Iterator[list[Path]]:
    """The files to read; what comes on stdin lies in one of its own meanwhile, so that its form can be told."""
    if "-" not in given:
        yield [Path(path) for path in given]
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
        spooled = Path(folder) / "stdin"
        spooled.write_bytes(read_bytes("-", request.terminal, what="runs"))
        yield [spooled if path == "-" else Path(path) for path in given]


@contextmanager
def _book(request: Request, model: str | None, base_url: str | None, dry_run: bool) -> Iterator[Tenure]:
    """The playbook to learn into; for a dry run a copy that is thrown away."""
    if not dry_run:
        with request.learning(model=model, base_url=base_url) as book:
            yield book
        return
    from tenure.project import database_url, is_postgres

    path = database_file(database_url(request.db))
    if is_postgres(database_url(request.db)):
        with _copied_tenant(request) as book:
            yield book
        return
    if path is None or not is_there(path):
        with replace(request, db="memory://").writing() as book:
            yield book
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
        copy = Path(folder) / "copy.db"
        with request.reading() as original:
            original.store.copy_to(copy)  # type: ignore[attr-defined]  # only a database in a file can be copied, and this one is
        with replace(request, db=str(copy)).writing() as book:
            yield book


@contextmanager
def _copied_tenant(request: Request) -> Iterator[Tenure]:
    """A copy in a file of what the tenant has in PostgreSQL."""
    import tempfile

    from tenure.stores.copying import copy
    from tenure.stores.sqlite import open_sqlite

    with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
        file = Path(folder) / "copy.db"
        with request.reading() as original:
            into = open_sqlite(f"sqlite:///{file}")
            copy(original.store, into, tenants=[original.scope.partition("/")[0]])  # type: ignore[arg-type]  # it is one in PostgreSQL
            into.close()
        with replace(request, db=str(file)).writing() as book:
            yield book


def _name_stdin(report: ReadReport, files: list[Path]) -> None:
    """Call places in what came on stdin by that name, not by the file it lay in."""
    spooled = {str(file) for file in files if file.name == "stdin" and file.parent.name.startswith("tenure-")}
    report.unreadable[:] = [replace(place, path="stdin") if place.path in spooled else place for place in report.unreadable]


def _check_switched_on(book: Tenure) -> None:
    if not book.settings().on("learn.enabled"):
        raise UserError(
            f"Learning is switched off for scope '{book.scope}' (learn.enabled). Switch it on: tenure config set learn.enabled on"
        )


def _learn_all(
    request: Request,
    book: Tenure,
    files: list[Path],
    format: str | None,
    *,
    pending: bool,
    scope: Place,
    places: Destinations,
    report: ReadReport,
) -> Summary:
    from tenure.learning.learned import Summary
    from tenure.traces import walk

    total = places.total
    learned = Summary()
    with request.terminal.progress("Learning", total) as show, Interrupts() as interrupts:

        def tell(summary: Summary, run: Run) -> None:
            interrupts.check()
            show(places.done, _counts(summary))

        def tell_kept(summary: Summary, run: Run) -> None:
            places.count(run)
            tell(summary, run)

        # What waited comes first, so that a run which this very command puts off is not tried a second time by it.
        if pending and book.model is not None:
            learned = book.learn_postponed(tell=tell_kept)
        if pending and not learned.interrupted:
            learned = _together(learned, book.learn_kept(tell=tell_kept))
        if files and not learned.interrupted:
            learned = _together(learned, places.learn(walk(files, format=format, scope=scope, report=report), tell=tell))
    return learned


def _sizes(files: list[Path]) -> dict[Path, int]:
    found: dict[Path, int] = {}
    for file in files:
        below = [Path(folder) / name for folder, _, names in os.walk(file) for name in names] if os.path.isdir(file) else [file]
        # Unlike the methods of Path, these say no where they may not look; reading names such a place.
        found |= {one: os.path.getsize(one) for one in below if os.path.isfile(one)}
    return found


def _counts(summary: Summary) -> str:
    said = [counted(summary.runs, "run"), f"{counted(summary.added, 'lesson')} added", f"{summary.merged:,} merged"]
    if summary.usage.calls:
        said.append(money(summary.usage.cost_usd))
    return ", ".join(said)


def _together(one: Summary, other: Summary) -> Summary:
    names = (
        "runs",
        "successes",
        "failures",
        "skipped",
        "added",
        "merged",
        "held",
        "revised",
        "retired",
        "released",
        "conflicts",
        "postponed",
    )
    return replace(
        other,
        left=(*one.left, *other.left),
        why_postponed={
            **one.why_postponed,
            **{limit: (runs + one.why_postponed.get(limit, (0, ""))[0], why) for limit, (runs, why) in other.why_postponed.items()},
        },
        problems=(*one.problems, *other.problems),
        usage=one.usage + other.usage,
        **{name: getattr(one, name) + getattr(other, name) for name in names},
    )


def _new_lessons(book: Tenure, version: int) -> tuple[Lesson, ...]:
    return tuple(difference.after for difference in book.diff(version) if difference.after is not None and difference.before is None)


def _learned_json(
    request: Request,
    book: Tenure,
    learned: Summary,
    report: ReadReport,
    places: Destinations,
    fresh: tuple[Lesson, ...],
    live: int,
    seconds: float,
    dry_run: bool,
) -> dict[str, Any]:
    from tenure.serving.wire import lessons_json, summary_json

    scopes: Counter[str] = Counter()
    for at, arrived in places.arrivals.items():
        scopes[at.scope] += arrived.runs
    found = {
        **summary_json(learned),
        "unreadable": report.count,
        "unreadable_places": [str(place) for place in report.unreadable],
        "unknown_kinds": dict(report.unknown_kinds),
        "repairs": dict(report.repairs),
        "files": report.files,
        "scope": book.scope,
        "scopes": dict(scopes),
        "database": places.at_hand.shown,
        "lessons": live,
        "seconds": round(seconds, 3),
    }
    return {**found, "dry_run": True, "new_lessons": lessons_json(fresh)} if dry_run else found


def _show_learned(request: Request, learned: Summary, dry_run: bool) -> None:
    terminal = request.terminal
    would = " (dry run: nothing is written)" if dry_run else ""
    known = learned.successes + learned.failures
    outcomes = f"{learned.successes:,} succeeded, {learned.failures:,} failed"
    if known < learned.runs:
        outcomes += f", {learned.runs - known:,} with unknown outcome"
    rows: list[tuple[str, str, str]] = [("runs", f"{learned.runs:,}", outcomes if learned.runs else "")]
    if learned.skipped:
        rows.append(("skipped", f"{learned.skipped:,}", "learned before"))
    rows.append(("added", f"{learned.added:,}", "new in the playbook"))
    rows.append(("merged", f"{learned.merged:,}", "said what a lesson says already"))
    for name, number, meaning in (
        ("revised", learned.revised, "lessons with a new text"),
        ("retired", learned.retired, "lessons taken out of use"),
        ("held", learned.held, "changes that wait for a review"),
        ("released", learned.released, "held lessons in use now: independent trusted origins say the same"),
        ("conflicts", learned.conflicts, "new lessons that differ in a fact from one that is alike; both stay. See: tenure review list"),
    ):
        if number:
            rows.append((name, f"{number:,}", meaning))
    if learned.postponed:
        rows.append(("without model", f"{learned.postponed:,}", "learned from by plain code alone; the model can make up for it"))
    if learned.usage.calls:
        used = learned.usage
        rows.append(
            ("model calls", f"{used.calls:,}", f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out, {money(used.cost_usd)}")
        )
    if learned.left:
        more = "+" if len(learned.left) >= LEFT_KEPT else ""
        rows.append(("left", f"{len(learned.left):,}{more}", "used lessons that a run speaks against; they stay as they are, see below"))
    terminal.heading(f"Learned{would}" if not dry_run else f"Would be learned{would}")
    terminal.table([Column(title=""), Column(title="", right=True), Column(title="", wraps=True)], rows, headed=False)
    for why in learned.left[:NAMED]:
        terminal.say(f"left: {why}")
    if len(learned.left) > NAMED:
        terminal.say(f"and {len(learned.left) - NAMED} more, in --json")


def _show_where(
    request: Request,
    places: Destinations,
    learned: Summary,
    new: list[NewLesson],
    best: list[NewLesson],
    projects: Projects,
    *,
    format: str | None,
    dry_run: bool,
) -> None:
    """Show what came to which scope and database, and the best of it."""
    elsewhere = set(places.arrivals) != {places.at_hand}
    if learned.skipped < learned.runs:
        if elsewhere:
            show_projects(request.terminal, places, new, projects)
        show_databases(request.terminal, places, format=format, dry_run=dry_run)
    show_best(request.terminal, best, len(new) - len(best), scopes=elsewhere)


def _tell_what_was_lost(request: Request, report: ReadReport) -> None:
    terminal = request.terminal
    if report.count:
        terminal.warn(f"Could not read {counted(report.count, 'place')}:")
        for place in report.unreadable[:NAMED]:
            terminal.say(f"  {place}")
        if report.count > NAMED:
            terminal.say(f"  and {report.count - min(NAMED, len(report.unreadable)):,} more")
    if report.repairs:
        terminal.warn("Mended or left out: " + ", ".join(f"{what} ({n:,})" for what, n in sorted(report.repairs.items())))
    if report.unknown_kinds:
        terminal.warn(
            "Unknown kinds of records were left out: " + ", ".join(f"{kind} ({n:,})" for kind, n in report.unknown_kinds.most_common(NAMED))
        )


def _no_runs(given: list[str], format: str | None) -> str:
    from tenure.traces import FORMATS

    where = ", ".join("stdin" if path == "-" else f"'{path}'" for path in given[:3]) + (" and others" if len(given) > 3 else "")
    if format is not None:
        return f"No run in the form '{format}' could be read from {where}. Leave out --format to have the form told by content."
    return f"No runs were found in {where}. Known forms: {', '.join(FORMATS)}. What they look like: tenure learn --help"


def _tell_what_was_postponed(request: Request, book: Tenure, learned: Summary, waiting: int) -> None:
    """Say for which runs the model was not asked or failed, why, and how to make up for it."""
    from tenure.serving.cli.spend import LIMITS

    for limit, (runs, reason) in learned.why_postponed.items():
        request.terminal.warn(f"{counted(runs, 'run')} learned from without the model, because {LIMITS[limit]}. Last: {reason}")
    if waiting and (learned.postponed or book.model is None):
        model = "" if book.model is not None else " --model NAME"
        verb = "waits" if waiting == 1 else "wait"
        request.terminal.say(f"{counted(waiting, 'run')} {verb} for a model. Make up for it: {request.command(f'learn --pending{model}')}")


def _tell_what_next(request: Request, book: Tenure, learned: Summary, places: Destinations, dry_run: bool, waiting: int) -> None:
    terminal = request.terminal
    for problem in learned.problems[:NAMED]:
        terminal.warn(problem)
    if len(learned.problems) > NAMED:
        terminal.say(f"  and {len(learned.problems) - NAMED} more")
    if not dry_run and any(problem.startswith("refused a lesson") for problem in learned.problems):
        terminal.say(f"What was refused is kept, and never used: {request.command('review decided --state refused')}")
    _tell_what_was_postponed(request, book, learned, waiting)
    at_hand = {at: arrived.runs for at, arrived in places.arrivals.items() if at.database == places.at_hand.database}
    elsewhere = {at.scope: runs for at, runs in at_hand.items() if at != places.at_hand}
    if elsewhere and not dry_run:
        scope, total = max(elsewhere, key=lambda one: elsewhere[one]), sum(elsewhere.values())
        terminal.say(
            f"{counted(total, 'run')} went to another scope: the one it names, or its project's. "
            f"See: {replace(request, scope=scope).command('show')}   All into one: --scope NAME"
        )
    of_projects = {at: arrived.runs for at, arrived in places.arrivals.items() if at not in at_hand}
    if of_projects and not dry_run:
        most = max(of_projects, key=lambda one: of_projects[one])
        see = Request(db=most.shown, scope=most.scope).command("show")
        terminal.say(
            f"{counted(sum(of_projects.values()), 'run')} went to the {'database' if len(of_projects) == 1 else 'databases'} of "
            f"{counted(len(of_projects), 'project')}. See: {see}   All into one: --db"
        )
    here = places.at_hand in places.arrivals
    if not learned.runs:
        if not places.not_learned:
            terminal.say("There was no run to learn from.")
    elif dry_run:
        terminal.say("To learn it, leave out --dry-run.")
    elif learned.skipped == learned.runs:
        # Where all of it stands in other scopes, the line above names one to look at.
        see = f" See the lessons: {request.command('show')}" if here or not places.arrivals else ""
        terminal.say(f"All of it was learned before.{see}")
    elif learned.added or learned.merged or learned.revised:
        if here:
            terminal.say(f"See what was learned: {request.command('show')}")
    elif learned.problems:
        terminal.say("Nothing was learned from these runs; the notes above say why.")
    elif not learned.held:
        terminal.say("These runs held nothing to learn: no rejected call, no correction, no difference between runs of a task.")
    if learned.held and not dry_run:
        terminal.say(f"Held {counted(learned.held, 'change')}. Review them: {request.command('review list')}")
