"""One vote per untrusted origin: in tallies, in corroboration and in recall."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure import Add, Evidence, Outcome, Run, Step, Task, Tenure
from tenure.playbook.run import Origin

MALLORY = Origin(principal="mallory", channel="web", trusted=False)


@pytest.fixture
def book() -> Tenure:
    """An empty playbook in memory."""
    return Tenure.open("memory://", scope="local/votes", embedder="none")


def failing(one: str, origin: Origin, error: str = "amount does not match: give it in cents") -> Run:
    """A run in which a tool rejects a call and accepts it in another form."""
    steps = (
        Step(kind="tool_call", role="assistant", name="book", arguments={"amount": "12.50"}, call_id="a"),
        Step(kind="tool_result", role="tool", name="book", error=error, content=error, call_id="a"),
        Step(kind="tool_call", role="assistant", name="book", arguments={"amount": "1250"}, call_id="b"),
        Step(kind="tool_result", role="tool", name="book", content="booked", call_id="b"),
    )
    return Run(id=one, task=Task(text=f"book invoice {one}"), steps=steps, origin=origin, outcome=Outcome(success=True, signal="test"))


def named(number: int) -> Origin:
    """One of the attacker's names."""
    return replace(MALLORY, document=f"name-{number}")


def test_an_untrusted_origin_corroborates_a_lesson_once_whatever_its_names(book: Tenure) -> None:
    for number in range(10):
        book.learn(failing(f"m{number}", named(number)))
    (lesson,) = [one for one in book.playbook.lessons if one.about.startswith("tool-error:book")]
    assert (lesson.tallies.support, lesson.status) == (1, "provisional")
    book.learn(failing("ours", Origin()))
    after = book.playbook.lesson(lesson.id)
    assert after is not None
    assert (after.tallies.support, after.status) == (2, "active")


def test_trusted_origins_have_a_vote_for_each_run(book: Tenure) -> None:
    for number in range(3):
        book.learn(failing(f"r{number}", Origin()))
    (lesson,) = [one for one in book.playbook.lessons if one.about.startswith("tool-error:book")]
    assert (lesson.tallies.support, lesson.status) == (3, "active")


@pytest.mark.parametrize("success", [True, False])
def test_how_the_runs_of_an_untrusted_origin_ended_counts_for_nothing(book: Tenure, success: bool) -> None:
    book.apply([Add("s", "add the numbers up twice", id="s-1", author="extractive", evidence=(Evidence(run="r0"),))])
    outcome = Outcome(success=success, signal="test")
    for number in range(8):
        book.learn(Run(id=f"m{number}", task=Task(text="add up"), origin=named(number), shown=("s-1",), cited=("s-1",), outcome=outcome))
    lesson = book.playbook.lesson("s-1")
    assert lesson is not None
    assert (lesson.tallies.helpful, lesson.tallies.harmful) == (0, 0)
    assert lesson.tallies.cited == 8
    assert lesson.live
    for number in range(3):
        book.learn(Run(id=f"r{number}", task=Task(text="add up"), shown=("s-1",), cited=("s-1",), outcome=outcome))
    lesson = book.playbook.lesson("s-1")
    assert lesson is not None
    assert lesson.tallies.helpful + lesson.tallies.harmful == 3


def test_an_untrusted_origin_has_one_case_among_those_recalled(book: Tenure) -> None:
    said = "which rate does the note bear"
    for number in range(260):
        ours = number >= 250
        one = Run(
            id=f"c{number}",
            task=Task(text=f"{said} {'' if ours else 'exactly'} {number}"),
            origin=Origin() if ours else named(number),
            outcome=Outcome(success=True, signal="label", expected="2 %" if ours else "99 %", feedback=f"answer {number}"),
        )
        with book.store.writing(book.scope) as work:
            work.keep_run(one, learned=True)
    shown = book.context(f"{said} 255")
    theirs = [run for run in shown.cases if int(run[1:]) < 250]
    assert len(theirs) <= 1
    book.revoke_origin("mallory")
    shown = book.context(f"{said} 255")
    assert shown.cases
    assert all(int(run[1:]) >= 250 for run in shown.cases)
