"""`tenure blame`: who wrote which words of a lesson."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.serving.cli.conftest import Cli, write_operations

NEW_TEXT = {"op": "UPDATE", "id": "inv-00001", "text": "Convert each line at the booking-date rate before summing."}


def test_what_a_person_reads(cli: Cli, playbook: None, folder: Path, golden: Callable[[str, str], None]) -> None:
    cli("apply", write_operations(folder, NEW_TEXT))
    golden("cli/blame.txt", cli("blame", "inv-00001").steady)


def test_each_word_belongs_to_the_version_that_wrote_it(cli: Cli, playbook: None, folder: Path) -> None:
    cli("apply", write_operations(folder, NEW_TEXT))
    found = cli("blame", "inv-00001", "--json").json
    assert [(piece["text"].strip(), piece["version"]) for piece in found["words"]] == [
        ("Convert each line at the", 1),
        ("booking-date", 2),
        ("rate before summing.", 1),
    ]
    assert [delta["version"] for delta in found["deltas"]] == [1, 2]
    assert found["lesson"]["id"] == "inv-00001"


def test_changes_of_lessons_that_were_merged_into_it_are_among_them(cli: Cli, playbook: None, folder: Path) -> None:
    cli("apply", write_operations(folder, {"op": "MERGE", "ids": ["inv-00002"], "into": "inv-00001"}))
    found = cli("blame", "inv-00002", "--json").json
    assert found["lesson"]["id"] == "inv-00001"
    assert {piece["version"] for piece in found["words"]} == {1}
    assert len(found["deltas"][0]["operations"]) == 4


def test_an_unknown_lesson_is_a_mistake(cli: Cli, playbook: None) -> None:
    assert cli("blame", "nothing").code == 2
