"""A database of an earlier schema is brought up to date without losing anything."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tenure import Add, Delta, Retire
from tenure.stores.migrations import HEAD
from tenure.stores.sqlite import open_sqlite


def test_sizes_are_counted_from_the_lessons_of_an_earlier_schema(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    store = open_sqlite(url)
    with store.writing("local/a") as work:
        work.admit(Delta("01", [Add("s", "one", id="a-1"), Add("s", "two", id="a-2"), Add("t", "three", id="a-3")]))
        work.admit(Delta("02", [Retire("a-2")]))
    with store.reading("local/a") as look:
        before = dict(look.sizes())
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    for gone in ("sizes", "observations", "aggregates", "sums"):
        connection.execute(f"DROP TABLE {gone}")
    connection.executescript("DROP INDEX ix_lessons_support; UPDATE alembic_version SET version_num = '0002';")
    connection.close()
    store = open_sqlite(url)
    with store.reading("local/a") as look:
        assert dict(look.sizes()) == before
        assert before["s"][0] == 1
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    assert ("ix_lessons_support",) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
    connection.close()
