"""Which day, week and month a moment belongs to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import UserError
from tenure.memory_tree.periods import Period, age, day_of, month_of, months_of, read_period, touched, week_of, weeks_of

DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2200, 12, 31)).map(date.isoformat)


@given(DAYS)
def test_a_day_is_in_its_week_and_in_its_month_and_in_no_other(day: str) -> None:
    week, month = week_of(day), month_of(day)
    assert day in week.days
    assert day in month.days
    assert len(week.days) == 7
    for shift in (-7, 7):
        assert day not in week_of((date.fromisoformat(day) + timedelta(days=shift)).isoformat()).days


@given(DAYS)
def test_weeks_and_months_name_each_other(day: str) -> None:
    week, month = week_of(day), month_of(day)
    assert month in months_of(week)
    assert week in weeks_of(month)
    assert 1 <= len(months_of(week)) <= 2
    assert {day for one in weeks_of(month) for day in one.days} >= set(month.days)


@given(DAYS)
def test_names_of_periods_can_be_read_back(day: str) -> None:
    for period in (Period("day", day), week_of(day), month_of(day)):
        assert read_period(period.key) == period


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ("2020-12-31", "2020-W53"),
        ("2021-01-03", "2020-W53"),
        ("2021-01-04", "2021-W01"),
        ("2027-01-01", "2026-W53"),
        ("2027-01-04", "2027-W01"),
        ("2038-06-15", "2038-W24"),
        ("2024-02-29", "2024-W09"),
    ],
)
def test_iso_weeks_at_the_turn_of_a_year(day: str, week: str) -> None:
    assert week_of(day).key == week


def test_a_week_over_two_months_belongs_to_both() -> None:
    assert [one.key for one in months_of(Period("week", "2026-W14"))] == ["2026-03", "2026-04"]
    assert [one.key for one in touched(["2026-03-31"])] == ["2026-03-31", "2026-W14", "2026-03", "2026-04"]


@pytest.mark.parametrize("name", ["2026-02-30", "2026-13", "2026-W54", "2025-W53", "2023-02-29", "2026", "26-01-01", "2026-1-1", "", "NaN"])
def test_a_period_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="no day, ISO week or month"):
        read_period(name)


def test_a_moment_is_filed_in_the_zone_it_is_read_in() -> None:
    late = datetime(2026, 3, 14, 23, 30, tzinfo=UTC)
    assert day_of(late, UTC) == "2026-03-14"
    assert day_of(late, ZoneInfo("Asia/Tokyo")) == "2026-03-15"
    assert day_of(late, ZoneInfo("America/Los_Angeles")) == "2026-03-14"
    assert day_of(datetime(2026, 3, 15, 1, 0, tzinfo=timezone(timedelta(hours=5))), UTC) == "2026-03-14"


def test_the_nights_when_clocks_change_have_every_hour_in_order() -> None:
    zone = ZoneInfo("Europe/Berlin")
    # The hour from 2 to 3 comes twice on 25 October 2026, and not at all on 29 March.
    moments = [datetime(2026, 10, 24, 22, 0, tzinfo=UTC) + timedelta(minutes=30 * n) for n in range(50)]
    assert [day_of(one, zone) for one in moments] == ["2026-10-25"] * 50
    assert day_of(moments[-1] + timedelta(minutes=30), zone) == "2026-10-26"
    spring = [datetime(2026, 3, 28, 23, 0, tzinfo=UTC) + timedelta(minutes=30 * n) for n in range(46)]
    assert {day_of(one, zone) for one in spring} == {"2026-03-29"}
    assert day_of(spring[-1] + timedelta(minutes=30), zone) == "2026-03-30"


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(UserError, match="has no zone"):
        day_of(datetime.fromisoformat("2026-03-15T01:00"), UTC)


def test_a_period_is_over_the_day_after_its_last() -> None:
    assert not read_period("2026-W11").ended("2026-03-15")
    assert read_period("2026-W11").ended("2026-03-16")
    assert not read_period("2024-02").ended("2024-02-29")
    assert read_period("2024-02").ended("2024-03-01")


def test_ages_are_in_the_unit_that_people_would_use() -> None:
    said = [age(day, "2026-11-30") for day in ("2026-12-01", "2026-11-30", "2026-11-20", "2026-10-30", "2026-01-30", "2020-01-30")]
    assert said == ["ahead", "today", "10 d", "4 w", "10 mo", "6 y"]
