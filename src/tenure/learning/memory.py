"""The memory of a scope: what is written down, how it is compacted, and what is found of it again.

Everything goes through redaction before it is kept, and what is kept can be found by the next call.
The nodes follow from the entries: compacting builds what entries arrived in, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256

from tenure.errors import UserError
from tenure.governance.redaction import redact, redact_all
from tenure.learning.mirror_keeping import ZONE, MirrorKeeping, zone_named
from tenure.learning.talks import Talk, choose_remembered, index_talks, remember
from tenure.memory_tree.entries import Entry, checked_topic, checked_type, without_half_characters
from tenure.memory_tree.keywords import telling
from tenure.memory_tree.nodes import Node, build_day, build_month, build_week, sessions_of
from tenure.memory_tree.periods import Period, age, day_of, read_period, touched, weeks_of
from tenure.memory_tree.root import build_root
from tenure.memory_tree.topics import Topic, merge_topics, topic_line
from tenure.passages import Search
from tenure.ports import Clock, IdSource, Reading, Store, Writing
from tenure.terms import question, search_words

LINES: Mapping[str, int] = {"scratchpad": 150, "working": 100, "queue": 50}
"""Lines that the texts of the first layer may have."""

LOADED = ("queue", "working", "scratchpad")
"""Order in which they are loaded: what changes most often stands last."""

_TITLES: Mapping[str, str] = {"queue": "Task queue", "working": "Working on", "scratchpad": "Scratchpad"}

ON_DEMAND = ("knowledge", "plan")
"""Layers of named texts that are read when they are needed."""

CANDIDATES, TALKS_READ, DAYS_READ = 400, 200, 60
"""Entries that a search by words looks at, and the talks and days that are read around them, at most."""

BUILT = "memory.built"
"""Kept in the layer of this name: the day on which the tree was last built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What compacting did.

    Attributes:
        built: nodes that were built, in order.
        fixed, tentative: how many of them are over, and still run.
        summaries: how many are summaries; the others are copies.
    """

    built: tuple[str, ...]
    fixed: int
    tentative: int
    summaries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A piece of the raw log.

    Attributes:
        where: day and session, such as `2026-03-15#3`.
        day: ISO date.
        age: of that day, as people say it.
        text: the entry, or the sentences of it that matter.
    """

    where: str
    day: str
    age: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a memory holds for a question.

    Attributes:
        topics: whose name or words the question names, with days to look at.
        nodes: days whose keywords hold most of the question's words, best first.
        found: pieces of the raw log, best first, within the budget.
        note: what was not found or not done, a sentence; empty if all was.
        today: ISO date to which ages are counted.
    """

    topics: tuple[Topic, ...] = ()
    nodes: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()
    note: str = ""
    today: str = ""

    @property
    def text(self) -> str:
        """What was found, as agents and people read it: topics, days whose keywords fit, then pieces, each with its age."""
        lines = [topic_line(topic, self.today) for topic in self.topics]
        if self.nodes:
            lines.append(f"Days that may fit: {', '.join(f'{day} ({age(day, self.today)})' for day in self.nodes)}")
        pieces = (f"{one.where} ({one.age}): {one.text}".replace("\n", "\n  ") for one in self.found)
        return "\n".join([*lines, *pieces, *filter(None, (self.note,))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What an agent loads when a session begins.

    What changes seldom stands first, so that prompt caches reuse what is in front of a change.

    Attributes:
        playbook: its stable part; empty if there are no lessons, or the budget has no room for any.
        root: of the tree.
        layers: texts of the first layer by name, those that are not empty: queue, working, scratchpad.
    """

    root: str
    playbook: str = ""
    layers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def text(self) -> str:
        """All of it, with headings."""
        parts = [self.playbook and f"# Playbook\n{self.playbook}", self.root]
        parts += [f"# {_TITLES[name]}\n{text}" for name, text in self.layers.items()]
        return "\n\n".join(part.rstrip() for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """What a flush did.

    Attributes:
        kept: the entry; none if there was nothing to write down, or its event was kept before.
        built: nodes that were built, in order.
    """

    kept: Entry | None
    built: tuple[str, ...]


class Memory(MirrorKeeping):
    """The memory of one scope.

    Args:
        store: where it is kept.
        scope: whose it is.
        clock, ids: of the engine.
        search: makes an empty search over passages, which recall fills with what words have found.
        playbook: gives the stable part of the playbook within a budget of tokens; none takes that of a context.
    """

    def __init__(
        self,
        store: Store,
        scope: str,
        *,
        clock: Clock,
        ids: IdSource,
        search: Callable[[], Search],
        playbook: Callable[[int | None], str] | None = None,
    ) -> None:
        self._store, self._scope, self._clock, self._ids, self._search = store, scope, clock, ids, search
        self._playbook = playbook

    def log(
        self,
        text: str,
        *,
        type: str = "log",
        topic: str = "",
        session: str = "",
        role: str = "",
        at: datetime | None = None,
        done: bool = False,
        event: str = "",
    ) -> Entry | None:
        """Write an entry down. It can be recalled by the next call.

        Args:
            text: what is kept, once its secrets are taken out.
            type: `user`, `feedback`, `project`, `reference` or `log`; the writer's choice, whoever speaks.
            topic: what it is about, a short name.
            session: groups entries, such as turns of one conversation.
            role: who speaks, such as `user` or `assistant`.
            at: when, with a zone; none takes now.
            done: of a project: that its topic is finished.
            event: id of the host's event; the same event told again is not kept again.

        Returns:
            The entry as kept; none if its event was kept before.

        Raises:
            UserError: there is nothing in the text, or type, topic or moment are not well-formed.
        """
        if not text.strip():
            raise UserError("There is nothing to keep. Give a text: tenure memory log 'We ship on Fridays.'")
        kind, name = checked_type(type), _clean(checked_topic(topic))
        moment = at if at is not None else self._clock.now()
        with self._store.writing(self._scope) as work:
            zone = zone_named(work.setting(ZONE))
            entry = Entry(
                id=self._ids.next() if not event else f"event:{sha256(event.encode('utf-8', 'surrogatepass')).hexdigest()[:26]}",
                at=stamp(moment),
                day=day_of(moment, zone),
                text=_clean(text),
                type=kind,
                topic=name,
                session=without_half_characters(session),
                role=without_half_characters(role),
                done=done,
                event=without_half_characters(event),
            )
            return entry if work.keep_entries([entry]) else None

    def keep(self, entries: Sequence[Entry]) -> int:
        """Keep entries that were made elsewhere, such as imported turns; how many were new. Their days are filed as they say."""
        texts = redact_all([without_half_characters(one.text) for one in entries])
        clean = [_with_text(one, said) for one, said in zip(entries, texts, strict=True)]
        with self._store.writing(self._scope) as work:
            return work.keep_entries(clean)

    def compact(self, *, all: bool = False) -> Compacted:
        """Build what entries arrived in since the last time, and what ended meanwhile.

        Args:
            all: whether to build the whole tree again from the raw log.
        """
        with self._store.writing(self._scope) as work:
            today = self._today(work)
            periods = list(touched(work.memory_days())) if all else self._due(work, today)
            built, counted = list[str](), Counter[str]()
            for period in periods:
                # One node at a time: the tree of ten years is larger than what it is built with.
                node = _build(work, period, today)
                if node is not None:
                    built.append(node.period.key)
                    counted.update((node.state, node.form))
            work.put_memory_file(BUILT, "", today)
        return Compacted(built=tuple(built), fixed=counted["fixed"], tentative=counted["tentative"], summaries=counted["summary"])

    def _due(self, work: Writing, today: str) -> list[Period]:
        stale = list(work.stale_periods())
        before = work.memory_file(BUILT)
        if before and before < today:
            # What ran on the day of the last building may be over by now.
            stale += [period for period in touched([before]) if period not in stale and work.node(period) is not None]
        order = ("day", "week", "month")
        return sorted(stale, key=lambda one: (order.index(one.kind), one.key))

    def root(self) -> str:
        """The root, under its cap, of the tree as it was last compacted."""
        with self._store.reading(self._scope) as look:
            zone = look.setting(ZONE) or "UTC"
            return build_root(look.nodes("month"), today=day_of(self._clock.now(), zone_named(zone)), zone=zone)

    def node(self, name: str) -> Node | None:
        """A day, week or month by its name, as it was last compacted; none if nothing is kept in it."""
        with self._store.reading(self._scope) as look:
            return look.node(read_period(name))

    def session(self, where: str) -> tuple[Entry, ...]:
        """The raw entries of a session by day and place, such as `2026-03-15#3`.

        Raises:
            UserError: the name is malformed, or there is none of that name.
        """
        day, _, place = where.partition("#")
        with self._store.reading(self._scope) as look:
            sessions = sessions_of(look.entries(day=day))
        if not place.isdigit() or not 1 <= int(place) <= len(sessions):
            raise UserError(f"There is no session '{where}'; {day} has {len(sessions)}. Its day names them: tenure memory show {day}")
        return sessions[int(place) - 1]

    def recall(self, text: str, *, budget: int = 3_000) -> Recalled:
        """What the memory holds for a question: topics first, then days, then pieces of the raw log with their age.

        Args:
            text: the question, in any script.
            budget: tokens of the pieces in all.
        """
        asked = question(text)
        with self._store.reading(self._scope) as look:
            today = self._today(look)
            months, days = look.nodes("month"), look.memory_days()
            if not days:
                return Recalled(note="The memory is empty: nothing was written down yet.", today=today)
            held = look.entries_holding([*asked.words, *([] if asked.words else asked.others)], limit=CANDIDATES)
            near = list(dict.fromkeys(one.day for one in held))[:DAYS_READ]
            of_day = {day: sessions_of(look.entries(day=day)) for day in near}
        wanted = {root for word in search_words(text) if (root := telling(word))}
        topics = merge_topics(topic for month in months for topic in month.topics)
        named = tuple(topic for topic in topics if wanted & _stems((topic.name, *topic.subs)))
        nodes = _nearest_days(months, wanted)
        ids = {one.id for one in held}
        talks = {
            f"{day}#{place}": _talk(f"{day}#{place}", day, session)
            for day, sessions in of_day.items()
            for place, session in enumerate(sessions, 1)
            if any(one.id in ids for one in session)
        }
        talks = dict(list(talks.items())[:TALKS_READ])
        turns, whole = self._search(), self._search()
        note = index_talks(turns, whole, self._scope, list(talks.values()))
        pieces, missed = remember(turns, whole, self._scope, text, talk=talks.__getitem__)
        found = tuple(
            Found(where=one.talk, day=talks[one.talk].day, age=age(talks[one.talk].day, today), text=redact(one.text).text)
            for one in choose_remembered(pieces, budget)
        )
        if not found and not named:
            span = f"{len(days):,} {'day' if len(days) == 1 else 'days'}"
            note = f"Nothing in the memory holds any word of this. It goes from {days[0]} to {days[-1]}, on {span}."
        best = sorted(named, key=lambda one: (-len(wanted & _stems((one.name, *one.subs))), one.name))[:8]
        return Recalled(topics=tuple(best), nodes=nodes, found=found, note=note or missed, today=today)

    def write(self, layer: str, text: str, *, name: str = "") -> None:
        """Write a text of a layer in place of the one before; an empty one removes it.

        Raises:
            UserError: there is no such layer, a name is missing or not wanted, or the text has too many lines.
        """
        if layer in LINES:
            lines = len(text.splitlines())
            if name:
                raise UserError(f"There is one {layer}; it has no name. Named texts are knowledge and plan.")
            if lines > LINES[layer]:
                raise UserError(
                    f"The {layer} would have {lines} lines; it is always loaded and has {LINES[layer]} at most. "
                    "Nothing was written. Shorten it, or put the rest into knowledge or a plan."
                )
        elif layer not in ON_DEMAND:
            raise UserError(f"There is no layer '{layer}'. There are {', '.join((*LINES, *ON_DEMAND))}.")
        elif not name.strip():
            raise UserError(f"A text of {layer} has a name: tenure memory write {layer} --name NAME FILE")
        with self._store.writing(self._scope) as work:
            work.put_memory_file(layer, _clean(checked_topic(name)), _clean(text))

    def read(self, layer: str, *, name: str = "") -> str:
        """A text of a layer; of knowledge with the `user` and `feedback` entries of its topic, word for word. Empty if there is none."""
        with self._store.reading(self._scope) as look:
            text = look.memory_file(layer, name)
            if layer != "knowledge" or not name:
                return text
            kept = [one for one in look.entries() if one.type in ("user", "feedback") and (one.topic or one.type) == name]
        return "\n".join([*filter(None, (text,)), *(f"- {one.day}: {one.text}" for one in kept)])

    def start(self, *, budget: int | None = None) -> Start:
        """Compact, and give what an agent loads when a session begins. The same call again gives the same.

        Args:
            budget: tokens of the playbook's part; none takes what a context has for it.
        """
        if budget is not None and budget < 1:
            raise UserError(f"A budget of {budget} tokens has no room for anything. Give 1 or more, or none.")
        self.compact()
        with self._store.reading(self._scope) as look:
            layers = {layer: text for layer in LOADED if (text := look.memory_file(layer))}
        playbook = self._playbook(budget) if self._playbook is not None else ""
        return Start(playbook=playbook, root=self.root(), layers=layers)

    def checkpoint(
        self,
        *,
        request: str = "",
        analysis: str = "",
        decisions: str = "",
        outcome: str = "",
        references: str = "",
        topic: str = "",
        session: str = "",
        event: str = "",
    ) -> Entry | None:
        """Write down a finished task in one entry; parts that are empty are left out. See `log` for the rest."""
        parts = {"Request": request, "Analysis": analysis, "Decisions": decisions, "Outcome": outcome, "References": references}
        said = "\n".join(f"{name}: {part.strip()}" for name, part in parts.items() if part.strip())
        return self.log(said, topic=topic, session=session, event=event)

    def flush(self, text: str = "", *, session: str = "", event: str = "") -> Flushed:
        """Write down what would be lost when the host compacts, and bring the tree up to date.

        The same event told again writes nothing, whoever tells it, and still brings the tree up to date: the process that
        told it first may have died before. When one is due, `memory_tree.flushing.flush_due` says.
        """
        kept = self.log(text, session=session, event=event) if text.strip() else None
        return Flushed(kept=kept, built=self.compact().built)

    def set_zone(self, name: str) -> None:
        """Set the zone in which days begin. Entries that are kept stay in the days in which they were filed.

        Raises:
            UserError: there is no zone of that name.
        """
        zone_named(name)
        with self._store.writing(self._scope) as work:
            work.set(ZONE, name)

    def _today(self, look: Reading) -> str:
        return day_of(self._clock.now(), zone_named(look.setting(ZONE)))


def stamp(moment: datetime) -> str:
    """A moment in UTC to the microsecond, so that texts sort as times."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _clean(text: str) -> str:
    """What may be kept of a text: no secrets, and nothing that no file can hold."""
    return redact(without_half_characters(text)).text


def _with_text(entry: Entry, text: str) -> Entry:
    return entry if entry.text == text else replace(entry, text=text)


def _build(work: Writing, period: Period, today: str) -> Node | None:
    """Build one node from what lies below it and keep it."""
    if period.kind == "day":
        entries = work.entries(day=period.key)
        node = build_day(period.key, entries, today=today) if entries else None
    elif period.kind == "week":
        days = [one for day in period.days if (one := work.node(Period("day", day))) is not None]
        node = build_week(period, days, today=today) if days else None
    else:
        weeks = [one for week in weeks_of(period) if (one := work.node(week)) is not None]
        days = [one for day in period.days if (one := work.node(Period("day", day))) is not None]
        node = build_month(period, weeks, days, today=today) if days else None
    if node is None:
        work.drop_node(period)
    else:
        work.keep_node(node)
    return node


def _talk(name: str, day: str, session: Sequence[Entry]) -> Talk:
    own = [one for one in session if one.role in ("user", "")] or list(session)
    others = [one.text for one in session if one not in own]
    return Talk(id=name, day=day, turns=tuple(one.text for one in own), replies=tuple(others))


def _nearest_days(months: Sequence[Node], wanted: set[str]) -> tuple[str, ...]:
    scored = [
        (sum(place for place in (one.weight for one in line.words if telling(one.word.lower()) in wanted)), line.where)
        for month in months
        for line in month.lines
    ]
    return tuple(day for worth, day in sorted(scored, reverse=True)[:5] if worth)


def _stems(texts: Sequence[str]) -> set[str]:
    return {root for text in texts for word in search_words(text) if (root := telling(word))}
