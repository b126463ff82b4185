"""A whole database copied into another one, of whatever kind: every table, every tenant, all of it or nothing.

Rows go from one transaction into another, a portion at a time. Their numbers are given anew, and the text index is made anew
from what came in. Afterwards the ledger of every scope is read and proved on the other side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Table, insert, select

from tenure.errors import StoreError
from tenure.ports import Reading
from tenure.stores import rows
from tenure.stores.dialect import Dialect
from tenure.stores.expressions import is_shortened, whole_key
from tenure.stores.sql_writing import SqlWriting

AT_ONCE = 500
"""Rows that are held in memory at once, of one table."""


class Database(Protocol):
    """A store in a SQL database, as far as copying needs it."""

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        ...

    def tenants(self) -> Sequence[str]:
        """Tenants that have something there, sorted."""
        ...

    def transaction(self, tenant: str, *, turn: str = "") -> AbstractContextManager[Connection]:
        """A transaction of a tenant; with a turn it writes."""
        ...

    def enter(self, connection: Connection, tenant: str) -> None:
        """Go on in a transaction as another tenant."""
        ...

    def dialect(self, tenant: str) -> Dialect:
        """What is the database's own."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...

    def reading(self, scope: str) -> AbstractContextManager[Reading]:
        """A look at a scope."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What was copied.

    Attributes:
        scopes: that came over, sorted, with the number of links in the ledger of each.
        rows: by table, of those that had any.
        problems: what does not fit afterwards, by scope; empty if every ledger is whole, and the same on both sides.
    """

    scopes: Mapping[str, int]
    rows: Mapping[str, int]
    problems: Mapping[str, Sequence[str]]


def copy(source: Database, target: Database, *, tenants: Sequence[str] | None = None, tell: Callable[[str], None] | None = None) -> Copied:
    """Copy all of a database into another one. What is in the other stays; nothing comes where something is.

    Args:
        source: is not changed. What is written to it meanwhile may be left behind, tenant by tenant.
        target: another database, of the present schema.
        tenants: whose rows; none takes all.
        tell: is told each step as it begins.

    Raises:
        StoreError: a scope is there already, or either database cannot be used. Nothing was copied then.
    """
    say = tell or (lambda _: None)
    counted: dict[str, int] = {}
    tenants = source.tenants() if tenants is None else tenants
    with target.transaction("", turn="copying") as into:
        for tenant in tenants:
            say(f"copying {tenant}")
            target.enter(into, tenant)
            with source.transaction(tenant) as out:
                scopes = _scopes(out, tenant)
                taken = sorted(set(scopes) & set(_scopes(into, tenant)))
                if taken:
                    raise StoreError(
                        f"{target.url} has something in {len(taken)} of these scopes already, such as '{taken[0]}'. "
                        "Nothing was copied. Copy into a database without them, or forget them there: tenure forget --all --scope ..."
                    )
                for table in rows.metadata.sorted_tables:
                    if "tenant" in table.c:
                        counted[table.name] = counted.get(table.name, 0) + _copy_table(out, into, table, tenant)
            for scope in scopes:
                SqlWriting(into, scope, target.dialect(tenant)).index_anew()
    say("proving the ledgers")
    links, problems = _proved(source, target, tenants)
    return Copied(scopes=links, rows={name: count for name, count in counted.items() if count}, problems=problems)


def _scopes(connection: Connection, tenant: str) -> list[str]:
    t = rows.scopes
    return list(connection.execute(select(t.c.scope).where(t.c.tenant == tenant).order_by(t.c.scope)).scalars())


def _copy_table(out: Connection, into: Connection, table: Table, tenant: str) -> int:
    """Copy the rows of a tenant; how many there were."""
    columns = [column for column in table.columns if column.name != "n"]
    wanted = select(*columns).where(table.c.tenant == tenant)
    if "n" in table.c:
        wanted = wanted.order_by(table.c.n)
    count = 0
    for portion in _portions(out, wanted):
        into.execute(insert(table), [_whole(table, dict(row)) for row in portion])
        count += len(portion)
    return count


def _portions(out: Connection, wanted: Any) -> Iterator[Sequence[Mapping[str, Any]]]:
    found = out.execute(wanted, execution_options={"stream_results": True, "yield_per": AT_ONCE})
    for some in found.mappings().partitions(AT_ONCE):
        yield [dict(row) for row in some]


def _whole(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """A row with its keys as they were, which a database may keep as the digests of long ones."""
    if table is rows.ledger and is_shortened(row["delta_key"]):
        row["delta_key"] = whole_key(row["delta_key"], row["payload"])
    if table is rows.lessons and is_shortened(row["about"]):
        row["about"] = str(json.loads(row["body"]).get("about", ""))
    if table is rows.runs and is_shortened(row["task_key"]):
        row["task_key"] = str(json.loads(row["body"])["task"].get("key", ""))
    return row


def _proved(source: Database, target: Database, tenants: Sequence[str]) -> tuple[dict[str, int], dict[str, Sequence[str]]]:
    """Links by scope, and what is wrong: a chain that is broken, or that is not the one of the source."""
    links: dict[str, int] = {}
    problems: dict[str, Sequence[str]] = {}
    for tenant in tenants:
        with source.transaction(tenant) as out:
            scopes = _scopes(out, tenant)
        for scope in scopes:
            with source.reading(scope) as there, target.reading(scope) as here:
                wrong = list(here.verify_ledger())
                links[scope] = here.counts()["deltas"]
                before, now = ([(one.version, one.writer, one.digest) for one in look.ledger()] for look in (there, here))
                if before != now:
                    wrong.append("its ledger is not the one that was copied: something was written to one of the two meanwhile")
                if there.counts() != here.counts():
                    wrong.append("it does not hold as much as the one that was copied: something was written to one of the two meanwhile")
            if wrong:
                problems[scope] = wrong
    return links, problems
