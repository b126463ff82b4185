"""Which databases of projects this machine made, or a person agreed to: hooks use no others.

A repository can carry a `.tenure/tenure.db` of somebody else's, whose lessons would go before an agent unasked. So what Tenure
makes is recorded in the user's data folder, by place and by the moment at which the database was made, which no export holds.
Light: a hook asks this at every event.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tenure.errors import SettingError
from tenure.project import user_data_folder


def belongs_to_a_project(database: Path) -> bool:
    """Whether a database lies where projects have theirs. One that a person names elsewhere needs no record."""
    return (database.name, database.parent.name) == ("tenure.db", ".tenure")


def is_known(database: Path, made: str | None) -> bool:
    """Whether hooks may use a database.

    Args:
        database: its file, which may not be there yet.
        made: the moment at which it says it was made; none where it cannot be read: then any record of the place will do.
    """
    if not belongs_to_a_project(database):
        return True
    if not os.path.lexists(database):
        # What will be made is ours, unless a link leads to somebody's folder.
        return os.path.realpath(database) == os.path.abspath(database)
    try:
        with open(_record(database), encoding="utf-8") as stream:
            held = stream.read().split("\n")
    except (OSError, ValueError, SettingError):
        return False
    return made is None or held[0] == made


def remember(database: Path, made: str) -> None:
    """Record that hooks may use a database; on disk on return.

    Raises:
        OSError: it cannot be recorded.
        SettingError: the home folder is not known.
    """
    if not belongs_to_a_project(database):
        return
    record = _record(database)
    record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = record.with_name(f".{record.name}.{os.getpid()}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(f"{made}\n{database}\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(new, record)


def _record(database: Path) -> Path:
    # Both: a link to a database that is known is a way to reach it that nobody agreed to.
    places = f"{os.path.abspath(database)}\n{os.path.realpath(database)}"
    return user_data_folder() / "known" / hashlib.sha256(places.encode("utf-8", "surrogateescape")).hexdigest()[:32]
