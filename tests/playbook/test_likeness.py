"""Likeness: what says the same is merged, what differs in a fact never is, and no pair is compared that need not be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest
from hypothesis import given

from tenure import Add, Bounds, Delta, Evidence, Lesson, Playbook, Tally
from tenure.playbook import wording as reading
from tenure.playbook.likeness import COMMON, FAMILY, _phrases, compare, conflicts, difference, read
from tenure.playbook.refine import plan_refinement
from tenure.playbook.wording import wording
from tests.playbook.later_pairs import LATER_PAIRS, OPPOSITES_AFTERWARDS, OPPOSITES_FROM_RULES, STILL_THE_SAME
from tests.playbook.likeness_pairs import FROM_TASKS, PAIRS, Pair
from tests.playbook.opposite_pairs import OPPOSITES_IN_KINDS, OPPOSITES_THIRD, OPPOSITES_UNSEEN, OPPOSITES_UNSEEN_AFTERWARDS, SAME_IN_KINDS
from tests.playbook.opposites import DIFFERENT, EQUAL
from tests.strategies import fold, texts
from tests.timing import assert_growth, seconds

NO_BOUNDS = Bounds(lessons_per_section=10**6, tokens=10**9)


def said(text: str, name: str = "x-1", **rest: object) -> Lesson:
    return replace(Lesson(id=name, section="s", kind="strategy", text=text), **rest)  # type: ignore[arg-type]


def merged(pair: Pair) -> bool:
    return compare(said(pair.one), said(pair.other, "x-2")).relation == "same"


def test_the_labelled_set_is_as_large_and_as_varied_as_it_should_be() -> None:
    assert len(PAIRS) == len(set(PAIRS)) >= 200
    groups = Counter(pair.group for pair in PAIRS)
    assert {"number", "unit", "negation", "comparison", "identifier", "condition", "tool", "opposite", "two languages"} <= set(groups)
    assert sum(pair.same for pair in PAIRS) >= 60


ALL_PAIRS = (
    *PAIRS,
    *LATER_PAIRS,
    *OPPOSITES_FROM_RULES,
    *OPPOSITES_AFTERWARDS,
    *OPPOSITES_IN_KINDS,
    *OPPOSITES_UNSEEN,
    *OPPOSITES_UNSEEN_AFTERWARDS,
    *OPPOSITES_THIRD,
)


@pytest.mark.parametrize("pair", [pair for pair in ALL_PAIRS if not pair.same], ids=str)
def test_what_differs_in_a_fact_is_never_merged(pair: Pair) -> None:
    assert not merged(pair)
    assert not merged(Pair(pair.group, pair.same, pair.other, pair.one))


@pytest.mark.parametrize("pair", [*STILL_THE_SAME, *SAME_IN_KINDS], ids=str)
def test_what_keeps_opposites_apart_leaves_paraphrases_together(pair: Pair) -> None:
    assert merged(pair)


def test_precision_and_recall_on_pairs_written_after_the_rules() -> None:
    wanted = [pair for pair in LATER_PAIRS if pair.same]
    found = [pair for pair in wanted if merged(pair)]
    wrong = [pair for pair in LATER_PAIRS if merged(pair) and not pair.same]
    print(f"precision {len(found) / (len(found) + len(wrong)):.3f}, recall {len(found) / len(wanted):.3f}")
    assert wrong == []
    assert len(found) / len(wanted) >= 0.65


def test_precision_and_recall_of_merging() -> None:
    wrong = [pair for pair in PAIRS if merged(pair) and not pair.same]
    found = [pair for pair in PAIRS if merged(pair) and pair.same]
    wanted = [pair for pair in PAIRS if pair.same]
    by_group = {
        group: f"{sum(pair.group == group for pair in found)}/{count}" for group, count in Counter(pair.group for pair in wanted).items()
    }
    print(f"precision {len(found) / (len(found) + len(wrong)):.3f}, recall {len(found) / len(wanted):.3f}, by group {by_group}")
    assert wrong == []
    # Paraphrases in new words and translations are beyond plain code: they cost tokens, a wrong merge costs knowledge.
    assert len(found) / len(wanted) >= 0.75
    # A longer text is one lesson with a shorter one only where it adds a purpose in one of a few closed forms.
    easy = [pair for pair in wanted if pair.group in ("easy paraphrase", "within another language")]
    assert [pair for pair in easy if not merged(pair)] == []


def test_facts_that_differ_under_alike_wording_are_listed_as_a_conflict() -> None:
    facts = [
        pair for pair in PAIRS if pair.group in ("number", "unit", "negation", "comparison", "opposite", "identifier", "condition", "tool")
    ]
    listed = [pair for pair in facts if compare(said(pair.one), said(pair.other, "x-2")).relation == "conflict"]
    print(f"listed as conflicts: {len(listed)} of {len(facts)}")
    assert len(listed) / len(facts) >= 0.6


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_the_known_opposites_stay_apart(one: str, other: str) -> None:
    assert compare(said(one), said(other, "x-2")).relation != "same"


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_what_differs_in_nothing_that_matters_is_the_same(one: str, other: str) -> None:
    assert compare(said(one), said(other, "x-2")).relation == "same"


@pytest.mark.parametrize(("same", "one", "one_task", "other", "other_task"), FROM_TASKS)
def test_other_words_from_another_task_stay_apart_and_equal_words_do_not(
    same: bool, one: str, one_task: str, other: str, other_task: str
) -> None:
    known = {"r1": one_task, "r2": other_task}

    def tasks(runs: Collection[str]) -> Mapping[str, str]:
        return {run: known[run] for run in runs if run in known}

    first = said(one, evidence=(Evidence(run="r1"),))
    second = said(other, "x-2", evidence=(Evidence(run="r2"),))
    assert (compare(first, second, tasks=tasks).relation == "same") == same
    assert bool(plan_refinement([first, second], NO_BOUNDS, tasks=tasks).merges) == same


@given(texts(), texts())
def test_likeness_takes_any_text_and_does_not_depend_on_the_order(one: str, other: str) -> None:
    there, back = compare(said(one), said(other, "x-2")), compare(said(other, "x-2"), said(one))
    assert there.relation == back.relation
    assert compare(said(one), said(one, "x-2")).relation == "same"


@given(texts())
def test_the_normal_form_keeps_every_figure(text: str) -> None:
    digits = Counter(character for character in text if character in "0123456789")
    kept = Counter(character for word in wording(text).key for character in word if character in "0123456789")
    assert digits <= kept


def test_a_merge_keeps_the_longer_text_the_evidence_of_both_and_adds_counts() -> None:
    adds = [
        Add("s", "Check units before summing.", id="x-1", author="extractive", evidence=(Evidence(run="r1"),)),
        Add("t", "Check units before summing. This prevents wrong totals.", id="x-2", author="extractive", evidence=(Evidence(run="r2"),)),
    ]
    playbook = fold(Playbook(), [Delta("01", [*adds, Tally("x-1", helpful=5), Tally("x-2", helpful=1)])])
    plan = plan_refinement(playbook.lessons, NO_BOUNDS)
    after = fold(playbook, [Delta("02", plan.operations)])
    (lesson,) = after.lessons
    assert lesson.text == "Check units before summing. This prevents wrong totals."
    assert {place.run for place in lesson.evidence} == {"r1", "r2"}
    assert (lesson.tallies.helpful, lesson.tallies.support) == (6, 2)
    assert "only adds" in plan.merges[0].reason


def test_what_a_person_wrote_does_not_go_into_a_longer_lesson_that_was_learned() -> None:
    short = said("Check units.", author="person:ann")
    long = said("Check units. This prevents wrong totals.", "x-2", author="extractive")
    assert plan_refinement([short, long], NO_BOUNDS).merges == ()
    assert plan_refinement([replace(short, author="extractive", pinned=True), long], NO_BOUNDS).merges == ()


def test_alike_lessons_from_different_cases_are_neither_merged_nor_lost() -> None:
    lessons = [
        said("put the smallest number first", "x-1", applies_when="sort prices ascending"),
        said("put the biggest number first", "x-2", applies_when="rank scores descending"),
        said("prices are in the currency of the invoice", "x-3"),
    ]
    plan = plan_refinement(lessons, NO_BOUNDS)
    assert plan.operations == ()


def test_conflicts_name_their_lessons_and_the_facts() -> None:
    lessons = [said(f"Retry the failed call at most {count} times.", f"x-{count}") for count in (3, 5)]
    (found,) = plan_refinement(lessons, NO_BOUNDS).conflicts
    assert found.ids == ("x-3", "x-5")
    assert "'3' against '5'" in found.reason


def test_a_family_that_differs_only_in_figures_is_listed_once() -> None:
    lessons = [said(f"Wait {count} seconds after error {count}.", f"x-{count:03}") for count in range(2, 2 + 3 * FAMILY)]
    found = conflicts([read(one) for one in lessons])
    assert len(found) == 1
    assert len(found[0].ids) == 3 * FAMILY


def test_lessons_about_two_tool_errors_are_no_conflict() -> None:
    one = said("The tool 'book' rejected 3 seats.", about="tool-error:book:#")
    other = said("The tool 'book' rejected 5 seats.", "x-2", about="tool-error:book:# seats")
    assert compare(one, other).relation == "unlike"


def test_the_cost_of_finding_alike_lessons_does_not_grow_with_the_square() -> None:
    """Even where every word is common, pairs are not all compared."""
    dice = random.Random(1)
    common = ["".join(dice.sample("abcdefghiklmnoprstu", 6)) for _ in range(30)]  # words: what has a digit is a name, and no common word

    def lessons(size: int) -> list[Lesson]:
        return [said(" ".join(dice.sample(common, 12)), f"x-{number}") for number in range(size)]

    def taken(size: int) -> float:
        some = lessons(size)
        return seconds(lambda: plan_refinement(some, NO_BOUNDS))

    assert_growth(taken, COMMON * 5, COMMON * 20, at_most=8)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (
            "Verify each note: (1) All entries are preserved, (2) Only intended entries are changed",
            "Verify each note: (1) Checking all entries are preserved, (2) Ensuring only intended entries are changed",
            "how the points of their lists are put",
        ),
        ("Send the report to all on Friday evening", "Send the report to all on friday evening", "how a word is written ('Friday')"),
        ("Open the note 'Playlist Songs' and read it", "Open the note and read it in the Playlist", "only one says 'Playlist Songs'"),
        ("Ask the owner before the file is moved", "Ask only the owner before the file is moved", "only one says 'only'"),
        ("Retry from 3 up to 5 times in a row", "Retry from 5 up to 3 times in a row", "('3 5' against '5 3')"),
    ],
)  # fmt: skip
def test_a_conflict_names_what_only_one_of_them_says_and_not_what_both_say(one: str, other: str, wanted: str) -> None:
    found = compare(said(one), said(other, "x-2"))
    assert (found.relation, wanted in found.reason) == ("conflict", True), found.reason
    assert "against none" not in found.reason


@given(texts(), texts())
def test_two_texts_that_differ_in_a_fact_always_get_a_reason(one: str, other: str) -> None:
    a, b = read(said(one)), read(said(other, "x-2"))
    differ = any(Counter(a.facts(kind)) != Counter(b.facts(kind)) for kind in ("number", "name", "negation", "quantity"))
    reason = difference(a, b)
    assert bool(reason) or not differ
    assert not reason.endswith("differ in ")


def test_a_plain_word_that_is_read_once_says_what_it_would_say_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [text for pair in (*ALL_PAIRS, *SAME_IN_KINDS) for text in (pair.one, pair.other)]
    once = [wording.__wrapped__(text) for text in said]
    written = {one.word for text in said for one in reading._read(text)}
    monkeypatch.setattr(reading, "_read_short", reading._read_word)
    monkeypatch.setattr(reading, "_TURNING", reading._TURNING | written | {word.lower() for word in written})
    assert [text for text, form in zip(said, once, strict=True) if wording.__wrapped__(text) != form] == []


def test_words_of_a_quotation_are_told_together_and_an_empty_fact_is_none() -> None:
    assert _phrases(["", "'Playlist", "Songs'", "", "3"]) == ["'Playlist Songs'", "3"]
