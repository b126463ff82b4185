"""`tenure ledger verify`: the proof, and what is said once somebody has meddled."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from tests.serving.cli.conftest import Cli


def tampered(*statements: str) -> None:
    connection = sqlite3.connect("book.db")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_a_whole_ledger_is_said_to_be_whole(cli: Cli, playbook: None) -> None:
    found = cli("ledger", "verify", "--json")
    assert found.code == 0
    assert (found.json["ok"], found.json["entries"], found.json["first_broken"]) == (True, 1, None)
    answer = cli("ledger")
    assert (answer.code, "is whole: 1 delta, every link and text holds." in answer.err) == (0, True)
    assert found.json["writers"][0]["head"] in answer.out


def test_the_first_break_is_named_and_the_exit_code_says_so(cli: Cli, playbook: None, golden: Callable[[str, str], None]) -> None:
    for number in range(3):
        cli("apply", "-", input=f'[{{"op": "ADD", "section": "s", "text": "text {number}"}}]')
    tampered("UPDATE ledger_texts SET text = 'text X' WHERE text = 'text 1'", "UPDATE installation SET writer = 'w'")
    tampered("UPDATE ledger SET writer = 'aaaa'", "UPDATE ledger_heads SET writer = 'aaaa'")
    found = cli("ledger", "verify", "--json")
    first = found.json["first_broken"]
    assert (found.code, found.json["ok"], found.json["entries"]) == (1, False, 4)
    assert (first["version"], first["writer"]) == (3, "aaaa")
    assert first["delta"] == cli("log", "--json").json["deltas"][1]["id"]
    assert first.keys() == {"version", "delta", "writer", "problem"}
    golden("cli/ledger-broken.txt", cli("ledger", "verify").steady)
    assert cli("doctor").code == 1


def test_a_lesson_changed_in_the_database_itself_is_found_out(cli: Cli, playbook: None) -> None:
    assert "Its lessons read as it says." in cli("ledger", "verify").err
    tampered("UPDATE lessons SET body = replace(body, 'before summing', 'after summing') WHERE id = 'inv-00001'")
    found = cli("ledger", "verify", "--json")
    assert (found.code, found.json["ok"], found.json["unlike_lessons"]) == (1, False, ["inv-00001"])
    told = cli("ledger", "verify")
    assert (told.code, "1 lesson of scope acme/finance reads otherwise than the ledger says: inv-00001" in told.err) == (1, True)


def test_a_digest_written_down_earlier_proves_that_the_history_is_that_one(cli: Cli, playbook: None) -> None:
    noted = cli("ledger", "--json").json["writers"][0]["head"]
    cli("apply", "-", input='[{"op": "ADD", "section": "s", "text": "more"}]')
    found = cli("ledger", "verify", "--head", noted[:16], "--json")
    assert (found.code, found.json["head_found"]) == (0, True)
    other = cli("ledger", "verify", "--head", "0" * 16)
    assert (other.code, "the history was replaced" in other.err) == (1, True)


def test_nothing_there_is_whole(cli: Cli) -> None:
    assert (cli("ledger", "verify").code, cli("ledger", "verify", "--json").json["entries"]) == (0, 0)
