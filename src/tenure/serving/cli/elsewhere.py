"""What to do where a scope is empty: look into another scope of the same database, if one has lessons, or learn."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from tenure.serving.cli.output import one_line

if TYPE_CHECKING:
    from tenure.serving.cli.request import Request
    from tenure.wiring import Tenure

NAMED = 3
"""Other scopes that are named."""

SEARCHED = 100
"""Other scopes that are looked into; a database may hold thousands."""


def next_step(request: Request, book: Tenure, words: str) -> str:
    """The sentence that follows "there is nothing here".

    Args:
        request: what was asked for.
        book: its playbook, open.
        words: the command to type for another scope, such as `show`.
    """
    found = scopes_with_lessons(book)
    if not found:
        return f"Learn from runs: {request.command('learn PATH')}"
    # The scope that is meant comes last: what was given before is what led here.
    given = replace(request, scope=None).command(words)
    named = f"{', '.join(one_line(scope) for scope in found[:NAMED])}{' and others' if len(found) > NAMED else ''}"
    return f"This database has lessons in scope {named}: {given} --scope {shlex.quote(found[0].removeprefix('local/'))}"


def scopes_with_lessons(book: Tenure) -> list[str]:
    """Up to `NAMED` and one more of the database's other scopes in which lessons are in use."""
    found: list[str] = []
    walled = book.store.url.startswith("postgresql:")  # what other tenants have is not for this one to be told
    whose = book.scope.partition("/")[0] if walled else None
    for scope in [one for one in book.store.scopes(whose) if one != book.scope][:SEARCHED]:
        with book.store.reading(scope) as reading:
            if reading.counts()["live"]:
                found.append(scope)
        if len(found) > NAMED:
            break
    return found
