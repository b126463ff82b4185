"""Whatever is done to a playbook, its bounds hold, and what is protected stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import Add, Outcome, Pin, Restore, Retire, Run, Step, Tally, Task, Tenure
from tenure.playbook.evidence import usefulness
from tenure.playbook.lessons import Lesson
from tenure.playbook.refine import learned
from tenure.testing import open_trial

MOST, TOKENS = 6, 400


def failing_run(number: int) -> Run:
    """A run that teaches about an error of its own: another tool every time."""
    tool = f"tool_{'abcdefghijklmnopqrstuvwxyz'[number % 26]}{'abcdefghij'[number // 26 % 10]}"
    steps = (
        Step(kind="tool_call", name=tool, arguments={"day": "x"}, call_id="1"),
        Step(kind="tool_result", name=tool, content="", error="Error: day must be a date", call_id="1"),
        Step(kind="tool_call", name=tool, arguments={"day": "2026-01-01"}, call_id="2"),
        Step(kind="tool_result", name=tool, content="ok", call_id="2"),
    )
    return Run(id=f"r{number}", task=Task(text=f"use {tool}"), steps=steps, outcome=Outcome(success=True, signal="test"))


def protected(lesson: Lesson) -> bool:
    return lesson.pinned or not learned(lesson) or usefulness(lesson.tallies).proven


def kept_ids(book: Tenure) -> set[str]:
    return {lesson.id for lesson in book.playbook.lessons if protected(lesson)}


def assert_in_bounds(book: Tenure) -> None:
    with book.store.reading(book.scope) as reading:
        sizes = reading.sizes()
    bounds = book.settings().bounds
    assert max((count for count, _ in sizes.values()), default=0) <= bounds.lessons_per_section
    assert sum(tokens for _, tokens in sizes.values()) <= bounds.tokens


def any_lesson(book: Tenure, number: int, *, live: bool = True) -> str:
    ids = [one.id for one in (book.playbook.lessons if live else book.playbook.every_lesson)]
    return ids[number % len(ids)] if ids else "none"


ACTS: dict[str, Callable[[Tenure, int], object]] = {
    "learn": lambda book, n: book.learn(failing_run(n)),
    "write": lambda book, n: book.apply([Add("tool rules", f"Person's rule number {n}.", author="person:ann")]),
    "import": lambda book, n: book.apply([Add("s", f"Imported rule {n}.", author="import:f")], author="import:f", cause="import"),
    "propose": lambda book, n: book.apply([Add("s", f"Learned rule {n}.", author="extractive")]),
    "count": lambda book, n: book.apply([Tally(any_lesson(book, n), helpful=n % 9)]),
    "pin": lambda book, n: book.apply([Pin(any_lesson(book, n))]),
    "restore": lambda book, n: book.apply([Restore(any_lesson(book, n, live=False))]),
    "refine": lambda book, _: book.refine(),
}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.integers(0, 40)), max_size=24))
def test_after_any_sequence_the_bounds_hold_and_nothing_protected_is_gone(acts: list[tuple[str, int]]) -> None:
    with open_trial() as book:
        book.set("bounds.lessons_per_section", str(MOST))
        book.set("bounds.tokens", str(TOKENS))
        for name, number in acts:
            before = kept_ids(book)
            ACTS[name](book, number)
            assert_in_bounds(book)
            after = book.playbook
            # Equal statements become one; the id still leads to it, and it is still in use.
            assert all((lesson := after.lesson(one)) is not None and lesson.live for one in before), name


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 5), st.integers(1, 12))
def test_what_a_person_brought_back_is_not_evicted_again_by_what_is_learned_next(back: int, runs: int) -> None:
    with open_trial() as book:
        book.apply([Add("tool rules", f"Use tool number {n}.", id=f"x-{n}", author="extractive") for n in range(10)])
        book.apply([Tally(f"x-{n}", shown=9, harmful=1) for n in range(10)])
        book.set("bounds.lessons_per_section", "10")
        with book.store.writing(book.scope) as work:
            work.set("refine.every", "0")
        book.set("bounds.lessons_per_section", "5")
        gone = [eviction.id for eviction in book.refine()[0].evictions][:back]
        book.apply([Restore(one) for one in gone])
        for number in range(runs):
            book.learn(failing_run(number))
            assert_in_bounds(book)
            assert set(gone) <= {lesson.id for lesson in book.playbook.lessons}


def test_a_lesson_that_was_brought_back_and_did_not_help_may_go_after_its_time() -> None:
    from datetime import UTC, datetime, timedelta

    from tenure import Bounds, Delta, Playbook
    from tenure.playbook.refine import plan_refinement
    from tests.strategies import fold

    now = datetime(2026, 3, 1, tzinfo=UTC)
    adds = [Add("s", f"rule {n}", id=f"x-{n}", author="extractive") for n in range(3)]
    playbook = fold(
        Playbook(),
        [
            Delta("01", [*adds, Tally("x-1", helpful=3), Tally("x-2", helpful=3)], at=now),
            Delta("02", [Retire("x-0", "least sure")], at=now + timedelta(days=1)),
            Delta("03", [Restore("x-0")], at=now + timedelta(days=2)),
        ],
    )
    assert playbook.lesson("x-0").restored == (now + timedelta(days=2)).isoformat()  # type: ignore[union-attr]
    soon = plan_refinement(playbook.lessons, Bounds(lessons_per_section=2), at=now + timedelta(days=3))
    late = plan_refinement(playbook.lessons, Bounds(lessons_per_section=2), at=now + timedelta(days=30))
    assert "x-0" not in {one.id for one in soon.evictions}
    assert "x-0" in {one.id for one in late.evictions}


@pytest.mark.parametrize(("name", "value"), [("bounds.lessons_per_section", "200"), ("bounds.tokens", "40000"), ("refine.every", "50")])
def test_the_defaults_fit_a_desktop(name: str, value: str) -> None:
    from tenure.settings import SETTINGS

    assert SETTINGS[name].default == value
