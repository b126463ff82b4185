"""Measurements: `tenure bench list` and `run`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UserError
from tenure.serving.cli import completion
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell
from tenure.serving.cli.request import OK, Request, existing
from tenure.serving.cli.verbs import add_group, add_verb

if TYPE_CHECKING:
    from tenure.evaluation.benches import Bench


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "bench",
        "Measure what lessons do, on your own runs.",
        "tenure bench list",
        "tenure bench run recurrence --data runs.json",
        default=list_,
        store=False,
    )
    add_verb(group, "list", list_, "tenure bench list", store=False)
    add_verb(
        group,
        "run",
        run,
        "tenure bench run recurrence --data runs.json",
        "tenure bench run recurrence --data runs.json --budget 500 --json",
        "tenure bench run recall-memaware --data sessions --questions questions.json",
        "tenure bench run scale --sizes 1000,10000 --out plots",
        store=False,
    )


def list_(request: Request) -> int:
    """List what can be measured."""
    from tenure.evaluation.benches import BENCHES

    if request.as_json:
        found = [{"name": bench.name, "measures": bench.measures, "needs_data": bench.needs_data} for bench in BENCHES.values()]
        request.terminal.document({"benches": found})
        return OK
    rows: list[Sequence[Cell]] = [(bench.name, bench.measures, "--data FILE" if bench.needs_data else "") for bench in BENCHES.values()]
    request.terminal.table([Column(title="bench", style="cyan"), Column(title="measures", wraps=True), Column(title="needs")], rows)
    return OK


def run(
    request: Request,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="What to measure. See: tenure bench list", show_default=False, autocompletion=completion.bench_names
        ),
    ],
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="The runs to measure on, in any form that learn reads.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", min=1, help="Tokens of each context. Else the bench's own.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of random draws.")] = 0,
    questions: Annotated[
        str | None, typer.Option("--questions", metavar="FILE", help="Questions, for benches that have them in a file of their own.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", metavar="N,N", help="Numbers of lessons, for benches that measure growth. Else 1000,10000,100000."),
    ] = None,
    out: Annotated[str | None, typer.Option("--out", metavar="DIR", help="A folder for plots, made if it is not there.")] = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", metavar="NAME", help="Search by meaning with it; none for keywords alone. Else the one installed."),
    ] = None,
    params: Annotated[
        str | None, typer.Option("--params", metavar="FILE", help="Other parameters of a made-up world, as a JSON object (drift).")
    ] = None,
    records: Annotated[int | None, typer.Option("--records", metavar="N", min=0, help="Records an attacker plants (poison).")] = None,
    names: Annotated[int | None, typer.Option("--names", metavar="K", min=1, help="Names the attacker uses (poison).")] = None,
) -> int:
    """Run a measurement. Nothing is written to your database."""
    from tenure.evaluation.benches import Asked

    bench = _bench(name)
    path = existing([data])[0] if data is not None else None
    if path is not None and os.path.isdir(path) and not bench.takes_folder:
        raise UserError(f"'{data}' is a folder. Name a file with runs.")
    if path is None and bench.needs_data:
        raise UserError(f"Bench '{name}' needs runs to measure on: tenure bench run {name} --data FILE")
    asked = Asked(
        data=path,
        questions=existing([questions])[0] if questions is not None else None,
        budget=budget,
        seed=seed,
        sizes=_sizes(sizes),
        out=Path(out) if out is not None else None,
        params={
            name: str(value)
            for name, value in (
                ("embedder", embedder),
                ("params", str(existing([params])[0]) if params is not None else None),
                ("records", records),
                ("names", names),
            )
            if value is not None
        },
    )
    with request.terminal.progress("Measuring", None):
        found = bench.run(asked)
    if request.as_json:
        request.terminal.document(found)
        return OK
    request.terminal.table(
        [Column(title="figure"), Column(title="value", right=True), Column(title="meaning", wraps=True)],
        [(key, _shown(value), bench.figures.get(key, "")) for key, value in found.items()],
    )
    return OK


def _sizes(given: str | None) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in (given or "").replace(" ", "").split(",") if part)
    except ValueError:
        sizes = (0,)
    if any(size < 10 for size in sizes):
        raise UserError(f"--sizes takes numbers of lessons from 10 on, such as 1000,10000; not '{given}'")
    return sizes


def _bench(name: str) -> Bench:
    import difflib

    from tenure.evaluation.benches import BENCHES

    if name not in BENCHES:
        near = difflib.get_close_matches(name, BENCHES, 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise UserError(f"There is no bench '{name}'.{hint} See: tenure bench list")
    return BENCHES[name]


def _shown(value: Any) -> str:
    if value is None:
        return "none to count"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
