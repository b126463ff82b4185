"""A worker: takes jobs out of the queues and does them, says that it is alive, and takes over what the dead left.

DBOS keeps the state of each job in PostgreSQL. What it does not know is which workers are alive: each beats into a row of its
own, and whoever is alive puts the jobs of those that have been silent for `SILENT_S` back into their queues. A worker that was
only slow then does a job that another does too: the key of the delta makes that harmless, one of the two adds nothing.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from dbos import DBOS, DBOSConfig
from dbos._error import DBOSMaxStepRetriesExceeded
from dbos._serialization import PortableWorkflowError, WorkflowSerializationFormat

from tenure.errors import TenureError, UserError
from tenure.logs import event, raised_at
from tenure.ports import Workforce
from tenure.stores.postgres_session import address, translated
from tenure.version import VERSION as RELEASE
from tenure.workers.jobs import APPLICATION, LEARN, NO_PROVIDER, QUEUE, REFLECT, SCHEMA, VERSION, Limits
from tenure.workers.queue import client_of, driver_url

_T = TypeVar("_T")
_log = logging.getLogger("tenure.workers")

SILENT_S = 30.0
"""Seconds without a beat after which a worker counts as dead."""

BEAT_S = 5.0
ATTEMPTS = 6
"""Attempts at a job that fails, 1, 2, 4, 8 and 16 seconds apart; then it is dead."""

TAKEN_MOST = 20
"""Workers that one job may bring down before it is dead."""

_RETRIES: dict[str, Any] = {"retries_allowed": True, "interval_seconds": 1.0, "max_attempts": ATTEMPTS, "backoff_rate": 2.0}
_GIVEN_UP_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker can do, each for a scope; both may be done again and then add nothing.

    Attributes:
        learn: learn from a kept run; what became of it, in a word or two.
        reflect: have the model reflect on runs for which that was put off; how many it did.
        sweep: find runs that wait to be learned from and have no job, and put jobs in; how many.
    """

    learn: Callable[[str, str], str]
    reflect: Callable[[str], int]
    sweep: Callable[[], int]


class Worker:
    """One process's worker. A process has one at most: DBOS is a single instance.

    Args:
        url: of the PostgreSQL database, as the application's role.
        work: what it does.
        workforce: where it beats.
        limits: how much at once. It takes jobs of all queues there are.
        silent_s, sweep_s: seconds after which others count as dead; seconds between two sweeps of all workers.
    """

    def __init__(
        self,
        url: str,
        work: Work,
        workforce: Workforce,
        *,
        limits: Limits | None = None,
        silent_s: float = SILENT_S,
        sweep_s: float = 60.0,
    ) -> None:
        self.executor = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._url, self._work, self._workforce, self._limits = url, work, workforce, limits or Limits()
        self._silent_s, self._sweep_s = silent_s, sweep_s
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": driver_url(url),
            "dbos_system_schema": SCHEMA,
            "application_version": VERSION,
            "executor_id": self.executor,
            "run_migrations": False,
            "max_executor_threads": self._limits.at_once + 8,
            "sys_db_pool_size": 6,
            "log_level": "CRITICAL",
            "enable_otlp": False,
        }
        self._dbos = DBOS(config=config)
        self._register()

    def start(self) -> None:
        """Begin to take jobs.

        Raises:
            StoreError: the database cannot be used, or was not prepared by `tenure migrate`.
            Exception: DBOS cannot be launched.
        """
        self._beat()
        with translated(address(self._url)):
            self._set_limits()
            DBOS.launch()
        event(_log, "worker.started", worker=self.executor)
        for name, every_s, task in (
            ("beat", BEAT_S, self._beat),
            ("take over", min(BEAT_S, self._silent_s / 3), self._take_over),
            ("sweep", min(5.0, self._sweep_s), self._sweep),
        ):
            thread = threading.Thread(target=self._now_and_then, args=(name, every_s, task), name=f"tenure-worker-{name}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, *, wait_s: float = 30.0) -> None:
        """End: jobs at hand are finished, as far as that takes no longer than it may; what is left is taken over by others at once.

        Args:
            wait_s: seconds for jobs at hand.
        """
        self._ended.set()
        for thread in self._threads:
            thread.join(timeout=5.0)
        DBOS.destroy(workflow_completion_timeout_sec=int(wait_s))
        event(_log, "worker.ended", worker=self.executor)
        try:
            self._workforce.leave(self.executor)
        except Exception as exc:  # noqa: BLE001  # it ends either way; its silence says so in half a minute
            event(
                _log,
                "worker.task_failed",
                logging.WARNING,
                said=f"leaving was not noted: {type(exc).__name__}",
                failure=exc,
                purpose="leave",
            )

    # -- jobs ------------------------------------------------------------------------------------------

    def _register(self) -> None:
        work = self._work
        portable = WorkflowSerializationFormat.PORTABLE

        @DBOS.step(name=f"{LEARN}.step", should_retry=_passing, **_RETRIES)
        def learn_step(scope: str, run: str) -> str:
            return _telling("learn", lambda: work.learn(scope, run), scope=scope, run=run)

        @DBOS.workflow(name=LEARN, max_recovery_attempts=TAKEN_MOST, serialization_type=portable)
        def learn(scope: str, run: str) -> str:
            with _last_reason():
                return learn_step(scope, run)

        @DBOS.step(name=f"{REFLECT}.step", should_retry=_passing, **_RETRIES)
        def reflect_step(scope: str) -> int:
            return _telling("reflect", lambda: work.reflect(scope), scope=scope)

        @DBOS.workflow(name=REFLECT, max_recovery_attempts=TAKEN_MOST, serialization_type=portable)
        def reflect(scope: str) -> int:
            with _last_reason():
                return reflect_step(scope)

    def _set_limits(self) -> None:
        """Give all queues this worker's limits, before it takes the first job; those of the worker that began last hold.

        Queues that come later have the usual ones.
        """
        client = client_of(self._url)
        try:
            named = {f"{QUEUE}.{provider}" for provider in (NO_PROVIDER, *self._limits.per_minute)}
            for queue in sorted(named.union(known.name for known in client.list_queues() if known.name.startswith(f"{QUEUE}."))):
                client.register_queue(queue, on_conflict="always_update", **self._limits.of(queue))
        finally:
            client.destroy()

    # -- who is alive ----------------------------------------------------------------------------------

    def _beat(self) -> None:
        self._workforce.beat(self.executor, host=socket.gethostname()[:100], process=os.getpid(), release=RELEASE)

    def _take_over(self) -> None:
        """Put back the jobs of workers that are silent, or of which nothing is known."""
        known: Mapping[str, float] = {one.executor: one.silent_s for one in self._workforce.workers()}
        alive = {executor for executor, silent_s in known.items() if silent_s < self._silent_s}
        running: list[Any] = DBOS.list_workflows(status="PENDING", app_version=VERSION, load_input=False, load_output=False)
        dead = sorted({one.executor_id for one in running if one.executor_id} - alive - {self.executor})
        if dead:
            handles = DBOS._recover_pending_workflows(dead)
            said = f"took over {len(handles)} jobs of {len(dead)} silent workers"
            event(_log, "jobs.taken_over", logging.WARNING, said=said, count=len(handles))
        for executor, silent_s in known.items():
            if silent_s > _GIVEN_UP_S:
                self._workforce.leave(executor)

    def _sweep(self) -> None:
        if self._workforce.turn("sweep", every_s=self._sweep_s):
            found = self._work.sweep()
            if found:
                event(_log, "runs.found", logging.WARNING, said=f"found {found} runs that waited without a job", runs=found)

    def _now_and_then(self, name: str, every_s: float, task: Callable[[], None]) -> None:
        failed = 0
        while True:
            try:
                task()
            except Exception as exc:  # noqa: BLE001  # the database may be away for a while; the next time it may be back
                failed += 1
                if failed == 1:  # of a database that is away for an hour, each further time says nothing new
                    why = str(exc) if isinstance(exc, TenureError) else type(exc).__name__
                    said = f"{name} failed, tried again every {every_s:g} s: {why}"
                    event(_log, "worker.task_failed", logging.WARNING, said=said, failure=exc, purpose=name.replace(" ", "_"))
            else:
                if failed:
                    said = f"{name} works again, after {failed} that failed"
                    event(_log, "worker.task_works", logging.WARNING, said=said, count=failed, purpose=name.replace(" ", "_"))
                failed = 0
            if self._ended.wait(every_s):
                return


class JobFault(Exception):
    """A fault of ours within a job, by its kind and place alone: jobs stand in tables without a wall between tenants."""


def _telling(kind: str, task: Callable[[], _T], *, scope: str, run: str | None = None) -> _T:
    """Do a job, and say in the log what became of the attempt.

    Of an error its kind alone is told: its message may hold a text of somebody's.

    Raises:
        TenureError: as it is; its words are ours, and name ids and settings.
        JobFault: any other error, without its message.
    """
    begun = time.perf_counter()
    try:
        became = task()
    except Exception as exc:
        said = f"attempt to {kind} failed: {type(exc).__name__}"
        event(_log, "job.failed", logging.WARNING, said=said, failure=exc, purpose=kind, scope=scope, run=run)
        if isinstance(exc, TenureError):
            raise
        raise JobFault(f"{type(exc).__name__} at {raised_at(exc)}") from None
    outcome = str(became).partition(":")[0].replace(" ", "_")
    event(_log, "job.done", purpose=kind, outcome=outcome, duration_s=round(time.perf_counter() - begun, 6), scope=scope, run=run)
    return became


@contextmanager
def _last_reason() -> Iterator[None]:
    """Let a job that used its attempts up end with the reason of the last, not with their number."""
    try:
        yield
    except DBOSMaxStepRetriesExceeded as exc:
        last = exc.errors[-1] if exc.errors else exc
        raise PortableWorkflowError(message=str(last)[:500], name=type(last).__name__) from last
    except TenureError as exc:
        raise PortableWorkflowError(message=str(exc)[:500], name=type(exc).__name__) from exc


def _passing(exc: BaseException) -> bool:
    """Whether a failure may pass: what the caller could mend does not."""
    return not isinstance(exc, UserError)
