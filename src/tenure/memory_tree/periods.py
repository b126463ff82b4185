"""Days, ISO weeks and months, and in which of them a moment is filed.

Moments are UTC; a zone says which day they belong to. So the hour that a clock shows twice in autumn
keeps its order, and a clock that was set back moves an entry to the time that it told, nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal

from tenure.errors import UserError

Kind = Literal["day", "week", "month"]

YEARS = range(1970, 2200)
"""Years of the moments that a memory takes: calendars and zones are sound there, and what is outside was a slip."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WEEK = re.compile(r"(\d{4})-W(\d{2})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A day, an ISO week or a month: `2026-03-15`, `2026-W11`, `2026-03`.

    Attributes:
        kind: which of the three.
        key: its name; names of one kind sort by time.
    """

    kind: Kind
    key: str

    @property
    def days(self) -> tuple[str, ...]:
        """Its days in order; of a week also those of the neighbouring month or year."""
        first, last = self.bounds
        return tuple((first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1))

    @property
    def bounds(self) -> tuple[date, date]:
        """Its first and its last day."""
        if self.kind == "day":
            day = date.fromisoformat(self.key)
            return day, day
        if self.kind == "week":
            year, week = int(self.key[:4]), int(self.key[6:])
            return date.fromisocalendar(year, week, 1), date.fromisocalendar(year, week, 7)
        first = date.fromisoformat(f"{self.key}-01")
        return first, _next_month(first) - timedelta(days=1)

    def ended(self, today: str) -> bool:
        """Whether it is over on a day: what it holds is fixed then, and tentative before."""
        return self.bounds[1].isoformat() < today


def read_period(text: str) -> Period:
    """The period that a name stands for.

    Raises:
        UserError: it is no name of a day, week or month, or of none that exists, such as 2026-02-30 or 2027-W53.
    """
    name = text.strip()
    kind: Kind = "week" if _WEEK.fullmatch(name) else "month" if _MONTH.fullmatch(name) else "day"
    period = Period(kind, name)
    try:
        if kind == "day" and not _DAY.fullmatch(name):
            raise ValueError
        _ = period.bounds
    except (ValueError, OverflowError) as exc:
        raise UserError(f"'{text}' is no day, ISO week or month. Such names are 2026-03-15, 2026-W11 and 2026-03.") from exc
    return period


def day_of(at: datetime, zone: tzinfo) -> str:
    """The day of a zone in which a moment is filed.

    Args:
        at: with its zone set.
        zone: in which days begin.

    Raises:
        UserError: the moment has no zone, so that nobody can say which one it is.
    """
    if at.utcoffset() is None:
        raise UserError(f"'{at.isoformat()}' has no zone. Give one, such as {at.isoformat()}+00:00")
    return at.astimezone(UTC).astimezone(zone).date().isoformat()


def checked_moment(at: datetime) -> datetime:
    """A moment in UTC that a memory can file.

    Raises:
        UserError: it has no zone, or is outside of `YEARS`.
    """
    if at.utcoffset() is None:
        raise UserError(f"'{at.isoformat()}' has no zone. Give one, such as {at.isoformat()}+00:00")
    try:
        moment = at.astimezone(UTC)
    except (ValueError, OverflowError):  # before the year 1 or after 9999 in UTC
        moment = None
    if moment is None or moment.year not in YEARS:
        raise UserError(f"The moment {at.isoformat()} is outside of the years {YEARS[0]} to {YEARS[-1]}, which a memory takes. Correct it.")
    return moment


def stamp(at: datetime) -> str:
    """A moment in UTC to the microsecond, so that texts sort as times.

    Raises:
        UserError: see `checked_moment`.
    """
    return checked_moment(at).isoformat(timespec="microseconds")


def can_be_filed(day: str) -> bool:
    """Whether a day can be one of a tree: of `YEARS`, or next to them where a zone moves a moment over the edge."""
    return YEARS[0] - 1 <= int(day[:4]) <= YEARS[-1] + 1


def week_of(day: str) -> Period:
    """The ISO week of a day; its year is that of its Thursday."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return Period("week", f"{year:04d}-W{week:02d}")


def month_of(day: str) -> Period:
    """The month of a day."""
    return Period("month", day[:7])


def weeks_of(month: Period) -> tuple[Period, ...]:
    """The ISO weeks that have a day in a month, in order; the first and the last may belong to a neighbour too."""
    return tuple(dict.fromkeys(map(week_of, month.days)))


def months_of(week: Period) -> tuple[Period, ...]:
    """The month, or the two, that a week has days in."""
    return tuple(dict.fromkeys(map(month_of, week.days)))


def touched(days: Sequence[str]) -> tuple[Period, ...]:
    """What has to be compacted when entries of some days arrive, in the order in which one rests on the other.

    A week over two months touches both. Days that cannot be filed touch nothing.
    """
    own = sorted(filter(can_be_filed, set(days)))
    weeks = dict.fromkeys(map(week_of, own))
    months = sorted({month for week in weeks for month in months_of(week)})
    return (*(Period("day", day) for day in own), *weeks, *months)


def age(day: str, today: str) -> str:
    """How long ago a day was, in the unit that people would use: `today`, `3 d`, `5 w`, `7 mo`, `4 y`; of a later day `ahead`."""
    days = (date.fromisoformat(today) - date.fromisoformat(day)).days
    if days < 0:
        return "ahead"
    if days == 0:
        return "today"
    if days < 14:
        return f"{days} d"
    if days < 60:
        return f"{days // 7} w"
    return f"{days // 30} mo" if days < 730 else f"{days // 365} y"


def _next_month(first: date) -> date:
    return (first.replace(day=28) + timedelta(days=4)).replace(day=1)
