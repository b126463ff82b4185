"""The memory of a scope in a SQL database: rows of entries, nodes and texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, delete, func, select, update

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.nodes import Node
from tenure.memory_tree.periods import Kind, Period, touched
from tenure.memory_tree.topics import Topic
from tenure.ports import Found, Nearest, VectorKind
from tenure.stores import rows
from tenure.stores.dialect import DatedLog, Dialect
from tenure.stores.expressions import json_part
from tenure.stores.log_search import find_in_log, session_name
from tenure.stores.memory_codec import entry_body, entry_of, node_body, node_of, topics_of
from tenure.stores.memory_in_memory import without_entries
from tenure.stores.prepared import change, fetch, fetch_among, put
from tenure.stores.sql_vectors import drop_stale
from tenure.stores.vectors import is_own

_KINDS: tuple[Kind, ...] = ("day", "week", "month")
_AT_ONCE = 400

_E, _N, _F = rows.memory_entries, rows.memory_nodes, rows.memory_files


class SqlMemory:
    """The part of a look at a scope that concerns its memory (see `keeping.MemoryReading`)."""

    _connection: Connection
    _dialect: Dialect
    _wall: Mapping[str, str]
    _known_log: DatedLog | None = None
    _writing = False

    def entries(self, *, day: str = "", limit: int | None = None) -> Sequence[Entry]:
        """Raw entries of a day, or of all days, in order; with a limit only the newest."""
        wanted = select(_E.c.body).where(_E.c.tenant == self._wall["tenant"], _E.c.scope == self._wall["scope"])
        if day:
            wanted = wanted.where(_E.c.day == day)
        if limit is None:
            return [entry_of(body) for body in self._connection.execute(wanted.order_by(_E.c.at, _E.c.id)).scalars()]
        newest = wanted.order_by(_E.c.at.desc(), _E.c.id.desc()).limit(limit)
        return [entry_of(body) for body in self._connection.execute(newest).scalars()][::-1]

    def find_in_log(self, text: str, *, limit: int, model: str = "", vector: Sequence[float] | None = None) -> tuple[Found, Found]:
        """The sessions that answer a text, and the entries that do."""
        log = self._log()
        if log is None:
            return Found(), Found()
        near = None if vector is None else _Near(self, model, vector)
        return find_in_log(log, text, limit=limit, near=near)

    def near_in_log(self, kind: VectorKind, vector: Sequence[float], *, model: str, limit: int) -> Nearest:
        """What of the memory is nearest to a vector."""
        scopes = (self._wall["scope"],)
        return self._dialect.nearest(self._connection, scopes, vector, model=model, kind=kind, limit=limit, writing=self._writing)

    def cosines_in_log(self, kind: VectorKind, ids: Collection[str], *, model: str, vector: Sequence[float]) -> Mapping[str, float]:
        """The cosines of some of the memory with a vector."""
        return self._dialect.cosines(self._connection, self._wall["scope"], kind, ids, model=model, vector=vector)

    def sessions_on(self, day: str, names: Collection[str]) -> Mapping[int, tuple[Entry, ...]]:
        """The sessions of some names on a day, by their place in it."""
        log = self._log()
        if log is None:
            return {}
        held = log.on_day(day)
        places = {name: place for place, name in enumerate(dict.fromkeys(name for name, _ in held), 1)}
        wanted = {row: places[name] for name, row in held if name in names}
        found: dict[int, list[Entry]] = {}
        bodies = log.bodies(list(wanted))
        for row, place in wanted.items():
            found.setdefault(place, []).append(entry_of(bodies[row]))
        return {place: tuple(some) for place, some in found.items()}

    def memory_topics(self) -> Sequence[Topic]:
        """Topics of all months, as they were last built."""
        bodies = self._connection.execute(_TOPICS, self._wall).scalars()
        return [topic for body in bodies for topic in topics_of(body)]

    def _log(self) -> DatedLog | None:
        if self._known_log is None and (wall := self._wall_number()) is not None:
            self._known_log = self._dialect.log(self._connection, wall, (self._wall["tenant"], self._wall["scope"]))
        return self._known_log

    def memory_days(self) -> Sequence[str]:
        """Days that have entries, in order."""
        return [str(day) for day in self._connection.execute(_DAYS, self._wall).scalars()]

    def node(self, period: Period) -> Node | None:
        """A node as it was last built."""
        found = fetch(self._connection, _NODE, {**self._wall, "kind": period.kind, "key": period.key})
        return node_of(period, found[0][0]) if found and found[0][0] else None

    def nodes(self, kind: Kind) -> Sequence[Node]:
        """All nodes of a kind, in order."""
        found = fetch(self._connection, _NODES, {**self._wall, "kind": kind})
        return [node_of(Period(kind, key), body) for key, body in found if body]

    def stale_periods(self) -> Sequence[Period]:
        """What entries arrived in since it was last built."""
        found = [Period(kind, key) for kind, key in fetch(self._connection, _STALE, self._wall)]
        return sorted(found, key=lambda one: (_KINDS.index(one.kind), one.key))

    def memory_file(self, layer: str, name: str = "") -> str:
        """A text of a layer; empty if there is none."""
        found = fetch(self._connection, _FILE, {**self._wall, "layer": layer, "name": name})
        return str(found[0][0]) if found else ""

    def memory_files(self, layer: str) -> Sequence[str]:
        """Names of a layer's texts, sorted."""
        return [str(name) for (name,) in fetch(self._connection, _FILES, {**self._wall, "layer": layer})]

    def memory_texts(self) -> Mapping[tuple[str, str], str]:
        """The texts of all layers by layer and name, sorted."""
        return {(layer, name): said for layer, name, said in fetch(self._connection, _TEXTS, self._wall)}

    def check_memory(self) -> Sequence[str]:
        """What of the memory does not fit together: rows of the text index, and nodes of days without entries."""
        own = {int(n) for (n,) in fetch(self._connection, _NUMBERS, self._wall)}
        wall = self._wall_number()
        indexed = set(self._dialect.indexed_entries(self._connection, wall)) if wall is not None else set()
        wrong: list[str] = []
        if own - indexed:
            wrong.append(f"entries that are not in the text index, so that recall does not find them: {len(own - indexed):,}")
        if indexed - own:
            wrong.append(f"rows of the text index that belong to no entry: {len(indexed - own):,}")
        built = [key for key, body in fetch(self._connection, _NODES, {**self._wall, "kind": "day"}) if body]
        return [*wrong, *without_entries(built, self.memory_days())]

    def _count_nodes(self) -> int:
        """How many nodes were built."""
        return int(fetch(self._connection, _BUILT, {**self._wall, "least": 0})[0][0])

    def _wall_number(self) -> int | None:
        """The number of the scope, by which its rows in the text index are known; none before anything is written in it."""
        found = self._connection.execute(
            select(rows.scopes.c.n).where(rows.scopes.c.tenant == self._wall["tenant"], rows.scopes.c.scope == self._wall["scope"])
        ).scalar()
        return None if found is None else int(found)


class _Near:
    """The vectors of a memory beside a question's (see `log_search.NearInLog`)."""

    def __init__(self, look: SqlMemory, model: str, vector: Sequence[float]) -> None:
        self._look, self._model, self._vector = look, model, vector

    def nearest(self, kind: VectorKind, most: int) -> Nearest:
        """What of a kind is nearest."""
        return self._look.near_in_log(kind, self._vector, model=self._model, limit=most)

    def cosines(self, kind: VectorKind, ids: Collection[str]) -> Mapping[str, float]:
        """The cosines of some, of those that have a vector."""
        return self._look.cosines_in_log(kind, ids, model=self._model, vector=self._vector)


class SqlMemoryKeeping(SqlMemory):
    """Changes to the memory of a scope (see `keeping.MemoryWriting`)."""

    _scope_row: int

    def keep_entries(self, entries: Sequence[Entry]) -> int:
        """Keep entries and mark what has to be built anew; how many were new."""
        new: dict[str, Entry] = {}
        events = set[str]()
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            known = {one for (one,) in fetch_among(self._connection, (_E.c.id,), self._wall, "id", [one.id for one in some])}
            asked = [one.event for one in some if one.event]
            if asked:
                events.update(one for (one,) in fetch_among(self._connection, (_E.c.event,), self._wall, "event", asked))
            for one in some:
                if one.id not in known and one.id not in new and not (one.event and one.event in events):
                    new[one.id] = one
                    events.update(filter(None, (one.event,)))
        added = list(new.values())
        put(
            self._connection,
            _E,
            [
                {
                    **self._wall,
                    "id": one.id,
                    "at": one.at,
                    "day": one.day,
                    "event": one.event or None,
                    "body": entry_body(one),
                    "session": one.session,
                    "own": is_own(one.role),
                }
                for one in added
            ],
        )
        self._drop_vectors("session", {session_name(one.day, one.session) for one in added})
        for start in range(0, len(added), _AT_ONCE):
            some = added[start : start + _AT_ONCE]
            numbers = dict(fetch_among(self._connection, (_E.c.id, _E.c.n), self._wall, "id", [one.id for one in some]))
            self._dialect.put_entries(self._connection, self._scope_row, [(numbers[one.id], one.text) for one in some])
        self.mark_stale(touched([one.day for one in added]))
        return len(added)

    def drop_entries(self, ids: Collection[str]) -> int:
        """Take entries out for good, with their words in the index, and mark what has to be built anew; how many there were."""
        wanted, there = sorted(set(ids)), list[tuple[int, str, str, str]]()
        for start in range(0, len(wanted), _AT_ONCE):
            columns = (_E.c.n, _E.c.id, _E.c.day, _E.c.session)
            there += fetch_among(self._connection, columns, self._wall, "id", wanted[start : start + _AT_ONCE])
        there = sorted(set(there))
        self._dialect.remove_entries(self._connection, [n for n, *_ in there])
        change(self._connection, _DROP_ENTRY, [{**self._wall, "n": n} for n, *_ in there])
        self._drop_vectors("entry", {one for _, one, _, _ in there})
        self._drop_vectors("session", {session_name(day, session) for *_, day, session in there})
        self.mark_stale(touched([day for *_, day, _ in there]))
        self._mark_unscrubbed()
        return len(there)

    def _drop_vectors(self, kind: VectorKind, ids: Collection[str]) -> None:
        drop_stale(self._connection, self._wall["scope"], kind, sorted(ids))

    @abstractmethod
    def _mark_unscrubbed(self) -> None: ...

    def mark_stale(self, periods: Sequence[Period]) -> None:
        """Have nodes built anew when the memory is compacted next."""
        for period in periods:
            named = {"where_tenant": self._wall["tenant"], "where_scope": self._wall["scope"]}
            if not change(self._connection, _MARK, [{**named, "where_kind": period.kind, "where_key": period.key, "stale": True}]):
                put(self._connection, _N, [{**self._wall, "kind": period.kind, "key": period.key, "stale": True, "body": ""}])

    def refile(self, days: Mapping[str, str]) -> None:
        """File entries in other days."""
        ids = sorted(days)
        for start in range(0, len(ids), _AT_ONCE):
            held = dict(fetch_among(self._connection, (_E.c.id, _E.c.body), self._wall, "id", ids[start : start + _AT_ONCE]))
            before = [entry_of(body) for body in held.values()]
            moved = [replace(one, day=days[one.id]) for one in before]
            self._drop_vectors("session", {session_name(one.day, one.session) for one in (*before, *moved)})
            named = {"where_tenant": self._wall["tenant"], "where_scope": self._wall["scope"]}
            change(self._connection, _REFILE, [{**named, "where_id": one.id, "day": one.day, "body": entry_body(one)} for one in moved])

    def keep_node(self, node: Node) -> None:
        """Keep a node in place of the one before."""
        self.drop_node(node.period)
        period = node.period
        put(self._connection, _N, [{**self._wall, "kind": period.kind, "key": period.key, "stale": False, "body": node_body(node)}])

    def drop_node(self, period: Period) -> None:
        """Remove a node."""
        change(self._connection, _DROP, [{**self._wall, "kind": period.kind, "key": period.key}])

    def put_memory_file(self, layer: str, name: str, text: str) -> None:
        """Write a text of a layer; an empty one removes it."""
        change(self._connection, _DROP_FILE, [{**self._wall, "layer": layer, "name": name}])
        if text:
            put(self._connection, _F, [{**self._wall, "layer": layer, "name": name, "text": text}])


def _each_day() -> Select[tuple[str]]:
    """The days of a scope, each looked up after the one before it: reading every entry's day takes as long as there are entries."""
    own = (_E.c.tenant == bindparam("tenant"), _E.c.scope == bindparam("scope"))
    days = select(func.min(_E.c.day).label("day")).where(*own).cte("days", recursive=True)
    following = select(func.min(_E.c.day)).where(*own, _E.c.day > days.c.day).scalar_subquery()
    days = days.union_all(select(following).where(days.c.day.is_not(None)))
    return select(days.c.day).where(days.c.day.is_not(None))


def _own(table: Table, *names: str, prefix: str = "") -> list[ColumnElement[bool]]:
    return [table.c[name] == bindparam(f"{prefix}{name}") for name in ("tenant", "scope", *names)]


_DAYS = _each_day()
_NODE = select(_N.c.body).where(*_own(_N, "kind", "key"))
_NODES = select(_N.c.key, _N.c.body).where(*_own(_N, "kind")).order_by(_N.c.key)
_TOPICS = select(json_part(_N.c.body, "topics")).where(*_own(_N), _N.c.kind == "month", _N.c.body != "").order_by(_N.c.key)
_STALE = select(_N.c.kind, _N.c.key).where(*_own(_N), _N.c.stale)
_MARK = update(_N).where(*_own(_N, "kind", "key", prefix="where_")).values(stale=bindparam("stale"))
_REFILE = update(_E).where(*_own(_E, "id", prefix="where_")).values(day=bindparam("day"), body=bindparam("body"))
_DROP = delete(_N).where(*_own(_N, "kind", "key"))
_BUILT = select(func.count()).select_from(_N).where(*_own(_N), func.length(_N.c.body) > bindparam("least"))
_NUMBERS = select(_E.c.n).where(*_own(_E))
_DROP_ENTRY = delete(_E).where(*_own(_E, "n"))
_TEXTS = select(_F.c.layer, _F.c.name, _F.c.text).where(*_own(_F)).order_by(_F.c.layer, _F.c.name)
_FILE = select(_F.c.text).where(*_own(_F, "layer", "name"))
_FILES = select(_F.c.name).where(*_own(_F, "layer")).order_by(_F.c.name)
_DROP_FILE = delete(_F).where(*_own(_F, "layer", "name"))
