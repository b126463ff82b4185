"""Laws of gradual release: the share of runs follows from what runs say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.lessons import Lesson, Tallies
from tenure.playbook.release import release_share

NEW = Lesson(id="x-1", section="s", text="Do this.", status="provisional", author="extractive")


@pytest.mark.parametrize(
    ("tallies", "share"),
    [
        (Tallies(support=1), 0.1),
        (Tallies(support=1, shown=9), 0.1),
        (Tallies(support=1, neutral=3), 0.1),
        (Tallies(support=1, neutral=4), 0.5),
        (Tallies(support=1, helpful=1), 0.5),
        (Tallies(support=2), 0.5),
        (Tallies(support=1, helpful=2, neutral=3), 0.5),
        (Tallies(support=1, helpful=3), 1.0),
        (Tallies(support=1, neutral=12), 1.0),
        (Tallies(support=1, helpful=3, harmful=1), 0.5),
        (Tallies(support=1, helpful=3, harmful=2), 0.1),
    ],
)
def test_the_stage_follows_from_what_runs_say(tallies: Tallies, share: float) -> None:
    assert release_share(replace(NEW, tallies=tallies)) == share


def test_only_provisional_lessons_are_held_back() -> None:
    assert release_share(replace(NEW, status="active")) == 1.0


tallies = st.builds(Tallies, helpful=st.integers(0, 9), harmful=st.integers(0, 9), neutral=st.integers(0, 40), support=st.integers(0, 9))


@given(before=tallies, name=st.sampled_from(["helpful", "neutral", "support", "harmful"]))
def test_what_speaks_for_a_lesson_never_lowers_its_share_and_what_misleads_never_raises_it(before: Tallies, name: str) -> None:
    share, later = release_share(replace(NEW, tallies=before)), release_share(replace(NEW, tallies=before + Tallies(**{name: 1})))
    assert later <= share if name == "harmful" else later >= share
