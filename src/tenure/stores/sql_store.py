"""What a store in a SQL database says beside its looks at scopes: which scopes there are, and what they spent."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import Connection, exists, insert, or_, select, update

from tenure.ports import Usage
from tenure.stores import rows
from tenure.stores.scopes import tenant


def scopes(connection: Connection, of: str | None) -> list[str]:
    """Scopes with a delta, a run or a memory, sorted; of one tenant, or of all that the transaction can see."""
    held = rows.scopes.c.version > 0
    written = rows.memory_files.c.layer.not_like("memory.%")  # what Tenure notes there for itself is nobody's memory
    beside = [
        exists().where(table.c.tenant == rows.scopes.c.tenant, table.c.scope == rows.scopes.c.scope, *more)
        for table, *more in ((rows.runs,), (rows.memory_entries,), (rows.memory_files, written))
    ]
    wanted = select(rows.scopes.c.scope).where(or_(held, *beside))
    if of is not None:
        wanted = wanted.where(rows.scopes.c.tenant == of)
    return sorted(connection.execute(wanted).scalars())


def spent(connection: Connection, scope: str, day: str | None) -> dict[str, Usage]:
    """What a scope used by day, or on one day alone."""
    t = rows.spending
    wanted = select(t).where(t.c.tenant == tenant(scope), t.c.scope == scope)
    if day is not None:
        wanted = wanted.where(t.c.day == day)
    return {
        found.day: Usage(
            calls=found.calls,
            input_tokens=found.input_tokens,
            output_tokens=found.output_tokens,
            cached_tokens=found.cached_tokens,
            cost_usd=Decimal(found.cost_usd) if found.priced else None,
        )
        for found in connection.execute(wanted)
    }


def spend(connection: Connection, scope: str, day: str, before: Usage, usage: Usage) -> None:
    """Write what a scope used on a day, given what it had used before."""
    t = rows.spending
    total = before + usage
    values = {
        "calls": total.calls,
        "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens,
        "cached_tokens": total.cached_tokens,
        "cost_usd": str(total.cost_usd or 0),
        "priced": total.cost_usd is not None,
    }
    mine = (t.c.tenant == tenant(scope), t.c.scope == scope, t.c.day == day)
    if connection.execute(update(t).where(*mine).values(**values)).rowcount == 0:
        connection.execute(insert(t).values(tenant=tenant(scope), scope=scope, day=day, **values))
