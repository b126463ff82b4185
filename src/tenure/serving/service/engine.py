"""The engine as the service uses it: one store, a playbook for each scope that is asked for, and what learns in the background."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from tenure.ports import Clock, IdSource, Store
from tenure.wiring import Tenure

KEPT = 2_000
"""Playbooks that are held open at once; each is a few objects, the database is shared."""


class Learning(Protocol):
    """What sees to it that kept runs are learned from: a thread of this process, or workers elsewhere.

    It is told of a run once that is durable. What it forgets, or was never told, is found again: the store knows which runs
    were not learned from.
    """

    def arrived(self, scope: str, run: str) -> None:
        """A finished run was kept."""
        ...


class Engine:
    """Playbooks by scope over one store. Threads share it.

    Args:
        book: opened on the service's database; its model and embedder serve all scopes.
        learning: who learns from what arrives; none leaves that to others.
    """

    def __init__(self, book: Tenure, learning: Learning | None = None) -> None:
        self._book, self.learning = book, learning
        self._books: OrderedDict[str, Tenure] = OrderedDict()
        self._turn = threading.Lock()

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self._book.store

    @property
    def scope(self) -> str:
        """The scope that the database was opened in."""
        return self._book.scope

    @property
    def clock(self) -> Clock:
        """What tells the time."""
        return self._book.clock

    @property
    def ids(self) -> IdSource:
        """What makes ids."""
        return self._book.ids

    def book(self, scope: str) -> Tenure:
        """The playbook of a scope. Whether the caller may have it is checked before (see `callers`)."""
        with self._turn:
            found = self._books.get(scope)
            if found is None:
                found = self._books[scope] = self._book.of_tenant(scope)
            self._books.move_to_end(scope)
            while len(self._books) > KEPT:
                self._books.popitem(last=False)
            return found

    def arrived(self, scope: str, run: str) -> None:
        """A finished run was kept: have it learned from."""
        if self.learning is not None:
            self.learning.arrived(scope, run)

    def close(self) -> None:
        """Release the database."""
        self._book.close()
