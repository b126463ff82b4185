"""Laws of shelf life: what is past it is shown with its age, said so coarsely that a prompt seldom changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.lessons import Lesson
from tenure.playbook.shelf_life import AGED_HEADING, DEFAULT_DAYS, aged_note, ageing, coarse_age, days_past, is_due, read_shelf_lives

WRITTEN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
RULE = Lesson(id="tr-1", section="tool rules", kind="tool_rule", text="Do this.", updated=WRITTEN.isoformat())
LIVES = read_shelf_lives("on")


def after(days: float) -> datetime:
    return WRITTEN + timedelta(days=days)


def test_what_is_not_named_keeps_its_default_and_a_section_beats_the_kind() -> None:
    lives = read_shelf_lives("Tool rule=90, Prices = 30, strategy=0")
    assert lives.days(RULE) == 90
    assert lives.days(replace(RULE, section="prices")) == 30
    assert lives.days(replace(RULE, kind="template")) == DEFAULT_DAYS["template"]
    assert lives.days(replace(RULE, kind="strategy")) == 0
    assert read_shelf_lives("off").days(RULE) == 0
    assert LIVES.days(replace(RULE, kind="prohibition")) == 0


@pytest.mark.parametrize("text", ["tool_rule", "tool_rule=", "=3", "tool_rule=-1", "tool_rule=1.5", "tool_rule=99999999", "yes"])
def test_other_forms_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must name kinds or sections with days from 0 to 36500, such as tool_rule=90, prices=30"):
        read_shelf_lives(text)


def test_a_lesson_is_past_its_shelf_life_only_after_it() -> None:
    assert days_past(RULE, LIVES, after(179)) == 0
    assert days_past(RULE, LIVES, after(181)) == 181
    assert days_past(replace(RULE, updated=""), LIVES, after(9999)) == 0
    assert ageing(RULE, LIVES, after(200)).said == "180 days, confirmed 200 days ago; past, so it is shown with its age"
    assert ageing(RULE, LIVES, after(0)).said == "180 days, confirmed today"


def test_a_confirmation_is_written_down_after_a_quarter_of_the_shelf_life() -> None:
    assert not is_due(RULE, LIVES, after(44))
    assert is_due(RULE, LIVES, after(46))
    assert not is_due(replace(RULE, kind="prohibition"), LIVES, after(9999))


def test_the_note_names_ids_by_age_the_oldest_first() -> None:
    old, older = replace(RULE, id="tr-2"), replace(RULE, id="tr-3", updated=(WRITTEN - timedelta(days=800)).isoformat())
    note = aged_note([("tr-1", RULE), ("tr-2", old), ("tr-3", older)], LIVES, after(200))
    assert note == f"{AGED_HEADING}\n- over 2 years: [tr-3]\n- over half a year: [tr-1], [tr-2]\n"
    assert aged_note([("tr-1", RULE)], LIVES, after(10)) == ""


@given(days=st.floats(0, 20_000))
def test_an_age_is_said_coarsely(days: float) -> None:
    said = coarse_age(days)
    assert said == "a few days" if days < 7 else said.startswith("over ")


def test_in_ten_years_the_note_of_a_lesson_changes_a_dozen_times() -> None:
    notes = [aged_note([("tr-1", RULE)], LIVES, after(day)) for day in range(3650)]
    assert sum(one != other for one, other in pairwise(notes)) <= 12
