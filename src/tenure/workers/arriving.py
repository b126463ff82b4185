"""From a server to the workers: jobs are put in behind the answer, by a thread, so that nobody waits for the queue.

The run is durable before it is told of here. A job that is not put in, because the server died or the queue was out of reach,
is put in by the next sweep of a worker.
"""

from __future__ import annotations

import logging
import queue
import threading

from tenure.errors import StoreError
from tenure.logs import event
from tenure.ports import Store
from tenure.workers.jobs import mark_of
from tenure.workers.queue import JobQueue

_log = logging.getLogger("tenure.workers")

MOST = 10_000
"""Jobs that wait to be put in, at most; those beyond are left to the sweep."""


class QueuedLearning:
    """Has runs learned from by workers (see `serving.service.engine.Learning`).

    Args:
        store: where runs are kept.
        jobs: where jobs are put in. It is closed with this.
    """

    def __init__(self, store: Store, jobs: JobQueue) -> None:
        self._store, self.jobs = store, jobs
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(MOST)
        self._thread = threading.Thread(target=self._put_in, name="tenure-queueing", daemon=True)
        self._thread.start()

    def arrived(self, scope: str, run: str) -> None:
        """A finished run was kept."""
        try:
            self._waiting.put_nowait((scope, run))
        except queue.Full:
            return  # a sweep finds it

    def close(self, timeout_s: float = 10.0) -> bool:
        """Put in what waits, and release connections; whether that was done in time."""
        self._waiting.put(None)
        self._thread.join(timeout_s)
        ended = not self._thread.is_alive()
        self.jobs.close()
        return ended

    def _put_in(self) -> None:
        while (told := self._waiting.get()) is not None:
            scope, run = told
            try:
                with self._store.reading(scope) as reading:
                    kept = reading.run(run)
            except StoreError as exc:
                said = f"job not queued, left to the sweep: {type(exc).__name__}"
                event(_log, "job.not_queued", logging.WARNING, said=said, failure=exc, run=run, scope=scope)
                continue
            if kept is not None:  # forgotten meanwhile
                self.jobs.arrived(scope, run, mark_of(kept))
