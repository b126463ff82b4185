"""Laws of every store: what it says of aggregates is what the algebra says."""

from __future__ import annotations

from hypothesis import given, settings

from tenure import Delta, Playbook
from tenure.playbook.delta import Observe, Revoke
from tenure.playbook.notation import dumps
from tenure.ports import Store
from tests.playbook.test_aggregates import histories
from tests.stores.contract import fresh_scope
from tests.strategies import fold


@given(history=histories())
@settings(max_examples=40)
def test_a_store_says_what_the_algebra_says(store: Store, history: tuple[Playbook, list[Delta]]) -> None:
    _, later = history
    scope, book = fresh_scope(), Playbook()
    for delta in later:
        with store.writing(scope) as work:
            admitted = work.admit(delta)
        expected, book = fold(book, [delta]), fold(book, [delta])
        with store.reading(scope) as look:
            assert dumps(look.playbook()) == dumps(expected)
            assert tuple(look.aggregates(most_rows=1000)) == expected.aggregates
            assert set(look.aggregate_names()) == {one.id for one in expected.aggregates}
            every = sorted((one.observation for one in expected.observations.by_id.values()), key=lambda one: one.order)
            assert list(look.observations()) == every
            assert list(look.observations(run="run-1", limit=2)) == [one for one in every if one.run == "run-1"][-2:]
            assert list(look.observations(origin="local/web")) == [one for one in every if one.origin == "local/web"]
            assert admitted.version is None or not look.verify_ledger()


def test_figures_of_one_scope_are_not_those_of_another(store: Store) -> None:
    mine, other = fresh_scope(), fresh_scope()
    for scope, value in ((mine, "1"), (other, "2")):
        with store.writing(scope) as work:
            work.admit(Delta("01", [Observe("s", "n", value, run="r", step=1)]))
    with store.reading(mine) as look:
        assert [row.figure("sum") for table in look.aggregates() for row in table.rows] == ["1"]
        assert look.observed(look.observations()[0].id) is not None


def test_named_rows_come_before_those_with_the_most_observations(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.admit(Delta("01", [Observe("s", "n", "1", key=f"k{n:02d}", run=f"r{i}") for n in range(30) for i in range(1 + (n < 5))]))
    with store.reading(scope) as look:
        (table,) = look.aggregates(most_rows=4, keys=("k29",))
        assert [row.key for row in table.rows] == ["k00", "k01", "k02", "k29"]
        assert (table.keys, table.count) == (30, 35)


def test_revoking_takes_the_extreme_and_the_middle_with_it(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        ids = [one.id for one in work.admit(Delta("01", [Observe("s", "n", str(n), run="r", step=n) for n in range(9)])).receipts]
        work.admit(Delta("02", [Revoke(ids[6:])]))
    with store.reading(scope) as look:
        ((row,),) = (table.rows for table in look.aggregates())
        assert [row.figure(kind) for kind in ("count", "sum", "max", "median", "last 2")] == ["6", "15", "5", "2.5", "4, 5"]
