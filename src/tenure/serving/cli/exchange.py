"""Playbooks in and out: `tenure import` and `export`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import UnreadableInput, UserError
from tenure.serving.cli import completion, sharing
from tenure.serving.cli.files import replace_file
from tenure.serving.cli.instruction_file import export_block
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import IN_PART, OK, Request, read_text
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.exchange import Imported

NAMED = 10
"""Reasons named on the terminal; `--json` has all."""


_FORM_OF = {".json": "json", ".jsonl": "ledger"}
"""What a file's ending tells of its form."""


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(
        app,
        "import",
        import_,
        "tenure import playbook.txt",
        "tenure import AGENTS.md --scope acme/web",
        "tenure import skillbook.json --dry-run",
        "tenure import playbook.ledger.jsonl --trust    # what another installation wrote, with its history",
    )
    add_verb(
        app,
        "export",
        export,
        "tenure export",
        "tenure export playbook.txt",
        "tenure export playbook.json --form json",
        "tenure export --form ledger    # to playbook.ledger.jsonl, which branches of a repository can merge",
        "tenure export --to AGENTS.md    # a block of lessons in it, kept up to date by the same command",
    )


def import_(
    request: Request,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A playbook in any known form; - for stdin.", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be imported; write nothing.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 if something in the file was skipped.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Of a ledger: also take in what installations wrote of which nothing is here yet.")
    ] = False,
) -> int:
    """Bring in a playbook of another tool, or an export.

    All of it is one delta. Reads ACE text and JSON, Skillbook JSON, Markdown lists of rules (AGENTS.md, CLAUDE.md) and own exports, told by
    content. Ids and texts stay as they are; nothing is merged but what is there already.

    A ledger (export --form ledger) comes in delta by delta with its history: afterwards both sides have the same playbook.
    Its chains are checked first, and of a broken one nothing is imported. Installations of which nothing is here
    yet are left out, and the command ends with 3, unless somebody agrees at the terminal or --trust is given.
    """
    from tenure.learning.exchange import bring_in, import_delta
    from tenure.learning.exchange import counted as counted_import
    from tenure.learning.ledger_file import holds_ledger
    from tenure.learning.warning import warnings_of
    from tenure.playbook.apply import fold_in
    from tenure.playbook.foreign import read_foreign

    if file != "-" and sharing.looks_like_ledger(file):
        return sharing.import_ledger(request, file, trust=trust, dry_run=dry_run, strict=strict)
    text = read_text(file, request.terminal, what="playbook")
    if file == "-" and holds_ledger(text.encode("utf-8", "surrogatepass")):
        raw = text.encode("utf-8", "surrogatepass")
        return sharing.import_ledger(request, file, raw=raw, trust=trust, dry_run=dry_run, strict=strict)
    if trust:
        holds = "this file is none" if text.strip() else f"'{file}' is empty"
        raise UserError(f"--trust belongs to a ledger, and {holds}. A ledger is written by: tenure export FILE --form ledger")
    name = "stdin" if file == "-" else Path(file).name
    try:
        found = read_foreign(text)
    except UnreadableInput as exc:
        raise UnreadableInput(f"{name}: {exc}") from exc
    author, warnings = f"import:{name}", warnings_of(found.operations)
    if dry_run:
        with request.reading() as book, book.store.reading(book.scope) as reading:
            delta, there = import_delta(reading, found, id=book.ids.next(reading.newest_delta_id()), at=book.clock.now(), author=author)
            imported = counted_import(found, delta, fold_in(reading, delta).receipts, there)
    else:
        with request.writing() as book, book.store.writing(book.scope) as work:
            imported = bring_in(work, found, ids=book.ids, at=book.clock.now(), author=author)
    if request.as_json:
        request.terminal.document(
            {
                "added": imported.added,
                "merged": imported.merged,
                "held": imported.held,
                "skipped": imported.skipped,
                "changed": imported.changed,
                "reasons": list(imported.reasons),
                "warnings": list(warnings),
                "form": found.form,
                "file": name,
                "raised": imported.raised,
                "version": imported.version,
                "scope": book.scope,
                **({"dry_run": True} if dry_run else {}),
            }
        )
    else:
        _show_imported(request, imported, name, found.form, dry_run=dry_run)
        for warning in warnings:
            request.terminal.warn(f"{name}, {warning}")
    return IN_PART if strict and imported.skipped else OK


def export(
    request: Request,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Where to write; without it, or with -, to stdout.", show_default=False)
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--form",
            metavar="FORM",
            autocompletion=completion.export_forms,
            help="ace (readable, live lessons), json (everything) or ledger (with its history, to be shared). Else told by FILE's ending.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FILE", help="Keep a block of the best lessons in an instruction file, such as AGENTS.md.", show_default=False
        ),
    ] = None,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="With --to: most tokens of the block.", min=50)] = 2000,
    remove: Annotated[bool, typer.Option("--remove", help="With --to: take the block out again.")] = False,
    force: Annotated[bool, typer.Option("--force", help="With --to: also replace a block that was edited by hand.")] = False,
) -> int:
    """Write the playbook to a file or to stdout.

    For people, for other tools, or for another database.
    Secrets are taken out once more on the way. A file is replaced whole or not at all.

    The form ledger holds every delta with its history, a line each, for other installations to import: two branches of a Git
    repository that both changed it are merged by taking all lines (merge=union). Without FILE it goes to playbook.ledger.jsonl.

    With --to, lessons go into a block of a file that agents read by themselves, such as AGENTS.md or CLAUDE.md. All
    else in the file stays as it is, byte for byte; where nothing has changed, nothing is written.
    """
    from tenure.learning.exchange import written

    if to is not None:
        if file is not None or form is not None:
            raise UserError("--to writes a block into an instruction file; FILE and --form write a whole file. Use one of the two.")
        return export_block(request, Path(to), tokens=budget, remove=remove, force=force)
    if remove or force:
        raise UserError(f"--{'remove' if remove else 'force'} belongs to --to FILE. See: tenure export --help")
    terminal = request.terminal
    target = None if file in (None, "-") else Path(str(file))
    chosen = form or _FORM_OF.get(target.suffix.lower() if target is not None else "", "ace")
    if chosen == "ledger":
        return sharing.export_ledger(request, file)
    if chosen not in ("ace", "json"):
        raise UserError(f"There is no form '{form}'. Use ace, json or ledger.")
    if target is not None and os.path.isdir(target):
        raise UserError(f"'{file}' is a folder. Name a file in it, such as {target / 'playbook.txt'}")
    with request.reading() as book:
        playbook = book.playbook
        text = written(playbook, "json" if chosen == "json" else "ace")
    lessons = len(playbook.lessons) if chosen == "ace" else len(playbook.every_lesson)
    if target is None:
        if request.as_json:
            terminal.document({"form": chosen, "lessons": lessons, "text": text, "scope": book.scope})
        else:
            terminal.text(text)
        return OK
    size = replace_file(target, text)
    if request.as_json:
        terminal.document({"form": chosen, "lessons": lessons, "file": str(target), "bytes": size, "scope": book.scope})
    else:
        terminal.say(f"Wrote {counted(lessons, 'lesson')} to {target} ({size:,} bytes). Read them back: tenure import {target}")
    return OK


def _show_imported(request: Request, imported: Imported, name: str, form: str, *, dry_run: bool) -> None:
    terminal = request.terminal
    rows = [
        ("added", f"{imported.added:,}", "new lessons"),
        ("merged", f"{imported.merged:,}", "were there already"),
        ("held", f"{imported.held:,}", "wait for a review"),
        ("changed", f"{imported.changed:,}", "other operations carried out"),
        ("skipped", f"{imported.skipped:,}", "could not be used"),
    ]
    terminal.heading(f"{'Would be imported' if dry_run else 'Imported'} from {name} ({form})")
    kept = [row for row in rows if row[0] in ("added", "merged") or row[1] != "0"]
    terminal.table([Column(title=""), Column(title="", right=True), Column(title="", wraps=True)], kept, headed=False)
    for reason in imported.reasons[:NAMED]:
        terminal.warn(reason)
    if len(imported.reasons) > NAMED:
        terminal.say(f"  and {len(imported.reasons) - NAMED:,} more (--json has all)")
    if imported.raised:
        terminal.say(imported.raised)
    if dry_run:
        terminal.say("Nothing was written. To do it, leave out --dry-run.")
    elif imported.version is None:
        terminal.say("Nothing was changed: all of it was there already." if imported.merged else "Nothing was changed.")
    else:
        undo = request.command(f"rollback {imported.version - 1}")
        terminal.say(f"This is version {imported.version}. See it: {request.command('show')}   Undo it: {undo}")
