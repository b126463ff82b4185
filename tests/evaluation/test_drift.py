"""The drift bench keeps to design/drift-bench.md: same world for all arms, truth unseen, rules as published."""

from __future__ import annotations

import json
from heapq import nsmallest
from operator import eq
from pathlib import Path

import pytest

from tenure import UserError
from tenure.evaluation.benches import BENCHES, Asked
from tenure.evaluation.drift import margin, run_drift
from tenure.evaluation.drift_arms import ARMS, Counters, Result, SimilarCases, cosine, score
from tenure.evaluation.drift_tenure import Engine
from tenure.evaluation.drift_world import MEANING, Case, Rule, World, Writer, read_world, stream
from tenure.playbook.fields import clauses_of

SMALL = World(length=200, seeds=2)


def test_noise_changes_labels_and_nothing_else() -> None:
    clean, loud = stream(SMALL, 0.0, 3), stream(SMALL, 0.3, 3)
    assert [(one.features, one.right) for one in clean] == [(one.features, one.right) for one in loud]
    assert all(one.label == one.right for one in clean)
    lies = [one for one in loud if one.label != one.right]
    assert 30 <= len(lies) <= 90
    assert {one.at for one in stream(SMALL, 0.1, 3) if one.label != one.right} <= {one.at for one in lies}


def test_the_share_of_conditions_that_changes_is_the_one_named() -> None:
    world = World(length=4000)
    before: dict[tuple[int, ...], int] = {}
    after: dict[tuple[int, ...], int] = {}
    for case in stream(world, 0.0, 0):
        half = before if case.at < 2000 else after
        assert half.setdefault(case.features[:MEANING], case.right) == case.right
    assert sum(before[one] != after[one] for one in before) == round(0.4 * 16)


def test_the_writer_errs_as_often_as_it_should_and_alike_for_everyone() -> None:
    world = World(length=4000)
    one, other = Writer(world, 5), Writer(world, 5)
    rules = [one.rule(case) for case in stream(world, 0.0, 5)]
    assert rules == [other.rule(case) for case in stream(world, 0.0, 5)]
    assert abs(sum(len([f for f, _ in rule.condition if f < MEANING]) < MEANING for rule in rules) / 4000 - 0.45) < 0.03
    assert abs(sum(any(f >= MEANING for f, _ in rule.condition) for rule in rules) / 4000 - 0.25) < 0.03


@pytest.mark.parametrize("arm", sorted(ARMS))
def test_no_arm_sees_the_truth(arm: str) -> None:
    cases = stream(SMALL, 0.3, 1)
    blind = [Case(at=one.at, features=one.features, right=-1, label=one.label) for one in cases]
    acted: list[list[int]] = []
    for world in (cases, blind):
        memory, writer, actions = ARMS[arm](SMALL), Writer(SMALL, 1), []
        for case in world:
            shown = tuple(memory.matching(case))
            assert len(shown) <= SMALL.shown
            actions.append(shown[0].action if shown else 0)
            memory.learn(Result(case=case, shown=shown, action=actions[-1], written=writer.rule(case)))
        acted.append(actions)
    assert acted[0] == acted[1]


def test_counters_rank_by_helpful_minus_twice_harmful_and_drop_what_harmed_more() -> None:
    memory = Counters(SMALL)
    wide = Rule(condition=((0, 1),), action=1, at=0, source=(1, 1, 0, 0, 0, 0))
    narrow = Rule(condition=((0, 1), (1, 1)), action=2, at=1, source=(1, 1, 0, 0, 0, 0))
    for rule in (wide, narrow):
        memory.learn(Result(case=Case(at=rule.at, features=rule.source, right=0, label=0), shown=(), action=5, written=rule))
    case = Case(at=2, features=wide.source, right=1, label=1)
    assert memory.matching(case)[0] == narrow
    memory.learn(Result(case=case, shown=(narrow, wide), action=2, written=None))
    assert memory.matching(case)[0] == wide
    memory.learn(Result(case=Case(at=49, features=case.features, right=1, label=1), shown=(wide,), action=1, written=None))
    assert list(memory.matching(case)) == [wide]


def test_texts_that_differ_in_the_action_alone_are_no_duplicates_and_an_extra_feature_is() -> None:
    def words(*condition: tuple[int, int], action: int = 1) -> dict[str, int]:
        text = Rule(condition=condition, action=action, at=0, source=()).text.split()
        return {word: text.count(word) for word in text}

    assert cosine(words((0, 1), (1, 1)), words((0, 1), (1, 1), action=2)) > 0.8
    assert cosine(words((0, 1)), words((0, 1))) == pytest.approx(1.0)


def test_grades_find_the_right_lesson_also_among_older_ones() -> None:
    memory = Engine(SMALL, graded=True)
    source = (0, 0, 0, 0, 0, 0)
    wrong, right = (Rule(condition=((0, 0),), action=action, at=action, source=source) for action in (1, 2))
    for at in range(4):
        case = Case(at=at, features=source, right=2, label=2)
        memory.learn(Result(case=case, shown=tuple(memory.matching(case)), action=0, written=wrong if at == 3 else None))
    memory.learn(Result(case=Case(at=4, features=source, right=2, label=2), shown=(), action=0, written=right))
    assert memory.matching(Case(at=5, features=source, right=2, label=2))[0].action == 2


def test_similar_cases_are_those_that_share_most_features_and_of_equals_the_newest() -> None:
    for seed, world in enumerate((World(length=150), World(features=9, values=2, length=150), World(features=3, values=7, length=100))):
        memory, seen = SimilarCases(world), list[Case]()
        for case in stream(world, 0.2, seed):
            plain = nsmallest(world.shown, seen, key=lambda one: (-sum(map(eq, one.features, case.features)), -one.at))
            assert memory._nearest(case.features, world.shown) == plain
            memory.learn(Result(case=case, shown=(), action=0, written=None))
            seen.append(case)


def test_the_engine_writes_conditions_that_its_source_case_has_and_learns_which_features_matter() -> None:
    world = World(length=400, overgeneral=1.0, spurious=1.0)
    memory, writer = Engine(world, graded=True), Writer(world, 3)
    sources: dict[int, Case] = {}
    for case in stream(world, 0.1, 3):
        shown = tuple(memory.matching(case))
        sources[case.at] = case
        action = shown[0].action if shown else 0
        memory.learn(
            Result(case=case, shown=shown, action=action, written=writer.rule(case) if action != case.label or not shown else None)
        )
    live = [lesson for lesson in memory.playbook.lessons if lesson.status == "active"]
    assert len(live) >= 8
    assert all(set(clauses_of(lesson.applies_when)) == {"f0", "f1"} for lesson in live), "the writer never wrote both"
    for lesson in memory.playbook.every_lesson:
        source = sources[int(lesson.evidence[0].run.removeprefix("run-"))]
        assert all(source.features[int(name[1:])] == int(value[1:]) for name, value in clauses_of(lesson.applies_when).items())


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.9), (0.3, 0.75)])
def test_the_engine_is_ahead_of_the_arms_that_fail_at_either_end(noise: float, least: float) -> None:
    world, reached = World(length=500), dict[str, float]()
    for arm in ("counters", "revise-on-failure", "similar-cases", "tenure"):
        hits = [one for seed in (40, 41) for one in score(arm, world, stream(world, noise, seed), Writer(world, seed).rule, seed)]
        reached[arm] = sum(hits) / len(hits)
    assert reached["tenure"] >= least
    assert max(reached, key=lambda arm: reached[arm]) == "tenure" or reached["tenure"] > max(reached.values()) - 0.01, reached


def test_figures_come_with_intervals_and_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    path.write_text(json.dumps({"length": 60, "seeds": 2, "changed": 1}))
    found = BENCHES["drift"].run(Asked(seed=4, params={"params": str(path)}))
    assert set(found) == set(BENCHES["drift"].figures)
    assert found["by_noise"] == run_drift({"length": 60, "seeds": 2, "changed": 1}, seed=4)["by_noise"]
    for arms in found["by_noise"].values():
        for figures in arms.values():
            low, high = figures["interval"]
            assert low <= figures["score"] <= high
    assert {best["tenure_is"] for best in found["best_rival"].values()} <= {"better", "tied", "worse"}


def test_the_margin_is_students() -> None:
    assert margin([0.0, 1.0]) == pytest.approx(12.706 * 0.5, rel=1e-3)
    assert margin([1.0] * 8) == 0


@pytest.mark.parametrize("given", [{"length": 5}, {"colour": 1}, {"changed": 1.5}, {"values": 2.5}, {"seeds": True}])
def test_a_parameter_out_of_range_is_named(given: dict[str, object]) -> None:
    with pytest.raises(UserError, match=next(iter(given))):
        read_world(given)


def test_an_agent_without_memory_draws_by_chance() -> None:
    cases = stream(World(), 0.0, 0)
    assert abs(sum(score("none", World(), cases, Writer(World(), 0).rule, 0)) / len(cases) - 1 / 6) < 0.03
