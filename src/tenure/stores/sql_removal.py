"""Reading what forgetting and revoking need of a scope in a SQL database."""

from __future__ import annotations

import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, or_, select

from tenure.keeping import outline_of
from tenure.playbook.removal import run_in_key
from tenure.playbook.run import vote_of
from tenure.ports import LedgerEntry, RunOutline
from tenure.stores import codec, rows
from tenure.stores.expressions import holds_at
from tenure.stores.growth import is_before
from tenure.stores.prepared import fetch, of_scope

_AT_ONCE = 500
_FEW = 12
"""So many strings are looked for by the database itself; more are compared in one pass through the ledger."""

_DIGEST = 64
"""Characters of a digest: what stands for a text is no id."""

_SALTS = select(rows.forgotten_runs.c.salt).where(*of_scope(rows.forgotten_runs)).distinct()

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = (("\\n", " "), ("\\t", " "), ("\\r", " "), ('\\"', '"'), ("\\\\", "\\"))


class SqlRemoval:
    """The part of a look at a scope that says what would go with a run, an origin or a subject (see `ports.Traces`)."""

    _connection: Connection
    _wall: Mapping[str, str]
    _named: list[tuple[int, frozenset[str]]] | None = None

    @abstractmethod
    def _mine(self, table: Any, **columns: object) -> Any: ...

    @abstractmethod
    def ledger(
        self, *, after: int = 0, until: int | None = None, newest_first: bool = False, limit: int | None = None
    ) -> Sequence[LedgerEntry]:
        """Deltas with their arrival numbers in a range."""

    @abstractmethod
    def _entries(self, versions: Iterable[int]) -> list[LedgerEntry]: ...

    def outlines(self, *, before: int | None = None, limit: int = 100) -> Sequence[RunOutline]:
        """Kept runs in short, newest first; with `before` those that arrived before that place."""
        t = rows.runs
        wanted = select(t.c.arrived, t.c.steps, t.c.learned, t.c.body).where(self._mine(t, revoked=False))
        if before is not None:
            wanted = wanted.where(t.c.arrived < before)
        found = self._connection.execute(wanted.order_by(t.c.arrived.desc()).limit(max(limit, 0)))
        return [
            outline_of(codec.run_from_json(body, scope=self._wall["scope"]), place=arrived, steps=steps, learned=learned)
            for arrived, steps, learned, body in found
        ]

    def forgotten_at(self, run_id: str) -> str:
        """When a run was forgotten, ISO 8601; empty if it was not."""
        t = rows.forgotten_runs
        salts = [salt for (salt,) in fetch(self._connection, _SALTS, self._wall)]
        digests = [forgotten_digest(salt, run_id) for salt in salts]
        if not digests:
            return ""
        return str(self._connection.execute(select(func.max(t.c.at)).where(self._mine(t), t.c.digest.in_(digests))).scalar() or "")

    def origins(self) -> Mapping[str, int]:
        """Names of the origins of kept runs, with the number of runs, revoked ones too."""
        t = rows.runs
        found = self._connection.execute(select(t.c.origin, func.count()).where(self._mine(t)).group_by(t.c.origin).order_by(t.c.origin))
        return {name: int(count) for name, count in found}

    def runs_from(self, origins: Collection[str]) -> Sequence[str]:
        """Ids of kept runs of origins with these names, revoked ones too, oldest first."""
        t = rows.runs
        found: list[tuple[int, str]] = []
        for some in _portions(sorted(origins)):
            wanted = select(t.c.arrived, t.c.id).where(self._mine(t), t.c.origin.in_(some))
            found += [(arrived, one) for arrived, one in self._connection.execute(wanted)]
        return [one for _, one in sorted(found)]

    def revoked_runs(self) -> Sequence[str]:
        """Ids of kept runs that are revoked, oldest first."""
        t = rows.runs
        return list(self._connection.execute(select(t.c.id).where(self._mine(t, revoked=True)).order_by(t.c.arrived)).scalars())

    def spoken_on(self, vote: str, lessons: Collection[str], *, but: str) -> frozenset[str]:
        """Which of these lessons a run of an untrusted origin has already been shown, cited or given rise to, another one left out."""
        t = rows.runs
        same = t.c.origin >= vote, t.c.origin < f"{vote}0"  # the name itself, and all documents below it: '0' follows '/'
        found: set[str] = set()
        for table in (rows.exposures, rows.sources):
            of_run = (table.c.tenant == t.c.tenant, table.c.scope == t.c.scope, table.c.run_id == t.c.id)
            for some in _portions(sorted(lessons)):
                wanted = select(table.c.lesson_id, t.c.origin).where(
                    self._mine(table), table.c.lesson_id.in_(some), table.c.run_id != but, *of_run, *same
                )
                found.update(one for one, name in self._connection.execute(wanted.distinct()) if vote_of(name) == vote)
        return frozenset(found)

    def ledger_naming(self, ids: Collection[str]) -> Sequence[LedgerEntry]:
        """Deltas in whose records any of these ids stands (of lessons made or named, of runs and observations), oldest first."""
        return self._entries(self._versions_naming(ids))

    def _versions_naming(self, ids: Collection[str]) -> set[int]:
        t = rows.ledger
        x = rows.ledger_texts
        escaped = {json.dumps(one)[1:-1] for one in ids}
        if not escaped:
            return set()
        # What is recorded of a revision is a text, and names runs.
        told = func.substr(x.c.text, 1, 1) == "{"
        if len(escaped) <= _FEW:
            stands = or_(*(holds_at(t.c.payload, one) > 0 for one in sorted(escaped)))
            found = set(self._connection.execute(select(t.c.version).where(self._mine(t), stands)).scalars())
            stands = or_(*(holds_at(x.c.text, one) > 0 for one in sorted(ids)))
            found.update(self._connection.execute(select(x.c.version).where(self._mine(x), told, stands)).scalars())
        else:
            found = {version for version, named in self._names_in_records() if not escaped.isdisjoint(named)}
            texts = self._connection.execute(select(x.c.version, x.c.text).where(self._mine(x), told))
            found |= {version for version, text in texts if not escaped.isdisjoint(_QUOTED.findall(text))}
        r = rows.records
        for some in _portions(sorted(ids)):
            made = select(t.c.version).join(r, (r.c.tenant == t.c.tenant) & (r.c.scope == t.c.scope) & (r.c.delta_id == t.c.delta_id))
            found.update(self._connection.execute(made.where(self._mine(r), r.c.key.in_(some))).scalars())
        return found

    def _names_in_records(self) -> list[tuple[int, frozenset[str]]]:
        """The ids that stand in each record of the ledger, escaped; read once in a transaction, until one is written anew."""
        if self._named is None:
            t = rows.ledger
            self._named = []
            for version, payload in self._connection.execute(select(t.c.version, t.c.payload).where(self._mine(t))):
                said = {one for one in _QUOTED.findall(payload) if len(one) != _DIGEST}
                said.update([run for one in said if (run := run_in_key(one))])
                self._named.append((version, frozenset(said)))
        return self._named

    def ledger_holding(self, stands_in: Callable[[str], bool]) -> Sequence[LedgerEntry]:
        """Deltas in which a text is of a kind, oldest first. Cost follows the ledger."""
        t, s = rows.ledger, rows.ledger_texts
        texts = self._connection.execute(select(s.c.version, s.c.text).where(self._mine(s)))
        found = {version for version, text in texts if stands_in(text)}
        payloads = self._connection.execute(select(t.c.version, t.c.payload).where(self._mine(t)))
        for version, payload in payloads:
            # In a record characters beyond ASCII stand escaped.
            if version not in found and stands_in(_readable(json.dumps(json.loads(payload), ensure_ascii=False))):
                found.add(version)
        return self._entries(found)

    def runs_holding(self, stands_in: Callable[[str], bool]) -> Sequence[str]:
        """Ids of kept runs in which a text is of a kind, oldest first. Cost follows all that is kept."""
        t, s = rows.runs, rows.steps
        found = {one for one, body in self._connection.execute(select(t.c.id, t.c.body).where(self._mine(t))) if stands_in(_readable(body))}
        steps = self._connection.execute(select(s.c.run_id, s.c.body).where(self._mine(s)))
        found |= {one for one, body in steps if one not in found and stands_in(_readable(body))}
        arrived: list[tuple[int, str]] = []
        for some in _portions(sorted(found)):
            wanted = select(t.c.arrived, t.c.id).where(self._mine(t), t.c.id.in_(some))
            arrived += [(place, one) for place, one in self._connection.execute(wanted)]
        return [one for _, one in sorted(arrived)]

    def runs_before(self, moment: str) -> Sequence[str]:
        """Ids of kept runs that ended, or began, before a moment, oldest first. Cost follows the number of runs."""
        t = rows.runs
        limit = datetime.fromisoformat(moment)
        found = self._connection.execute(select(t.c.id, t.c.body).where(self._mine(t)).order_by(t.c.arrived))
        dated = ((one, json.loads(body)) for one, body in found)
        return [one for one, body in dated if is_before(body.get("ended") or body.get("started") or "", limit)]

    def settings_kept(self) -> Mapping[str, str]:
        """All settings of the scope, by name."""
        t = rows.settings
        found = self._connection.execute(select(t.c.name, t.c.value).where(self._mine(t)).order_by(t.c.name))
        return {str(name): str(value) for name, value in found}


def forgotten_digest(salt: str, run_id: str) -> str:
    """What stands for a forgotten run."""
    return hashlib.sha256(f"{salt}\n{run_id}".encode("utf-8", "surrogatepass")).hexdigest()


def _readable(text: str) -> str:
    """JSON with the commonest escapes as what they stand for."""
    if "\\" in text:
        for escape, character in _ESCAPES:
            text = text.replace(escape, character)
    return text


def _portions(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
