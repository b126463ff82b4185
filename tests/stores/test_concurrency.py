"""Many writers on one database: nothing is lost, nobody sees an error."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tenure.errors import StoreBusy
from tenure.opening import open_store
from tenure.playbook.delta import Add, Delta
from tenure.playbook.lessons import Evidence
from tenure.playbook.notation import dumps
from tenure.ports import Store
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.sqlite import open_sqlite
from tests import postgres
from tests.stores.contract import fold_ledger
from tests.stores.processes import SCOPE, at_once

PROCESSES = 8


@pytest.fixture(params=["sqlite", "postgres"])
def url(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'book.db'}"
    if postgres.MISSING:
        pytest.skip(postgres.MISSING)
    return postgres.database_of(tmp_path).url


def opened(url: str, busy_s: float) -> Store:
    """A store that waits so long for others, in seconds."""
    if url.startswith("sqlite:"):
        return open_sqlite(url, busy_s=busy_s)
    from tenure.stores.postgres import open_postgres

    return open_postgres(url, busy_s=busy_s)


def assert_sound(store: Store) -> None:
    """The ledger, the playbook and the readable lessons say the same."""
    with store.reading(SCOPE) as look:
        entries = look.ledger()
        assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
        assert dumps(look.playbook()) == fold_ledger(entries)
        assert list(look.lessons(live=False)) == list(look.playbook().every_lesson)
        assert look.verify_ledger() == []


@pytest.mark.parametrize("each", [pytest.param(20, id="20 each"), pytest.param(200, id="200 each", marks=pytest.mark.full)])
def test_processes_that_write_at_once_lose_nothing_and_report_nothing(url: str, each: int) -> None:
    each = each if url.startswith("sqlite:") else max(10, each // 5)
    with at_once(*(("learn", url, f"w{number}", str(each)) for number in range(PROCESSES))) as processes:
        said = [line for process in processes for line in process.finish()]
    store = open_store(url)
    assert_sound(store)
    with store.reading(SCOPE) as look:
        kept = {f"delta {entry.delta.id}" for entry in look.ledger()} | {f"run {run_id}" for run_id in look.run_ids()}
        assert kept == set(said)
        assert len(look.ledger()) == look.version() == PROCESSES * each
        shared = next(lesson for lesson in look.lessons() if lesson.text == "what everybody finds")
        assert shared.tallies.support == PROCESSES * each // 10
        assert len({entry.writer for entry in look.ledger()}) == 1  # an installation is one writer, whatever its processes
    store.close()


@pytest.mark.parametrize("attempts", [pytest.param(1, id="once"), pytest.param(10, id="10 times", marks=pytest.mark.full)])
def test_processes_that_make_the_database_at_once_all_open_it(tmp_path: Path, attempts: int) -> None:
    for attempt in range(attempts):
        url = f"sqlite:///{tmp_path / f'new{attempt}' / 'book.db'}"
        with at_once(*[("open", url)] * PROCESSES) as processes:
            for process in processes:
                assert process.finish() == ["opened at version 0"]


def test_the_same_lesson_at_once_is_one_lesson_with_every_source(url: str) -> None:
    text = "Convert each line at the invoice-date rate"
    store = open_store(url)
    statuses: list[str] = []
    errors: list[BaseException] = []
    together = threading.Barrier(8)

    def add(source: str) -> None:
        try:
            together.wait()
            with store.writing(SCOPE) as transaction:
                admitted = transaction.admit(Delta(f"01-{source}", [Add("fx", text, evidence=(Evidence(run=source),))]))
            statuses.append(admitted.receipts[0].status)
        except Exception as error:  # noqa: BLE001  # whatever it is, the main thread has to report it
            errors.append(error)

    threads = [threading.Thread(target=add, args=(f"thread {number}",)) for number in range(8)]
    with at_once(*(("same", url, f"process {number}", text) for number in range(2))) as processes:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses += [line for process in processes for line in process.finish()]
    assert errors == []
    assert len(statuses) == 10
    assert set(statuses) == {"applied", "merged"}
    assert_sound(store)
    with store.reading(SCOPE) as look:
        (lesson,) = look.lessons()
        assert lesson.tallies.support == 10
        assert {place.run for place in lesson.evidence} == {f"process {n}" for n in range(2)} | {f"thread {n}" for n in range(8)}
    store.close()


def test_readers_are_not_held_up_by_a_writer(url: str) -> None:
    store = opened(url, 0.1)
    with store.writing(SCOPE) as transaction:
        transaction.admit(Delta("01A", [Add("s", "first")]))
    with store.writing(SCOPE) as transaction:
        transaction.admit(Delta("01B", [Add("s", "second")]))
        with at_once(("open", url)) as (process,):
            assert process.finish() == ["opened at version 1"]
    store.close()


def test_a_writer_that_waits_in_vain_says_so_and_writes_nothing(url: str) -> None:
    one, other = opened(url, 0.1), opened(url, 0.1)
    memory = InMemoryStore(wait_s=0.1)
    for first, second in ((one, other), (memory, memory)):
        with first.writing(SCOPE) as transaction:
            transaction.admit(Delta("01A", [Add("s", "first")]))
            with pytest.raises(StoreBusy, match=r"Nothing was written; try again\."), second.writing(SCOPE):
                pytest.fail("two transactions at once")
        with second.writing(SCOPE) as transaction:
            assert transaction.admit(Delta("01B", [Add("s", "second")])).version == 2
    one.close()
    other.close()
