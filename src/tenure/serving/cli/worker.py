"""`tenure worker`: learns from the runs that a service keeps on PostgreSQL; and what became of its jobs."""

from __future__ import annotations

import importlib.util
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import MissingExtra, UserError
from tenure.serving.cli.background import watch
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_group, add_verb

if TYPE_CHECKING:
    from tenure.ports import Store
    from tenure.workers.queue import JobQueue
    from tenure.workers.work import Engine

DRAIN_S = 0.5
"""Seconds between two looks at whether anything is left, with --drain."""


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "worker",
        "Learn in the background for a service on PostgreSQL.\n\nAlone it does what run does.",
        "tenure worker run --db postgresql://tenure_app@db/tenure",
        "tenure worker run --at-once 8 --limit openai=600 --per-tenant 2",
        "tenure worker jobs --dead",
        default=run,
    )
    add_verb(group, "run", run, "tenure worker run --at-once 8", "tenure worker run --limit openai=600", "tenure worker run --drain")
    add_verb(group, "jobs", jobs, "tenure worker jobs", "tenure worker jobs --dead --json")
    add_verb(group, "replay", replay, "tenure worker replay learn-6d64af9f...", "tenure worker replay --all")
    add_verb(group, "list", workers, "tenure worker list")


def run(
    request: Request,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=64, metavar="N", help="Jobs that this worker does at a time.")] = 4,
    per_tenant: Annotated[
        int,
        typer.Option("--per-tenant", min=0, max=1000, metavar="N", help="Jobs of a tenant at a time, on all workers; 0 for no limit."),
    ] = 2,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="PROVIDER=N", help="Jobs a minute for scopes with models of a provider, on all workers. Repeatable."
        ),
    ] = None,
    tenant_minute: Annotated[
        int, typer.Option("--tenant-minute", min=0, metavar="N", help="Jobs of one tenant begun in a minute; 0 for no limit.")
    ] = 0,
    drain: Annotated[bool, typer.Option("--drain", help="End when nothing waits and nothing runs.")] = False,
    silent: Annotated[
        int, typer.Option("--silent", min=2, max=3600, metavar="S", help="Seconds after which a silent worker's jobs are taken over.")
    ] = 30,
    log: Annotated[str, typer.Option("--log", metavar="LEVEL", help="Log of events as JSON lines: info, warning, off.")] = "off",
) -> int:
    """Take jobs and do them, until Ctrl-C or SIGTERM; those at hand finish.

    Start as many workers as you like, on as many machines. Kill one at any time: its jobs are taken over by others within half
    a minute, and a run that is learned from twice counts once.
    """
    watch(log)
    limits = _limits(limit or (), at_once=at_once, per_tenant=per_tenant, tenant_minute=tenant_minute)
    with _opened(request) as (store, queue, engine, url):
        from tenure.workers.worker import Worker

        worker = Worker(url, engine.work, store.workforce, limits=limits, silent_s=float(silent))
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        worker.start()
        request.terminal.say(f"Worker {worker.executor} takes jobs from {store.url}. End it with Ctrl-C.")
        if drain:
            _wait_until_empty(engine, queue, ended)
        else:
            ended.wait()
        request.terminal.say("Ending; jobs at hand are finished first.")
        worker.stop()
    return OK


def jobs(
    request: Request,
    dead: Annotated[bool, typer.Option("--dead", help="Only those whose attempts are used up.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, metavar="N", help="How many at most.")] = 20,
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME", help="Only those of a tenant; else of all.", show_default=False)] = "",
) -> int:
    """List jobs: what waits, runs, is done, or is dead and why."""
    with _opened(request) as (_, queue, _engine, _url):
        counts = queue.counts()
        found = queue.jobs("dead" if dead else None, tenant=tenant, limit=limit)
        if request.as_json:
            request.terminal.document({"counts": counts, "jobs": [asdict(job) for job in found]})
            return OK
        of_all = "of all tenants: " if tenant else ""
        request.terminal.text(of_all + ", ".join(f"{number} {state}" for state, number in counts.items()))
        for job in found:
            about = f"{job.scope} {job.run}".strip()
            why = f"  {job.problem}" if job.problem else ""
            request.terminal.text(f"{job.id}  {job.state:<7}  {about}{why}")
        if counts["dead"] and not dead:
            request.terminal.say(f"What is dead and why: {request.command('worker jobs --dead')}")
        elif dead and found:
            request.terminal.say(f"Try them again: {request.command('worker replay --all')}")
    return OK


def replay(
    request: Request,
    ids: Annotated[list[str] | None, typer.Argument(metavar="JOB...", help="Ids of dead jobs.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="All that are dead.")] = False,
) -> int:
    """Put dead jobs in again, once what ailed them is mended."""
    if bool(ids) == every:
        raise UserError("Name dead jobs, or --all of them. See: tenure worker jobs --dead")
    with _opened(request) as (_, queue, _engine, _url):
        chosen: Sequence[str] = [job.id for job in queue.jobs("dead", limit=10_000)] if every else ids or []
        done = queue.replay(*chosen)
        if request.as_json:
            request.terminal.document({"replayed": list(done)})
        else:
            request.terminal.text(f"{counted(len(done), 'job')} put in again.")
    return OK


def workers(request: Request) -> int:
    """List the workers that were heard of, with how long ago."""
    with _opened(request) as (store, _, _engine, _url):
        found = store.workforce.workers()
        if request.as_json:
            request.terminal.document({"workers": [asdict(one) for one in found]})
            return OK
        for one in found:
            state = "alive" if one.silent_s < 30 else "silent"
            request.terminal.text(
                f"{one.executor}  {state}, heard {one.silent_s:.0f} s ago, up {one.up_s / 60:.0f} min, Tenure {one.release}"
            )
        if not found:
            request.terminal.say(f"No worker was heard of. Start one: {request.command('worker run')}")
    return OK


def _limits(given: Sequence[str], *, at_once: int, per_tenant: int, tenant_minute: int) -> Any:
    if importlib.util.find_spec("dbos") is None:
        raise MissingExtra("A worker", extra="postgres")
    from tenure.workers.jobs import Limits

    per_minute: dict[str, int] = {}
    for one in given:
        provider, mark, number = one.partition("=")
        if not mark or not provider or not number.isdigit() or int(number) < 1:
            raise UserError(f"--limit {one} is not PROVIDER=N, such as openai=600 (jobs a minute).")
        per_minute[provider] = int(number)
    return Limits(at_once=at_once, per_tenant=per_tenant, per_minute=per_minute, per_tenant_minute=tenant_minute)


@contextmanager
def _opened(request: Request) -> Iterator[tuple[Store, JobQueue, Engine, str]]:
    if importlib.util.find_spec("dbos") is None:
        raise MissingExtra("A worker", extra="postgres")
    from tenure.opening import open_store
    from tenure.project import database_url
    from tenure.workers.queue import JobQueue, driver_url
    from tenure.workers.work import Engine

    url = database_url(request.db)
    driver_url(url)  # says what is wrong before anything is opened
    store = open_store(url)
    engine = Engine(store)
    queue = JobQueue(url, engine.model_of)
    engine.put = queue.put_found
    try:
        yield store, queue, engine, url
    finally:
        queue.close()
        engine.close()
        store.close()


def _wait_until_empty(engine: Engine, queue: JobQueue, ended: threading.Event) -> None:
    engine.sweep()
    while not ended.wait(DRAIN_S):
        counts = queue.counts(most=1)
        if not counts["waiting"] and not counts["running"]:
            return
