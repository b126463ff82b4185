"""Tables of figures for a task: which, and which of their rows."""

from __future__ import annotations

from tenure.playbook.aggregates import Aggregate
from tenure.playbook.tables import Tables, tables_text
from tenure.ports import Reading
from tenure.terms import question, search_words

FIGURES_SHARE = 0.15
"""The largest share of a budget that tables of figures may take."""

FIGURES_TOKENS = 800
"""The most that they may take, whatever the budget."""

TABLES_LOOKED_AT = 20
"""How many tables are read for one context, those that share words with the task first."""

ROWS_SHOWN = 12
"""Rows of one table."""

LONGEST_KEY = 4
"""Words of the task in a row that are looked up as the key of a row."""


def tables_for(reading: Reading, task: str, room: int) -> Tables:
    """The scope's figures, those first whose names share words with the task; rows that the task names before others.

    Args:
        reading: the scope.
        task: the input, in any script.
        room: tokens there are for them, estimated.
    """
    if room <= 0:
        return Tables()
    known = reading.aggregate_names()
    asked = set(question(task).words)
    shared = {one: len(asked.intersection(search_words(f"{section} {name}"))) for one, (section, name) in known.items()}
    chosen = sorted(known, key=lambda one: (-shared[one], known[one]))[:TABLES_LOOKED_AT]
    said = task.split()[:200]
    keys = {" ".join(said[at : at + length]).strip(".,;:?!\"'()") for at in range(len(said)) for length in range(1, LONGEST_KEY + 1)}
    own = reading.aggregates(ids=chosen, most_rows=ROWS_SHOWN, keys=keys) if chosen else ()
    # Tables of one name in several scopes stand side by side: figures of different scopes are not added up, and none hides another.
    tables = [("", table) for table in own]
    tables += reading.inherited_aggregates(most_rows=ROWS_SHOWN, keys=keys)

    def order(placed: tuple[int, tuple[str, Aggregate]]) -> tuple[int, bool, bool, str, str, int]:
        nearness, (scope, table) = placed
        said = len(asked.intersection(search_words(f"{table.section} {table.name}")))
        return (-said, bool(scope), not any(row.key in keys for row in table.rows), table.section, table.name, nearness)

    ordered = [placed for _, placed in sorted(enumerate(tables), key=order)]
    return tables_text([table for _, table in ordered], room, scopes=[scope for scope, _ in ordered])
