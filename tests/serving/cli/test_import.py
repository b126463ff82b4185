"""`tenure import`: playbooks of other tools, as one delta that can be repeated without harm."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import LESSONS, Cli, write_operations


def write(folder: Path, text: str, name: str = "lessons.txt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_json_has_the_promised_keys(cli: Cli, folder: Path) -> None:
    found = cli("import", write(folder, LESSONS), "--json").json
    assert {name: found[name] for name in ("added", "merged", "held", "skipped")} == {"added": 3, "merged": 0, "held": 0, "skipped": 0}
    assert (found["form"], found["file"], found["version"]) == ("ace", "lessons.txt", 1)


def test_what_a_person_reads(cli: Cli, folder: Path, golden: Callable[[str, str], None]) -> None:
    golden("cli/import.txt", cli("import", write(folder, LESSONS)).steady)


def test_ids_texts_and_counts_stay_what_they_were(cli: Cli, playbook: None) -> None:
    found = {lesson["id"]: lesson for lesson in cli("show", "--json").json["lessons"]}
    assert (found["inv-00001"]["tallies"]["helpful"], found["inv-00002"]["tallies"]["harmful"]) == (3, 2)
    assert found["inv-00001"]["author"] == "import:lessons.txt"


def test_importing_twice_changes_nothing_counts_included(cli: Cli, playbook: None) -> None:
    before = cli("show", "--json").json["lessons"]
    again = cli("import", "lessons.txt", "--json").json
    assert (again["added"], again["merged"], again["version"]) == (0, 3, None)
    assert cli("show", "--json").json["lessons"] == before
    assert cli("log", "--json").json["newest"] == 1


def test_counts_that_grew_in_the_file_are_made_up_for(cli: Cli, playbook: None, folder: Path) -> None:
    found = cli("import", write(folder, LESSONS.replace("helpful=3", "helpful=5")), "--json").json
    assert (found["added"], found["merged"]) == (0, 3)
    assert cli("show", "inv-00001", "--json").json["lessons"][0]["tallies"]["helpful"] == 5


def test_an_import_that_was_rolled_back_can_be_repeated(cli: Cli, playbook: None) -> None:
    cli("rollback", "0", "--yes")
    assert cli("show", "--json").json["lessons"] == []
    cli("import", "lessons.txt")
    assert len(cli("show", "--json").json["lessons"]) == 3


def test_equal_texts_with_ids_of_their_own_stay_apart(cli: Cli, folder: Path) -> None:
    text = "## a\n[a-1] helpful=1 harmful=0 :: Same.\n[a-2] helpful=0 harmful=1 :: Same.\n\n## b\n[b-1] helpful=0 harmful=0 :: Same.\n"
    found = cli("import", write(folder, text), "--json").json
    assert (found["added"], found["merged"]) == (3, 0)
    assert [lesson["id"] for lesson in cli("show", "--json").json["lessons"]] == ["a-1", "a-2", "b-1"]


def test_a_dry_run_says_the_same_and_writes_nothing(cli: Cli, folder: Path) -> None:
    name = write(folder, LESSONS)
    dry = cli("import", name, "--dry-run", "--json").json
    assert not (folder / "book.db").exists()
    real = cli("import", name, "--json").json
    assert {key: dry[key] for key in ("added", "merged", "held", "skipped")} == {
        key: real[key] for key in ("added", "merged", "held", "skipped")
    }


@pytest.mark.parametrize(
    ("name", "text", "form", "added"),
    [
        ("ace.json", json.dumps({"operations": [{"type": "ADD", "section": "s", "content": "A"}]}), "operations", 1),
        ("edits.json", json.dumps({"new_entries": [{"section": "s", "content": "A"}], "delete_entries": []}), "entries", 1),
        ("skillbook.json", json.dumps({"skills": {"s-1": {"section": "s", "content": "A", "helpful": 2}}}), "skillbook", 1),
        ("AGENTS.md", "# Rules\n\n- Run the tests.\n- Never push.\n", "markdown", 2),
    ],
)
def test_foreign_forms_are_told_by_content(cli: Cli, folder: Path, name: str, text: str, form: str, added: int) -> None:
    found = cli("import", write(folder, text, name), "--json").json
    assert (found["form"], found["added"], found["skipped"]) == (form, added, 0)
    assert cli("import", name, "--json").json["added"] == 0


def test_what_cannot_be_used_is_named_and_the_rest_comes_in(cli: Cli, folder: Path) -> None:
    text = json.dumps(
        {"operations": [{"op": "ADD", "section": "s", "text": "A"}, {"op": "ADD"}, {"op": "UPDATE", "id": "x-1", "text": "B"}]}
    )
    name = write(folder, text, "some.json")
    answer = cli("import", name)
    assert answer.code == 0
    assert "operation 1: its field 'text' is missing" in answer.err
    assert "lesson 'x-1': unknown lesson 'x-1'" in answer.err
    assert cli("import", name, "--strict").code == 3
    found = cli("import", name, "--json", "--db", "other.db").json
    assert (found["added"], found["skipped"], len(found["reasons"])) == (1, 2, 2)


def test_what_holds_no_lesson_is_a_mistake_that_names_the_file(cli: Cli, folder: Path) -> None:
    answer = cli("import", write(folder, "Dear diary.", "diary.md"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: diary.md: No lesson was found in it.")


def test_bounds_are_raised_to_what_is_stored_and_that_is_said(cli: Cli, folder: Path) -> None:
    cli("config", "set", "bounds.lessons_per_section", "1")
    answer = cli("import", write(folder, LESSONS))
    assert "Raised bounds.lessons_per_section from 1 to 2, to hold what you put in." in answer.err


def test_a_lesson_changed_by_a_person_since_is_not_overwritten(cli: Cli, playbook: None, folder: Path) -> None:
    cli("apply", write_operations(folder, {"op": "UPDATE", "id": "inv-00001", "text": "Convert at the booking date."}))
    cli("import", "lessons.txt")
    texts = [lesson["text"] for lesson in cli("show", "--json").json["lessons"]]
    assert "Convert at the booking date." in texts


def test_the_real_appworld_playbook_comes_in_whole(cli: Cli, shared_data: Path) -> None:
    path = str(shared_data / "playbooks" / "appworld_online_trained_playbook.txt")
    first = cli("import", path, "--json").json
    assert (first["added"], first["merged"], first["skipped"]) == (359, 0, 0)
    again = cli("import", path, "--json").json
    assert (again["added"], again["merged"], again["version"]) == (0, 359, None)
    lessons = cli("show", "--json").json["lessons"]
    assert (len(lessons), len({lesson["text"] for lesson in lessons})) == (359, 337)


def test_half_a_character_in_a_section_is_skipped_with_a_reason(cli: Cli) -> None:
    operations = r'[{"op": "ADD", "section": "s\ud800", "text": "a"}, {"op": "ADD", "section": "s", "text": "b"}]'
    answer = cli("import", "-", "--json", input=operations)
    assert (answer.code, answer.json["added"], answer.json["skipped"]) == (0, 1, 1)
