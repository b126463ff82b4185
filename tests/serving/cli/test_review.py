"""`tenure review`: changes that wait for a person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tenure import Retire, Tenure
from tenure.ports import HeldChange
from tests.serving.cli.conftest import Cli, write_operations


@pytest.fixture
def waiting(cli: Cli, playbook: None, folder: Path) -> None:
    """Two changes that wait: a lesson that was added held, and a retirement from a run."""
    cli("apply", write_operations(folder, {"op": "ADD", "section": "mail", "id": "mail-1", "text": "Reply to all.\nAlways."}))
    with Tenure.open("sqlite:///book.db", scope="acme/finance") as book, book.store.writing(book.scope) as work:
        for place, text in enumerate(("it changes what was imported", "second")):
            work.hold(
                HeldChange(
                    id=f"01JZX8D2H4M6P8R0S2T4V6W8Y{place}",
                    operation=Retire(f"inv-0000{place + 1}", "misled in 3 runs"),
                    reason=text,
                    author="model:x",
                    run="week-9",
                    at=f"2026-01-05T09:00:0{place}+00:00",
                )
            )


def test_what_a_person_reads(cli: Cli, waiting: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/review.txt", cli("review").steady + cli("review", "show", "1").steady)


def test_json_has_the_promised_key(cli: Cli, waiting: None) -> None:
    held = cli("review", "list", "--json").json["held"]
    assert [change["number"] for change in held] == [1, 2]
    assert held[0]["operation"] == {"op": "RETIRE", "id": "inv-00001", "reason": "misled in 3 runs"}
    assert held[0].keys() >= {"id", "operation", "reason", "author", "run", "at"}
    assert cli("review", "show", "2", "--json").json["held"][0] == held[1]


def test_a_lesson_added_held_waits_as_well(cli: Cli, folder: Path) -> None:
    cli("apply", write_operations(folder, {"op": "ADD", "section": "s", "id": "s-1", "text": "T", "status": "held"}))
    assert [change["id"] for change in cli("review", "--json").json["held"]] == ["s-1"]
    approved = cli("review", "approve", "s-1", "--json").json
    assert (approved["approved"], approved["receipts"][0]["status"]) == (["s-1"], "applied")
    assert [lesson["status"] for lesson in cli("show", "--json").json["lessons"]] == ["active"]


def test_approved_changes_are_one_delta_of_the_reviewer_that_can_be_undone(cli: Cli, waiting: None) -> None:
    before = cli("show", "--json").json["lessons"]
    found = cli("review", "approve", "1", "2", "--json").json
    assert found["approved"] == ["01JZX8D2H4M6P8R0S2T4V6W8Y0", "01JZX8D2H4M6P8R0S2T4V6W8Y1"]
    newest = cli("log", "-n", "1", "--json").json["deltas"][0]
    assert (newest["author"], newest["cause"], len(newest["operations"])) == ("person:ada", "review", 2)
    assert {lesson["id"] for lesson in cli("show", "--json").json["lessons"]} == {"jp-00001", "mail-1"}
    cli("rollback", "-1")
    assert [lesson["id"] for lesson in cli("show", "--json").json["lessons"]] == [lesson["id"] for lesson in before]
    assert [change["id"] for change in cli("review", "--json").json["held"]] == found["approved"]  # they wait again


def test_rejected_changes_change_nothing_and_wait_no_more(cli: Cli, waiting: None) -> None:
    answer = cli("review", "reject", "--all", "--reason", "it names a customer")
    assert (answer.code, answer.err.endswith("Rejected 2 changes.\n")) == (0, True)
    assert cli("review", "--json").json["held"] == []
    assert len(cli("show", "--json").json["lessons"]) == 4


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_one_wrong_id_decides_nothing(cli: Cli, waiting: None, verb: str) -> None:
    answer = cli("review", verb, "1", "9")
    assert (answer.code, "'9' is no held change" in answer.err) == (2, True)
    assert len(cli("review", "--json").json["held"]) == 2


@pytest.mark.parametrize("arguments", [["approve"], ["reject"], ["approve", "1", "--all"]])
def test_what_is_decided_must_be_named(cli: Cli, waiting: None, arguments: list[str]) -> None:
    assert cli("review", *arguments).code == 2
    assert len(cli("review", "--json").json["held"]) == 2


def test_nothing_waiting_says_so(cli: Cli, playbook: None) -> None:
    answer = cli("review")
    assert (answer.code, answer.out, answer.err) == (0, "", "Nothing waits for a review in scope acme/finance.\n")


@pytest.mark.parametrize("named", ["", " ", "²", "\udcff"])
def test_a_name_that_says_nothing_chooses_nothing(cli: Cli, named: str) -> None:
    cli("apply", "-", input='[{"op": "ADD", "section": "s", "text": "wait", "status": "held"}]')
    assert len(cli("review", "list", "--json").json["held"]) == 1
    assert cli("review", "approve", named).code == 2
    assert len(cli("review", "list", "--json").json["held"]) == 1
