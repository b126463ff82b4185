"""Changes that wait in a SQL database, and the proof of its ledger."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from tenure.governance.ledger_check import LedgerCheck, Row, TextRow, Walk
from tenure.playbook.lessons import Lesson
from tenure.playbook.statements import proposal_key, statement_key
from tenure.ports import HeldChange
from tenure.stores import codec, rows
from tenure.stores.expressions import whole_key
from tenure.stores.prepared import change, fetch_among, put

TOLD_EVERY = 1_000
"""Deltas after which a walk over the ledger says how far it is."""


class SqlWaiting:
    """The part of a look at a scope that concerns changes that wait (see `ports.Waiting`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    def _mine(self, table: Any, **columns: object) -> Any:
        raise NotImplementedError

    def _one(self, column: Any, **where: object) -> Any:
        raise NotImplementedError

    @abstractmethod
    def merged(self) -> int:
        """See `ports.Sharing`."""

    @abstractmethod
    def vouched(self) -> Mapping[str, Mapping[int, str]]:
        """See `ports.Sharing`."""

    def held(self, *, state: str = "open") -> Sequence[HeldChange]:
        """Held changes in a state, oldest first."""
        t = rows.held
        found = self._connection.execute(select(t.c.body).where(self._mine(t, state=state))).scalars()
        return sorted(map(codec.held_from_json, found), key=lambda change: (change.at, change.id))

    def held_change(self, change: str) -> HeldChange | None:
        """The held change of an id, whatever its state."""
        body = self._one(rows.held.c.body, id=change)
        return None if body is None else codec.held_from_json(body)

    def held_named(self, ids: Collection[str]) -> Mapping[str, HeldChange]:
        """The held changes of some ids, whatever their states."""
        t = rows.held
        bodies = (body for some in _portions(ids) for (body,) in fetch_among(self._connection, (t.c.body,), self._wall, "id", some))
        return {one.id: one for one in map(codec.held_from_json, bodies)}

    def held_lessons(self) -> Sequence[Lesson]:
        """Lessons that stand in the playbook as held, sorted by id."""
        t = rows.lessons
        bodies = self._connection.execute(select(t.c.body).where(self._mine(t, status="held")).order_by(t.c.id)).scalars()
        return sorted((codec.lesson_from_json(body) for body in bodies), key=lambda lesson: lesson.id)

    def held_saying(self, keys: Collection[str]) -> Sequence[str]:
        """Ids of held lessons and of open changes that say what a key stands for, sorted."""
        wanted = sorted(set(keys) - {""})
        if not wanted:
            return []
        t = rows.held_statements
        return sorted({one for (one,) in fetch_among(self._connection, (t.c.id,), self._wall, "says", wanted)})

    def check_ledger(self, *, tell: Callable[[int], None] | None = None) -> LedgerCheck:
        """Whether the hash chains are whole: ledger and texts are read side by side, a row at a time."""
        t, s, h, c = rows.ledger, rows.ledger_texts, rows.ledger_heads, rows.scopes
        heads = {
            str(writer): (int(count), str(digest))
            for writer, count, digest in self._connection.execute(select(h.c.writer, h.c.count, h.c.digest).where(self._mine(h)))
        }
        walk = Walk(heads, int(self._one(c.c.version) or 0), self.vouched(), merged=self.merged())
        link = (t.c.version, t.c.writer, t.c.seq, t.c.previous, t.c.payload, t.c.digest)
        columns = (*link, t.c.delta_id, t.c.delta_key, t.c.effective, t.c.imported)
        links = self._streamed(select(*columns).where(self._mine(t)).order_by(t.c.version))
        texts = _Texts(self._streamed(select(s.c.version, s.c.digest, s.c.salt, s.c.text).where(self._mine(s)).order_by(s.c.version)))
        for number, row in enumerate(links, 1):
            version, writer, seq, previous, payload, digest, delta, key, effective, imported = row
            walk.see(
                Row(
                    version=version,
                    writer=writer,
                    seq=seq,
                    previous=previous,
                    payload=payload,
                    digest=digest,
                    delta=delta,
                    key=whole_key(key, payload),
                    effective=bool(effective),
                    imported=bool(imported),
                ),
                texts.of(version),
            )
            if tell is not None and number % TOLD_EVERY == 0:
                tell(number)
        return walk.end(strays=texts.strays())

    def verify_ledger(self) -> Sequence[str]:
        """What is wrong with the hash chains of the scope."""
        return [
            f"{f'writer {one.writer}, ' if one.writer else ''}version {one.version}: {one.problem}" for one in self.check_ledger().broken
        ]

    def _streamed(self, wanted: Any) -> Iterator[Any]:
        yield from self._connection.execute(wanted, execution_options={"stream_results": True, "yield_per": TOLD_EVERY})


class _Texts:
    """Texts in the order of their versions, handed out version by version; those of no delta are set apart."""

    def __init__(self, found: Iterator[Any]) -> None:
        self._groups = groupby(found, key=lambda row: int(row[0]))
        self._next: tuple[int, list[TextRow]] | None = None
        self._strays: list[int] = []
        self._advance()

    def _advance(self) -> None:
        version, group = next(self._groups, (0, None))
        self._next = None
        if group is not None:
            self._next = (version, [TextRow(version=version, digest=digest, salt=salt, text=text) for _, digest, salt, text in group])

    def of(self, version: int) -> Sequence[TextRow]:
        """The texts of a version; versions are asked for in rising order."""
        while self._next is not None and self._next[0] < version:
            self._strays += [self._next[0]] if len(self._strays) < TOLD_EVERY else []
            self._advance()
        if self._next is None or self._next[0] != version:
            return ()
        found = self._next[1]
        self._advance()
        return found

    def strays(self) -> Sequence[int]:
        """Versions that have texts and no delta, once all deltas were asked for."""
        if self._next is not None:
            self._strays.append(self._next[0])
        return self._strays


class SqlDeciding(SqlWaiting):
    """The part of a transaction that concerns changes that wait (see `ports.Deciding`)."""

    def hold(self, waits: HeldChange) -> None:
        """Put an operation into the review queue. What is there under its id stays: learning a run again re-opens nothing."""
        if self._one(rows.held.c.state, id=waits.id) is None:
            self.amend(waits)

    def decide(self, held_id: str, *, state: str, decided: str) -> None:
        """Close a held change; one that is closed, or not there, stays as it is."""
        body = self._one(rows.held.c.body, id=held_id, state="open")
        if body is not None:
            self.amend(replace(codec.held_from_json(body), state=state, decided=decided))

    def amend(self, *changes: HeldChange) -> None:
        """Write held changes anew, or for the first time; a statement serves all of them."""
        said = {change.id: change for change in changes}
        values = [
            {**self._wall, "id": one.id, "state": one.state, "run_id": one.run, "body": codec.held_to_json(one)} for one in said.values()
        ]
        known = self._there(rows.held, said)
        change(self._connection, _ANEW, [{f"new_{name}": held for name, held in row.items()} for row in values if row["id"] in known])
        put(self._connection, rows.held, [row for row in values if row["id"] not in known])
        # What a held lesson says is kept with the lesson, whatever becomes of its place in the queue.
        lessons = self._there(rows.lessons, said)
        self._say({one: proposal_key(said[one].operation) if said[one].state == "open" else "" for one in said if one not in lessons})

    def _there(self, table: Any, ids: Collection[str]) -> set[str]:
        """Which of some ids a table has."""
        return {one for some in _portions(ids) for (one,) in fetch_among(self._connection, (table.c.id,), self._wall, "id", some)}

    def _keep_statements(self, before: Mapping[str, Lesson], after: Mapping[str, Lesson | None]) -> None:
        """Keep what held lessons say where it can be looked up; of others there is nothing to keep."""
        keys: dict[str, str] = {}
        for one, lesson in after.items():
            was = before.get(one)
            held = lesson is not None and lesson.status == "held"
            if held or (was is not None and was.status == "held"):
                keys[one] = statement_key(lesson) if lesson is not None and held else ""
        self._say(keys)

    def _say(self, keys: Mapping[str, str]) -> None:
        """Keep what some ids say, in place of what they said; an empty key keeps nothing."""
        change(self._connection, _SAID, [{**self._wall, "said": one} for one in keys])
        put(self._connection, rows.held_statements, [{**self._wall, "says": key, "id": one} for one, key in keys.items() if key])


_AT_ONCE = 500


def _portions(ids: Collection[str]) -> Iterator[Sequence[str]]:
    wanted = sorted(ids)
    return (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE))


def _anew() -> Any:
    t = rows.held
    mine = [t.c[name] == bindparam(f"new_{name}") for name in ("tenant", "scope", "id")]
    return update(t).where(*mine).values({name: bindparam(f"new_{name}") for name in ("state", "run_id", "body")})


def _said() -> Any:
    t = rows.held_statements
    return delete(t).where(t.c.tenant == bindparam("tenant"), t.c.scope == bindparam("scope"), t.c.id == bindparam("said"))


_ANEW, _SAID = _anew(), _said()
