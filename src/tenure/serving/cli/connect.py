"""`tenure connect` and `tenure disconnect`: hooks, MCP entry and instructions of a coding agent, written and taken away."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UserError, installing
from tenure.serving.cli.layout import Column
from tenure.serving.cli.request import OK, Request
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
    )
    add_verb(app, "disconnect", disconnect, "tenure disconnect claude-code", "tenure disconnect codex --user --dry-run")


def connect(
    request: Request,
    host: Host = None,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    listed: Annotated[bool, typer.Option("--list", help="Say which hosts are connected.")] = False,
) -> int:
    """Have a coding agent see lessons, and learn from its sessions.

    Writes hooks, the MCP server and instructions into the host's own files. What others wrote there stays byte for byte;
    a file that cannot be read stops it all. Switches of a project: hooks.learn and hooks.recall (see tenure config).
    """
    from tenure.connect.installing import connect as write
    from tenure.connect.journal import Journal, journal_path
    from tenure.system import SystemClock

    if listed or host is None:
        if not listed:
            raise UserError("Name a host: claude-code, codex, opencode or cursor. Which are connected: tenure connect --list")
        return _list(request)
    wanted = _wanted(host, project, user)
    steps = write(wanted, Journal(journal_path()), dry_run=dry_run, at=SystemClock().now().isoformat())
    _tell(request, wanted, steps, dry_run, "connected", wanted.next_steps)
    return OK


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
    _tell(request, wanted, steps, dry_run, "disconnected", ())
    return OK


def _wanted(host: str, project: bool, user: bool) -> Wanted:
    from tenure.connect.hosts import wanted_for

    if project and user:
        raise UserError("--project and --user exclude each other. Name one of them.")
    return wanted_for(host, Path.cwd(), user=user)


def _tell(request: Request, wanted: Wanted, steps: Sequence[Step], dry_run: bool, done: str, next_steps: Sequence[str]) -> None:
    if request.as_json:
        request.terminal.document(
            {
                "host": wanted.host,
                "for": wanted.whose,
                "root": str(wanted.root),
                "dry_run": dry_run,
                "files": [_step_json(step, diff=dry_run) for step in steps],
                "next": list(next_steps),
            }
        )
        return
    terminal = request.terminal
    place = "all your projects" if wanted.whose == "user" else str(wanted.root)
    if dry_run:
        for step in steps:
            terminal.text(step.diff())
        terminal.say("Dry run: nothing was written.")
        return
    terminal.heading(f"{wanted.host} is {done} for {place}")
    rows = [(step.meaning, _shown(step.path, wanted.root), SAID[step.became]) for step in steps]
    terminal.table([Column(title=""), Column(title="file"), Column(title="")], rows, headed=False)
    for sentence in next_steps:
        terminal.say(sentence)
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
