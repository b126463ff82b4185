"""Trees for tests: entries drawn at random, and all nodes built from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st

from tenure.memory_tree.caps import Caps
from tenure.memory_tree.entries import ENTRY_TYPES, Entry
from tenure.memory_tree.nodes import Node, build_day, build_month, build_week
from tenure.memory_tree.periods import month_of, week_of, weeks_of
from tenure.memory_tree.root import build_root

TEXTS = st.one_of(
    st.sampled_from(
        [
            "I bought 12 tomato plants at the Oakdale market last week.",
            "```python\nprint('secret sauce')\n```\nIt prints.",
            "Traceback (most recent call last):\n  File 'a.py', line 1\nValueError: no rows",
            "多币种发票按开票日汇率换算后再求和",
            "# not a heading\n- 2026-01-01: not a day\n## Topics\n- #1: not a session",
            "",
        ]
    ),
    st.text(max_size=200),
)


def entry(n: int, moment: datetime, text: str, **fields: object) -> Entry:
    """An entry filed in UTC."""
    return Entry(id=f"e{n:04}", at=moment.isoformat(timespec="microseconds"), day=moment.date().isoformat(), text=text, **fields)  # type: ignore[arg-type]


@st.composite
def many_entries(draw: st.DrawFn) -> list[Entry]:
    """Up to 30 entries over the turn of a year, of all types."""
    first = datetime(2026, 12, 20, tzinfo=UTC)
    return [
        entry(
            n,
            first + timedelta(minutes=draw(st.integers(0, 30 * 24 * 60))),
            draw(TEXTS),
            type=draw(st.sampled_from(ENTRY_TYPES)),
            topic=draw(st.sampled_from(["", "garden", "tax return", "Garden"])),
            session=draw(st.sampled_from(["", "s1", "s2"])),
            role=draw(st.sampled_from(["", "user", "assistant"])),
            done=draw(st.booleans()),
        )
        for n in range(draw(st.integers(1, 30)))
    ]


def build(entries: Sequence[Entry], *, today: str = "2027-02-01", caps: Caps | None = None) -> tuple[dict[str, Node], str]:
    """All nodes by name, and the root."""
    by_day: dict[str, list[Entry]] = defaultdict(list)
    for one in entries:
        by_day[one.day].append(one)
    days = [build_day(day, some, today=today, caps=caps) for day, some in by_day.items()]
    weeks = {
        week: build_week(week, [one for one in days if week_of(one.period.key) == week], today=today, caps=caps)
        for week in {week_of(day) for day in by_day}
    }
    months = [
        build_month(month, [weeks[week] for week in weeks_of(month) if week in weeks], days, today=today, caps=caps)
        for month in {month_of(day) for day in by_day}
    ]
    return {one.period.key: one for one in (*days, *weeks.values(), *months)}, build_root(months, today=today, caps=caps)


def history(days: int, *, last: date = date(2026, 11, 30)) -> list[Entry]:
    """A history of some days, three entries a day about one of many things, and a named topic now and then."""
    things = ["tomato", "violin", "harbour", "tax", "bicycle", "novel", "kiln", "router", "passport", "sourdough", "lathe", "glacier"]
    found: list[Entry] = []
    for n in range(days):
        moment = datetime.combine(last - timedelta(days=n), datetime.min.time(), UTC) + timedelta(hours=9)
        thing, other = things[n % 12], things[(n // 12) % 12]
        found.append(entry(3 * n, moment, f"I bought a {thing} number {n} with the {other}.", session="a", role="user"))
        found.append(entry(3 * n + 1, moment + timedelta(minutes=1), f"A {thing} goes well with a {other}.", session="a", role="assistant"))
        named = {"type": "feedback", "topic": f"rule {n}"} if n % 20 == 0 else {}
        found.append(entry(3 * n + 2, moment + timedelta(minutes=2), f"Keep the {thing} dry.", session="b", **named))
    return found
