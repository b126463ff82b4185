"""Laws of hold-outs: draws are fair and fixed, lift is unbiased, its interval holds, thin data decides nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.holdout import (
    CHANCE_IN_RUN,
    LEAST_RUNS,
    NO_LIFT,
    DrawCount,
    Lift,
    chance_of,
    counted_score,
    fate,
    group_of,
    is_holdout_run,
    lift_of,
    pool,
    protected_because,
    said_digest,
)
from tenure.playbook.lessons import Lesson, Tallies
from tenure.playbook.run import Origin, Outcome, Run, Task

LESSON = Lesson(id="x-1", section="tool rules", kind="tool_rule", text="Send dates as YYYY-MM-DD.", author="extractive")
ids = st.text(min_size=1, max_size=12)


def count(withheld: bool, runs: int, total: float, chance: float = CHANCE_IN_RUN, judged: int | None = None) -> DrawCount:
    judged = runs if judged is None else judged
    return DrawCount(lesson="x-1", text="", reason="holdout", chance=chance, withheld=withheld, runs=runs, judged=judged, total=total)


class Stream:
    """Runs as chance makes them, counted as a store counts them."""

    def __init__(self) -> None:
        self._sums: dict[tuple[float, bool], list[float]] = {}

    def add(self, withheld: bool, score: float, chance: float = CHANCE_IN_RUN) -> None:
        held = self._sums.setdefault((chance, withheld), [0, 0.0])
        held[0] += 1
        held[1] += score

    @property
    def lift(self) -> Lift:
        return lift_of([count(withheld, int(runs), total, chance) for (chance, withheld), (runs, total) in self._sums.items()])


def simulated(chances: random.Random, runs: int, with_it: float, without_it: float) -> Lift:
    stream = Stream()
    for _ in range(runs):
        out = chances.random() < CHANCE_IN_RUN
        stream.add(out, float(chances.random() < (without_it if out else with_it)))
    return stream.lift


# -- draws ---------------------------------------------------------------------------------------------


@given(run=ids, lesson=ids, purpose=ids)
def test_a_draw_is_fixed_by_run_lesson_and_purpose(run: str, lesson: str, purpose: str) -> None:
    assert fate(run, lesson, purpose) == fate(run, lesson, purpose)
    assert 0 <= fate(run, lesson, purpose) < 1


def test_draws_are_evenly_spread_and_those_of_two_lessons_have_nothing_to_do_with_each_other() -> None:
    one, other = ([fate(f"run-{number}", lesson, "holdout") for number in range(4000)] for lesson in ("x-1", "x-2"))
    for low in range(10):
        assert 330 <= sum(low / 10 <= draw < (low + 1) / 10 for draw in one) <= 470
    both = mean((a - 0.5) * (b - 0.5) for a, b in zip(one, other, strict=True)) * 12
    assert abs(both) < 0.06


@pytest.mark.parametrize("share", [0.02, 0.1, CHANCE_IN_RUN])
def test_no_lesson_is_left_out_of_more_runs_than_its_share(share: float) -> None:
    runs = [f"run-{number}" for number in range(6000)]
    out = [run for run in runs if is_holdout_run(run, share) and fate(run, "x-1", "holdout") < chance_of(LESSON, None)]
    assert abs(len(out) / len(runs) - share) < 0.015
    assert sum(is_holdout_run(run, share) for run in runs) / len(runs) == pytest.approx(share / CHANCE_IN_RUN, abs=0.02)


@given(counts=st.lists(st.integers(0, 60), min_size=2, max_size=2))
def test_the_chance_is_bounded_and_falls_as_the_narrower_interval_narrows(counts: list[int]) -> None:
    few, many = sorted(counts)
    uncertain = chance_of(replace(LESSON, tallies=Tallies(helpful=few, harmful=few)), None)
    surer = chance_of(replace(LESSON, tallies=Tallies(helpful=many, harmful=many)), None)
    assert 0 < surer <= uncertain <= CHANCE_IN_RUN


def test_a_known_lift_lowers_the_chance_also_of_a_lesson_that_nobody_names() -> None:
    assert chance_of(LESSON, None) == CHANCE_IN_RUN
    assert chance_of(LESSON, replace(NO_LIFT, lower=-0.15, upper=0.15)) == CHANCE_IN_RUN / 2
    assert chance_of(LESSON, replace(NO_LIFT, lower=-0.05, upper=0.1)) == CHANCE_IN_RUN / 5


@pytest.mark.parametrize(
    "lesson",
    [
        replace(LESSON, pinned=True),
        replace(LESSON, author="person:ada"),
        replace(LESSON, author="import:AGENTS.md"),
        replace(LESSON, kind="prohibition"),
        replace(LESSON, section="Safety rules"),
        replace(LESSON, section="data privacy"),
        replace(LESSON, text="Never send a payment twice."),
        replace(LESSON, text="The agent must not write to the production database."),
        replace(LESSON, text="严禁删除客户数据"),
    ],
)
def test_pinned_written_by_a_person_forbidding_and_safety_lessons_are_protected(lesson: Lesson) -> None:
    assert protected_because(lesson)


def test_other_lessons_are_not_protected() -> None:
    assert protected_because(LESSON) == ""
    assert protected_because(replace(LESSON, author="model:m", section="nevertheless", text="Unsafe rows are marked.")) == ""


def ended(outcome: Outcome, *, trusted: bool = True) -> Run:
    return Run(id="r", task=Task(text="t"), outcome=outcome, origin=Origin(trusted=trusted))


def test_only_honest_and_reliable_outcomes_from_trusted_origins_count() -> None:
    assert counted_score(ended(Outcome(score=0.25, signal="test"))) == 0.25
    assert counted_score(ended(Outcome(success=True, signal="human"))) == 1.0
    for outcome in (Outcome(), Outcome(success=True, signal="self"), Outcome(success=True, signal="judge"), Outcome(signal="test")):
        assert counted_score(ended(outcome)) is None
    assert counted_score(ended(Outcome(success=True, signal="human", reliability=0.4))) is None
    assert counted_score(ended(Outcome(success=True, signal="test"), trusted=False)) is None


def test_another_text_is_another_lesson_to_be_tried() -> None:
    texts = [LESSON, replace(LESSON, text="Send dates as DD.MM.YYYY."), replace(LESSON, applies_when="the tool is book")]
    assert len({said_digest(one) for one in texts}) == 3
    assert said_digest(LESSON) == said_digest(replace(LESSON, status="provisional", tallies=Tallies(helpful=3)))


# -- lift ----------------------------------------------------------------------------------------------


def test_lift_is_the_difference_of_mean_scores() -> None:
    lift = lift_of([count(False, 30, 24), count(True, 20, 10)])
    assert (round(lift.lift, 6), lift.with_it, lift.without_it, lift.shown, lift.withheld) == (0.3, 0.8, 0.5, 30, 20)


def test_the_interval_of_one_stratum_is_newcombes() -> None:
    # Newcombe 1998, Statistics in Medicine 17, table II (a): 56/70 against 48/80, method 10.
    lift = lift_of([count(False, 70, 56), count(True, 80, 48)])
    assert (round(lift.lower, 4), round(lift.upper, 4)) == (0.0524, 0.3339)


@pytest.mark.parametrize(("with_it", "without_it"), [(0.7, 0.7), (0.9, 0.7), (0.5, 0.8)])
def test_lift_is_unbiased_and_its_interval_covers_it_about_as_often_as_it_says(with_it: float, without_it: float) -> None:
    chances = random.Random(7)
    lifts = [simulated(chances, 120, with_it, without_it) for _ in range(500)]
    assert mean(one.lift for one in lifts) == pytest.approx(with_it - without_it, abs=0.016)
    assert 0.925 <= mean(one.lower <= with_it - without_it <= one.upper for one in lifts) <= 0.985


def test_tasks_that_get_harder_while_the_chance_falls_do_not_pass_for_a_lift() -> None:
    chances, lifts, naive = random.Random(11), list[Lift](), list[float]()
    for _ in range(300):
        stream, scores = Stream(), {True: list[float](), False: list[float]()}
        for chance, success in ((0.25, 0.9), (0.05, 0.3)):
            for _ in range(150):
                out, score = chances.random() < chance, float(chances.random() < success)
                stream.add(out, score, chance)
                scores[out].append(score)
        lifts.append(stream.lift)
        naive.append(mean(scores[False]) - mean(scores[True]))
    assert mean(naive) < -0.1, "the plain difference would blame the lesson"
    assert mean(one.lift for one in lifts) == pytest.approx(0.0, abs=0.015)
    assert mean(one.lower <= 0 <= one.upper for one in lifts) >= 0.925


def test_a_lift_as_large_as_it_says_it_would_see_is_seen_in_four_of_five_cases() -> None:
    chances = random.Random(3)
    least = simulated(chances, 300, 0.6, 0.6).least
    seen = mean(simulated(chances, 300, 0.6 + least / 2, 0.6 - least / 2).lower > 0 for _ in range(300))
    assert 0.7 <= seen <= 0.92


def test_power_grows_with_runs() -> None:
    small, large = (lift_of([count(False, 3 * runs, 2 * runs), count(True, runs, runs / 2)]) for runs in (30, 300))
    assert small.least > large.least
    assert small.runs_for_tenth == pytest.approx(large.runs_for_tenth, rel=0.05)
    assert NO_LIFT.least == 1.0


@given(
    shown=st.integers(0, 400),
    withheld=st.integers(0, 400),
    share=st.floats(0, 1),
    other=st.floats(0, 1),
    chance=st.sampled_from([0.05, 0.25]),
)
def test_nothing_is_found_on_thin_data(shown: int, withheld: int, share: float, other: float, chance: float) -> None:
    lift = lift_of([count(False, shown, shown * share, chance), count(True, withheld, withheld * other, chance)])
    assert -1 <= lift.surely_lower <= lift.lower <= lift.lift + 1e-9
    assert lift.lift - 1e-9 <= lift.upper <= lift.surely_upper <= 1
    if min(shown, withheld) < LEAST_RUNS:
        assert lift.finding == "not enough data"
        assert lift.said.startswith("not enough data")


def test_runs_without_an_honest_outcome_and_chances_with_one_side_only_say_nothing() -> None:
    assert lift_of([count(False, 50, 0, judged=0), count(True, 50, 0, judged=0)]).finding == "not enough data"
    lift = lift_of([count(False, 100, 90, 0.05), count(True, 100, 10, 0.25)])
    assert (lift.lift, lift.lower, lift.upper, lift.finding) == (0.0, -1.0, 1.0, "undecided")


# -- what is found, run by run -------------------------------------------------------------------------


def watched(chances: random.Random, runs: int, with_it: float, without_it: float) -> Iterator[str]:
    """What is found after each run."""
    stream = Stream()
    for _ in range(runs):
        out = chances.random() < CHANCE_IN_RUN
        stream.add(out, float(chances.random() < (without_it if out else with_it)))
        yield stream.lift.finding


def ever(finding: str, with_it: float, without_it: float, *, streams: int, seed: int) -> float:
    chances = random.Random(seed)
    return mean(finding in set(watched(chances, 500, with_it, without_it)) for _ in range(streams))


def test_a_harmful_lesson_is_found_to_harm_and_a_helpful_one_to_help() -> None:
    assert ever("harms", 0.4, 0.75, streams=20, seed=1) >= 0.95
    assert ever("helps", 0.9, 0.6, streams=20, seed=2) >= 0.95
    assert ever("helps", 0.4, 0.75, streams=20, seed=1) == 0


def test_a_useless_lesson_is_proven_neither_way_however_often_one_looks() -> None:
    for finding in ("helps", "harms"):
        assert ever(finding, 0.7, 0.7, streams=60, seed=5) <= 0.02


# -- alike lessons -------------------------------------------------------------------------------------


def test_alike_are_lessons_of_one_section_and_kind_and_errors_of_one_tool() -> None:
    about = replace(LESSON, about="tool-error:book:amount does not match #")
    assert group_of(about) == group_of(replace(about, id="x-2", about="tool-error:book:no such invoice"))
    assert group_of(about) != group_of(replace(about, about="tool-error:convert:no rate"))
    assert group_of(LESSON) != group_of(replace(LESSON, section="other"))


def test_pooling_needs_kin_and_weighs_what_is_known_of_each() -> None:
    good, group = lift_of([count(False, 60, 54), count(True, 20, 12)]), dict.fromkeys("abc", "g")
    assert pool({"a": good, "b": good}, group) == {}
    alone = pool({"a": good, "b": good, "c": good}, {"a": "g", "b": "h", "c": "i"})
    assert alone == {}
    thin, thick = (lift_of([count(False, 3 * runs, 1.5 * runs), count(True, runs, runs / 2)]) for runs in (6, 200))
    pooled = pool({"a": good, "b": good, "c": thin}, group)
    assert 0 < pooled["c"].weight < pool({"a": good, "b": good, "c": thick}, group)["c"].weight < 1
    assert thin.lift < pooled["c"].lift <= pooled["c"].group == pytest.approx(good.lift)
    assert pool({"a": good, "b": good, "c": NO_LIFT}, group)["c"].weight == 0


def test_over_lessons_that_differ_pooled_intervals_hold_and_lie_nearer_to_the_truth() -> None:
    chances, held, nearer = random.Random(9), list[bool](), list[tuple[float, float]]()
    for _ in range(60):
        truths = [chances.gauss(0.08, 0.07) for _ in range(8)]
        lifts = {str(at): simulated(chances, 120, 0.6 + truth, 0.6) for at, truth in enumerate(truths)}
        pooled = pool(lifts, dict.fromkeys(lifts, "g"))
        for at, truth in enumerate(truths):
            held.append(pooled[str(at)].lower <= truth <= pooled[str(at)].upper)
            nearer.append(((lifts[str(at)].lift - truth) ** 2, (pooled[str(at)].lift - truth) ** 2))
    assert 0.9 <= mean(held) <= 0.995
    own, drawn = (mean(one) for one in zip(*nearer, strict=True))
    assert drawn < 0.8 * own
