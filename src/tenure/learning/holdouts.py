"""Hold-outs and gradual release at work: what is left out of a run, and what the outcomes say of it afterwards."""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tenure.playbook.delta import Operation, Retire, Update
from tenure.playbook.holdout import (
    CHANCE_IN_RUN,
    NO_LIFT,
    DrawCount,
    Lift,
    Pooled,
    chance_of,
    counted_score,
    fate,
    group_of,
    is_holdout_run,
    lift_of,
    pool,
    protected_because,
    said_digest,
)
from tenure.playbook.lessons import Lesson
from tenure.playbook.release import release_share
from tenure.playbook.run import Draw, Run
from tenure.ports import Reading, Store
from tenure.settings import Settings

HANDS = ("person", "import")
"""How the name of an author begins whose words are never left out."""


class Handwritten:
    """Which lessons a person had a hand in, kept between runs: each delta of a ledger is read once. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scopes: dict[str, tuple[int, set[str]]] = {}

    def among(self, reading: Reading, lessons: Iterable[Lesson]) -> frozenset[str]:
        """Ids of the lessons whose words a person wrote or changed."""
        found = {lesson.id for lesson in lessons if lesson.author.startswith(HANDS)}
        # What was never written again reads as its author wrote it: most ledgers need not be read.
        changed = [lesson for lesson in lessons if lesson.updated != lesson.created and lesson.id not in found]
        if changed:
            touched = self._touched(reading)
            found.update(lesson.id for lesson in changed if not touched.isdisjoint((lesson.id, *lesson.merged)))
        return frozenset(found)

    def _touched(self, reading: Reading) -> set[str]:
        with self._lock:
            version, ids = self._scopes.get(reading.scope, (0, set[str]()))
            newest = reading.version()
            if newest < version:  # another database under the same name
                version, ids = 0, set()
            for entry in reading.ledger(after=version, until=newest) if newest > version else ():
                if entry.delta.author.startswith(HANDS):
                    ids.update(op.id for op in entry.delta.operations if isinstance(op, Update) and _words_of(op))
            self._scopes[reading.scope] = (newest, ids)
            return ids


def _words_of(operation: Update) -> bool:
    return operation.text is not None or operation.applies_when is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How lessons are drawn for a run.

    Attributes:
        run: the run's id; empty where none is known, and then nothing is held out.
        task: what was asked; stands for the run where its id is not known.
        share: the largest share of matching runs in which a lesson is held out; 0 holds out none.
        gradual: whether provisional lessons are released gradually.
        hands: which lessons a person wrote.
    """

    run: str = ""
    task: str = ""
    share: float = 0.0
    gradual: bool = False
    hands: Handwritten = field(default_factory=Handwritten)

    @property
    def holds_out(self) -> bool:
        """Whether lessons are held out of this run."""
        return bool(self.run) and self.share > 0 and is_holdout_run(self.run, self.share)

    def waits(self, lesson: Lesson) -> bool:
        """Whether a lesson is not fully released, so that it stands behind the stable part of a prompt, if anywhere."""
        return self.gradual and release_share(lesson) < 1 and not protected_because(lesson)

    @property
    def said(self) -> str:
        """What it means for this run, in a sentence; empty where only gradual release is on."""
        if self.share <= 0:
            return ""
        if not self.run:
            return "Hold-outs are on; without the id of a run nothing is held out."
        if not self.holds_out:
            return "Hold-outs are on; this is not one of the runs that lessons are held out of."
        return "Hold-outs are on, and lessons are held out of this run."


def drawing_for(settings: Settings, *, run: str, task: str, hands: Handwritten) -> Drawing | None:
    """How lessons are drawn under these settings; none if neither hold-outs nor gradual release are on."""
    share = float(settings.text("holdout.share")) if settings.on("holdout.enabled") else 0.0
    gradual = settings.on("release.gradual")
    return Drawing(run=run, task=task, share=share, gradual=gradual, hands=hands) if share or gradual else None


def draw_lessons(reading: Reading, lessons: Sequence[Lesson], drawing: Drawing) -> tuple[Draw, ...]:
    """Draws for the lessons that were chosen for a run, in their order: those that may be left out, shown or not.

    Lessons of parent scopes are not drawn: what is found out here changes nothing there.

    Args:
        reading: the scope.
        lessons: all that would be shown.
        drawing: how they are drawn.
    """
    waiting = [lesson for lesson in lessons if drawing.waits(lesson)]
    tried = [lesson for lesson in lessons if not protected_because(lesson) and not drawing.waits(lesson)] if drawing.holds_out else []
    open_ = {lesson.id for lesson in (*waiting, *tried)}
    if not open_:
        return ()
    open_ &= set(reading.named(open_))
    open_ -= drawing.hands.among(reading, [lesson for lesson in lessons if lesson.id in open_])
    lifts = lifts_of(reading, [lesson for lesson in tried if lesson.id in open_])
    # Where no run is known, its task stands for it: the same task is treated alike.
    name = drawing.run or f"task:{drawing.task}"
    draws: list[Draw] = []
    for lesson in lessons:
        if lesson.id not in open_:
            continue
        if drawing.waits(lesson):
            share = release_share(lesson)
            out, chance, reason = fate(name, lesson.id, "release") >= share, 1 - share, "release"
        else:
            chance, reason = chance_of(lesson, lifts.get(lesson.id)), "holdout"
            out = fate(name, lesson.id, "holdout") < chance
        draws.append(Draw(lesson=lesson.id, withheld=out, chance=round(chance, 6), reason=reason, text=said_digest(lesson)))
    return tuple(draws)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldLesson:
    """A lesson that would be in a context, and that chance left out.

    Attributes:
        id: the lesson.
        part: where it would stand: `core`, `tail` or `recall`.
        chance: with which it was to be left out of this run.
        why: `holdout` or `release`.
        reason: the same in words.
    """

    id: str
    part: str
    chance: float
    why: str
    reason: str


def withheld_of(draws: Iterable[Draw], parts: Mapping[str, str], drawing: Drawing | None) -> tuple[WithheldLesson, ...]:
    """The lessons that chance left out, with the part of the prompt that each would stand in."""
    if drawing is None:
        return ()
    return tuple(
        WithheldLesson(id=one.lesson, part=parts[one.lesson], chance=one.chance, why=one.reason, reason=draw_said(one, drawing))
        for one in draws
        if one.withheld
    )


def draw_said(draw: Draw, drawing: Drawing) -> str:
    """Why a lesson was left out, in words."""
    if draw.reason == "release":
        matching = "runs" if drawing.run else "tasks"
        return f"new: shown in {1 - draw.chance:.0%} of the {matching} that it matches, until more runs speak for it"
    overall = draw.chance * drawing.share / CHANCE_IN_RUN
    return f"held out to see whether it makes a difference: left out of {overall:.0%} of the runs that it matches"


# -- afterwards ----------------------------------------------------------------------------------------


def lifts_of(reading: Reading, lessons: Sequence[Lesson]) -> dict[str, Lift]:
    """By id, the lift of each lesson that was drawn with the text that it has now, merged ones included."""
    if not lessons:
        return {}
    names = {name: lesson.id for lesson in lessons for name in (lesson.id, *lesson.merged)}
    texts = {lesson.id: said_digest(lesson) for lesson in lessons}
    found: dict[str, list[DrawCount]] = {}
    for one in reading.draw_counts(names):
        lesson = names[one.lesson]
        if one.text in (texts[lesson], ""):
            found.setdefault(lesson, []).append(one)
    return {lesson: lift_of(counts) for lesson, counts in found.items()}


def moves_by_lift(reading: Reading, run: Run, *, but: Collection[str] = ()) -> tuple[Operation, ...]:
    """Retirements and promotions that the outcome of a run calls for, for the lessons drawn in it.

    Only for what is found on enough runs (`Lift.finding`), from a lesson's own draws; what is pinned or a person wrote is
    left alone. Called after the run has been kept.

    Args:
        reading: the scope, with the run in it.
        run: with its draws.
        but: ids that are being moved for another reason.
    """
    if not run.draws or counted_score(run) is None:
        return ()
    drawn = {lesson.id: lesson for lesson in (reading.lesson(draw.lesson) for draw in run.draws) if lesson is not None}
    lessons = [lesson for lesson in drawn.values() if lesson.live and lesson.id not in but and not protected_because(lesson)]
    lifts = lifts_of(reading, lessons)
    moves: list[Operation] = []
    for lesson in lessons:
        lift = lifts.get(lesson.id, NO_LIFT)
        if lift.finding == "harms":
            moves.append(Retire(lesson.id, f"held out of {lift.withheld} runs: {lift.said}, over {lift.shown} runs with it"))
        elif lift.finding == "helps" and lesson.status == "provisional":
            moves.append(Update(lesson.id, status="active"))
    return tuple(moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What hold-outs and gradual release say of one lesson.

    Attributes:
        lesson: the lesson.
        lift: from its own draws.
        pooled: with those of alike lessons; none where there are too few.
        group: what makes them alike.
        open: draws in runs that have no honest outcome yet, or never had one.
        earlier: draws of an earlier text, which do not count.
    """

    lesson: Lesson
    lift: Lift
    pooled: Pooled | None
    group: str
    open: int
    earlier: int


def trials(reading: Reading) -> tuple[Trial, ...]:
    """What is known of each lesson that was ever drawn, those on which most runs bear first; retired ones too."""
    counts = reading.draw_counts()
    lessons: dict[str, Lesson] = {}
    by_lesson: dict[str, list[DrawCount]] = {}
    stands_for: dict[str, Lesson | None] = {}
    for one in counts:
        if one.lesson not in stands_for:
            stands_for[one.lesson] = reading.lesson(one.lesson)
        lesson = stands_for[one.lesson]
        if lesson is not None:  # forgotten lessons leave draws behind at most until the run goes
            lessons[lesson.id] = lesson
            by_lesson.setdefault(lesson.id, []).append(one)
    current = {name: [one for one in by_lesson[name] if one.text in (said_digest(lessons[name]), "")] for name in lessons}
    lifts: Mapping[str, Lift] = {name: lift_of(held) if held else NO_LIFT for name, held in current.items()}
    groups = {name: group_of(lesson) for name, lesson in lessons.items()}
    pooled = pool(lifts, groups)
    found = [
        Trial(
            lesson=lesson,
            lift=lifts[name],
            pooled=pooled.get(name),
            group=groups[name],
            open=sum(one.runs - one.judged for one in current[name]),
            earlier=sum(one.runs for one in by_lesson[name]) - sum(one.runs for one in current[name]),
        )
        for name, lesson in lessons.items()
    ]
    return tuple(sorted(found, key=lambda one: (-min(one.lift.shown, one.lift.withheld), one.lesson.id)))


def trial_of(reading: Reading, lesson: Lesson) -> Trial | None:
    """What is known of one lesson, pooled with its kin; none if it was never drawn."""
    if not reading.draw_counts((lesson.id, *lesson.merged)):
        return None
    return next((one for one in trials(reading) if one.lesson.id == lesson.id), None)


class HoldingOut(ABC):
    """What `Tenure` offers for hold-outs."""

    scope: str

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where all of it is kept."""

    def holdouts(self) -> tuple[Trial, ...]:
        """What hold-outs and gradual release say of each lesson that was drawn, those on which most runs bear first."""
        with self.store.reading(self.scope) as reading:
            return trials(reading)

    @functools.cached_property
    def _hands(self) -> Handwritten:
        return Handwritten()

    def _drawing(self, settings: Settings, run: str, task: str) -> Drawing | None:
        """How lessons are drawn for a run; none if nothing is."""
        return drawing_for(settings, run=run, task=task, hands=self._hands)
