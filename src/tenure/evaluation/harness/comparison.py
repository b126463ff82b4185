"""A comparison from its options to its figures: what `tenure bench run TASK` does for tasks with arms."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.metrics import curves, figures, mean_score
from tenure.evaluation.harness.report import PAGE
from tenure.evaluation.harness.runner import RECORDS, Tell, run_jobs
from tenure.evaluation.harness.sample import Sample
from tenure.evaluation.harness.statistics import paired
from tenure.evaluation.tasks.listed import TASKS, ListedTask, data_of, open_task
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
    model: str | None = None,
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
        model: for arms and agent, on tasks that models act in.
        options: others of the task.
        out: a folder for records and the report; none keeps nothing.
        workers: processes at once; none takes one for each processor.
        tell: told how far it is.

    Returns:
        For JSON: what was run, `arms` (figures by name), `skipped` (reasons by name), `paired` (tenure against each other arm),
        `curves`, and the `command` that repeats it.

    Raises:
        UserError: an arm or an option is not known, the data cannot be read, or `out` holds another comparison.
    """
    began = time.monotonic()
    listed = TASKS[name]
    wanted, skipped = _arms(listed, arms, model)
    found = data_of(listed, data)
    _check_folder(out)
    given = {**listed.options, **(options or {}), "seed": seed, "data": str(found.resolve()) if found is not None else ""}
    task = open_task(name, given)
    if not task.training(0):
        skipped |= {arm: "it learns from training instances; hold some out with --train N" for arm in wanted if ARMS[arm].epochs}
        wanted = [arm for arm in wanted if arm not in skipped]
    samples = run_jobs(task, given, wanted, orders=orders, seed=seed, model=model, out=out, workers=workers, tell=tell)
    result = {
        "task": name,
        "about": {**task.about},
        "orders": orders,
        "seed": seed,
        "model": model or "",
        "agent": task.agent(0, None).name if listed.keyless else model or "",
        "writer": "transparent writer" if listed.keyless else model or "",
        "said": listed.said,
        "arms": {arm: figures(samples[arm]) for arm in wanted},
        "shown": {arm: ARMS[arm].shown(keyless=listed.keyless) for arm in (*wanted, *skipped)},
        "sources": {arm: ARMS[arm].source for arm in wanted},
        "skipped": skipped,
        "paired": _paired(samples, seed),
        "curves": {arm: curves(samples[arm]) for arm in wanted},
        "command": _command(listed, found, [*wanted, *skipped], orders, seed, model, given, out),
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


def _arms(listed: ListedTask, arms: Sequence[str], model: str | None) -> tuple[list[str], dict[str, str]]:
    """Those that run, and those that do not with the reason."""
    named = list(dict.fromkeys(arms or listed.arms))
    unknown = [arm for arm in named if arm not in ARMS]
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], ARMS, 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise UserError(f"There is no arm '{unknown[0]}'.{hint} There are: {', '.join(ARMS)}")
    if listed.keyless and model is not None:
        raise UserError(f"Task '{listed.name}' is acted on by plain code; no model has a part in it. Leave --model out.")
    skipped = {arm: ARMS[arm].why_not for arm in named if ARMS[arm].make is None and listed.keyless}
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


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def _command(
    listed: ListedTask,
    data: Path | None,
    arms: Sequence[str],
    orders: int,
    seed: int,
    model: str | None,
    given: Mapping[str, Any],
    out: Path | None,
) -> str:
    """What to type to repeat it."""
    parts = ["tenure", "bench", "run", listed.name]
    if data is not None:
        parts += ["--data", str(data)]
    parts += ["--arms", ",".join(arms), "--orders", str(orders), "--seed", str(seed)]
    if model is not None:
        parts += ["--model", model]
    for option, default in listed.options.items():
        if given[option] != default:
            parts += [f"--{option}", str(given[option])]
    if out is not None:
        parts += ["--out", str(out)]
    return shlex.join(parts)
