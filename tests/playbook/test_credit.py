"""Credit: counts come from honest outcomes and from tools, and standing follows from counts."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Lesson, Outcome, Playbook, Retire, Run, Tally, Update, dumps
from tenure.playbook.credit import beyond, credit, standing
from tenure.playbook.evidence import usefulness
from tenure.playbook.lessons import Tallies
from tenure.playbook.run import HONEST_SIGNALS, RELIABILITY, Task
from tests.strategies import fold

IDS = ("a-1", "b-1", "c-1")
ids = st.lists(st.sampled_from(IDS), unique=True).map(tuple)
outcomes = st.builds(Outcome, success=st.sampled_from((None, True, False)), signal=st.sampled_from(tuple(RELIABILITY)))
runs = st.builds(Run, id=st.just("r"), task=st.just(Task(text="t")), shown=ids, cited=ids, withheld=ids, outcome=outcomes)
tags = st.dictionaries(st.sampled_from(IDS), st.sampled_from(("helpful", "harmful", "neutral", "nonsense")))
again = st.dictionaries(st.sampled_from(IDS), st.booleans())

PASSED, FAILED = Outcome(success=True, signal="test"), Outcome(success=False, signal="test")


def run(outcome: Outcome, *, shown: tuple[str, ...] = (), cited: tuple[str, ...] = (), withheld: tuple[str, ...] = ()) -> Run:
    return Run(id="r", task=Task(text="t"), shown=shown, cited=cited, withheld=withheld, outcome=outcome)


def verdict(count: Tally) -> str:
    return "".join(name for name in ("helpful", "harmful", "neutral") if getattr(count, name))


@given(runs, tags, again)
def test_each_lesson_of_a_run_is_counted_once_and_for_one_thing_at_most(
    run: Run, tags: dict[str, str], seen_again: dict[str, bool]
) -> None:
    counts = credit(run, tags=tags, seen_again=seen_again)
    assert [count.id for count in counts] == sorted({*run.shown, *run.cited, *run.withheld})
    for count in counts:
        assert count.helpful + count.harmful + count.neutral <= 1
        assert count.shown == int(count.id in (*run.shown, *run.cited))
        assert count.withheld == int(count.id not in (*run.shown, *run.cited))
        assert count.cited == int(count.id in run.cited)
        assert min(count.tallies.helpful, count.tallies.support) >= 0


@given(runs, tags)
def test_without_an_honest_outcome_nothing_helped_or_misled(run: Run, tags: dict[str, str]) -> None:
    if not run.outcome.honest:
        assert [verdict(count) for count in credit(run, tags=tags) if verdict(count)] == []


@given(runs, tags, again)
def test_what_was_withheld_gets_no_verdict(run: Run, tags: dict[str, str], seen_again: dict[str, bool]) -> None:
    assert all(not verdict(count) for count in credit(run, tags=tags, seen_again=seen_again) if count.withheld)


@given(runs, tags)
def test_a_tag_never_contradicts_the_outcome(run: Run, tags: dict[str, str]) -> None:
    for count in credit(run, tags=tags):
        assert not (count.helpful and run.outcome.success is False)
        assert not (count.harmful and run.outcome.success)


@pytest.mark.parametrize(
    ("outcome", "cited", "tag", "seen_again", "expected"),
    [
        (PASSED, True, None, None, "helpful"),
        (FAILED, True, None, None, "harmful"),
        (PASSED, False, None, None, "neutral"),
        (FAILED, False, None, None, "neutral"),
        (PASSED, False, "helpful", None, "helpful"),
        (FAILED, False, "helpful", None, "neutral"),
        (FAILED, False, "harmful", None, "harmful"),
        (PASSED, True, "neutral", None, "neutral"),
        (PASSED, True, "harmful", None, "neutral"),
        (FAILED, False, None, False, "helpful"),
        (PASSED, True, None, True, "harmful"),
        (PASSED, False, None, True, "neutral"),
        (Outcome(), False, None, False, "helpful"),
        (Outcome(success=True, signal="judge"), True, None, None, ""),
        (Outcome(success=True, signal="self"), True, "helpful", None, ""),
        (Outcome(success=True, signal="human", reliability=0.4), True, None, None, ""),
        (Outcome(signal="test"), True, "helpful", None, ""),
    ],
)
def test_who_gets_credit_for_what(outcome: Outcome, cited: bool, tag: str | None, seen_again: bool | None, expected: str) -> None:
    counted = credit(
        run(outcome, shown=("a-1",), cited=("a-1",) if cited else ()),
        tags={"a-1": tag} if tag else {},
        seen_again={} if seen_again is None else {"a-1": seen_again},
    )
    assert [verdict(count) for count in counted] == [expected]


@given(st.lists(st.tuples(runs, tags, again), min_size=1, max_size=4))
def test_counts_of_runs_commute(parts: list[tuple[Run, dict[str, str], dict[str, bool]]]) -> None:
    start = fold(Playbook(), [Delta("00", [Add("s", name, id=name) for name in IDS])])
    deltas = [Delta(f"1{place}", credit(run, tags=tags, seen_again=seen)) for place, (run, tags, seen) in enumerate(parts)]
    assert len({dumps(fold(start, order)) for order in list(permutations(deltas))[:6]}) == 1


# -- standing ---------------------------------------------------------------------------------------

lessons = st.builds(
    Lesson,
    id=st.just("a-1"),
    section=st.just("s"),
    text=st.just("text"),
    status=st.sampled_from(("provisional", "active", "held", "retired")),
    tallies=st.builds(Tallies, helpful=st.integers(0, 9), harmful=st.integers(0, 9), support=st.integers(0, 3)),
    author=st.sampled_from(("extractive", "model:m", "person:ann", "import:f")),
    pinned=st.booleans(),
)
tallied = st.builds(
    Tally, id=st.just("a-1"), helpful=st.integers(0, 2), harmful=st.integers(0, 2), shown=st.integers(0, 1), support=st.integers(0, 1)
)


@given(lessons, tallied)
def test_without_an_honest_outcome_nothing_is_promoted(lesson: Lesson, count: Tally) -> None:
    assert not any(isinstance(operation, Update) for operation in standing([lesson], [count], honest=False))


@given(lessons, tallied, st.booleans())
def test_standing_moves_only_what_new_counts_call_for(lesson: Lesson, count: Tally, honest: bool) -> None:
    after = lesson.tallies + count.tallies
    for operation in standing([lesson], [count], honest=honest):
        if isinstance(operation, Update):
            assert (lesson.status, operation.status) == ("provisional", "active")
            assert count.support or count.helpful
            assert after.support >= 2 or usefulness(after).proven
        else:
            assert isinstance(operation, Retire)
            assert operation.reason
            assert count.harmful
            assert lesson.live
            assert not lesson.pinned
            assert not lesson.author.startswith(("person", "import"))
            assert after.harmful >= 3
            assert after.harmful > after.helpful
    assert standing([lesson], [], honest=honest) == ()
    assert standing([lesson], [Tally("a-1", shown=1)], honest=honest) == ()


def provisional(**tallies: int) -> Lesson:
    return Lesson(id="a-1", section="s", text="text", status="provisional", author="extractive", tallies=Tallies(**tallies))


def test_a_lesson_seen_once_stays_provisional() -> None:
    assert standing([provisional()], [Tally("a-1", helpful=1)], honest=True) == ()
    assert standing([provisional()], [Tally("a-1", support=1)], honest=True) == ()


def test_a_second_run_that_shows_it_promotes_a_lesson() -> None:
    assert standing([provisional(support=1)], [Tally("a-1", support=1)], honest=True) == (Update("a-1", status="active"),)


def test_a_lesson_known_to_mislead_is_retired_and_one_that_was_restored_gets_another_chance() -> None:
    assert standing([provisional(harmful=4)], [Tally("a-1", harmful=1)], honest=True) == (Retire("a-1", "misled in 5 runs, helped in 0"),)
    assert standing([provisional(harmful=4)], [Tally("a-1", shown=1, neutral=1)], honest=True) == ()


def test_honest_signals_are_those_from_outside_the_model() -> None:
    assert frozenset({"test", "environment", "label", "human"}) == HONEST_SIGNALS


@given(run=runs, grew=runs)
def test_a_run_that_is_learned_again_counts_as_if_it_had_been_learned_once(run: Run, grew: Run) -> None:
    before, now = credit(run), credit(grew)
    added = {count.id: count.tallies for count in beyond(now, before)}
    first, whole = ({count.id: count.tallies for count in counts} for counts in (before, now))
    for lesson in {*first, *whole}:
        assert first.get(lesson, Tallies()) + added.get(lesson, Tallies()) == whole.get(lesson, Tallies())
    assert beyond(before, before) == ()
