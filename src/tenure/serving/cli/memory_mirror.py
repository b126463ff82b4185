"""`tenure memory export` and `import`: the memory as a folder of Markdown files, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import IN_PART, OK, Request
from tenure.serving.cli.verbs import add_verb

NAMED = 20
"""Files with something to say of them that are named on the terminal; `--json` has all."""


def register(group: typer.Typer) -> None:
    """Put the commands into their group."""
    add_verb(
        group,
        "export",
        export,
        "tenure memory export memory/",
        "tenure memory export memory/ --force   # also over what people changed",
    )
    add_verb(
        group,
        "import",
        import_,
        "tenure memory import memory/",
        "tenure memory import ~/project --dry-run   # one that Hipocampus kept",
    )


def export(
    request: Request,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where to; it is made if it is not there.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Also replace files that a person wrote or changed.")] = False,
) -> int:
    """Write the memory as a folder of Markdown files.

    Agents read them with file tools: ROOT.md, a file for each day, daily/, weekly/, monthly/, knowledge/, plans/,
    SCRATCHPAD.md, WORKING.md, TASK-QUEUE.md. Only what changed is written, each file whole or not at all. What a person
    wrote or changed stays, and is named, unless all of it is in the memory already. Files that leave the memory leave
    the folder. Exits with 3 if any was left.
    """
    with request.writing() as book:
        done = book.memory.export(folder, force=force)
    if request.as_json:
        left = [{"file": path, "why": why} for path, why in done.left]
        request.terminal.document(asdict(done) | {"left": left, "scope": book.scope})
        return IN_PART if done.left else OK
    for path, why in done.left[:NAMED]:
        request.terminal.warn(f"{path} {why}.")
    if len(done.left) > NAMED:
        request.terminal.say(f"  and {counted(len(done.left) - NAMED, 'more file')} (--json has all)")
    if done.left:
        taken = request.command(f"memory import {folder}")
        request.terminal.say(f"Left as it is: {counted(len(done.left), 'file')}. Take changes in: {taken}   Replace them: --force")
    files = len(done.written) + done.unchanged
    if done.written or done.removed:
        removed = f", removed {len(done.removed):,}" if done.removed else ""
        request.terminal.say(f"Wrote {counted(len(done.written), 'file')}{removed} in {done.folder}; {done.unchanged:,} unchanged.")
    elif done.left:
        request.terminal.say(f"The other {counted(files, 'file')} in {done.folder} were up to date.")
    else:
        request.terminal.say(f"Nothing changed: {counted(files, 'file')} in {done.folder} as they were.")
    return IN_PART if done.left else OK


def import_(
    request: Request,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Of an export, or a project that Hipocampus kept.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Where a text changed here and there, take the folder's.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be imported; write nothing.")] = False,
) -> int:
    """Take in such a folder, or one of Hipocampus.

    What an export wrote comes back as it was, and what people added to it becomes new entries; the same folder again
    adds nothing. Of a folder of Hipocampus the raw logs, knowledge, plans, scratchpad, USER.md and MEMORY.md are read.
    Nodes and root are built anew; where the raw logs below one are missing, its text is kept as an entry.
    Exits with 3 if a file was left.
    """
    # Looking reads and never makes a database; the other one writes.
    with request.reading(writes=f"memory import {folder}") if dry_run else request.writing() as book:
        done = book.memory.import_folder(folder, force=force, dry_run=dry_run)
    if request.as_json:
        request.terminal.document(asdict(done) | {"folder": folder, "scope": book.scope})
        return IN_PART if done.left else OK
    terminal = request.terminal
    terminal.heading(f"{'Would be imported' if dry_run else 'Imported'} from {folder}")
    rows = [
        ("new", f"{done.new:,}", "entries that the memory had not"),
        ("known", f"{done.known:,}", "entries that it had"),
        ("texts", f"{done.texts:,}", "of layers, knowledge and plans written"),
        ("derived", f"{done.derived:,}", "nodes and roots, which follow from entries"),
        ("left", f"{done.left:,}", "files that were not read"),
    ]
    kept = [row for row in rows if row[0] in ("new", "known") or row[1] != "0"]
    terminal.table([Column(title=""), Column(title="", right=True), Column(title="", wraps=True)], kept, headed=False)
    noted = [(file.path, note) for file in done.files for note in file.notes]
    for path, note in noted[:NAMED]:
        terminal.warn(f"{path}: {note}.")
    if len(noted) > NAMED:
        terminal.say(f"  and {len(noted) - NAMED:,} more (--json has all)")
    if done.zone:
        terminal.say(f"Days begin in {done.zone}, as they did there.")
    if dry_run:
        terminal.say("Nothing was written. To do it, leave out --dry-run.")
    else:
        terminal.say(f"The tree is up to date. See: {request.command('memory root')}")
    return IN_PART if done.left else OK
