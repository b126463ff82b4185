"""`tenure bench run` for tasks with arms, and `tenure bench report`: figures arm by arm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tenure.errors import UserError
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal
from tenure.serving.cli.request import OK, Request, existing


def run_task(
    request: Request,
    name: str,
    *,
    data: str | None,
    arms: str | None,
    orders: int | None,
    seed: int,
    model: str | None,
    options: Mapping[str, Any],
    out: str | None,
    workers: int | None,
    tell: Callable[[float, str], None],
) -> dict[str, Any]:
    """Run a task with arms and give its figures. Options that the task does not take are an error.

    Raises:
        UserError: an option is not the task's.
    """
    from tenure.evaluation.harness.comparison import ORDERS, compare
    from tenure.evaluation.tasks.listed import TASKS

    listed = TASKS[name]
    given = {option: value for option, value in options.items() if value is not None}
    foreign = [option for option in given if option not in listed.options]
    if foreign:
        raise UserError(f"Task '{name}' does not take --{foreign[0]}. It takes: {', '.join(f'--{one}' for one in listed.options)}.")
    path = existing([data])[0] if data is not None else None
    if path is not None and path.is_dir():
        raise UserError(f"'{data}' is a folder. Task '{name}' needs a file with {listed.data}: {listed.command}")
    return compare(
        name,
        data=path,
        arms=[one.strip() for one in (arms or "").split(",") if one.strip()],
        orders=orders or ORDERS,
        seed=seed,
        model=model,
        options=given,
        out=Path(out) if out is not None else None,
        workers=workers,
        tell=tell,
    )


def report(request: Request, folder: str) -> int:
    """Write the report of a comparison anew from its folder, and show its figures."""
    from tenure.evaluation.harness.comparison import RESULT_FILE
    from tenure.evaluation.harness.report import write_report

    path = Path(folder) / RESULT_FILE
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise UserError(
            f"'{folder}' holds no finished comparison: {path} cannot be read. Run one: tenure bench run TASK --out {folder}"
        ) from exc
    if not isinstance(result, dict) or "arms" not in result:
        raise UserError(f"'{path}' is no result of a comparison. Run one: tenure bench run TASK --out {folder}")
    result["report"] = str(write_report(result, Path(folder)))
    if request.as_json:
        request.terminal.document(result)
        return OK
    show_task(request.terminal, result)
    return OK


def show_task(terminal: Terminal, result: Mapping[str, Any]) -> None:
    """The figures of a comparison: a row for each arm."""
    arms: Mapping[str, Mapping[str, Any]] = result["arms"]
    rows: list[Sequence[Cell]] = [
        (
            result["shown"][arm],
            _figure(one["score"]),
            _range(one["score_low"], one["score_high"]),
            _figure(one["gain"]),
            _figure(one["tokens"], "{:,.0f}"),
            _figure(one["cached_share"], "{:.0%}"),
            _figure(one["calls"], "{:,.0f}"),
            _figure(one["usd"], "{:.2f}"),
            _figure(one["seconds"], "{:,.1f}"),
        )
        for arm, one in arms.items()
    ]
    right = ("score", "95 %", "gain", "tokens", "cached", "calls", "USD", "seconds")
    terminal.table([Column(title="arm", style="cyan"), *(Column(title=title, right=True) for title in right)], rows)
    if result["paired"]:
        terminal.heading("\ntenure's score less that of the other arms, order by order")
        pairs = [
            (
                result["shown"][arm],
                _figure(one["difference"], "{:+.3f}"),
                _range(one["low"], one["high"]),
                _figure(one["p_t"]),
                _figure(one["p_flips"]),
            )
            for arm, one in result["paired"].items()
        ]
        titles = ("difference", "95 %", "p, paired t", "p, sign flips")
        terminal.table([Column(title="arm", style="cyan"), *(Column(title=title, right=True) for title in titles)], pairs)
    for arm, why in result["skipped"].items():
        terminal.text(f"{arm} was skipped: {why}")
    about = ", ".join(f"{name} {value}" for name, value in result["about"].items())
    terminal.text(f"\n{result['orders']} orders; {about}.")
    terminal.text(result["said"])
    terminal.text(f"Again: {result['command']}")
    if result.get("report"):
        terminal.text(f"Report: {result['report']}")


def _figure(value: float | None, form: str = "{:.3f}") -> str:
    return "-" if value is None else form.format(value)


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"
