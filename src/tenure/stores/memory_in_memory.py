"""The memory of a scope that is held in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, pstdev

from rpds import HashTrieMap

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.nodes import Node, sessions_of
from tenure.memory_tree.periods import Kind, Period, touched
from tenure.memory_tree.topics import Topic
from tenure.ports import Found, Near, Nearest, VectorKind
from tenure.stores.log_search import ListedLog, Said, find_in_log, session_name
from tenure.stores.vectors import Block, is_own, pack, session_text, unpack
from tenure.terms import indexed_words

MOST_NAMED = 3
"""Days that are named where nodes have no entries."""

_KINDS: tuple[Kind, ...] = ("day", "week", "month")
_NO_ENTRIES: HashTrieMap[str, Entry] = HashTrieMap()
_NO_NODES: HashTrieMap[Period, Node] = HashTrieMap()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContents:
    """Entries by id, the ids by event, nodes, what is stale, and texts by layer and name."""

    entries: HashTrieMap[str, Entry] = _NO_ENTRIES
    events: frozenset[str] = frozenset()
    nodes: HashTrieMap[Period, Node] = _NO_NODES
    stale: frozenset[Period] = frozenset()
    files: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def newest_first(self, *, since: str = "") -> list[Entry]:
        """Entries of a day or later, the newest first."""
        return sorted((one for one in self.entries.values() if one.day >= since), key=lambda one: (one.day, one.order), reverse=True)

    def session_texts(self, *, since: str = "") -> dict[str, str]:
        """What of each session is embedded, by its name."""
        said: dict[str, list[tuple[bool, str]]] = {}
        for one in self.newest_first(since=since):
            said.setdefault(session_name(one.day, one.session), []).append((is_own(one.role), one.text))
        return {name: session_text(entries[::-1]) for name, entries in said.items()}

    def __bool__(self) -> bool:
        """Whether anything was written down."""
        return bool(len(self.entries)) or any(not layer.startswith("memory.") for layer, _ in self.files)


class MemoryInMemory:
    """The part of a look at a scope that concerns its memory (see `keeping.MemoryReading`)."""

    @property
    def _memory(self) -> MemoryContents:
        raise NotImplementedError

    def _vectors_of(self, model: str) -> Mapping[tuple[VectorKind, str], bytes]:
        """The vectors of a model by what they are of, packed."""
        raise NotImplementedError

    def entries(self, *, day: str = "", limit: int | None = None) -> Sequence[Entry]:
        """Raw entries of a day, or of all days, in order; with a limit only the newest."""
        found = sorted((one for one in self._memory.entries.values() if not day or one.day == day), key=lambda one: one.order)
        return found if limit is None else found[len(found) - min(limit, len(found)) :]

    def find_in_log(self, text: str, *, limit: int, model: str = "", vector: Sequence[float] | None = None) -> tuple[Found, Found]:
        """The sessions that answer a text, and the entries that do."""
        said = [
            Said(one.id, session_name(one.day, one.session), is_own(one.role), tuple(indexed_words(one.text)), one.text)
            for one in self.entries()
        ]
        near = None if vector is None else NearInMemory(self._vectors_of(model), vector)
        return find_in_log(ListedLog(said), text, limit=limit, near=near)

    def sessions_on(self, day: str, names: Collection[str]) -> Mapping[int, tuple[Entry, ...]]:
        """The sessions of some names on a day, by their place in it."""
        return {place: some for place, some in enumerate(sessions_of(self.entries(day=day)), 1) if some[0].session in names}

    def memory_topics(self) -> Sequence[Topic]:
        """Topics of all months, as they were last built."""
        return [topic for month in self.nodes("month") for topic in month.topics]

    def memory_days(self) -> Sequence[str]:
        """Days that have entries, in order."""
        return sorted({one.day for one in self._memory.entries.values()})

    def node(self, period: Period) -> Node | None:
        """A node as it was last built."""
        return self._memory.nodes.get(period)

    def nodes(self, kind: Kind) -> Sequence[Node]:
        """All nodes of a kind, in order."""
        return sorted((one for one in self._memory.nodes.values() if one.period.kind == kind), key=lambda one: one.period)

    def stale_periods(self) -> Sequence[Period]:
        """What entries arrived in since it was last built."""
        return sorted(self._memory.stale, key=lambda one: (_KINDS.index(one.kind), one.key))

    def memory_file(self, layer: str, name: str = "") -> str:
        """A text of a layer; empty if there is none."""
        return self._memory.files.get((layer, name), "")

    def memory_files(self, layer: str) -> Sequence[str]:
        """Names of a layer's texts, sorted."""
        return sorted(name for one, name in self._memory.files if one == layer)

    def memory_texts(self) -> Mapping[tuple[str, str], str]:
        """The texts of all layers by layer and name, sorted."""
        return dict(sorted(self._memory.files.items()))

    def check_memory(self) -> Sequence[str]:
        """What of the memory does not fit together: nodes of days without entries. There is no index beside the entries."""
        return without_entries([one.key for one in self._memory.nodes if one.kind == "day"], self.memory_days())


class NearInMemory:
    """The vectors of a memory beside a question's (see `log_search.NearInLog`)."""

    def __init__(self, vectors: Mapping[tuple[VectorKind, str], bytes], vector: Sequence[float]) -> None:
        asked = unpack(pack(vector))
        mine = {key: packed for key, packed in sorted(vectors.items()) if asked and len(packed) == 4 * len(asked)}
        cosines = Block(range(len(mine)), b"".join(mine.values()), len(asked)).cosines(asked) if mine else ()
        self._cosines = {key: float(cosine) for key, cosine in zip(mine, cosines, strict=True)}

    def nearest(self, kind: VectorKind, most: int) -> Nearest:
        """What of a kind is nearest."""
        found = sorted(((cosine, one) for (its, one), cosine in self._cosines.items() if its == kind), key=lambda pair: (-pair[0], pair[1]))
        if not found:
            return Nearest()
        cosines = [cosine for cosine, _ in found]
        return Nearest(
            hits=tuple(Near(id=one, cosine=cosine, scope="") for cosine, one in found[:most]),
            lowest=cosines[-1],
            compared=len(found),
            mean=fmean(cosines),
            deviation=pstdev(cosines),
        )

    def cosines(self, kind: VectorKind, ids: Collection[str]) -> Mapping[str, float]:
        """The cosines of some, of those that have a vector."""
        return {one: self._cosines[kind, one] for one in ids if (kind, one) in self._cosines}


class MemoryKeptInMemory(MemoryInMemory):
    """Changes to the memory of a scope (see `keeping.MemoryWriting`)."""

    def _keep_memory(self, memory: MemoryContents) -> None:
        raise NotImplementedError

    def keep_entries(self, entries: Sequence[Entry]) -> int:
        """Keep entries and mark what has to be built anew; how many were new."""
        kept, events, days = self._memory.entries, set(self._memory.events), list[str]()
        for one in entries:
            if one.id in kept or (one.event and one.event in events):
                continue
            kept = kept.insert(one.id, one)
            events.update(filter(None, (one.event,)))
            days.append(one.day)
        self._keep_memory(replace(self._memory, entries=kept, events=frozenset(events)))
        self.mark_stale(touched(days))
        return len(days)

    def drop_entries(self, ids: Collection[str]) -> int:
        """Take entries out for good and mark what has to be built anew; how many there were."""
        there = [found for one in dict.fromkeys(ids) if (found := self._memory.entries.get(one)) is not None]
        kept, events = self._memory.entries, self._memory.events.difference(one.event for one in there)
        for one in there:
            kept = kept.discard(one.id)
        self._keep_memory(replace(self._memory, entries=kept, events=events))
        self.mark_stale(touched([one.day for one in there]))
        return len(there)

    def mark_stale(self, periods: Sequence[Period]) -> None:
        """Have nodes built anew when the memory is compacted next."""
        self._keep_memory(replace(self._memory, stale=self._memory.stale.union(periods)))

    def refile(self, days: Mapping[str, str]) -> None:
        """File entries in other days."""
        kept = self._memory.entries
        for id_, day in days.items():
            if id_ in kept:
                kept = kept.insert(id_, replace(kept[id_], day=day))
        self._keep_memory(replace(self._memory, entries=kept))

    def keep_node(self, node: Node) -> None:
        """Keep a node in place of the one before."""
        nodes = self._memory.nodes.insert(node.period, node)
        self._keep_memory(replace(self._memory, nodes=nodes, stale=self._memory.stale - {node.period}))

    def drop_node(self, period: Period) -> None:
        """Remove a node."""
        self._keep_memory(replace(self._memory, nodes=self._memory.nodes.discard(period), stale=self._memory.stale - {period}))

    def put_memory_file(self, layer: str, name: str, text: str) -> None:
        """Write a text of a layer; an empty one removes it."""
        files = {key: said for key, said in self._memory.files.items() if key != (layer, name)}
        self._keep_memory(replace(self._memory, files={**files, (layer, name): text} if text else files))


def without_entries(nodes: Collection[str], days: Collection[str]) -> list[str]:
    """What is to be said of nodes of days that have no entries."""
    orphans = sorted(set(nodes).difference(days))
    if not orphans:
        return []
    some = ", ".join(orphans[:MOST_NAMED]) + (f" and {len(orphans) - MOST_NAMED:,} more" if len(orphans) > MOST_NAMED else "")
    return [f"nodes of days without entries: {some}"]
