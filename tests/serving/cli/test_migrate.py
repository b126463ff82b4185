"""`tenure migrate`, and the other commands on PostgreSQL as a person types them."""

from __future__ import annotations

import pytest

from tests import postgres
from tests.serving.cli.conftest import Cli

served = pytest.mark.skipif(bool(postgres.MISSING), reason=postgres.MISSING)


def test_a_file_is_brought_up_to_date_and_one_that_is_not_there_is_not_made(cli: Cli, runs_file: str) -> None:
    missing = cli("migrate")
    assert (missing.code, "There is no database at book.db yet" in missing.err) == (2, True)
    cli("learn", runs_file)
    assert cli("migrate", "--json").json["database"] == "sqlite:///book.db"
    assert "the newest" in cli("migrate").err


@served
def test_a_database_is_set_up_used_and_set_up_again(cli: Cli, runs_file: str) -> None:
    url = postgres.empty_database()
    first = cli("migrate", "--db", url, "--role", "app_of_the_cli")
    assert first.code == 0, first.err
    assert "every table is walled in by tenant" in first.err
    application = first.out.strip().removeprefix("TENURE_DB=")
    password = application.partition("app_of_the_cli:")[2].partition("@")[0]
    assert len(password) > 20
    assert "Its password is as before, and is not shown" in cli("migrate", "--db", url, "--role", "app_of_the_cli").err
    again = cli("migrate", "--db", url, "--role", "app_of_the_cli", "--json").json
    assert (again["role_made"], again["password"], again["before"]) == (False, "", again["now"])
    said = [cli(*words, TENURE_DB=application) for words in (("learn", runs_file, "--dry-run"), ("learn", runs_file), ("status",))]
    said += [cli(*words, TENURE_DB=application) for words in (("show",), ("context", "close the books"), ("doctor",), ("ledger", "verify"))]
    assert [one.code for one in said] == [0] * len(said), [one.err for one in said]
    assert [one.out + one.err for one in said if password in one.out + one.err] == []
    assert "Everything is sound" in said[5].err + said[5].out
    wrong = cli("status", TENURE_DB=url)
    assert (wrong.code, "is a superuser" in wrong.err) == (1, True)


@served
def test_a_file_moves_with_all_it_holds_and_is_proved(cli: Cli, runs_file: str) -> None:
    cli("learn", runs_file)
    database = postgres.fresh_database()
    shown = cli("show", "--json").json
    moved = cli("migrate", "--from", "book.db", "--to", database.url)
    assert moved.code == 0, moved.err
    assert "Proved there" in moved.err
    assert cli("show", "--json", "--db", database.url).json == shown
    refused = cli("migrate", "--from", "book.db", "--to", database.url)
    assert (refused.code, "Nothing was copied" in refused.err) == (1, True)
    assert cli("migrate", "--from", "book.db").code == 2


@served
def test_forgetting_says_what_it_cannot_reach(cli: Cli, runs_file: str) -> None:
    database = postgres.fresh_database()
    cli("learn", runs_file, "--db", database.url)
    done = cli("forget", "--run", "week-1", "--yes", "--db", database.url)
    assert done.code == 0, done.err
    assert "write-ahead log" in done.err
    assert "backups" in done.err
    found = cli("forget", "--finish", "--json", "--db", database.url).json["scrubbed"]
    assert found["done"]
    assert len(found["beyond"]) == 3
