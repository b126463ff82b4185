"""What jobs do, with the engine: learn from a kept run, reflect where that was put off, and find runs without a job."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable

from tenure.errors import StoreError, TenureError
from tenure.logs import event
from tenure.opening import open_model
from tenure.ports import LanguageModel, Store
from tenure.settings import read_settings
from tenure.system import SystemClock, UlidSource
from tenure.wiring import Tenure
from tenure.workers.jobs import LEARN, REFLECT, SET_ASIDE, mark_of
from tenure.workers.worker import Work

_log = logging.getLogger("tenure.workers")

BOOKS = 500
"""Playbooks that a worker holds open at once."""

SWEPT = 1_000
"""Runs of one scope that a sweep puts jobs in for, at most; the next sweep goes on."""


class Engine:
    """The engine as jobs use it. Threads share it.

    Args:
        store: where everything is.
        model: for all scopes; none takes each scope's own setting.

    Attributes:
        put: puts in a job that a sweep found to be missing: kind, scope, run, mark (see `queue.JobQueue.put_found`).
    """

    def __init__(self, store: Store, *, model: LanguageModel | None = None) -> None:
        self._store, self._model = store, model
        self.put: Callable[[str, str, str, str], str] = _no_queue
        self._clock, self._ids = SystemClock(), UlidSource()
        self._books: OrderedDict[tuple[str, str], Tenure] = OrderedDict()
        self._turn = threading.Lock()

    @property
    def work(self) -> Work:
        """What a worker is given."""
        return Work(learn=self.learn, reflect=self.reflect, sweep=self.sweep)

    def learn(self, scope: str, run: str) -> str:
        """Learn from a kept run; what became of it."""
        book = self._book(scope)
        with self._store.reading(scope) as reading:
            kept = reading.run(run)
        if kept is None:
            return "gone: it was forgotten meanwhile"
        learned = book.learn(kept)
        if "learn.enabled" in learned.skipped:
            return SET_ASIDE
        return f"skipped: {learned.skipped}" if learned.skipped else f"learned: {learned.added} new, {learned.merged} known"

    def reflect(self, scope: str) -> int:
        """Have the model reflect on runs for which that was put off; how many there were."""
        book = self._book(scope)
        return 0 if book.model is None else book.learn_postponed().runs

    def sweep(self) -> int:
        """Find runs that wait and have no job, and put jobs in. A job that is there stays as it is, a dead one dead."""
        found = 0
        for scope in self._store.scopes():
            try:
                found += self._swept(scope)
            except TenureError as exc:
                event(
                    _log,
                    "sweep.failed",
                    logging.WARNING,
                    said=f"a scope could not be swept: {type(exc).__name__}",
                    failure=exc,
                    scope=scope,
                )
        return found

    def model_of(self, scope: str) -> str:
        """Name of the model of a scope, such as `openai:gpt-4o-mini`; empty for none."""
        if self._model is not None:
            return self._model.name
        with self._store.reading(scope) as reading:
            return read_settings(reading.setting).text("model")

    def close(self) -> None:
        """Release the connections of models; the store is its owner's."""
        with self._turn:
            for book in self._books.values():
                _let_go(book)
            self._books.clear()

    def _swept(self, scope: str) -> int:
        with self._store.reading(scope) as reading:
            settings = read_settings(reading.setting)
            if not settings.on("learn.enabled"):
                return 0
            waiting = [run for run in map(reading.run, reading.unlearned(limit=SWEPT)) if run is not None]
            put_off = reading.postponed(below=settings.whole("learn.attempts"), limit=1)
        for run in waiting:
            self.put(LEARN, scope, run.id, mark_of(run))
        if put_off:
            # Once an hour, as long as there is something: caps of a day may be free again, a model may answer again.
            self.put(REFLECT, scope, "", self._clock.now().strftime("%Y-%m-%dT%H"))
        return len(waiting)

    def _book(self, scope: str) -> Tenure:
        """The playbook of a scope, with its model as it is set now."""
        model = self.model_of(scope)
        with self._turn:
            book = self._books.pop((scope, model), None)
            if book is None:
                book = Tenure(self._store, scope, clock=self._clock, ids=self._ids, model=self._model or self._opened(scope))
            self._books[scope, model] = book
            while len(self._books) > BOOKS:
                _let_go(self._books.popitem(last=False)[1])
            return book

    def _opened(self, scope: str) -> LanguageModel | None:
        with self._store.reading(scope) as reading:
            settings = read_settings(reading.setting)
        return open_model(None, None, settings, self._store, scope, self._clock)


def _let_go(book: Tenure) -> None:
    if book.model is not None:
        book.learner.close()


def _no_queue(*_: str) -> str:
    raise StoreError("There is no queue to put jobs in.")
