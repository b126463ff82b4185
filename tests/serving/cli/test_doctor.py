"""`tenure doctor`: what is there, what would be used, whether it is sound."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.serving.cli.conftest import Cli


def test_a_sound_database_passes(cli: Cli, runs: None) -> None:
    found = cli("doctor", "--json")
    assert (found.code, found.json["ok"], found.json["problems"]) == (0, True, [])
    assert found.json.keys() >= {
        "version",
        "python",
        "extras",
        "model",
        "embedder",
        "database",
        "ledger",
        "scope",
        "counts",
        "pending",
        "held",
    }
    assert (found.json["counts"]["runs"], found.json["database"]["integrity"], found.json["ledger"]) == (2, "ok", "ok")


def test_what_a_person_reads_names_each_part(cli: Cli, runs: None) -> None:
    answer = cli("doctor")
    assert answer.err == "Everything is sound.\n"
    for part in ("tenure", "SQLite", "extra models", "database", "integrity", "model", "embedder", "ledger", "scope"):
        assert any(line.startswith(f"ok  {part} ") or line.startswith(f"--  {part} ") for line in answer.out.splitlines()), part
    assert "none: keyword search" in answer.out


def test_without_a_database_it_says_so_and_makes_none(cli: Cli, folder: Path) -> None:
    answer = cli("doctor")
    assert (answer.code, "book.db is not there yet" in answer.out) == (0, True)
    assert not (folder / "book.db").exists()


def test_a_ledger_that_was_tampered_with_is_found(cli: Cli, playbook: None, folder: Path) -> None:
    with sqlite3.connect(folder / "book.db") as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(name for name in tables if "digest" in {row[1] for row in connection.execute(f"PRAGMA table_info({name})")})
        connection.execute(f"UPDATE {table} SET digest = '00'")
    connection.close()
    answer = cli("doctor", "--json")
    assert (answer.code, answer.json["ok"]) == (1, False)
    assert "acme/finance" in answer.json["ledger"]


def test_a_file_that_is_no_database_is_wrong(cli: Cli, folder: Path) -> None:
    (folder / "book.db").write_bytes(b"this is no database at all" * 100)
    answer = cli("doctor")
    assert (answer.code, "!!  database" in answer.out) == (1, True)
    assert list(folder.glob("book.db.damaged-*")) != []


def test_a_model_that_cannot_be_opened_is_wrong(cli: Cli, runs: None) -> None:
    answer = cli("doctor", "--json", TENURE_MODEL="nothing")
    assert (answer.code, answer.json["model"]["source"]) == (1, "TENURE_MODEL")
    assert any("nothing" in problem for problem in answer.json["problems"])
