"""Every measured figure in a page is what its report says, and every report says how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.run import benchmarks, load
from tests.docs.figures import Figure, figures_in, measured_pages, reported, reports, wrong
from tests.docs.pages import place

CONDITIONS = {"command", "at", "versions", "seed", "system", "processors", "full"}


def figures_of(page: Path) -> list[Figure]:
    return list(figures_in(page.read_text(encoding="utf-8"), place(page)))


@pytest.mark.parametrize("page", measured_pages(), ids=place)
def test_a_figure_is_what_its_report_says(page: Path) -> None:
    assert [said for said in (wrong(one) for one in figures_of(page) if one.report is not None) if said] == []


@pytest.mark.parametrize("page", measured_pages(), ids=place)
def test_what_looks_measured_names_its_report_or_says_what_else_it_is(page: Path) -> None:
    unmarked = [f"{one.where}: {one.text}" for one in figures_of(page) if one.looks_measured and one.report is None and not one.allowed]
    assert unmarked == [], "Take the figure from a report: see tests/docs/figures.py"


@pytest.mark.parametrize("page", measured_pages(), ids=place)
def test_a_reason_for_a_figure_without_a_report_stands_where_there_is_one(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").split("\n")
    needed = {one.where for one in figures_of(page) if one.looks_measured and one.report is None}
    idle = [number for number, line in enumerate(lines, 1) if "<!-- not measured:" in line and f"{place(page)}:{number}" not in needed]
    assert idle == []


def test_pages_hold_figures_at_all() -> None:
    assert sum(one.report is not None for page in measured_pages() for one in figures_of(page)) >= 20


@pytest.mark.parametrize("name", reports())
def test_a_report_says_how_it_came_about(name: str) -> None:
    report: Mapping[str, Any] = reports()[name]
    said = report["conditions"]
    assert said.keys() >= CONDITIONS, "Write it anew: python -m benchmarks.run NAME --full --reports benchmarks/reports"
    assert report["benchmark"] == name
    assert said["command"] == f"python -m benchmarks.run {name} --full"
    assert said["full"] is True, "a report at small sizes says nothing"
    assert date.fromisoformat(said["at"]).year >= 2026
    assert said["versions"].keys() >= {"tenure", "python"}
    seed = said["seed"]
    assert seed is None or isinstance(seed, int) or all(isinstance(one, int) for one in seed)
    assert report["figures"]


@pytest.mark.parametrize("name", reports())
def test_a_report_is_of_a_benchmark_that_is_there_and_of_its_seeds(name: str) -> None:
    assert name in benchmarks()
    seed = load(benchmarks()[name]).SEED
    said = reports()[name]["conditions"]["seed"]
    assert said == (list(seed) if isinstance(seed, tuple) else seed)


# -- the reader of figures itself ----------------------------------------------------------------------


def read(line: str) -> list[Figure]:
    return list(figures_in(line, "page.md"))


@pytest.mark.parametrize(
    "line",
    [
        "It takes 80 ms.",
        "It takes 1.7 s.",
        "A share of 0.84 is found.",
        "It keeps 21 % of them.",
        "It keeps 21% of them.",
        "The file has 455 MB.",
        "| 1,000 | 3 ms |",
        "It found 3 of 10 questions.",
        "About 80 ms<!-- reprot: hooks prompt_cpu_ms -->.",
        "It wants <!-- report: hooks -->.",
    ],
)
def test_what_looks_measured_is_seen(line: str) -> None:
    assert any(one.looks_measured and one.report is None and not one.allowed for one in read(line))


@pytest.mark.parametrize(
    "line",
    [
        "Python 3.11 and arXiv 2510.04618, version 0.13.0",
        "`tenure flush --window-used 0.8`",
        "[a page](https://example.org/0.84)",
        "A note has 2,500 words.",
        "It takes 80 ms. <!-- not measured: a setting -->",
        "Version 12 of the ledger",
    ],
)
def test_what_is_none_is_left_alone(line: str) -> None:
    assert not any(one.looks_measured and one.report is None and not one.allowed for one in read(line))


def test_code_is_left_alone() -> None:
    assert read("```text\nIt takes 80 ms.\n```\nand 7 others")[0].text == "7"


@pytest.mark.parametrize(
    ("line", "agrees"),
    [
        ("82.5 ms<!-- report: hooks prompt_cpu_ms -->", True),
        ("82 ms<!-- report: hooks prompt_cpu_ms -->", True),
        ("83 ms<!-- report: hooks prompt_cpu_ms -->", False),
        ("about 80 ms<!-- report: hooks prompt_cpu_ms to 10 -->", True),
        ("about 90 ms<!-- report: hooks prompt_cpu_ms to 10 -->", False),
        ("0.08 s<!-- report: hooks prompt_cpu_ms times 0.001 -->", True),
        ("1,000 lessons<!-- report: hooks lessons -->", True),
        ("82 ms<!-- report: hooks no_such_key -->", False),
        ("82 ms<!-- report: no_such_report prompt_cpu_ms -->", False),
        ("82 ms<!-- report: drift default -->", False),
    ],
)
def test_a_figure_is_held_to_its_report(line: str, agrees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"hooks": {"figures": {"prompt_cpu_ms": 82.474, "lessons": 1000}}, "drift": {"figures": {"default": {"held": 0.9}}}}
    monkeypatch.setattr("tests.docs.figures.reports", lambda: made)
    (figure,) = (one for one in read(line) if one.report is not None)
    assert (wrong(figure) == "") is agrees


def test_a_figure_names_the_report_behind_it_and_not_the_one_before() -> None:
    first, second = read("0.88<!-- report: drift a --> and 0.79<!-- report: drift b -->")
    assert first.report is not None
    assert second.report is not None
    assert (first.report["key"], second.report["key"]) == ("a", "b")


def test_a_missing_number_is_named() -> None:
    with pytest.raises(KeyError, match=r"which hooks\.json does not have"):
        reported("hooks", "nothing/there")
