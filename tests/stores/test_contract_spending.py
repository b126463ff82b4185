"""Laws of every store: spending is booked in one step, and put off reflections are kept until they are done."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenure.errors import SpendCapReached
from tenure.ports import FailedReply, Postponed, Store, Usage
from tests.stores.contract import fresh_scope


def test_spending_is_booked_on_the_day_that_is_decided_from_all_days(store: Store) -> None:
    scope, other = fresh_scope(), fresh_scope()
    store.add_spending(scope, "2026-03-14", Usage(calls=2))
    store.add_spending(other, "2026-03-14", Usage(calls=9))
    seen: list[Mapping[str, Usage]] = []

    def decide(days: Mapping[str, Usage]) -> str:
        seen.append(dict(days))
        return "2026-03-15"

    assert store.book_spending(scope, Usage(calls=1, input_tokens=7), decide) == "2026-03-15"
    assert seen == [{"2026-03-14": Usage(calls=2)}]
    store.add_spending(scope, "2026-03-15", Usage(input_tokens=-3))
    assert store.spent(scope, "2026-03-15") == Usage(calls=1, input_tokens=4)
    assert store.spent(scope).calls == 3


def test_what_is_refused_is_not_booked(store: Store) -> None:
    scope = fresh_scope()

    def refuse(_: Mapping[str, Usage]) -> str:
        raise SpendCapReached(what="calls", cap="0", spent="0", period="day")

    with pytest.raises(SpendCapReached):
        store.book_spending(scope, Usage(calls=1), refuse)
    assert store.spent(scope) == Usage()


def test_bookings_at_once_see_each_other(store: Store) -> None:
    scope, callers, most = fresh_scope(), 6, 10
    gate = threading.Barrier(callers)

    def decide(days: Mapping[str, Usage]) -> str:
        if sum(used.calls for used in days.values()) >= most:
            raise SpendCapReached(what="calls", cap=str(most), spent="", period="day")
        return "2026-03-15"

    def book(_: int) -> int:
        gate.wait()
        done = 0
        for _ in range(5):
            try:
                store.book_spending(scope, Usage(calls=1), decide)
                done += 1
            except SpendCapReached:
                pass
        return done

    with ThreadPoolExecutor(callers) as pool:
        assert sum(pool.map(book, range(callers))) == most
    assert store.spent(scope).calls == most


def test_a_put_off_reflection_is_kept_once_a_run_until_it_is_done(store: Store) -> None:
    scope, other = fresh_scope(), fresh_scope()
    first = Postponed(run="r1", limit="day", reason="a cap", at="2026-03-15T10:00:00+00:00")
    again = Postponed(run="r1", limit="model", reason="nothing", attempts=2, at="2026-03-15T12:00:00+00:00")
    second = Postponed(run="r2", limit="run", reason="a cap", at="2026-03-15T11:00:00+00:00")
    with store.writing(scope) as work:
        for one in (first, second, again):
            work.postpone(one)
        work.keep_failed_reply(FailedReply(id="f1", run="r1", purpose="reflect", reason="odd", reply="?"))
        work.keep_failed_reply(FailedReply(id="f2", run="r2", purpose="reflect", reason="odd", reply="?"))
    with store.reading(scope) as look:
        assert list(look.postponed()) == [second, again]
        assert list(look.postponed(below=2)) == [second]
        assert list(look.postponed(limit=1)) == [second]
        assert look.postponed_run("r1") == again
        assert look.postponed_run("r9") is None
    with store.reading(other) as look:
        assert list(look.postponed()) == []
    with store.writing(scope) as work:
        work.drop_postponed("r1")
        work.drop_postponed("r9")
    with store.reading(scope) as look:
        assert list(look.postponed()) == [second]
        assert [failed.id for failed in look.failed_replies()] == ["f2"]
