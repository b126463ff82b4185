"""Laws of every store: heartbeats of workers and turns, by the store's own clock."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from tenure.ports import Store, WorkerSeen
from tenure.stores import rows
from tenure.stores.sql_workforce import SqlWorkforce

_numbers = itertools.count(1)


def fresh(what: str) -> str:
    return f"{what}{next(_numbers)}-{threading.get_ident()}"


def seen(store: Store, executor: str) -> WorkerSeen | None:
    return next((one for one in store.workforce.workers() if one.executor == executor), None)


def test_a_worker_is_seen_until_it_leaves(store: Store) -> None:
    one, other = fresh("w"), fresh("w")
    for executor in (one, other):
        store.workforce.beat(executor, host="h1", process=7, release="1.0")
    found = seen(store, one)
    assert found is not None
    assert (found.host, found.process, found.release) == ("h1", 7, "1.0")
    store.workforce.leave(one)
    store.workforce.leave(one)
    assert seen(store, one) is None
    assert seen(store, other) is not None


def test_silence_grows_until_the_next_beat_and_the_age_goes_on(store: Store) -> None:
    quiet, loud = fresh("w"), fresh("w")
    store.workforce.beat(quiet, host="h", process=1, release="1")
    store.workforce.beat(loud, host="h", process=2, release="1")
    time.sleep(0.2)
    store.workforce.beat(loud, host="h", process=2, release="1.1")
    found, also = seen(store, quiet), seen(store, loud)
    assert found is not None
    assert also is not None
    assert 0.1 < found.silent_s < 60
    assert also.silent_s < found.silent_s
    assert also.up_s > 0.1
    assert also.release == "1.1"
    names = [one.executor for one in store.workforce.workers()]
    assert names.index(loud) < names.index(quiet), "the longest silent last"


def test_a_turn_is_had_by_one_and_comes_again(store: Store) -> None:
    name, askers = fresh("sweep"), 6
    gate = threading.Barrier(askers)

    def ask(_: int) -> bool:
        gate.wait()
        return store.workforce.turn(name, every_s=30)

    with ThreadPoolExecutor(askers) as pool:
        assert sum(pool.map(ask, range(askers))) == 1
    assert not store.workforce.turn(name, every_s=30)
    assert store.workforce.turn(name, every_s=0)
    assert store.workforce.turn(fresh("sweep"), every_s=30), "another turn is another's"


def test_a_clock_that_is_put_back_keeps_no_dead_worker_alive_and_no_turn_from_coming(store: Store) -> None:
    workforce = store.workforce
    if not isinstance(workforce, SqlWorkforce):
        pytest.skip("its clock cannot be put back")
    dead, name = fresh("w"), fresh("sweep")
    workforce.beat(dead, host="h", process=1, release="1")
    assert workforce.turn(name, every_s=60)
    with workforce._begin() as connection:  # an hour later; then the clock is an hour behind
        connection.execute(update(rows.workers).where(rows.workers.c.executor == dead).values(seen=rows.workers.c.seen + 3_600))
        connection.execute(update(rows.turns).where(rows.turns.c.name == name).values(taken=rows.turns.c.taken + 3_600))
    found = seen(store, dead)
    assert found is not None
    assert found.silent_s > 3_000
    assert workforce.turn(name, every_s=60)
    assert not workforce.turn(name, every_s=60)
    workforce.beat(dead, host="h", process=1, release="1")
    again = seen(store, dead)
    assert again is not None
    assert again.silent_s < 60
