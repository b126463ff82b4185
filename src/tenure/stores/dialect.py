"""What differs between SQL databases: text search, nearness, randomness, time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

from sqlalchemy import Connection

from tenure.playbook.lessons import Lesson
from tenure.ports import Nearest, VectorKind
from tenure.stores.log_search import Log
from tenure.stores.weighing import Weighed


class DatedLog(Log, Protocol):
    """The raw log of a scope in a database."""

    def bodies(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """What is kept of the entries in rows, as JSON."""
        ...

    def on_day(self, day: str) -> Sequence[tuple[str, int]]:
        """Session and row of each entry of a day, in order."""
        ...


Searchable = Literal["lessons", "runs"]
"""What can be searched."""


class Dialect(Protocol):
    """What differs between databases."""

    def put_words(self, connection: Connection, row: int, wall: int, lesson: Lesson, asked: str) -> None:
        """Make a lesson searchable in place of what was there; a lesson that is not live stops being so."""
        ...

    def put_all_words(self, connection: Connection, wall: int, said: Sequence[tuple[int, Lesson, str, bool]]) -> None:
        """`put_words` for many lessons: row, lesson, the tasks it came from, and whether something may be there already."""
        ...

    def find_sharing(self, connection: Connection, wall: int, groups: Sequence[Sequence[str]], limit: int) -> Sequence[int]:
        """Rows of live lessons inside the wall that hold every word of at least one of the groups."""
        ...

    def find(
        self,
        connection: Connection,
        table: Searchable,
        walls: Mapping[int, str],
        asked: str,
        *,
        tenant: str,
        size: int,
        limit: int,
    ) -> Sequence[Weighed]:
        """Rows of live lessons, or of runs, that answer a question, best first (see `weighing.weigh`).

        Args:
            connection: inside a transaction.
            table: which of the two.
            walls: numbers of the scopes to look in, with the scopes; all of one `tenant`.
            asked: the question, as it was asked.
            tenant, limit: of these scopes; how many rows at most.
            size: how many rows there are inside the walls.
        """
        ...

    def put_entries(self, connection: Connection, wall: int, new: Sequence[tuple[int, str]]) -> None:
        """Make new entries of the memory searchable: row and text of each."""
        ...

    def remove_entries(self, connection: Connection, rows: Sequence[int]) -> None:
        """Take entries of the memory out of the index."""
        ...

    def indexed_entries(self, connection: Connection, wall: int) -> Sequence[int]:
        """Rows of all entries inside the wall that the index has."""
        ...

    def log(self, connection: Connection, wall: int, scope: tuple[str, str]) -> DatedLog:
        """The raw log of a scope (its tenant and itself), whose wall has a number, for search."""
        ...

    def put_task(self, connection: Connection, row: int, wall: int, asked: str) -> None:
        """Make a run searchable by its task's input, in place of what was there."""
        ...

    def remove_words(self, connection: Connection, table: Searchable, rows: Sequence[int]) -> None:
        """Make rows that go, or no longer count, unfindable."""
        ...

    def nearest(
        self,
        connection: Connection,
        scopes: Sequence[str],
        vector: Sequence[float],
        *,
        model: str,
        kind: VectorKind,
        limit: int,
        writing: bool,
    ) -> Nearest:
        """What of some scopes of one tenant is nearest to a vector (see `ports.Reading.nearest`).

        Args:
            connection: inside a transaction.
            scopes: where to look.
            vector: the question's.
            model, kind: of the vectors that it is compared with.
            limit: how many hits at most.
            writing: whether the transaction writes: what it reads may be undone, and must not be kept for others.
        """
        ...

    def cosines(
        self, connection: Connection, scope: str, kind: VectorKind, ids: Collection[str], *, model: str, vector: Sequence[float]
    ) -> Mapping[str, float]:
        """The cosines of some of a scope with a vector, of those that have one of the model and of its dimension."""
        ...

    def salt(self) -> str:
        """Fresh randomness for the digest of one text, hex."""
        ...

    def now(self) -> str:
        """The present moment, ISO 8601."""
        ...
