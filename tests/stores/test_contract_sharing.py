"""Links of other installations: every adapter takes them in alike, folds them alike, and can prove its ledger afterwards."""

from __future__ import annotations

import io
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.governance.ledger_lines import Link
from tenure.learning.forgetting import Wanted, forget
from tenure.learning.history import unlike_ledger
from tenure.learning.ledger_file import LedgerFile
from tenure.learning.sharing import Shared, shared_lines, take_in
from tenure.playbook.delta import Add, Delta, Merge, Observe, Operation, Pin, Restore, Retire, Tally, Update
from tenure.playbook.notation import dumps
from tenure.ports import Store
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.sqlite import open_sqlite
from tenure.system import UlidSource
from tests.stores.contract import fresh_scope

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
S = "local/shared"


def exported(store: Store, scope: str = S) -> bytes:
    with store.reading(scope) as look:
        return "".join(f"{line}\n" for line in shared_lines(look)).encode()


def imported(store: Store, data: bytes, *, scope: str = S, trust: bool = True, dry_run: bool = False) -> Shared:
    file = LedgerFile(io.BytesIO(data), "team.ledger.jsonl")
    return take_in(store, scope, file, ids=UlidSource(), now=lambda: NOW, trust=trust, dry_run=dry_run)


def proven(store: Store, scope: str = S) -> str:
    """The playbook, once its ledger is proven and its rows read as it says."""
    with store.reading(scope) as look:
        assert list(look.verify_ledger()) == []
        assert unlike_ledger(look) == ()
        book = look.playbook()
        assert list(look.lessons(live=False)) == list(book.every_lesson)
        assert dumps(look.playbook(look.version())) == dumps(book)
        return dumps(book)


def links_of(store: Store, scope: str) -> list[Link]:
    with store.reading(scope) as look:
        return list(look.links())


def test_links_come_in_as_they_are_and_read_the_same(store: Store) -> None:
    theirs, scope = InMemoryStore(), fresh_scope()
    with theirs.writing(S) as work:
        work.admit(Delta("02", [Add("s", "one", id="s-1"), Observe("figures", "paid", "12.50")], note="a note"))
        work.admit(Delta("04", [Tally("s-1", helpful=2)], key="k"))
    with store.writing(scope) as work:
        work.admit(Delta("03", [Add("s", "ours", id="s-2")]))
        work.put_links(links_of(theirs, S))
    assert [link for link in links_of(store, scope) if link.writer in {one.writer for one in links_of(theirs, S)}] == links_of(theirs, S)
    proven(store, scope)
    with store.reading(scope) as look:
        assert [lesson.text for lesson in look.lessons()] == ["one", "ours"]
        assert look.merged() == look.version() == 3
        assert len(look.aggregates()) == 1
        assert look.search("one", limit=3)[0].lesson.id == "s-1"


def test_of_deltas_that_share_a_key_the_smallest_id_counts_whenever_it_comes(store: Store) -> None:
    theirs, scope = InMemoryStore(), fresh_scope()
    with theirs.writing(S) as work:
        work.admit(Delta("01", [Add("s", "theirs", id="s-1")], key="learn:r:1:x"))
    with store.writing(scope) as work:
        work.admit(Delta("05", [Add("s", "ours", id="s-2")], key="learn:r:1:x"))
        work.put_links(links_of(theirs, S))
        assert work.key_owner("learn:r:1:x") == "01"
    proven(store, scope)
    with store.reading(scope) as look:
        assert [lesson.text for lesson in look.lessons(live=False)] == ["theirs"]
        assert len(look.ledger()) == 2
    with store.writing(scope) as work:
        assert work.admit(Delta("06", [Add("s", "again")], key="learn:r:1:x")).version is None


def test_a_delta_that_named_what_was_not_there_yet_counts_once_it_is(store: Store) -> None:
    theirs, scope = InMemoryStore(), fresh_scope()
    with theirs.writing(S) as work:
        work.admit(Delta("01", [Add("s", "first", id="s-1")]))
    with store.writing(scope) as work:
        work.admit(Delta("05", [Retire("s-1"), Add("s", "ours", id="s-2")]))
        work.put_links(links_of(theirs, S))
    with store.reading(scope) as look:
        assert {lesson.id: lesson.status for lesson in look.lessons(live=False)} == {"s-1": "retired", "s-2": "active"}
    proven(store, scope)


def test_forgetting_after_a_merge_leaves_what_the_ledger_says(store: Store) -> None:
    theirs, scope = InMemoryStore(), fresh_scope()
    with theirs.writing(S) as work:
        work.admit(Delta("01", [Add("s", "Mallory wrote it"), Add("s", "stays")], key="k"))
    with store.writing(scope) as work:
        work.admit(Delta("05", [Add("s", "loses", id="s-2")], key="k"))
        work.put_links(links_of(theirs, S))
        forget(work, Wanted(subjects=("mallory",)), ids=UlidSource(), at=NOW, author="person:a")
    assert "allory" not in proven(store, scope)
    with store.reading(scope) as look:
        assert [lesson.text for lesson in look.lessons()] == ["stays"]


def test_other_scopes_and_tenants_see_nothing_of_what_comes_in(store: Store) -> None:
    theirs, scope, other = InMemoryStore(), fresh_scope(), fresh_scope()
    with theirs.writing(S) as work:
        work.admit(Delta("01", [Add("s", "secret of one tenant")]))
    with store.writing(scope) as work:
        work.put_links(links_of(theirs, S))
    with store.reading(other) as look:
        assert look.version() == 0
        assert list(look.links()) == []
        assert look.writers() == frozenset()
        assert list(look.search("secret tenant", limit=5)) == []


def test_an_error_on_the_way_leaves_all_as_it_was(store: Store) -> None:
    theirs, scope = InMemoryStore(), fresh_scope()
    with theirs.writing(S) as work:
        work.admit(Delta("01", [Add("s", "one")]))
    with store.reading(scope) as look:
        before = look.own_writer()
    links = links_of(theirs, S)

    def broken() -> None:
        with store.writing(scope) as work:
            work.put_links(links)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    with store.reading(scope) as look:
        assert (look.version(), look.merged(), look.own_writer()) == (0, 0, before)


def some_operation(chance: random.Random, ids: list[str]) -> Operation:
    if chance.random() < 0.5 or not ids:
        named = f"x-{chance.randrange(5)}" if chance.random() < 0.4 else None
        return Add("s", f"text {chance.randrange(12)}", id=named)
    one = chance.choice(ids)
    others: list[Operation] = [
        Retire(one),
        Update(one, text=f"new {chance.randrange(9)}"),
        Tally(one, helpful=1),
        Merge((chance.choice(ids),), one),
        Restore(one),
        Pin(one),
        Observe("figures", "n", str(chance.randrange(9))),
    ]
    return chance.choice(others)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_whoever_exchanged_whatever_with_whom_all_end_with_the_same_bytes(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    chance, ids, folder = random.Random(seed), UlidSource(), tmp_path_factory.mktemp("copies")
    first = open_sqlite(f"sqlite:///{folder}/first.db")

    def write(store: Store) -> None:
        with store.writing(S) as work:
            there = [lesson.id for lesson in work.lessons(live=False)]
            operations = [some_operation(chance, there) for _ in range(chance.randrange(1, 4))]
            key = f"k{chance.randrange(30)}" if chance.random() < 0.4 else None
            work.admit(Delta(ids.next(work.newest_delta_id()), operations, key=key))

    for _ in range(chance.randrange(4)):
        write(first)
    first.copy_to(Path(f"{folder}/copy.db"))
    stores: list[Store] = [first, open_sqlite(f"sqlite:///{folder}/copy.db"), InMemoryStore()]
    for _ in range(12):
        store = chance.choice(stores)
        what = chance.random()
        if what < 0.6:
            write(store)
        elif what < 0.75:
            with store.writing(S) as work:
                subjects = (f"text {chance.randrange(12)}",)
                forget(work, Wanted(subjects=subjects), ids=ids, at=NOW, author="person:a")
        else:
            imported(store, exported(chance.choice(stores)))
    for _ in range(3):
        for one in stores:
            for other in stores:
                if one is not other:
                    imported(one, exported(other))
    assert len({proven(store) for store in stores}) == 1
    assert len({exported(store) for store in stores}) == 1
    counts = [dict(store_counts(store)) for store in stores]
    assert counts[0] == counts[1] == counts[2]
    for store in stores:
        store.close()


def store_counts(store: Store) -> dict[str, int]:
    with store.reading(S) as look:
        return {name: count for name, count in look.counts().items() if name != "open"}
