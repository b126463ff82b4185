"""The memory of a scope: what is written down, how it is compacted, and what is found of it again.

Everything goes through redaction before it is kept, and what is kept can be found by the next call.
The nodes follow from the entries: see `compacting`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256

from tenure.errors import UserError
from tenure.governance.redaction import redact
from tenure.learning.compacting import Compacted, compact, kept_now, kept_texts
from tenure.learning.embedding import Vectors
from tenure.learning.log_recall import WORDS_ALONE, recall_log
from tenure.learning.memory_redaction import plain_name, shown_node, shown_topics, without_secrets
from tenure.learning.memory_settings import memory_settings, zone_of
from tenure.learning.memory_summaries import Summaries
from tenure.learning.mirror_keeping import ZONE, MirrorKeeping
from tenure.memory_tree.entries import Entry, checked_topic, checked_type, one_line, without_half_characters
from tenure.memory_tree.keywords import telling
from tenure.memory_tree.mirror_names import place_name
from tenure.memory_tree.nodes import Node, sessions_of
from tenure.memory_tree.periods import Period, age, day_of, read_period, stamp
from tenure.memory_tree.root import build_root
from tenure.memory_tree.topics import Topic, merge_topics, topic_line
from tenure.memory_tree.type_rules import type_by_rules
from tenure.ports import Clock, IdSource, LanguageModel, Reading, Store
from tenure.terms import search_words

LINES: Mapping[str, int] = {"scratchpad": 150, "working": 100, "queue": 50}
"""Lines that the texts of the first layer may have."""

LOADED = ("queue", "working", "scratchpad")
"""Order in which they are loaded: what changes most often stands last."""

_TITLES: Mapping[str, str] = {"queue": "Task queue", "working": "Working on", "scratchpad": "Scratchpad"}

ON_DEMAND = ("knowledge", "plan")
"""Layers of named texts that are read when they are needed."""

DAYS_READ = 10
"""Days of what was found whose nodes are looked at."""


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
        compacted: what was built.
    """

    kept: Entry | None
    compacted: Compacted


class Memory(MirrorKeeping):
    """The memory of one scope.

    Args:
        store: where it is kept.
        scope: whose it is.
        clock, ids: of the engine.
        model: writes summaries of what is long; none leaves those that plain code makes.
        playbook: gives the stable part of the playbook within a budget of tokens; none takes that of a context.
        vectors: of the scope, for search by meaning; none searches by words alone.
    """

    def __init__(
        self,
        store: Store,
        scope: str,
        *,
        clock: Clock,
        ids: IdSource,
        model: LanguageModel | None = None,
        playbook: Callable[[int | None], str] | None = None,
        vectors: Vectors | None = None,
    ) -> None:
        self._store, self._scope, self._clock, self._ids = store, scope, clock, ids
        self._model, self._playbook, self._vectors = model, playbook, vectors

    def log(
        self,
        text: str,
        *,
        type: str = "",
        topic: str = "",
        session: str = "",
        role: str = "",
        at: datetime | None = None,
        done: bool = False,
        event: str = "",
        origin: str = "",
    ) -> Entry | None:
        """Write an entry down. It can be recalled by the next call.

        Args:
            text: what is kept, once its secrets are taken out.
            type: `user`, `feedback`, `project`, `reference` or `log`; the writer's choice, whoever speaks. Empty goes by the rules
                of the setting `memory.types`, and is `log` for turns of a conversation (with a role) and where no rule matches.
            topic: what it is about, a short name.
            session: groups entries, such as turns of one conversation.
            role: who speaks, such as `user` or `assistant`.
            at: when, with a zone; none takes now.
            done: of a project: that its topic is finished.
            event: id of the host's event; the same event told again is not kept again. Where a secret was taken out of the id, it is
                the same event only with the same text.
            origin: name of the origin of the text (see `Origin.name`); empty for who keeps the memory.

        Returns:
            The entry as kept; none if its event was kept before.

        Raises:
            UserError: there is nothing in the text, or type, topic or moment are not well-formed.
        """
        if not text.strip():
            raise UserError("There is nothing to keep. Give a text: tenure memory log 'We ship on Fridays.'")
        chosen, name, event = checked_type(type) if type else None, checked_topic(topic), plain_name(event, text=redact(text).text)
        moment = at if at is not None else self._clock.now()
        with self._store.writing(self._scope) as work:
            settings = memory_settings(work)
            entry = Entry(
                id=self._ids.next() if not event else f"event:{sha256(event.encode('utf-8', 'surrogatepass')).hexdigest()[:26]}",
                at=stamp(moment),
                day=day_of(moment, settings.zone),
                text=text,
                type=chosen or (type_by_rules(text, settings.rules) if not role else "log"),
                topic=name,
                session=session,
                role=role,
                done=done,
                event=event,
                origin=origin,
            )
            (entry,) = without_secrets([entry])
            return entry if work.keep_entries([entry]) else None

    def keep(self, entries: Sequence[Entry]) -> int:
        """Keep entries that were made elsewhere, such as imported turns; how many were new. Their moments say in which days they are.

        Raises:
            UserError: a moment is malformed, without a zone or outside of the years that a memory takes. Then none is kept.
        """
        clean = [replace(one, at=_stamped(one.at), topic=one_line(one.topic)) for one in without_secrets(entries)]
        with self._store.writing(self._scope) as work:
            zone = memory_settings(work).zone
            clean = [one if (day := day_of(datetime.fromisoformat(one.at), zone)) == one.day else replace(one, day=day) for one in clean]
            return work.keep_entries(clean)

    def compact(self, *, all: bool = False, ask: bool = True) -> Compacted:
        """Build what entries arrived in since the last time, and what ended meanwhile.

        A model, if there is one, writes the summaries; what it cannot do now waits for the next time. So do vectors of what was
        said, of which a portion is made.

        Args:
            all: whether to build the whole tree again from the raw log. Summaries that a model wrote of the same are used again.
            ask: whether models are asked now, that which writes and that which makes vectors.
        """
        done = compact(self._store, self._scope, clock=self._clock, ids=self._ids, model=self._model, all=all, ask=ask)
        problems = self._vectors.problems_of_memory() if self._vectors is not None and ask else ()
        return replace(done, problems=(*done.problems, *problems)) if problems else done

    def root(self) -> str:
        """The root, under its cap, of the tree as it was last compacted."""
        with self._store.reading(self._scope) as look:
            settings = memory_settings(look)
            today = day_of(self._clock.now(), settings.zone)
            return redact(
                build_root(
                    look.nodes("month"), today=today, zone=settings.zone_name, caps=settings.caps, kept=lambda name: kept_texts(look, name)
                )
            ).text

    def topics(self, name: str = "") -> tuple[Topic, ...]:
        """All topics that a writer named, newest first: of the whole tree, or of a day, week or month."""
        with self._store.reading(self._scope) as look:
            node = look.node(read_period(name)) if name else None
            nodes = look.nodes("month") if not name else [node] if node is not None else []
        found = (one for one in merge_topics(topic for one in nodes for topic in one.topics) if one.given)
        return shown_topics(sorted(found, key=lambda one: (one.last, one.at, one.key), reverse=True))

    def failure(self, name: str) -> str:
        """Why a model's summary of a day, week or month could not be used; empty if none failed."""
        with self._store.reading(self._scope) as look:
            written = Summaries(look, memory_settings(look)).written(read_period(name))
        return written.failed if written is not None else ""

    def node(self, name: str) -> Node | None:
        """A day, week or month by its name, as it was last compacted; none if nothing is kept in it."""
        with self._store.reading(self._scope) as look:
            found = look.node(read_period(name))
        return None if found is None else shown_node(found)

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
        return tuple(without_secrets(sessions[int(place) - 1]))

    def recall(self, text: str, *, budget: int = 3_000) -> Recalled:
        """What the memory holds for a question: topics first, then days, then pieces of the raw log with their age.

        Args:
            text: the question, in any script.
            budget: tokens of the pieces in all.
        """
        meaning = self._vectors.question(text) if self._vectors is not None else WORDS_ALONE
        with self._store.reading(self._scope) as look:
            today = self._today(look)
            log = recall_log(look, text, budget=budget, meaning=meaning)
            topics = merge_topics(look.memory_topics())
            near = [one for day in log.days[:DAYS_READ] if (one := look.node(Period("day", day))) is not None]
            days = look.memory_days() if not log.pieces else ()
        if not days and not log.pieces:
            return Recalled(note="The memory is empty: nothing was written down yet.", today=today)
        wanted = {root for word in search_words(text) if (root := telling(word))}
        named = tuple(topic for topic in topics if wanted & _stems((topic.name, *topic.subs)))
        nodes, note = _nearest_days(near, wanted), log.note
        found = tuple(
            Found(where=one.talk, day=day, age=age(day, today), text=redact(one.text).text)
            for one in log.pieces
            for day in (one.talk.partition("#")[0],)
        )
        if not found and not named:
            span = f"{len(days):,} {'day' if len(days) == 1 else 'days'}"
            note = f"Nothing in the memory holds any word of this. It goes from {days[0]} to {days[-1]}, on {span}."
            note = f"{note} {log.note}".rstrip()
        best = sorted(named, key=lambda one: (-len(wanted & _stems((one.name, *one.subs))), one.name))[:8]
        return Recalled(topics=shown_topics(best), nodes=nodes, found=found, note=note, today=today)

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
            work.put_memory_file(
                layer, redact(without_half_characters(checked_topic(name))).text, redact(without_half_characters(text)).text
            )

    def read(self, layer: str, *, name: str = "") -> str:
        """A text of a layer; of knowledge with the `user` and `feedback` entries of its topic, word for word. Empty if there is none."""
        name = redact(checked_topic(name)).text  # as it was written
        if layer == "knowledge" and "~" in name:  # a name that could lead elsewhere is shown as that of a file
            name = next((one for one in self.knowledge() if name == place_name(one)), name)
        with self._store.reading(self._scope) as look:
            text = redact(look.memory_file(layer, name)).text
            kept = kept_now(look, name) if layer == "knowledge" and name else ""
        return "\n".join(filter(None, (text, redact(kept).text)))

    def knowledge(self) -> tuple[str, ...]:
        """Names of the texts of knowledge: those that were written, and those of topics that a person said something to keep about."""
        with self._store.reading(self._scope) as look:
            topics = merge_topics(one for month in look.nodes("month") for one in month.topics if one.sort == "kept")
            names = {name.casefold(): name for name in (*(one.name for one in topics), *look.memory_files("knowledge"))}
        return tuple(names[key] for key in sorted(names))

    def start(self, *, budget: int | None = None) -> Start:
        """Compact, and give what an agent loads when a session begins. The same call again gives the same.

        No model is asked: a session does not wait for one.

        Args:
            budget: tokens of the playbook's part; none takes what a context has for it.
        """
        if budget is not None and budget < 1:
            raise UserError(f"A budget of {budget} tokens has no room for anything. Give 1 or more, or none.")
        self.compact(ask=False)
        with self._store.reading(self._scope) as look:
            layers = {layer: redact(text).text for layer in LOADED if (text := look.memory_file(layer))}
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
        origin: str = "",
    ) -> Entry | None:
        """Write down a finished task in one entry; parts that are empty are left out. See `log` for the rest."""
        parts = {"Request": request, "Analysis": analysis, "Decisions": decisions, "Outcome": outcome, "References": references}
        said = "\n".join(f"{name}: {part.strip()}" for name, part in parts.items() if part.strip())
        return self.log(said, topic=topic, session=session, event=event, origin=origin)

    def flush(self, text: str = "", *, session: str = "", event: str = "") -> Flushed:
        """Write down what would be lost when the host compacts, and bring the tree up to date. No model is asked.

        The same event told again writes nothing, whoever tells it, and still brings the tree up to date: the process that
        told it first may have died before. When one is due, `memory_tree.flushing.flush_due` says.
        """
        kept = self.log(text, session=session, event=event) if text.strip() else None
        return Flushed(kept=kept, compacted=self.compact(ask=False))

    def set_zone(self, name: str) -> None:
        """Set the zone in which days begin. The next compacting files all entries anew and builds the tree again.

        Raises:
            UserError: there is no zone of that name.
        """
        zone_of(name)
        with self._store.writing(self._scope) as work:
            work.set(ZONE, name)

    def today(self) -> str:
        """The day that it is in the zone of the memory, an ISO date."""
        with self._store.reading(self._scope) as look:
            return self._today(look)

    def _today(self, look: Reading) -> str:
        return day_of(self._clock.now(), memory_settings(look).zone)


def _stamped(at: str) -> str:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as exc:
        raise UserError(f"'{at[:40]}' is no moment. One is 2026-03-15T10:00:00+00:00.") from exc
    return stamp(moment)


def _nearest_days(days: Sequence[Node], wanted: set[str]) -> tuple[str, ...]:
    """The days whose keywords hold most of what is wanted, best first."""
    scored = [
        (sum(one.weight for line in day.lines for one in line.words if telling(one.word.lower()) in wanted), day.period.key) for day in days
    ]
    return tuple(day for worth, day in sorted(scored, reverse=True)[:5] if worth)


def _stems(texts: Sequence[str]) -> set[str]:
    return {root for text in texts for word in search_words(text) if (root := telling(word))}
