"""Laws of every store: what a service keeps of a tenant stays behind the tenant's wall."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tenure.errors import ScopeError
from tenure.governance.access import ApiKey
from tenure.ports import BEGUN, AuditEntry, KeptReply, Store, WebSession
from tests.stores.contract import Adapter, fresh_scope


def fresh_tenant() -> str:
    return fresh_scope().partition("/")[0]


def key(tenant: str, name: str = "k1", created: str = "2026-03-15T10:00:00+00:00") -> ApiKey:
    return ApiKey(
        id=name, label="agents", tenant=tenant, scope=f"{tenant}/finance", role="reporter", digest="ab" * 32, created=created, by="cli"
    )


def entry(name: str) -> AuditEntry:
    return AuditEntry(id=name, at="2026-03-15T10:00:00+00:00", who="k1", act="keys.create", scope="", subject="k2", request="r1")


def reply(name: str, at: str, body: str = "{}") -> KeptReply:
    return KeptReply(key=name, request="cd" * 32, status=201, body=body, at=at)


def test_a_key_is_kept_whole_and_can_be_revoked(store: Store) -> None:
    tenant = fresh_tenant()
    with store.changing_tenancy(tenant) as work:
        work.put_api_key(key(tenant, "k2", created="2026-03-16T10:00:00+00:00"))
        work.put_api_key(key(tenant, "k1"))
    with store.changing_tenancy(tenant) as work:
        work.put_api_key(replace(key(tenant, "k1"), revoked="2026-03-17T10:00:00+00:00", rate=5))
    with store.tenancy(tenant) as look:
        assert look.tenant == tenant
        assert [one.id for one in look.api_keys()] == ["k1", "k2"]
        assert look.api_key("k1") == replace(key(tenant, "k1"), revoked="2026-03-17T10:00:00+00:00", rate=5)
        assert look.api_key("k3") is None


def test_the_audit_is_read_newest_first_in_pages(store: Store) -> None:
    tenant = fresh_tenant()
    with store.changing_tenancy(tenant) as work:
        for name in ("01", "03", "02"):
            work.audit(entry(name))
    with store.tenancy(tenant) as look:
        assert [one.id for one in look.audited()] == ["03", "02", "01"]
        assert look.audited(limit=2) == [entry("03"), entry("02")]
        assert look.audited(before="02", limit=2) == [entry("01")]


def test_an_act_that_was_begun_is_settled_once_and_by_its_own_tenant(store: Store) -> None:
    tenant, other = fresh_tenant(), fresh_tenant()
    with store.changing_tenancy(tenant) as work:
        work.audit(replace(entry("01"), outcome=BEGUN))
        work.audit(entry("02"))
    with store.changing_tenancy(other) as work:
        assert not work.settle_audit("01", "done")
    with store.changing_tenancy(tenant) as work:
        assert work.settle_audit("01", "failed: value")
        assert not work.settle_audit("01", "done")
        assert not work.settle_audit("02", "failed: value")
        assert not work.settle_audit("03", "done")
    with store.tenancy(tenant) as look:
        assert [one.outcome for one in look.audited()] == ["done", "failed: value"]


def test_replies_are_replaced_under_their_key_and_go_with_age(store: Store) -> None:
    tenant = fresh_tenant()
    with store.changing_tenancy(tenant) as work:
        work.keep_reply(reply("a", "2026-03-15"))
        work.keep_reply(reply("b", "2026-03-16", body='{"n": 1}'))
        work.keep_reply(reply("b", "2026-03-16", body='{"n": 2}'))
    with store.changing_tenancy(tenant) as work:
        assert work.drop_replies(before="2026-03-16") == 1
    with store.tenancy(tenant) as look:
        assert look.kept_reply("a") is None
        assert look.kept_reply("b") == reply("b", "2026-03-16", body='{"n": 2}')


def session(name: str, expires: str = "2026-03-16T10:00:00+00:00") -> WebSession:
    return WebSession(digest=name * 32, key="k1", created="2026-03-15T10:00:00+00:00", expires=expires)


def test_who_is_signed_in_is_kept_until_they_sign_out_or_it_expires(store: Store) -> None:
    tenant = fresh_tenant()
    with store.changing_tenancy(tenant) as work:
        for one in (session("aa"), session("bb"), session("cc", expires="2026-03-15T11:00:00+00:00")):
            work.put_web_session(one)
        work.put_web_session(session("bb", expires="2026-03-17T10:00:00+00:00"))
    with store.changing_tenancy(tenant) as work:
        assert work.drop_web_session("aa" * 32)
        assert not work.drop_web_session("aa" * 32)
        assert work.drop_web_sessions(before="2026-03-16T00:00:00+00:00") == 1
    with store.tenancy(tenant) as look:
        assert look.web_session("aa" * 32) is None
        assert look.web_session("bb" * 32) == session("bb", expires="2026-03-17T10:00:00+00:00")
        assert look.web_session("cc" * 32) is None


def test_nothing_of_a_tenant_is_seen_or_written_by_another(store: Store) -> None:
    mine, other = fresh_tenant(), fresh_tenant()
    with store.changing_tenancy(other) as work:
        work.put_api_key(key(other))
        work.audit(entry("01"))
        work.keep_reply(reply("a", "2026-03-15"))
        work.put_web_session(session("aa"))
    with store.changing_tenancy(mine) as work:
        assert (work.web_session("aa" * 32), work.drop_web_session("aa" * 32), work.drop_web_sessions(before="2027")) == (None, False, 0)
        assert (work.api_keys(), work.api_key("k1"), work.audited(), work.kept_reply("a")) == ([], None, [], None)
        assert work.drop_replies(before="2027") == 0
        with pytest.raises(ScopeError, match="another tenant"):
            work.put_api_key(key(other))
    with store.tenancy(other) as look:
        assert look.kept_reply("a") is not None
        assert look.web_session("aa" * 32) is not None


@pytest.mark.parametrize("name", ["", "acme/finance", "/", "a\0b"])
def test_what_is_no_tenant_is_refused(store: Store, name: str) -> None:
    with pytest.raises(ScopeError), store.tenancy(name):
        pass
    with pytest.raises(ScopeError), store.changing_tenancy(name):
        pass


def test_an_error_undoes_all(store: Store) -> None:
    tenant = fresh_tenant()

    def broken_off() -> None:
        with store.changing_tenancy(tenant) as work:
            work.put_api_key(key(tenant))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    with store.tenancy(tenant) as look:
        assert look.api_keys() == []


def test_it_outlives_the_process(adapter: Adapter, tmp_path: Path) -> None:
    if not adapter.durable:
        pytest.skip("keeps nothing")
    tenant = fresh_tenant()
    opened = adapter.open(tmp_path)
    with opened.changing_tenancy(tenant) as work:
        work.put_api_key(key(tenant))
    opened.close()
    again = adapter.open(tmp_path)
    with again.tenancy(tenant) as look:
        assert look.api_keys() == [key(tenant)]
    again.close()


def test_a_reply_is_let_go_by_its_key(store: Store) -> None:
    tenant = fresh_tenant()
    with store.changing_tenancy(tenant) as work:
        work.keep_reply(reply("a", "2026-03-15T10:00:00+00:00"))
        work.keep_reply(reply("b", "2026-03-15T10:00:00+00:00"))
        work.drop_reply("a")
        work.drop_reply("c")
    with store.tenancy(tenant) as look:
        assert look.kept_reply("a") is None
        assert look.kept_reply("b") is not None


def test_whether_anybody_could_use_a_service_is_known(adapter: Adapter, tmp_path: Path) -> None:
    store = adapter.open(tmp_path)
    at, tenant = "2026-03-20T10:00:00+00:00", fresh_tenant()
    assert not store.has_api_key(at)
    with store.changing_tenancy(tenant) as work:
        work.put_api_key(replace(key(tenant, "k1"), revoked="2026-03-17T10:00:00+00:00"))
        work.put_api_key(replace(key(tenant, "k2"), expires="2026-03-17T10:00:00+00:00"))
    assert not store.has_api_key(at)
    with store.changing_tenancy(tenant) as work:
        work.put_api_key(replace(key(tenant, "k3"), expires="2026-03-27T10:00:00+00:00"))
    assert store.has_api_key(at)
    store.close()
