"""Behind a server, a proxy or a worker: who learns from what is kept, and what is told of it all."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.errors import UserError
from tenure.serving.cli.request import Request, database_file, is_there

if TYPE_CHECKING:
    from tenure.serving.service.engine import Engine
    from tenure.wiring import Tenure


LEVELS = ("debug", "info", "warning", "error", "off")


def watch(level: str, *, metrics: bool = False) -> None:
    """Begin to write the log, and to keep metrics.

    Args:
        level: of the log, one of `LEVELS`; `off` leaves warnings to stderr as they are.
        metrics: whether metrics are kept for Prometheus; traces and metrics go to an OTLP endpoint wherever one is named.

    Raises:
        UserError: there is no such level.
        MissingExtra: metrics were asked for without the extra `telemetry`.
    """
    if level not in LEVELS:
        raise UserError(f"--log {level}: there is no such level. Levels: {', '.join(LEVELS)}.")
    from tenure import telemetry

    if level != "off":
        from tenure.logs import configure_logs

        configure_logs(level)
        # What the server's library says while all is well has no event of ours: such lines would be empty.
        configure_logs("warning" if level == "info" else level, loggers=("uvicorn",))
    if metrics:
        telemetry.start_serving()
    else:
        telemetry.start_if_asked()


def warm_up(book: Tenure) -> None:
    """Load what the first request would wait for: a second or two of a processor, more with vectors."""
    import contextlib

    from tenure.errors import TenureError

    with contextlib.suppress(TenureError):  # the first request says what is wrong
        book.recalled("warm up", None)


def make_key(request: Request, role: str) -> str:
    """The command that makes a key in the database of a server: of the scope that was named, else of a tenant to be named."""
    return request.command(f"keys create --role {role}" + ("" if request.scope else " --tenant NAME"))


def new_file(request: Request) -> Path | None:
    """The file that a server is to make although it was named: an address with a mistake in it makes an empty database."""
    from tenure.project import find_database

    place = find_database(request.db)
    path = database_file(place.url) if place.why not in ("project", "user") else None
    return path if path is not None and not is_there(path) else None


@contextmanager
def learning(request: Request, engine: Engine, threads: int) -> Iterator[None]:
    """Have runs learned from while a server serves.

    Args:
        request: names the database.
        engine: where runs are kept.
        threads: of this process; 0 leaves it to workers, for which jobs are put in where the database has a queue.
    """
    if threads:
        from tenure.serving.service.background import ThreadLearning

        learns = ThreadLearning(engine, threads=threads)
        try:
            yield
        finally:
            if not learns.close():
                request.terminal.say("A run is still being learned from; it is learned again after the next start.")
        return
    from tenure import telemetry
    from tenure.project import database_url, is_postgres

    url = database_url(request.db)
    if not is_postgres(url) or importlib.util.find_spec("dbos") is None:
        yield
        return
    from tenure.workers.arriving import QueuedLearning
    from tenure.workers.queue import JobQueue
    from tenure.workers.work import Engine as Jobs

    queued = QueuedLearning(engine.store, JobQueue(url, Jobs(engine.store).model_of))
    telemetry.watch_queue("learn", lambda: queued.jobs.counts()["waiting"])
    engine.learning = queued
    try:
        yield
    finally:
        queued.close()
