"""What is looked up often in a store in memory, kept beside the values that scopes are.

An index is a copy: it can be thrown away at any time, and says what one value of a scope says. Before it is used it is
brought to the value at hand by what differs, told by identity: values share all that did not change. So a transaction
that failed, and a reader who looks at an older value than the last one, need nothing special.
"""

from __future__ import annotations

import threading
from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from rpds import HashTrieMap

from tenure.playbook.lessons import Lesson
from tenure.playbook.render import lesson_tokens
from tenure.stores.contents import Contents, Kept
from tenure.stores.memory_words import MemoryWords, read_lesson, read_task
from tenure.stores.weighing import SOURCE_CHARACTERS, SOURCE_TASKS

SCOPES_KEPT = 64

LAST = "\U0010ffff"
"""Comes after every id."""

Value = TypeVar("Value")


class ScopeIndex:
    """The words of one scope's lessons and of its runs' tasks, and what is counted of its lessons."""

    def __init__(self) -> None:
        self.lessons, self.tasks = MemoryWords(), MemoryWords()
        self._lessons: HashTrieMap[str, Lesson] = HashTrieMap()
        self._runs: HashTrieMap[str, Kept] = HashTrieMap()
        self._held: dict[str, Lesson] = {}
        self._kept: dict[str, Kept] = {}
        self._resting: dict[str, set[str]] = {}
        self._came: list[tuple[int, str]] = []
        self._tokens: dict[str, int] = {}
        self._waiting: set[str] = set()
        self._sorted: tuple[Lesson, ...] | None = None
        self._supported: tuple[Lesson, ...] | None = None
        self._sizes: Mapping[str, tuple[int, int]] | None = None

    def bring_to(self, contents: Contents) -> None:
        """Say what this value says."""
        runs = _differing(self._kept, contents.runs) if contents.runs is not self._runs else ()
        lessons = _differing(self._held, contents.lessons) if contents.lessons is not self._lessons else ()
        self._take(contents, runs, lessons)

    def step(self, before: Contents, after: Contents, *, runs: Collection[str] = (), lessons: Collection[str] = ()) -> None:
        """Say what a value says that differs from another in these runs and lessons alone; nothing if this says what a third one says."""
        if before.runs is self._runs and before.lessons is self._lessons:
            self._take(after, runs, lessons)

    def _take(self, contents: Contents, runs: Collection[str], lessons: Collection[str]) -> None:
        stale = set(lessons)
        for run in runs:
            self._read_task(run, contents.runs.get(run))
            stale |= self._resting.get(run, set())
        for lesson_id in lessons:
            self._hold(lesson_id, contents.lessons.get(lesson_id))
        self._runs, self._lessons = contents.runs, contents.lessons
        for lesson_id in stale:
            lesson = self._held.get(lesson_id)
            if lesson is None or not lesson.live:
                self.lessons.drop(lesson_id)
            else:
                self.lessons.put(lesson_id, read_lesson(lesson, _asked(lesson, self._runs)))

    def live(self) -> tuple[Lesson, ...]:
        """Live lessons, sorted by id."""
        if self._sorted is None:
            self._sorted = tuple(sorted((one for one in self._held.values() if one.live), key=lambda one: one.id))
        return self._sorted

    def supported(self) -> tuple[Lesson, ...]:
        """Live lessons, those that most runs support first."""
        if self._supported is None:
            self._supported = tuple(sorted(self.live(), key=lambda one: -one.tallies.support))
        return self._supported

    def resting_on(self, runs: Collection[str]) -> Iterator[Lesson]:
        """Live lessons that rest on any of these runs, each once."""
        for lesson_id in set[str]().union(*(self._resting.get(run, ()) for run in runs)):
            if (lesson := self._held[lesson_id]).live:
                yield lesson

    def held(self) -> list[Lesson]:
        """Lessons that stand as held, sorted by id."""
        return [self._held[one] for one in sorted(self._waiting)]

    def came_after(self, place: int) -> list[Kept]:
        """Kept runs with a later place than this, in the order in which they came."""
        return [self._kept[run] for _, run in self._came[bisect_right(self._came, (place, LAST)) :]]

    def last_place(self) -> int:
        """Place of the newest run; -1 if there is none."""
        return self._came[-1][0] if self._came else -1

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Live lessons and their estimated tokens by section."""
        if self._sizes is None:
            found: dict[str, tuple[int, int]] = {}
            for lesson in self.live():
                count, tokens = found.get(lesson.section, (0, 0))
                found[lesson.section] = (count + 1, tokens + self._tokens[lesson.id])
            self._sizes = found
        return self._sizes

    def _read_task(self, run: str, kept: Kept | None) -> None:
        before = self._kept.pop(run, None)
        if before is not None and (kept is None or kept.place != before.place):
            self._came.remove((before.place, run))
        if kept is not None:
            self._kept[run] = kept
            if before is None or before.place != kept.place:
                insort(self._came, (kept.place, run))
        if kept is None or kept.revoked:
            self.tasks.drop(run)
        else:
            self.tasks.put(run, read_task(kept.run.task.text))

    def _hold(self, lesson_id: str, lesson: Lesson | None) -> None:
        self._sorted = self._supported = self._sizes = None
        before = self._held.pop(lesson_id, None)
        self._tokens.pop(lesson_id, None)
        self._waiting.discard(lesson_id)
        for run in _sources(before) if before is not None else ():
            resting = self._resting[run]
            resting.discard(lesson_id)
            if not resting:
                del self._resting[run]
        if lesson is not None:
            self._held[lesson_id] = lesson
            if lesson.status == "held":
                self._waiting.add(lesson_id)
            if lesson.live:
                self._tokens[lesson_id] = lesson_tokens(lesson)
            for run in _sources(lesson):
                self._resting.setdefault(run, set()).add(lesson_id)


class Indexes:
    """The indexes of a store's scopes, those used last. Threads may share it."""

    def __init__(self) -> None:
        self._turn = threading.RLock()
        self._kept: dict[str, ScopeIndex] = {}

    @contextmanager
    def of(self, values: Sequence[tuple[str, Contents]]) -> Iterator[Sequence[ScopeIndex]]:
        """The indexes of scopes as they are in these values; no other thread has them meanwhile."""
        with self._turn:
            found: list[ScopeIndex] = []
            for scope, contents in values:
                index = self._kept.pop(scope, None) or ScopeIndex()
                index.bring_to(contents)
                self._kept[scope] = index
                found.append(index)
            while len(self._kept) > max(SCOPES_KEPT, len(values)):
                del self._kept[next(iter(self._kept))]
            yield found

    @contextmanager
    def held(self, scope: str) -> Iterator[ScopeIndex]:
        """The index of a scope as it was left; an empty one if none is kept."""
        with self._turn:
            yield self._kept.get(scope) or ScopeIndex()

    def clear(self) -> None:
        """Hold nothing."""
        with self._turn:
            self._kept.clear()


def _differing(held: Mapping[str, Value], now: HashTrieMap[str, Value]) -> set[str]:
    """Keys under which another object is held than is there now, or that only one of the two has."""
    found = {key for key, value in now.items() if held.get(key) is not value}
    if len(held) + sum(key not in held for key in found) > len(now):
        found.update(key for key in held if key not in now)
    return found


def _sources(lesson: Lesson) -> Iterator[str]:
    return iter(dict.fromkeys(place.run for place in lesson.evidence))


def _asked(lesson: Lesson, runs: HashTrieMap[str, Kept]) -> str:
    """The inputs of the tasks a lesson came from."""
    sources = (runs.get(run) for run in islice(_sources(lesson), SOURCE_TASKS))
    return "\n".join(kept.run.task.text[:SOURCE_CHARACTERS] for kept in sources if kept is not None and not kept.revoked)
