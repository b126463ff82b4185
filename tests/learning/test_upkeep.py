"""Bounds are checked by code after every change, whoever makes it, and what a person does raises them."""

from __future__ import annotations

import pytest

from tenure import Add, Evidence, Outcome, Restore, Retire, Run, Step, Tally, Task, Tenure
from tenure.learning.duplicates import conflicts_of, duplicate_of
from tenure.learning.review import conflicts_in
from tenure.learning.upkeep import plan_for_new
from tenure.playbook.lessons import Lesson
from tenure.playbook.likeness import compare
from tenure.testing import open_trial
from tests.playbook.later_pairs import LATER_PAIRS, STILL_THE_SAME
from tests.playbook.likeness_pairs import PAIRS


def failing_run(number: int) -> Run:
    """A run that teaches about an error of its own: another tool every time."""
    tool = f"tool_{'abcdefghijklmnopqrstuvwxyz'[number % 26]}{'abcdefghij'[number // 26]}"
    steps = (
        Step(kind="tool_call", name=tool, arguments={"day": "x"}, call_id="1"),
        Step(kind="tool_result", name=tool, content="", error="Error: day must be a date", call_id="1"),
        Step(kind="tool_call", name=tool, arguments={"day": "2026-01-01"}, call_id="2"),
        Step(kind="tool_result", name=tool, content="ok", call_id="2"),
    )
    return Run(id=f"r{number}", task=Task(text=f"use {tool}"), steps=steps, outcome=Outcome(success=True, signal="test"))


def sizes(book: Tenure) -> tuple[int, int]:
    with book.store.reading(book.scope) as reading:
        by_section = reading.sizes()
    return max(count for count, _ in by_section.values()), sum(tokens for _, tokens in by_section.values())


def test_learning_never_leaves_a_bound_passed() -> None:
    for url in ("memory://", "sqlite://"):
        with open_trial(url=url) as book:
            book.set("bounds.lessons_per_section", "10")
            book.set("bounds.tokens", "600")
            for number in range(30):
                book.learn(failing_run(number))
                most, tokens = sizes(book)
                assert most <= 10
                assert tokens <= 600
            assert sizes(book)[0] >= 5


def test_what_a_person_puts_in_raises_the_bounds_and_stays() -> None:
    with open_trial() as book:
        book.set("bounds.lessons_per_section", "3")
        book.apply([Add("s", f"rule number {number}") for number in range(5)])
        assert book.settings().bounds.lessons_per_section == 5
        assert book.refine()[0].evictions == ()


def test_restoring_what_was_evicted_raises_the_bound_too() -> None:
    with open_trial() as book:
        book.apply([Add("s", f"rule number {number}", author="extractive") for number in range(6)])
        book.set("bounds.lessons_per_section", "4")
        evicted = [eviction.id for eviction in book.refine()[0].evictions]
        assert len(evicted) == 3
        book.apply([Restore(one) for one in evicted])
        assert len(book.playbook) == 6
        assert book.settings().bounds.lessons_per_section == 6
        book.set("bounds.lessons_per_section", "4")
        book.refine()
        book.rollback("-1")
        assert len(book.playbook) == 6
        assert book.settings().bounds.lessons_per_section == 6


def test_a_large_playbook_is_checked_for_what_is_new_alone() -> None:
    with open_trial(url="sqlite://") as book:
        book.apply([Add("s", "Check the date before booking.", id="x-1", author="extractive")])
        book.apply(
            [
                Add("t", "Make sure to check the date before booking.", id="x-2", author="extractive"),
                Add("t", "Check the date before booking. This prevents refunds.", id="x-3", author="extractive"),
                Add("t", "Check the date after booking.", id="x-4", author="extractive"),
            ]
        )
        with book.store.reading(book.scope) as reading:
            merges = plan_for_new(reading, since=1).merges
    assert [(merge.ids, merge.into) for merge in merges] == [(("x-2",), "x-1")]


def test_a_duplicate_is_found_through_every_store_and_a_conflict_is_none() -> None:
    for url in ("memory://", "sqlite://"):
        with open_trial(url=url) as book:
            book.apply(
                [
                    Add("s", "Retry a failed call at most 3 times.", id="x-1"),
                    Add("s", "多币种发票按开票日汇率换算后再求和", id="x-2"),
                    Add("s", "Use `invoice_date` for the rate. This keeps audits short.", id="x-3"),
                ]
            )
            with book.store.reading(book.scope) as reading:

                def found(text: str, reading: object = reading) -> str | None:
                    one = duplicate_of(Lesson(id="new", section="s", kind="strategy", text=text), reading)  # type: ignore[arg-type]
                    return one.lesson.id if one is not None else None

                assert found("Please retry the failed call no more than three times.") == "x-1"
                assert found("Remember to retry a failed call no more than three times") == "x-1"
                assert found("Retry a failed call at most 5 times.") is None
                assert found("请多币种发票按开票日汇率换算后再求和。") == "x-2"
                assert found('Use "invoice_date" for the rate.') == "x-3"
                assert found('"); DROP TABLE lessons; -- AND OR NOT NEAR(') is None
                assert found("") is None
                five = Lesson(id="new", section="s", kind="strategy", text="Retry a failed call at most 5 times.")
                assert [one.lesson.id for one in conflicts_of(five, reading)] == ["x-1"]


def test_conflicts_stand_in_the_review_list_and_nothing_is_merged() -> None:
    with open_trial() as book:
        book.apply([Add("s", "Retry a failed call at most 3 times.", id="x-1"), Add("t", "Retry a failed call at most 5 times.", id="x-2")])
        with book.store.reading(book.scope) as reading:
            (conflict,) = conflicts_in(reading)
        assert conflict.ids == ("x-1", "x-2")
        assert book.refine()[0].operations == ()


def test_other_words_from_another_task_are_not_merged_through_the_store() -> None:
    for url in ("memory://", "sqlite://"):
        with open_trial(url=url) as book:
            for name, task in (("r1", "sort prices ascending"), ("r2", "rank scores descending"), ("r3", "sort prices ascending")):
                with book.store.writing(book.scope) as work:
                    work.keep_run(Run(id=name, scope=book.scope, task=Task(text=task)), learned=True)
            said = ("Never put the total first.", "Do not put the total first.", "Make sure to never put the total first.")
            book.apply([Add("s", text, id=f"x-{n}", evidence=(Evidence(run=f"r{n}"),)) for n, text in enumerate(said, 1)])
            assert [(merge.ids, merge.into) for merge in book.refine(dry_run=True)[0].merges] == [(("x-3",), "x-1")]


def test_a_dry_run_explains_every_move() -> None:
    with open_trial() as book:
        book.apply([Add("s", f"rule number {number}", id=f"x-{number}", author="extractive") for number in range(6)])
        book.apply([Tally("x-5", helpful=9), Retire("x-0")])
        book.set("bounds.lessons_per_section", "2")
        plan, receipts = book.refine(dry_run=True)
        assert receipts == ()
        assert len(plan.evictions) == 4
        assert all("section 's' holds more than 2 lessons" in one.reason and "frees" in one.reason for one in plan.evictions)
        assert "x-5" not in {one.id for one in plan.evictions}
        assert len(book.playbook) == 5


def test_what_the_store_finds_is_what_a_look_at_all_would_find() -> None:
    """The index only narrows down: every pair that may be merged is found through it, and no other."""
    pairs = (*PAIRS, *LATER_PAIRS, *STILL_THE_SAME)
    for url in ("memory://", "sqlite://"):
        with open_trial(url=url) as book:
            book.set("bounds.lessons_per_section", "1000")
            book.apply([Add("s", pair.one, id=f"x-{number}") for number, pair in enumerate(pairs)])
            with book.store.reading(book.scope) as reading:
                for number, pair in enumerate(pairs):
                    new = Lesson(id="new", section="s", kind="strategy", text=pair.other)
                    there = reading.lesson(f"x-{number}")
                    assert there is not None
                    if compare(there, new).relation == "same":
                        assert duplicate_of(new, reading) is not None, (url, pair)


def test_what_a_person_wrote_is_merged_unasked_only_where_the_texts_are_equal() -> None:
    for read_whole in (2_000, 0):
        for author in ("person:ann", "import:f"):
            with open_trial() as book, pytest.MonkeyPatch.context() as patched:
                patched.setattr("tenure.learning.upkeep.READ_WHOLE", read_whole)
                book.set("refine.every", "1")
                book.apply([Add("s", "Check the units.", id="x-1", author=author), Add("t", "Check the units.", id="x-2", author=author)])
                book.apply([Add("t", "Please check units.", id="x-3", author=author)])
                book.apply([Add("t", "Always check the units.", id="x-4", author="extractive")])
                assert "refine" in book.learn(failing_run(1)).refined or read_whole == 0
                left = {one.id for one in book.playbook.lessons}
                assert {"x-1", "x-3"} <= left
                assert book.refine(dry_run=True)[0].merges  # asked, it says what it would do
