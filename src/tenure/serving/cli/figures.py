"""Aggregates on the terminal: tables of numbers, their observations, and what changed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenure.errors import UserError
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, local_time, one_line
from tenure.serving.cli.request import OK, Request

if TYPE_CHECKING:
    from tenure.learning.history import Blame, TableDifference
    from tenure.playbook.aggregates import Aggregate, Observation
    from tenure.playbook.delta import Observe, Revoke
    from tenure.ports import Reading

SHOWN = 50
"""Observations of one table on the terminal; `--json` has all."""


def find_table(reading: Reading, named: str) -> str | None:
    """The aggregate that an id, its beginning, or a name stands for; none if no table is meant.

    Raises:
        UserError: it could be one of several.
    """
    known = reading.aggregate_names()
    text = named.strip()
    if text in known:
        return text
    if not text or reading.resolve(text):
        return None
    found = [one for one, (section, name) in known.items() if one.startswith(text) or text in (name, f"{section}/{name}")]
    if len(found) > 1:
        raise UserError(f"'{text}' could be {len(found)} tables: {', '.join(found[:6])}. Give more of the id.")
    return found[0] if found else None


def show_tables(request: Request, tables: Sequence[Aggregate]) -> None:
    """Tables one after the other."""
    from tenure.playbook.tables import cells, header, rest

    for table in tables:
        titles = header(table)
        columns = [Column(title=titles[0]), *(Column(title=title, right=not title.startswith("last")) for title in titles[1:])]
        request.terminal.text(f"\n{table.section}: {table.name}  {table.id}\n")
        request.terminal.table(columns, [(one_line(first, 48), *others) for first, *others in (cells(table, row) for row in table.rows)])
        more = rest(table)
        if more:
            request.terminal.say(f"{more}: {request.command(f'show {table.id} --json')}")


def show_one(request: Request, reading: Reading, aggregate: str) -> int:
    """A table with its observations, revoked ones too."""
    tables = reading.aggregates(ids=(aggregate,), most_rows=10_000 if request.as_json else SHOWN)
    if request.as_json:
        found = reading.observations(aggregate=aggregate)
        request.terminal.document(tables_json(tables) | {"observations": [observation_json(one) for one in found], "scope": reading.scope})
        return OK
    show_tables(request, tables)
    found = reading.observations(aggregate=aggregate, limit=SHOWN)
    titles = ("observation", "key", "value", "run", "from", "when", "")
    rows: list[Sequence[Cell]] = [
        (
            one.id,
            one_line(one.key, 60),
            " ".join(filter(None, (_number(one), one.unit))),
            f"{one.run} #{one.step}" if one.step >= 0 else one.run,
            one_line(one.origin or one.author, 40),
            local_time(one.at),
            f"revoked: {one.reason}" if one.revoked else "",
        )
        for one in reversed(found)
    ]
    request.terminal.text("\n")
    request.terminal.table([Column(title=title, wraps=title in ("key", "")) for title in titles], rows)
    if tables and tables[0].count > len(found):
        request.terminal.say(f"The latest {len(found)} of {tables[0].count:,}. All: {request.command(f'show {aggregate} --json')}")
    request.terminal.say(f"Who changed it, and when: {request.command(f'blame {aggregate}')}")
    return OK


def show_blame(request: Request, reading: Reading, aggregate: str, touch: Callable[[Blame], Sequence[Cell]]) -> int:
    """The deltas that touched a table, oldest first."""
    from tenure.learning.history import blame_aggregate

    found = blame_aggregate(reading, aggregate)
    section, name = reading.aggregate_names()[aggregate]
    if request.as_json:
        from tenure.serving.wire import blame_json

        said = {"aggregate": aggregate, "section": section, "name": name, "deltas": [blame_json(one) for one in found]}
        request.terminal.document(said | {"scope": reading.scope})
        return OK
    columns = [Column(title="version", right=True, style="cyan"), Column(title="when"), Column(title="by", wraps=True)]
    request.terminal.table([*columns, Column(title=f"what it did to {section}: {name}", wraps=True)], [touch(one) for one in found])
    return OK


def show_differences(terminal: Terminal, found: Sequence[TableDifference]) -> None:
    """How tables differ, as lines taken out and put in."""
    for one in found:
        old, new = one.before.splitlines(), one.after.splitlines()
        terminal.text(f"~ {one.section}: {one.name}  {one.id}\n")
        lines = [*(f"  - {line}" for line in old if line not in new), *(f"  + {line}" for line in new if line not in old)]
        terminal.text("\n".join(lines) + "\n")


def told(operation: Observe | Revoke) -> str:
    """An operation on observations in one line."""
    from tenure.playbook.delta import Observe

    if not isinstance(operation, Observe):
        ids = ", ".join(operation.ids[:3]) + (f" and {len(operation.ids) - 3:,} more" if len(operation.ids) > 3 else "")
        return " ".join(filter(None, ("REVOKE" if operation.revoked else "REVOKE (put back)", ids, one_line(operation.reason, 80))))
    where = "/".join(filter(None, (one_line(operation.section, 40), one_line(operation.name, 60), one_line(operation.key, 60))))
    said = " ".join(filter(None, (operation.value, operation.unit)))
    return f"OBSERVE {where}" + (f": {said}" if said else "") + (f" (columns {', '.join(operation.show)})" if operation.show else "")


def tables_json(tables: Sequence[Aggregate]) -> dict[str, Any]:
    """Tables for `--json`; numbers are texts, because JSON's own are not exact."""
    from tenure.playbook.aggregates import written

    return {
        "aggregates": [
            {
                "id": table.id,
                "section": table.section,
                "name": table.name,
                "show": list(table.show),
                "observations": table.count,
                "keys": table.keys,
                "rows": [
                    {
                        "key": row.key,
                        "unit": row.unit,
                        "count": row.count,
                        "sum": written(row.total),
                        "min": written(row.least),
                        "max": written(row.greatest),
                        "mean": written(row.mean),
                        "median": written(row.median),
                        "last": [written(one) for one in row.last],
                    }
                    for row in table.rows
                ],
            }
            for table in tables
        ]
    }


def observation_json(one: Observation) -> dict[str, Any]:
    """An observation for `--json`."""
    return {
        "id": one.id,
        "key": one.key,
        "value": _number(one),
        "unit": one.unit,
        "run": one.run,
        "step": one.step,
        "origin": one.origin,
        "author": one.author,
        "at": one.at,
        "delta": one.delta,
        "revoked": one.revoked,
        "reason": one.reason,
    }


def differences_json(found: Sequence[TableDifference]) -> dict[str, Any]:
    """How tables differ, for `--json`; nothing where none do, so that what others read stays as it was."""
    if not found:
        return {}
    return {
        "aggregates": [{"id": one.id, "section": one.section, "name": one.name, "before": one.before, "after": one.after} for one in found]
    }


def _number(one: Observation) -> str:
    from tenure.playbook.aggregates import written

    return written(one.value)
