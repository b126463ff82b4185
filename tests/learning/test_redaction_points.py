"""Secrets go at each of the three points: when a run or a lesson is written, when it is recalled, when it leaves."""

from __future__ import annotations

import json

import pytest

from tenure import Add, Delta, Outcome, Playbook, Run, apply, dumps
from tenure.learning.exchange import written
from tenure.playbook.notation import Form
from tenure.playbook.run import Origin, Step, Task
from tenure.testing import open_trial

TOLD = {
    "a token by its shape": ("use " + "ghp_" + "a1B2" * 9, "a1B2" * 9),
    "a password in an address": ("connect to postgres://app:kestrel77@db/app", "kestrel77"),
    "a word in a variable": ("export DB_PASSWORD=tangerine", "tangerine"),
    "a word beside a login": ("user: anna, password: lantern", "lantern"),
    "a row of the database": ("INSERT INTO users (name, password) VALUES ('anna', 'pelican42');", "pelican42"),
    "a one-time code": ("Your verification code is 481920", "481920"),
    "recovery codes": ("recovery codes: a1b2-c3d4, e5f6-a7b8", "a1b2-c3d4"),
    "a mail address": ("write to anna.lee@posteo.example", "anna.lee"),
    "a card": ("pay with 4111 1111 1111 1111", "4111 1111 1111 1111"),
}


@pytest.mark.parametrize(("told", "secret"), TOLD.values(), ids=TOLD)
def test_nothing_secret_is_written(told: str, secret: str) -> None:
    run = Run(
        id="r1",
        scope="local/trial",
        task=Task(text=f"reconcile: {told}"),
        steps=(
            Step(kind="tool_call", name="shell", arguments={"command": told, "lines": [told]}),
            Step(kind="tool_result", name="shell", content=f"$ {told}\n{told}\n", error=told),
        ),
        outcome=Outcome(success=False, signal="test", feedback=told),
        origin=Origin(document=told),
    )
    with open_trial() as book:
        book.learn(run)
        book.apply([Add("s", f"First {told}", applies_when=told, avoid=told)])
        with book.store.reading(book.scope) as reading:
            kept = repr(reading.run("r1")) + repr(reading.ledger()) + dumps(reading.playbook())
    assert "[redacted:" in kept
    assert secret not in kept


@pytest.mark.parametrize(("told", "secret"), TOLD.values(), ids=TOLD)
def test_what_older_rules_let_through_is_not_recalled(told: str, secret: str) -> None:
    with open_trial() as book:
        with book.store.writing(book.scope) as work:
            work.admit(Delta("01J00", [Add("s", f"First {told}", applies_when=told)], scope=book.scope))
            work.keep_run(Run(id="r1", scope=book.scope, task=Task(text=told), outcome=Outcome(success=True, signal="test")), learned=False)
        recalled = book.context("reconcile", budget=2_000).text
    assert "[redacted:" in recalled
    assert secret not in recalled


@pytest.mark.parametrize(("budget", "cored"), [(1_500, True), (1_900, False), (2_300, True)])
def test_a_core_that_fits_no_longer_once_its_secrets_are_marked_is_left_out_and_the_budget_holds(budget: int, *, cored: bool) -> None:
    secrets = [" ".join(f"pw=hunter{number}{place}" for place in range(9)) for number in range(40)]
    with open_trial() as book:
        with book.store.writing(book.scope) as work:
            work.admit(Delta("01J00", [Add("s", text) for text in secrets], scope=book.scope))
        found = book.context("log in as hunter", budget=budget)
    assert found.tokens <= budget
    assert "hunter3" not in found.text
    assert found.lessons
    assert bool(found.core) == bool(found.stable) == cored, "between, the whole playbook fits only as long as it is unmarked"


@pytest.mark.parametrize("form", ["ace", "json"])
@pytest.mark.parametrize(("told", "secret"), TOLD.values(), ids=TOLD)
def test_what_older_rules_let_through_does_not_leave(told: str, secret: str, form: Form) -> None:
    stored = apply(Playbook(), Delta("01J00", [Add("s", f"First {told}", applies_when=told, avoid=told)])).playbook
    text = written(stored, form)
    assert "[redacted:" in text
    assert secret not in text
    if form == "json":
        json.loads(text)
