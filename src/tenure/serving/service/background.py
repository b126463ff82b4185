"""Learning in the background of one process: threads that learn from kept runs, scope by scope.

What is kept is durable before anybody is told, and a run that was not learned from is found again by the store: a process that
is killed here loses nothing. Runs are looked for when the threads start, and now and then.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from tenure.errors import StoreError, TenureError
from tenure.logs import event

if TYPE_CHECKING:
    from tenure.serving.service.engine import Engine

_log = logging.getLogger("tenure.service")

SWEEP_S = 300.0
"""Seconds from one look through all scopes to the next."""

PORTION = 20
"""Runs of a scope that are learned before another scope has its turn."""

TRIES = 3
"""Times that a run may fail by a fault of ours before it is left until the next start."""

WAIT_S = 5.0
"""Seconds that a scope waits after its database could not be used."""


class ThreadLearning:
    """Learns from runs in threads of this process (see `engine.Learning`).

    Args:
        engine: where runs are kept; this becomes its `learning`.
        threads: how many scopes are learned at once.
        sweep_s: seconds from one look through all scopes to the next.
    """

    def __init__(self, engine: Engine, *, threads: int = 2, sweep_s: float = SWEEP_S) -> None:
        self._engine, self._sweep_s = engine, sweep_s
        self._turn = threading.Condition()
        self._waiting: OrderedDict[str, float] = OrderedDict()
        self._at: set[str] = set()
        self._failed: dict[tuple[str, str], int] = {}
        self._next_sweep = 0.0
        self._sweeping = False
        self._ended = False
        self._threads = [threading.Thread(target=self._work, name=f"tenure-learning-{n}", daemon=True) for n in range(threads)]
        engine.learning = self
        for thread in self._threads:
            thread.start()

    def arrived(self, scope: str, run: str) -> None:
        """A finished run was kept."""
        with self._turn:
            self._waiting.setdefault(scope, 0.0)
            self._turn.notify()

    @property
    def idle(self) -> bool:
        """Whether nothing is being learned, and nothing known waits."""
        with self._turn:
            return not (self._waiting or self._at or self._sweeping or self._next_sweep == 0.0)

    def close(self, timeout_s: float = 10.0) -> bool:
        """Learn from no further run; whether those at hand were finished in time. What was not is learned after the next start."""
        with self._turn:
            self._ended = True
            self._turn.notify_all()
        until = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while True:
            with self._turn:
                scope = self._taken()
                while scope is None:
                    if self._ended:
                        return
                    self._turn.wait(self._until_next())
                    scope = self._taken()
            more, wait = False, 0.0
            try:
                if scope:
                    more = self._learn(scope)
                else:
                    self._sweep()
            except StoreError as exc:
                event(_log, "learning.waits", logging.WARNING, said=f"learning waits: {exc}", failure=exc)
                more, wait = bool(scope), WAIT_S
            except Exception as exc:  # noqa: BLE001  # no fault may end the thread: the next sweep finds what was left
                said = f"learning in the background failed: {type(exc).__name__}"
                event(_log, "learning.failed", logging.ERROR, said=said, failure=exc)
            with self._turn:
                self._at.discard(scope)
                if not scope:
                    self._sweeping = False
                elif more:
                    self._waiting[scope] = time.monotonic() + wait if wait else 0.0
                self._turn.notify()

    def _taken(self) -> str | None:
        """A scope to learn in; empty for a look through all of them; none if there is nothing to do. The lock is held."""
        if self._ended:
            return None
        now = time.monotonic()
        if not self._sweeping and now >= self._next_sweep:
            self._sweeping, self._next_sweep = True, now + self._sweep_s
            return ""
        scope = next((one for one, since in self._waiting.items() if since <= now and one not in self._at), None)
        if scope is not None:
            del self._waiting[scope]
            self._at.add(scope)
        return scope

    def _until_next(self) -> float:
        now = time.monotonic()
        moments = [since for scope, since in self._waiting.items() if scope not in self._at]
        return max(0.01, min([self._next_sweep, *moments]) - now)

    def _sweep(self) -> None:
        for scope in self._engine.store.scopes():
            if self._ended:
                return
            with self._engine.store.reading(scope) as look:
                waits = bool(look.unlearned(limit=1))
            if waits:
                self.arrived(scope, "")

    def _learn(self, scope: str) -> bool:
        """Learn from some runs of a scope; whether there are more."""
        book = self._engine.book(scope)
        if not book.settings().on("learn.enabled"):
            return False
        with book.store.reading(scope) as look:
            names = [name for name in look.unlearned(limit=PORTION + 1 + len(self._failed)) if self._failed.get((scope, name), 0) < TRIES]
        for name in names[:PORTION]:
            if self._ended:
                return False
            with book.store.reading(scope) as look:
                run = look.run(name)
            if run is None:
                continue
            try:
                learned = book.learn(run)
            except StoreError:
                raise
            except Exception as exc:  # noqa: BLE001  # one run that cannot be learned must not keep the others waiting
                self._failed[scope, name] = self._failed.get((scope, name), 0) + 1
                kind = "refused" if isinstance(exc, TenureError) else "failed"
                said = f"learning from run {name[:80]} {kind}: {type(exc).__name__}"
                event(_log, f"learning.{kind}", logging.ERROR, said=said, failure=exc, run=name, scope=scope)
                continue
            if learned.skipped:
                if not book.settings().on("learn.enabled"):
                    return False
                self._failed[scope, name] = TRIES  # it would be found again and again
        return len(names) > PORTION
