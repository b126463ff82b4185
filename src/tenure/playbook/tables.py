"""Aggregates as compact tables: for prompts, where every token counts, and for people.

A table changes with every observation, so in a prompt it stands behind the stable part. Text never becomes
structure: names, keys and units are defused, and the sign between columns is broken where it stands in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenure.playbook.aggregates import Aggregate, Row
from tenure.playbook.render import defused
from tenure.ranking import estimate_tokens

HEADING = "## figures"
WHOLE = "all"
"""What stands for the key of a row without one."""


def header(table: Aggregate) -> tuple[str, ...]:
    """The titles of a table's columns: name, with the unit if all rows share it, then the figures."""
    units = {row.unit for row in table.rows}
    unit = f" ({_cell(next(iter(units)))})" if len(units) == 1 and "" not in units else ""
    return (f"{_cell(table.name)}{unit}", *table.show)


def cells(table: Aggregate, row: Row) -> tuple[str, ...]:
    """One row as texts: its key, with the unit where rows differ in it, then the figures."""
    several = len({one.unit for one in table.rows}) > 1
    unit = f" ({_cell(row.unit) or 'no unit'})" if several else ""
    return (f"{_cell(row.key) or WHOLE}{unit}", *map(row.figure, table.show))


def rest(table: Aggregate) -> str:
    """What a table does not show, in a line; empty if it shows all."""
    left = table.keys - len(table.rows)
    return f"and {left:,} more of {table.keys:,} rows" if left > 0 else ""


def table_block(table: Aggregate, scope: str = "") -> str:
    """A table as a prompt shows it: columns separated by ` | `, without a closing line break.

    Args:
        table: the table.
        scope: where it comes from; empty for the scope that asks.
    """
    lines = [f"- {_cell(table.section)}{f' (of {_cell(scope)})' if scope else ''}: {' | '.join(header(table))}"]
    lines += [f"  {' | '.join(cells(table, row))}" for row in table.rows]
    return "\n".join([*lines, f"  {rest(table)}"] if rest(table) else lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of a context.

    Attributes:
        text: with a heading; empty if there are none.
        ids: of the aggregates in it, in order.
        tokens: its estimated size.
    """

    text: str = ""
    ids: tuple[str, ...] = ()
    tokens: int = 0


def tables_text(tables: Sequence[Aggregate], room: int, *, scopes: Sequence[str] = ()) -> Tables:
    """As many tables as fit, in their order; one that does not fit loses rows until it does, down to one.

    Args:
        tables: those that matter most first.
        room: tokens in all.
        scopes: where each comes from, empty for the scope that asks; none is all of that scope.
    """
    blocks: list[str] = []
    ids: list[str] = []
    left = room - estimate_tokens(f"{HEADING}\n")
    for table, scope in zip(tables, scopes or [""] * len(tables), strict=True):
        shown = table
        while len(shown.rows) > 1 and estimate_tokens(table_block(shown, scope)) + 1 > left:
            shown = table.narrowed(len(shown.rows) // 2)
        cost = estimate_tokens(table_block(shown, scope)) + 1
        if cost <= left:
            blocks.append(table_block(shown, scope))
            ids.append(table.id)
            left -= cost
    text = "\n".join((HEADING, *blocks)) + "\n" if blocks else ""
    return Tables(text=text, ids=tuple(dict.fromkeys(ids)), tokens=estimate_tokens(text))


def _cell(text: str) -> str:
    return defused(text).replace("\n", " ").replace("|", "¦")
