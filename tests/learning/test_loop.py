"""The learning loop: what a run leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tenure import Add, Lesson, Outcome, Run, Tenure, dumps
from tenure.learning.observing import observations
from tenure.playbook.lessons import Tallies
from tenure.testing import CountingIds, RuleModel, SteppingClock
from tests.learning.episodes import accepted, call, clean_run, cured_run, rejected, uncured_run


@pytest.fixture(params=["memory://", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[Tenure]:
    url = request.param if request.param != "sqlite" else f"sqlite:///{tmp_path}/book.db"
    with Tenure.open(url, scope="test", clock=SteppingClock(), ids=CountingIds()) as opened:
        yield opened


def only_lesson(book: Tenure) -> Lesson:
    (lesson,) = book.playbook.lessons
    return lesson


def test_a_cured_error_becomes_one_lesson_that_points_at_its_steps(book: Tenure) -> None:
    learned = book.learn(cured_run())
    lesson = only_lesson(book)
    assert (learned.added, learned.merged, learned.held) == (1, 0, 0)
    assert "`convert`" in lesson.text
    assert "invoice_date" in lesson.text
    assert lesson.kind == "tool_rule"
    assert {(place.run, place.step) for place in lesson.evidence} >= {("r1", 1), ("r1", 3)}
    assert lesson.author == "extractive"
    assert lesson.created


def test_the_same_run_learned_twice_adds_nothing(book: Tenure) -> None:
    book.learn(cured_run())
    before = dumps(book.playbook)
    again = book.learn(cured_run())
    assert again.skipped == "already learned"
    assert dumps(book.playbook) == before


def test_the_same_error_in_another_run_supports_the_lesson_instead_of_doubling_it(book: Tenure) -> None:
    book.learn(cured_run("r1", invoice=7))
    second = book.learn(cured_run("r2", invoice=8))
    lesson = only_lesson(book)
    assert (second.added, second.merged) == (0, 1)
    assert lesson.tallies.support == 2
    assert {place.run for place in lesson.evidence} == {"r1", "r2"}


def test_two_runs_with_an_honest_outcome_promote_a_lesson(book: Tenure) -> None:
    book.learn(cured_run("r1"))
    assert only_lesson(book).status == "provisional"
    book.learn(cured_run("r2"))
    assert only_lesson(book).status == "active"


def test_runs_without_an_outcome_teach_only_provisional_lessons(book: Tenure) -> None:
    for number in range(5):
        book.learn(cured_run(f"r{number}", outcome=Outcome()))
    assert only_lesson(book).status == "provisional"


def test_a_models_own_word_promotes_nothing(book: Tenure) -> None:
    for number in range(5):
        book.learn(cured_run(f"r{number}", outcome=Outcome(success=True, signal="self")))
    assert only_lesson(book).status == "provisional"


def test_an_uncured_error_is_upgraded_when_a_later_run_cures_it(book: Tenure) -> None:
    book.learn(uncured_run("u1"))
    assert only_lesson(book).kind == "common_error"
    cure = uncured_run("u2")
    book.learn(replace(cure, steps=(*cure.steps, call("post", total="12"), accepted("post"))))
    lesson = only_lesson(book)
    assert lesson.kind == "tool_rule"
    assert "12" in lesson.text
    assert lesson.tallies.support == 2


def test_a_session_that_grew_adds_only_what_is_new(book: Tenure) -> None:
    short = cured_run("s1")
    book.learn(short)
    longer = replace(
        short,
        steps=(
            *short.steps,
            call("post", total="1"),
            rejected("post", "total 1 does not match the control total"),
            call("post", total="2"),
            accepted("post"),
        ),
    )
    learned = book.learn(longer)
    assert learned.skipped == ""
    assert learned.added == 1
    assert sorted(lesson.tallies.support for lesson in book.playbook.lessons) == [1, 1]
    with book.store.reading(book.scope) as reading:
        assert reading.learned_steps("s1") == len(longer.steps)


def test_a_verdict_that_was_only_kept_is_learned_from_as_if_it_had_been_told_at_once(book: Tenure) -> None:
    book.learn(cured_run("r1"))
    lesson = only_lesson(book)
    run = replace(clean_run("r2", shown=(lesson.id,), success=None), ended="2026-03-15T11:00:00Z")
    told = replace(run, outcome=Outcome(success=False, signal="human"))
    other = book.in_scope("local/at-once")
    other.learn(replace(cured_run("r1"), scope=other.scope))
    other.learn(replace(told, scope=other.scope, shown=(only_lesson(other).id,)))
    book.learn(run)
    book.keep(told)
    summary = book.learn_kept()
    assert (summary.runs, book.learn_kept().runs) == (1, 0)
    after, at_once = only_lesson(book).tallies, only_lesson(other).tallies
    assert (after.shown, after.helpful, after.harmful, after.neutral) == (at_once.shown, at_once.helpful, at_once.harmful, at_once.neutral)
    assert book.learn(told).skipped == "already learned"


def test_a_shown_lesson_whose_error_stays_away_is_counted_helpful_by_the_tools_answer(book: Tenure) -> None:
    book.learn(cured_run("r1"))
    lesson = only_lesson(book)
    book.learn(clean_run("r2", shown=(lesson.id,), success=None))
    after = only_lesson(book).tallies
    assert (after.shown, after.helpful, after.harmful) == (1, 1, 0)


def test_a_cited_lesson_whose_error_comes_back_is_counted_harmful(book: Tenure) -> None:
    book.learn(cured_run("r1"))
    lesson = only_lesson(book)
    book.learn(cured_run("r2", shown=(lesson.id,), cited=(lesson.id,)))
    after = only_lesson(book).tallies
    assert (after.harmful, after.helpful, after.cited) == (1, 0, 1)


def test_a_run_counts_once_for_each_lesson_however_often_it_is_learned_anew(book: Tenure) -> None:
    book.apply([Add("s", "Do.", id="a-1", author="extractive"), Add("s", "Do it.", id="a-2", author="extractive")], author="extractive")
    run = replace(clean_run("r1", shown=("a-1",), success=None), withheld=("a-2",))
    book.learn(run)
    grown = replace(run, steps=(*run.steps, *cured_run().steps))
    book.learn(grown)
    # Whoever reports the outcome need not know what was shown.
    book.learn(replace(grown, shown=(), withheld=(), outcome=Outcome(success=True, signal="test")))
    tallies = {lesson.id: lesson.tallies for lesson in book.playbook.lessons}
    assert tallies["a-1"] == Tallies(shown=1, neutral=1)
    assert tallies["a-2"] == Tallies(withheld=1)
    with book.store.reading(book.scope) as look:
        for lesson, exposure in (("a-1", "shown"), ("a-2", "withheld")):
            found = look.lesson(lesson)
            assert found is not None
            assert [(one.run, one.exposure) for one in observations(look, found)] == [("r1", exposure)]


def test_learning_can_be_switched_off_for_a_scope(book: Tenure) -> None:
    book.set("learn.enabled", "off")
    assert "switched off" in book.learn(cured_run()).skipped
    assert book.playbook.lessons == ()


def test_secrets_never_reach_run_lesson_or_ledger(book: Tenure) -> None:
    secret = "AKIA" + "ABCDEFGH" + "IJKLMNOP"
    run = cured_run()
    leaky = replace(run, steps=(*run.steps[:1], rejected("convert", f"key {secret} is not allowed for invoice 7"), *run.steps[2:]))
    book.learn(leaky)
    with book.store.reading(book.scope) as reading:
        kept = repr(reading.run("r1")) + repr(reading.ledger()) + dumps(reading.playbook()) + book.context("reconcile invoice").text
    assert secret not in kept
    assert "redacted" in kept


def test_a_kept_run_is_learned_later_once(book: Tenure) -> None:
    book.learner.keep(cured_run())
    assert book.playbook.lessons == ()
    assert book.learn_kept().added == 1
    assert book.learn_kept().runs == 0


def test_an_interrupt_ends_learning_after_the_run_at_hand(book: Tenure) -> None:
    def stream() -> Iterator[Run]:
        yield cured_run("r1")
        raise KeyboardInterrupt

    summary = book.learn_many(stream())
    assert (summary.interrupted, summary.runs, summary.added) == (True, 1, 1)
    assert len(book.playbook.lessons) == 1


def test_the_summary_counts_runs_by_outcome(book: Tenure) -> None:
    summary = book.learn_many([cured_run("a"), uncured_run("b"), cured_run("a"), cured_run("c", outcome=Outcome())])
    assert (summary.runs, summary.successes, summary.failures, summary.skipped) == (4, 2, 1, 1)


def test_refine_runs_by_itself_when_a_bound_is_passed(book: Tenure) -> None:
    book.set("bounds.lessons_per_section", "3")
    for number in range(8):
        base = cured_run(f"r{number}")
        tool = f"tool{chr(97 + number)}"
        steps = tuple(replace(step, name=tool) for step in base.steps)
        book.learn(replace(base, steps=steps))
    sizes: dict[str, int] = {}
    for lesson in book.playbook.lessons:
        sizes[lesson.section] = sizes.get(lesson.section, 0) + 1
    assert max(sizes.values()) <= 3
    retired = [lesson for lesson in book.playbook.every_lesson if lesson.status == "retired"]
    assert retired, "what had to go is still there, and can be restored"


def test_a_run_without_steps_that_was_only_kept_is_learned_once(book: Tenure) -> None:
    lesson = book.apply([Add("s", "a rule")]).receipts[0].id
    with book.run("t") as run:
        run.finish(success=True, cited=[lesson], learn=False)
    assert book.learn_kept().skipped == 0
    assert book.playbook.lesson(lesson).tallies.helpful == 1  # type: ignore[union-attr]
    assert book.learn_kept().runs == 0


def test_a_run_that_was_interrupted_does_not_wait_for_ever(book: Tenure) -> None:
    with pytest.raises(KeyboardInterrupt), book.run("t"):
        raise KeyboardInterrupt
    assert (book.learn_kept().skipped, book.learn_kept().runs) == (0, 0)


def test_a_run_that_another_process_learned_meanwhile_counts_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/book.db"
    with Tenure.open(url, scope="test") as other:
        # The other process learns the run while this one asks its model about it.
        model = RuleModel(lambda prompt: other.learn(cured_run()).skipped)
        with Tenure.open(url, scope="test", model=model) as book:
            learned = book.learn(cured_run())
        with other.store.reading(other.scope) as reading:
            assert reading.version() == 1
    assert (learned.skipped, learned.added, learned.merged, learned.held) == ("already learned", 0, 0, 0)
