"""Compacting a memory: what of its tree is built when, and when a model is asked for summaries.

The tree follows from the raw entries, the settings `memory.*` and the day that it is. What entries arrived in is built anew, and
what has ended meanwhile; all of it after a change of the settings. So it comes out the same as if it were built from the raw log
at once. A model is asked when the tree is already there, outside of every transaction: it can only make it better.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tenure.errors import UserError
from tenure.learning.memory_settings import MemorySettings, memory_settings
from tenure.learning.memory_summaries import Summaries, ask_for_summaries
from tenure.memory_tree.entries import KEPT, topic_name
from tenure.memory_tree.nodes import Node, build_day, build_month, build_week, indented
from tenure.memory_tree.periods import Kind, Period, can_be_filed, checked_moment, day_of, touched, weeks_of
from tenure.memory_tree.topics import Topic, merge_topics
from tenure.ports import Clock, IdSource, LanguageModel, Reading, Store, Writing

BUILT = "memory.built"
"""Kept in the layer of this name: the day on which the tree was last built, and by which settings."""

KEPT_FILES = "memory.kept"
"""Layer of the entries that a person said to keep, a text per topic, named in small letters."""

_KEPT_LINE = re.compile(r"\n- \d{4}-\d{2}-\d{2}: ")

_ORDER: tuple[Kind, ...] = ("day", "week", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What compacting did.

    Attributes:
        built: nodes that were built, in order.
        fixed, tentative: how many of them are over, and still run.
        summaries: how many are summaries; the others are copies.
        by_model: summaries that a model wrote this time.
        waiting: summaries that a model has still to write.
        refiled: entries that went to another day, because the zone was changed.
        anew: why all of the tree was built; empty if only a part was.
        problems: a sentence for each thing that went wrong with a model's summary, where the extractive one stands then, with
            vectors, and with entries that cannot be filed in the day of their moment.
    """

    built: tuple[str, ...]
    fixed: int
    tentative: int
    summaries: int
    by_model: int = 0
    waiting: int = 0
    refiled: int = 0
    anew: str = ""
    problems: tuple[str, ...] = ()


def compact(
    store: Store, scope: str, *, clock: Clock, ids: IdSource, model: LanguageModel | None = None, all: bool = False, ask: bool = True
) -> Compacted:
    """Build what entries arrived in since the last time, and what ended meanwhile.

    Args:
        store, scope: whose memory it is.
        clock, ids: of the engine.
        model: writes summaries; none leaves the extractive ones.
        all: whether to build the whole tree again from the raw log.
        ask: whether the model is asked now; if not, what it has to write waits for the next time.
    """
    with store.writing(scope) as work:
        settings = memory_settings(work)
        today = day_of(clock.now(), settings.zone)
        building = Building(work, settings, today, wants=model is not None)
        building.run(all=all)
    counted = Counter(word for node in building.built.values() if node is not None for word in (node.state, node.form))
    written, problems = 0, tuple[str, ...]()
    if model is not None and ask and settings.summaries != "extractive":

        def rebuild(work: Writing, period: Period) -> None:
            Building(work, settings, today, wants=True).build(period)

        written, problems = ask_for_summaries(store, scope, model, settings, today=today, ids=ids, rebuild=rebuild)
    with store.reading(scope) as look:
        waiting = Summaries(look, settings).waiting() if model is not None else []
    done = sorted((period for period, node in building.built.items() if node is not None), key=_order)
    return Compacted(
        built=tuple(period.key for period in done),
        fixed=counted["fixed"],
        tentative=counted["tentative"],
        summaries=counted["summary"],
        by_model=written,
        waiting=len(waiting),
        refiled=building.refiled,
        anew=building.anew,
        problems=(*building.unfiled, *problems),
    )


@dataclass(frozen=True, slots=True)
class _Before:
    """When and by which settings the tree was last built."""

    day: str = ""
    tree: str = ""
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Built:
    """What became of a node."""

    state: str
    form: str


class Building:
    """The building of nodes in one transaction.

    Args:
        work: the transaction.
        settings: of the memory.
        today: ISO date in the zone of the memory.
        wants: whether summaries that a model has not written are to wait for it.

    Attributes:
        built: what was built, none for what is empty.
        refiled: entries that went to another day.
        anew: why all of the tree is built; empty if only a part is.
        unfiled: what was stepped over because its moment or its day cannot be filed, a sentence each.
    """

    def __init__(self, work: Writing, settings: MemorySettings, today: str, *, wants: bool) -> None:
        self._work, self._settings, self._today = work, settings, today
        self._summaries = Summaries(work, settings, wants=wants)
        self.built: dict[Period, Built | None] = {}
        self.refiled, self.anew = 0, ""
        self.unfiled = list[str]()

    def run(self, *, all: bool) -> None:
        """Build what is due, and write down by what it was built."""
        before, now = _before(self._work), _Before(self._today, self._settings.fingerprint, self._settings.zone_name)
        anew = all or before.tree != now.tree
        stale = {one for one in self._work.stale_periods() if can_be_filed(one.key)}
        # Entries may have been filed while another zone was set; what was filed since the last time is in days that are stale.
        moved = self._refile(self._work.memory_days() if anew else sorted(one.key for one in stale if one.kind == "day"))
        days = self._fileable(self._work.memory_days())
        if all:
            self.anew = "asked for"
        elif before.tree != now.tree:
            self.anew = (
                f"the zone is {now.zone} now" if before.zone != now.zone else "settings of the memory were changed" if before.tree else ""
            )
        due = {*stale, *touched([*moved]), *(touched(days) if anew else _ended(days, before.day, self._today))}
        if anew:
            due |= {node.period for kind in _ORDER for node in self._work.nodes(kind)}  # what is empty by now
        # A month that is not there yet is new, or was dropped because something below it was forgotten.
        gap = any(self._work.node(one) is None for one in due if one.kind == "month")
        changes = _Changes(self._work, whole=anew, gap=gap)
        # One node at a time: the tree of ten years is larger than what it is built with.
        for period in sorted((one for one in due if one.kind == "day"), key=_order):
            changes.note(period.key, self._work.node(period), self._build(period))
        for day, closed in changes.closings():
            self._build(Period("day", day), closed=closed)
            due.update(touched([day]))
        for period in [one for one in self.built if one.kind == "day"]:
            self._finish(period)
        for name, when in changes.kept_files():
            self._work.put_memory_file(KEPT_FILES, name, kept_text(self._work, name, when))
        for period in sorted((one for one in due if one.kind != "day"), key=_order):
            self.build(period)
        if before != now:
            said = {"day": now.day, "tree": now.tree, "zone": now.zone}
            self._work.put_memory_file(BUILT, "", json.dumps(said))

    def _fileable(self, days: Iterable[str]) -> list[str]:
        """Days that can be in the tree; of the others it is told that they are not."""
        found = list[str]()
        for day in days:
            if can_be_filed(day):
                found.append(day)
            else:
                self.unfiled.append(f"The entries of {day} are kept, and found by recall, but no such day can be in the tree.")
        return found

    def build(self, period: Period) -> None:
        """Build a week or a month from what lies below it and keep it; what is empty is removed."""
        self._build(period)
        self._finish(period)

    def _build(self, period: Period, *, closed: Collection[str] = ()) -> Node | None:
        work, caps, today = self._work, self._settings.caps, self._today
        node: Node | None = None
        if period.kind == "day":
            entries = work.entries(day=period.key)
            if entries:
                node = build_day(period.key, entries, today=today, caps=caps, zone=self._settings.shown_zone, closed=closed)
        else:
            days = [one for day in period.days if (one := work.node(Period("day", day))) is not None]
            if period.kind == "week" and days:
                node = build_week(period, days, today=today, caps=caps)
            elif days:
                weeks = [one for week in weeks_of(period) if (one := work.node(week)) is not None]
                node = build_month(period, weeks, days, today=today, caps=caps)
        if node is None:
            work.drop_node(period)
        else:
            work.keep_node(node)
        self.built[period] = None if node is None else Built(node.state, node.form)
        return node

    def _finish(self, period: Period) -> None:
        """Put the model's summary into a node, if there is one for just this."""
        built = self.built[period]
        if built is None or built.form == "verbatim":
            self._summaries.drop(self._work, period)
        elif self._summaries.in_use and (node := self._work.node(period)) is not None:
            with_words = self._summaries.applied(self._work, node)
            if with_words is not node:
                self._work.keep_node(with_words)

    def _refile(self, days: Iterable[str]) -> set[str]:
        """File entries anew that are not in the day of their moment; the days to which they went."""
        zone, moved = self._settings.zone, dict[str, str]()
        for day in days:
            for entry in self._work.entries(day=day):
                try:
                    plain = zone.key == "UTC" and entry.at.endswith("+00:00") and can_be_filed(entry.at)
                    own = entry.at[:10] if plain else day_of(checked_moment(datetime.fromisoformat(entry.at)), zone)
                except (ValueError, UserError):  # kept before moments were checked: it stays where it is
                    self.unfiled.append(f"Entry '{entry.id}' of {day} has a moment that cannot be filed, {entry.at}; it stays in that day.")
                    continue
                if own != day:
                    moved[entry.id] = own
        self._work.refile(moved)
        self.refiled += len(moved)
        return set(moved.values())


@dataclass(slots=True)
class _Changes:
    """What the days that are built say of projects and of what is kept, before and after.

    Attributes:
        work: the transaction.
        whole: whether all days are built.
        gap: whether nodes of before may be missing, so that what they said of projects is not known.
    """

    work: Writing
    whole: bool
    gap: bool
    _days: dict[str, tuple[Topic, ...]] = field(default_factory=dict[str, tuple[Topic, ...]])
    _before: list[Topic] = field(default_factory=list[Topic])
    _above: list[Topic] | None = None

    def note(self, day: str, before: Node | None, after: Node | None) -> None:
        """Take down a day. Only what rules hold for is held."""
        self._days[day] = tuple(one for one in after.topics if one.sort in ("project", "kept")) if after is not None else ()
        if before is not None:
            self._before += [one for one in before.topics if one.sort in ("project", "kept")]

    def closings(self) -> list[tuple[str, tuple[str, ...]]]:
        """Days that are to be built with other projects closed than they were, and which. Months are not built yet."""
        named = self._by_name("project")
        if self.gap:
            named = self._closed_before() | named
        above = {one.key: one for one in self._of_months("project", named)}
        maybe = {key for key, topics in named.items() if any(one.done for one in topics) or (key in above and above[key].done)}
        maybe |= {key for key, topics in named.items() if not topics}
        if not maybe:
            return []
        days_of = {key: self._days_of(key, above.get(key)) for key in maybe}
        of_day = {day: self._topics_on(day) for days in days_of.values() for day in days}
        closed = set[str]()
        for key, days in days_of.items():
            merged = merge_topics(one for day in days for one in of_day[day] if one.key == key)
            closed.update(one.name.casefold() for one in merged if one.done)
        names = {key[0] for key in maybe}
        found: list[tuple[str, tuple[str, ...]]] = []
        for day in sorted(of_day):
            node = self.work.node(Period("day", day))
            if node is None or node.form == "verbatim":
                continue
            own = {one.name.casefold() for one in of_day[day] if one.sort == "project"}
            wanted = tuple(sorted((set(node.closed) - names) | (own & closed)))
            if wanted != node.closed:
                found.append((day, wanted))
        return found

    def kept_files(self) -> list[tuple[str, tuple[str, ...]]]:
        """Topics of what is kept that changed, in small letters, and the days that have them; none for one that is gone."""
        named = self._by_name("kept")
        above = {one.key: one for one in self._of_months("kept", named)}
        found = {key[0]: self._days_of(key, above.get(key)) for key in named}
        if self.whole:
            found |= {name: () for name in self.work.memory_files(KEPT_FILES) if name not in found}
        return sorted(found.items())

    def _closed_before(self) -> dict[tuple[str, str], list[Topic]]:
        """Projects that any day was built without, with nothing said of them."""
        if self.whole:
            return {}
        days = {day for month in self.work.nodes("month") for one in month.topics if one.sort == "project" for day in one.days}
        nodes = (self.work.node(Period("day", day)) for day in sorted(days - set(self._days)))
        return {(name, "project"): [] for node in nodes if node is not None for name in node.closed}

    def _by_name(self, sort: str) -> dict[tuple[str, str], list[Topic]]:
        found: dict[tuple[str, str], list[Topic]] = {}
        for one in (*self._before, *(one for topics in self._days.values() for one in topics)):
            if one.sort == sort:
                found.setdefault(one.key, []).append(one)
        return found

    def _of_months(self, sort: str, named: Collection[tuple[str, str]]) -> tuple[Topic, ...]:
        """What the months say of some topics, as they were last built; nothing where all days are built anyway."""
        if self.whole or not named:
            return ()
        if self._above is None:
            self._above = [one for month in self.work.nodes("month") for one in month.topics if one.sort in ("project", "kept")]
        return merge_topics(one for one in self._above if one.sort == sort and one.key in named)

    def _days_of(self, key: tuple[str, str], above: Topic | None) -> tuple[str, ...]:
        days = {day for day in (above.days if above is not None else ()) if day not in self._days}
        return tuple(sorted(days | {day for day, topics in self._days.items() if any(one.key == key for one in topics)}))

    def _topics_on(self, day: str) -> tuple[Topic, ...]:
        if day in self._days:
            return self._days[day]
        node = self.work.node(Period("day", day))
        return node.topics if node is not None else ()


def kept_text(look: Reading, name: str, days: Iterable[str]) -> str:
    """What a person said to keep under a topic, word for word, oldest first.

    Args:
        look: at the memory.
        name: of the topic, in small letters.
        days: on which there may be some.
    """
    entries = (one for day in days for one in look.entries(day=day) if one.type in KEPT and topic_name(one).casefold() == name)
    return "\n".join(f"- {one.day}: {indented(one.text)}" for one in sorted(entries, key=lambda one: one.order))


def kept_texts(look: Reading, name: str) -> list[str]:
    """What the file of `kept_text` holds for a topic as it was last compacted: the texts without their days, oldest first."""
    return [one for one in _KEPT_LINE.split(f"\n{look.memory_file(KEPT_FILES, name.casefold())}") if one.strip()]


def kept_now(look: Reading, name: str) -> str:
    """`kept_text` with what was not compacted yet."""
    stale = sorted(one.key for one in look.stale_periods() if one.kind == "day")
    own = name.casefold()
    if not stale:
        return look.memory_file(KEPT_FILES, own)
    days = {day for month in look.nodes("month") for one in month.topics if one.key == (own, "kept") for day in one.days}
    return kept_text(look, own, sorted({*days, *stale}))


def _before(look: Reading) -> _Before:
    text = look.memory_file(BUILT)
    if not text.startswith("{"):
        return _Before(day=text)
    said: Mapping[str, str] = json.loads(text)
    return _Before(said["day"], said["tree"], said["zone"])


def _ended(days: Iterable[str], before: str, today: str) -> set[Period]:
    """What has ended since the tree was last built, or runs again because the clock was set back."""
    if not before or before == today:
        return set()
    first, last = sorted((before, today))
    return {one for one in touched(list(days)) if first <= one.bounds[1].isoformat() < last}


def _order(period: Period) -> tuple[int, str]:
    return _ORDER.index(period.kind), period.key
