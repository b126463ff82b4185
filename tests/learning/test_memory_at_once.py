"""The memory told the same by several processes at once, and by processes that die: each event is one entry, and none is lost."""

from __future__ import annotations

import random
import time
from pathlib import Path

from tenure import Tenure
from tests.stores.processes import SCOPE, at_once


def held(url: str) -> tuple[list[str], list[str]]:
    """Events of the entries, and what is stale in the tree once it was brought up to date."""
    with Tenure.open(url, scope=SCOPE, embedder="none") as book:
        book.memory.start()
        with book.store.reading(SCOPE) as look:
            return sorted(one.event for one in look.entries()), [one.key for one in look.stale_periods()]


def test_two_processes_that_tell_the_same_events_keep_each_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    with at_once(("tell-events", url, "12"), ("tell-events", url, "12")) as processes:
        said = [process.finish() for process in processes]
    events = [f"event-{number:04}" for number in range(12)]
    assert sorted(line.split()[1] for lines in said for line in lines if line.startswith("kept")) == events
    assert held(url) == (events, [])


def test_events_told_by_processes_that_are_killed_are_kept_once_and_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    url, chance = f"sqlite:///{tmp_path / 'book.db'}", random.Random(5)
    kept: list[str] = []
    for _ in range(3):
        with at_once(("tell-events", url, "400")) as (process,):
            said = [process.wait_for_a_line()]
            time.sleep(chance.uniform(0.0, 0.2))
            said += process.kill()
        kept += [line.split()[1] for line in said if line.startswith("kept")]
    assert len(kept) == len(set(kept))
    events, stale = held(url)
    assert set(kept) <= set(events)
    # One more may be on disk than was said: the process died between the two.
    assert len(events) - len(kept) <= 3
    assert len(events) == len(set(events))
    assert stale == []


def test_an_export_that_is_killed_leaves_whole_files_that_the_next_one_knows_as_its_own(tmp_path: Path) -> None:
    url, folder, chance = f"sqlite:///{tmp_path / 'book.db'}", tmp_path / "mirror", random.Random(3)
    for _ in range(2):
        with at_once(("export", url, str(folder))) as (process,):
            said = [process.wait_for_a_line()]
            time.sleep(chance.uniform(0.0, 0.15))
            said += process.kill()
        assert set(said) == {"left 0"}
    with Tenure.open(url, scope=SCOPE, embedder="none") as book, Tenure.open("memory://", scope=SCOPE, embedder="none") as other:
        assert book.memory.export(folder).left == ()
        other.memory.import_folder(folder)
        with book.store.reading(SCOPE) as look, other.store.reading(SCOPE) as copy:
            assert list(look.entries()) == list(copy.entries())
