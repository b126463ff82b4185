"""Who gets in, and what cannot be done to them: sessions, forms of other pages, scopes that are not theirs."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from tenure.serving.service.callers import make_key, revoke_key
from tenure.serving.web.visitors import SESSION_HOURS, inside
from tests.serving.web.conftest import OURS, Browser, Site, made_site

POLICY = {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"}


def test_nobody_sees_a_page_without_signing_in_and_then_goes_on_where_they_wanted(site: Site) -> None:
    visitor = site.visit(None)
    reply = visitor.client.get("/lessons/notes-hostile")
    assert (reply.status_code, reply.headers["location"]) == (303, "/sign-in?next=/lessons/notes-hostile")
    assert "acme" not in visitor.get("/sign-in")
    reply = visitor.sign_in(site.key("reader"), next="/lessons/notes-hostile")
    assert (reply.status_code, reply.headers["location"]) == (303, "/lessons/notes-hostile")
    assert "notes-hostile" in visitor.get("/lessons/notes-hostile")


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nSet-Cookie: x=1", "//["]
)
def test_signing_in_leads_nowhere_else(elsewhere: str) -> None:
    assert inside(elsewhere) == "/"


def test_a_session_is_a_cookie_that_script_and_other_sites_never_see_and_of_which_only_a_digest_is_kept(site: Site) -> None:
    visitor = site.visit(None)
    cookie = visitor.sign_in(site.key("reader")).headers["set-cookie"]
    assert cookie.startswith("__Host-tenure=")
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    found_id = re.match(r"__Host-tenure=([^.;]+)", cookie)
    assert found_id is not None
    kept = site.book.store._tenancies["acme"].sessions  # type: ignore[attr-defined]
    assert len(kept) == 1
    assert found_id[1] not in repr(list(kept.values()))
    plain = TestClient(site.app, base_url="http://127.0.0.1", follow_redirects=False)
    reply = plain.post("/sign-in", data={"key": site.key("reader")}, headers={"origin": "http://127.0.0.1"})
    assert reply.headers["set-cookie"].startswith("tenure=")
    assert "Secure" not in reply.headers["set-cookie"]


def test_a_session_ends_when_one_signs_out_when_its_time_is_over_and_at_once_with_its_key(site: Site) -> None:
    out, late, revoked = (site.visit("reader") for _ in range(3))
    cookie = dict(out.client.cookies)
    out.client.post("/sign-out", data={"token": out.token()}, headers=OURS)
    out.client.cookies.update(cookie)  # a copy of the cookie is worth nothing any more
    out.get("/", status=303)
    key_id = next(reversed(site.keys.values()))
    assert "Overview" in revoked.get("/")
    revoke_key(site.book.store, site.book.clock, site.book.ids, tenant="acme", key_id=key_id, by="test")
    revoked.get("/", status=303)
    assert "Overview" in late.get("/")
    site.clock.at += timedelta(hours=SESSION_HOURS, seconds=1)
    late.get("/", status=303)


def test_a_session_ends_when_its_key_expires(site: Site) -> None:
    visitor = site.visit(None)
    assert visitor.sign_in(site.key("reader", days=1)).status_code == 303
    key = next(reversed(site.keys))
    site.clock.at += timedelta(hours=13)
    assert visitor.sign_in(key).status_code == 303
    site.clock.at += timedelta(hours=10)
    assert "Overview" in visitor.get("/")
    site.clock.at += timedelta(hours=1, seconds=1)  # the session has another hour, the key has not
    visitor.get("/", status=303)
    assert visitor.sign_in(key).status_code == 403


@pytest.mark.parametrize("key", ["", "tnr_", "tnr_" + "a" * 62 + ".acme", "tnr_" + "a" * 62 + ".%2F", "x" * 1500])
def test_what_is_no_key_is_told_so_in_words(shared_site: Site, key: str) -> None:
    reply = shared_site.visit(None).sign_in(key)
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers
    assert 'role="alert"' in reply.text


FOREIGN: tuple[dict[str, str], ...] = (
    {},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "https://tenure.test", "sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
)


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_form_of_another_page_changes_nothing(shared_site: Site, headers: dict[str, str]) -> None:
    visitor = shared_site.visit("admin")
    token = visitor.token()
    for path in ("/settings", "/review/decide", "/keys", "/lessons/notes-hostile/pin", "/rollback/1", "/sign-out", "/theme"):
        assert visitor.client.post(path, data={"token": token, "newest": "1"}, headers=headers).status_code == 403, path
    assert shared_site.visit(None).client.post("/sign-in", data={"key": shared_site.key()}, headers=headers).status_code == 403


def test_a_form_without_the_token_of_its_session_changes_nothing(shared_site: Site) -> None:
    visitor, other = shared_site.visit("admin"), shared_site.visit("admin")
    for token in ("", "0" * 64, other.token(), "\u00e9"):
        reply = visitor.client.post("/settings", data={"token": token, "name": "context.tokens", "value": "9000"}, headers=OURS)
        assert reply.status_code == 403
    assert shared_site.book.settings().whole("context.tokens") == 6000


def test_every_reply_has_the_headers_of_a_page(shared_site: Site) -> None:
    visitor = shared_site.visit("reader")
    sheet = re.search(r'href="(/pages/pages.css[^"]+)"', visitor.get("/"))
    assert sheet is not None
    for path in ("/", "/nope", "/sign-in", "/lessons/nope", "/keys", sheet[1]):
        headers = visitor.client.get(path, headers={"accept": "text/html"}).headers
        assert {part.strip() for part in headers["content-security-policy"].split(";")} >= POLICY, path
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
    assert "immutable" in visitor.client.get(sheet[1]).headers["cache-control"]
    assert visitor.client.get("/").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/pages/../pages.py", "/pages/%2e%2e/pages.py", "/pages//etc/passwd", "/pages/nope"])
def test_no_other_file_is_served(shared_site: Site, path: str) -> None:
    assert shared_site.visit(None).client.get(path).status_code == 404


def test_errors_are_pages_in_words_for_browsers_and_problems_for_programs(shared_site: Site) -> None:
    visitor = shared_site.visit("reader")
    missing = visitor.client.get("/nope", headers={"accept": "text/html"})
    assert (missing.status_code, "There is no page" in missing.text) == (404, True)
    assert visitor.client.get("/nope").headers["content-type"] == "application/problem+json"
    assert visitor.client.get("/v1/nope", headers={"accept": "text/html"}).headers["content-type"] == "application/problem+json"
    assert "is not in scope" in visitor.get("/lessons/nope", status=404)
    assert "is not in the ledger" in visitor.get("/ledger/99999", status=404)
    assert "is not kept" in visitor.get("/runs/nope", status=404)
    assert "Nothing is kept" in visitor.get("/memory/2020-01-01", status=404)
    assert "Go back and correct it" in visitor.get("/review?first=x", status=422)
    assert "needs a key that may administer" in visitor.get("/keys", status=403)


def test_each_role_may_do_its_own_and_no_more(site: Site) -> None:
    for role in ("reader", "reporter"):
        visitor = site.visit(role)
        assert "Approve ticked" not in visitor.get("/review")
        assert "Retire" not in visitor.get("/lessons/notes-hostile").split("<h2")[0]
        for path in ("/review/decide", "/review/undo", "/lessons/notes-hostile/pin", "/rollback/1"):
            assert "needs a key that may review" in visitor.post(path, status=403, verb="approve", ids="x", newest="1")
    reviewer = site.visit("reviewer")
    for path in ("/settings", "/keys", "/keys/x/revoke"):
        assert "needs a key that may administer" in reviewer.post(path, status=403, name="context.tokens", value="1")


def test_what_is_refused_stands_in_the_audit(site: Site) -> None:
    site.visit("reader").post("/lessons/notes-hostile/pin", status=403)
    site.visit("reviewer").post("/settings", status=403, name="model", value="x")
    with site.book.store.tenancy("acme") as look:
        found = {(one.act, one.subject, one.outcome) for one in look.audited()}
    assert found >= {("deltas.apply", "notes-hostile", "refused: forbidden"), ("settings.set", "model", "refused: forbidden")}


OTHERS = ("globex/sales", "acme/hr", "acme/financeb", "acme")


@pytest.mark.parametrize("scope", OTHERS)
def test_a_scope_that_the_key_does_not_open_reads_as_one_that_is_not_there(site: Site, scope: str) -> None:
    from tenure import Add

    other = site.book.in_scope(scope)
    other.apply([Add("secret", "zanzibarium", id="sec-1")])
    visitor = site.visit("admin")
    paths = ("/", "/playbook", "/lessons/sec-1", "/review", "/runs", "/ledger", "/ledger/1", "/memory", "/settings", "/keys", "/live")
    for path in paths:
        there = visitor.get(f"{path}?scope={scope}", status=404)
        nowhere = visitor.get(f"{path}?scope=nobody/nothing", status=404)
        hide = re.compile(r"request [0-9a-f]{16}|" + re.escape(scope) + "|nobody/nothing")
        assert hide.sub("", there) == hide.sub("", nowhere)
        assert "zanzibarium" not in there
    assert scope not in visitor.get("/scopes").replace("acme/finance", "") or scope == "acme"
    assert "opens no scope" in visitor.get(f"/scopes?wanted={scope}")
    for path, data in (("/keys", {"opens": scope, "role": "admin"}), ("/settings", {"name": "model", "value": "x"})):
        reply = visitor.client.post(f"{path}?scope={scope}", data={"token": visitor.token(), **data}, headers=OURS)
        assert reply.status_code == 404
    assert "opens no scope" in visitor.post("/keys", status=422, opens=scope, role="admin")


def test_an_admin_of_a_part_sees_and_revokes_no_key_of_the_rest(site: Site) -> None:
    site.key("admin", "acme")
    whole = next(reversed(site.keys.values()))
    visitor = site.visit("admin", "acme/finance")
    assert whole not in visitor.get("/keys")
    assert whole not in visitor.get("/audit")
    assert "There is no key" in visitor.post(f"/keys/{whole}/revoke", status=404)


def test_a_server_without_keys_asks_for_none_but_still_takes_no_form_of_other_pages() -> None:
    site = made_site(weeks=4, scope="local/desk", without_keys=True)
    client = TestClient(site.app, base_url="http://localhost:8765", follow_redirects=False)
    visitor = Browser(client)
    page = visitor.get("/")
    assert "without keys" in page
    assert "local/desk" in page
    assert client.get("/sign-in").headers["location"] == "/"
    ours = {"origin": "http://localhost:8765"}
    wanted = {"name": "context.tokens", "value": "8000", "token": visitor.token()}
    assert client.post("/settings", data=wanted, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post("/settings", data=wanted, headers={"origin": "http://localhost:9999"}).status_code == 403
    assert client.post("/settings", data={**wanted, "token": "x"}, headers=ours).status_code == 403
    assert client.post("/settings", data=wanted, headers=ours).status_code == 303
    # A name elsewhere that leads to this machine is none of ours: its page could read what it got.
    assert client.get("/", headers={"host": "evil.example:8765"}).status_code == 403
    assert client.get("/?scope=acme").status_code == 404
    site.book.close()


def test_wrong_keys_from_one_address_are_looked_at_so_often_and_no_more(site: Site) -> None:
    from tenure.serving.service.access import Access

    site.app.state.access = Access(site.app.state.engine, failures=3)
    visitor = site.visit(None)
    assert [visitor.sign_in(f"tnr_{'a' * 62}.acme").status_code for _ in range(4)] == [403, 403, 403, 429]


def test_a_tenant_with_any_name_signs_in(site: Site) -> None:
    made = make_key(site.book.store, site.book.clock, site.book.ids, scope="größe & co. 日本", role="admin", by="test")
    visitor = site.visit(None)
    assert visitor.sign_in(made.text).status_code == 303
    assert "größe &amp; co. 日本" in visitor.get("/")
