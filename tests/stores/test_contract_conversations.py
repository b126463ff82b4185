"""Laws of every store: conversations of the proxy stay behind their tenant's wall, and lose their texts when these go out of date."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tenure.playbook.delta import Add, Tally, Update
from tenure.playbook.run import Draw, Run, Task
from tenure.ports import Conversation, Store
from tenure.wiring import Tenure
from tests.stores.contract import Adapter, fresh_scope

DRAW = Draw(lesson="sum-aaaaaa", withheld=True, chance=0.25, reason="holdout", text="abc")


def conversation(scope: str, name: str = "c1", **changed: object) -> Conversation:
    kept = Conversation(
        id=name,
        scope=scope,
        run="01RUN",
        core='<tenure-context>\nété "x"\n</tenure-context>',
        recall="r",
        shown=("sum-bbbbbb",),
        withheld=("sum-aaaaaa",),
        draws=(DRAW,),
        begun="2026-03-15T10:00:00+00:00",
        used="2026-03-15T10:00:00+00:00",
    )
    return replace(kept, **changed)  # type: ignore[arg-type]


def names() -> tuple[str, str]:
    scope = fresh_scope()
    return scope, scope.partition("/")[0]


def test_a_conversation_is_kept_whole_and_replaced(store: Store) -> None:
    scope, tenant = names()
    with store.changing_tenancy(tenant) as work:
        assert work.keep_conversation(conversation(scope))
        assert work.keep_conversation(conversation(scope, ended="2026-03-16"))
        assert work.keep_conversation(conversation(scope, "c2", used="2026-03-17", run="01OTHER"))
        work.name_reply("resp_1", "c1", "2026-03-15")
        work.name_reply("resp_1", "c2", "2026-03-15")
    with store.tenancy(tenant) as look:
        assert look.conversation("c1") == conversation(scope, ended="2026-03-16")
        assert look.conversation("c3") is None
        assert look.conversation_of_run("01RUN", scope) == look.conversation("c1")
        assert look.conversation_of_run("01NONE", scope) is None
        assert look.conversation_of_reply("resp_1") == look.conversation("c2")
        assert look.conversation_of_reply("resp_2") is None
        assert look.prompt_generation() == 0


def test_of_several_conversations_of_a_run_the_one_used_last_is_meant(store: Store) -> None:
    scope, tenant = names()
    with store.changing_tenancy(tenant) as work:
        for name, used in (("a", "2026-03-15"), ("b", "2026-03-17"), ("c", "2026-03-16")):
            work.keep_conversation(conversation(scope, name, used=used))
        found = work.conversation_of_run("01RUN", scope)
    assert found is not None
    assert found.id == "b"


def test_a_run_of_the_name_in_another_scope_is_another(store: Store) -> None:
    """Callers name runs: two scopes of a tenant may each have a `ticket-17`."""
    scope, tenant = names()
    with store.changing_tenancy(tenant) as work:
        for name, where, used in (
            ("a", scope, "2026-03-15"),
            ("b", f"{scope}/below", "2026-03-16"),
            ("c", f"{scope}-beside", "2026-03-17"),
        ):
            work.keep_conversation(conversation(where, name, used=used))
        found = {where: work.conversation_of_run("01RUN", where) for where in (scope, f"{scope}/below", tenant, f"{scope}/none")}
    assert {where: one.id if one is not None else None for where, one in found.items()} == {
        scope: "a", f"{scope}/below": "b", tenant: "c", f"{scope}/none": None,
    }  # fmt: skip


def test_one_of_an_earlier_generation_is_not_kept(store: Store) -> None:
    scope, tenant = names()
    with store.changing_tenancy(tenant) as work:
        work.keep_conversation(conversation(scope))
        assert work.outdate_conversations() == 1
        assert not work.keep_conversation(conversation(scope, core="made before"))
        bare = work.conversation("c1")
        assert bare == conversation(scope, core="", recall="", shown=(), withheld=(), draws=())
        assert work.keep_conversation(conversation(scope, generation=1))
        assert work.conversation("c1") == conversation(scope, generation=1)


def test_use_and_end_are_noted_also_of_one_that_is_out_of_date(store: Store) -> None:
    scope, tenant = names()
    with store.changing_tenancy(tenant) as work:
        work.keep_conversation(conversation(scope))
        work.use_conversation("c1", used="2026-04-01", ended="2026-04-02")
        work.use_conversation("c1", used="2026-04-03")
        work.use_conversation("none", used="2026-04-03")
        assert work.conversation("c1") == conversation(scope, used="2026-04-03", ended="2026-04-02")
        work.outdate_conversations()
        work.use_conversation("c1", used="2026-04-04")
    with store.tenancy(tenant) as look:
        found = look.conversation("c1")
        assert found is not None
        assert (found.used, found.ended, found.core, found.generation) == ("2026-04-04", "2026-04-02", "", 0)


def test_old_ones_go_with_the_names_of_their_replies(store: Store) -> None:
    scope, tenant = names()
    with store.changing_tenancy(tenant) as work:
        work.keep_conversation(conversation(scope))
        work.keep_conversation(conversation(scope, "c2", used="2026-03-16"))
        work.name_reply("resp_1", "c1", "2026-03-15")
        work.name_reply("resp_2", "c2", "2026-03-16")
    with store.changing_tenancy(tenant) as work:
        assert work.drop_conversations(before="2026-03-16") == 1
        assert work.conversation_of_reply("resp_1") is None
        assert work.conversation_of_reply("resp_2") is not None


def test_another_tenant_sees_and_outdates_nothing(store: Store) -> None:
    scope, tenant = names()
    _, other = names()
    with store.changing_tenancy(tenant) as work:
        work.keep_conversation(conversation(scope))
        work.name_reply("resp_1", "c1", "2026-03-15")
    with store.changing_tenancy(other) as work:
        assert work.conversation("c1") is None
        assert work.conversation_of_run("01RUN", scope) is None
        assert work.conversation_of_reply("resp_1") is None
        assert work.outdate_conversations() == 1
        assert work.drop_conversations(before="2027") == 0
    with store.tenancy(tenant) as look:
        assert look.conversation("c1") == conversation(scope)
        assert look.prompt_generation() == 0


def test_what_is_forgotten_revoked_or_edited_takes_the_texts_of_the_whole_tenant_out(store: Store) -> None:
    scope, tenant = names()
    book = Tenure(store, f"{scope}/below", embedder="none")
    book.apply([Add(section="sums", text="Check the total."), Add(section="sums", text="Name the currency.")])
    lesson, second = sorted(book.playbook.lessons, key=lambda one: one.text)
    runs = [Run(id=f"run-{n}", task=Task(text="add up")) for n in range(2)]
    for run in runs:
        book.keep(run)

    def forgotten(act: object) -> bool:
        with store.changing_tenancy(tenant) as work:
            assert work.keep_conversation(conversation(scope, generation=work.prompt_generation()))
        act()  # type: ignore[operator]
        with store.tenancy(tenant) as look:
            found = look.conversation("c1")
            assert found is not None
            return found.core == found.recall == "" and found.shown == () and found.generation != look.prompt_generation()

    # What is learned or added waits for the next conversation.
    assert not forgotten(lambda: book.apply([Add(section="sums", text="Round last.")]))
    assert not forgotten(lambda: book.apply([Tally(lesson.id, helpful=1)]))
    assert not forgotten(lambda: book.learn(Run(id="run-9", task=Task(text="add up"))))
    # What must not stand in a prompt any more does not.
    assert forgotten(lambda: book.apply([Update(lesson.id, text="Check the total twice.")]))
    assert forgotten(lambda: book.forget(runs="run-0"))
    assert forgotten(lambda: book.forget(subjects="currency"))
    assert forgotten(lambda: book.revoke_origin("local/api"))
    assert forgotten(lambda: book.lift_revocation("local/api"))
    assert forgotten(lambda: book.rollback(1))
    assert forgotten(lambda: book.forget(scope=True))
    assert second.id


def test_it_outlives_the_process(adapter: Adapter, tmp_path: Path) -> None:
    if not adapter.durable:
        pytest.skip("keeps nothing")
    scope, tenant = names()
    opened = adapter.open(tmp_path)
    with opened.changing_tenancy(tenant) as work:
        work.keep_conversation(conversation(scope))
    opened.close()
    again = adapter.open(tmp_path)
    with again.tenancy(tenant) as look:
        assert look.conversation("c1") == conversation(scope)
    again.close()
