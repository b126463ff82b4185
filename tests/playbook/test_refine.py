"""Refine: what must go, with a reason, undoable, and never two opposites as one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Bounds, Delta, Lesson, Merge, Pin, Playbook, Restore, Retire, Tally, apply, dumps, refine
from tenure.playbook.delta import Operation
from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.foreign import read_foreign
from tenure.playbook.likeness import compare
from tenure.playbook.refine import learned, plan_refinement, within
from tenure.playbook.render import lesson_tokens
from tests.playbook.opposites import DIFFERENT, EQUAL
from tests.strategies import Choices, History, fold, histories

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NO_BOUNDS = Bounds(lessons_per_section=10**6, tokens=10**9)

AUTHORS = ("extractive", "model:m", "person:ann", "import:f", "")


def made(data: bytes) -> Playbook:
    choices, playbook = Choices(data), Playbook()
    for place in range(choices.below(9)):
        name = f"x-{place:03}"
        operations: list[Operation] = [
            Add(choices.one("st"), choices.text(), id=name, author=choices.one(AUTHORS), status=choices.one(("active", "provisional"))),
            Tally(name, helpful=choices.below(5), harmful=choices.below(5)),
            Pin(name, pinned=choices.below(3) == 2),
        ]
        playbook = apply(playbook, Delta(f"01{place:03}", operations, at=NOW - timedelta(days=2 * choices.below(200)))).playbook
    return playbook


def playbooks() -> st.SearchStrategy[Playbook]:
    return st.binary(min_size=40, max_size=140).map(made)


bounds = st.builds(Bounds, lessons_per_section=st.integers(0, 5), tokens=st.integers(0, 120), fill=st.sampled_from((0.5, 0.9, 1.0)))


@given(playbooks(), bounds)
def test_what_is_left_keeps_the_bounds_or_it_is_said_why_not(playbook: Playbook, bounds: Bounds) -> None:
    plan = plan_refinement(playbook.lessons, bounds, at=NOW)
    delta = refine(playbook, bounds, id="02", at=NOW)
    assert delta.operations == plan.operations
    after = apply(playbook, delta).playbook
    assert within(after.lessons, bounds) or plan.over
    assert plan.tokens_before == sum(map(lesson_tokens, playbook.lessons))
    assert plan.tokens_after == sum(map(lesson_tokens, after.lessons))
    if plan.over:
        assert not within(after.lessons, bounds)
        crowded = {lesson.section for lesson in after.lessons if f"section '{lesson.section}'" in " ".join(plan.over)}
        for lesson in after.lessons:
            if lesson.section in crowded or any("tokens" in said for said in plan.over):
                assert lesson.pinned or not learned(lesson) or proven(lesson)


def proven(lesson: Lesson) -> bool:
    return usefulness(lesson.tallies, age_days=age_in_days(lesson, NOW)).proven


@given(playbooks(), bounds)
def test_what_a_person_wrote_or_imported_or_pinned_is_never_evicted(playbook: Playbook, bounds: Bounds) -> None:
    delta = refine(playbook, bounds, id="02", at=NOW)
    after = apply(playbook, delta).playbook
    for lesson in playbook.lessons:
        now = after.lesson(lesson.id)
        assert now is not None
        if lesson.pinned:
            assert (now.id, now.status) == (lesson.id, lesson.status)
        elif proven(lesson):
            assert now.live or not proven(now)  # joined with its like, it has what speaks against that one too
        elif not learned(lesson):
            assert now.live
            assert now.pinned or not learned(now)


@given(playbooks(), bounds)
def test_every_operation_has_a_reason_and_names_a_live_lesson_once(playbook: Playbook, bounds: Bounds) -> None:
    operations = refine(playbook, bounds, id="02", at=NOW).operations
    assert all(isinstance(operation, Merge | Retire) and operation.reason for operation in operations)
    gone = [one for operation in operations if isinstance(operation, Merge) for one in operation.ids]
    gone += [operation.id for operation in operations if isinstance(operation, Retire)]
    assert len(gone) == len(set(gone))
    assert set(gone) <= {lesson.id for lesson in playbook.lessons}
    assert all(receipt.status == "applied" for receipt in apply(playbook, Delta("02", operations)).receipts)


@given(playbooks(), bounds)
def test_refining_what_was_refined_does_nothing(playbook: Playbook, bounds: Bounds) -> None:
    once = apply(playbook, refine(playbook, bounds, id="02", at=NOW)).playbook
    again = refine(once, bounds, id="03", at=NOW)
    assert again.operations == ()
    assert apply(once, again).playbook is once


def readable(playbook: Playbook) -> list[Lesson]:
    return [replace(lesson, updated="") for lesson in playbook.lessons]


@given(playbooks(), bounds)
def test_refine_can_be_undone(playbook: Playbook, bounds: Bounds) -> None:
    delta = refine(playbook, bounds, id="02", at=NOW)
    undone = [Restore(one, unmerge=True) for operation in delta.operations if isinstance(operation, Merge) for one in operation.ids]
    statuses = {lesson.id: lesson.status for lesson in playbook.lessons}
    undone += [Restore(operation.id, status=statuses[operation.id]) for operation in delta.operations if isinstance(operation, Retire)]
    after = fold(playbook, [delta, Delta("03", undone)])
    assert readable(after) == readable(playbook)


@given(histories(), bounds)
def test_refine_takes_any_playbook_and_leaves_it_as_it_is(history: History, bounds: Bounds) -> None:
    playbook = history.end
    before = dumps(playbook)
    delta = refine(playbook, bounds, id="99", at=NOW)
    assert dumps(playbook) == before
    after = apply(playbook, delta).playbook
    assert refine(after, bounds, id="99x", at=NOW).operations == ()


@given(playbooks())
def test_merged_lessons_have_equal_words(playbook: Playbook) -> None:
    lessons = {lesson.id: lesson for lesson in playbook.lessons}
    for operation in refine(playbook, NO_BOUNDS, id="02", at=NOW).operations:
        assert isinstance(operation, Merge)
        for one in operation.ids:
            assert compare(lessons[one], lessons[operation.into]).relation == "same"


def merges(*adds: Add) -> bool:
    playbook = fold(Playbook(), [Delta("01", [replace(add, id=f"x-{place}") for place, add in enumerate(adds)])])
    return len(apply(playbook, refine(playbook, NO_BOUNDS, id="02")).playbook) < len(adds)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_alike_wording_with_another_meaning_is_never_merged(one: str, other: str) -> None:
    assert not merges(Add("s", one), Add("s", other))


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_what_differs_in_nothing_that_matters_is_merged(one: str, other: str) -> None:
    assert merges(Add("s", one), Add("s", other))
    assert merges(Add("s", "Something.", applies_when=one), Add("t", "Something.", applies_when=other))


def test_the_tables_are_as_large_as_they_should_be() -> None:
    assert len(set(DIFFERENT)) >= 40
    assert len(set(EQUAL)) >= 20


@pytest.mark.parametrize(
    "other",
    [
        Add("s", "Delete files.", applies_when="asked"),
        Add("s", "Delete files.", avoid="backups"),
        Add("s", "Delete files.", tool_order=("list", "delete")),
        Add("s", "Delete files.", kind="prohibition"),
        Add("s", "Delete files.", about="tool-error:delete:#"),
    ],
)
def test_equal_texts_under_other_conditions_are_not_merged(other: Add) -> None:
    assert not merges(Add("s", "Delete files."), other)
    assert merges(
        Add("s", "Delete files."), replace(other, applies_when="", avoid="", tool_order=(), kind="tool_rule", about="", section="t")
    )


def test_alike_words_from_different_cases_stay_apart() -> None:
    assert not merges(
        Add("s", "put the smallest number first", applies_when="sort prices ascending"),
        Add("s", "put the biggest number first", applies_when="rank scores descending"),
        Add("s", "prices are in the currency of the invoice"),
    )


def test_a_merge_keeps_the_protected_the_proven_and_the_useful() -> None:
    texts = [
        Add("s", "Check units.", id="x-1", author="extractive"),
        Add("s", "Check units", id="x-2", author="person:ann"),
        Add("s", "check units", id="x-3", author="extractive"),
    ]
    playbook = fold(Playbook(), [Delta("01", [*texts, Tally("x-3", helpful=9)])])
    (merge,) = refine(playbook, NO_BOUNDS, id="02").operations
    assert isinstance(merge, Merge)
    assert (merge.into, sorted(merge.ids)) == ("x-2", ["x-1", "x-3"])
    pinned = fold(playbook, [Delta("011", [Pin("x-1"), Pin("x-3")])])
    (merge,) = refine(pinned, NO_BOUNDS, id="02").operations
    assert isinstance(merge, Merge)
    assert merge.ids == ("x-2",)


def learned_playbook(size: int, **counts: int) -> Playbook:
    adds = [Add("s", f"lesson number {place}", id=f"x-{place:03}", author="extractive") for place in range(size)]
    tallies = [Tally(f"x-{place:03}", helpful=place) for place in range(1, size)]
    return fold(Playbook(), [Delta("01", [*adds, *tallies])])


def test_the_least_useful_go_first_and_refine_stops_at_nine_tenths() -> None:
    after = fold(learned_playbook(21), [refine(learned_playbook(21), Bounds(lessons_per_section=20), id="02")])
    assert [lesson.id for lesson in after] == [f"x-{place:03}" for place in range(3, 21)]


def test_refine_leaves_alone_what_is_at_its_bound() -> None:
    assert refine(learned_playbook(20), Bounds(lessons_per_section=20), id="02").operations == ()


def test_a_bound_of_one_leaves_one() -> None:
    after = fold(learned_playbook(3), [refine(learned_playbook(3), Bounds(lessons_per_section=1), id="02")])
    assert [lesson.id for lesson in after] == ["x-002"]


def test_old_counts_fade() -> None:
    old, new = NOW - timedelta(days=720), NOW
    playbook = fold(
        Playbook(),
        [
            Delta("01", [Add("s", "old", id="x-1", author="extractive"), Tally("x-1", helpful=2)], at=old),
            Delta("02", [Add("s", "new", id="x-2", author="extractive"), Tally("x-2", helpful=1)], at=new),
        ],
    )
    tight = Bounds(lessons_per_section=1)
    assert [one.id for one in refine(playbook, tight, id="03", at=NOW).operations] == ["x-1"]  # type: ignore[union-attr]
    assert [one.id for one in refine(playbook, tight, id="03").operations] == ["x-2"]  # type: ignore[union-attr]


def test_the_real_playbook_of_appworld_loses_its_copies_and_no_text(shared_data: Path) -> None:
    file = shared_data / "playbooks" / "appworld_online_trained_playbook.txt"
    if not file.exists():
        pytest.skip(f"needs {file.name}")
    playbook = fold(Playbook(), [Delta("01", read_foreign(file.read_text("utf-8")).operations, author=f"import:{file.name}")])
    assert len(playbook) == 359
    before = {lesson.text for lesson in playbook}
    assert len(before) == 337
    delta = refine(playbook, id="02")
    after = fold(playbook, [delta])
    assert {lesson.text for lesson in after} == before
    assert len(after) == 337
    assert all(isinstance(operation, Merge) and operation.reason == "the same text" for operation in delta.operations)
    undone = [Restore(one, unmerge=True) for operation in delta.operations if isinstance(operation, Merge) for one in operation.ids]
    assert readable(fold(after, [Delta("03", undone)])) == readable(playbook)


def test_what_merged_lessons_have_together_decides_whether_they_stay() -> None:
    adds = [
        Add("s", text, id=name, author="extractive")
        for name, text in (("x-1", "Check units."), ("x-2", "Check units"), ("y-1", "Sum last."))
    ]
    playbook = fold(
        Playbook(), [Delta("01", [*adds, Tally("x-1", helpful=1), Tally("x-2", helpful=1), Tally("y-1", helpful=1, support=1)])]
    )
    after = fold(playbook, [refine(playbook, Bounds(lessons_per_section=1), id="02")])
    assert [(lesson.id, lesson.tallies.helpful) for lesson in after] == [("x-1", 2)]


# -- what is kept although a bound is passed -----------------------------------------------------------


def test_proven_lessons_stay_and_that_is_said() -> None:
    adds = [Add("s", f"lesson number {place}", id=f"x-{place}", author="extractive") for place in range(4)]
    playbook = fold(Playbook(), [Delta("01", [*adds, *(Tally(add.id or "", helpful=9) for add in adds)])])
    plan = plan_refinement(playbook.lessons, Bounds(lessons_per_section=2), at=NOW)
    assert plan.evictions == ()
    assert plan.over == ("section 's' stays at 4 lessons: the rest is pinned, proven, imported or written by a person",)


def on_trial(size: int, *, old: int = 6) -> Playbook:
    """Old active lessons that did some harm, then young provisional ones that hardly anybody saw."""
    first = [Add("s", f"old number {place}", id=f"o-{place}", author="extractive") for place in range(old)]
    late = [Add("s", f"new number {place}", id=f"n-{place}", author="extractive", status="provisional") for place in range(size)]
    counts = [Tally(add.id or "", helpful=2, harmful=1) for add in first]
    return fold(
        Playbook(),
        [Delta("01", [*first, *counts], at=NOW - timedelta(days=40)), Delta("02", late, at=NOW - timedelta(days=1))],
    )


def gone(playbook: Playbook, bounds: Bounds, at: datetime = NOW) -> list[str]:
    return sorted(eviction.id for eviction in plan_refinement(playbook.lessons, bounds, at=at).evictions)


def test_a_lesson_on_probation_has_its_chance_before_an_old_one_that_did_better() -> None:
    assert gone(on_trial(2), Bounds(lessons_per_section=7)) == ["o-0", "o-1"]
    later = NOW + timedelta(days=30)
    assert gone(on_trial(2), Bounds(lessons_per_section=7), later) == ["n-0", "n-1"]


def test_a_lesson_that_was_shown_often_or_did_harm_is_on_probation_no_longer() -> None:
    shown = fold(on_trial(2), [Delta("03", [Tally("n-0", shown=3), Tally("n-1", harmful=1)], at=NOW)])
    assert gone(shown, Bounds(lessons_per_section=7)) == ["n-0", "n-1"]


def test_a_flood_of_new_lessons_pushes_out_neither_the_bound_nor_more_than_half_of_it() -> None:
    after = set(gone(on_trial(40), Bounds(lessons_per_section=10)))
    left = [lesson.id for lesson in on_trial(40).lessons if lesson.id not in after]
    assert len(left) <= 10
    assert sum(one.startswith("n-") for one in left) >= 5
    every_one = plan_refinement(on_trial(40, old=0).lessons, Bounds(lessons_per_section=10), at=NOW)
    assert 40 - len(every_one.evictions) <= 10
    assert every_one.over == ()


def test_the_token_bound_holds_under_a_flood_of_new_lessons() -> None:
    bounds = Bounds(lessons_per_section=1000, tokens=150)
    plan = plan_refinement(on_trial(40).lessons, bounds, at=NOW)
    assert plan.tokens_after <= 150 < plan.tokens_before


def test_every_eviction_says_what_it_frees_and_can_be_restored() -> None:
    playbook = on_trial(2)
    plan = plan_refinement(playbook.lessons, Bounds(lessons_per_section=7), at=NOW)
    costs = {lesson.id: lesson_tokens(lesson) for lesson in playbook.lessons}
    assert all(f"frees {costs[eviction.id]} tokens" in eviction.reason for eviction in plan.evictions)
    after = fold(playbook, [Delta("03", plan.operations, at=NOW)])
    back = fold(after, [Delta("04", [Restore(eviction.id) for eviction in plan.evictions], at=NOW)])
    assert {lesson.id for lesson in back} == {lesson.id for lesson in playbook}
