"""Jobs: the same work is one job, what fails is dead and visible and can be replayed, what a dead worker held is taken over."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure.errors import UserError
from tenure.opening import open_store
from tenure.wiring import Tenure
from tenure.workers.jobs import LEARN, job_id, queue_of
from tests.postgres import Database
from tests.workers.service import cured


def command(url: str, *args: str, code: int = 0) -> dict[str, Any]:
    """`tenure worker ...` as its own process; what it printed as JSON, or said if it prints none."""
    typed = [sys.executable, "-m", "tenure", "--db", url, "worker", *args]
    ended = subprocess.run(typed, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == code, ended.stderr
    return json.loads(ended.stdout) if ended.stdout.startswith("{") else {"said": ended.stdout + ended.stderr}


@pytest.fixture
def book(database: Database) -> Iterator[Tenure]:
    with Tenure(open_store(database.url), "acme/desk") as opened:
        yield opened


@pytest.fixture
def queue(database: Database) -> Iterator[object]:
    from tenure.workers.queue import JobQueue

    opened = JobQueue(database.url, lambda _: "")
    yield opened
    opened.close()


def test_the_same_work_is_one_job_and_more_of_it_another() -> None:
    same = job_id(LEARN, "acme/desk", "r1", "4:known")
    assert same == job_id(LEARN, "acme/desk", "r1", "4:known")
    others = {
        job_id(LEARN, "acme/desk", "r1", "5:known"),
        job_id(LEARN, "acme/desk", "r2", "4:known"),
        job_id(LEARN, "acme", "desk\0r1", "4:known"),
        job_id("tenure.reflect", "acme/desk", "r1", "4:known"),
    }
    assert len(others | {same}) == 5


def test_each_provider_has_a_queue() -> None:
    assert [queue_of(""), queue_of("openai:gpt-4o-mini"), queue_of("test")] == ["learn.none", "learn.openai", "learn.test"]


def test_what_waits_is_learned_whether_it_was_queued_or_not(database: Database, book: Tenure, queue: object) -> None:
    from tenure.workers.queue import JobQueue

    assert isinstance(queue, JobQueue)
    for name in ("queued", "swept"):
        book.keep(cured(name, book.scope, 7))
    for _ in range(2):
        queue.arrived(book.scope, "queued", "4:known")
    assert queue.counts() == {"waiting": 1, "running": 0, "dead": 0}
    command(database.url, "run", "--drain")
    with book.store.reading(book.scope) as look:
        assert look.unlearned() == []
        assert sorted(str(entry.delta.key) for entry in look.ledger()) == ["learn:queued:4:known", "learn:swept:4:known"]
    done = queue.jobs("done", tenant="acme")
    assert {(job.run, job.state) for job in done} == {("queued", "done"), ("swept", "done")}
    assert queue.jobs("done", tenant="globex") == []


def test_a_job_that_fails_is_dead_with_its_reason_until_it_is_replayed(database: Database, book: Tenure, queue: object) -> None:
    from tenure.workers.queue import JobQueue

    assert isinstance(queue, JobQueue)
    book.keep(cured("r1", book.scope, 7))
    book.set("model", "nobody:nothing")
    command(database.url, "run", "--drain")
    listed = command(database.url, "jobs", "--dead", "--json")
    (dead,) = listed["jobs"]
    assert [command(database.url, "jobs", "--json", "--tenant", name)["jobs"] for name in ("acme", "globex")] == [[dead], []]
    assert (dead["scope"], dead["run"], dead["state"], dead["queue"]) == ("acme/desk", "r1", "dead", "learn.nobody")
    assert "nobody" in dead["problem"], "it says what is wrong"
    command(database.url, "run", "--drain")
    assert queue.counts()["dead"] == 1, "a sweep does not wake the dead"
    with pytest.raises(UserError, match="There is no job 'nothing'"):
        queue.replay(dead["id"], "nothing")
    with pytest.raises(UserError, match="There is no job"):
        queue.replay("x\x00")
    assert queue.counts()["dead"] == 1, "of several either all are put in or none"
    book.set("model", None)
    assert command(database.url, "replay", "--all", "--json") == {"replayed": [dead["id"]]}
    command(database.url, "run", "--drain")
    with book.store.reading(book.scope) as look:
        assert look.unlearned() == []
    refused = command(database.url, "replay", dead["id"], code=2)
    assert "is done, not dead" in str(refused["said"])


def test_a_run_that_came_while_learning_was_off_is_learned_once_it_is_on(database: Database, book: Tenure, queue: object) -> None:
    from tenure.workers.queue import JobQueue

    assert isinstance(queue, JobQueue)
    book.keep(cured("r1", book.scope, 7))
    for _ in range(2):  # off and on again, twice before a sweep comes by
        book.set("learn.enabled", "off")
        queue.arrived(book.scope, "r1", "4:known")
        command(database.url, "run", "--drain")
    with book.store.reading(book.scope) as look:
        assert look.unlearned() == ["r1"]
    book.set("learn.enabled", "on")
    command(database.url, "run", "--drain")
    with book.store.reading(book.scope) as look:
        assert look.unlearned() == []
        assert [str(entry.delta.key) for entry in look.ledger()] == ["learn:r1:4:known"]


def test_a_sweep_goes_on_behind_a_dead_job_whose_scope_has_another_model_now(database: Database, book: Tenure, queue: object) -> None:
    book.keep(cured("r1", book.scope, 7))
    book.set("model", "nobody:nothing")
    command(database.url, "run", "--drain")
    book.set("model", None)
    other = Tenure(book.store, "zeta/desk")
    other.keep(cured("r2", other.scope, 7))
    command(database.url, "run", "--drain")
    with book.store.reading(other.scope) as look:
        assert look.unlearned() == []


def test_jobs_of_a_worker_that_was_killed_for_ever_and_of_an_older_release_are_taken_over(
    database: Database, book: Tenure, queue: object
) -> None:
    import psycopg

    from tenure.workers.queue import JobQueue

    assert isinstance(queue, JobQueue)
    for name in ("r1", "r2"):
        book.keep(cured(name, book.scope, 7))
        queue.arrived(book.scope, name, "4:known")
    # As it stands where a worker took both and its machine is gone: one that beat a moment ago, and one that nobody knows of.
    book.store.workforce.beat("gone-1", host="gone", process=1, release="0.0.1")
    with psycopg.connect(database.admin_url) as connection:
        for run, executor in (("r1", "gone-1"), ("r2", "gone-2")):
            connection.execute(
                "UPDATE tenure_jobs.workflow_status SET status = 'PENDING', executor_id = %s, started_at_epoch_ms = 1 "
                "WHERE workflow_uuid = %s",
                (executor, job_id(LEARN, book.scope, run, "4:known")),
            )
    assert queue.counts() == {"waiting": 0, "running": 2, "dead": 0}
    command(database.url, "run", "--drain", "--silent", "2")
    with book.store.reading(book.scope) as look:
        assert look.unlearned() == []
    assert {job.worker for job in queue.jobs("done")}.isdisjoint({"gone-1", "gone-2"})


def test_workers_need_postgresql(tmp_path: Path) -> None:
    said = command(f"sqlite:///{tmp_path / 'book.db'}", "run", code=1)
    assert "Workers need PostgreSQL" in str(said["said"])


def test_the_tables_of_jobs_are_for_the_applications_role_alone_and_for_rows_alone(database: Database) -> None:
    import psycopg

    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        tables = [str(name) for (name,) in admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tenure_jobs'")]
        assert "workflow_status" in tables
        for table in tables:
            rights = {
                str(right)
                for (right,) in admin.execute(
                    "SELECT privilege_type FROM information_schema.role_table_grants WHERE table_schema = 'tenure_jobs' "
                    "AND table_name = %s AND grantee = 'tenure_app'",
                    (table,),
                )
            }
            assert rights <= {"SELECT", "INSERT", "UPDATE", "DELETE"}, (table, rights)
        admin.execute("DROP ROLE IF EXISTS passer_by")
        admin.execute("CREATE ROLE passer_by NOLOGIN")
        admin.execute("SET ROLE passer_by")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            admin.execute("SELECT * FROM tenure_jobs.workflow_status")


def test_a_fault_within_a_job_is_kept_without_its_words() -> None:
    from tenure.errors import SettingError
    from tenure.workers.worker import JobFault, _telling

    def fail(exc: Exception) -> str:
        raise exc

    with pytest.raises(JobFault, match=r"^ValueError at test_jobs:[0-9]+$") as caught:
        _telling("learn", lambda: fail(ValueError("Ms Miller owes 5")), scope="acme")
    assert caught.value.__cause__ is None
    with pytest.raises(SettingError, match="as it is"):
        _telling("learn", lambda: fail(SettingError("as it is")), scope="acme")


def test_a_job_that_many_replay_at_once_is_put_in_once_and_the_others_are_told_so(database: Database, book: Tenure, queue: object) -> None:
    from tenure.workers.queue import JobQueue

    assert isinstance(queue, JobQueue)
    book.keep(cured("r1", book.scope, 7))
    book.set("model", "nobody:nothing")
    command(database.url, "run", "--drain")
    (dead,) = queue.jobs("dead")
    told: list[object] = []

    def replay() -> None:
        try:
            told.append(queue.replay(dead.id))
        except UserError as exc:
            told.append(exc)

    threads = [threading.Thread(target=replay) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one for one in told if isinstance(one, tuple)] == [(dead.id,)]
    assert len(told) == 6, told
    assert queue.counts() == {"waiting": 1, "running": 0, "dead": 0}


@pytest.mark.parametrize("args", [(), ("jobs",), ("replay", "x")])
def test_a_database_without_tables_of_jobs_is_told_as_that(args: tuple[str, ...]) -> None:
    from tests import postgres

    if postgres.MISSING:
        pytest.skip(postgres.MISSING)
    made = postgres.fresh_database()
    try:
        said = command(made.url, *args, code=1)["said"]
        assert "lacks a part of Tenure's schema" in said, said
        assert "tenure migrate" in said
    finally:
        postgres.drop(made)
