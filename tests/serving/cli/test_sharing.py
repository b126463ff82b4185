"""`tenure export --form ledger` and `tenure import` of it: what people type, and what they read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.serving.cli.conftest import Cli

OPERATIONS = json.dumps({"operations": [{"op": "ADD", "section": "invoices", "text": "Round half up."}]})


def read_by_people(text: str) -> str:
    """Without what chance decides: ids of installations, and sizes."""
    return re.sub(r"\([\d,]+ bytes\)", "(NNN bytes)", re.sub(r"\b[0-9a-f]{20}\b", "0" * 20, text))


def put(cli: Cli, folder: Path, text: str = OPERATIONS, db: str = "book.db") -> None:
    (folder / "ops.json").write_text(text)
    assert cli("apply", "ops.json", "--db", db).code == 0


def test_what_a_person_reads(cli: Cli, folder: Path, golden: Callable[[str, str], None]) -> None:
    put(cli, folder)
    said = [
        cli("export", "--form", "ledger"),
        cli("export", "--form", "ledger"),
        cli("import", "playbook.ledger.jsonl", "--db", "other.db", "--dry-run"),
        cli("import", "playbook.ledger.jsonl", "--db", "other.db"),
        cli("import", "playbook.ledger.jsonl", "--db", "other.db", "--trust"),
        cli("import", "playbook.ledger.jsonl", "--db", "other.db"),
    ]
    assert [one.code for one in said] == [0, 0, 3, 3, 0, 0]
    golden("cli/sharing.txt", read_by_people("".join(one.steady for one in said)))


def test_stdout_stdin_and_a_file_hold_the_same(cli: Cli, folder: Path) -> None:
    put(cli, folder)
    assert cli("export", "one.jsonl").code == 0
    text = cli("export", "-", "--form", "ledger").out
    assert text == (folder / "one.jsonl").read_text()
    found = cli("import", "-", "--trust", "--json", "--db", "other.db", input=text).json
    assert (found["form"], found["new"], found["added"], found["skipped"]) == ("ledger", 1, 1, 0)
    assert cli("export", "-", "--form", "ledger", "--db", "other.db").out == text
    assert cli("ledger", "verify", "--db", "other.db").code == 0


def test_a_folder_and_a_file_that_is_no_ledger_are_told(cli: Cli, folder: Path) -> None:
    (folder / "here").mkdir()
    told = cli("export", "here", "--form", "ledger")
    assert (told.code, "is a folder" in told.err) == (2, True)
    (folder / "rules.md").write_text("- Round half up.\n")
    told = cli("import", "rules.md", "--trust")
    assert (told.code, "--trust belongs to a ledger" in told.err) == (2, True)
    assert cli("export", "no/such/x.jsonl").code == 2


def test_a_file_with_conflict_markers_is_told_by_line_and_nothing_comes_in(cli: Cli, folder: Path) -> None:
    put(cli, folder)
    text = cli("export", "-", "--form", "ledger").out
    (folder / "team.jsonl").write_text(f"<<<<<<< ours\n{text}=======\n")
    told = cli("import", "team.jsonl", "--trust", "--db", "other.db")
    assert told.code == 2
    assert "team.jsonl, line 1: it is a conflict marker" in told.err
    assert cli("status", "--json", "--db", "other.db").json["counts"]["deltas"] == 0


def test_a_ledger_goes_where_scope_says_and_nowhere_else(cli: Cli, folder: Path) -> None:
    put(cli, folder)
    cli("export", "team.jsonl")
    assert cli("import", "team.jsonl", "--trust", "--scope", "other/desk").code == 0
    assert len(cli("show", "--json", "--scope", "other/desk").json["lessons"]) == 1
    assert cli("show", "--json", "--scope", "third/desk").json["lessons"] == []


def test_secrets_that_rules_of_today_take_out_leave_the_ledger_before_it_is_written(cli: Cli, folder: Path) -> None:
    from tenure.playbook.delta import Add, Delta
    from tenure.stores.sqlite import open_sqlite

    token = "ghp_" + "Zx81" * 9
    store = open_sqlite(f"sqlite:///{folder}/book.db")
    with store.writing("acme/finance") as work:  # as an older Tenure would have stored it
        work.admit(Delta("01", [Add("s", f"Log in with {token}")]))
    store.close()
    told = cli("export", "team.jsonl")
    assert "1 delta held what redaction takes out today" in told.err
    assert token not in (folder / "team.jsonl").read_text()
    assert token.encode() not in (folder / "book.db").read_bytes()
    assert cli("ledger", "verify").code == 0
