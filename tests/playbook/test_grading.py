"""The belief in a lesson: bounded, moved the right way by each grade, quick where labels are honest and patient where they lie."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Lesson, Retire, Tally, Update
from tenure.playbook.credit import standing
from tenure.playbook.grading import (
    CHANCES,
    FIRST,
    LEAST_GRADES,
    MOST_GRADES,
    NOISES,
    PROMOTED,
    RETIRED,
    TRUSTED,
    UNGRADED,
    Belief,
    Filter,
    Grade,
    Noise,
    noise_of,
    read_grades,
)

verdicts = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), max_size=30)
weights = st.lists(st.floats(0.01, 1), min_size=len(NOISES), max_size=len(NOISES)).map(lambda some: tuple(one / sum(some) for one in some))


def after(verdicts: list[tuple[bool, float]]) -> Filter:
    found = UNGRADED
    for right, reliability in verdicts:
        found = found.after(right, reliability)
    return found


def run_of(right: int, wrong: int) -> Filter:
    return after([(True, 1.0)] * right + [(False, 1.0)] * wrong)


@given(verdicts, weights)
def test_a_belief_is_a_probability_and_the_states_sum_to_one(some: list[tuple[bool, float]], weights: tuple[float, ...]) -> None:
    found = after(some)
    assert -1e-9 <= found.belief(weights) <= 1 + 1e-9
    size = len(CHANCES) + 1
    for place in range(0, len(found.states), size):
        assert sum(found.states[place : place + size]) == pytest.approx(1.0)
    assert (found.right, found.wrong) == (sum(right for right, _ in some), sum(not right for right, _ in some))


@given(verdicts, weights, st.floats(0, 1))
def test_one_more_grade_for_a_lesson_never_leaves_it_less_believed_than_one_against_it(
    some: list[tuple[bool, float]], weights: tuple[float, ...], reliability: float
) -> None:
    before = after(some)
    for place in range(len(NOISES)):  # under each rate of noise, hence under any mixture that does not change
        alone = tuple(float(place == one) for one in range(len(NOISES)))
        nothing = before.after(True, 0.0).belief(alone)
        assert before.after(True, reliability).belief(alone) >= nothing - 1e-9
        assert before.after(False, reliability).belief(alone) <= nothing + 1e-9
    assert before.after(True, reliability).belief(weights) >= before.after(False, reliability).belief(weights) - 1e-9


@given(verdicts)
def test_a_grade_that_cannot_be_relied_on_says_the_same_whichever_it_is(some: list[tuple[bool, float]]) -> None:
    before = after(some)
    one, other = before.after(True, 0.0), before.after(False, 0.0)
    assert one.states == pytest.approx(other.states)
    assert one.evidence == pytest.approx(other.evidence)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=5))
def test_grades_count_in_the_order_of_their_cases_in_whatever_order_they_come(some: list[tuple[bool, int]]) -> None:
    grades = [Grade(lesson="a", run=f"r{number}", right=right, place=place) for number, (right, place) in enumerate(some)]
    found = read_grades(grades)
    assert all(read_grades(other) == found for other in permutations(grades))


def test_equal_grades_of_one_place_can_be_exchanged() -> None:
    first = [Grade(lesson="a", run=run, right=True, place=1) for run in ("r1", "r2")]
    last = [Grade(lesson="a", run="r3", right=False, place=2)]
    assert read_grades([*first, *last]) == read_grades([*first[::-1], *last])


def test_old_grades_beyond_the_newest_ones_say_nothing() -> None:
    old = [Grade(lesson="a", run=f"o{number}", right=False, place=number) for number in range(30)]
    new = [Grade(lesson="a", run=f"n{number}", right=True, place=100 + number) for number in range(MOST_GRADES)]
    assert read_grades([*old, *new]) == read_grades(new)


@given(st.lists(verdicts, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_noise_of_a_scope_is_a_distribution_and_does_not_depend_on_the_order_of_its_lessons(
    some: list[list[tuple[bool, float]]], chance: Random
) -> None:
    filters = [after(one) for one in some]
    found = noise_of(filters)
    assert sum(found.weights) == pytest.approx(1.0)
    assert NOISES[0] <= found.rate <= NOISES[-1]
    shuffled = filters[:]
    chance.shuffle(shuffled)
    assert noise_of(shuffled).evidence == pytest.approx(found.evidence)
    assert found.changed(filters[0], UNGRADED).changed(UNGRADED, filters[0]).evidence == pytest.approx(found.evidence)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.3])
def test_the_noise_of_labels_is_read_off_the_grades(rate: float) -> None:
    drawn = Random(f"noise {rate}")
    filters = [after([(drawn.random() >= rate, 1.0) for _ in range(40)]) for _ in range(12)]
    filters += [after([(drawn.random() < 0.2, 1.0) for _ in range(40)]) for _ in range(6)]  # wrong ones, right by chance
    assert noise_of(filters).rate == pytest.approx(rate, abs=0.06)


def scope_with(rate: float) -> Noise:
    drawn = Random(f"scope {rate}")
    return noise_of([after([(drawn.random() >= rate, 1.0) for _ in range(60)]) for _ in range(15)])


@pytest.mark.parametrize(("rate", "most"), [(0.0, 1), (0.1, 3), (0.3, 7)])
def test_what_flips_is_no_longer_trusted_within_a_few_failures_the_fewer_the_more_honest_the_labels(rate: float, most: int) -> None:
    noise = scope_with(rate)
    failures = next(number for number in range(1, 30) if run_of(40, number).belief(noise.weights) < TRUSTED)
    assert failures <= most


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3])
def test_what_is_right_survives_labels_that_lie(rate: float) -> None:
    noise, lost = scope_with(rate), 0
    for seed in range(40):
        drawn = Random(f"survives {rate} {seed}")
        found, doubted = run_of(20, 0), False
        for _ in range(100):
            found = found.after(drawn.random() >= rate)
            doubted = doubted or found.belief(noise.weights) < RETIRED
        lost += doubted
    assert lost <= 2, f"{lost} of 40 would have been retired at some time"


def test_the_first_grade_where_nothing_is_known_of_the_labels_decides_nothing() -> None:
    assert run_of(0, 0).belief(Noise().weights) == pytest.approx(FIRST)
    assert not run_of(1, 0).belief_in(Noise()).decides
    assert run_of(LEAST_GRADES, 0).belief_in(Noise()).decides


def lesson(status: str = "provisional", **more: object) -> Lesson:
    return Lesson(id="a-1", section="s", text="t", status=status, author="model:m", **more)  # type: ignore[arg-type]


def test_grades_promote_demote_and_retire_before_live_counts() -> None:
    sure, gone = Belief(value=PROMOTED, right=5, wrong=0), Belief(value=RETIRED / 2, right=2, wrong=5)
    shaken = Belief(value=TRUSTED - 0.01, right=9, wrong=1)
    misled = (Tally("a-1", harmful=9),)
    assert standing([lesson()], misled, honest=True, beliefs={"a-1": sure}) == (Update("a-1", status="active"),)
    assert standing([lesson("active")], (), honest=True, beliefs={"a-1": shaken}) == (Update("a-1", status="provisional"),)
    (retired,) = standing([lesson("active")], (Tally("a-1", helpful=9),), honest=True, beliefs={"a-1": gone})
    assert isinstance(retired, Retire)
    assert "5 of 7 kept cases" in retired.reason


def test_too_few_grades_leave_a_lesson_to_its_live_counts() -> None:
    few = Belief(value=0.01, right=0, wrong=LEAST_GRADES - 1)
    assert standing([lesson("active")], (), honest=True, beliefs={"a-1": few}) == ()
    promoted = standing([lesson()], (Tally("a-1", support=2),), honest=True, beliefs={"a-1": few})
    assert promoted == (Update("a-1", status="active"),)


@pytest.mark.parametrize("kept", [{"pinned": True}, {}])
def test_what_is_pinned_or_a_person_wrote_is_not_retired_by_grades(kept: dict[str, bool]) -> None:
    held = lesson("active", **kept) if kept else Lesson(id="a-1", section="s", text="t", author="person:ana")
    assert standing([held], (), honest=True, beliefs={"a-1": Belief(value=0.0, right=0, wrong=50)}) == ()
