"""`tenure diff`: how lessons differ between two versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli, write_operations


@pytest.fixture
def changed(cli: Cli, playbook: None, folder: Path) -> None:
    """Version 2: a text changed, a lesson retired, one merged, one counted."""
    operations = (
        {"op": "UPDATE", "id": "inv-00001", "text": "Convert each line at the rate of the invoice date.", "applies_when": ""},
        {"op": "RETIRE", "id": "inv-00002", "reason": "the system does it now"},
        {"op": "TALLY", "id": "jp-00001", "helpful": 1},
        {"op": "ADD", "section": "new", "id": "new-1", "text": "Round at the end."},
    )
    cli("apply", write_operations(folder, *operations))


def test_what_a_person_reads(cli: Cli, changed: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/diff.txt", cli("diff", "1", "2").steady)


def test_json_has_both_sides_of_every_difference(cli: Cli, changed: None) -> None:
    found = cli("diff", "1", "2", "--json").json
    assert (found["before"], found["after"]) == (1, 2)
    assert {one["id"]: one["change"] for one in found["differences"]} == {
        "inv-00001": "changed",
        "inv-00002": "retired",
        "jp-00001": "counted",
        "new-1": "added",
    }
    text = next(one for one in found["differences"] if one["id"] == "inv-00001")
    assert text["before"]["text"] == "Convert each line at the invoice-date rate before summing."
    assert text["after"]["text"] == "Convert each line at the rate of the invoice date."


def test_without_a_second_version_it_is_now(cli: Cli, changed: None) -> None:
    assert cli("diff", "1", "--json").json == cli("diff", "1", "2", "--json").json


def test_a_negative_number_counts_from_the_newest_and_an_id_names_a_delta(cli: Cli, changed: None) -> None:
    assert cli("diff", "-1", "--json").json["before"] == 1
    first = cli("log", "--json").json["deltas"][-1]["id"]
    assert cli("diff", first, "--json").json["before"] == 1


def test_backwards_what_came_since_is_removed(cli: Cli, changed: None) -> None:
    found = {one["id"]: one["change"] for one in cli("diff", "2", "1", "--json").json["differences"]}
    assert (found["new-1"], found["inv-00002"]) == ("removed", "restored")


def test_equal_versions_say_so(cli: Cli, playbook: None) -> None:
    answer = cli("diff", "1", "1")
    assert (answer.code, answer.out, answer.err) == (0, "", "Versions 1 and 1 read the same.\n")


@pytest.mark.parametrize("version", ["7", "-9", "01JZX8D2H4M6P8R0S2T4V6W8Y0", "x"])
def test_a_version_that_is_none_is_a_mistake(cli: Cli, playbook: None, version: str) -> None:
    answer = cli("diff", version)
    assert (answer.code, answer.out) == (2, "")
    assert "(versions 0 to 1 exist). See: tenure log" in answer.err


def test_a_mistyped_option_is_not_taken_for_a_version(cli: Cli, playbook: None) -> None:
    answer = cli("diff", "1", "--jsn")
    assert (answer.code, "There is no option or version '--jsn'" in answer.err) == (2, True)
