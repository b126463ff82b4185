"""A comparison from its options to its figures: what `tenure bench run TASK` does for tasks with arms."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.metrics import curves, figures, mean_score
from tenure.evaluation.harness.ports import Task
from tenure.evaluation.harness.report import PAGE
from tenure.evaluation.harness.runner import RECORDS, Tell, run_jobs
from tenure.evaluation.harness.sample import Sample
from tenure.evaluation.harness.spending import Spending, open_named, spent
from tenure.evaluation.harness.statistics import paired
from tenure.evaluation.tasks.listed import TASKS, ListedTask, data_of, open_task
from tenure.ports import LanguageModel
from tenure.version import __version__

ORDERS = 5
"""Orders of a stream, unless told otherwise."""

OURS = "tenure"

RESULT_FILE = "result.json"


def compare(
    name: str,
    *,
    data: Path | None = None,
    arms: Sequence[str] = (),
    orders: int = ORDERS,
    seed: int = 0,
    spending: Spending | None = None,
    model: LanguageModel | None = None,
    options: Mapping[str, Any] | None = None,
    out: Path | None = None,
    workers: int | None = None,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """Run a task with arms.

    Args:
        name: of the task.
        data: its file; none takes the one in the folder that `TENURE_DATA` names.
        arms: names; empty takes the task's own.
        orders: of the stream, 1 or more.
        seed: of orders, noise and draws.
        spending: which model acts and writes, and what it may use in all; none leaves both to plain code.
        model: takes the place of the one that `spending` names, in this process alone.
        options: others of the task.
        out: a folder for records and the report; none keeps nothing, and with a model takes `bench-TASK` here.
        workers: processes at once; none takes one for each processor.
        tell: told how far it is.

    Returns:
        For JSON: what was run, `arms` (figures by name), `skipped` (reasons by name), `paired` (tenure against each other arm),
        `curves`, `spent` (what the model used in this folder, the reset twins of arms included), and the `command` that repeats it.

    Raises:
        UserError: an arm or an option is not known, the data cannot be read, `out` holds another comparison, or the model is
            stopped by its cap or fails.
    """
    began = time.monotonic()
    listed = TASKS[name]
    named, keyless = spending.model if spending is not None else "", spending is None
    wanted, skipped = _arms(listed, arms, keyless=keyless)
    found = data_of(listed, data)
    task, given, wanted, skipped = _opened(listed, found, seed, options, wanted, skipped)
    if spending is not None:
        spending.check_price(model if model is not None else open_named(spending))
        out = out if out is not None else Path(f"bench-{name}")  # what was paid for is kept
    _check_folder(out)
    samples = run_jobs(task, given, wanted, orders=orders, seed=seed, spending=spending, model=model, out=out, workers=workers, tell=tell)
    used = spent(out / RECORDS) if spending is not None and out is not None else None
    result = {
        "task": name,
        "about": {**task.about},
        "orders": orders,
        "seed": seed,
        "model": named,
        "agent": named or task.agent(0, None).name,
        "writer": named or "transparent writer",
        "said": listed.said if keyless else listed.said_with_model,
        "arms": {arm: figures(samples[arm]) for arm in wanted},
        "shown": {arm: ARMS[arm].shown(keyless=keyless) for arm in (*wanted, *skipped)},
        "sources": {arm: ARMS[arm].source for arm in wanted},
        "skipped": skipped,
        "paired": _paired(samples, seed),
        "curves": {arm: curves(samples[arm]) for arm in wanted},
        "spent": {"calls": used.calls, "tokens": used.input_tokens + used.output_tokens, "usd": _money(used.cost_usd)} if used else None,
        "command": _command(listed, found, [*wanted, *skipped], orders, seed, spending, given, out),
        "tenure": __version__,
        "seconds": round(time.monotonic() - began, 1),
    }
    if out is not None:
        from tenure.evaluation.harness.report import write_report

        out.mkdir(parents=True, exist_ok=True)
        (out / RESULT_FILE).write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        result["report"] = str(write_report(result, out))
    return result


def _check_folder(out: Path | None) -> None:
    """That a comparison may write into a folder: one that is not there, or without a result of something else."""
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UserError(f"'{out}' is a file. Name a folder with --out; it is made if it is not there.")
    there = next((out / name for name in (RESULT_FILE, PAGE) if (out / name).exists()), None)
    if there is not None and not (out / RECORDS).is_dir():
        raise UserError(f"'{there}' is there already and no comparison made it. Name another folder with --out.")


def foresee(
    name: str,
    *,
    model: str,
    data: Path | None = None,
    arms: Sequence[str] = (),
    orders: int = ORDERS,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """What a comparison with a model is expected to take, without asking it. Arguments as for `compare`.

    Returns:
        For JSON: what `estimate` gives, with `task`, `model`, `orders` and `skipped`.

    Raises:
        UserError: as `compare`.
    """
    from tenure.evaluation.harness.estimate import estimate

    listed = TASKS[name]
    wanted, skipped = _arms(listed, arms, keyless=False)
    task, _, wanted, skipped = _opened(listed, data_of(listed, data), seed, options, wanted, skipped)
    found = estimate(task, wanted, model=model, orders=orders, seed=seed, tell=tell)
    return {"task": name, "model": model, "orders": orders, "skipped": skipped, **found}


def _opened(
    listed: ListedTask,
    data: Path | None,
    seed: int,
    options: Mapping[str, Any] | None,
    wanted: list[str],
    skipped: dict[str, str],
) -> tuple[Task, dict[str, Any], list[str], dict[str, str]]:
    """The task, the options it was opened with, and which arms run on it and which do not."""
    given = {**listed.options, **(options or {}), "seed": seed, "data": str(data.resolve()) if data is not None else ""}
    task = open_task(listed.name, given)
    if not task.training(0):
        hint = "hold some out with --train N" if "train" in listed.options else "this task has none"
        skipped = skipped | {arm: f"it learns from training instances; {hint}" for arm in wanted if ARMS[arm].epochs}
    left = [arm for arm in wanted if arm not in skipped]
    if not left:
        raise UserError(f"No arm is left to run. {' '.join(f'{arm}: {why}' for arm, why in skipped.items())}")
    return task, given, left, skipped


def _arms(listed: ListedTask, arms: Sequence[str], *, keyless: bool) -> tuple[list[str], dict[str, str]]:
    """Those that run, and those that do not with the reason."""
    named = list(dict.fromkeys(arms or listed.arms))
    unknown = [arm for arm in named if arm not in ARMS]
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], ARMS, 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise UserError(f"There is no arm '{unknown[0]}'.{hint} There are: {', '.join(ARMS)}")
    if keyless and not listed.keyless:
        raise UserError(f"Task '{listed.name}' needs a model: --model PROVIDER:MODEL and what it may cost, --max-usd N.")
    skipped = {arm: why for arm in named if (why := ARMS[arm].reason(with_model=not keyless))}
    return [arm for arm in named if arm not in skipped], skipped


def _paired(samples: Mapping[str, Sequence[Sequence[Sample]]], seed: int) -> dict[str, Any]:
    """Tenure's score less that of each other arm, order by order."""
    if OURS not in samples:
        return {}
    ours = [mean_score(order) for order in samples[OURS]]
    found: dict[str, Any] = {}
    for arm, orders in samples.items():
        pairs = [(one, other) for one, other in zip(ours, map(mean_score, orders), strict=True) if one is not None and other is not None]
        if arm == OURS or not pairs:
            continue
        held = paired([one for one, _ in pairs], [other for _, other in pairs], seed=seed)
        found[arm] = {
            "difference": _rounded(held.difference.mean),
            "low": _rounded(held.difference.low),
            "high": _rounded(held.difference.high),
            "p_t": _rounded(held.p_t),
            "p_flips": _rounded(held.p_flips),
            "orders": held.pairs,
        }
    return found


def _money(value: Decimal | None) -> float | None:
    return None if value is None else round(float(value), 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def _command(
    listed: ListedTask,
    data: Path | None,
    arms: Sequence[str],
    orders: int,
    seed: int,
    spending: Spending | None,
    given: Mapping[str, Any],
    out: Path | None,
) -> str:
    """What to type to repeat it."""
    parts = ["tenure", "bench", "run", listed.name]
    if data is not None:
        parts += ["--data", str(data)]
    parts += ["--arms", ",".join(arms), "--orders", str(orders), "--seed", str(seed)]
    if spending is not None:
        asked = {
            "--model": spending.model,
            "--base-url": spending.base_url,
            "--max-usd": spending.usd,
            "--max-calls": spending.calls,
            "--max-tokens": spending.tokens,
        }
        parts += [str(part) for option, value in asked.items() if value for part in (option, value)]
    for option, default in listed.options.items():
        if given[option] != default:
            parts += [f"--{option}", str(given[option])]
    if out is not None:
        parts += ["--out", str(out)]
    return shlex.join(parts)
