"""How things stand and what is set: `tenure config`, `doctor`, `status` and `version`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import SettingError
from tenure.serving.cli import completion
from tenure.serving.cli.elsewhere import next_step, scopes_with_lessons
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted, local_time
from tenure.serving.cli.request import FAILED, OK, Request, database_file
from tenure.serving.cli.verbs import add_group, add_verb

if TYPE_CHECKING:
    from tenure.settings import Settings

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A setting, such as context.tokens. See all: tenure config",
        show_default=False,
        autocompletion=completion.setting_names,
    ),
]


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(app, "status", status, "tenure status", "tenure status --json")
    group = add_group(
        app,
        "config",
        "Show and change the settings of a scope.",
        "tenure config",
        "tenure config set spend.tokens_per_day 500000",
        "tenure config unset model",
        default=list_,
    )
    add_verb(group, "list", list_, "tenure config list")
    add_verb(group, "get", get, "tenure config get context.tokens")
    add_verb(group, "set", set_, "tenure config set context.tokens 8000", "tenure config set model openai:gpt-4o-mini")
    add_verb(group, "unset", unset, "tenure config unset context.tokens")
    add_verb(app, "doctor", doctor, "tenure doctor", "tenure doctor --json")
    add_verb(app, "version", version, "tenure version", store=False)


def list_(request: Request) -> int:
    """List every setting: value, where it comes from, meaning."""
    from tenure.serving.cli.spend import said_of, spending_json, spending_of
    from tenure.settings import SETTINGS

    with request.reading(names=False) as book:
        settings, spending = book.settings(), spending_of(book)
    if request.as_json:
        found = [
            {
                "name": name,
                "value": settings.values[name],
                "source": settings.sources[name],
                "in_use": in_use(name, settings),
                "default": setting.default,
                "variable": setting.variable,
                "meaning": setting.meaning,
            }
            for name, setting in SETTINGS.items()
        ]
        request.terminal.document({"settings": found, "spending": spending_json(spending), "scope": book.scope})
        return OK
    rows: list[Sequence[Cell]] = []
    for name, setting in SETTINGS.items():
        own = settings.sources[name] != "default"
        rows.append((name, [(in_use(name, settings) or "(none)", "bold" if own else "")], settings.sources[name], setting.meaning))
    columns = [Column(title="setting", style="cyan"), Column(title="value"), Column(title="from"), Column(title="meaning", wraps=True)]
    request.terminal.table(columns, rows)
    request.terminal.say(f"Settings of scope {book.scope}. Change one: {request.command('config set NAME VALUE')}")
    if spending.ever.calls:
        request.terminal.say(f"Models used today: {said_of(spending)}. More: {request.command('spend')}")
    return OK


def get(request: Request, name: Name) -> int:
    """Print one setting."""
    _known(name)
    with request.reading(names=False) as book:
        settings = book.settings()
    if request.as_json:
        request.terminal.document({"name": name, "value": settings.values[name], "source": settings.sources[name], "scope": book.scope})
    else:
        request.terminal.text(f"{settings.values[name]}\n")
        if in_use(name, settings) != settings.values[name]:
            request.terminal.say(f"It is not set; in use is {in_use(name, settings)}.")
    return OK


def set_(
    request: Request,
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its new value, for this scope.", show_default=False)],
) -> int:
    """Set one setting, for this scope."""
    _known(name)
    with request.writing(names=False) as book:
        book.set(name, value)
        settings = book.settings()
    if request.as_json:
        request.terminal.document({"name": name, "value": settings.values[name], "source": settings.sources[name], "scope": book.scope})
        return OK
    request.terminal.say(f"{name} = {value} in scope {book.scope}.")
    if settings.sources[name] != "scope":
        request.terminal.warn(f"The environment variable {settings.sources[name]} overrides it here: {settings.values[name]}")
    if name == "embedder" and (missing := _missing(value)):
        request.terminal.warn(f"It is not installed; until then search goes by keywords. Install it: {missing}")
    return OK


def unset(request: Request, name: Name) -> int:
    """Take a scope's own value of a setting back; the default holds again."""
    _known(name)
    with request.writing(names=False) as book:
        book.set(name, None)
        settings = book.settings()
    if request.as_json:
        request.terminal.document({"name": name, "value": settings.values[name], "source": settings.sources[name], "scope": book.scope})
    else:
        request.terminal.say(f"{name} = {in_use(name, settings) or '(none)'} ({settings.sources[name]}) in scope {book.scope}.")
    return OK


def status(request: Request) -> int:
    """Say how a scope stands, in a few lines."""
    from tenure.learning.review import held_changes
    from tenure.serving.cli.connect import UNKNOWN, unknown_database
    from tenure.serving.cli.spend import said_of as spending_said
    from tenure.serving.cli.spend import spending_json, spending_of
    from tenure.serving.cli.vectors import said_of, standing_of

    with request.reading(names=False) as book, book.store.reading(book.scope) as reading:
        counts, newest, stale = reading.counts(), reading.version(), len(reading.stale_periods())
        last = list(reading.ledger(newest_first=True, limit=1))
        waiting, held, failed = len(reading.unlearned(limit=10_000)), len(held_changes(reading)), len(reading.failed_replies())
        spending, postponed = spending_of(book), reading.postponed(limit=10_000)
        given_up = sum(one.attempts >= book.settings().whole("learn.attempts") for one in postponed)
        standing, problem = standing_of(book)
        elsewhere = scopes_with_lessons(book) if not counts["live"] else []
        instead = next_step(request, book, "status") if elsewhere else ""
    where = _where(request)
    if request.as_json:
        from tenure.serving.wire import counts_json, usage_json

        found = {"scope": book.scope, "database": where, "version": newest, "counts": counts_json(counts), "pending": waiting, "held": held}
        request.terminal.document(
            {
                **found,
                "failed_replies": failed,
                "vectors": None if standing is None else asdict(standing),
                "vectors_problem": problem,
                "last_change": last[0].delta.time if last else None,
                "postponed": len(postponed),
                "given_up": given_up,
                "spent_today": usage_json(spending.today),
                "spending": spending_json(spending),
            }
        )
        return OK
    facts: list[tuple[str, Cell]] = [
        ("scope", book.scope),
        ("database", where),
        ("runs", f"{counts['runs']:,}"),
        ("lessons", f"{counts['live']:,} in use: {counts['active']:,} active, {counts['provisional']:,} provisional"),
        ("version", f"{newest:,}" + (f", {local_time(last[0].delta.time)} by {last[0].delta.author}" if last else "")),
    ]
    if unknown_database(request):
        facts.append(("hooks", f"the database {UNKNOWN}"))
    if counts["memory_entries"] or counts["memory_nodes"]:
        behind = f"; {counted(stale, 'node')} to build: {request.command('memory compact')}" if stale else ""
        kept = f"{counted(counts['memory_entries'], 'entry', 'entries')}, {counted(counts['memory_nodes'], 'node')}"
        facts.append(("memory", kept + behind))
    if standing is not None and (standing.embedded or standing.missing):
        facts.append(("vectors", said_of(standing, request)))
    if problem:
        facts.append(("vectors", [(problem, "yellow")]))
    if waiting:
        facts.append(("not learned yet", f"{counted(waiting, 'run')}. Learn them: {request.command('learn --pending')}"))
    if held:
        facts.append(("held", f"{counted(held, 'change')}. Review them: {request.command('review list')}"))
    if failed:
        facts.append(
            (
                "failed replies",
                f"{counted(failed, 'reply', 'replies')} of a model could not be used; they are kept. See: {request.command('spend')}",
            )
        )
    if len(postponed) > given_up:
        waits = (
            f"{counted(len(postponed) - given_up, 'run')}, learned from without it. Make up for it: {request.command('learn --pending')}"
        )
        facts.append(("for a model", waits))
    if given_up:
        facts.append(("given up", f"{counted(given_up, 'run')} on which the model failed each time. See: {request.command('spend')}"))
    if spending.ever.calls:
        facts.append(("spent today", spending_said(spending)))
    request.terminal.facts(facts)
    if instead:
        request.terminal.say(instead)
    return OK


def doctor(request: Request) -> int:
    """Check the installation and the database.

    Says what is installed, which model would be used, and whether the database and its ledger are sound. Exits with 1 if
    something is wrong.
    """
    from tenure.serving.cli.checkup import examine

    found = examine(request)
    terminal = request.terminal
    if request.as_json:
        terminal.document(found.as_json())
        return OK if found.sound else FAILED
    marks = {"ok": ("ok", "green"), "note": ("--", "yellow"), "wrong": ("!!", "red")}
    terminal.table(
        [Column(title=""), Column(title="", style="bold"), Column(title="", wraps=True)],
        [([marks[check.state]], check.name, check.said) for check in found.checks],
        headed=False,
    )
    if found.sound:
        terminal.say("Everything is sound.")
    else:
        terminal.fail(f"{counted(len(found.wrong), 'thing')} is wrong: {', '.join(check.name for check in found.wrong)}")
    return OK if found.sound else FAILED


def version(request: Request) -> int:
    """Print the version."""
    import platform

    from tenure.version import VERSION

    if request.as_json:
        request.terminal.document({"version": VERSION, "python": platform.python_version(), "platform": platform.platform(terse=True)})
    else:
        request.terminal.text(f"tenure {VERSION} (Python {platform.python_version()}, {platform.system()})\n")
    return OK


def _known(name: str) -> None:
    import difflib

    from tenure.settings import SETTINGS

    if name not in SETTINGS:
        last = name.rpartition(".")[2]
        near = difflib.get_close_matches(name, SETTINGS, 1) or [known for known in SETTINGS if last and last in known]
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise SettingError(f"There is no setting '{name}'.{hint} See all: tenure config")


def in_use(name: str, settings: Settings) -> str:
    """A setting's value as it takes effect: an embedder that is not set is the one whose extra is installed."""
    if name != "embedder" or settings.values[name]:
        return settings.values[name]
    from tenure.providers.embedding import bundled

    found = bundled()
    return found.name if found is not None else ""


def _missing(embedder: str) -> str:
    """How to install what an embedder of a wheel needs; empty if it is there, or is no such embedder. Nothing is loaded."""
    from tenure.providers.embedding import LOCAL

    found = LOCAL.get(embedder)
    return found.missing if found is not None else ""


def _where(request: Request) -> str:
    from tenure.project import database_url, without_password

    url = database_url(request.db)
    path = database_file(url)
    return str(path) if path is not None else without_password(url)
