"""`tenure apply`: operations from a file, a receipt for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli, write_operations

MIXED = (
    {"op": "ADD", "section": "s", "text": "A", "id": "s-1"},
    {"op": "UPDATE", "id": "s-99999", "text": "B"},
    {"op": "MERGE", "ids": [1]},
    {"op": "ADD", "section": "s", "text": ""},
    {"op": "FOO\x1b[31m"},
    7,
    {"op": "add", "section": "s", "content": "C", "id": "s-2"},
    {"op": "ADD", "section": "s", "text": "D", "id": "s-3", "status": "held"},
)
"""Good operations, and one of each kind that is not."""


def test_what_a_person_reads(cli: Cli, folder: Path, golden: Callable[[str, str], None]) -> None:
    golden("cli/apply.txt", cli("apply", write_operations(folder, *MIXED)).steady)


def test_one_bad_operation_never_sinks_the_others_and_each_has_its_receipt_in_its_place(cli: Cli, folder: Path) -> None:
    answer = cli("apply", write_operations(folder, *MIXED), "--json")
    assert answer.code == 0
    statuses = [receipt["status"] for receipt in answer.json["receipts"]]
    assert statuses == ["applied", "skipped", "skipped", "skipped", "skipped", "skipped", "applied", "held"]
    assert all(receipt["reason"] for receipt in answer.json["receipts"] if receipt["status"] == "skipped")
    assert all(receipt.keys() >= {"status", "reason", "id", "op"} for receipt in answer.json["receipts"])
    assert answer.json["version"] == 1
    assert [lesson["id"] for lesson in cli("show", "--json").json["lessons"]] == ["s-1", "s-2"]


def test_the_order_of_operations_does_not_matter(cli: Cli, folder: Path) -> None:
    cli("apply", write_operations(folder, *MIXED), "--db", "one.db")
    cli("apply", write_operations(folder, *reversed(MIXED)), "--db", "other.db")
    one, other = (cli("show", "--all", "--json", "--db", name).json["lessons"] for name in ("one.db", "other.db"))
    assert [(lesson["id"], lesson["text"], lesson["status"]) for lesson in one] == [
        (lesson["id"], lesson["text"], lesson["status"]) for lesson in other
    ]


def test_strict_tells_by_the_exit_code_that_something_was_skipped(cli: Cli, folder: Path) -> None:
    assert cli("apply", write_operations(folder, *MIXED), "--strict").code == 3
    assert cli("apply", write_operations(folder, MIXED[0]), "--strict").code == 0


def test_a_bare_list_and_stdin_do_as_well(cli: Cli) -> None:
    answer = cli("apply", "-", "--json", input=json.dumps([MIXED[0]]))
    assert [receipt["id"] for receipt in answer.json["receipts"]] == ["s-1"]


def test_a_dry_run_gives_the_receipts_and_writes_nothing(cli: Cli, folder: Path) -> None:
    dry = cli("apply", write_operations(folder, *MIXED), "--dry-run", "--json").json
    assert not (folder / "book.db").exists()
    assert dry["receipts"] == cli("apply", write_operations(folder, *MIXED), "--json").json["receipts"]


def test_secrets_never_reach_the_database(cli: Cli, folder: Path) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    cli("apply", write_operations(folder, {"op": "ADD", "section": "s", "text": f"Log in with {secret} first."}))
    assert secret not in cli("show", "--json").out + cli("log", "--json").out + cli("export").out
    assert secret.encode() not in b"".join(path.read_bytes() for path in folder.glob("book.db*"))


def test_bounds_are_raised_to_what_a_person_puts_in(cli: Cli, folder: Path) -> None:
    cli("config", "set", "bounds.lessons_per_section", "2")
    operations = [{"op": "ADD", "section": "s", "text": f"Lesson {number}"} for number in range(5)]
    answer = cli("apply", write_operations(folder, *operations))
    assert "Raised bounds.lessons_per_section from 2 to 5, to hold what you put in." in answer.err
    assert cli("config", "get", "bounds.lessons_per_section").out == "5\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "stdin is not JSON: "),
        ('{"operations": [', "stdin is not JSON: "),
        ('{"ops": []}', "stdin holds no operations: it is an object with 'ops'."),
        ("7", "stdin holds no operations: it is no list."),
        ("[" * 100_000, "stdin is nested too deeply to be operations."),
        (b"\xff\xfe[\x00]\x00", "stdin is UTF-16 text. Save it as UTF-8."),
        (b'["\xe4"]', "stdin is not UTF-8 text: byte 0xe4 at place 2."),
    ],
    ids=["empty", "cut", "other key", "number", "deep", "utf-16", "latin-1"],
)
def test_what_holds_no_operations_is_a_mistake(cli: Cli, text: str | bytes, said: str) -> None:
    answer = cli("apply", "-", input=text)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_no_operations_change_nothing(cli: Cli) -> None:
    answer = cli("apply", "-", input="[]")
    assert (answer.code, answer.out, answer.err) == (0, "", "There was no operation in it.\n")


@pytest.mark.parametrize(("name", "said"), [("nowhere.json", "does not exist"), (".", "is a folder"), ("a\0b", "cannot be read")])
def test_a_file_that_cannot_be_read_is_a_mistake(cli: Cli, name: str, said: str) -> None:
    answer = cli("apply", name)
    assert (answer.code, said in answer.err) == (2, True)
