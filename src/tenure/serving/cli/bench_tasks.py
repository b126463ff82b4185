"""`tenure bench run` for tasks with arms, and `tenure bench report`: figures arm by arm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenure.errors import UserError
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted
from tenure.serving.cli.request import OK, Request, existing

if TYPE_CHECKING:
    from tenure.evaluation.harness.spending import Spending

FEW_ORDERS = 5
"""Orders from which on an interval over them says something."""

LEGEND = (
    "gain: score less that of the same arm reset before each instance, as a share of what was left to gain. tokens: that memory put "
    "before the agent, by instance. cached: what of them a prefix cache would have, or had. seconds: of processor time, by order."
)


def run_task(
    request: Request,
    name: str,
    *,
    data: str | None,
    arms: str | None,
    orders: int | None,
    seed: int,
    spending: Spending | None,
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

    return compare(
        name,
        data=_file(name, data),
        arms=_names(arms),
        orders=orders or ORDERS,
        seed=seed,
        spending=spending,
        options=_options(name, options),
        out=Path(out) if out is not None else None,
        workers=workers,
        tell=tell,
    )


def spending_of(model: str | None, *, base_url: str | None, usd: float | None, calls: int | None, tokens: int | None) -> Spending | None:
    """Which model is asked, and what it may use; none where there is none.

    Raises:
        UserError: a model without a cap, or a cap without a model.
    """
    from tenure.evaluation.harness.spending import Spending

    if model is None:
        given = {"--base-url": base_url, "--max-usd": usd, "--max-calls": calls, "--max-tokens": tokens}
        for option, value in given.items():
            if value is not None:
                raise UserError(f"{option} is about a model, and none is named: --model PROVIDER:MODEL")
        return None
    money = Decimal(str(usd)) if usd is not None else None
    return Spending(model=model, base_url=base_url or "", usd=money, calls=calls, tokens=tokens)


def foresee_task(
    name: str,
    *,
    data: str | None,
    arms: str | None,
    orders: int | None,
    seed: int,
    model: str | None,
    base_url: str | None,
    options: Mapping[str, Any],
    tell: Callable[[float, str], None],
) -> dict[str, Any]:
    """What a task with a model is expected to take. Options that the task does not take are an error.

    Raises:
        UserError: an option is not the task's, no model is named, or there is no such provider.
    """
    from tenure.evaluation.harness.comparison import ORDERS, foresee
    from tenure.providers.models import check_provider

    if model is None:
        raise UserError("--dry-run says what a model would take, and none is named: --model PROVIDER:MODEL")
    check_provider(model, base_url)
    return foresee(
        name,
        model=model,
        data=_file(name, data),
        arms=_names(arms),
        orders=orders or ORDERS,
        seed=seed,
        options=_options(name, options),
        tell=tell,
    )


def show_expected(terminal: Terminal, found: Mapping[str, Any]) -> None:
    """What a comparison is expected to take: a row for each arm, and how it was worked out."""
    rows: list[Sequence[Cell]] = [_expected_row(arm, one) for arm, one in found["arms"].items()]
    rows += [_expected_row("arms reset before each instance", found["twins"]), _expected_row("in all", found["total"])]
    right = ("calls", "tokens in", "tokens out", "USD")
    terminal.table([Column(title="arm", style="cyan"), *(Column(title=title, right=True) for title in right)], rows)
    for arm, why in found["skipped"].items():
        terminal.text(f"{arm} would be skipped: {why}")
    assumed = found["assumed"]
    into, out = assumed["usd_per_million_in"], assumed["usd_per_million_out"]
    price = f"${into:g} a million tokens in, ${out:g} out" if into is not None else "its price is not known: multiply the tokens by yours"
    replies = ", ".join(f"{purpose} {tokens:,}" for purpose, tokens in assumed["reply_tokens"].items())
    size = f"{counted(found['orders'], 'order')} of {counted(assumed['instances'], 'instance')}"
    terminal.text(f"\n{size} with {found['model']}: {price}.")
    terminal.text(
        f"Rehearsed without the model: {counted(assumed['rehearsed'], 'instance')} of one order, with replies of usual length in "
        f"tokens ({replies}) and {assumed['right_share']:.0%} right answers; what lies beyond follows the line through them. Prompt "
        "caches, which make it cheaper, and thinking, which makes it dearer, are not counted."
    )
    usd = found["total"]["usd"]
    cap = f"--max-usd {max(1, round(1.5 * usd + 0.5))}" if usd is not None else f"--max-calls {round(1.5 * found['total']['calls'])}"
    terminal.text(f"Nothing was asked and nothing spent. To run it: the same command with {cap} in place of --dry-run")


def _expected_row(name: str, one: Mapping[str, Any]) -> Sequence[Cell]:
    return (name, f"{one['calls']:,}", f"{one['input_tokens']:,}", f"{one['output_tokens']:,}", _dollars(one["usd"]))


def _names(arms: str | None) -> list[str]:
    return [one.strip() for one in (arms or "").split(",") if one.strip()]


def _file(name: str, data: str | None) -> Path | None:
    """The file of a task.

    Raises:
        UserError: it is not there, or is a folder.
    """
    from tenure.evaluation.tasks.listed import TASKS

    path = existing([data])[0] if data is not None else None
    if path is not None and path.is_dir():
        raise UserError(f"'{data}' is a folder. Task '{name}' needs a file with {TASKS[name].data}: {TASKS[name].command}")
    return path


def _options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that were given.

    Raises:
        UserError: one is not the task's.
    """
    from tenure.evaluation.tasks.listed import TASKS

    listed = TASKS[name]
    given = {option: value for option, value in options.items() if value is not None}
    foreign = [option for option in given if option not in listed.options]
    if foreign:
        raise UserError(f"Task '{name}' does not take --{foreign[0]}. It takes: {', '.join(f'--{one}' for one in listed.options)}.")
    return given


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
            _dollars(one["usd"]),
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
    terminal.text(f"\n{counted(result['orders'], 'order')}; {about}.")
    if result["orders"] < FEW_ORDERS:
        terminal.text(
            f"Over so few orders an interval says little, and can go beyond 0 and 1. Take {FEW_ORDERS} or more: --orders {FEW_ORDERS}"
        )
    terminal.text(LEGEND)
    terminal.text(result["said"])
    if result.get("spent"):
        used = result["spent"]
        cost = _figure(used["usd"], "${:,.2f}") if used["usd"] is not None else "a price that is not known"
        terminal.text(f"{result['model']} took {used['calls']:,} calls and {used['tokens']:,} tokens in all, for {cost}.")
    terminal.text(f"Again: {result['command']}")
    if result.get("report"):
        terminal.text(f"Report: {result['report']}")


def _figure(value: float | None, form: str = "{:.3f}") -> str:
    return "-" if value is None else form.format(value)


def _dollars(value: float | None) -> str:
    return "under 0.01" if value is not None and 0 < value < 0.005 else _figure(value, "{:.2f}")


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"
