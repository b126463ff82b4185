"""Days, weeks and months where calendars and clocks are odd."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.memory_tree.nodes import build_day
from tenure.memory_tree.periods import Period, day_of, month_of, months_of, read_period, touched, week_of, weeks_of
from tests.memory_tree.trees import build, entry

HALF_HOUR = timedelta(minutes=30)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25", 25),
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
        ("America/Sao_Paulo", "2018-11-04", 23),  # there midnight itself did not exist
        ("Asia/Kathmandu", "2026-10-25", 24),
        ("Pacific/Apia", "2011-12-29", 24),
        ("Pacific/Apia", "2011-12-31", 24),
    ],
)
def test_every_half_hour_of_a_day_is_filed_in_it_and_none_beside_it(zone: str, day: str, hours: float) -> None:
    own, wanted = ZoneInfo(zone), date.fromisoformat(day)
    noon = datetime(wanted.year, wanted.month, wanted.day, 12, tzinfo=own).astimezone(UTC)
    near = [noon + HALF_HOUR * n for n in range(-60, 61)]
    inside = [moment for moment in near if day_of(moment, own) == day]
    assert len(inside) == hours * 2
    assert inside == [inside[0] + HALF_HOUR * n for n in range(len(inside))]


def test_a_day_that_the_calendar_left_out_is_never_filed_in() -> None:
    apia, last = ZoneInfo("Pacific/Apia"), datetime(2011, 12, 30, 9, 59, tzinfo=UTC)
    assert day_of(last, apia) == "2011-12-29"
    assert day_of(last + timedelta(minutes=1), apia) == "2011-12-31"
    days = {day_of(datetime(2011, 12, 28, tzinfo=UTC) + HALF_HOUR * n, apia) for n in range(200)}
    assert "2011-12-30" not in days
    assert week_of("2011-12-29") == week_of("2011-12-31")


def test_the_hour_that_comes_twice_keeps_its_order_and_shows_the_clock_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    entries = [entry(9 - n, first + n * HALF_HOUR, f"said {n}") for n in range(5)]
    text = build_day("2026-10-25", entries, today="2026-10-26", zone=berlin).text
    assert text.splitlines()[2:] == ["- 02:30: said 0", "- 02:00: said 1", "- 02:30: said 2", "- 03:00: said 3", "- 03:30: said 4"]


def test_a_session_over_midnight_is_one_in_each_day_in_the_zone_of_the_memory() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    moments = [datetime(2026, 3, 15, 14, 50, tzinfo=UTC) + timedelta(minutes=5 * n) for n in range(4)]
    assert [day_of(one, tokyo) for one in moments] == ["2026-03-15", "2026-03-15", "2026-03-16", "2026-03-16"]
    late = build_day("2026-03-16", [entry(n, one, "x", session="s") for n, one in enumerate(moments[2:])], today="2026-03-17", zone=tokyo)
    assert late.text.splitlines() == ["# 2026-03-16: 1 session, 2 entries", "## #1 s", "- 00:00: x", "- 00:05: x"]


@pytest.mark.parametrize(
    ("day", "week", "months"),
    [
        ("2026-12-31", "2026-W53", ("2026-12", "2027-01")),
        ("2027-01-03", "2026-W53", ("2026-12", "2027-01")),
        ("2024-12-30", "2025-W01", ("2024-12", "2025-01")),
        ("2024-02-29", "2024-W09", ("2024-02", "2024-03")),
        ("2000-02-29", "2000-W09", ("2000-02", "2000-03")),
        ("2026-02-28", "2026-W09", ("2026-02", "2026-03")),
        ("2026-02-01", "2026-W05", ("2026-01", "2026-02")),
    ],
)
def test_a_week_over_two_months_is_in_both_and_its_days_in_one(day: str, week: str, months: tuple[str, ...]) -> None:
    own = week_of(day)
    assert own.key == week
    assert tuple(one.key for one in months_of(own)) == months
    assert all(own in weeks_of(one) for one in months_of(own))
    moment = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    nodes, _ = build([entry(1, moment, "said once")], today="2030-01-01")
    holding = [name for name, node in nodes.items() if node.period.kind == "month" and "said once" in node.text]
    assert holding == [day[:7]]


def test_years_have_53_weeks_when_iso_says_so() -> None:
    long = [year for year in range(2000, 2040) if week_of(f"{year}-12-28").key.endswith("W53")]
    assert long == [2004, 2009, 2015, 2020, 2026, 2032, 2037]


def test_leap_days_end_february() -> None:
    lengths = {year: len(read_period(f"{year}-02").days) for year in (1900, 2000, 2023, 2024, 2100)}
    assert lengths == {1900: 28, 2000: 29, 2023: 28, 2024: 29, 2100: 28}
    assert read_period("2024-02-29").ended("2024-03-01")


@given(st.dates(min_value=date(1990, 1, 1), max_value=date(2090, 12, 31)))
def test_what_a_day_touches_is_its_week_and_the_months_of_that_week(day: date) -> None:
    name = day.isoformat()
    found = touched([name])
    assert found[:2] == (Period("day", name), week_of(name))
    assert set(found[2:]) == set(months_of(week_of(name)))
    assert month_of(name) in found
