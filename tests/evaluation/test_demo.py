"""The tour is honest: the failure recurs without Tenure, ends with it, and returns when the lesson is taken away."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tenure import Retire, Tenure, Update
from tenure.evaluation.demo import Tour, run_demo
from tenure.testing import open_trial
from tests.timing import assert_within, seconds


@pytest.fixture(scope="module")
def tour() -> Tour:
    with open_trial("local/demo") as book:
        return run_demo(book)


def test_without_a_memory_the_same_failure_recurs_every_monday(tour: Tour) -> None:
    assert not any(week.without for week in tour.weeks)
    assert len(tour.weeks) == 12


def test_with_tenure_it_disappears_and_stays_away(tour: Tour) -> None:
    closed = [week.tenure for week in tour.weeks]
    assert not closed[0], "nothing is known in the first week"
    assert all(closed[3:])


def test_the_rewritten_note_learns_and_loses_again(tour: Tour) -> None:
    kept = [week.overwrite for week in tour.weeks]
    first = kept.index(True)
    assert not all(kept[first:]), "what it knew was written over"


def test_the_readme_says_what_the_demo_shows(tour: Tour) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    won = [sum(getattr(week, name) for week in tour.weeks) for name in ("without", "overwrite", "tenure")]
    assert f"Closed: {won[0]} of 12 weeks without a memory, {won[1]} with the rewritten note, {won[2]} with Tenure." in readme
    note = [week.overwrite for week in tour.weeks]
    lost = [str(place + 1) for place, went in enumerate(note) if not went and any(note[:place])]
    assert f"lost it again in weeks {', '.join(lost)}." in readme


def test_the_lessons_that_did_it_have_evidence_and_counts(tour: Tour) -> None:
    obeyed = {lesson for week in tour.weeks for lesson in week.obeyed}
    useful = [lesson for lesson in tour.lessons if any(lesson.id.startswith(one) for one in obeyed)]
    assert len(useful) >= 2
    for lesson in useful:
        assert lesson.evidence
        assert lesson.tallies.helpful >= 5
        assert lesson.status == "active"


def meddle_in_week_six(kind: str):  # type: ignore[no-untyped-def]
    def meddle(week: int, book: Tenure) -> None:
        if week != 6:
            return
        ids = [lesson.id for lesson in book.playbook.lessons if lesson.about.startswith("tool-error:")]
        if kind == "retire":
            book.apply([Retire(one, "taken away by a test") for one in ids])
        else:
            book.apply([Update(one, text="Something else entirely.", about="") for one in ids])

    return meddle


@pytest.mark.parametrize("kind", ["retire", "corrupt"])
def test_taking_the_lessons_away_brings_the_failure_back(kind: str) -> None:
    with open_trial("local/demo") as book:
        weeks = run_demo(book, before_week=meddle_in_week_six(kind)).weeks
    assert weeks[4].tenure
    assert not weeks[5].tenure


def test_the_tour_takes_less_than_twenty_seconds_on_disk(tmp_path: object) -> None:
    numbers = itertools.count()

    def tour() -> None:
        with Tenure.open(f"sqlite:///{tmp_path}/demo{next(numbers)}.db", scope="demo") as book:
            run_demo(book)

    assert_within(20, lambda: seconds(tour))
