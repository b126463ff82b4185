"""Laws of every store: transactions, deltas, ledger, durability."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.errors import ScopeError
from tenure.playbook.apply import apply
from tenure.playbook.delta import Add, Delta, Merge, Retire, Tally, Update
from tenure.playbook.lessons import Evidence
from tenure.playbook.notation import dumps
from tenure.playbook.run import Run, Task
from tenure.playbook.state import Playbook
from tenure.ports import Admitted, Store, Usage, Writing
from tests.stores.contract import ADAPTERS, NASTY, Adapter, delta_lists, fill, fold, fold_ledger, fresh_scope, look_at, plain

# -- transactions -------------------------------------------------------------------------------------


class BrokeOffError(Exception):
    """What goes wrong in the middle of a transaction."""


def broken_off(store: Store, scope: str, write: Callable[[Writing], None], error: type[BaseException] = BrokeOffError) -> None:
    """A transaction that an error leaves after it wrote."""
    with store.writing(scope) as transaction:
        write(transaction)
        raise error


@pytest.mark.parametrize("error", [BrokeOffError, KeyboardInterrupt])
def test_nothing_is_kept_of_a_transaction_that_an_error_leaves(store: Store, error: type[BaseException]) -> None:
    scope = fresh_scope()
    before = look_at(store, scope)
    with pytest.raises(error):
        broken_off(store, scope, fill, error)
    assert look_at(store, scope) == before
    assert scope not in store.scopes()


def test_a_failed_transaction_takes_no_version_and_no_id(store: Store) -> None:
    scope = fresh_scope()
    with pytest.raises(BrokeOffError):
        broken_off(store, scope, lambda transaction: fill(transaction, "first try"))
    with store.writing(scope) as transaction:
        fill(transaction, "second try")
    with store.reading(scope) as look:
        assert look.version() == 1
        assert "second try" in str(look.lesson("ctx-1"))


def test_a_failed_transaction_leaves_what_was_there(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        fill(transaction)
    before = look_at(store, scope)

    def change(transaction: Writing) -> None:
        transaction.admit(Delta("01B", [Add("s", "another"), Update("ctx-1", text="new words"), Retire("ctx-1")]))
        transaction.keep_run(Run(id="r1", task=Task(text="t"), ended="2026-03-16"), learned=True)
        transaction.decide("h1", state="approved", decided="me")
        transaction.drop_failed_reply("f1")
        transaction.set("mark", None)

    with pytest.raises(BrokeOffError):
        broken_off(store, scope, change)
    assert look_at(store, scope) == before


def test_a_transaction_sees_what_it_wrote(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        fill(transaction)
        seen_inside = {"ids": [one.id for one in transaction.lessons()], "version": transaction.version(), "run": transaction.run_ids()}
        assert transaction.lesson("ctx-1") is not None
        assert transaction.holds("01A")
        assert transaction.key_owner("run:r1") == "01A"
        assert transaction.setting("mark") == "m"
        assert [hit.lesson.id for hit in transaction.search("smallest", limit=3)] == ["ctx-1"]
    with store.reading(scope) as look:
        assert {"ids": [one.id for one in look.lessons()], "version": look.version(), "run": look.run_ids()} == seen_inside


def test_others_see_a_transaction_when_it_has_ended_and_not_before(store: Store) -> None:
    scope = fresh_scope()
    before = look_at(store, scope)
    with store.writing(scope) as transaction:
        fill(transaction)
        assert look_at(store, scope) == before
    assert look_at(store, scope) != before


def test_a_look_stays_as_it_was_while_others_write(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        transaction.admit(Delta("01A", [Add("s", "first", id="ctx-1")]))
    with store.reading(scope) as look:
        assert look.version() == 1
        with store.writing(scope) as transaction:
            transaction.admit(Delta("01B", [Add("s", "second"), Retire("ctx-1")]))
        assert look.version() == 1
        assert [one.text for one in look.lessons()] == ["first"]
        assert dumps(look.playbook()) == fold_ledger(look.ledger())
    with store.reading(scope) as look:
        assert [one.text for one in look.lessons()] == ["second"]


def test_threads_take_turns_and_lose_nothing(store: Store) -> None:
    scope = fresh_scope()
    errors: list[BaseException] = []

    def write(thread: int) -> None:
        try:
            for number in range(10):
                with store.writing(scope) as transaction:
                    transaction.admit(Delta(f"01-{thread}-{number}", [Add("s", f"statement {thread} {number}"), Add("s", "the same")]))
        except Exception as error:  # noqa: BLE001  # whatever it is, the main thread has to report it
            errors.append(error)

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with store.reading(scope) as look:
        assert [entry.version for entry in look.ledger()] == list(range(1, 41))
        assert len(look.lessons()) == 41
        assert dumps(look.playbook()) == fold_ledger(look.ledger())
        assert look.verify_ledger() == []


MISSING_SCOPES: tuple[Any, ...] = ("", None, "/", "acme//x", "acme/../globex", "acme/x\n")


@pytest.mark.parametrize("scope", MISSING_SCOPES, ids=repr)
def test_a_missing_or_malformed_scope_is_an_error_and_never_all(store: Store, scope: Any) -> None:
    with pytest.raises(ScopeError), store.reading(scope):
        pytest.fail("it was opened")
    with pytest.raises(ScopeError), store.writing(scope):
        pytest.fail("it was opened")
    with pytest.raises(ScopeError):
        store.spent(scope, "2026-03-15")
    with pytest.raises(ScopeError):
        store.add_spending(scope, "2026-03-15", Usage(calls=1))


# -- deltas -------------------------------------------------------------------------------------------


def admit(store: Store, scope: str, *deltas: Delta) -> list[Admitted]:
    """Each delta in a transaction of its own."""
    found = []
    for delta in deltas:
        with store.writing(scope) as transaction:
            found.append(transaction.admit(delta))
    return found


@given(deltas=delta_lists(), transactions=st.lists(st.integers(1, 3), min_size=8, max_size=8))
@settings(max_examples=60)
def test_a_store_does_what_apply_does(store: Store, deltas: list[Delta], transactions: list[int]) -> None:
    scope, book, admitted, waiting = fresh_scope(), Playbook(), [], list(deltas)
    versions = 0
    for size in (*transactions, len(deltas)):
        batch, waiting = waiting[:size], waiting[size:]
        with store.writing(scope) as transaction:
            for delta in batch:
                applied = apply(book, delta)
                got = transaction.admit(delta)
                assert got.receipts == applied.receipts
                traced = applied.playbook is not book
                versions += traced
                assert got.version == (versions if traced else None)
                admitted += [delta] if traced else []
                book = applied.playbook
    with store.reading(scope) as look:
        assert dumps(look.playbook()) == dumps(book)
        assert list(look.lessons()) == list(book.lessons)
        assert list(look.lessons(live=False)) == list(book.every_lesson)
        assert [plain(entry.delta) for entry in look.ledger()] == [plain(delta) for delta in admitted]
        assert fold_ledger(look.ledger()) == dumps(book)
        assert look.newest_delta_id() == max((delta.id for delta in admitted), default="")
        assert look.verify_ledger() == []
        for lesson in book.every_lesson:
            assert look.lesson(lesson.id) == lesson
            for alias in lesson.merged:
                assert look.lesson(alias) == lesson
        for version in range(versions + 1):
            assert dumps(look.playbook(version)) == dumps(fold(admitted[:version]))


def test_versions_count_from_one_in_each_scope(store: Store) -> None:
    one, other = fresh_scope(), fresh_scope()
    assert [a.version for a in admit(store, one, Delta("01A", [Add("s", "a")]), Delta("01B", [Add("s", "b")]))] == [1, 2]
    assert [a.version for a in admit(store, other, Delta("01A", [Add("s", "a")]))] == [1]
    with store.reading(one) as look:
        assert (look.version(), look.version_of("01A"), look.version_of("01B"), look.version_of("01C")) == (2, 1, 2, None)


def test_versions_follow_arrival_and_not_the_ids(store: Store) -> None:
    scope = fresh_scope()
    admit(store, scope, Delta("01Z", [Add("s", "late id first")]), Delta("01A", [Add("s", "early id second")]))
    with store.reading(scope) as look:
        assert [entry.delta.id for entry in look.ledger()] == ["01Z", "01A"]
        assert look.newest_delta_id() == "01Z"


@pytest.mark.parametrize("operations", [[], [Tally("nobody", helpful=1)], [Add("s", " ")], [Merge(["x"], into="y")]], ids=repr)
def test_a_delta_without_effect_leaves_no_trace(store: Store, operations: list[Any]) -> None:
    scope = fresh_scope()
    admit(store, scope, Delta("01A", [Add("s", "there")]))
    before = look_at(store, scope)
    (got,) = admit(store, scope, Delta("01B", operations, key="k"))
    assert got.version is None
    assert all(receipt.status == "skipped" and receipt.reason for receipt in got.receipts)
    assert look_at(store, scope) == before
    # It is not held either: the same id and key can still do something.
    assert admit(store, scope, Delta("01B", [Add("s", "now")], key="k"))[0].version == 2


def test_a_delta_counts_once_by_id_and_by_key(store: Store) -> None:
    scope = fresh_scope()
    admit(store, scope, Delta("01A", [Add("s", "a", id="ctx-1")], key="run:r1"))
    before = look_at(store, scope)
    for again in (Delta("01A", [Tally("ctx-1", helpful=1)]), Delta("01B", [Tally("ctx-1", helpful=1)], key="run:r1")):
        (got,) = admit(store, scope, again)
        assert got.version is None
        assert [receipt.status for receipt in got.receipts] == ["skipped"]
        assert "01A" in got.receipts[0].reason
    assert look_at(store, scope) == before


def test_a_bad_operation_never_sinks_the_others(store: Store) -> None:
    scope = fresh_scope()
    bad: list[Any] = [Update("s-99999", text="B"), Merge([1], into="s-1"), Add("s", ""), Add("s", "half \ud800"), Add("s", 7)]  # type: ignore[list-item, arg-type]
    (got,) = admit(store, scope, Delta("01A", [Add("s", "A"), *bad, Add("s", "C")]))
    assert [receipt.status for receipt in got.receipts] == ["applied", *["skipped"] * len(bad), "applied"]
    with store.reading(scope) as look:
        assert sorted(lesson.text for lesson in look.lessons()) == ["A", "C"]
        assert dumps(look.playbook()) == fold_ledger(look.ledger())
        assert look.verify_ledger() == []


@pytest.mark.parametrize("text", [*(f"before{piece}after" for piece in NASTY), "x" * 1_000_000], ids=lambda text: ascii(text)[:30])
def test_any_text_comes_back_as_it_went_in(store: Store, text: str) -> None:
    scope = fresh_scope()
    delta = Delta(
        "01A", [Add("s", text, applies_when=text, avoid=text, about=text, author=text, origin=text)], key=text, author=text, note=text
    )
    admit(store, scope, delta)
    with store.reading(scope) as look:
        (lesson,) = look.lessons()
        assert (lesson.text, lesson.applies_when, lesson.avoid, lesson.about, lesson.author, lesson.origin) == (text,) * 6
        assert plain(look.ledger()[0].delta) == plain(delta)
        assert look.key_owner(text) == "01A"
        found = look.about(text)
        assert found is not None
        assert found.id == lesson.id


def test_the_time_of_a_delta_comes_back(store: Store) -> None:
    scope = fresh_scope()
    at = datetime(2026, 3, 15, 10, 30, 15, 123456, tzinfo=UTC)
    admit(store, scope, Delta("01A", [Add("s", "a")], at=at))
    with store.reading(scope) as look:
        assert look.ledger()[0].delta.time == at.isoformat()
        assert look.lessons()[0].created == at.isoformat()


# -- the ledger ---------------------------------------------------------------------------------------


def test_the_ledger_is_read_in_ranges(store: Store) -> None:
    scope = fresh_scope()
    admit(store, scope, *(Delta(f"01{number}", [Add("s", f"text {number}")]) for number in range(1, 6)))
    with store.reading(scope) as look:

        def versions(**where: Any) -> list[int]:
            return [entry.version for entry in look.ledger(**where)]

        assert versions() == [1, 2, 3, 4, 5]
        assert versions(after=2) == [3, 4, 5]
        assert versions(until=2) == [1, 2]
        assert versions(after=1, until=3) == [2, 3]
        assert versions(newest_first=True) == [5, 4, 3, 2, 1]
        assert versions(newest_first=True, limit=2) == [5, 4]
        assert versions(after=1, limit=2) == [2, 3]
        assert versions(after=5) == versions(until=0) == versions(limit=0) == []
        # Parts of a ledger read as whole deltas too.
        whole = {entry.version: entry for entry in look.ledger()}
        assert all(whole[entry.version] == entry for entry in look.ledger(newest_first=True, limit=3))


def test_every_link_of_the_chain_is_its_own(store: Store) -> None:
    scope, other = fresh_scope(), fresh_scope()
    for name in (scope, other):
        admit(store, name, *(Delta(f"01{number}", [Add("s", "the same text"), Tally("x-1", helpful=1)]) for number in range(1, 4)))
    with store.reading(scope) as look, store.reading(other) as at_other:
        digests = [entry.digest for entry in (*look.ledger(), *at_other.ledger())]
        assert len(set(digests)) == 6
        assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)
        assert {entry.writer for entry in look.ledger()} == {entry.writer for entry in at_other.ledger()}


def test_a_ledger_records_the_scope_it_belongs_to(store: Store) -> None:
    scope = fresh_scope()
    admit(store, scope, Delta("01A", [Add("s", "a")], scope="somebody/else"), Delta("01B", [Add("s", "b")]))
    with store.reading(scope) as look:
        assert [entry.delta.scope for entry in look.ledger()] == [scope, scope]


# -- scopes and durability ------------------------------------------------------------------------------


def test_scopes_are_those_with_a_delta_or_a_run(store: Store) -> None:
    with_delta, with_run, with_setting, empty = (fresh_scope() for _ in range(4))
    admit(store, with_delta, Delta("01A", [Add("s", "a")]))
    with store.writing(with_run) as transaction:
        transaction.keep_run(Run(id="r1", task=Task(text="t")), learned=False)
    with store.writing(with_setting) as transaction:
        transaction.set("mark", "m")
    with store.writing(empty):
        pass
    look_at(store, fresh_scope())
    mine = [scope for scope in store.scopes() if scope in {with_delta, with_run, with_setting, empty}]
    assert mine == sorted([with_delta, with_run])
    assert list(store.scopes()) == sorted(store.scopes())


def test_a_store_says_where_it_is(store: Store) -> None:
    assert "://" in store.url


@pytest.mark.parametrize("durable", [one for one in ADAPTERS.values() if one.durable], ids=lambda one: one.name)
def test_what_a_transaction_kept_is_there_after_reopening(durable: Adapter, tmp_path: Any) -> None:
    scope = fresh_scope()
    first = durable.open(tmp_path)
    with first.writing(scope) as transaction:
        fill(transaction)
        transaction.admit(Delta("01B", [Add("s", f"text {piece} {number}") for number, piece in enumerate(NASTY)]))
    first.add_spending(scope, "2026-03-15", Usage(calls=2))
    before = look_at(first, scope)
    first.close()
    second = durable.open(tmp_path)
    assert look_at(second, scope) == before
    assert second.spent(scope, "2026-03-15").calls == 2
    assert second.scopes() == [scope]
    with second.writing(scope) as transaction:
        assert transaction.admit(Delta("01C", [Add("s", "and on")])).version == 3
    with second.reading(scope) as look:
        assert look.verify_ledger() == []
    second.close()


@pytest.mark.parametrize("durable", [one for one in ADAPTERS.values() if one.durable], ids=lambda one: one.name)
def test_what_one_opening_kept_another_sees_at_once(durable: Adapter, tmp_path: Any) -> None:
    scope = fresh_scope()
    first, second = durable.open(tmp_path), durable.open(tmp_path)
    with first.writing(scope) as transaction:
        fill(transaction)
    assert look_at(second, scope) == look_at(first, scope)
    with second.writing(scope) as transaction:
        transaction.admit(Delta("01B", [Add("s", "b", evidence=(Evidence(run="r1"),))]))
    assert look_at(second, scope) == look_at(first, scope)
    first.close()
    second.close()
