"""The ledger as proof: `tenure ledger verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted, one_line
from tenure.serving.cli.request import FAILED, OK, Request
from tenure.serving.cli.verbs import add_group, add_verb

NAMED = 10
"""Lessons named on the terminal; `--json` has all."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenure.ports import LedgerCheck, Reading


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app, "ledger", "Prove that the history is whole.", "tenure ledger verify", "tenure ledger verify --json", default=_verify_all
    )
    add_verb(group, "verify", verify, "tenure ledger verify", "tenure ledger verify --head 9f2c51")


def verify(
    request: Request,
    head: Annotated[
        str,
        typer.Option("--head", metavar="DIGEST", help="A digest that was written down earlier, or its beginning: it must still be there."),
    ] = "",
) -> int:
    """Prove the hash chain of the scope, and that its lessons read so.

    Names the first break: a changed text or salt, a row that was changed, taken out, put in or moved, a head that was
    replaced, an end that was cut off; and lessons that were changed in the database itself. Kept runs are not proven.
    Exits with 1 if anything is wrong. Who can rewrite the whole database can make a chain of their own: a digest
    that you keep elsewhere and give back with --head shows that too.
    """
    from tenure.learning.history import unlike_ledger

    with request.reading() as book, book.store.reading(book.scope) as reading:
        with request.terminal.progress("Verifying", reading.version()) as show:
            found = reading.check_ledger(tell=lambda done: show(done, counted(done, "delta")))
        with request.terminal.progress("Comparing lessons", reading.version()) as show:
            unlike = () if found.broken else unlike_ledger(reading, tell=lambda done: show(done, counted(done, "delta")))
        known = not head or any(digest.startswith(head) for _, digest in found.writers.values()) or _held(reading, head)
        scope = book.scope
    if request.as_json:
        from dataclasses import asdict

        broken = [asdict(one) for one in found.broken]
        request.terminal.document(
            {
                "ok": found.ok and known and not unlike,
                "entries": found.entries,
                "first_broken": broken[0] if broken else None,
                "broken": broken,
                "writers": [{"writer": one, "links": links, "head": digest} for one, (links, digest) in sorted(found.writers.items())],
                "rewritten": found.rewritten,
                "unlike_lessons": list(unlike),
                "head_found": known if head else None,
                "scope": scope,
            }
        )
    else:
        _show(request, found, scope, unlike)
        if not known:
            request.terminal.fail(
                f"No delta of scope {scope} has a digest that begins with {one_line(head, 64)}: the history was replaced."
            )
    return OK if found.ok and known and not unlike else FAILED


def _verify_all(request: Request) -> int:
    return verify(request)


def _held(reading: Reading, head: str) -> bool:
    """Whether a digest stands anywhere in the ledger; read in portions."""
    after = 0
    while True:
        some = reading.ledger(after=after, limit=1_000)
        if not some:
            return False
        if any(entry.digest.startswith(head) for entry in some):
            return True
        after = some[-1].version


def _show(request: Request, found: LedgerCheck, scope: str, unlike: Sequence[str]) -> None:
    terminal = request.terminal
    if found.broken:
        rows: list[list[Cell]] = [
            [str(one.version) if one.version else "?", one.delta or "(gone)", one.writer or "(unknown)", [(one.problem, "red")]]
            for one in found.broken
        ]
        columns = [Column(title="version", right=True, style="cyan"), Column(title="delta"), Column(title="writer")]
        terminal.table([*columns, Column(title="what is wrong", wraps=True)], rows)
        first = found.broken[0]
        terminal.fail(
            f"The ledger of scope {scope} is broken, first at version {first.version}: {first.problem}. "
            "What stands before it holds. Take a copy of the file before anything else, and compare it with a backup."
        )
        return
    heads: list[list[Cell]] = [[one, f"{links:,}", digest] for one, (links, digest) in sorted(found.writers.items())]
    if heads:
        terminal.table([Column(title="writer"), Column(title="links", right=True), Column(title="head", wraps=True)], heads)
    anew = f" {counted(found.rewritten, 'delta')} written anew by forgetting, as tombstones say." if found.rewritten else ""
    whole = f"The ledger of scope {scope} is whole: {counted(found.entries, 'delta')}, every link and text holds.{anew}"
    if unlike:
        more = f" and {len(unlike) - NAMED:,} more" if len(unlike) > NAMED else ""
        terminal.say(whole)
        terminal.fail(
            f"{counted(len(unlike), 'lesson')} of scope {scope} {'reads' if len(unlike) == 1 else 'read'} otherwise than the ledger says: "
            f"{', '.join(unlike[:NAMED])}{more}. Somebody changed the database itself. "
            f"Take a copy of the file; the texts as admitted: {request.command('blame ID')}"
        )
        return
    terminal.say(f"{whole} Its lessons read as it says.")
