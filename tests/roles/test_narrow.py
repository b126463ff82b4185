"""The Reviser without a model: conditions by contrast, and nothing where chance explains as much."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Lesson, Run, Step, Task
from tenure.roles.conditions import conditions_fit
from tenure.roles.narrow import BEYOND_CHANCE, Narrowing, narrow_by_contrast

LESSON = Lesson(id="ord-1", section="order", text="Put the smallest number first.")
NAMES = "alpha beta gamma delta omega sigma kappa theta".split()


def case(name: str, text: str, *tools: str, kind: str = "") -> Run:
    return Run(id=name, task=Task(text=text, kind=kind), steps=tuple(Step(kind="tool_call", name=tool) for tool in tools))


def sorts(number: int) -> list[Run]:
    return [case(f"g{place}", f"sort prices ascending for {NAMES[place]}", "fetch") for place in range(number)]


def ranks(number: int) -> list[Run]:
    return [case(f"b{place}", f"rank scores descending for {NAMES[-1 - place]}", "fetch") for place in range(number)]


def narrowed(helped: Sequence[Run], hurt: Sequence[Run], lesson: Lesson = LESSON) -> Narrowing:
    return narrow_by_contrast(lesson, source=helped[0] if helped else None, helped=helped, hurt=hurt)


def test_a_condition_names_what_all_cases_it_helped_have_and_the_failing_ones_have_not() -> None:
    found = narrowed(sorts(4), ranks(4))
    assert found.condition == 'the task says "sort" and "prices"'
    assert found.chance <= BEYOND_CHANCE
    assert found.reason == "so in all 4 cases it helped, and in 0 of 4 it failed in"


def test_tools_and_kinds_of_task_separate_as_words_do() -> None:
    good = [case(f"g{place}", f"do {NAMES[place]}", "convert") for place in range(4)]
    bad = [case(f"b{place}", f"do {NAMES[-1 - place]}", "post") for place in range(4)]
    assert narrowed(good, bad).condition == "the work calls `convert`"
    good = [case(f"g{place}", f"do {NAMES[place]}", kind="close month") for place in range(4)]
    assert narrowed(good, bad).condition == 'the task is of the kind "close month"'


def test_words_of_scripts_without_spaces_are_named_whole() -> None:
    good = [case(f"g{place}", f"多币种发票 {NAMES[place]}") for place in range(4)]
    bad = [case(f"b{place}", f"付款通知 {NAMES[-1 - place]}") for place in range(4)]
    assert narrowed(good, bad).condition == 'the task says "多币种发票"'


@pytest.mark.parametrize(("good", "bad"), [(0, 4), (1, 4), (4, 1), (2, 2), (3, 2)])
def test_few_cases_are_no_contrast(good: int, bad: int) -> None:
    found = narrowed(sorts(good), ranks(bad))
    assert found.condition == ""
    assert found.reason


def test_nothing_is_changed_where_the_cases_do_not_differ() -> None:
    assert narrowed(sorts(5), sorts(5)).condition == ""


def test_what_only_the_failing_cases_have_makes_no_condition() -> None:
    plain = [case(f"g{place}", f"sort {NAMES[place]}") for place in range(6)]
    urgent = [case(f"b{place}", f"sort {NAMES[-1 - place]} urgent") for place in range(6)]
    found = narrowed(plain, urgent)
    assert found.condition == ""
    assert "missing in the one it failed in" in found.reason


@given(st.integers(4, 6), st.integers(4, 6))
def test_a_condition_holds_in_the_cases_it_helped_and_not_in_the_one_it_failed_in(good: int, bad: int) -> None:
    helped, hurt = sorts(good), ranks(bad)
    condition = narrowed(helped, hurt).condition
    assert all(conditions_fit(condition, run, helped[0]) is True for run in helped)
    assert conditions_fit(condition, hurt[0], helped[0]) is False


@pytest.mark.parametrize("size", [4, 6, 8])
def test_of_cases_that_differ_by_chance_alone_few_are_narrowed(size: int) -> None:
    draw = random.Random(20261129 + size)
    vocabulary = [f"word{chr(97 + place)}" for place in range(14)]
    rounds, made = 400, 0
    for _ in range(rounds):
        runs = [case(f"r{place}", " ".join(word for word in vocabulary if draw.random() < 0.5)) for place in range(2 * size)]
        made += bool(narrowed(runs[:size], runs[size:]).condition)
    assert made / rounds <= BEYOND_CHANCE
