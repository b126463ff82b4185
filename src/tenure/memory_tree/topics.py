"""What entries are about: names with type, age and where to look. In the tree a topic is never lost; only the root leaves some out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tenure.memory_tree.entries import EntryType
from tenure.memory_tree.mirror_names import shown_name
from tenure.memory_tree.periods import age

Sort = Literal["kept", "project", "reference", "log"]

_SORTS: Mapping[EntryType, Sort] = {"user": "kept", "feedback": "kept", "project": "project", "reference": "reference", "log": "log"}

SUBS = 6
"""Words or names that stand beside a topic."""

WHERES = 3
"""Days that a line of the root names for a topic; the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What some entries are about. Rules of people, projects and all else are topics of their own, also where the name is one.

    Attributes:
        name: as its writer set it, or the first keyword of a session.
        type: of its newest entry.
        subs: what else is said of it.
        days: on which it came up, in order.
        done: of a project: whether it is finished.
        given: whether a writer named it. Others are guesses, and more may be left out.
        at: moment of its newest entry, as in `Entry.at`.
    """

    name: str
    type: EntryType = "log"
    subs: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    done: bool = False
    given: bool = False
    at: str = ""

    @property
    def sort(self) -> Sort:
        """Which rule holds for it: kept word for word, compressed when it is done, unverified, or none."""
        return _SORTS[self.type]

    @property
    def key(self) -> tuple[str, str]:
        """Topics of one name and sort are one."""
        return self.name.casefold(), self.sort

    @property
    def last(self) -> str:
        """The newest day."""
        return self.days[-1]


def merge_topics(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """Topics of one name and sort as one, sorted by name: type and state of the newest, days of all.

    Args:
        topics: in any order; the result does not depend on it.
    """
    by_name: dict[tuple[str, str], list[Topic]] = {}
    for topic in topics:
        by_name.setdefault(topic.key, []).append(topic)
    merged: list[Topic] = []
    for same in by_name.values():
        same.sort(key=lambda one: (one.given, one.at, one.last, one.done, one.days, one.name, one.type, one.subs), reverse=True)
        newest = same[0]
        subs = dict.fromkeys(sub for one in same for sub in one.subs)
        days = sorted({day for one in same for day in one.days})
        merged.append(replace(newest, subs=tuple(subs)[:SUBS], days=tuple(days)))
    return tuple(sorted(merged, key=lambda one: (one.key, one.name)))


def topic_line(topic: Topic, today: str, *, where: str = "", said: str = "") -> str:
    """A topic as the root shows it: `- topic: sub, sub (type, age, where to look)`.

    Args:
        topic: what is shown.
        today: ages are counted to it.
        where: where to look; empty names its newest days.
        said: shown in place of its words, as it is; empty shows those.
    """
    about = said or ", ".join(shown_name(sub) for sub in topic.subs)
    subs = f": {about}" if about else ""
    look = where or " ".join(topic.days[-WHERES:])
    marks = [topic.type, age(topic.last, today), look]
    if topic.type == "reference":
        marks.insert(1, "unverified")
    if topic.done:
        marks.insert(1, "done")
    return f"- {shown_name(topic.name)}{subs} ({', '.join(marks)})"


def recurring(topics: Sequence[Topic], *, least_days: int, most: int) -> tuple[Topic, ...]:
    """Topics of many days that no writer named, those of most days first."""
    found = [one for one in topics if not one.given and len(one.days) >= least_days]
    return tuple(sorted(found, key=lambda one: (-len(one.days), one.name))[:most])
