"""Limits of queues: so many jobs of a provider are begun in a minute, and no more, on all workers together."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tenure.opening import open_store
from tenure.wiring import Tenure
from tenure.workers.jobs import Limits
from tests.postgres import Database
from tests.workers.service import cured


def test_limits_are_those_of_the_queue_of_a_provider() -> None:
    limits = Limits(at_once=3, per_tenant=0, per_minute={"openai": 600}, per_tenant_minute=5)
    assert limits.of("learn.openai")["limiter"] == {"limit": 600, "period": 60.0}
    assert limits.of("learn.none")["limiter"] is None
    for queue in ("learn.openai", "learn.none"):
        assert limits.of(queue)["worker_concurrency"] == 3
        assert limits.of(queue)["partition_limiter"] == {"limit": 5, "period": 60.0}
    assert Limits(per_tenant=2).of("learn.none")["partition_concurrency"] == 2


@pytest.mark.parametrize(("option", "begun"), [("--limit=none=3", 3), ("--tenant-minute=2", 4)])
def test_no_more_jobs_are_begun_in_a_minute_than_the_limit_says(database: Database, option: str, begun: int) -> None:
    from tenure.workers.queue import JobQueue

    queue = JobQueue(database.url, lambda _: "")
    store = open_store(database.url)
    for scope in ("acme/desk", "globex/desk"):
        for number in range(4):
            Tenure(store, scope).keep(cured(f"r{number}", scope, number))
            queue.arrived(scope, f"r{number}", "4:known")
    worker = subprocess.Popen(
        [sys.executable, "-m", "tenure", "--db", database.url, "worker", "run", option],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while len(queue.jobs("done")) < begun and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.5)  # a worker looks at its queues ten times a second
        done = [job.scope for job in queue.jobs("done")]
    finally:
        worker.kill()
        worker.wait()
        queue.close()
        store.close()
    assert len(done) == begun
    if "tenant" in option:
        assert sorted(done) == ["acme/desk"] * 2 + ["globex/desk"] * 2
