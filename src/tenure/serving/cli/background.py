"""Who learns from what a server or a proxy keeps: threads of its own, or workers elsewhere."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tenure.serving.cli.request import Request

if TYPE_CHECKING:
    from tenure.serving.service.engine import Engine


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
    from tenure.project import database_url, is_postgres

    url = database_url(request.db)
    if not is_postgres(url) or importlib.util.find_spec("dbos") is None:
        yield
        return
    from tenure.workers.arriving import QueuedLearning
    from tenure.workers.queue import JobQueue
    from tenure.workers.work import Engine as Jobs

    queued = QueuedLearning(engine.store, JobQueue(url, Jobs(engine.store).model_of))
    engine.learning = queued
    try:
        yield
    finally:
        queued.close()
