"""Processes that work on one database at once, or die over it. Run as a script, started and read by the tests.

Each says `ready` when everything is imported, waits for a line, and then says what it did: a line
stands on its standard output only after the transaction it speaks of has ended. Lines are written
in one piece, so that a process killed at any moment has said a whole line or nothing.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, cast

from tenure.errors import TenureError
from tenure.opening import open_store
from tenure.playbook.delta import Add, Delta, Operation, Retire, Tally
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Outcome, Run, Step, Task

SCOPE = "acme/desk"


def say(*lines: str) -> None:
    """Write lines in one piece."""
    os.write(1, "".join(line + "\n" for line in lines).encode())


def learn(url: str, writer: str, count: str) -> None:
    """Keep a run and admit a delta about it, again and again; each time say both ids. Count 0 goes on for ever."""
    store = open_store(url)
    for number in range(int(count)) if int(count) else itertools.count():
        run_id, delta_id = f"run-{writer}-{number:05}", f"01-{writer}-{number:05}"
        operations: list[Operation] = [
            Add(
                "errors",
                f"statement {number} of {writer}: tidy up after it",
                id=f"ctx-{writer}-{number}",
                evidence=(Evidence(run=run_id, step=1),),
            ),
        ]
        if number % 10 == 0:
            operations.append(Add("errors", "what everybody finds", evidence=(Evidence(run=run_id, step=2),)))
        if number:
            operations.append(Tally(f"ctx-{writer}-{number - 1}", helpful=1))
        if number % 7 == 6:
            operations.append(Retire(f"ctx-{writer}-{number - 3}", reason="of no use"))
        said = tuple(Step(kind="message", role="user", content=f"{place} of {run_id}") for place in range(4))
        with store.writing(SCOPE) as transaction:
            run = Run(id=run_id, task=Task(text=f"task of {writer}", kind="k"), steps=said, outcome=Outcome(success=True, signal="test"))
            transaction.keep_run(run, learned=True)
            transaction.admit(Delta(delta_id, operations, key=run_id))
        say(f"run {run_id}", f"delta {delta_id}")
    store.close()


def same(url: str, source: str, text: str) -> None:
    """Add a text that others add too."""
    store = open_store(url)
    with store.writing(SCOPE) as transaction:
        admitted = transaction.admit(Delta(f"01-{source}", [Add("fx", text, evidence=(Evidence(run=source),))]))
    say(admitted.receipts[0].status)
    store.close()


def only_open(url: str) -> None:
    """Open the database, look at it and close it."""
    store = open_store(url)
    with store.reading(SCOPE) as look:
        say(f"opened at version {look.version()}")
    store.close()


def tell_events(url: str, count: str) -> None:
    """Tell the memory events that others tell too: checkpoints, and every third a flush. Says of each whether it was kept."""
    from tenure import Tenure

    book = Tenure.open(url, scope=SCOPE, embedder="none")
    for number in range(int(count)):
        event = f"event-{number:04}"
        if number % 3:
            kept = book.memory.checkpoint(request=f"task {number}", outcome="done", event=event)
        else:
            kept = book.memory.flush(f"summary {number}", event=event).kept
        say(f"{'kept' if kept is not None else 'known'} {event}")
    book.memory.start()
    book.close()


def export(url: str, folder: str) -> None:
    """Export the memory again and again, with a new entry each time."""
    from tenure import Tenure

    book = Tenure.open(url, scope=SCOPE, embedder="none")
    for number in itertools.count():
        book.memory.log(f"entry {number}")
        say(f"left {len(book.memory.export(folder).left)}")


VERBS: dict[str, Callable[..., None]] = {"learn": learn, "same": same, "open": only_open, "tell-events": tell_events, "export": export}


def main(verb: str, *arguments: str) -> int:
    """Wait for the start, then do it; an error of Tenure's is one line that begins with its class."""
    say("ready")
    sys.stdin.readline()
    try:
        VERBS[verb](*arguments)
    except TenureError as error:
        say(f"{type(error).__name__}: {error}")
        return 1
    say("done")
    return 0


# -- the tests' side ------------------------------------------------------------------------------------


class Process:
    """One such process, as a test sees it."""

    def __init__(self, verb: str, *arguments: str) -> None:
        # Unbuffered, so that what `wait_for_a_line` leaves is there for the reading at the end.
        command = [sys.executable, __file__, verb, *arguments]
        self._popen = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._said: list[str] | None = None
        self._complaint = ""

    @property
    def _out(self) -> IO[bytes]:
        return cast("IO[bytes]", self._popen.stdout)

    def wait_until_ready(self) -> None:
        """Wait until everything is imported."""
        line = self._out.readline()
        assert line == b"ready\n", (line, self.kill(), self._complaint)

    def go(self) -> None:
        """Let it start."""
        stdin = cast("IO[bytes]", self._popen.stdin)
        stdin.write(b"go\n")
        stdin.flush()

    def wait_for_a_line(self) -> str:
        """The next thing it says."""
        return self._out.readline().decode().rstrip("\n")

    def kill(self) -> list[str]:
        """End it, if it is still there, as a power cut would; what more it had said until then."""
        self._popen.kill()
        return self._rest()

    def end(self) -> list[str]:
        """Wait for its end, good or bad, but never a traceback; what it said."""
        lines = self._rest()
        assert self._complaint == "", self._complaint[-4000:]
        return lines

    def finish(self) -> list[str]:
        """Wait for its end, which must be a good one; what it said."""
        lines = self.end()
        assert lines[-1:] == ["done"], lines[-3:]
        return lines[:-1]

    def _rest(self) -> list[str]:
        if self._said is None:
            out, err = self._popen.communicate(timeout=240)
            self._said, self._complaint = out.decode().splitlines(), err.decode()
        return self._said


@contextmanager
def at_once(*calls: tuple[str, ...]) -> Iterator[list[Process]]:
    """Processes that go at the same moment, when all are ready; none outlives the block."""
    processes = [Process(*call) for call in calls]
    try:
        for process in processes:
            process.wait_until_ready()
        for process in processes:
            process.go()
        yield processes
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
