"""Ids, authors and keys of a shared ledger, and what an import tells of what it replaced."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenure.errors import UnreadableInput
from tenure.governance.ledger import canonical, chain
from tenure.playbook.delta import Add, Delta, Retire
from tenure.ports import Store
from tenure.stores.in_memory import InMemoryStore
from tests.learning.test_sharing import IDS, exchanged, told
from tests.stores.test_contract_sharing import S, exported, imported

OLD = "01JZX8D2H4M6P8R0S2T4V6W8Y0"


def put(store: Store, delta: str, *operations: Any, **more: Any) -> None:
    with store.writing(S) as work:
        work.admit(Delta(delta, operations, scope=S, **more))


@pytest.mark.parametrize("odd", [" ", "a\nb", "\x1b[31m", "../..", "0", "\u202ex", "id\x00", "9" * 4_000, "~" * 30, OLD.lower(), OLD + OLD])
def test_an_id_that_no_tenure_gives_is_refused_and_named(odd: str) -> None:
    theirs = InMemoryStore()
    put(theirs, odd, Add("s", "theirs"))
    with pytest.raises(UnreadableInput, match=r"line 1: the id .* of its delta is no ULID"):
        imported(InMemoryStore(), exported(theirs))


@pytest.mark.parametrize("more", [{"author": "person:" + "x" * 300}, {"author": "person:\x1b[2J"}, {"key": "k" * 2_000}, {"key": "a\nb"}])
def test_an_author_or_key_that_no_table_can_show_is_refused(more: dict[str, str]) -> None:
    theirs = InMemoryStore()
    told(theirs, "theirs", **more)
    with pytest.raises(UnreadableInput, match=r"line 1: the (author|key) .* of its delta"):
        imported(InMemoryStore(), exported(theirs))


@pytest.mark.parametrize("more", [{"author": "person:AKIAIOSFODNN7QRSTUVW"}, {"key": "k AKIAIOSFODNN7QRSTUVW"}])
def test_a_secret_in_author_or_key_does_not_come_in(more: dict[str, str]) -> None:
    ours, theirs = InMemoryStore(), InMemoryStore()
    told(theirs, "theirs", **more)
    imported(ours, exported(theirs))
    assert b"AKIAIOSFODNN7QRSTUVW" not in exported(ours)
    exchanged(ours, theirs)
    assert b"AKIAIOSFODNN7QRSTUVW" not in exported(theirs)


def test_ids_of_the_future_and_of_before_the_chain_are_refused() -> None:
    theirs = InMemoryStore()
    told(theirs, "first")
    put(theirs, OLD, Add("s", "made up"))
    with pytest.raises(UnreadableInput, match=r"line 2: .* before the first of writer"):
        imported(InMemoryStore(), exported(theirs))
    later = InMemoryStore()
    put(later, "7" + "Z" * 25, Add("s", "made up"))
    with pytest.raises(UnreadableInput, match=r"line 1: .* more than a day from now"):
        imported(InMemoryStore(), exported(later))


def test_what_could_not_be_proven_afterwards_is_refused() -> None:
    ours, theirs = InMemoryStore(), InMemoryStore()
    told(theirs, "one", "two")
    first, second = (json.loads(line) for line in exported(theirs).splitlines())
    second["payload"]["version"] = 1
    second["digest"] = chain(second["previous"], canonical(second["payload"]))
    with pytest.raises(UnreadableInput, match=r"line 2: its row says another version"):
        imported(ours, "".join(f"{canonical(one)}\n" for one in (first, second)).encode())
    assert exported(ours) == b""


def test_lessons_that_gave_way_to_older_deltas_are_told() -> None:
    ours, theirs = InMemoryStore(), InMemoryStore()
    put(theirs, OLD, Add("s", "theirs wins", id="x-9"), key="k")
    told(ours, "stays")
    told(ours, "ours, learned", key="k")
    put(theirs, "01JZX8D2H4M6P8R0S2T4V6W8Y1", Add("s", "Pay twice always", id="x-1"))
    put(ours, IDS.next(), Add("s", "Never pay twice", id="x-1"))
    dry = imported(ours, exported(theirs), dry_run=True)
    found = imported(ours, exported(theirs))
    assert dry.replaced == found.replaced
    assert len(found.replaced) == 2
    assert "x-1" in found.replaced
    assert len(found.replaced_by) == 1
    exchanged(ours, theirs)
    put(theirs, IDS.next(), Retire("x-1"))
    assert imported(ours, exported(theirs)).replaced == ()


def test_a_ledger_of_another_scope_says_so() -> None:
    theirs = InMemoryStore()
    with theirs.writing("local/other") as work:
        work.admit(Delta(IDS.next(), [Add("s", "theirs")], scope="local/other"))
    assert imported(InMemoryStore(), exported(theirs, "local/other")).scopes == ("local/other",)
