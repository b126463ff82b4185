"""`tenure migrate`: databases set up, brought up to date, and moved from one kind to another."""

from __future__ import annotations

import os
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import MissingExtra, UserError
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import IN_PART, OK, Request, database_file, is_there
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.stores.copying import Copied, Database
    from tenure.stores.postgres_setup import SetUp

PASSWORD = "TENURE_ROLE_PASSWORD"
"""The variable with the password for the application's role, so that it need not stand on the command line."""


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "migrate",
        migrate,
        "tenure migrate                                             # the SQLite file at hand",
        "tenure migrate --db postgresql://postgres@db.example/tenure",
        "tenure migrate --from sqlite:///book.db --to postgresql://tenure_app:PASSWORD@db.example/tenure",
    )


def migrate(
    request: Request,
    role: Annotated[str, typer.Option("--role", metavar="NAME", help="PostgreSQL: what the application logs in as.")] = "tenure_app",
    password: Annotated[
        str | None,
        typer.Option(
            "--password",
            metavar="TEXT",
            help=f"PostgreSQL: for that role; else {PASSWORD}, else one is made up for a new role.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="URL", help="Copy all of this database ...", show_default=False)] = None,
    target: Annotated[
        str | None, typer.Option("--to", metavar="URL", help="... into this one, which is set up already.", show_default=False)
    ] = None,
) -> int:
    """Set a database up, bring it up to date, or move all of it to another.

    A SQLite file is brought up to date by every command; this one says so. A PostgreSQL database takes an administrator's
    address: it gets the schema, the extension vector, and a role for the application for which tenants are walled in.
    To run it again changes nothing but what a newer Tenure brings.

    With --from and --to everything is copied, all of it or nothing, and the ledger of every scope is proved on the other side.
    Stop what writes to the first before. A scope that the second has already is an error.
    """
    if source or target:
        return _copy(request, source, target)
    from tenure.project import find_database, is_postgres

    place = find_database(request.db)
    if is_postgres(place.url):
        return _set_up(request, place.url, role, os.environ.get(PASSWORD) if password is None else password)
    path = database_file(place.url)
    if path is None:
        raise UserError("A database in memory needs no migration. Name a file or a PostgreSQL database: --db")
    if not is_there(path):
        raise UserError(f"There is no database at {path} yet. The first command that writes makes it.")
    from tenure.opening import open_store
    from tenure.stores.migrations import HEAD

    open_store(place.url).close()
    if request.as_json:
        request.terminal.document({"database": place.url, "schema": HEAD})
    else:
        request.terminal.say(f"{path} has schema {HEAD}, the newest.")
    return OK


def _set_up(request: Request, url: str, role: str, password: str | None) -> int:
    if find_spec("psycopg") is None:
        raise MissingExtra("PostgreSQL", extra="postgres")
    from tenure.stores.postgres_setup import set_up

    done = set_up(url, role=role, password=password)
    if find_spec("dbos") is not None:  # part of the same extra; without it nobody can put jobs in
        from tenure.workers.schema import prepare

        prepare(url, role)
    if request.as_json:
        request.terminal.document(asdict(done))
    else:
        _tell(request, done, given=password is not None)
    return OK


def _tell(request: Request, done: SetUp, *, given: bool) -> None:
    say = request.terminal.say
    if not done.before:
        say(f"Made schema {done.now}; every table is walled in by tenant.")
    elif done.before == done.now:
        say(f"Schema {done.now} is the newest; every table is walled in by tenant.")
    else:
        say(f"Brought the schema from {done.before} to {done.now}; every table is walled in by tenant.")
    if done.scrubbed:
        say("Wrote the tables anew: what had been forgotten is in their files no more.")
    say(f"{'Made' if done.role_made else 'Found'} the role {done.role}; it can read and write, and sees one tenant at a time.")
    if done.password:
        say("The address below holds the password that was made up for it. It is shown once: keep it.")
    else:
        what = "It has the password that was given" if given else "Its password is as before"
        say(f"{what}, and is not shown: put it into the address below, PGPASSWORD or ~/.pgpass.")
    say("For the application:")
    request.terminal.text(f"TENURE_DB={done.url}")


def _copy(request: Request, source: str | None, target: str | None) -> int:
    from tenure.project import database_url, without_password

    if not source or not target:
        raise UserError("To move a database takes both: --from sqlite:///book.db --to postgresql://tenure_app:PASSWORD@host/database")
    first, second = database_url(source), database_url(target)
    path = database_file(first)
    if path is not None and not is_there(path):
        raise UserError(f"There is no database at {path}. Name the one to copy: --from")
    if first == second:
        raise UserError(f"{without_password(first)} cannot be copied into itself. Name another with --to.")
    from tenure.stores.copying import copy

    out = _opened(first)
    try:
        into = _opened(second)
        try:
            done = copy(out, into, tell=request.terminal.for_now)
        finally:
            into.close()
    finally:
        out.close()
    return _tell_copied(request, done, without_password(second))


def _opened(url: str) -> Database:
    from tenure.opening import open_store

    store = open_store(url)
    if not hasattr(store, "transaction"):
        store.close()
        raise UserError("What is in memory cannot be copied. Name a SQLite file or a PostgreSQL database.")
    return store  # type: ignore[return-value]


def _tell_copied(request: Request, done: Copied, where: str) -> int:
    from tenure.project import is_postgres

    terminal = request.terminal
    if request.as_json:
        terminal.document({"to": where, "scopes": done.scopes, "rows": done.rows, "problems": done.problems})
    else:
        links = sum(done.scopes.values())
        terminal.say(f"Copied {counted(len(done.scopes), 'scope')} with {counted(sum(done.rows.values()), 'row')} to {where}.")
        if done.problems:
            for scope, problems in list(done.problems.items())[:12]:
                terminal.warn(f"{scope}: {problems[0]}")
            terminal.warn(f"The ledgers of {counted(len(done.problems), 'scope')} do not prove there. Keep the first database.")
        else:
            terminal.say(
                f"Proved there: {counted(links, 'delta')} of {counted(len(done.scopes), 'ledger')}, each chain whole and the same."
            )
            secret = " (with the password of the role)" if is_postgres(where) else ""
            terminal.say(f"Use it from now on{secret}: TENURE_DB={where}")
    return IN_PART if done.problems else OK
