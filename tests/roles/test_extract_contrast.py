"""What runs teach beside one another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.playbook.run import Outcome, Run
from tenure.roles.extract import extract
from tenure.roles.reflection import Insight
from tests.roles.told import call, gave, refused, told, user
from tests.roles.told_corpus import PAIRS, sequence_runs


def contrast(run: Run, *earlier: Run) -> list[Insight]:
    return [insight for insight in extract(run, earlier=earlier).insights if insight.about.startswith("contrast:")]


@pytest.mark.parametrize("name", PAIRS)
def test_a_difference_is_the_same_whichever_run_came_first(name: str) -> None:
    failed, succeeded = PAIRS[name]
    assert contrast(failed, succeeded)[0].text == contrast(succeeded, failed)[0].text


@pytest.mark.parametrize("name", PAIRS)
def test_a_difference_rests_on_both_runs(name: str) -> None:
    failed, succeeded = PAIRS[name]
    [insight] = contrast(failed, succeeded)
    assert {(place.run, place.role) for place in insight.evidence} == {("f", "failure"), ("s", "success")}
    assert insight.applies_when


def test_other_tasks_equal_outcomes_and_unknown_ones_are_not_compared() -> None:
    failed, succeeded = PAIRS["an argument"]
    other_task = replace(succeeded, task=replace(succeeded.task, key="task-10"))
    no_key = replace(failed, task=replace(failed.task, key=""))
    unknown = replace(succeeded, outcome=Outcome())
    assert contrast(failed, other_task) == contrast(no_key, succeeded) == contrast(failed, unknown) == contrast(failed, failed) == []


def test_runs_that_did_the_same_teach_nothing() -> None:
    failed, _ = PAIRS["an argument"]
    assert contrast(failed, replace(failed, id="s", outcome=Outcome(success=True, signal="test"))) == []


def test_rejected_calls_and_prose_are_no_difference() -> None:
    prose = "The customer is upset and asks for somebody who can decide what is to be done now."
    failed = told(user("x"), call("escalate", summary=prose), gave("ok"), success=False, key="k", id="f")
    succeeded = told(
        user("x"),
        call("escalate", why="no"),
        refused("no"),
        call("escalate", summary=prose[::-1]),
        gave("ok"),
        success=True,
        key="k",
        id="s",
    )
    assert contrast(failed, succeeded) == []


def test_fields_that_only_one_run_spells_out_are_no_difference() -> None:
    legs = ([{"train": "ICE702", "day": "2026-03-02"}], [{"train": "ICE702", "day": "2026-03-02", "from": "Ulm"}])
    failed, succeeded = (
        told(user("x"), call("book", legs=given), gave("ok"), success=success, key="k", id=name)
        for given, success, name in ((legs[0], False, "f"), (legs[1], True, "s"))
    )
    assert contrast(failed, succeeded) == []


def test_the_likest_run_is_compared_with() -> None:
    def run(*speeds: str, name: str, success: bool) -> Run:
        steps = [step for speed in speeds for step in (call("ship", speed=speed), gave("ok"))]
        return told(user("x"), *steps, success=success, key="k", id=name)

    far, near = run("slow", "slower", name="far", success=True), run("fast", "normal", name="near", success=True)
    [insight] = contrast(run("fast", "express", name="f", success=False), far, near)
    assert {place.run for place in insight.evidence} == {"f", "near"}


class TestSequence:
    """The order of tools that successes share."""

    def test_three_successes_of_a_kind_make_a_sequence(self) -> None:
        *before, last = sequence_runs()
        [insight] = extract(last, earlier=before).insights
        assert insight.tool_order == ("find_customer", "get_order", "refund")
        assert insight.about == "sequence:shop/refund"

    def test_two_do_not(self) -> None:
        first, *_, last = sequence_runs()
        assert extract(last, earlier=[first]).insights == ()

    def test_failures_and_other_kinds_do_not_count(self) -> None:
        first, second, last = sequence_runs()
        failure = replace(second, outcome=Outcome(success=False, signal="test"))
        other = replace(second, task=replace(second.task, kind="bank"))
        assert extract(last, earlier=[first, failure]).insights == ()
        assert extract(last, earlier=[first, other]).insights == ()

    def test_the_text_does_not_change_with_the_number_of_runs(self) -> None:
        first, second, last = sequence_runs()
        three = extract(last, earlier=[first, second]).insights[0]
        four = extract(last, earlier=[first, second, replace(second, id="r9")]).insights[0]
        assert three.text == four.text

    def test_a_shell_is_no_goal(self) -> None:
        runs = [
            told(user("x"), call("Read", path="a"), gave("x"), call("Bash", command="make"), gave("ok"), success=True, id=f"r{n}")
            for n in range(4)
        ]
        assert extract(runs[3], earlier=runs[:3]).insights == ()
