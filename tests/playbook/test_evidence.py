"""Usefulness with its uncertainty: counts move it the right way, and once is never proof."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Lesson
from tenure.playbook.evidence import HALF_LIFE_DAYS, age_in_days, usefulness
from tenure.playbook.lessons import MOST_COUNTED, Tallies

count = st.one_of(st.integers(0, 50), st.integers(0, MOST_COUNTED))
tallies = st.builds(Tallies, helpful=count, harmful=count, neutral=count, shown=count, support=count)
small = st.builds(Tallies, helpful=st.integers(0, 60), harmful=st.integers(0, 60), neutral=st.integers(0, 30), support=st.integers(0, 8))

NEAR = 1e-12


@given(tallies, st.floats(-10, 10_000))
def test_bounds_enclose_the_mean_between_zero_and_one(counts: Tallies, age: float) -> None:
    found = usefulness(counts, age_days=age)
    assert 0.0 <= found.lower <= found.mean <= found.upper <= 1.0
    assert found.weight >= 0


@given(small)
def test_what_helped_once_more_is_not_less_useful(counts: Tallies) -> None:
    before, after = usefulness(counts), usefulness(replace(counts, helpful=counts.helpful + 1))
    assert after.mean > before.mean
    assert after.lower >= before.lower - NEAR


@given(small)
def test_what_misled_once_more_is_not_more_useful(counts: Tallies) -> None:
    before, after = usefulness(counts), usefulness(replace(counts, harmful=counts.harmful + 1))
    assert after.mean < before.mean
    assert after.upper <= before.upper + NEAR


@given(small)
def test_another_run_that_shows_it_does_not_make_it_less_useful(counts: Tallies) -> None:
    after = usefulness(replace(counts, support=counts.support + 1))
    assert after.lower >= usefulness(counts).lower - NEAR


@given(small)
def test_a_run_in_which_it_made_no_difference_never_makes_it_proven(counts: Tallies) -> None:
    before, after = usefulness(counts), usefulness(replace(counts, neutral=counts.neutral + 1))
    assert before.proven or not after.proven


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_being_seen_or_shown_is_no_merit(shown: int, cited: int, withheld: int) -> None:
    assert usefulness(Tallies(shown=shown, cited=cited, withheld=withheld)) == usefulness(Tallies())


@pytest.mark.parametrize(
    "counts",
    [Tallies(), Tallies(helpful=1), Tallies(support=1), Tallies(helpful=1, support=1), Tallies(helpful=1, neutral=20, shown=10**6)],
)
def test_a_lesson_seen_once_is_never_proven(counts: Tallies) -> None:
    assert not usefulness(counts).proven


@given(small.map(lambda counts: replace(counts, helpful=0)))
def test_support_alone_is_half_a_proof_at_best(counts: Tallies) -> None:
    assert not usefulness(replace(counts, harmful=max(counts.harmful, 3))).proven


def test_many_helpful_runs_are_a_proof_and_harmful_ones_take_it_back() -> None:
    assert usefulness(Tallies(helpful=5)).proven
    assert not usefulness(Tallies(helpful=5, harmful=5)).proven


@given(small, st.floats(0, 5_000), st.floats(0, 5_000))
def test_age_brings_every_lesson_nearer_to_what_is_not_known(counts: Tallies, one: float, other: float) -> None:
    young, old = (usefulness(counts, age_days=age) for age in sorted((one, other)))
    assert old.weight <= young.weight
    assert abs(old.mean - 0.5) <= abs(young.mean - 0.5) + NEAR


def test_counts_weigh_half_after_the_half_life() -> None:
    assert usefulness(Tallies(helpful=8), age_days=HALF_LIFE_DAYS) == usefulness(Tallies(helpful=4))


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("updated", "at", "days"),
    [
        ("2026-02-27T12:00:00+00:00", NOW, 2.0),
        ("2026-02-27T13:00:00+01:00", NOW, 2.0),
        ("2026-02-27T12:00:00", NOW, 2.0),
        ("2026-02-27T12:00:00+00:00", NOW.replace(tzinfo=None), 2.0),
        ("2026-02-27", NOW, 2.5),
        ("2026-03-02T12:00:00+00:00", NOW, 0.0),
        ("", NOW, 0.0),
        ("yesterday", NOW, 0.0),
        ("2026-02-27T12:00:00+00:00", None, 0.0),
    ],
)
def test_the_age_of_a_lesson_in_days(updated: str, at: datetime | None, days: float) -> None:
    lesson = Lesson(id="x-1", section="s", text="text", updated=updated)
    assert age_in_days(lesson, at) == pytest.approx(days)
    assert age_in_days(lesson, at and at + timedelta(days=1)) >= days
