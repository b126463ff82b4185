"""A ledger shared through a file: what `tenure export --form ledger` writes and `tenure import` takes in."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tenure.errors import UnreadableInput
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted, is_terminal
from tenure.serving.cli.request import IN_PART, OK, Request, person

if TYPE_CHECKING:
    from tenure.learning.arriving import Sender
    from tenure.learning.sharing import Shared
    from tenure.wiring import Tenure

DEFAULT_NAME = "playbook.ledger.jsonl"
"""Where a ledger is written if no file is named."""

_NAMED = 10
_START = 1_000_000


def looks_like_ledger(file: str) -> bool:
    """Whether a file holds a shared ledger, by its beginning; no for what cannot be read, which whoever reads it will say."""
    from tenure.learning.ledger_file import holds_ledger

    try:
        with Path(file).open("rb") as source:
            return holds_ledger(source.read(_START))
    except (OSError, ValueError):
        return False


def export_ledger(request: Request, file: str | None) -> int:
    """Write the ledger of the scope to a file, or to stdout for `-`."""
    terminal = request.terminal
    if file == "-":
        from tenure.learning.sharing import shared_lines

        with _cleaned(request) as book, book.store.reading(book.scope) as reading:
            for line in shared_lines(reading):
                terminal.text(f"{line}\n")
        return OK
    target = Path(file or DEFAULT_NAME)
    with request.reading() as book:
        with book.store.reading(book.scope) as reading:
            total, scope = reading.version(), book.scope
        with terminal.progress("Writing", total) as show:
            written = book.export_ledger(target, author=person(), tell=lambda done: show(done, counted(done, "delta")))
    _tell_cleaned(request, written.cleaned)
    if request.as_json:
        terminal.document(
            {
                "form": "ledger",
                "deltas": written.links,
                "file": str(target),
                "bytes": written.size,
                "changed": written.changed,
                "scope": scope,
            }
        )
    elif not written.changed:
        terminal.say(f"Nothing has changed: {target} holds the ledger of scope {scope} already ({counted(written.links, 'delta')}).")
    else:
        terminal.say(
            f"Wrote {counted(written.links, 'delta')} of scope {scope} to {target} ({written.size:,} bytes). "
            f"Another installation takes them in: tenure import {target}"
        )
    return OK


@contextmanager
def _cleaned(request: Request) -> Iterator[Tenure]:
    """The playbook, once more without secrets: rules may have been added since they were stored."""
    with request.reading() as book:
        _tell_cleaned(request, book.clean_ledger(author=person()))
        yield book


def _tell_cleaned(request: Request, cleaned: int) -> None:
    if cleaned:
        request.terminal.warn(
            f"{counted(cleaned, 'delta')} held what redaction takes out today; it was taken out of the ledger first, "
            "and a tombstone says so."
        )


def import_ledger(request: Request, file: str, *, raw: bytes | None = None, trust: bool, dry_run: bool, strict: bool) -> int:
    """Take in the ledger that another installation wrote.

    Args:
        request: whose scope it goes to.
        file: a path, or `-` with `raw`.
        raw: what stdin held.
        trust: let in installations of which nothing is here yet.
        dry_run: only say what would come.
        strict: exit with 3 also where something was held.
    """
    terminal = request.terminal
    name = "stdin" if raw is not None else Path(file).name
    with ExitStack() as stack:
        source: BinaryIO = io.BytesIO(raw) if raw is not None else stack.enter_context(_opened(file))
        book = stack.enter_context(request.reading() if dry_run else request.writing())
        size = len(raw) if raw is not None else Path(file).stat().st_size
        with terminal.progress("Reading", size) as show:
            asks = not (trust or dry_run or request.as_json) and is_terminal(sys.stdin) and is_terminal(sys.stderr)
            shared = book.take_ledger_in(
                source, name, trust=trust, dry_run=dry_run or asks, tell=lambda done: show(done, f"{done:,} bytes")
            )
        if asks:
            if shared.left_out:
                _show_senders(request, shared)
                trust = terminal.confirm(
                    f"{counted(shared.left_out, 'delta')} of installations of which nothing is here yet. "
                    "What their persons approved counts as approved. Take them in?"
                )
            shared = book.take_ledger_in(source, name, trust=trust)
        scope = book.scope
    if request.as_json:
        terminal.document(_json(shared, name, scope, dry_run=dry_run))
    else:
        _show(request, shared, name, file, dry_run=dry_run)
    return IN_PART if shared.left_out or (strict and shared.held) else OK


def _opened(file: str) -> BinaryIO:
    try:
        return Path(file).open("rb")
    except OSError as exc:
        raise UnreadableInput(f"File '{file}' cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc


def _json(shared: Shared, name: str, scope: str, *, dry_run: bool) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "form": "ledger",
        "file": name,
        "scope": scope,
        # What every import says: lessons, and what was there or left out.
        "added": len(shared.came),
        "merged": shared.known,
        "held": len(shared.held),
        "skipped": shared.left_out,
        "new": shared.new,
        "known": shared.known,
        "left_out": shared.left_out,
        "writers": [asdict(one) for one in shared.senders],
        "came": list(shared.came),
        "went": list(shared.went),
        "held_lessons": list(shared.held),
        "reasons": list(shared.reasons),
        "forgotten": shared.forgotten,
        "redacted": shared.redacted,
        "revoked": list(shared.revoked),
        "renamed": bool(shared.renamed),
        "raised": shared.raised,
        "replaced": list(shared.replaced),
        "replaced_by": list(shared.replaced_by),
        "scopes": list(shared.scopes),
        "version": shared.version,
        **({"dry_run": True} if dry_run else {}),
    }


def _show_senders(request: Request, shared: Shared) -> None:
    rows: list[list[Cell]] = [[one.writer, f"{one.new:,}", f"{one.known:,}", f"{one.left_out:,}", _told_of(one)] for one in shared.senders]
    columns = [Column(title="writer"), *(Column(title=title, right=True) for title in ("new", "known", "left out"))]
    request.terminal.table([*columns, Column(title="", wraps=True)], rows)


def _told_of(one: Sender) -> str:
    said: list[str] = []
    if one.left_out:
        said.append("not trusted yet: --trust" if one.unknown else "a branch of it is not trusted yet: --trust")
    elif one.unknown and one.new:
        said.append("taken in for the first time")
    if one.forked:
        said.append("a copy of its database wrote too")
    return ", ".join(said)


def _show(request: Request, shared: Shared, name: str, file: str, *, dry_run: bool) -> None:
    terminal = request.terminal
    terminal.heading(f"{'Would be taken in' if dry_run else 'Taken in'} from {name} (ledger)")
    _show_senders(request, shared)
    for count, one, told in (
        (len(shared.came), "lesson", "came into use"),
        (len(shared.went), "lesson", "went out of use"),
        (shared.redacted, "delta", "had a secret in it, which was taken out"),
        (shared.forgotten, "delta", "holds less now: it was forgotten elsewhere, and is forgotten here too"),
    ):
        if count:
            terminal.say(f"{counted(count, one)} {told}.")
    if shared.replaced:
        named = ", ".join(shared.replaced[:_NAMED]) + (", …" if len(shared.replaced) > _NAMED else "")
        terminal.warn(
            f"{counted(len(shared.replaced), 'lesson')} of yours {'was' if len(shared.replaced) == 1 else 'were'} replaced by older deltas "
            f"of {', '.join(shared.replaced_by[:_NAMED])}: {named}"
        )
    if shared.scopes:
        terminal.warn(f"It was written for scope {', '.join(shared.scopes[:_NAMED])}, and goes into this one.")
    for reason in shared.reasons[:_NAMED]:
        terminal.warn(f"held: {reason}")
    if shared.held:
        terminal.say(f"{counted(len(shared.held), 'lesson')} to review: {request.command('review')}")
    for note in shared.revoked:
        terminal.say(f"Elsewhere: {note}. To refuse its later runs here too: {request.command('revoke ORIGIN')}")
    if shared.renamed and not dry_run:
        terminal.say("A copy of this database wrote too. From now on this one writes under a new id, so that the two can be told apart.")
    if shared.scrubbed is not None and not shared.scrubbed.done:
        terminal.warn(f"What was forgotten may still stand in the files: {shared.scrubbed.reason}. End it: tenure forget --finish")
    if shared.raised:
        terminal.say(shared.raised)
    if shared.left_out:
        terminal.warn(
            f"{counted(shared.left_out, 'delta')} left out, of writers that nobody has let in here yet. "
            f"If you know whose they are: {request.command(f'import {file} --trust')}"
        )
    if dry_run:
        terminal.say("Nothing was written. To do it, leave out --dry-run.")
    elif not shared.new and not shared.forgotten:
        terminal.say("Nothing was changed: all that is let in was here already." if shared.known else "Nothing was changed.")
    else:
        terminal.say(f"This is version {shared.version}. See it: {request.command('log')}")
