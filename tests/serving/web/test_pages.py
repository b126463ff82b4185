"""Pages as a browser without script sees them: everything is there, and works by links and forms."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from tenure import Add, Run, Task, Tenure
from tests.serving.web.conftest import Site, made_site, said
from tests.serving.web.playbooks import HOSTILE
from tests.stores.contract import ADAPTERS, NASTY, fresh_scope

PAGES = (
    "/",
    "/playbook",
    "/playbook?q=invoice",
    "/playbook?status=retired",
    "/lessons/notes-hostile",
    "/review",
    "/review/decided",
    "/review/01JZX8D2H4M6P8R0S2T4V6W8Y4",
    "/runs",
    "/runs/01JZX8D2H4M6P8R0S2T4V6W8Y9",
    "/ledger",
    "/ledger/3",
    "/ledger/3/playbook",
    "/compare?older=1",
    "/rollback/2",
    "/memory",
    "/memory?q=close",
    "/memory/2026-06",
    "/memory/2026-06-15",
    "/memory/2026-06-15~1",
    "/memory/queue",
    "/settings",
    "/keys",
    "/audit",
    "/scopes",
)


@pytest.mark.parametrize("path", PAGES)
def test_each_page_has_one_heading_landmarks_a_title_and_nothing_written_into_it_that_could_run(shared_site: Site, path: str) -> None:
    page = shared_site.visit().get(path)
    assert len(re.findall(r"<h1[ >]", page)) == 1
    assert all(f"<{name}" in page for name in ("header", "nav", "main", "footer"))
    assert re.search(r"<title>[^<]+ · Tenure</title>", page)
    # The policy forbids all three; a page that had one would be broken.
    assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son[a-z]+=(?![^<]*&gt;)", page.replace("&#34;", ""))
    assert "acme/finance" in page


@pytest.mark.parametrize("path", ["/playbook", "/lessons/notes-hostile", "/review", "/runs/01JZX8D2H4M6P8R0S2T4V6W8Y9", "/compare?older=1"])
def test_a_text_that_tries_to_be_html_or_turn_around_is_shown_as_text(shared_site: Site, path: str) -> None:
    page = shared_site.visit().get(path)
    assert "&lt;script&gt;document.title" in page
    assert "<script>document" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert not any(hidden in page for hidden in ("\u202e", "\u202c", "\x07"))
    assert 'class="hidden-mark">U+202E</span>' in page


def test_the_overview_tells_figures_in_words_and_in_tables(shared_site: Site) -> None:
    page = shared_site.visit().get("/")
    assert '<title id="curve-title">Learning curve</title>' in page
    assert "runs with an outcome" in page
    assert page.count("<caption") >= 6
    assert "37%" in page  # of prompt tokens came from the cache: 14 days of known figures
    assert page.count('class="bar one"') == 28


def test_an_empty_scope_says_what_to_do_next(shared_site: Site) -> None:
    visitor = shared_site.visit(scope="acme")
    for path, hint in (("/", "tenure connect"), ("/playbook", "tenure learn"), ("/review", "Nothing waits"), ("/runs", "POST /v1/runs")):
        assert hint in visitor.get(f"{path}?scope=acme/new")
    for path, hint in (("/ledger", "Nothing has changed"), ("/memory", "tenure memory log"), ("/review/decided", "Nothing was decided")):
        assert hint in visitor.get(f"{path}?scope=acme/new")


def test_the_playbook_is_searched_and_narrowed(shared_site: Site) -> None:
    visitor = shared_site.visit()
    assert "1 lesson found" in visitor.get("/playbook?q=soft-deleted")
    assert "holds a word of" in visitor.get("/playbook?q=zanzibar")
    narrowed = visitor.get("/playbook?section=notes")
    assert "notes-hostile" in narrowed
    assert "convert_invoice" not in narrowed


def test_a_playbook_is_read_in_pages_that_hold_each_lesson_once(shared_site: Site) -> None:
    book = shared_site.book.in_scope("acme/finance/large")
    book.apply([Add(f"s{number % 3}", f"statement {number}", id=f"les-{number:03}") for number in range(120)])
    visitor = shared_site.visit()
    path, seen = "/playbook?scope=acme/finance/large", list[str]()
    while path:
        page = visitor.get(path)
        seen += re.findall(r'<span class="id">(les-\d+)</span>', page)
        found = re.search(r'rel="next" class="button" href="([^"]+)"', page)
        path = found[1].replace("&amp;", "&") if found else ""
    assert len(seen) == 120
    assert len(set(seen)) == 120


def test_runs_and_the_ledger_are_read_in_pages(shared_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenure.serving.web import ledger, runs

    monkeypatch.setattr(runs, "A_PAGE", 5)
    monkeypatch.setattr(ledger, "A_PAGE", 5)
    visitor = shared_site.visit()
    with shared_site.book.store.reading("acme/finance") as reading:
        every = reading.ledger()
    for start, each in (("/runs", r'href="/runs/([0-9A-Z]{26})"'), ("/ledger", r'href="/ledger/(\d+)"')):
        path, seen = start, list[str]()
        while path:
            page = visitor.get(path)
            seen += re.findall(each, page)
            found = re.search(r'rel="next" class="button" href="([^"]+)"', page)
            path = found[1].replace("&amp;", "&") if found else ""
        assert len(seen) == len(set(seen)) == (13 if start == "/runs" else len(every))


def first_lesson(book: Tenure) -> str:
    return min(lesson.id for lesson in book.playbook.lessons if lesson.id != "notes-hostile")


def test_a_lesson_is_pinned_edited_retired_and_restored_by_deltas_of_the_person(site: Site) -> None:
    visitor, book = site.visit("reviewer"), site.book
    named = first_lesson(book)
    assert "Pinned." in said(visitor.post(f"/lessons/{named}/pin", pinned="yes"))
    page = visitor.get(f"/lessons/{named}")
    digest = re.search(r'name="digest" value="([0-9a-f]+)"', page)
    assert digest is not None
    after = visitor.post(f"/lessons/{named}/edit", text="Zulu <b>quay</b>?", applies_when="always", digest=digest[1])
    assert "Changed." in said(after)
    assert "<ins>Zulu &lt;b&gt;quay&lt;/b&gt;?</ins>" in after
    found = book.playbook.lesson(named)
    assert found is not None
    assert (found.text, found.applies_when, found.pinned) == ("Zulu <b>quay</b>?", "always", True)
    assert "somebody changed" in visitor.post(f"/lessons/{named}/edit", status=409, text="x", digest=digest[1]).lower()
    assert "Retired." in said(visitor.post(f"/lessons/{named}/retire", reason="out of date"))
    assert "Back in use." in said(visitor.post(f"/lessons/{named}/restore"))
    with book.store.reading(book.scope) as reading:
        newest = reading.ledger(newest_first=True, limit=4)
    assert {entry.delta.author for entry in newest} == {"person:reviewers"}
    assert {entry.delta.cause for entry in newest} == {"hand"}


def test_changes_are_approved_edited_and_rejected_as_batches_and_taken_back(site: Site) -> None:
    visitor, book = site.visit("reviewer"), site.book
    ids = [change.id for change in book.held()]
    page = visitor.post("/review/decide", verb="approve", ids=ids[:2], note="looked at <i>both</i>")
    assert said(page).startswith("2 changes approved, as version")
    assert "looked at &lt;i&gt;both&lt;/i&gt;" in visitor.get("/review/decided")
    assert "Post totals in USD." in {lesson.text for lesson in book.playbook.lessons}
    version = re.search(r'name="batch" value="(\d+)"', page)
    assert version is not None
    assert "2 changes wait again" in said(visitor.post("/review/undo", batch=version[1]))
    assert [change.id for change in book.held()] == ids
    assert "1 change rejected" in said(visitor.post("/review/decide", verb="reject", ids=ids[2]))
    assert "1 change edited" in said(visitor.post(f"/review/{ids[0]}/edit", text="Post totals in EUR.", applies_when="closing"))
    assert {("Post totals in EUR.", "closing")} <= {(one.text, one.applies_when) for one in book.playbook.lessons}
    assert [change.id for change in book.held()] == ids[3:4] + ids[1:2] or {change.id for change in book.held()} == {ids[1], ids[3]}


def test_a_form_sent_without_a_verdict_decides_nothing(site: Site) -> None:
    visitor, book = site.visit("reviewer"), site.book
    ids = [change.id for change in book.held()]
    assert "Nothing was decided" in said(visitor.post("/review/decide", verb="", ids=ids))
    assert "No change was chosen" in said(visitor.post("/review/decide", verb="approve"))
    assert [change.id for change in book.held()] == ids


def test_what_would_be_refused_today_is_left_open_unless_one_insists(site: Site) -> None:
    visitor, book = site.visit("reviewer"), site.book
    hostile = next(change.id for change in book.held() if getattr(change.operation, "text", "") == HOSTILE)
    assert "left open" in said(visitor.post("/review/decide", verb="approve", ids=hostile))
    assert "1 change approved" in said(visitor.post("/review/decide", verb="approve", ids=hostile, anyway="yes"))


def test_what_was_decided_meanwhile_is_said_and_left_alone(site: Site) -> None:
    visitor, book = site.visit("reviewer"), site.book
    first = book.held()[0].id
    book.reject([first])
    version = book.diff(0) and visitor.get("/ledger")
    assert "decided meanwhile" in said(visitor.post("/review/decide", verb="approve", ids=first))
    assert visitor.get("/ledger") == version or "person:reviewers" not in visitor.get("/ledger")


def test_going_back_shows_what_would_change_and_can_itself_be_taken_back(site: Site) -> None:
    visitor, book = site.visit("reviewer"), site.book
    with book.store.reading(book.scope) as reading:
        newest = reading.version()
    before = {lesson.text for lesson in book.playbook.lessons}
    assert "Go back to version 1" in visitor.get("/rollback/1")
    assert "409" in visitor.post("/rollback/1", status=409, newest=newest - 1)
    assert "Went back to version 1" in said(visitor.post("/rollback/1", newest=newest))
    assert len(book.playbook.lessons) < len(before)
    visitor.post(f"/rollback/{newest}", newest=newest + 1)
    assert {lesson.text for lesson in book.playbook.lessons} == before


def test_settings_are_set_checked_and_given_back(site: Site) -> None:
    visitor = site.visit("admin")
    assert "context.tokens = 8000." in said(visitor.post("/settings", name="context.tokens", value="8000"))
    assert site.book.settings().whole("context.tokens") == 8000
    assert "50 to 1000000" in said(visitor.post("/settings", name="context.tokens", value="7"))
    assert "context.tokens = 6000." in said(visitor.post("/settings", name="context.tokens", back_to_default="yes"))
    assert "no setting" in visitor.post("/settings", status=404, name="<b>")


def test_settings_of_whoever_runs_the_server_are_neither_told_nor_set_by_a_tenant(site: Site) -> None:
    """A tenant's admin who could set `base_url` would have the server send its own provider's key wherever they like."""
    site.book.set("base_url", "http://inner.example:8080/v1")
    visitor = site.visit("admin", "acme")
    assert "inner.example" not in visitor.get("/settings?scope=acme/finance")
    for name in ("base_url", "model", "embedder", "embedder_base_url", "redact.names", "spend.usd_per_day"):
        assert "runs the server" in visitor.post("/settings?scope=acme/finance", status=403, name=name, value="x")
        visitor.post("/settings?scope=acme/finance", status=403, name=name, back_to_default="yes")
    assert site.book.settings().text("base_url") == "http://inner.example:8080/v1"


def test_a_key_is_shown_once_and_revoking_it_ends_it(site: Site) -> None:
    visitor = site.visit("admin", "acme")
    page = visitor.post("/keys", status=200, label="night", role="reporter", opens="acme/finance", days="30", rate="")
    found = re.search(r'value="(tnr_[^"]+)"', page)
    assert found is not None
    assert found[1] not in visitor.get("/keys")
    other = site.visit(None)
    assert other.sign_in(found[1]).status_code == 303
    assert "Overview" in other.get("/")
    found_id = re.search(r"/keys/([a-z2-7]+)/revoke[^>]+Revoke the key night", visitor.get("/keys"))
    assert found_id is not None
    assert "is revoked" in said(visitor.post(f"/keys/{found_id[1]}/revoke"))
    other.get("/", status=303)
    audit = visitor.get("/audit")
    assert all(act in audit for act in ("keys.create", "keys.revoke", "pages.sign_in"))
    assert found[1] not in audit


def test_a_changed_playbook_is_told_to_pages_that_are_open(site: Site) -> None:
    visitor = site.visit("reader")
    mark = re.search(r'data-live="/live" data-mark="([0-9a-f]+)"', visitor.get("/"))
    assert mark is not None
    assert visitor.client.get("/live").json() == {"mark": mark[1]}
    site.book.apply([Add("s", "one more")])
    assert visitor.client.get("/live").json() != {"mark": mark[1]}
    assert site.visit(None).client.get("/live").status_code == 401


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
def test_each_database_gives_the_same_pages(name: str, tmp_path: Path, site: Site) -> None:
    adapter = ADAPTERS[name]
    if adapter.missing:
        pytest.skip(adapter.missing)
    tenant = fresh_scope().partition("/")[0]
    other = made_site(adapter.open(tmp_path), scope=f"{tenant}/finance", weeks=4)
    reader = re.compile(r"[0-9A-Z]{26}|[a-z]+-[a-z2-7]{13}|[0-9a-f]{12,64}|" + tenant)
    try:
        visitors = other.visit("reader", f"{tenant}/finance"), site.visit("reader")
        for path in PAGES:
            if path not in ("/keys", "/audit", "/scopes"):
                here, there = (reader.sub("", one.get(path)).replace("acme", "") for one in visitors)
                assert here.count("<li") == there.count("<li"), path
                assert here.count("<tr") == there.count("<tr"), path
    finally:
        other.book.close()


ODD = ("a/b", "a?b=c#d", "ü ö", "<i>", "..x", "100 %", "'\"", "\u202ex")


@pytest.mark.parametrize("name", ODD)
def test_whatever_ids_sections_and_kinds_are_called_links_lead_to_them(site: Site, name: str) -> None:
    book = site.book
    book.apply([Add(name, f"odd {name}", id="odd-1")])
    book.keep(Run(id=name, task=Task(text=f"task {name}", kind=name), session=name))
    visitor = site.visit("reader")
    link = re.search(r'<a href="(/runs/[^"]+)">', visitor.get("/runs"))
    assert link is not None
    assert "It was reported without steps." in visitor.get(html.unescape(link[1]))
    crumb = re.search(r'<a href="(/playbook[?]section=[^"]+)">', visitor.get("/lessons/odd-1"))
    assert crumb is not None
    assert "odd-1" in visitor.get(html.unescape(crumb[1]))


@pytest.mark.parametrize("text", NASTY)
def test_no_text_that_is_asked_for_is_a_fault(shared_site: Site, text: str) -> None:
    client = shared_site.visit("admin").client
    for path, query in (("/playbook", "q"), ("/playbook", "section"), ("/playbook", "after"), ("/review", "q"), ("/memory", "q")):
        assert client.get(path, params={query: text}).status_code in (200, 404, 422)
    for query in ("older", "newer"):
        assert client.get("/compare", params={query: text}).status_code in (200, 404, 422)
    for path in ("/lessons/", "/runs/", "/review/", "/memory/"):
        assert client.get(path + quote(text.encode("utf-8", "replace"))).status_code in (200, 303, 307, 404, 422)
    assert client.get("/", params={"scope": text}).status_code in (200, 404, 422)
