"""The tables in PostgreSQL: made, brought up to date, and each walled in by tenant, whoever adds it.

Every table with a column `tenant` gets row-level security that its owner cannot step round either. The policy compares the
column with what the transaction says whose it is: a query that forgets its condition finds nothing of others, and nothing at
all where nobody was named.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import Connection

from tenure.errors import StoreError
from tenure.stores import migrations
from tenure.stores.postgres_session import SCHEMA

BASELINE = "0013"
"""The revision whose tables are made at once; migrations go on from there."""

POLICY = "tenant_wall"
"""The name of the policy of each table."""

KEYS = frozenset(
    {"tenant", "scope", "id", "n", "run_id", "lesson_id", "status", "state", "kind", "role", "model", "writer", "digest", "key", "stem"}
)
"""Columns of which the server may keep samples in its statistics. Of all others it keeps none, for what is forgotten would stay there."""

_WALL = "tenant = current_setting('tenure.tenant', true)"

_TENANT_TABLES = (
    "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, "
    f"EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = '{POLICY}'), "
    "(SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) "
    "FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid "
    f"WHERE s.nspname = '{SCHEMA}' AND c.relkind IN ('r', 'p') AND a.attname = 'tenant' AND NOT a.attisdropped ORDER BY c.relname"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a database stands for the role that looks.

    Attributes:
        revision: of the schema; none where there is none.
        extensions: the schema with the extension `vector`.
        problems: why it must not be used as it is; each the end of a sentence.
    """

    revision: str | None
    extensions: str
    problems: tuple[str, ...]


def standing(connection: Connection) -> Standing:
    """How a database stands, looked at inside a transaction."""
    cursor = connection.connection.cursor()
    found = cursor.execute(f"SELECT to_regclass('{SCHEMA}.alembic_version') IS NOT NULL").fetchone()
    revision = None
    if found is not None and found[0]:
        stamped = cursor.execute(f"SELECT version_num FROM {SCHEMA}.alembic_version").fetchone()
        revision = str(stamped[0]) if stamped is not None else None
    where = cursor.execute(
        "SELECT s.nspname FROM pg_extension e JOIN pg_namespace s ON s.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    problems: list[str] = []
    if revision is not None and where is None:
        problems.append("the extension vector is not installed; run, with an administrator's address: tenure migrate")
    role = cursor.execute("SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
    if role is not None and (role[1] or role[2]):
        which = "a superuser" if role[1] else "exempt from row-level security"
        problems.append(
            f"the login '{role[0]}' is {which}, so that tenants would not be walled in. "
            "Log in as the role that tenure migrate makes, such as postgresql://tenure_app:PASSWORD@host/database"
        )
    open_tables = unwalled(cursor)
    if revision is not None and open_tables:
        problems.append(
            f"tables without a wall between tenants: {', '.join(open_tables)}; run, with an administrator's address: tenure migrate"
        )
    return Standing(revision=revision, extensions=str(where[0]) if where else "public", problems=tuple(problems))


def unwalled(cursor: Any) -> list[str]:
    """Tables with a tenant that lack row-level security, its force over the owner, or the one policy."""
    return [
        str(name)
        for name, enabled, forced, has_policy, policies in cursor.execute(_TENANT_TABLES).fetchall()
        if not (enabled and forced and has_policy and policies == 1)
    ]


def bring_up_to_date(connection: Connection, now: datetime, shown: str) -> str | None:
    """Make the tables, or run the missing migrations, and wall every table in; the revision before, none where there was none.

    Args:
        connection: of whoever owns the tables, inside a transaction, with the schema first on its path.
        now: the present moment.
        shown: the address, for messages.

    Raises:
        SchemaMismatch: a newer Tenure made it.
    """
    cursor = connection.connection.cursor()
    before = standing(connection).revision
    if before is None:
        cursor.execute((Path(migrations.__file__).parent / "alembic" / f"postgres_{BASELINE}.sql").read_text(encoding="utf-8"))
    if before is None or not migrations.check(shown, before):
        migrations.upgrade(connection)
    if cursor.execute("SELECT writer FROM installation").fetchone() is None:
        cursor.execute("INSERT INTO installation (writer, created) VALUES (%s, %s)", (os.urandom(10).hex(), now.isoformat()))
    wall_in(cursor)
    return before


def wall_in(cursor: Any) -> None:
    """Give every table with a tenant its wall, and every text the order of its bytes and no samples in the statistics."""
    texts = cursor.execute(
        "SELECT c.relname, a.attname, l.collname, a.attstattarget, t.typname FROM pg_class c "
        "JOIN pg_namespace s ON s.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        "JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation l ON l.oid = a.attcollation "
        "WHERE s.nspname = %s AND c.relkind = 'r' AND c.relname <> 'alembic_version' AND t.typname IN ('text', 'varchar', 'vector') "
        "ORDER BY c.relname, a.attnum",
        (SCHEMA,),
    ).fetchall()
    for name, column, collation, target, kind in texts:
        named = {"table": sql.Identifier(SCHEMA, name), "column": sql.Identifier(column)}
        if kind != "vector" and collation != "C":
            cursor.execute(sql.SQL('ALTER TABLE {table} ALTER COLUMN {column} TYPE text COLLATE "C"').format(**named))
        if column not in KEYS and target != 0:
            cursor.execute(sql.SQL("ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0").format(**named))
        if kind == "vector":
            # Beside the rest of its row as long as that fits a page: every one of them is read for a question.
            cursor.execute(sql.SQL("ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE MAIN").format(**named))
    # After the texts: the type of a column that a policy names cannot be changed.
    for name, enabled, forced, has_policy, _ in cursor.execute(_TENANT_TABLES).fetchall():
        table = sql.Identifier(SCHEMA, name)
        if not enabled:
            cursor.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))
        if not forced:
            cursor.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(table))
        if not has_policy:
            policy = "CREATE POLICY {} ON {} USING (" + _WALL + ") WITH CHECK (" + _WALL + ")"
            cursor.execute(sql.SQL(policy).format(sql.Identifier(POLICY), table))


def let_in(cursor: Any, role: str) -> None:
    """Give a role the rights that the application needs, and no more."""
    named = {"schema": sql.Identifier(SCHEMA), "role": sql.Identifier(role)}
    version = int(cursor.execute("SHOW server_version_num").fetchone()[0])
    rights = [
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
        "REVOKE INSERT, UPDATE, DELETE ON {schema}.alembic_version FROM {role}",
        "REVOKE UPDATE, DELETE ON {schema}.tenants FROM {role}",
    ]
    if version >= 170_000:
        # To write a table anew after something was forgotten takes this; before 17 an owner alone could.
        rights.append("GRANT MAINTAIN ON ALL TABLES IN SCHEMA {schema} TO {role}")
    for right in rights:
        cursor.execute(sql.SQL(right).format(**named))


def make_extension(cursor: Any) -> None:
    """Install pgvector where it is not there.

    Raises:
        StoreError: the server does not have it, or the role may not.
    """
    try:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as exc:
        raise StoreError(
            "The server does not have the extension vector (pgvector), the only one that Tenure needs. "
            "Install it there: https://github.com/pgvector/pgvector#installation"
        ) from exc
    except psycopg.errors.InsufficientPrivilege as exc:
        raise StoreError(
            "This login may not install the extension vector. Have an administrator run in this database: CREATE EXTENSION vector"
        ) from exc
