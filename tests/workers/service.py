"""Parts of a service as processes that can be killed. Run as a script by the tests.

service.py feed URL NAME      keeps runs of three tenants one after another, says each id once it is durable, then queues it
service.py work URL SILENT    a worker, as `tenure worker run` is one
"""

from __future__ import annotations

import itertools
import os
import sys
import time

from tenure.opening import open_store
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.wiring import Tenure

SCOPES = ("acme/desk", "acme/finance", "globex/desk", "initech/desk")


def say(line: str) -> None:
    """Write a line in one piece."""
    os.write(1, (line + "\n").encode())


def cured(name: str, scope: str, number: int) -> Run:
    """A run in which a call is rejected and then accepted in another form."""
    return Run(
        id=name,
        scope=scope,
        task=Task(text=f"reconcile invoice {number}"),
        steps=(
            Step(kind="tool_call", role="assistant", name="convert", arguments={"rate_on": "payment_date"}),
            Step(kind="tool_result", role="tool", name="convert", content="Error: no rate", error=f"no rate on the payment date {number}"),
            Step(kind="tool_call", role="assistant", name="convert", arguments={"rate_on": "invoice_date"}),
            Step(kind="tool_result", role="tool", name="convert", content="1043.10"),
        ),
        outcome=Outcome(success=True, signal="environment"),
        ended="2026-01-05T09:00:00+00:00",
    )


def feed(url: str, name: str) -> None:
    """Keep runs until it is killed. What cannot be kept is not said."""
    from tenure.workers.queue import JobQueue

    queue = JobQueue(url, lambda _: "")
    store = open_store(url)
    books = [Tenure(store, scope) for scope in SCOPES]
    for number in itertools.count():
        book = books[number % len(books)]
        run = cured(f"{name}-{number}", book.scope, number)
        try:
            book.keep(run)
        except Exception as exc:  # noqa: BLE001  # the connection was cut: not acknowledged, so not promised
            say(f"failed {type(exc).__name__}")
            continue
        say(f"kept {book.scope} {run.id}")
        queue.arrived(book.scope, run.id, "4:known")
        time.sleep(0.03)  # no faster than two workers on a busy machine learn


if __name__ == "__main__":
    if sys.argv[1] == "feed":
        feed(sys.argv[2], sys.argv[3])
    else:
        from tenure.serving.cli.main import app
        from tenure.workers.worker import Worker

        # A run whose feeder was killed before it queued it waits for the next sweep: of each five seconds, not of each minute.
        defaults = Worker.__init__.__kwdefaults__
        assert defaults is not None
        assert defaults["sweep_s"] == 60
        defaults["sweep_s"] = 5.0
        app(["worker", "run", "--db", sys.argv[2], "--silent", sys.argv[3], "--at-once", "3"])
