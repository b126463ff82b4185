"""Runs and outcomes as values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Outcome, Run
from tenure.playbook.run import RELIABILITY, Origin, Task


@given(st.floats(0, 1))
def test_score_and_success_agree(score: float) -> None:
    assert Outcome(score=score).success is (score >= 0.5)
    assert Outcome(success=score >= 0.5).score == float(score >= 0.5)


@pytest.mark.parametrize("score", [-0.01, 1.01, math.nan, math.inf])
def test_a_score_outside_its_range_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        Outcome(score=score)


def test_an_unknown_signal_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'rumour' is not known\. Use one of: test,"):
        Outcome(signal="rumour")  # type: ignore[arg-type]


@pytest.mark.parametrize("signal", RELIABILITY)
def test_each_signal_has_its_reliability_unless_the_reporter_says_otherwise(signal: str) -> None:
    assert Outcome(signal=signal).reliability == RELIABILITY[signal]  # type: ignore[arg-type]
    assert Outcome(signal=signal, reliability=0.2).reliability == 0.2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "baseline", "spread", "higher", "success"),
    [
        (2.2, 4.0, None, True, False),
        (4.4, 4.0, None, True, True),
        (4.1, 4.0, None, True, None),
        (4.4, 4.0, 0.5, True, None),
        (2.2, 4.0, None, False, True),
        (1.0, 0.0, None, True, True),
        (0.0, 0.0, None, True, None),
        (-2.0, -4.0, None, True, True),
        (math.nan, 4.0, None, True, None),
        (4.0, math.nan, None, True, None),
        (9.0, 4.0, math.nan, True, None),
        (math.inf, 4.0, None, True, True),
    ],
)
def test_a_business_figure_is_an_outcome_undecided_inside_its_noise(
    value: float, baseline: float, spread: float | None, higher: bool, success: bool | None
) -> None:
    outcome = Outcome.metric(value, baseline, spread, higher, feedback="March")
    assert outcome.success is success
    assert outcome.honest is (success is not None)
    assert f"{value:g} against a baseline of {baseline:g}; March" in outcome.feedback


def test_a_task_may_be_given_as_plain_words() -> None:
    assert Run(id="r", task="reconcile invoice 7").task == Task(text="reconcile invoice 7")  # type: ignore[arg-type]


def test_an_origin_is_named_by_its_parts() -> None:
    assert Origin().name == "local/api"
    assert Origin(principal="ann", channel="web", document="example.org").name == "ann/web/example.org"
