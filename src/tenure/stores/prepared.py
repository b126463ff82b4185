"""Statements that are compiled once and run on the driver's own cursor.

What a delta costs is mostly the number of statements times what each costs on its way to the driver;
this way leaves the library's for those that every delta needs. They are still built by the library,
in the words of the database at hand; values go in as parameters, and rows come back as plain tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, bindparam, insert, select

from tenure.stores.expressions import KeyText, short_key

Params = Mapping[str, object]


def fetch(connection: Connection, statement: Any, params: Params) -> list[tuple[Any, ...]]:
    """The rows of a select, as tuples in the order of its columns."""
    cursor = connection.connection.cursor()
    try:
        text, names, kept = _compiled(statement, connection.dialect)
        cursor.execute(text, _values(params, names, kept))
        return list(cursor.fetchall())
    finally:
        cursor.close()


def fetch_among(
    connection: Connection, columns: tuple[Any, ...], wall: Mapping[str, str], name: str, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    """Columns of the rows of one scope in which a column has any of some values; at least one value."""
    count = 1 << (len(values) - 1).bit_length()
    # Filled up with the last value, so that few statements serve all numbers of values.
    given = {f"among_{place}": values[min(place, len(values) - 1)] for place in range(count)}
    return fetch(connection, _among(columns, name, count), {**wall, **given})


def change(connection: Connection, statement: Any, rows: Sequence[Params]) -> int:
    """Run an update or delete once for each set of values; how many rows of the table that met."""
    if not rows:
        return 0
    cursor = connection.connection.cursor()
    try:
        text, names, kept = _compiled(statement, connection.dialect)
        cursor.executemany(text, [_values(row, names, kept) for row in rows])
        return int(cursor.rowcount)
    finally:
        cursor.close()


def put(connection: Connection, table: Any, rows: Sequence[Params]) -> None:
    """Insert rows that have the same columns."""
    if rows:
        change(connection, _insertion(table, tuple(rows[0])), rows)


def of_scope(table: Any) -> list[Any]:
    """The condition that a row is of one scope, which comes in when the statement is executed."""
    return [table.c[name] == bindparam(name) for name in ("tenant", "scope")]


@lru_cache(maxsize=64)
def _insertion(table: Any, names: tuple[str, ...]) -> Any:
    return insert(table).values({name: bindparam(name) for name in names})


@lru_cache(maxsize=128)
def _among(columns: tuple[Any, ...], name: str, count: int) -> Any:
    table = columns[0].table
    return select(*columns).where(*of_scope(table), table.c[name].in_([bindparam(f"among_{place}") for place in range(count)]))


@lru_cache(maxsize=512)
def _compiled(statement: Any, dialect: Dialect) -> tuple[str, tuple[str, ...] | None, tuple[str, ...]]:
    """The text of a statement, the order of its parameters where the database numbers them, and those that are long keys there."""
    made = statement.compile(dialect=dialect)
    keys = tuple(name for name, bind in made.binds.items() if isinstance(bind.type, KeyText)) if dialect.name == "postgresql" else ()
    return str(made), tuple(made.positiontup) if made.positional else None, keys


def _values(params: Params, names: tuple[str, ...] | None, keys: tuple[str, ...]) -> Any:
    if names is not None:
        return tuple(params[name] for name in names)
    long = {name: short_key(said) for name in keys if isinstance(said := params[name], str)}
    return {**params, **long} if long else params
