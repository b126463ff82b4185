"""Lessons of a scope and its parents in a SQL database.

A look at a small playbook reads it once, whole: what a context asks for (the core, what came since, what the search finds, what most
runs support) is most of it anyway. Of a large one, each question reads its own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, and_, bindparam, func, literal_column, or_, select

from tenure.playbook.lessons import Brief, Lesson, Tallies
from tenure.ports import CaseHit, Hit
from tenure.stores import codec, rows
from tenure.stores.dialect import Dialect, Searchable
from tenure.stores.prepared import fetch, fetch_among, of_scope
from tenure.stores.scopes import parents, tenant
from tenure.stores.weighing import Weighed

LIVE = ("provisional", "active")
"""Statuses of lessons that an agent can be shown."""

SMALL = 500
"""Live lessons of a scope and its parents up to which a look reads them all at once."""

MANY = 32
"""Lessons from which on it is worth reading a small playbook whole, where they are asked for by name."""

_AT_ONCE = 500

_Value = TypeVar("_Value")


def portions(ids: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    """Values in portions that a statement can hold."""
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))


class Standing(NamedTuple):
    """A live lesson as it stands in the database.

    Attributes:
        row: its number in the text index.
        scope: where it stands.
        came: version of the delta that brought it.
        lesson: the lesson.
    """

    row: int
    scope: str
    came: int
    lesson: Lesson


class SqlLessons:
    """The part of a look at a scope that concerns lessons, and what is found by words (see `ports.Reading`)."""

    _connection: Connection
    _dialect: Dialect
    _scope: str
    _wall: Mapping[str, str]
    _writing: bool

    # What a look has read. A transaction that writes reads it anew each time: it may have changed it.
    _read: tuple[Standing, ...] | None = None
    _walls: Mapping[int, str] | None = None
    _size: int | None = None

    def _mine(self, table: Any, **columns: object) -> Any:
        raise NotImplementedError

    def _one(self, column: Any, **where: object) -> Any:
        raise NotImplementedError

    # -- a small playbook, whole ---------------------------------------------------------------------

    @property
    def _line(self) -> tuple[str, ...]:
        """The scope and its parents, nearest first."""
        return (self._scope, *parents(self._scope))

    def _in_line(self) -> dict[str, object]:
        """Values for statements that ask for the scope and its parents."""
        return {"tenant": tenant(self._scope), **{f"scope_{place}": scope for place, scope in enumerate(self._line)}}

    def _size_in_line(self) -> int:
        """How many live lessons the scope and its parents have."""
        if self._size is None or self._writing:
            ((found,),) = fetch(self._connection, _size(len(self._line)), self._in_line())
            self._size = int(found or 0)
        return self._size

    def _whole(self) -> Sequence[Standing] | None:
        """All live lessons of the scope and its parents, those of the nearest first, each sorted by id; none if they are many.

        They are read once for a look. A transaction that writes reads nothing ahead.
        """
        if self._writing or self._size_in_line() > SMALL:
            return None
        if self._read is None:
            found = fetch(self._connection, _standing(len(self._line)), self._in_line()) if self._size_in_line() else []
            place = {scope: number for number, scope in enumerate(self._line)}
            read = (Standing(n, scope, came, codec.lesson_from_json(body)) for n, scope, came, body in found)
            self._read = tuple(sorted(read, key=lambda one: (place[one.scope], one.lesson.id)))
        return self._read

    def _are_most(self, ids: Collection[str]) -> bool:
        """Whether these are so many lessons of a small playbook that what is kept of all is read as soon as what is kept of them."""
        return len(ids) >= MANY and self._size_in_line() <= SMALL

    def _whole_if_read(self) -> Sequence[Standing] | None:
        """All live lessons of the scope and its parents, where this look has read them already."""
        return self._read

    # -- by name, by age, by what they rest on -------------------------------------------------------

    def lessons(self, *, live: bool = True) -> Sequence[Lesson]:
        """The scope's lessons, sorted by id."""
        whole = self._whole_if_read() if live else None
        if whole is not None:
            return [one.lesson for one in whole if one.scope == self._scope]
        return self._lessons_of(self._scope, live=live)

    def _lessons_of(self, scope: str, *, live: bool) -> list[Lesson]:
        t = rows.lessons
        wanted = select(t.c.body).where(t.c.tenant == tenant(scope), t.c.scope == scope).order_by(t.c.id)
        if live:
            wanted = wanted.where(t.c.status.in_(LIVE))
        return sorted((codec.lesson_from_json(body) for body in self._connection.execute(wanted).scalars()), key=lambda lesson: lesson.id)

    def briefs(self) -> Sequence[Brief]:
        """What is needed to rank the scope's live lessons, sorted by id."""
        return [
            Brief(
                id=lesson_id,
                section=section,
                pinned=bool(pinned),
                created=created,
                updated=updated,
                tallies=Tallies(helpful=helpful, harmful=harmful, neutral=neutral, support=support),
                tokens=tokens,
            )
            for lesson_id, section, pinned, created, updated, helpful, harmful, neutral, support, tokens in fetch(
                self._connection, _briefs(), self._wall
            )
        ]

    def named(self, ids: Collection[str]) -> Mapping[str, Lesson]:
        """The scope's lessons with these ids, whatever their status."""
        whole = self._whole() if self._are_most(ids) else self._whole_if_read()
        live = {one.lesson.id: one.lesson for one in whole or () if one.scope == self._scope}
        found = {one: live[one] for one in sorted(ids) if one in live}
        t = rows.lessons
        for some in portions(sorted(set(ids) - found.keys())):
            for lesson_id, body in fetch_among(self._connection, (t.c.id, t.c.body), self._wall, "id", some):
                found[lesson_id] = codec.lesson_from_json(body)
        return found

    def since(self, version: int) -> Sequence[Lesson]:
        """Live lessons that came after a version, in the order in which they came."""
        whole = self._whole_if_read()
        if whole is not None:
            mine = sorted((one for one in whole if one.scope == self._scope and one.came > version), key=lambda one: one.came)
            return [one.lesson for one in mine]
        return [codec.lesson_from_json(body) for (body,) in fetch(self._connection, _since(), {**self._wall, "version": version})]

    def supported(self, *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope and its parents, those that most runs support first."""
        whole = self._whole()
        if whole is not None:
            return sorted((one.lesson for one in whole), key=best_supported)[: max(limit, 0)]
        found: list[Lesson] = []
        for scope in self._line:  # one by one, because the index is in their order
            here = {"tenant": tenant(scope), "scope": scope, "most": limit, "skipped": 0}
            found += (codec.lesson_from_json(body) for (body,) in fetch(self._connection, _supported(), here))
        return sorted(found, key=best_supported)[: max(limit, 0)]

    def near(self, runs: Collection[str], tools: Collection[str], *, limit: int) -> Sequence[Lesson]:
        """Live lessons that rest on these runs or are about errors of these tools, best supported first."""
        whole = self._whole() if runs or tools else ()
        if whole is not None:
            return self._near_of(whole, runs, tools, limit)
        t, s = rows.lessons, rows.sources
        inside = (t.c.tenant == tenant(self._scope), t.c.scope.in_(self._line), t.c.status.in_(LIVE))
        # Apart, because each of the two has an index and their union has none.
        wanted = []
        if runs:
            resting = and_(s.c.tenant == t.c.tenant, s.c.scope == t.c.scope, s.c.lesson_id == t.c.id)
            of_runs = select(t.c.id, t.c.scope, t.c.support).join(s, resting).where(s.c.tenant == tenant(self._scope))
            wanted.append(of_runs.where(*inside, s.c.scope.in_(self._line), s.c.run_id.in_(list(runs))).distinct())
        if tools:
            # ';' follows ':'
            named = [and_(t.c.about >= f"tool-error:{tool}:", t.c.about < f"tool-error:{tool};") for tool in tools]
            wanted.append(select(t.c.id, t.c.scope, t.c.support).where(*inside, or_(*named)))
        found = {
            (lesson_id, scope): support
            for one in wanted
            for lesson_id, scope, support in self._connection.execute(one.order_by(t.c.support.desc(), t.c.id).limit(limit))
        }
        best = sorted(found, key=lambda one: (-found[one], *one))[: max(limit, 0)]
        lessons: list[Lesson] = []
        for scope in {scope for _, scope in best}:
            ids = [lesson_id for lesson_id, of in best if of == scope]
            bodies = select(t.c.body).where(t.c.tenant == tenant(scope), t.c.scope == scope, t.c.id.in_(ids))
            lessons += map(codec.lesson_from_json, self._connection.execute(bodies).scalars())
        return sorted(lessons, key=best_supported)

    def _near_of(self, whole: Sequence[Standing], runs: Collection[str], tools: Collection[str], limit: int) -> list[Lesson]:
        """`near` in a small playbook."""
        s = rows.sources
        resting = {
            (scope, lesson_id)
            for scope in (self._line if whole and runs else ())
            for some in portions(sorted(runs))
            for (lesson_id,) in fetch_among(self._connection, (s.c.lesson_id,), {"tenant": tenant(scope), "scope": scope}, "run_id", some)
        }
        about = tuple(f"tool-error:{tool}:" for tool in tools)
        found = [one for one in whole if (one.scope, one.lesson.id) in resting or (about and one.lesson.about.startswith(about))]
        best = sorted(found, key=lambda one: (-one.lesson.tallies.support, one.lesson.id, one.scope))[: max(limit, 0)]
        return sorted((one.lesson for one in best), key=best_supported)

    def sharing(self, groups: Sequence[Sequence[str]], *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope that hold every word of at least one group of words."""
        wall = self._one(rows.scopes.c.n)
        wanted = [list(group) for group in groups if group]
        if wall is None or not wanted:
            return []
        found = list(self._dialect.find_sharing(self._connection, wall, wanted, limit))
        t = rows.lessons
        bodies = fetch_among(self._connection, (t.c.body,), self._wall, "n", found) if found else ()
        return sorted((codec.lesson_from_json(body) for (body,) in bodies), key=lambda lesson: lesson.id)

    def inherited(self) -> Sequence[tuple[str, Lesson]]:
        """Live lessons of the parent scopes, nearest first."""
        return [(scope, lesson) for scope in parents(self._scope) for lesson in self._lessons_of(scope, live=True)]

    # -- by words ------------------------------------------------------------------------------------

    def search(self, text: str, *, limit: int) -> Sequence[Hit]:
        """Live lessons of the scope and its parents that hold a word or an identifier of a text, best first."""
        found = self._find("lessons", self._line, text, size=self._size_in_line(), limit=limit)
        lessons = self._in_rows([one.row for one in found])
        return [
            Hit(lesson=lesson, score=one.score, scope=scope, words=one.words, identifiers=one.identifiers)
            for one in found
            if one.row in lessons  # of a parent, another transaction may have taken it out meanwhile
            for scope, lesson in (lessons[one.row],)
        ]

    def _in_rows(self, wanted: Sequence[int]) -> Mapping[int, tuple[str, Lesson]]:
        """The lessons in rows of the scope and its parents, each with its scope."""
        whole = self._whole() if wanted else ()
        if whole is not None:
            return {one.row: (one.scope, one.lesson) for one in whole}
        t = rows.lessons
        inside = (t.c.tenant == tenant(self._scope), t.c.scope.in_(self._line))
        bodies = self._connection.execute(select(t.c.n, t.c.scope, t.c.body).where(t.c.n.in_(wanted), *inside))
        return {n: (scope, codec.lesson_from_json(body)) for n, scope, body in bodies}

    def cases_like(self, text: str, *, limit: int) -> Sequence[CaseHit]:
        """Kept runs of the scope whose task's input holds a word or an identifier of a text, best first."""
        t = rows.runs
        size = int(self._one(rows.scopes.c.cases) or 0)  # counted as they come and go: counting them here would read them all
        found = self._find("runs", (self._scope,), text, size=size, limit=limit)
        named = {
            n: (run_id, tools)
            for some in portions([one.row for one in found])
            for n, run_id, tools in fetch_among(self._connection, (t.c.n, t.c.id, t.c.tools), self._wall, "n", some)
        }
        return [
            CaseHit(run=run_id, score=one.score, tools=frozenset(json.loads(tools)), words=one.words, identifiers=one.identifiers)
            for one in found
            for run_id, tools in (named[one.row],)
        ]

    def _find(self, table: Searchable, scopes: Sequence[str], text: str, *, size: int, limit: int) -> Sequence[Weighed]:
        """Rows of some scopes of this tenant that answer a question."""
        if not size:
            return []
        if self._walls is None or self._writing:
            found = fetch(self._connection, _walls(len(self._line)), self._in_line())
            self._walls = {int(n): str(scope) for n, scope in found}
        walls = {n: scope for n, scope in self._walls.items() if scope in scopes}
        return self._dialect.find(self._connection, table, walls, text, tenant=tenant(self._scope), size=size, limit=limit)


def best_supported(lesson: Lesson) -> tuple[int, str]:
    """Sorts lessons by how many runs support them, the most first, then by id."""
    return (-lesson.tallies.support, lesson.id)


# -- statements, made once ---------------------------------------------------------------------------------


def _in_scopes(table: Any, count: int) -> list[Any]:
    """The condition that a row is of one of so many scopes of a tenant."""
    return [table.c.tenant == bindparam("tenant"), table.c.scope.in_([bindparam(f"scope_{place}") for place in range(count)])]


@lru_cache(maxsize=16)
def _size(scopes: int) -> Any:
    return select(func.sum(rows.sizes.c.lessons)).where(*_in_scopes(rows.sizes, scopes))


@lru_cache(maxsize=16)
def _walls(scopes: int) -> Any:
    return select(rows.scopes.c.n, rows.scopes.c.scope).where(*_in_scopes(rows.scopes, scopes))


@lru_cache(maxsize=16)
def _standing(scopes: int) -> Any:
    t = rows.lessons
    return select(t.c.n, t.c.scope, t.c.came, t.c.body).where(*_in_scopes(t, scopes), t.c.status.in_(_live()))


@lru_cache(maxsize=1)
def _briefs() -> Any:
    t = rows.lessons
    ranks = (t.c.pinned, t.c.created, t.c.updated, t.c.helpful, t.c.harmful, t.c.neutral, t.c.support, t.c.tokens)
    return select(t.c.id, t.c.section, *ranks).where(*of_scope(t), t.c.status.in_(_live())).order_by(t.c.id)


@lru_cache(maxsize=1)
def _since() -> Any:
    t = rows.lessons
    new = (t.c.came > bindparam("version"), t.c.status.in_(_live()))
    return select(t.c.body).where(*of_scope(t), *new).order_by(t.c.came, t.c.id)


@lru_cache(maxsize=1)
def _supported() -> Any:
    t = rows.lessons
    best = select(t.c.body).where(*of_scope(t), t.c.status.in_(_live())).order_by(t.c.support.desc(), t.c.id)
    return best.limit(bindparam("most")).offset(bindparam("skipped"))


def _live() -> list[Any]:
    return [literal_column(f"'{status}'") for status in LIVE]
