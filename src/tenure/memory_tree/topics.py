"""What entries are about: names with type, age and where to look. In the tree a topic is never lost; only the root leaves some out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tenure.memory_tree.entries import EntryType
from tenure.memory_tree.periods import age

SUBS = 6
"""Words or names that stand beside a topic."""

WHERES = 3
"""Days that a line of the root names for a topic; the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What some entries are about.

    Attributes:
        name: as its writer set it, or the first keyword of a session.
        type: of its newest entry.
        subs: what else is said of it.
        days: on which it came up, in order.
        done: of a project: whether it is finished.
        given: whether a writer named it. Others are guesses, and more may be left out.
    """

    name: str
    type: EntryType = "log"
    subs: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    done: bool = False
    given: bool = False

    @property
    def last(self) -> str:
        """The newest day."""
        return self.days[-1]


def merge_topics(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """Topics of one name as one, sorted by name: type and state of the newest, days of all.

    Args:
        topics: in any order; the result does not depend on it.
    """
    by_name: dict[str, list[Topic]] = {}
    for topic in topics:
        by_name.setdefault(topic.name.casefold(), []).append(topic)
    merged: list[Topic] = []
    for same in by_name.values():
        same.sort(key=lambda one: (one.given, one.last, one.days, one.name, one.type, one.subs), reverse=True)
        newest = same[0]
        subs = dict.fromkeys(sub for one in same for sub in one.subs)
        days = sorted({day for one in same for day in one.days})
        merged.append(replace(newest, subs=tuple(subs)[:SUBS], days=tuple(days)))
    return tuple(sorted(merged, key=lambda one: (one.name.casefold(), one.name)))


def topic_line(topic: Topic, today: str, *, where: str = "") -> str:
    """A topic as the root shows it: `- topic: sub, sub (type, age, where to look)`.

    Args:
        topic: what is shown.
        today: ages are counted to it.
        where: where to look; empty names its newest days.
    """
    subs = f": {', '.join(topic.subs)}" if topic.subs else ""
    look = where or " ".join(topic.days[-WHERES:])
    marks = [topic.type, age(topic.last, today), look]
    if topic.type == "reference":
        marks.insert(1, "unverified")
    if topic.done:
        marks.insert(1, "done")
    return f"- {topic.name}{subs} ({', '.join(marks)})"


def recurring(topics: Sequence[Topic], *, least_days: int, most: int) -> tuple[Topic, ...]:
    """Topics of many days that no writer named, those of most days first."""
    found = [one for one in topics if not one.given and len(one.days) >= least_days]
    return tuple(sorted(found, key=lambda one: (-len(one.days), one.name))[:most])
