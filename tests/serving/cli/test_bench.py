"""`tenure bench`: what can be measured, and measuring it."""

from __future__ import annotations

from pathlib import Path

from tenure.evaluation.benches import BENCHES
from tests.serving.cli.conftest import Cli

RECURRENCE = {"runs", "errors", "recurrent", "covered", "coverage", "coverage_random", "actionable", "off_target", "held", "lessons"}


def test_every_bench_is_listed(cli: Cli) -> None:
    assert {bench["name"] for bench in cli("bench", "list", "--json").json["benches"]} == set(BENCHES)
    for name in BENCHES:
        assert name in cli("bench").out


def test_recurrence_gives_its_figures_and_leaves_the_database_alone(cli: Cli, runs_file: str, folder: Path) -> None:
    found = cli("bench", "run", "recurrence", "--data", runs_file, "--json").json
    assert found.keys() >= {*RECURRENCE, "context_tokens_mean", "seconds"}
    assert (found["runs"], found["errors"], found["recurrent"]) == (2, 2, 1)
    assert not (folder / "book.db").exists()
    assert found.keys() <= BENCHES["recurrence"].figures.keys(), "a figure without a meaning"
    assert "if lessons were drawn at random" in " ".join(cli("bench", "run", "recurrence", "--data", runs_file).out.split())


def test_mistakes_say_what_next(cli: Cli, folder: Path) -> None:
    assert "Did you mean 'recurrence'?" in cli("bench", "run", "recurence").err
    assert "tenure bench run recurrence --data FILE" in cli("bench", "run", "recurrence").err
    assert "does not exist" in cli("bench", "run", "recurrence", "--data", "nowhere").err
    assert "is a folder" in cli("bench", "run", "recurrence", "--data", ".").err
    assert {cli("bench", "run", *arguments).code for arguments in (["recurence"], ["recurrence"], ["recurrence", "--data", "."])} == {2}
