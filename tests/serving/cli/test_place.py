"""Where commands keep the database when nobody names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli

UNNAMED = {"TENURE_DB": "", "TENURE_SCOPE": ""}


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Git repository to stand in."""
    root = folder / "repo"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


def test_looking_makes_nothing_in_a_repository(cli: Cli, repository: Path) -> None:
    for command in (["show"], ["status"], ["doctor"], ["context", "a task"], ["config"]):
        assert cli(*command, **UNNAMED).code == 0
    assert not (repository / ".tenure").exists()
    assert "of this project" in cli("doctor", **UNNAMED).out


def test_the_first_command_that_writes_makes_it_out_of_gits_sight_and_says_so_once(cli: Cli, repository: Path) -> None:
    first = cli("config", "set", "context.tokens", "5000", **UNNAMED)
    made = repository / ".tenure" / "tenure.db"
    assert (first.code, made.is_file(), (made.parent / ".gitignore").read_text()) == (0, True, "*\n")
    assert f"Made the database {made}; Git leaves it alone." in first.err
    assert "Made the database" not in cli("config", "set", "context.tokens", "6000", **UNNAMED).err
    assert cli("config", "get", "context.tokens", **UNNAMED).out == "6000\n"
    assert cli("doctor", "--json", **UNNAMED).json["database"]["from"] == "project"


def test_a_folder_that_was_there_keeps_what_it_has(cli: Cli, repository: Path) -> None:
    (repository / ".tenure").mkdir()
    cli("config", "set", "context.tokens", "5000", **UNNAMED)
    assert not (repository / ".tenure" / ".gitignore").exists()


def test_a_database_that_was_named_is_not_told_of(cli: Cli, folder: Path) -> None:
    assert "Made" not in cli("config", "set", "context.tokens", "5000").err
