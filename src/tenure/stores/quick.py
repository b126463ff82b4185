"""Reads what a hook shows straight from a SQLite file: standard library alone, one connection, no writing, no waiting.

A hook of a coding agent has 150 ms with the start of Python in them; loading the database library takes three times that. So
this reads the few rows that are prepared (the core, settings, the text index), by the same walls. It never makes a file.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from math import log1p
from types import SimpleNamespace

from tenure.playbook.blocks import lesson_block, short_ids

TYPE_CHECKING = False  # without `typing`: see `tenure/__init__.py`
if TYPE_CHECKING:
    from typing import Any

WAIT_S = 0.2
"""How long a lock is waited for, in seconds. Readers of a file in WAL form wait for none."""

MOST_WORDS, MOST_HITS = 32, 60
"""Words of a prompt that are looked up, and lessons that are weighed."""

TELLING_WORDS = 12
"""A lesson that holds the rarest so many words of a prompt holds all of it: long prompts are not less like anything."""

LEAST_LIKE = 0.3
"""Share of a prompt that a lesson has to hold to be shown."""

ASKED_WEIGHT = 0.7
"""What a word in the tasks that a lesson came from counts (see `weighing`)."""

_CANNOT_WRITE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL})

_LIVE = "('provisional', 'active')"


class Unreadable(Exception):
    """The database cannot be read now: it is not there, locked, broken, or of another version."""


class QuickLesson(SimpleNamespace):
    """What of a lesson is shown: `id`, `section`, `text`, `applies_when`, `avoid`, and `block`, its lines in a prompt."""

    id: str
    section: str
    text: str
    applies_when: str
    avoid: str


class QuickBook:
    """One scope of a database, opened to look at.

    Args:
        path: of the database file.
        scope: with its tenant.

    Raises:
        Unreadable: see there.
    """

    def __init__(self, path: str, scope: str) -> None:
        self.scope = scope
        self.tenant = scope.partition("/")[0]
        if not os.path.isfile(path):
            raise Unreadable(f"there is no database at {path}")
        quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23").replace("\\", "/")
        try:
            self._connection = _opened(f"file:{quoted if quoted.startswith('/') else f'/{quoted}'}", path)
            self._rows = dict(self._ask("SELECT scope, n FROM scopes WHERE tenant = ?", (self.tenant,)))
        except sqlite3.Error as exc:
            raise Unreadable(f"{path}: {exc}") from exc

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def made(self) -> str:
        """The moment at which the database says it was made; it stays when a copy goes on under a new id."""
        return "".join(str(made) for (made,) in self._fetch("SELECT created FROM installation"))

    def settings(self) -> dict[str, str]:
        """The scope's own settings by name."""
        return dict(self._fetch("SELECT name, value FROM settings WHERE tenant = ? AND scope = ?", (self.tenant, self.scope)))

    def stable(self) -> list[QuickLesson]:
        """The lessons of the core in its order, as they are now, then those that came since; none that is retired, held or revoked."""
        cores = self._fetch("SELECT body FROM cores WHERE tenant = ? AND scope = ?", (self.tenant, self.scope))
        held = json.loads(cores[0][0]) if cores else []
        every = [held] if isinstance(held, dict) else [core for _, core in sorted(held, key=lambda one: one[0])]
        core: Mapping[str, Any] = every[0] if every else {}
        ids = list(dict.fromkeys(line[0] for line in (*core.get("lines", ()), *core.get("tail", ()))))
        version = int(core.get("version", 0))
        mine = (self.tenant, self.scope)
        if not core or core.get("stale"):
            # No core yet, or one that has to be made anew: the surest first, as far as the caller has room.
            rows = self._fetch(
                f"SELECT body FROM lessons WHERE tenant = ? AND scope = ? AND status IN {_LIVE} "
                "ORDER BY pinned DESC, helpful - harmful DESC, support DESC, id LIMIT 200",
                mine,
            )
            return [_lesson(body) for (body,) in rows]
        known = {one.id: one for one in self._named(ids)}
        new = self._fetch(
            f"SELECT body FROM lessons WHERE tenant = ? AND scope = ? AND came > ? AND status IN {_LIVE} ORDER BY came, id LIMIT 200",
            (*mine, version),
        )
        found = [known[one] for one in ids if one in known]
        return [*found, *(lesson for lesson in (_lesson(body) for (body,) in new) if lesson.id not in known)]

    def like(self, text: str, *, most: int, without: Collection[str] = ()) -> list[QuickLesson]:
        """Live lessons of the scope and those above that a prompt calls for, best first.

        Args:
            text: the prompt; nothing in it is syntax.
            most: how many at most.
            without: ids of lessons that were shown already.
        """
        from tenure.terms import question, stem  # its patterns take a while to compile, and the start of a session asks for none

        asked = question(text, most=MOST_WORDS)
        walls = {n: scope for scope, n in self._rows.items() if self.scope == scope or self.scope.startswith(f"{scope}/")}
        if not walls or not (asked.words or asked.identifiers):
            return []
        inside = f"(wall : ({' OR '.join(f'wall{n}' for n in sorted(walls))})) AND "
        words = {stem(word): word for word in asked.words}
        marks = [f"{name}\ue000" for name in asked.identifiers]  # as `weighing` ends them
        match = "{said asked marks} : "
        held_by = {one: self._count(f"{inside}({match}{_quoted(words.get(one, one))})") for one in (*words, *marks)}
        held_by = {one: count for one, count in held_by.items() if count}
        if not held_by:
            return []
        wanted = " OR ".join(_quoted(words.get(one, one)) for one in held_by)
        rows = self._fetch(
            f"SELECT l.body, l.helpful, l.harmful, w.said, w.asked, w.marks FROM "
            "(SELECT rowid AS n, said, asked, marks FROM lessons_words WHERE lessons_words MATCH ? "
            f"ORDER BY bm25(lessons_words, 0.0, 1.0, {ASKED_WEIGHT}, 4.0) LIMIT {MOST_HITS}) AS w JOIN lessons AS l ON l.n = w.n "
            f"WHERE l.tenant = ? AND l.scope IN ({', '.join('?' * len(walls))}) AND l.status IN {_LIVE}",
            (f"{inside}({match}({wanted}))", self.tenant, *walls.values()),
        )
        total = self._fetch(f"SELECT count(*) FROM lessons WHERE tenant = ? AND status IN {_LIVE}", (self.tenant,))[0][0]
        weights = {one: log1p(total / count) for one, count in held_by.items()}
        enough = sum(sorted(weights.values(), reverse=True)[:TELLING_WORDS])
        found: list[tuple[float, QuickLesson]] = []
        for body, helpful, harmful, said, of_tasks, own_marks in rows:
            lesson = _lesson(body)
            own, tasks, named = {stem(word) for word in said.split()}, {stem(word) for word in of_tasks.split()}, set(own_marks.split())
            worth = sum(
                weight * (1.0 if one in own or one in named else ASKED_WEIGHT if one in tasks or one in of_tasks.split() else 0.0)
                for one, weight in weights.items()
            )
            names_it = any(mark in named for mark in marks)
            if lesson.id in without or (worth < LEAST_LIKE * enough and not names_it):
                continue
            found.append((worth * (helpful + 1.0) / (helpful + harmful + 2.0) + (enough if names_it else 0.0), lesson))
        found.sort(key=lambda one: (-one[0], one[1].id))
        return [lesson for _, lesson in found[:most]]

    def blocks(self, lessons: Sequence[QuickLesson]) -> list[str]:
        """Each lesson as a prompt shows it."""
        ids = short_ids([lesson.id for lesson in lessons])
        return [lesson_block(lesson, ids[lesson.id]) for lesson in lessons]

    def _named(self, ids: Sequence[str]) -> list[QuickLesson]:
        found: list[QuickLesson] = []
        for start in range(0, len(ids), 400):  # older SQLite libraries take no more than 999 values
            some = ids[start : start + 400]
            rows = self._fetch(
                f"SELECT body FROM lessons WHERE tenant = ? AND scope = ? AND status IN {_LIVE} AND id IN ({', '.join('?' * len(some))})",
                (self.tenant, self.scope, *some),
            )
            found += [_lesson(body) for (body,) in rows]
        return found

    def _count(self, match: str) -> int:
        return int(self._fetch("SELECT count(*) FROM lessons_words WHERE lessons_words MATCH ?", (match,))[0][0])

    def _fetch(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self._ask(statement, values)
        except sqlite3.Error as exc:
            raise Unreadable(str(exc)) from exc

    def _ask(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        return self._connection.execute(statement, tuple(values)).fetchall()


def made_at(path: str) -> str:
    """When a database says it was made (see `QuickBook.made`).

    Raises:
        Unreadable: see there.
    """
    book = QuickBook(path, "")
    try:
        return book.made()
    finally:
        book.close()


def _opened(url: str, path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{url}?mode=ro", uri=True, timeout=WAIT_S, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM scopes LIMIT 1").fetchone()
    except sqlite3.OperationalError as exc:
        connection.close()
        log = f"{path}-wal"
        if (os.path.exists(log) and os.path.getsize(log)) or exc.sqlite_errorcode & 0xFF not in _CANNOT_WRITE:
            raise
        # Where nothing can be written (a folder that is closed to us, a full disk), a file in WAL form is only read as one that
        # nobody changes. Without a log, nobody does.
        connection = sqlite3.connect(f"{url}?immutable=1", uri=True, timeout=WAIT_S, isolation_level=None)
    return connection


def _lesson(body: str) -> QuickLesson:
    held = json.loads(body)
    return QuickLesson(**{name: held.get(name, "") for name in ("id", "section", "text", "applies_when", "avoid")})


def _quoted(word: str) -> str:
    """A word as an FTS5 string, in which nothing is syntax."""
    return '"' + word.replace('"', '""') + '"'
