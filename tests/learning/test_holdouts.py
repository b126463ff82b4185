"""Hold-outs and gradual release at work: nothing changes while they are off; what is left out is recorded, and judged later."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tenure import Add, Outcome, Pin, Restore, Retire, Run, Tally, Task, Tenure, Update
from tenure.learning.recall import Context
from tenure.playbook.holdout import CHANCE_IN_RUN, fate, is_holdout_run
from tenure.playbook.lessons import Tallies
from tenure.playbook.run import Draw
from tenure.testing import CountingIds, SteppingClock

WORDS = "red green blue amber olive coral ivory slate plum teal rust lime navy rose sand mint".split()
RUNS = [f"run-{number}" for number in range(400)]
HELD_OUT = [run for run in RUNS if is_holdout_run(run, 0.1)]


@pytest.fixture(params=["memory://", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[Tenure]:
    url = request.param if request.param != "sqlite" else f"sqlite:///{tmp_path}/book.db"
    with Tenure.open(url, scope="acme/test", clock=SteppingClock(), ids=CountingIds(), embedder="none") as opened:
        yield opened


@pytest.fixture
def memory_book() -> Iterator[Tenure]:
    """For tests with many runs; what a store keeps of them is for the contract suite to say."""
    with Tenure.open("memory://", scope="acme/test", clock=SteppingClock(), ids=CountingIds(), embedder="none") as opened:
        yield opened


class LeapingClock:
    """A clock that stands still until it is told to leap."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def leap(self, days: int) -> None:
        self.moment += timedelta(days=days)


def learned(book: Tenure, size: int, *, status: str = "active", kind: str = "strategy") -> None:
    """Lessons as if runs had taught them."""
    adds = [
        Add(
            "tool rules",
            f"Before step {WORDS[at % 16]} check part number {at} twice.",
            id=f"x-{at:03}",
            author="extractive",
            status=status,
            kind=kind,
        )
        for at in range(size)
    ]
    book.apply(adds, author="extractive", cause="run")


def shown_to(book: Tenure, run: str, task: str = "step red") -> Context:
    return book.context(task, run=run)


# -- hold-outs -----------------------------------------------------------------------------------------


def test_while_they_are_off_the_id_of_a_run_changes_nothing(book: Tenure) -> None:
    learned(book, 12)
    texts = {shown_to(book, run).text for run in ("", *HELD_OUT[:20])}
    assert len(texts) == 1
    assert shown_to(book, HELD_OUT[0]).draws == ()


def test_without_the_id_of_a_run_nothing_is_held_out(book: Tenure) -> None:
    learned(book, 12)
    book.set("holdout.enabled", "on")
    found = book.context("step red")
    assert (found.withheld, found.draws, len(found.lessons)) == ((), (), 12)
    assert found.holdout == "Hold-outs are on; without the id of a run nothing is held out."


def test_runs_that_nothing_is_held_out_of_get_the_very_prompt_of_before(book: Tenure) -> None:
    learned(book, 40)
    before = book.context("step red")
    book.set("holdout.enabled", "on")
    for run in RUNS[:30]:
        found = shown_to(book, run)
        if run not in HELD_OUT:
            assert (found.text, found.draws) == (before.text, ())
        else:
            assert len(found.draws) == 40
            gone = {one.id for one in found.withheld}
            assert set(found.lessons) | gone == set(before.lessons)
            assert not gone & set(found.lessons)
            # What is missing is missing; all other lines are there as they were, and the core that is kept is whole.
            lines = [line for line in before.text.splitlines() if not any(f"[{one}]" in line for one in gone)]
            assert found.text.splitlines() == lines
            assert found.core == before.core


def test_a_lesson_is_left_out_by_its_draw_and_by_nothing_else(book: Tenure) -> None:
    learned(book, 12)
    book.set("holdout.enabled", "on")
    for run in HELD_OUT[:12]:
        found = shown_to(book, run)
        assert {one.id for one in found.withheld} == {
            one for one in map("x-{:03}".format, range(12)) if fate(run, one, "holdout") < CHANCE_IN_RUN
        }
        assert shown_to(book, run) == found
        assert all(one.chance == CHANCE_IN_RUN for one in found.draws)
        assert all(one.reason.endswith("left out of 10% of the runs that it matches") for one in found.withheld)


def test_lessons_for_the_task_at_hand_are_held_out_and_their_room_stays_empty(book: Tenure) -> None:
    learned(book, 60)
    book.set("holdout.enabled", "on")
    book.set("context.core_tokens", "0")
    before = book.context("step red check part", budget=600)
    assert set(before.parts) >= {"recall"}
    assert before.parts["core"] == 0
    for run in HELD_OUT[:10]:
        found = book.context("step red check part", budget=600, run=run)
        assert set(found.lessons) < set(before.lessons) or not found.withheld
        assert found.left_out == before.left_out
        assert {one.part for one in found.withheld} <= {"recall"}


def test_what_is_pinned_forbidden_or_in_a_persons_words_is_never_held_out(memory_book: Tenure) -> None:
    learned(memory_book, 3)
    memory_book.apply([Add("tool rules", "Ask before step red.", id="p-1")], author="person:ada")
    memory_book.apply([Add("tool rules", "Never repeat step red.", id="n-1", author="extractive")], author="extractive")
    memory_book.apply([Add("s", "Skip step red.", id="k-1", kind="prohibition", author="extractive")], author="extractive")
    memory_book.apply([Pin("x-000")])
    memory_book.apply([Update("x-001", text="Before step green check part number 1, said Ada.")], author="person:ada")
    memory_book.set("holdout.enabled", "on")
    drawn = {draw.lesson for run in HELD_OUT for draw in shown_to(memory_book, run).draws}
    assert drawn == {"x-002"}


def test_lessons_of_parent_scopes_are_not_drawn(book: Tenure) -> None:
    learned(book, 4)
    with Tenure(book.store, "acme/test/team", ids=CountingIds(), clock=SteppingClock(), embedder="none") as team:
        team.set("holdout.enabled", "on")
        found = [shown_to(team, run) for run in HELD_OUT[:10]]
        assert found[0].lessons
        assert not any(one.draws for one in found)


def test_a_run_records_what_it_was_denied_and_counts_it(book: Tenure) -> None:
    learned(book, 12)
    book.set("holdout.enabled", "on")
    runs: list[str] = []
    for _ in range(40):
        with book.run("step red") as run:
            run.finish(success=True)
        runs.append(run.id)
    with book.store.reading(book.scope) as look:
        kept = [one for one in map(look.run, runs) if one is not None]
        counts = look.draw_counts()
    assert {one.id for one in kept if one.draws} == {run for run in runs if is_holdout_run(run, 0.1)}
    for one in kept:
        assert set(one.withheld) == {draw.lesson for draw in one.draws if draw.withheld}
        assert set(one.shown) | set(one.withheld) == {f"x-{at:03}" for at in range(12)}
    assert sum(one.runs for one in counts) == sum(len(one.draws) for one in kept)
    told = {lesson.id: lesson.tallies.withheld for lesson in book.playbook.lessons}
    assert told == {one: sum(one in each.withheld for each in kept) for one in told}
    assert sum(told.values()) > 0


def outcomes(book: Tenure, runs: int, effects: dict[str, float], *, signal: str = "test", seed: int = 1) -> None:
    """Runs that succeed in 7 of 10 cases, and more or less often with some lessons in view."""
    chances = random.Random(seed)
    for _ in range(runs):
        with book.run("step red") as run:
            success = chances.random() < 0.7 + sum(by for one, by in effects.items() if one in run.shown.lessons)
            run.finish(success=success, signal=signal)  # type: ignore[arg-type]


def test_a_lesson_that_harms_is_retired_and_one_that_does_nothing_is_not(memory_book: Tenure) -> None:
    learned(memory_book, 3)
    memory_book.set("holdout.enabled", "on")
    memory_book.set("holdout.share", "0.25")
    outcomes(memory_book, 250, {"x-001": -0.6})
    trials = {one.lesson.id: one for one in memory_book.holdouts()}
    assert trials["x-001"].lesson.status == "retired"
    assert trials["x-001"].lift.finding == "harms"
    assert min(trials["x-001"].lift.shown, trials["x-001"].lift.withheld) >= 20
    for one in ("x-000", "x-002"):
        assert trials[one].lesson.status == "active"
        assert trials[one].lift.finding != "harms"
    with memory_book.store.reading(memory_book.scope) as look:
        reason = next(op.reason for entry in look.ledger() for op in entry.delta.operations if isinstance(op, Retire))
    assert reason.startswith("held out of ")
    assert "worse with it" in reason


def test_a_provisional_lesson_that_helps_becomes_active(memory_book: Tenure) -> None:
    learned(memory_book, 2, status="provisional")
    memory_book.set("holdout.enabled", "on")
    memory_book.set("holdout.share", "0.25")
    outcomes(memory_book, 250, {"x-001": 0.29, "x-000": -0.1})
    found = {lesson.id: lesson.status for lesson in memory_book.playbook.lessons}
    assert found == {"x-000": "provisional", "x-001": "active"}


def test_what_a_model_says_of_itself_moves_nothing(memory_book: Tenure) -> None:
    learned(memory_book, 2)
    memory_book.set("holdout.enabled", "on")
    memory_book.set("holdout.share", "0.25")
    outcomes(memory_book, 80, {"x-001": -0.7}, signal="self")
    assert {one.lift.finding for one in memory_book.holdouts()} == {"not enough data"}
    assert all(one.open >= 60 for one in memory_book.holdouts())
    assert all(lesson.live for lesson in memory_book.playbook.lessons)


def test_draws_of_an_earlier_text_do_not_count_for_a_later_one(book: Tenure) -> None:
    learned(book, 2)
    book.set("holdout.enabled", "on")
    outcomes(book, 60, {})
    drawn = {one.lesson.id: one.lift.shown + one.lift.withheld for one in book.holdouts()}
    book.apply([Update("x-000", text="Before step red check nothing.")], author="model:m", cause="run")
    trials = {one.lesson.id: one for one in book.holdouts()}
    assert (trials["x-000"].lift.shown, trials["x-000"].earlier) == (0, drawn["x-000"])
    assert (trials["x-001"].lift.shown + trials["x-001"].lift.withheld, trials["x-001"].earlier) == (drawn["x-001"], 0)


def test_draws_that_another_door_reports_count_as_well(book: Tenure) -> None:
    learned(book, 1)
    for number in range(3):
        draw = Draw(lesson="x-000", withheld=number == 0, chance=0.25)
        outcome = Outcome(success=number > 0, signal="test")
        book.learn(Run(id=f"r{number}", task=Task(text="step red"), draws=(draw,), outcome=outcome, ended="2026-01-05T09:00:00+00:00"))
    (trial,) = book.holdouts()
    assert (trial.lift.shown, trial.lift.withheld, trial.lift.lift) == (2, 1, 1.0)


def test_what_was_shown_may_be_kept_at_once_and_the_outcome_reported_by_another(book: Tenure) -> None:
    learned(book, 2)
    shown, out = Draw(lesson="x-000", withheld=False, chance=0.25), Draw(lesson="x-001", withheld=True, chance=0.25)
    book.keep(Run(id="r1", task=Task(text="step red"), shown=("x-000",), withheld=("x-001",), draws=(shown, out)))
    book.learn(Run(id="r1", task=Task(text="step red"), outcome=Outcome(success=True, signal="test"), ended="2026-01-05T09:00:00+00:00"))
    assert {lesson.id: lesson.tallies for lesson in book.playbook.lessons} == {
        "x-000": Tallies(shown=1, neutral=1),
        "x-001": Tallies(withheld=1),
    }
    assert [(one.lesson.id, one.lift.shown, one.lift.withheld) for one in book.holdouts()] == [("x-000", 1, 0), ("x-001", 0, 1)]


def test_a_lesson_that_was_brought_back_is_tried_anew(memory_book: Tenure) -> None:
    learned(memory_book, 1)
    memory_book.set("holdout.enabled", "on")
    memory_book.set("holdout.share", "0.25")
    outcomes(memory_book, 150, {"x-000": -0.6})
    assert memory_book.playbook.lessons == ()
    memory_book.apply([Restore("x-000")], author="person:ada")
    outcomes(memory_book, 30, {}, seed=2)
    (trial,) = memory_book.holdouts()
    assert trial.lesson.live
    assert trial.lift.finding == "not enough data"
    assert trial.earlier > 40


# -- gradual release -----------------------------------------------------------------------------------


def test_a_new_lesson_is_shown_in_a_tenth_then_half_then_all_of_the_runs(memory_book: Tenure) -> None:
    learned(memory_book, 3)
    memory_book.apply(
        [Add("tool rules", "At step red read the label.", id="n-1", author="extractive", status="provisional")], author="extractive"
    )
    memory_book.set("release.gradual", "on")
    stages: list[float] = []
    for gained in (Tally("n-1", helpful=0), Tally("n-1", helpful=1), Tally("n-1", helpful=2)):
        memory_book.apply([gained], author="extractive")
        found = [shown_to(memory_book, run) for run in RUNS[:150]]
        stages.append(sum("n-1" in one.lessons for one in found) / 150)
        for one in found:
            assert {*one.lessons, *(out.id for out in one.withheld)} == {"n-1", "x-000", "x-001", "x-002"}
            assert {out.why for out in one.withheld} <= {"release"}
    assert stages == pytest.approx([0.1, 0.5, 1.0], abs=0.08)


def test_who_is_shown_a_new_lesson_early_goes_on_seeing_it(book: Tenure) -> None:
    book.apply([Add("tool rules", "At step red read the label.", id="n-1", author="extractive", status="provisional")], author="extractive")
    book.set("release.gradual", "on")
    early = {run for run in RUNS[:80] if "n-1" in shown_to(book, run).lessons}
    book.apply([Tally("n-1", helpful=1)], author="extractive")
    assert early
    assert early <= {run for run in RUNS[:80] if "n-1" in shown_to(book, run).lessons}


def test_the_stable_part_holds_a_new_lesson_once_it_is_shown_to_all(book: Tenure) -> None:
    learned(book, 3)
    book.apply([Add("tool rules", "At step red read the label.", id="n-1", author="extractive", status="provisional")], author="extractive")
    book.set("release.gradual", "on")
    cores = {shown_to(book, run).core for run in RUNS[:30]}
    (core,) = cores
    assert core is not None
    assert "n-1" not in {line.id for line in (*core.lines, *core.tail)}
    stable = {found.text.partition("## for this task")[0] for found in (shown_to(book, run) for run in RUNS[:30])}
    assert len(stable) == 1, "who sees the new lesson and who does not share the stable part"
    book.apply([Update("n-1", status="active")], author="extractive")
    later = shown_to(book, "run-1")
    assert later.core is not None
    assert "n-1" in {line.id for line in (*later.core.lines, *later.core.tail)}
    assert later.text.startswith(next(iter(stable)).rstrip("\n"))


def test_without_the_id_of_a_run_the_same_task_is_treated_alike(memory_book: Tenure) -> None:
    memory_book.apply(
        [Add("tool rules", "At each step read the label.", id="n-1", author="extractive", status="provisional")], author="extractive"
    )
    memory_book.set("release.gradual", "on")
    tasks = [f"read step {number}" for number in range(100)]
    shown = [bool(memory_book.context(task).lessons) for task in tasks]
    assert shown == [bool(memory_book.context(task).lessons) for task in tasks]
    assert 2 <= sum(shown) <= 20


# -- shelf life ----------------------------------------------------------------------------------------


def test_a_lesson_past_its_shelf_life_is_shown_with_its_age_and_a_run_that_it_helps_confirms_it() -> None:
    clock = LeapingClock()
    with Tenure.open("memory://", scope="acme/test", clock=clock, ids=CountingIds(), embedder="none") as book:
        learned(book, 3, kind="tool_rule")
        fresh = book.context("step red")
        clock.leap(400)
        aged = book.context("step red")
        note = "## not confirmed for long: check before you rely on these\n- over a year: [x-000], [x-001], [x-002]\n"
        assert aged.text == fresh.text + note
        assert aged.core == fresh.core
        assert all("not confirmed for over a year, past its shelf life of 180 days" in why.reason for why in aged.why)
        assert aged.parts["ages"] > 0
        assert book.context("step red", budget=fresh.tokens + 1).tokens <= fresh.tokens + 1
        for days in (0, 400):  # the second time it reads confirmed already
            clock.leap(days)
            assert "[x-001]" in book.context("step red").text.partition("## not confirmed")[2]
            with book.run("step red") as run:
                run.finish(success=True, cited=["x-001"])
            found = book.context("step red").text
            assert found.startswith(fresh.text)
            assert "[x-000], [x-002]\n" in found.partition("## not confirmed")[2]
        book.set("shelf_life", "off")
        assert "## not confirmed" not in book.context("step red").text


def test_what_is_confirmed_often_is_written_down_seldom() -> None:
    clock = LeapingClock()
    with Tenure.open("memory://", scope="acme/test", clock=clock, ids=CountingIds(), embedder="none") as book:
        learned(book, 1, kind="tool_rule")
        for _ in range(30):
            clock.leap(3)
            with book.run("step red") as run:
                run.finish(success=True, cited=["x-000"])
        with book.store.reading(book.scope) as look:
            written = [op for entry in look.ledger() for op in entry.delta.operations if isinstance(op, Update) and op.verdict]
        assert len(written) == 2, "at the first run, and after a quarter of 180 days"
