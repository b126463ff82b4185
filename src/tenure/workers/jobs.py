"""What a job is: the learning from one state of one run. Its id follows from that, so that the same work is one job.

Jobs stand in the tables of DBOS beside Tenure's own, on the same PostgreSQL. They name a scope and a run and hold no text of either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tenure.playbook.run import Run

APPLICATION = "tenure"
SCHEMA = "tenure_jobs"
VERSION = "tenure-jobs-1"
"""Pinned, not the release's: workers of a new release take over jobs of the old one. It changes only when the arguments of a job do."""

LEARN = "tenure.learn"
REFLECT = "tenure.reflect"
"""Names of the two kinds of job: learn from a run; have the model reflect on runs of a scope for which that was put off."""

SET_ASIDE = "set aside: learning is off"
"""What became of a job that met `learn.enabled` off. It is done, its run is not: once learning is on, a sweep puts in another."""

QUEUE = "learn"
"""Before the names of queues: one for each provider of models, whose limits are its own."""

NO_PROVIDER = "none"
"""The provider of scopes without a model."""

POLL_S = 0.1
"""Seconds between two looks of a worker at a queue."""

_NO_LIMIT = 1_000_000

State = Literal["waiting", "running", "done", "dead"]
"""`dead`: its attempts are used up, or it brought down every worker that took it. It stays, and can be replayed."""

STATES: Mapping[State, tuple[str, ...]] = {
    "waiting": ("ENQUEUED", "DELAYED"),
    "running": ("PENDING",),
    "done": ("SUCCESS",),
    "dead": ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it stands.

    Attributes:
        id: names it.
        kind: `LEARN` or `REFLECT`.
        scope, run: what it is about; `run` is empty for `REFLECT`.
        queue: where it waits.
        state: see `State`.
        problem: why it is dead; empty for others.
        worker: executor that took it last; empty if none did.
        created, updated: ISO 8601, UTC.
    """

    id: str
    kind: str
    scope: str
    run: str
    queue: str
    state: State
    problem: str = ""
    worker: str = ""
    created: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may run at once, and how fast.

    Attributes:
        at_once: jobs that one worker runs at a time.
        per_tenant: jobs of one tenant that run at a time, on all workers; 0 for no limit.
        per_minute: jobs that are begun in a minute, on all workers, by provider; a provider that is not named has no limit.
        per_tenant_minute: jobs of one tenant that are begun in a minute, for each provider; 0 for no limit.
    """

    at_once: int = 4
    per_tenant: int = 2
    per_minute: Mapping[str, int] = field(default_factory=dict[str, int])
    per_tenant_minute: int = 0

    def of(self, queue: str) -> dict[str, Any]:
        """The limits of a queue, as DBOS takes them."""
        minute = self.per_minute.get(queue.removeprefix(f"{QUEUE}."), 0)
        return {
            "worker_concurrency": self.at_once,
            "partition_concurrency": self.per_tenant or _NO_LIMIT,
            "limiter": {"limit": minute, "period": 60.0} if minute else None,
            "partition_limiter": {"limit": self.per_tenant_minute, "period": 60.0} if self.per_tenant_minute else None,
            "polling_interval_sec": POLL_S,
        }


def job_id(kind: str, scope: str, run: str, mark: str) -> str:
    """The id of a job.

    Args:
        kind: of job.
        scope, run: what it is about.
        mark: what of it is to be learned: the same run with more steps, or with its outcome, is another job.
    """
    told = "\0".join((kind, scope, run, mark))
    return f"{kind.rpartition('.')[2]}-{hashlib.sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def mark_of(run: Run) -> str:
    """What of a run there is to learn: it grows with its steps, and with its outcome."""
    return f"{len(run.steps)}:{'known' if run.outcome.known else 'open'}"


def queue_of(model: str) -> str:
    """The queue for jobs of scopes with a model, such as `openai:gpt-4o-mini`; empty for none."""
    provider = model.partition(":")[0] if model else NO_PROVIDER
    return f"{QUEUE}.{provider or NO_PROVIDER}"
