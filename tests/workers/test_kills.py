"""Kill -9 of workers, of the server and of database connections at random moments: every acknowledged run is learned once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.opening import open_store
from tests.postgres import Database
from tests.workers.service import SCOPES

SERVICE = Path(__file__).with_name("service.py")
SILENT_S = "3"


class Processes:
    """Processes of a service. What they said stands in files, so that nothing said is lost with a pipe."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.said: dict[str, Path] = {}
        self.number = 0

    def wait_for(self, what: str) -> None:
        """Wait until a process has said something, as far as it lives and takes no longer than two minutes."""
        deadline = time.monotonic() + 120
        while not self.said[what].stat().st_size and self.running[what].poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)

    def start(self, what: str) -> None:
        """Start a feeder or a worker."""
        self.number += 1
        said = (self.folder / f"{what}-{self.number}.txt").open("wb")
        args = ["feed", self.url, f"r{self.number}"] if what.startswith("feed") else ["work", self.url, SILENT_S]
        self.said[what] = Path(said.name)
        with said:
            self.running[what] = subprocess.Popen(
                [sys.executable, str(SERVICE), *args], stdout=said, stderr=subprocess.STDOUT, start_new_session=True
            )

    def kill(self, what: str) -> None:
        """Kill -9."""
        process = self.running.pop(what)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def acknowledged(self) -> set[tuple[str, str]]:
        """Scope and id of every run that was said to be kept."""
        lines = "".join(path.read_text(errors="replace") for path in self.folder.glob("feed-*.txt")).splitlines()
        return {(line.split()[1], line.split()[2]) for line in lines if line.startswith("kept ")}

    def end(self) -> None:
        """Kill whatever runs."""
        for what in list(self.running):
            self.kill(what)


@pytest.fixture
def processes(tmp_path: Path, database: Database) -> Iterator[Processes]:
    found = Processes(tmp_path, database.url)
    yield found
    found.end()


def cut_a_connection(database: Database, chance: random.Random) -> None:
    import psycopg

    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid"
        ).fetchall()
        if found:
            connection.execute("SELECT pg_terminate_backend(%s)", (chance.choice(found)[0],))


def learned_runs(url: str) -> Counter[tuple[str, str]]:
    """How many deltas each run led to, of its learning."""
    counted: Counter[tuple[str, str]] = Counter()
    store = open_store(url)
    for scope in SCOPES:
        with store.reading(scope) as look:
            for entry in look.ledger():
                if (entry.delta.key or "").startswith("learn:"):
                    counted[scope, str(entry.delta.key).split(":")[1]] += 1
            assert look.verify_ledger() == []
    store.close()
    return counted


def waiting(url: str) -> int:
    store = open_store(url)
    try:
        total = 0
        for scope in SCOPES:
            with store.reading(scope) as look:
                total += len(look.unlearned(limit=10_000))
        return total
    finally:
        store.close()


@pytest.mark.parametrize("kills", [pytest.param(6, id="6 kills"), pytest.param(50, id="50 kills", marks=pytest.mark.full)])
def test_every_acknowledged_run_is_learned_once(processes: Processes, database: Database, kills: int) -> None:
    chance = random.Random(kills)
    for what in ("feed", "work-a", "work-b"):
        processes.start(what)
    for what in ("feed", "work-a", "work-b"):
        processes.wait_for(what)
    done: Counter[str] = Counter()
    for _ in range(kills):
        time.sleep(chance.uniform(0.1, 1.5))
        victim = chance.choice(("feed", "work-a", "work-b", "connection", "connection"))
        done[victim] += 1
        if victim == "connection":
            cut_a_connection(database, chance)
        else:
            processes.kill(victim)
            processes.start(victim)
            if chance.random() < 0.8:  # else it may be killed while it starts
                processes.wait_for(victim)
    processes.wait_for("feed")
    processes.kill("feed")
    processes.kill("work-b")  # for ever
    deadline = time.monotonic() + 120
    while waiting(database.url) and time.monotonic() < deadline:
        time.sleep(0.5)
    kept, learned = processes.acknowledged(), learned_runs(database.url)
    assert waiting(database.url) == 0
    assert len(kept) > kills, "there was something to lose"
    assert kept - set(learned) == set(), f"acknowledged and not learned, {dict(done)}"
    assert [one for one, times in learned.items() if times != 1] == []
