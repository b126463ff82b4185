"""Shelf life: how long a lesson is taken to hold without being confirmed, and how its age is said. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tenure.playbook.evidence import age_in_days
from tenure.playbook.lessons import KINDS, Lesson

DEFAULT_DAYS: Mapping[str, int] = {"tool_rule": 180, "common_error": 180, "task_goal": 90, "domain_rule": 365, "template": 365}
"""Days by kind: tools change faster than a trade's rules. Strategies and prohibitions have no end."""

MOST_DAYS = 36_500

REFRESHED_AFTER = 0.25
"""Share of a shelf life after which a run that speaks for a lesson is written down as a confirmation; not each run anew."""

_AGES: tuple[tuple[int, str], ...] = (
    (730, "{} years"),
    (365, "a year"),
    (180, "half a year"),
    (90, "3 months"),
    (30, "a month"),
    (7, "a week"),
)

AGED_HEADING = "## not confirmed for long: check before you rely on these"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfLives:
    """How long lessons keep, in days; 0 is without end.

    Attributes:
        kinds: by kind.
        sections: by section, in lower case; beats the kind.
    """

    kinds: Mapping[str, int]
    sections: Mapping[str, int]

    def days(self, lesson: Lesson) -> int:
        """The shelf life of a lesson in days; 0 is without end."""
        named = self.sections.get(lesson.section.casefold())
        return self.kinds.get(lesson.kind, 0) if named is None else named


def read_shelf_lives(text: str) -> ShelfLives:
    """Shelf lives as a person writes them: `tool_rule=90, prices=30, strategy=0`. What is not named keeps its default.

    Args:
        text: names of kinds or sections with days from 0 to 36500, commas between; `on` takes the defaults, `off` gives none an end.

    Raises:
        ValueError: it is not of that form; the message goes on from "it".
    """
    kinds, sections = dict(DEFAULT_DAYS), dict[str, int]()
    if text.strip() in ("on", "off"):
        return ShelfLives(kinds=kinds if text.strip() == "on" else {}, sections={})
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, sign, days = (one.strip() for one in part.rpartition("="))
        if not sign or not name or not days.isdecimal() or int(days) > MOST_DAYS:
            raise ValueError(
                f"must name kinds or sections with days from 0 to {MOST_DAYS}, such as tool_rule=90, prices=30; or be on or off"
            )
        kind = name.casefold().replace(" ", "_")
        if kind in KINDS:
            kinds[kind] = int(days)
        else:
            sections[name.casefold()] = int(days)
    return ShelfLives(kinds=kinds, sections=sections)


def days_past(lesson: Lesson, lives: ShelfLives, at: datetime) -> float:
    """Days since a lesson was last confirmed, where that is longer than its shelf life; else 0.

    It is confirmed by whatever was last written of it: its text, a verdict, a pin, its standing.
    """
    life = lives.days(lesson)
    return age if life and (age := age_in_days(lesson, at)) > life else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ageing:
    """How a lesson stands to its shelf life.

    Attributes:
        days: its shelf life; 0 is without end.
        age_days: whole days since it was last confirmed.
        confirmed: when that was, ISO 8601; empty if unknown.
        past: whether it is shown with its age.
    """

    days: int
    age_days: int
    confirmed: str
    past: bool

    @property
    def said(self) -> str:
        """The same in words; empty where it has no end."""
        if not self.days:
            return ""
        ago = f"confirmed {self.age_days:,} day{'' if self.age_days == 1 else 's'} ago" if self.age_days else "confirmed today"
        return f"{self.days:,} {'day' if self.days == 1 else 'days'}, {ago}{'; past, so it is shown with its age' if self.past else ''}"


def ageing(lesson: Lesson, lives: ShelfLives, at: datetime) -> Ageing:
    """How a lesson stands to its shelf life."""
    return Ageing(
        days=lives.days(lesson), age_days=int(age_in_days(lesson, at)), confirmed=lesson.updated, past=days_past(lesson, lives, at) > 0
    )


def is_due(lesson: Lesson, lives: ShelfLives, at: datetime) -> bool:
    """Whether a run that speaks for a lesson now is worth writing down as a confirmation."""
    life = lives.days(lesson)
    return bool(life) and age_in_days(lesson, at) > REFRESHED_AFTER * life


def coarse_age(days: float) -> str:
    """An age that changes a few times in a lesson's life, so that a prompt that says it seldom changes."""
    for least, said in _AGES:
        if days >= least:
            return f"over {said.format(int(days // 365))}"
    return "a few days"


def aged_note(lessons: Sequence[tuple[str, Lesson]], lives: ShelfLives, at: datetime) -> str:
    """What a prompt says of lessons past their shelf life: their ids by age, the oldest first; empty if there are none.

    It stands behind the lessons, so that a lesson that ages changes no byte before it.

    Args:
        lessons: each with its id as shown.
        lives: how long lessons keep.
        at: the present moment.
    """
    by_age: dict[str, tuple[float, list[str]]] = {}
    for shown, lesson in lessons:
        days = days_past(lesson, lives, at)
        if days:
            by_age.setdefault(coarse_age(days), (days, []))[1].append(f"[{shown}]")
    lines = [f"- {age}: {', '.join(ids)}" for age, (_, ids) in sorted(by_age.items(), key=lambda one: -one[1][0])]
    return "\n".join([AGED_HEADING, *lines]) + "\n" if lines else ""
