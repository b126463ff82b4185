"""Usefulness with its uncertainty: counts move it the right way, and once is never proof."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Lesson
from tenure.playbook.evidence import (
    DEMOTE_AT,
    HALF_LIFE_DAYS,
    RETIRE_AT,
    Observation,
    age_in_days,
    doubt,
    track_record,
    usefulness,
)
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


# -- run by run ---------------------------------------------------------------------------------------

effects = st.sampled_from(("helped", "misled", "neutral", ""))
exposures = st.sampled_from(("cited", "shown", "withheld", "absent"))
observed = st.lists(
    st.builds(
        Observation,
        run=st.just("r"),
        effect=effects,
        exposure=exposures,
        right=st.none() | st.booleans(),
        reliability=st.floats(0, 1),
        at=st.sampled_from(("", "2026-01-01T00:00:00+00:00", "2026-02-27T12:00:00+00:00", "yesterday")),
    ),
    max_size=20,
)


def helped(number: int) -> list[Observation]:
    return [Observation(run=f"h{place}", effect="helped", exposure="cited") for place in range(number)]


def misled(number: int, reliability: float = 1.0) -> list[Observation]:
    return [Observation(run=f"m{place}", effect="misled", exposure="cited", reliability=reliability) for place in range(number)]


@given(observed)
def test_a_track_record_keeps_exposures_apart_and_its_bounds_in_order(seen: list[Observation]) -> None:
    record = track_record(seen, at=NOW)
    assert record.cited + record.shown + record.withheld <= len(seen)
    assert record.would_have_been_right <= record.support
    assert record.would_have_been_wrong <= record.contradictions
    assert record.support + record.contradictions <= len(seen)
    assert 0 <= record.usefulness.lower <= record.usefulness.mean <= record.usefulness.upper <= 1
    assert 0 <= record.helpful <= record.support
    assert 0 <= record.harmful <= record.contradictions
    assert record.doubt >= 0


def test_what_would_have_been_right_counts_half_and_apart_from_what_helped() -> None:
    seen = [
        Observation(run="a", exposure="withheld", right=True),
        Observation(run="b", exposure="absent", right=False),
        Observation(run="c", effect="helped", exposure="shown", right=True, at="2026-02-27T12:00:00+00:00"),
    ]
    record = track_record(seen)
    assert (record.would_have_been_right, record.would_have_been_wrong, record.withheld, record.shown) == (1, 1, 1, 1)
    assert record.last_seen == "2026-02-27T12:00:00+00:00"
    assert record.helpful < 1.5
    assert record.harmful < 0.5


@given(st.integers(0, 200), st.sampled_from((0.9, 1.0)))
def test_a_fact_that_flips_is_in_doubt_within_five_honest_failures(before: int, reliability: float) -> None:
    assert doubt([*misled(5, reliability), *helped(before)]) >= DEMOTE_AT
    assert doubt([*misled(4), *helped(before)]) < DEMOTE_AT
    assert doubt([*misled(8, reliability), *helped(before)]) >= RETIRE_AT


@given(observed)
def test_a_success_never_adds_to_doubt_and_a_failure_never_takes_from_it(seen: list[Observation]) -> None:
    assert doubt([*helped(1), *seen]) <= doubt(seen) <= doubt([*misled(1), *seen])


def reached(level: int, *, noise: float, runs: int) -> float:
    """Probability that a cumulative sum that begins at 0 reaches a level within so many runs, worked out state by state."""
    chances = [1.0] + [0.0] * level
    for _ in range(runs):
        after = [0.0] * level + [chances[level]]
        for state, chance in enumerate(chances[:level]):
            after[state + 1] += chance * noise
            after[max(0, state - 1)] += chance * (1 - noise)
        chances = after
    return chances[level]


def test_a_proven_lesson_survives_200_runs_with_a_fifth_of_the_labels_wrong() -> None:
    assert reached(8, noise=0.2, runs=200) == pytest.approx(0.0013, abs=0.0001)
    assert reached(5, noise=0.2, runs=200) == pytest.approx(0.083, abs=0.001)


def test_what_was_long_ago_says_less_of_what_holds_now() -> None:
    assert track_record([*misled(10), *helped(30)]).usefulness.mean < usefulness(Tallies(helpful=30, harmful=10)).mean
    assert track_record([*helped(10), *misled(30)]).usefulness.mean > usefulness(Tallies(helpful=10, harmful=30)).mean
