"""Setting a PostgreSQL database up, by an administrator: schema, extension, and the role that the application logs in as."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tenure.errors import StoreError
from tenure.stores import migrations, postgres_scrubbing
from tenure.stores.postgres_schema import bring_up_to_date, let_in, make_extension
from tenure.stores.postgres_session import SCHEMA, address, connect, make_engine, shown_url, translated, turn_number

ROLE = "tenure_app"
"""The role of the application, unless another is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """What was done.

    Attributes:
        url: for the application; with the password only if it was made up here.
        role: of the application.
        role_made: whether it is new.
        password: made up here; empty if one was given, or the role was there.
        before, now: revisions of the schema; `before` is empty where there was none.
        scrubbed: whether what had been forgotten was taken out of the files, which the application had been unable to do.
    """

    url: str
    role: str
    role_made: bool
    password: str
    before: str
    now: str
    scrubbed: bool = False


def set_up(url: str, *, role: str = ROLE, password: str | None = None, now: Callable[[], datetime] | None = None) -> SetUp:
    """Make what is missing and bring the rest up to date; all of it or nothing. To do it again changes nothing.

    Args:
        url: an administrator's address: who owns the tables, may make roles and install the extension `vector`.
        role: for the application: neither superuser nor exempt from row-level security.
        password: for the role; none makes one up if the role is new, and else leaves the one it has.
        now: the clock; none takes the system's.

    Raises:
        SchemaMismatch: a newer Tenure set it up.
        StoreError: it cannot be reached, or the login may not; the message says what is missing.
    """
    place = address(url)
    engine = make_engine(place, pool=1)
    try:
        with translated(place), engine.connect() as connection, connection.begin():
            raw = connection.connection.driver_connection
            assert raw is not None
            cursor = raw.cursor()
            cursor.execute("BEGIN; SET LOCAL synchronous_commit TO on")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (turn_number("set up"),))
            cursor.execute("SELECT set_config('tenure.tenant', '', true), set_config('search_path', %s, true)", (f"{SCHEMA}, public",))
            made_extension = cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone()
            if made_extension is None:
                make_extension(cursor)
            where = cursor.execute(
                "SELECT s.nspname FROM pg_extension e JOIN pg_namespace s ON s.oid = e.extnamespace WHERE e.extname = 'vector'"
            ).fetchone()
            cursor.execute("SELECT set_config('search_path', %s, true)", (f"{SCHEMA}, {where[0]}",))
            cursor.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
            before = bring_up_to_date(connection, (now or (lambda: datetime.now(UTC)))(), place.shown)
            made, secret = _role(cursor, role, password)
            let_in(cursor, role)
            cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(where[0]), sql.Identifier(role)))
            waiting = postgres_scrubbing.is_unscrubbed(cursor)
        scrubbed = False
        if waiting:
            with translated(place):
                scrubbed = not postgres_scrubbing.scrub(place.conninfo)
    finally:
        engine.dispose()
    said = {name: str(value) for name, value in conninfo_to_dict(place.conninfo).items() if value is not None}
    shown = shown_url({**said, "user": role}, secret)
    return SetUp(url=shown, role=role, role_made=made, password=secret, before=before or "", now=migrations.HEAD, scrubbed=scrubbed)


def restrict(url: str, schema: str, role: str) -> None:
    """Leave a role the rights to read and write rows of a schema of another library, and nobody else any.

    Args:
        url: an administrator's address.
        schema: its name.
        role: the application's.

    Raises:
        StoreError: the database cannot be reached, or the login may not.
    """
    place = address(url)
    named = {"schema": sql.Identifier(schema), "role": sql.Identifier(role)}
    with translated(place), connect(place.conninfo) as connection, connection.transaction():
        for right in (
            "REVOKE ALL ON SCHEMA {schema} FROM PUBLIC",
            "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC",
            "REVOKE CREATE ON SCHEMA {schema} FROM {role}",
            "REVOKE TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA {schema} FROM {role}",
            "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} REVOKE TRUNCATE, REFERENCES, TRIGGER ON TABLES FROM {role}",
        ):
            connection.execute(sql.SQL(right).format(**named))


def _role(cursor: Any, role: str, password: str | None) -> tuple[bool, str]:
    """Make the role of the application, or look whether it is fit; whether it is new, and its password if that was made up here."""
    found = cursor.execute("SELECT rolsuper, rolbypassrls, rolname = current_user FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
    name = sql.Identifier(role)
    if found is None:
        secret = secrets.token_urlsafe(24) if password is None else ""
        made = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}")
        try:
            cursor.execute(made.format(name, sql.Literal(secret or password)))
        except psycopg.errors.InsufficientPrivilege as exc:
            raise StoreError(
                f"This login may not make the role '{role}'. Have an administrator make it (CREATE ROLE {role} LOGIN), "
                "or name one that is there: --role"
            ) from exc
        return True, secret
    if found[0] or found[1]:
        raise StoreError(
            f"Role '{role}' is {'a superuser' if found[0] else 'exempt from row-level security'}, so that tenants would not be walled in. "
            "Name another for the application: --role tenure_app"
        )
    if password is not None:
        cursor.execute(sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(name, sql.Literal(password)))
    return False, ""
