"""Bringing a database to the schema this code reads. Alembic is imported only when there is work.

The schema's revision is one stored row (`alembic_version`); revisions are numbers, counted up.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from tenure.errors import SchemaMismatch, StoreError

HEAD = "0018"
"""The newest revision in `alembic/versions`; a test keeps it true."""


def revision_of(connection: Connection, url: str) -> str | None:
    """The revision a database stands at, or none for an empty one.

    Raises:
        StoreError: the database holds something else.
    """
    look = inspect(connection)
    names = {*look.get_table_names(), *look.get_view_names()}
    if not names:
        return None
    if "alembic_version" not in names or "installation" not in names:
        some = ", ".join(sorted(names)[:4])
        raise StoreError(f"Database {url} is not Tenure's: it holds other tables ({some}). Name another file with --db or TENURE_DB.")
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found is None:
        raise SchemaMismatch(url=url, found="without a number", expected=HEAD, newer=False)
    return str(found)


def check(url: str, found: str) -> bool:
    """Whether a database at this revision can be used as it is; false if it has to be brought up to date.

    Raises:
        SchemaMismatch: it was made by a newer Tenure, or by one this code knows nothing of.
    """
    if found == HEAD:
        return True
    if not found.isdigit() or int(found) > int(HEAD):
        raise SchemaMismatch(url=url, found=found, expected=HEAD, newer=found.isdigit())
    if not any((_folder() / "versions").glob(f"{found}_*.py")):
        raise SchemaMismatch(url=url, found=found, expected=HEAD, newer=False)
    return False


def upgrade(connection: Connection) -> None:
    """Run the missing migrations inside the connection's own transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_folder()))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _folder() -> Path:
    return Path(__file__).parent / "alembic"
