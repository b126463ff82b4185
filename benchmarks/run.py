"""Runs the benchmarks of this folder and writes a report of each.

    python -m benchmarks.run                                    small sizes, to see that they run
    python -m benchmarks.run --full --reports benchmarks/reports   what `make bench` does
    python -m benchmarks.run playbook                           one of them

A benchmark is a file `bench_NAME.py` with `measure(*, full: bool)`, which returns figures by name. A name ends in
its unit: `_ms`, `_s`, `_mb`, `_per_s`. Figures are medians unless the file's docstring says otherwise; groups of them
are told in the Markdown as `GROUP.NAME`. One that plots has `draw(figures, folder)` too, which writes its plots there.
`SEED` is what its draws follow from: a number, several, or None where nothing is drawn.

A report says what its figures depend on: the command, the date, versions, the seed, the machine. Pages take figures from
reports, and a test holds them to it (`tests/docs/test_figures.py`).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import tenure

FOLDER = Path(__file__).resolve().parent

Figures = Mapping[str, Any]
"""Numbers and short texts by name; what `tenure bench run NAME --json` prints stands in a report as it is, groups and all."""


def main() -> int:
    """Run what was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benchmarks to run; none means all")
    parser.add_argument("--full", action="store_true", help="the sizes that reports are about")
    parser.add_argument("--reports", type=Path, help="folder for a JSON and a Markdown file of each")
    asked = parser.parse_args()
    known = benchmarks()
    unknown = sorted(set(asked.names) - set(known))
    if unknown:
        print(f"No benchmark is called {', '.join(unknown)}. There are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in asked.names or known:
        module = load(known[name])
        figures: Figures = module.measure(full=asked.full)
        said = conditions(name, module, full=asked.full)
        print(as_markdown(name, module, figures, said))
        if asked.reports:
            write_reports(asked.reports, name, module, figures, said)
            if hasattr(module, "draw"):
                module.draw(figures, asked.reports)
    return 0


def benchmarks() -> dict[str, Path]:
    """Every benchmark by name, sorted."""
    return {path.stem.removeprefix("bench_"): path for path in sorted(FOLDER.glob("bench_*.py"))}


def load(path: Path) -> ModuleType:
    """A benchmark's module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def conditions(name: str, module: ModuleType, *, full: bool) -> dict[str, Any]:
    """What the figures of a benchmark depend on besides the code. `seed` is none where nothing is drawn."""
    seed: int | Sequence[int] | None = module.SEED
    return {
        "command": f"python -m benchmarks.run {name}{' --full' if full else ''}",
        "at": datetime.now(UTC).date().isoformat(),
        "versions": {"tenure": tenure.__version__, "python": platform.python_version()},
        "seed": seed if seed is None or isinstance(seed, int) else list(seed),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count() or 0,
        "full": full,
    }


def as_markdown(name: str, module: ModuleType, figures: Figures, said: Mapping[str, Any]) -> str:
    """A report for people.

    Args:
        name: of the benchmark.
        module: its own.
        figures: what it measured.
        said: as `conditions` gives it.
    """
    rows = "\n".join(
        f"| {figure} | {value:,.3g} |" if isinstance(value, float) else f"| {figure} | {value} |" for figure, value in flat(figures).items()
    )
    about = (module.__doc__ or "").strip()
    seed = said["seed"]
    drawn = "nothing is drawn" if seed is None else f"seed {seed}" if isinstance(seed, int) else f"seeds {', '.join(map(str, seed))}"
    versions = ", ".join(f"{what.capitalize()} {version}" for what, version in said["versions"].items())
    where = f"{versions}, {said['system']}, {said['processors']} processors, {said['at']}; {drawn}"
    small = "" if said["full"] else "; small sizes"
    return f"# {name}\n\n{about}\n\n`{said['command']}`\n\n{where}{small}.\n\n| figure | value |\n|---|---|\n{rows}\n"


def flat(figures: Figures) -> dict[str, Any]:
    """The figures of groups by `GROUP.NAME`, beside those that stand alone."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        found |= {f"{name}.{inner}": one for inner, one in flat(value).items()} if isinstance(value, Mapping) else {name: value}
    return found


def write_reports(folder: Path, name: str, module: ModuleType, figures: Figures, said: Mapping[str, Any]) -> None:
    """The report as JSON and as Markdown. Arguments as for `as_markdown`."""
    folder.mkdir(parents=True, exist_ok=True)
    report = {"benchmark": name, "conditions": dict(said), "figures": dict(figures)}
    (folder / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(as_markdown(name, module, figures, said), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
