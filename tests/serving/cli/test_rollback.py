"""`tenure rollback`: back to an earlier version, by one more delta."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli, write_operations


@pytest.fixture
def changed(cli: Cli, playbook: None, folder: Path) -> None:
    """Version 2: one lesson retired, one added."""
    cli("apply", write_operations(folder, {"op": "RETIRE", "id": "inv-00001"}, {"op": "ADD", "section": "new", "id": "new-1", "text": "T"}))


def ids(cli: Cli) -> list[str]:
    return [lesson["id"] for lesson in cli("show", "--json").json["lessons"]]


def test_what_a_person_reads(cli: Cli, changed: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/rollback.txt", cli("rollback", "1").steady)


def test_it_restores_what_was_and_can_itself_be_rolled_back(cli: Cli, changed: None) -> None:
    after = ids(cli)
    assert cli("rollback", "1", "--yes").code == 0
    assert ids(cli) == ["inv-00001", "inv-00002", "jp-00001"]
    assert cli("rollback", "2", "--yes").code == 0
    assert ids(cli) == after
    assert cli("log", "--json").json["newest"] == 4


def test_json_says_from_where_to_where(cli: Cli, changed: None) -> None:
    found = cli("rollback", "-1", "--json").json
    assert (found["from"], found["to"], found["version"]) == (2, 1, 3)
    assert {one["id"]: one["change"] for one in found["differences"]} == {"inv-00001": "restored", "new-1": "retired"}


def test_going_to_where_one_is_does_nothing(cli: Cli, playbook: None) -> None:
    answer = cli("rollback", "1")
    assert (answer.code, answer.err) == (0, "Version 1 reads as it is now. Nothing to do.\n")
    assert cli("rollback", "1", "--json").json["version"] is None
    assert cli("log", "--json").json["newest"] == 1


def test_an_unknown_version_is_a_mistake_and_changes_nothing(cli: Cli, playbook: None) -> None:
    assert cli("rollback", "9").code == 2
    assert cli("log", "--json").json["newest"] == 1


def test_a_mistyped_option_rolls_nothing_back(cli: Cli, changed: None) -> None:
    assert cli("rollback", "--yess").code == 2
    assert cli("log", "--json").json["newest"] == 2
