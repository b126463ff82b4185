"""Connections to PostgreSQL: the address, the pool, how a transaction begins, and errors of the driver as Tenure's own.

A transaction begins with one message that says whose rows it may see, how long it may take and, for a writer, whose turn it is.
All of it holds for the transaction alone, so that connections can be pooled in front of the server too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.abc import AdaptContext, Buffer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import StrDumperUnknown, TextLoader
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool

from tenure.errors import StoreBusy, StoreError, TenureError, UnstorableValue
from tenure.stores.unstorable import unstorable_text

SCHEMA = "tenure"
"""The schema that holds all tables, so that other programs' tables in a database are none of Tenure's."""

BUSY_S = 60.0
"""How long a writer waits for another of its scope before it gives up, in seconds."""

STATEMENT_S = 300.0
"""How long one statement may take, in seconds. None of Tenure's takes so long unless something is wrong."""

CONNECT_S = 10
"""How long the server is waited for, in seconds, unless the address says otherwise."""

POOL, MORE, POOL_WAIT_S = 8, 24, 30.0
"""Connections that are kept open, how many more at most, and how long a free one is waited for, in seconds."""

FIRST_NAMES = ("postgresql://", "postgres://", "postgresql+psycopg://")
"""How addresses begin."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is.

    Attributes:
        conninfo: for the driver, with the password if there is one.
        shown: for people, without it.
        user: who logs in; empty if the driver finds out.
        database: its name; empty as above.
    """

    conninfo: str
    shown: str
    user: str
    database: str


def address(url: str) -> Address:
    """What an address says.

    Raises:
        StoreError: it cannot be read. The message does not repeat it, for it may hold a password.
    """
    try:
        said = {
            name: str(value) for name, value in conninfo_to_dict(f"postgresql://{url.partition('://')[2]}").items() if value is not None
        }
        if not all(one.isdigit() for one in said.get("port", "5432").split(",")) or "@" in said.get("host", "").removeprefix("@"):
            raise psycopg.ProgrammingError  # a sign of a password that was not written as %40: what follows may be a part of it
    except psycopg.Error as exc:
        raise StoreError(
            "The PostgreSQL address cannot be read. Write it like postgresql://tenure_app:PASSWORD@host:5432/database, "
            "with signs such as @ or / in a password as %40 or %2F."
        ) from exc
    given = {"connect_timeout": str(CONNECT_S), "application_name": "tenure"} | said
    return Address(conninfo=make_conninfo("", **given), shown=shown_url(said), user=said.get("user", ""), database=said.get("dbname", ""))


def shown_url(said: dict[str, str], password: str = "") -> str:
    """An address of its parts, without a password but for one that is given."""
    host, port = said.get("host", ""), said.get("port", "")
    folder = host.startswith(("/", "@"))
    who = quote(said.get("user", ""), safe="") + (f":{quote(password, safe='')}" if password else "")
    where = ("" if folder else host) + (f":{port}" if port and not folder else "")
    asked = [f"host={quote(host, safe='/')}"] if folder else []
    asked += [f"port={port}"] if port and folder else []
    asked += [f"{name}={quote(said[name], safe='/')}" for name in ("sslmode", "sslrootcert") if name in said]
    return f"postgresql://{f'{who}@' if who else ''}{where}/{quote(said.get('dbname', ''), safe='')}{'?' if asked else ''}{'&'.join(asked)}"


# -- texts ------------------------------------------------------------------------------------------------
# A text of PostgreSQL holds every character but NUL. So NUL is written as \x01 \x01, and \x01 as \x01 \x02: texts that differ
# stay different, and their order stays the same.


class _TextOut(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer:
        if "\x00" in obj or "\x01" in obj:
            obj = obj.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01")
        return obj.encode()


class _TextIn(TextLoader):
    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)

    def load(self, data: Buffer) -> str:
        said = str(data, "utf-8")
        return said.replace("\x01\x01", "\x00").replace("\x01\x02", "\x01") if "\x01" in said else said


def connect(conninfo: str) -> psycopg.Connection[Any]:
    """A connection that leaves transactions to whoever uses it, and takes texts with any character."""
    connection = psycopg.connect(conninfo, autocommit=True)
    if connection.info.encoding != "utf-8":
        connection.execute("SET client_encoding TO 'UTF8'")
    connection.adapters.register_dumper(str, _TextOut)
    for name in ("text", "varchar"):
        connection.adapters.register_loader(name, _TextIn)
    return connection


# -- transactions -----------------------------------------------------------------------------------------


def make_engine(place: Address, *, pool: int = POOL) -> Engine:
    """The pool of connections to a database; none is opened yet."""
    return create_engine(
        "postgresql+psycopg://",
        creator=lambda: connect(place.conninfo),
        poolclass=QueuePool,
        pool_size=pool,
        max_overflow=MORE,
        pool_timeout=POOL_WAIT_S,
        pool_use_lifo=True,
        hide_parameters=True,
        use_native_hstore=False,
    )


def begin(
    connection: Connection,
    *,
    tenant: str,
    turn: str = "",
    write: bool = False,
    extensions: str = "public",
    busy_s: float = BUSY_S,
    statement_s: float = STATEMENT_S,
) -> None:
    """Begin a transaction of a tenant; by one message to the server.

    Args:
        connection: outside of one.
        tenant: whose rows can be seen and written; empty for nobody's.
        turn: what only one transaction at a time may do, such as to write to a scope; empty waits for no one.
        write: readers see one state of the database all along; writers what was committed before each statement, which inside
            their turn is the same.
        extensions: the schema with the extension `vector`.
        busy_s, statement_s: how long a turn, and a statement, may take.
    """
    raw = connection.connection.driver_connection
    assert raw is not None
    raw.execute(_opening(tenant, turn, write, extensions, busy_s, statement_s))


@lru_cache(maxsize=4_096)
def _opening(tenant: str, turn: str, write: bool, extensions: str, busy_s: float, statement_s: float) -> bytes:
    """What begins a transaction, in UTF-8; a backslash in a name is written so that no setting of the connection reads it otherwise."""
    level = "READ COMMITTED, READ WRITE" if write else "REPEATABLE READ, READ ONLY"
    said: list[sql.Composable] = [
        sql.SQL("BEGIN ISOLATION LEVEL ") + sql.SQL(level),
        sql.SQL("SET LOCAL search_path TO {}, {}").format(sql.Identifier(SCHEMA), sql.Identifier(extensions)),
        sql.SQL("SET LOCAL tenure.tenant TO {}").format(sql.Literal(tenant)),
        sql.SQL("SET LOCAL lock_timeout TO {}").format(sql.Literal(f"{max(int(busy_s * 1000), 1)}ms")),
        sql.SQL("SET LOCAL statement_timeout TO {}").format(sql.Literal(f"{int(max(statement_s, busy_s + 1) * 1000)}ms")),
    ]
    if write:
        said.append(sql.SQL("SET LOCAL synchronous_commit TO on"))
    if turn:
        said.append(sql.SQL("SELECT pg_advisory_xact_lock({})").format(sql.Literal(turn_number(turn))))
    return sql.SQL("; ").join(said).as_bytes(None)


def turn_number(turn: str) -> int:
    """The number under which a turn is taken."""
    return int.from_bytes(hashlib.sha256(f"tenure {turn}".encode()).digest()[:8], "big", signed=True)


# -- errors -----------------------------------------------------------------------------------------------

LOST = ("08", "57P01", "57P02", "57P03")
_BUSY = {
    "55P03": "another process wrote to it for longer than the wait allows",
    "40P01": "two processes waited for each other",
    "40001": "another process changed the same rows",
    "57014": "a statement took longer than it may",
    "53300": "the server has no connection left",
}
_UNSTORABLE = {
    "22001": "a text that is longer than its column",
    "22003": "a number beyond the range of its column",
    "22007": "a moment that is none",
    "22008": "a moment beyond the range of dates",
    "22021": "a character that its encoding does not have",
    "22P02": "a text in place of a number",
    "22P03": "a value that cannot be read",
    "22P05": "a character that its encoding does not have",
}
"""Errors that follow from a value that was given, in words of our own: the server's may quote it."""

_SPACES = re.compile(r"\s+")


@contextmanager
def translated(place: Address) -> Iterator[None]:
    """Errors of the driver as Tenure's own; none of them holds a password or a row's text."""
    try:
        yield
    except PoolTimeout as exc:
        raise StoreBusy(f"Database {place.shown}: all {POOL + MORE} connections were in use for {POOL_WAIT_S:g} s. Try again.") from exc
    except (DBAPIError, psycopg.Error) as exc:
        found = exc.orig if isinstance(exc, DBAPIError) else exc
        if not isinstance(found, psycopg.Error):
            raise
        raise as_ours(found, place) from exc
    except UnicodeEncodeError as exc:
        raise unstorable_text(exc) from exc


def as_ours(exc: psycopg.Error, place: Address) -> TenureError:
    """Tenure's error for one of the driver: a `UserError` where a value that was given is to blame."""
    state = exc.sqlstate or ""
    said = _SPACES.sub(" ", (exc.diag.message_primary or str(exc)).strip()).removeprefix("connection failed: ")
    said = said.partition(" Is the server running")[0]
    if state in _BUSY:
        return StoreBusy(f"Database {place.shown} was busy: {_BUSY[state]} ({said}). Nothing was written; try again.")
    if state in ("42P01", "3F000", "42703", "42883") or (state == "42704" and "vector" in said):
        return StoreError(
            f"Database {place.shown} lacks a part of Tenure's schema ({said}). Run, with an administrator's address: tenure migrate"
        )
    if state == "42501":
        if "row-level security" in said:
            return StoreError(f"Database {place.shown} refused a row of another tenant ({said}). Nothing was written.")
        return StoreError(
            f"Role '{place.user or 'of the login'}' has not the rights that Tenure needs in {place.shown} ({said}). "
            "Run, with an administrator's address: tenure migrate"
        )
    if not state or state.startswith(("08", "28", "57P")) or state == "3D000":
        found, reason = _unreachable(said, state, place)
        error = StoreError(found)
        error.reason = reason
        return error
    what = _UNSTORABLE.get(state, "")
    if state == "54000" and "index row" in said:
        what = "a name or an id of so many characters (up to 500 can be kept)"
    if what:
        return UnstorableValue(what)
    if isinstance(exc, psycopg.IntegrityError | psycopg.DataError):
        return StoreError(f"Database {place.shown} refused what was written ({state}: {said}). Nothing was written.")
    return StoreError(f"Database {place.shown} cannot be used ({state}: {said}).")


def _unreachable(said: str, state: str, place: Address) -> tuple[str, str]:
    """What to say of a database that cannot be had, and a word for logs."""
    if "password" in said or state == "28P01":
        return (
            f"Database {place.shown} refused the login: the password of role '{place.user or 'of the login'}' is wrong or missing. "
            "Put the right one into the address, PGPASSWORD or ~/.pgpass. An administrator gives the application's role another: "
            "tenure migrate --password"
        ), "password"
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return (
            f"Database {place.shown} does not exist on its server. Make it, such as by: createdb {place.database or 'tenure'}",
            "no_database",
        )
    if "does not exist" in said or state == "28000":
        return f"Database {place.shown} refused the login ({said}). Run, with an administrator's address: tenure migrate", "login"
    if state.startswith("57P") or "closed" in said or "terminat" in said or "lost" in said:
        return (
            f"The connection to database {place.shown} broke ({said}). What was being written is kept whole or not at all; "
            "sending it again does no harm."
        ), "broken"
    return f"Database {place.shown} cannot be reached ({said}). Is the server running, and are host and port right?", "unreachable"
