"""Laws of every store: the walls between scopes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tenure.errors import ScopeError
from tenure.playbook.delta import Add, Delta, Retire, Update
from tenure.playbook.run import Run, Task
from tenure.ports import Store, Usage
from tenure.stores.sqlite import open_sqlite
from tests.stores.contract import fill, fresh_scope, keep_operations, look_at

APART = [
    ("acme/fin", "globex/fin"),
    ("acme", "acme2"),
    ("acme2", "acme"),
    ("acme/fin", "acme/finance"),
    ("acme/finance", "acme/fin"),
    ("x/a-b", "x/a/b"),
    ("x/a/b", "x/a-b"),
    ("acme/a_b", "acme/axb"),
    ("acme/a%", "acme/abc"),
    ("acme/*", "acme/abc"),
    ("acme/App", "acme/app"),
    ("Acme/app", "acme/app"),
    ("acme/app", "acme/app2"),
    ("acme", "acme/below"),
    ("acme/a", "acme/a/@model=m"),
    ("acme/a/@model=m", "acme/a/@model=n"),
    ("acme/a/b", "acme/c"),
    ("a'cme/a'b", "a''cme/a'b"),
    ("a\\cme/a\\b", "a\\\\cme/a\\b"),
    ("a\\'cme", "a'cme"),
    ('a"cme', "acme"),
    ("a%scme/%(n)s", "acme/%s"),
    ("a;cme", "a; --cme"),
]


def test_a_new_name_in_another_unicode_form_is_refused_for_it_would_be_a_second_that_looks_alike(store: Store) -> None:
    wall = fresh_scope().partition("/")[0]
    with store.writing(f"{wall}/caf\u00e9") as work:
        fill(work, "theirs")
    for twin in (f"{wall}/cafe\u0301", f"{wall}/cafe\u0301/below", f"{wall}e\u0301/desk"):
        empty = look_at(store, f"{wall}/nothing")
        with pytest.raises(ScopeError, match="not in the Unicode form NFC"), store.writing(twin):
            pass
        assert {**look_at(store, twin), "inherited": []} == {**empty, "inherited": []}
    with pytest.raises(ScopeError, match="not in the Unicode form NFC"), store.changing_tenancy(f"{wall}e\u0301"):
        pass
    assert [one for one in store.scopes() if one.startswith(wall)] == [f"{wall}/caf\u00e9"]


def test_what_was_kept_under_an_uncommon_name_before_goes_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    store = open_sqlite(url)
    with store.writing("acmeX/desk") as work:
        work.keep_run(Run(id="r1", task=Task(text="t")), learned=False)
    with sqlite3.connect(tmp_path / "book.db") as raw:  # as an earlier release wrote it
        for table in ("scopes", "runs"):
            raw.execute(f"UPDATE {table} SET tenant = 'acme\u0301', scope = 'acme\u0301/desk'")
    raw.close()
    for scope in ("acme\u0301/desk", "acme\u0301/other"):
        with store.writing(scope) as work:
            work.keep_run(Run(id="r2", task=Task(text="t")), learned=False)
    with store.changing_tenancy("acme\u0301") as tenancy:
        assert tenancy.api_keys() == []
    with store.reading("acme\u0301/desk") as look:
        assert look.run_ids() == ["r2", "r1"]
    with pytest.raises(ScopeError), store.writing("acme\u0301/cafe\u0301"):
        pass
    store.close()


@pytest.mark.parametrize(("mine", "other"), APART, ids=ascii)
def test_rows_of_another_scope_never_come_back(store: Store, mine: str, other: str) -> None:
    wall = fresh_scope().partition("/")[0]
    # The number stands behind the tenant's name, so that two names stay as alike as they are.
    mine, other = (f"{head}{wall}{rest}" for head, rest in ((mine[:1], mine[1:]), (other[:1], other[1:])))
    empty = look_at(store, mine)
    with store.writing(other) as transaction:
        fill(transaction, "theirs")
        transaction.admit(Delta("01B", [Add("s", "the zebra and the smallest number", id="ctx-9", about="tool-error:book:theirs")]))
    store.add_spending(other, "2026-03-15", Usage(calls=7))

    assert look_at(store, mine) == empty
    assert store.spent(mine, "2026-03-15") == Usage()
    assert mine not in store.scopes()
    with store.reading(mine) as look:
        assert look.inherited() == []
        assert look.search("zebra smallest number prices wall1 theirs", limit=50) == []
        assert look.near(["r1"], ["book"], limit=50) == look.supported(limit=50) == look.since(0) == []
        assert look.briefs() == []
        assert look.named(["ctx-1"]) == {}
        assert look.cases_like("sort prices theirs wall1", limit=50) == []
        assert look.resolve("ctx-") == look.resolve("ctx-1") == []
        found_nothing: list[object] = [look.lesson("ctx-1"), look.about("subject"), look.record("ctx-1"), look.key_owner("run:r1")]
        found_nothing += [look.version_of("01A"), look.run("r1"), look.learned_steps("r1")]
        assert found_nothing == [None] * 7
        assert not look.holds("01A")
        assert list(look.pointing("ctx-1")) == []
        assert look.runs_like(Run(id="r2", task=Task(text="t", key="k", kind="sorting"))) == []

    # The same ids can be used here, and neither side changes the other.
    theirs = look_at(store, other)
    with store.writing(mine) as transaction:
        assert transaction.admit(Delta("01A", [Add("s", "mine", id="ctx-1")], key="run:r1")).version == 1
        transaction.keep_run(Run(id="r1", task=Task(text="mine", key="k")), learned=True)
        transaction.drop_failed_reply("f1")
        transaction.set("mark", "mine")
    assert look_at(store, other) == theirs
    assert [run["text"] for run in _texts(store, mine)] == ["mine"]


def _texts(store: Store, scope: str) -> list[dict[str, str]]:
    with store.reading(scope) as look:
        return [{"text": lesson.text} for lesson in look.lessons(live=False)]


def test_reads_inherit_lessons_from_above_and_nothing_else(store: Store) -> None:
    tenant = fresh_scope().partition("/")[0]
    above, below = f"{tenant}/finance", f"{tenant}/finance/recon"
    keep_operations(
        store,
        tenant,
        Add("s", "tenant-wide umbrellas", id="wide"),
        Add("s", "held umbrellas", status="held"),
        Add("s", "old umbrellas", id="old"),
    )
    keep_operations(store, tenant, Retire("old"), delta="01B")
    with store.writing(above) as transaction:
        fill(transaction)
        transaction.admit(Delta("01C", [Add("s", "finance umbrellas", id="near")]))
    keep_operations(store, below, Add("s", "own umbrellas", id="own"))

    with store.reading(below) as look:
        assert [(scope, lesson.id) for scope, lesson in look.inherited() if "umbrellas" in lesson.text] == [
            (above, "near"),
            (tenant, "wide"),
        ]
        assert [lesson.id for lesson in look.lessons()] == ["own"]
        assert {(hit.lesson.id, hit.scope) for hit in look.search("umbrellas", limit=9)} == {
            ("own", below),
            ("near", above),
            ("wide", tenant),
        }
        assert [hit.lesson.id for hit in look.search("prices", limit=9)] == ["ctx-1"]  # a source task of the parent's, kept there
        assert look.lesson("wide") is None
        assert look.run_ids() == []
        assert look.core() is None
        assert look.setting("mark") is None
        assert look.counts()["lessons"] == 1


def test_writes_hit_one_scope(store: Store) -> None:
    tenant = fresh_scope().partition("/")[0]
    keep_operations(store, tenant, Add("s", "above", id="ctx-1"))
    before = look_at(store, tenant)
    keep_operations(store, f"{tenant}/below", Update("ctx-1", text="changed from below"), Add("s", "above"), delta="01B")
    assert look_at(store, tenant) == before
    with store.reading(f"{tenant}/below") as look:
        assert [lesson.text for lesson in look.lessons()] == ["above"]
