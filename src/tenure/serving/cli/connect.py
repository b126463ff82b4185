"""`tenure connect` and `tenure disconnect`: hooks, MCP entry and instructions of a coding agent, written and taken away."""

from __future__ import annotations

import importlib.util
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import TenureError, UserError, installing
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import OK, Request, is_there
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.connect.installing import Step
    from tenure.connect.wanted import Wanted

Host = Annotated[str | None, typer.Argument(metavar="HOST", help="claude-code, codex, opencode or cursor.", show_default=False)]
Project = Annotated[bool, typer.Option("--project", help="For the project around this folder (the usual).")]
User = Annotated[bool, typer.Option("--user", help="For all your projects.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes; write nothing.")]

SAID = {
    "created": "new",
    "changed": "ours added",
    "unchanged": "as it should be",
    "theirs": "has an entry 'tenure' of somebody else's, left there",
    "removed": "ours taken out",
    "absent": "nothing of ours",
    "kept": "edited by hand, left there",
}


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(
        app,
        "connect",
        connect,
        "tenure connect claude-code",
        "tenure connect claude-code --dry-run    # show the changes as a diff",
        "tenure connect codex --user             # for all your projects",
        "tenure connect --list",
        "tenure connect --trust                  # use a database that came with the project",
    )
    add_verb(app, "disconnect", disconnect, "tenure disconnect claude-code", "tenure disconnect codex --user --dry-run")


def connect(
    request: Request,
    host: Host = None,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    listed: Annotated[bool, typer.Option("--list", help="Say which hosts are connected.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Let hooks use a database that was not made here.")] = False,
) -> int:
    """Have a coding agent see lessons, and learn from its sessions.

    Writes hooks, the MCP server and instructions into the host's own files. What others wrote there stays byte for byte;
    a file that cannot be read stops it all. Switches of a project: hooks.learn and hooks.recall (see tenure config).
    Hooks use no database that came with a project, until you connect a host in it or say --trust.
    """
    from tenure.connect.installing import connect as write
    from tenure.connect.journal import Journal, journal_path
    from tenure.system import SystemClock

    if listed or host is None:
        if trust and not listed:
            return _trust(request, dry_run)
        if not listed:
            raise UserError("Name a host: claude-code, codex, opencode or cursor. Which are connected: tenure connect --list")
        return _list(request)
    wanted = _wanted(host, project, user)
    steps = write(wanted, Journal(journal_path()), dry_run=dry_run, at=SystemClock().now().isoformat())
    agreed = _agree(request) if not dry_run and (trust or not user) else ""
    in_git = tuple(filter(None, [_in_git_said(wanted, steps)]))
    _tell(
        request,
        wanted,
        steps,
        dry_run,
        "connected",
        (*wanted.next_steps, *in_git, *filter(None, [agreed])),
        elsewhere=_lessons_elsewhere(wanted),
    )
    return OK


def _trust(request: Request, dry_run: bool) -> int:
    said = (
        _agree(request, dry_run=dry_run) or "Hooks use the database of this project already, or will make it: there is nothing to agree to."
    )
    if request.as_json:
        request.terminal.document({"said": said})
    else:
        request.terminal.say(said)
    return OK


def _agree(request: Request, *, dry_run: bool = False) -> str:
    """Let hooks use the project's database; a sentence about it if they did not yet.

    Raises:
        UserError: it cannot be read, or the consent cannot be recorded.
    """
    from tenure.known import remember
    from tenure.stores.quick import Unreadable, made_at

    path = unknown_database(request)
    if path is None:
        return ""
    if dry_run:
        return f"Hooks would use {path}, which was not made here. Dry run: nothing was written."
    try:
        remember(path, made_at(str(path)))
    except Unreadable as exc:
        raise UserError(f"{exc}. Hooks do not use it. See what is wrong: tenure doctor") from exc
    except OSError as exc:
        raise UserError(f"That hooks may use {path} cannot be recorded: {(exc.strerror or str(exc)).lower()}.") from exc
    return f"{path} was not made here; hooks use it from now on. See what it holds: tenure show"


def unknown_database(request: Request) -> Path | None:
    """The database of this project if hooks leave it alone because it came from elsewhere."""
    from tenure.known import is_known
    from tenure.project import find_database
    from tenure.serving.cli.request import database_file
    from tenure.stores.quick import Unreadable, made_at

    path = database_file(find_database(request.db).url)
    if path is None or not path.exists():
        return None
    path = Path(os.path.abspath(path))
    try:
        made = made_at(str(path))
    except Unreadable:
        made = None  # then it is known by its place, as hooks have it
    return None if is_known(path, made) else path


UNKNOWN = "was not made here, so hooks neither show nor teach it. If you trust what it holds (tenure show): tenure connect --trust"
"""What is said of a database that came with a project."""


def _in_git_said(wanted: Wanted, steps: Sequence[Step]) -> str:
    """A warning that names every written file with a path of this machine that Git would add; empty if there is none."""
    if wanted.whose == "user":
        return ""
    theirs = {file.path for file in wanted.files if file.meaning != "instructions"}
    files = [_shown(step.path, wanted.root) for step in steps if step.path in theirs and step.became != "theirs"]
    shared = [name for name in files if not _is_ignored(name, wanted.root)]
    if not shared:
        return ""
    named = " and ".join(filter(None, [", ".join(shared[:-1]), shared[-1]]))
    holds = "holds paths of this machine, and Git does not ignore it" if len(shared) == 1 else _HOLD
    return f"{named} {holds}: leave {'it' if len(shared) == 1 else 'them'} out of Git, or connect with --user instead."


_HOLD = "hold paths of this machine, and Git does not ignore them"


def _is_ignored(name: str, root: Path) -> bool:
    """Whether Git leaves a file alone; where Git cannot be asked, it is taken to add it."""
    import subprocess

    try:
        done = subprocess.run(["git", "check-ignore", "-q", "--", name], cwd=root, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def disconnect(request: Request, host: Host = None, project: Project = False, user: User = False, dry_run: DryRun = False) -> int:
    """Take away what connect wrote.

    A file that nothing else changed since comes back byte for byte; from others our entries alone are taken out.
    What was learned stays: tenure show.
    """
    from tenure.connect.installing import disconnect as take_away
    from tenure.connect.journal import Journal, journal_path

    if host is None:
        raise UserError("Name a host: claude-code, codex, opencode or cursor. Which are connected: tenure connect --list")
    wanted = _wanted(host, project, user)
    steps = take_away(wanted, Journal(journal_path()), dry_run=dry_run)
    nothing = all(step.became == "absent" for step in steps)
    _tell(request, wanted, steps, dry_run, "disconnected", (), nothing=nothing)
    return OK


def _wanted(host: str, project: bool, user: bool) -> Wanted:
    from tenure.connect.hosts import wanted_for

    if project and user:
        raise UserError("--project and --user exclude each other. Name one of them.")
    return wanted_for(host, Path.cwd(), user=user)


def _lessons_elsewhere(wanted: Wanted) -> str:
    """A sentence on lessons of this project that lie in the person's own database, where nothing in the project looks; else empty."""
    from tenure.opening import open_store
    from tenure.project import default_scope, find_database, user_data_folder
    from tenure.stores.sqlite import look_at
    from tenure.wiring import scoped

    place = find_database(folder=wanted.root)
    if wanted.whose == "user" or place.why != "project":
        return ""
    other, own = user_data_folder() / "tenure.db", Path(place.url.removeprefix("sqlite:///"))
    scope = scoped(default_scope(folder=wanted.root))
    ids: list[set[str]] = []
    try:
        for path in (other, own):
            if not is_there(path):
                ids.append(set())
                continue
            # A copy is read: connecting is no reason to bring a database up to date, nor to set one aside.
            with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
                copy = Path(folder) / "copy.db"
                look_at(path, copy=copy)
                store = open_store(f"sqlite:///{copy}")
                try:
                    with store.reading(scope) as reading:
                        ids.append({lesson.id for lesson in reading.lessons() if lesson.live})
                finally:
                    store.close()
    except (TenureError, OSError) as exc:
        return f"Whether there are lessons of this project in {other} could not be looked up: {exc}"
    missing = len(ids[0] - ids[1])
    if not missing:
        return ""
    export = f"tenure export --form json --db {shlex.quote(str(other))} --scope {shlex.quote(scope)}"
    are = "is" if missing == 1 else "are"
    return (
        f"{counted(missing, 'lesson')} of this project {are} in {other}, where nothing in the project looks. "
        f"Take over: {export} | (cd {shlex.quote(str(wanted.root))} && tenure import -)"
    )


def _tell(
    request: Request,
    wanted: Wanted,
    steps: Sequence[Step],
    dry_run: bool,
    done: str,
    next_steps: Sequence[str],
    *,
    elsewhere: str = "",
    nothing: bool = False,
) -> None:
    if request.as_json:
        request.terminal.document(
            {
                "host": wanted.host,
                "for": wanted.whose,
                "root": str(wanted.root),
                "dry_run": dry_run,
                "files": [_step_json(step, diff=dry_run) for step in steps],
                "next": [*next_steps, *([elsewhere] if elsewhere else [])],
            }
        )
        return
    terminal = request.terminal
    place = "all your projects" if wanted.whose == "user" else str(wanted.root)
    if nothing:
        terminal.say(f"{wanted.host} was not connected for {place}: there is nothing of ours to take out.")
        return
    if dry_run:
        for step in steps:
            terminal.text(step.diff())
        terminal.say("Dry run: nothing was written.")
        if elsewhere:
            terminal.say(elsewhere)
        return
    terminal.heading(f"{wanted.host} is {done} for {place}")
    rows = [(step.meaning, _shown(step.path, wanted.root), SAID[step.became]) for step in steps]
    terminal.table([Column(title=""), Column(title="file"), Column(title="")], rows, headed=False)
    for sentence in next_steps:
        terminal.say(sentence)
    if elsewhere:
        terminal.say(elsewhere)
    if next_steps and importlib.util.find_spec("mcp") is None:
        terminal.say(f"The MCP server needs an extra that is not installed; hooks work without it: {installing('mcp')}")


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _step_json(step: Step, *, diff: bool) -> dict[str, Any]:
    found = {"file": str(step.path), "for": step.meaning, "became": step.became, "exact": step.exact}
    return {**found, "diff": step.diff()} if diff else found


def connection_states() -> list[tuple[str, str, str, str]]:
    """Host, whose, root and state of each host for the project around this folder and for the person; recorded ones elsewhere too."""
    from tenure.connect.hosts import HOSTS, wanted_for
    from tenure.connect.installing import state_of
    from tenure.connect.journal import Journal, journal_path

    journal = Journal(journal_path())
    found: list[tuple[str, str, str, str]] = []
    for host in HOSTS:
        for user in (False, True):
            wanted = wanted_for(host, Path.cwd(), user=user)
            found.append((host, wanted.whose, str(wanted.root), state_of(wanted, journal)))
    seen = {row[:3] for row in found}
    found += [
        (one.host, one.whose, str(one.root), "connected") for one in journal.all() if (one.host, one.whose, str(one.root)) not in seen
    ]
    return found


def _list(request: Request) -> int:
    states = connection_states()
    if request.as_json:
        names = ("host", "for", "root", "state")
        request.terminal.document({"connections": [dict(zip(names, row, strict=True)) for row in states]})
        return OK
    titles = (Column(title="host"), Column(title="for"), Column(title="where"), Column(title="state"))
    request.terminal.table(list(titles), states)
    return OK
