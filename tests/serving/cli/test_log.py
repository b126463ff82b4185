"""`tenure log`: the changes of a scope, newest first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.serving.cli.conftest import Cli, write_operations


def test_what_a_person_reads(cli: Cli, playbook: None, folder: Path, golden: Callable[[str, str], None]) -> None:
    cli("apply", write_operations(folder, {"op": "RETIRE", "id": "inv-00002"}, {"op": "PIN", "id": "inv-00001"}))
    cli("rollback", "1")
    golden("cli/log.txt", cli("log").steady)


def test_json_has_whole_deltas_newest_first(cli: Cli, playbook: None, folder: Path) -> None:
    cli("apply", write_operations(folder, {"op": "PIN", "id": "inv-00001"}))
    found = cli("log", "--json").json
    assert [delta["version"] for delta in found["deltas"]] == [2, 1]
    newest = found["deltas"][0]
    assert newest["operations"] == [{"op": "PIN", "id": "inv-00001"}]
    assert (newest["author"], newest["cause"]) == ("person:ada", "hand")
    assert (found["deltas"][1]["author"], found["deltas"][1]["cause"]) == ("import:lessons.txt", "import")
    assert newest.keys() >= {"id", "key", "at", "note", "digest", "writer"}


def test_a_number_limits_it_and_the_rest_is_counted(cli: Cli, playbook: None, folder: Path) -> None:
    for pinned in (True, False, True):
        cli("apply", write_operations(folder, {"op": "PIN", "id": "inv-00001", "pinned": pinned}))
    answer = cli("log", "-n", "1")
    assert len(answer.out.splitlines()) == 2
    assert answer.err == "3 earlier ones are not shown. See all: tenure log -n 0\n"
    assert len(cli("log", "-n", "0", "--json").json["deltas"]) == 4


def test_an_empty_ledger_says_what_to_do(cli: Cli) -> None:
    answer = cli("log")
    assert (answer.code, answer.out) == (0, "")
    assert "Nothing has changed in scope acme/finance yet" in answer.err


def test_a_lesson_that_was_there_already_is_not_told_as_added(cli: Cli, folder: Path) -> None:
    one = {"op": "ADD", "section": "invoices", "text": "Convert each line before summing."}
    cli("apply", write_operations(folder, one))
    cli("apply", write_operations(folder, one, {"op": "ADD", "section": "invoices", "text": "Round half up."}))
    newest, first = cli("log").out.splitlines()[1:]
    assert "1 lesson added" in newest
    assert "1 lesson already there" in newest
    assert "1 lesson added" in first
    assert "already there" not in first
