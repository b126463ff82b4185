"""Measurements: `tenure bench list` and `run`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UserError
from tenure.serving.cli import completion
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal
from tenure.serving.cli.request import INTERRUPTED, OK, Request, existing
from tenure.serving.cli.verbs import add_group, add_verb

if TYPE_CHECKING:
    from tenure.evaluation.benches import Bench


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "bench",
        "Measure what lessons and recall do, on your own or public data.",
        "tenure bench list",
        "tenure bench run recurrence --data runs.json",
        "tenure bench report results",
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
        "tenure bench run finer --data questions.jsonl --arms none,similar-cases,tenure --noise 0.2 --out results",
        "tenure bench run finer --data questions.jsonl --model openai:gpt-4o-mini --instances 100 --dry-run",
        store=False,
    )
    add_verb(group, "report", report, "tenure bench report results", store=False)


def list_(request: Request) -> int:
    """List what can be measured."""
    from tenure.evaluation.arms.listed import ARMS
    from tenure.evaluation.benches import BENCHES
    from tenure.evaluation.tasks.listed import TASKS

    if request.as_json:
        found: list[dict[str, Any]] = [
            {"name": bench.name, "measures": bench.measures, "needs_data": bench.needs_data, "data": bench.data, "command": bench.command}
            for bench in BENCHES.values()
        ]
        found += [
            {
                "name": task.name,
                "measures": task.measures,
                "needs_data": bool(task.file),
                "data": task.data,
                "command": task.command,
                "arms": list(task.arms),
                "keyless": task.keyless,
            }
            for task in TASKS.values()
        ]
        arms = [
            {"name": one.name, "about": one.about, "source": one.source, "keyless": one.make is not None, "lacks": one.lacks()}
            for one in ARMS.values()
        ]
        request.terminal.document({"benches": found, "arms": arms})
        return OK
    rows: list[Sequence[Cell]] = [(bench.name, bench.measures, _needs(bench)) for bench in BENCHES.values()]
    rows += [(task.name, task.measures, task.needs) for task in TASKS.values()]
    columns = [Column(title="bench", style="cyan"), Column(title="measures", wraps=True), Column(title="needs", wraps=True)]
    request.terminal.table(columns, rows)
    request.terminal.heading("\narms of tasks that compare memories (--arms)")
    listed: list[Sequence[Cell]] = [(one.name, one.about, one.source) for one in ARMS.values()]
    request.terminal.table([Column(title="arm", style="cyan"), Column(title="is", wraps=True), Column(title="from", wraps=True)], listed)
    request.terminal.say("Run one: tenure bench run NAME. Where such data comes from: docs/howto/measure.md")
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
        str | None,
        typer.Option(
            "--data", metavar="FILE", help="What to measure on: runs, a playbook, conversations or chats. tenure bench list says which."
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", min=1, help="Tokens of each context. Else the bench's own.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of random draws.")] = 0,
    questions: Annotated[
        str | None,
        typer.Option("--questions", metavar="FILE", help="The questions of recall-memaware, which has them in a file of their own."),
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
    arms: Annotated[
        str | None, typer.Option("--arms", metavar="A,B", help="Memories to compare (tasks). Else the task's own. See: tenure bench list")
    ] = None,
    orders: Annotated[int | None, typer.Option("--orders", metavar="N", min=1, help="Orders of the stream (tasks). Else 5.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", help="PROVIDER:MODEL that acts and writes (tasks that models act in).")
    ] = None,
    noise: Annotated[float | None, typer.Option("--noise", metavar="P", min=0, max=1, help="Share of labels that lie (tasks).")] = None,
    instances: Annotated[int | None, typer.Option("--instances", metavar="N", min=1, help="Of each order (tasks). Else all.")] = None,
    train: Annotated[
        int | None, typer.Option("--train", metavar="N", min=0, help="Instances held out for arms that learn before the stream (tasks).")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Processes at once (tasks). Else one for each processor.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="An OpenAI-compatible server for --model. Else the provider's own.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option("--max-usd", metavar="N", help="US dollars that --model may cost in all. One cap is needed.")
    ] = None,
    max_calls: Annotated[int | None, typer.Option("--max-calls", metavar="N", help="Calls of --model in all.")] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", metavar="N", help="Tokens of --model in all, in and out.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what --model would take: calls, tokens, dollars. Asks no model, needs no key.")
    ] = False,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="train, dev, test_normal or test_challenge (appworld). Else dev.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", metavar="N", min=1, help="Steps for one task (appworld). Else 30.")] = None,
) -> int:
    """Run a measurement. Nothing is written to your database."""
    from tenure.evaluation.bench_arms import MEANINGS
    from tenure.evaluation.benches import Asked
    from tenure.evaluation.tasks.listed import TASKS

    asking: dict[str, object] = {"model": model, "base-url": base_url, "max-usd": max_usd, "max-calls": max_calls}
    asking |= {"max-tokens": max_tokens, "dry-run": dry_run or None}
    of_tasks: dict[str, object] = {"arms": arms, "orders": orders, "noise": noise, "instances": instances, "train": train}
    of_tasks |= {"workers": workers, "dataset": dataset, "steps": steps, **asking}
    if name in TASKS:
        from tenure.serving.cli.bench_tasks import foresee_task, run_task, show_expected, show_task, spending_of

        foreign: dict[str, object] = {"questions": questions, "sizes": sizes, "embedder": embedder, "params": params}
        foreign |= {"records": records, "names": names}
        for option, value in foreign.items():
            if value is not None:
                raise UserError(f"Task '{name}' does not take --{option}. See: tenure bench run --help")
        options = {"noise": noise, "instances": instances, "train": train, "budget": budget, "dataset": dataset, "steps": steps}
        if dry_run:
            with request.terminal.progress("Rehearsing", 100) as bar:
                expected = foresee_task(
                    name,
                    data=data,
                    arms=arms,
                    orders=orders,
                    seed=seed,
                    model=model,
                    base_url=base_url,
                    options=options,
                    tell=_telling(bar),
                )
            if request.as_json:
                request.terminal.document(expected)
            else:
                show_expected(request.terminal, expected)
            return OK
        spending = spending_of(model, base_url=base_url, usd=max_usd, calls=max_calls, tokens=max_tokens)
        try:
            with request.terminal.progress("Comparing", 100) as bar:
                compared = run_task(
                    request,
                    name,
                    data=data,
                    arms=arms,
                    orders=orders,
                    seed=seed,
                    spending=spending,
                    options=options,
                    out=out,
                    workers=workers,
                    tell=_telling(bar),
                )
        except KeyboardInterrupt:
            folder = out or (f"bench-{name}" if spending is not None else "")
            goes_on = (
                f"What is done stands in {folder}; the same command goes on from there."
                if folder
                else "With --out DIR, what is done would have been kept."
            )
            request.terminal.say(f"Interrupted. {goes_on}")
            return INTERRUPTED
        if request.as_json:
            request.terminal.document(compared)
        else:
            show_task(request.terminal, compared)
        return OK
    bench = _bench(name)
    for option, value in of_tasks.items():
        if value is not None:
            raise UserError(f"Bench '{name}' does not take --{option}: its arms are fixed. Tasks that take it: {', '.join(TASKS)}")
    path = existing([data])[0] if data is not None else None
    if path is not None and os.path.isdir(path) and not bench.takes_folder:
        raise UserError(f"'{data}' is a folder. Bench '{name}' needs a file{' with ' * bool(bench.data)}{bench.data}: {bench.command}")
    if path is None and bench.needs_data:
        raise UserError(f"Bench '{name}' needs {bench.data}: {bench.command}")
    if path is not None and not os.path.isdir(path) and bench.takes_folder and not bench.takes_file:
        raise UserError(f"'{data}' is a file. Bench '{name}' needs {bench.data}: {bench.command}")
    given = {
        "embedder": embedder,
        "params": str(existing([params])[0]) if params is not None else None,
        "records": records,
        "names": names,
    }
    with request.terminal.progress("Measuring", 100) as bar:
        found = bench.run(
            Asked(
                data=path,
                questions=existing([questions])[0] if questions is not None else None,
                budget=budget,
                seed=seed,
                sizes=_sizes(sizes),
                out=Path(out) if out is not None else None,
                params={name: str(value) for name, value in given.items() if value is not None},
                tell=_telling(bar),
            )
        )
    if request.as_json:
        request.terminal.document(found)
        return OK
    _show(request.terminal, found, replace(bench, figures={**MEANINGS, **bench.figures}))
    return OK


def report(
    request: Request,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="What --out of `tenure bench run` named.", show_default=False)],
) -> int:
    """Write the page of a comparison anew, and show its figures."""
    from tenure.serving.cli.bench_tasks import report as report_of

    return report_of(request, folder)


def _telling(bar: Callable[[int, str], None]) -> Callable[[float, str], None]:
    """Tells a bar how far a measurement is, and about how long the rest takes if it goes on like this."""
    began = time.monotonic()

    def tell(share: float, said: str) -> None:
        taken = time.monotonic() - began
        left = taken / share - taken if share > 0 and taken > TOLD_AFTER_S else 0.0
        bar(round(100 * share), said + (f", about {_long(left)} to go" if left >= 1 else ""))

    return tell


TOLD_AFTER_S = 3.0
"""Seconds after which what is left can be told from what is done."""


def _long(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _show(terminal: Terminal, found: Mapping[str, Any], bench: Bench) -> None:
    """Single figures in one table, each figure that has parts in one of its own."""
    plain = {name: value for name, value in found.items() if not isinstance(value, Mapping) and value != ""}
    columns = [Column(title="figure"), Column(title="value", right=True, wraps=True), Column(title="meaning", wraps=True)]
    terminal.table(columns, [(name, _shown(value, name), bench.figures.get(name, "")) for name, value in plain.items()])
    for name, value in found.items():
        if isinstance(value, Mapping) and value:
            terminal.heading(f"\n{name}: {bench.figures.get(name, '')}")
            _show_parts(terminal, value, bench)


def _show_parts(terminal: Terminal, parts: Mapping[str, Any], bench: Bench) -> None:
    """A figure by its parts; where each part has figures of its own, a column for each."""
    meaning = Column(title="meaning", wraps=True, optional=True)
    if not all(isinstance(part, Mapping) for part in parts.values()):
        columns = [Column(title="figure"), Column(title="value", right=True), meaning]
        terminal.table(columns, [(name, _shown(value, name), bench.figures.get(name, "")) for name, value in parts.items()])
        return
    flat = {name: _flat(part) for name, part in parts.items()}
    figures = list(dict.fromkeys(figure for part in flat.values() for figure in part))
    rows: list[Sequence[Cell]] = []
    words: list[str] = []
    for figure in figures:
        if any(isinstance(part.get(figure), str) for part in flat.values()):  # too wide for a column, and most often the same in all
            words.append(f"{figure}: {', '.join(dict.fromkeys(str(part[figure]) for part in flat.values() if figure in part))}")
            continue
        name, _, _ = figure.partition(" (")
        values = (_shown(part[figure], name) if figure in part else "" for part in flat.values())
        rows.append((figure, *values, bench.figures.get(name, "")))
    titles = [f"{int(name):,}" if name.isdigit() else name for name in flat]
    terminal.table([Column(title="figure"), *(Column(title=title, right=True) for title in titles), meaning], rows)
    for said in words:
        terminal.text(said)


def _flat(part: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """Figures by name, those inside a group as `name (group)`."""
    found: dict[str, Any] = {}
    for name, value in part.items():
        if isinstance(value, Mapping):
            found |= _flat(value, name)
        else:
            found[f"{name} ({group})" if group else name] = value
    return found


def _needs(bench: Bench) -> str:
    if not bench.needs_data:
        return "nothing"
    options = bench.command.partition(f" {bench.name} ")[2]
    return f"{options}: {bench.data}"


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
    from tenure.evaluation.tasks.listed import TASKS

    if name not in BENCHES:
        near = difflib.get_close_matches(name, [*BENCHES, *TASKS], 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise UserError(f"There is no bench '{name}'.{hint} See: tenure bench list")
    return BENCHES[name]


def _shown(value: Any, name: str = "") -> str:
    from tenure.evaluation.bench_arms import MEANINGS as ARM_FIGURES

    if value is None:
        # An embedder or a tokenizer is there or not; what an arm lacks has no meaning there; anything else is a share of nothing.
        return "none" if name in ("embedder", "tokenizer") else "-" if name in ARM_FIGURES else "none to count"
    if isinstance(value, Sequence) and not isinstance(value, str):
        if value and all(isinstance(one, str) for one in value):
            return f"{len(value)} in {Path(value[0]).parent}"
        return ", ".join(_shown(one, name) for one in value) or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
