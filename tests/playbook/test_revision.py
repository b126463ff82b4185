"""When failures are reason enough to revise a lesson, and how a revision is recorded."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.revision import CHANCE, LEAST_NOISE, USES_READ, Revision, Use, enough, explained_by_noise, read_revision
from tests.strategies import any_texts

reliabilities = st.floats(0.0, 1.0)
effects = st.sampled_from(("helped", "misled", "idle"))
histories = st.lists(st.builds(Use, run=st.just("r"), effect=effects, reliability=reliabilities), max_size=12)


def failures(number: int, reliability: float = 1.0) -> list[Use]:
    return [Use(run=f"f{place}", effect="misled", reliability=reliability) for place in range(number)]


def successes(number: int, reliability: float = 1.0) -> list[Use]:
    return [Use(run=f"s{place}", effect="helped", reliability=reliability) for place in range(number)]


@given(st.lists(st.builds(Use, run=st.just("r"), effect=st.just("helped"), reliability=reliabilities), max_size=30), st.floats(0.0, 0.89))
def test_one_noisy_failure_is_never_enough(before: list[Use], reliability: float) -> None:
    assert not enough([*failures(1, reliability), *before])


@given(histories)
def test_enough_honest_failures_always_are(before: list[Use]) -> None:
    honest = [replace(use, reliability=1.0) for use in before]
    assert any(enough([*failures(number), *honest]) for number in range(1, 9))


@given(st.integers(1, 6), histories, st.floats(0.0, 1.0))
def test_a_further_failure_that_is_as_reliable_never_takes_the_reason_away(bad: int, before: list[Use], more: float) -> None:
    uses = [*failures(bad), *before]
    least = min(use.reliability for use in uses if use.failed)
    assert not enough(uses) or enough([*failures(1, max(more, least)), *uses])


@given(histories)
def test_a_run_that_helped_raises_no_question(before: list[Use]) -> None:
    assert not enough([*successes(1), *before])
    assert not enough([])


@pytest.mark.parametrize(
    ("bad", "good", "reliability", "expected"),
    [
        (1, 0, 1.0, True), (1, 1, 1.0, True), (1, 2, 1.0, False), (1, 30, 1.0, False), (2, 8, 1.0, True), (2, 9, 1.0, False),
        (5, 30, 1.0, True),
        (1, 0, 0.6, False), (2, 0, 0.6, False), (3, 0, 0.6, True), (3, 2, 0.6, False), (1, 0, 0.9, True), (1, 1, 0.9, False),
        (3, 0, 0.0, False), (40, 0, 0.0, False),
    ],
)  # fmt: skip
def test_how_much_is_enough(bad: int, good: int, reliability: float, expected: bool) -> None:
    assert enough([*failures(bad, reliability), *successes(good, reliability)]) is expected


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0.0, 1.0))
def test_the_tail_is_a_probability_that_falls_with_each_failure(some: int, rest: int, noise: float) -> None:
    uses = some + rest
    tail = explained_by_noise(some, uses, noise)
    assert 0.0 <= tail <= 1.0
    assert explained_by_noise(min(uses, some + 1), uses, noise) <= tail + 1e-9
    if some and not rest:
        assert tail == pytest.approx(noise**some)


def test_a_lesson_that_is_right_is_revised_by_noise_as_rarely_as_the_rule_says() -> None:
    # Right lesson, honest outcomes of which 5 % fail by themselves: after any failure, how often is the rule met? Worked out, not drawn.
    for uses in range(3, USES_READ):
        met = sum(
            comb(uses, bad) * LEAST_NOISE**bad * (1 - LEAST_NOISE) ** (uses - bad)
            for bad in range(1, uses + 1)
            if enough([*failures(bad), *successes(uses - bad)])
        )
        assert met <= CHANCE


revisions = st.builds(
    Revision,
    verdict=st.sampled_from(("confirmed", "too general", "outdated")),
    basis=any_texts(3),
    source=any_texts(2),
    run=any_texts(2),
    grounded=st.floats(0, 1),
    leaked=st.floats(0, 1),
    hypotheses=st.integers(0, 9),
    dropped=st.integers(0, 9),
    checks=st.lists(any_texts(2), max_size=2).map(tuple),
    author=any_texts(2),
)


@given(revisions)
def test_a_revision_is_read_back_as_it_was_written(revision: Revision) -> None:
    assert read_revision(revision.to_text()) == revision


@given(any_texts(8) | st.sampled_from(('{"verdict":"confirmed","x":1}', "[1]", "null", '{"verdict":"confirmed","checks":3}', "[" * 9999)))
def test_any_other_text_is_no_revision_and_no_error(text: str) -> None:
    found = read_revision(text)
    assert found is None or found.verdict
