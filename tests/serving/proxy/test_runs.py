"""Runs of the proxy: their outcomes, what is forgotten while they go on, who may see them, and what happens when something fails."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tenure.errors import StoreError
from tenure.playbook.delta import Add, Update
from tenure.ports import Conversation, Store
from tenure.serving.proxy.upstream import Upstreams
from tenure.serving.service.callers import make_key
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.sqlite import open_sqlite
from tenure.system import SystemClock
from tenure.wiring import Tenure
from tests.serving.proxy.servers import SCOPE, STREAM, Answer, Running, chat_reply, events, response_reply, running
from tests.serving.proxy.test_openai_client import LESSON, TASK, recorded

SECRET_LESSON = "Ask Mallory before refunds above 900."


def ask(
    url: str, *, task: str = TASK, more: Any = (), form: str = "chat/completions", body: dict[str, Any] | None = None, **headers: str
) -> httpx2.Response:
    """A request to a model; names of headers have `_` for `-`."""
    said = body or {"model": "m", "messages": [{"role": "user", "content": task}, *more]}
    named = {"authorization": "Bearer callers", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx2.post(f"{url}/v1/{form}", json=said, headers=named, timeout=150)


def sent(there: Running, place: int = -1) -> str:
    """All that the provider got of a request."""
    return there.provider.got[place].body.decode()


@pytest.fixture
def there() -> Iterator[Running]:
    with running(InMemoryStore()) as found:
        found.book.apply([Add(section="refunds", text=LESSON), Add(section="refunds", text=SECRET_LESSON)])
        found.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        yield found


@pytest.mark.parametrize(("said", "score"), [("success", 1.0), ("failure", 0.0), ("0.25", 0.25)])
def test_an_outcome_in_a_header_ends_the_run(there: Running, said: str, score: float) -> None:
    answer = ask(there.url, x_tenure_outcome=said)
    run = recorded(there, answer.headers["x-tenure-run"], 2)
    assert (run.outcome.score, run.outcome.signal) == (score, "environment")
    assert run.ended
    until = time.monotonic() + 60
    while not there.arrived and time.monotonic() < until:
        time.sleep(0.01)
    assert there.arrived == [(SCOPE, run.id)]
    assert ask(there.url).headers["x-tenure-run"] != run.id  # the same words again are another run


def test_an_outcome_can_be_posted_and_is_learned_from(there: Running) -> None:
    run = ask(there.url).headers["x-tenure-run"]
    told = httpx2.post(f"{there.url}/v1/runs/{run}/outcome", json={"success": False, "feedback": "paid twice", "signal": "test"})
    assert (told.status_code, told.json()) == (202, {"run": run, "scope": SCOPE, "state": "kept"})
    found = recorded(there, run, 3)  # what was said last belongs to it, though the outcome came at once
    assert (found.outcome.success, found.outcome.feedback, found.outcome.signal) == (False, "paid twice", "test")
    assert there.arrived == [(SCOPE, run)]
    learned = there.book.learn_kept()
    assert learned.runs == 1
    # What was learned from stays: an outcome that nobody will learn from is not acknowledged.
    again = httpx2.post(f"{there.url}/v1/runs/{run}/outcome", json={"success": False})
    other = httpx2.post(f"{there.url}/v1/runs/{run}/outcome", json={"success": True})
    assert (again.status_code, other.status_code) == (202, 409)
    assert "another outcome" in other.json()["detail"]
    assert recorded(there, run, 3).outcome == found.outcome
    assert all("tenure-context" not in step.content for step in found.steps)


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"{}", 422, "how the run ended"), (b"[]", 422, "no JSON object"), (b'{"success": true, "score": 0.1}', 422, "contradict"),
        (b'{"success": "yes"}', 422, "true, false"), (b'{"score": 2}', 400, "0 to 1"), (b'{"won": true}', 422, "won"),
        (b'{"success": true, "signal": "stars"}', 422, "signal"), (b'{"success": true, "signal": ["test"]}', 422, "signal"),
        (b'{"score": 1' + b"0" * 400 + b"}", 400, "0 to 1"),
    ],
)  # fmt: skip
def test_an_outcome_that_says_nothing_is_refused(there: Running, body: bytes, status: int, word: str) -> None:
    run = ask(there.url).headers["x-tenure-run"]
    told = httpx2.post(f"{there.url}/v1/runs/{run}/outcome", content=body)
    assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
    assert word in told.json()["detail"]


def test_an_outcome_with_half_a_character_is_kept(tmp_path: Path) -> None:
    with contextlib.closing(open_sqlite(f"sqlite:///{tmp_path}/a.db", now=SystemClock().now)) as store, running(store) as there:
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        run = ask(there.url).headers["x-tenure-run"]
        body = b'{"success": false, "expected": "paid \\ud83d", "feedback": "paid \\ud83d"}'
        assert httpx2.post(f"{there.url}/v1/runs/{run}/outcome", content=body).status_code == 202
        assert recorded(there, run, 2).outcome.expected == "paid \ufffd"


def test_a_message_of_an_odd_role_keeps_no_turn_from_being_recorded(there: Running) -> None:
    run = ask(there.url, more=[{"role": ["user"], "content": "x"}]).headers["x-tenure-run"]
    assert any(step.content == "Done." for step in recorded(there, run, 2).steps)


DEEP = {
    "chat": '[{"type":"text","text":"reconcile"},%s]',
    "list": "%s",
    "messages": '[{"type":"text","text":"reconcile"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":%s}]',
}


@pytest.mark.parametrize("where", DEEP)
@pytest.mark.parametrize("levels", [110, 500, 900])
def test_a_turn_that_is_nested_deeply_is_passed_whole_and_recorded_with_a_mark(there: Running, where: str, levels: int) -> None:
    deep = "[" * levels + '"lowest"' + "]" * levels if where == "list" else '{"a":' * levels + '"lowest"' + "}" * levels
    raw = '{"model":"m","messages":[{"role":"user","content":' + DEEP[where] % deep + "}]}"
    path = "v1/messages" if where == "messages" else "v1/chat/completions"
    answer = httpx2.post(f"{there.url}/{path}", content=raw, headers={"authorization": "Bearer callers"}, timeout=30)
    assert deep in there.provider.got[-1].body.decode()
    found = recorded(there, answer.headers["x-tenure-run"], 3 if where == "messages" else 2)
    assert any("nested too deeply" in step.content and "lowest" in step.content for step in found.steps)


def test_a_header_that_cannot_be_read_is_refused_before_anything_is_paid(there: Running) -> None:
    assert ask(there.url, x_tenure_outcome="maybe").status_code == 400
    answer = ask(there.url, x_tenure_run="no spaces")
    assert answer.json()["error"]["code"] == "tenure_run"
    assert httpx2.post(f"{there.url}/v1/messages", json={}, headers={"x-tenure-outcome": "2"}).json()["type"] == "error"
    assert there.provider.got == []


def test_a_run_can_be_named_and_then_goes_by_its_name(there: Running) -> None:
    first = ask(there.url, x_tenure_run="ticket-17")
    second = ask(there.url, task="Something else altogether", x_tenure_run="ticket-17")
    assert first.headers["x-tenure-run"] == second.headers["x-tenure-run"] == "ticket-17"
    assert [one.content for one in recorded(there, "ticket-17", 6).steps if one.role == "user"] == [TASK, "Something else altogether"]
    own = [[one for one in got.json["messages"] if "tenure-context" in one["content"]] for got in there.provider.got]
    assert own[0] == own[1] != []


def test_who_forgets_a_proxied_run_is_told_what_its_provider_may_keep(there: Running) -> None:
    run = ask(there.url).headers["x-tenure-run"]
    recorded(there, run, 3)
    (copy,) = there.book.forget(runs=run, dry_run=True).copies
    assert "previous_response_id" in copy
    assert "logs" in copy
    done = there.book.forget(runs=run)
    assert (done.version, done.copies) == (2, (copy,))
    there.book.apply([Add(section="x", text="Mallory likes tea.")])
    assert there.book.forget(subjects="likes tea").copies == ()


@pytest.mark.parametrize("act", ["forget", "edit", "revoke", "scope"])
def test_what_is_forgotten_or_edited_stands_in_no_later_request(there: Running, act: str) -> None:
    reply = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "go on"}]
    run = ask(there.url).headers["x-tenure-run"]
    assert SECRET_LESSON in sent(there)
    recorded(there, run, 3)
    # A lesson of another process: what was kept here must not help it to stay.
    other = Tenure(there.engine.store, SCOPE if act != "scope" else "acme/other", embedder="none")
    if act == "edit":
        (lesson,) = [one for one in other.playbook.lessons if "Mallory" in one.text]
        other.apply([Update(lesson.id, text="Ask Carol before refunds above 900.")])
    elif act == "revoke":
        other.revoke_origin("local/api")
    else:
        other.apply([Add(section="x", text="Mallory likes tea.")])
        other.forget(subjects="Mallory")
    answer = ask(there.url, more=reply)
    assert answer.headers["x-tenure-run"] == run
    if act == "scope":  # forgetting in another scope of the tenant only has the texts made anew
        assert SECRET_LESSON in sent(there)
        return
    assert (SECRET_LESSON in sent(there)) == (act == "revoke")
    assert LESSON in sent(there)
    ask(there.url, more=reply)
    assert sent(there) == sent(there, -2)


def test_a_past_that_the_provider_keeps_is_told_that_something_changed(there: Running) -> None:
    there.provider.answer = lambda got: Answer(chunks=[json.dumps(response_reply(id=f"resp_{len(there.provider.got)}")).encode()])
    ask(there.url, form="responses", body={"model": "m", "input": TASK})
    there.book.forget(subjects="Mallory")
    for before in (1, 2):
        ask(there.url, form="responses", body={"model": "m", "input": "go on", "previous_response_id": f"resp_{before}"})
    assert "no longer holds" in sent(there, 1)
    assert "Mallory" not in sent(there, 1)
    assert there.provider.got[2].json["input"] == "go on"


def test_a_lesson_that_was_learned_meanwhile_waits_for_the_next_conversation(there: Running) -> None:
    ask(there.url)
    there.book.apply([Add(section="refunds", text="Refund invoice 4711 only once.")])
    ask(there.url, more=[{"role": "assistant", "content": "Done."}])
    assert "only once" not in sent(there)
    ask(there.url, task="Refund invoice 4711 again, please.")
    assert "only once" in sent(there)


def test_two_tenants_see_nothing_of_each_other() -> None:
    store = InMemoryStore()
    with running(store, without_keys=False) as there:
        keys = {}
        for tenant in ("acme", "globex"):
            book = there.engine.book(f"{tenant}/support")
            book.apply([Add(section="s", text=f"Refunds of {tenant} need approval by {tenant}-boss.")])
            keys[tenant] = make_key(store, book.clock, book.ids, scope=f"{tenant}/support", role="reporter", by="cli").text
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        runs = {tenant: ask(there.url, x_tenure_key=key).headers["x-tenure-run"] for tenant, key in keys.items()}
        for place, (mine, other) in enumerate((("acme", "globex"), ("globex", "acme"))):
            assert f"{mine}-boss" in sent(there, place)
            assert other not in sent(there, place)
            assert keys[mine] not in sent(there, place)
            assert not [name for name, _ in there.provider.got[place].headers if b"tenure" in name]
        recorded(there, runs["acme"], 3)
        cross = {"x-tenure-key": keys["globex"]}
        missing = httpx2.post(f"{there.url}/v1/runs/01NONE/outcome", json={"success": True}, headers=cross)
        foreign = httpx2.post(f"{there.url}/v1/runs/{runs['acme']}/outcome", json={"success": True}, headers=cross)
        assert foreign.status_code == missing.status_code == 404
        assert foreign.text.replace(runs["acme"], "01NONE") == missing.text
        count = len(there.provider.got)
        assert ask(there.url, x_tenure_key=keys["globex"], x_tenure_scope="acme/support").status_code == 404
        wrong = ask(there.url, x_tenure_key=keys["globex"][:-8] + "xxxxxxxx")
        assert (wrong.status_code, "x-tenure-key" in wrong.json()["error"]["message"]) == (401, True)
        refused = ask(there.url)
        assert refused.status_code == 401
        assert "x-tenure-key" in refused.json()["error"]["message"]
        assert httpx2.get(f"{there.url}/v1/models").status_code == 401
        assert len(there.provider.got) == count
        assert httpx2.get(f"{there.url}/v1/models", headers=cross).status_code == 200


def test_a_run_of_a_name_is_that_of_the_callers_scope_and_whether_another_tenant_has_one_shows_in_no_wait() -> None:
    store = InMemoryStore()
    with running(store, without_keys=False) as there:
        book = there.engine.book(SCOPE)

        def shown(scope: str) -> dict[str, Any]:
            return {"x-tenure-key": make_key(store, book.clock, book.ids, scope=scope, role="reporter", by="cli").text}

        support, sales, globex = map(shown, (SCOPE, "acme/sales", "globex/support"))

        def end(run: str, headers: dict[str, Any]) -> int:
            return httpx2.post(f"{there.url}/v1/runs/{run}/outcome", json={"success": True}, headers=headers, timeout=100).status_code

        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        for headers in (support, sales):  # the same name, used last in the other scope
            assert ask(there.url, x_tenure_run="ticket-17", **headers).status_code == 200
        assert end("ticket-17", support) == 202
        assert there.arrived == [(SCOPE, "ticket-17")]

        begun, go_on = threading.Event(), threading.Event()

        def slow(got: object) -> Answer:
            begun.set()
            go_on.wait(120)
            return Answer(chunks=[chat_reply()])

        there.provider.answer = slow  # it holds up the provider's only thread, and nobody else's
        asking = threading.Thread(target=lambda: ask(there.url, x_tenure_run="ticket-18", **support))
        asking.start()
        try:
            assert begun.wait(60)
            since = time.monotonic()
            assert end("ticket-18", globex) == end("ticket-18", {"x-tenure-key": "none"}) + 3 == 404
            assert time.monotonic() - since < 60, "it waited for the turn of another tenant"
        finally:
            go_on.set()
            asking.join(60)


def test_a_request_whose_target_is_no_path_is_refused_in_words(there: Running) -> None:
    host, port = there.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as wire:
        wire.sendall(b"GET http://evil.example/v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        said = b"".join(iter(lambda: wire.recv(4096), b""))
    assert said.startswith(b"HTTP/1.1 400 ")
    assert not [got for got in there.provider.got if b"evil" in got.target]


class Failing:
    """A store that fails, or hangs, when it is told to."""

    def __init__(self, store: Store) -> None:
        self._store, self.how = store, ""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in ("reading", "writing", "tenancy", "changing_tenancy"):
            return found

        @contextlib.contextmanager
        def look(*given: Any) -> Iterator[Any]:
            if self.how == "down":
                raise StoreError("no connection to db.example with password hunter2")
            if self.how == "slow":
                time.sleep(0.4)
            with found(*given) as opened:
                yield opened

        return look


@pytest.mark.parametrize(("how", "word"), [("down", "store down"), ("slow", "slow")])
def test_without_a_store_requests_pass_untouched_and_say_so(how: str, word: str) -> None:
    store = Failing(InMemoryStore())
    with running(store, budget_ms=100) as there:
        there.book.apply([Add(section="refunds", text=LESSON)])
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        store.how = how
        body = {"model": "m", "messages": [{"role": "user", "content": TASK}]}
        answer = ask(there.url, body=body)
        assert answer.status_code == 200
        assert answer.headers["x-tenure"] == f"passed; {word}"
        assert there.provider.got[0].json == body
        assert b"hunter2" not in answer.content
        store.how = ""
        until = time.monotonic() + 60
        while ask(there.url, body=body).headers["x-tenure"] != "added":  # what was slow goes on meanwhile, and the machine may be busy
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_recall_that_hangs_keeps_no_other_conversation_from_lessons() -> None:
    class HangingOnce(Failing):
        def __init__(self, store: Store) -> None:
            super().__init__(store)
            self.hangs, self.hung, self.go_on = True, threading.Event(), threading.Event()

        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            if name == "reading" and self.hangs:
                self.hangs = False
                self.hung.set()
                assert self.go_on.wait(120)
            return found

    store = HangingOnce(InMemoryStore())
    store.hangs = False
    with running(store, budget_ms=60_000) as there:
        there.book.apply([Add(section="refunds", text=LESSON)])
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        store.hangs = True
        first = threading.Thread(target=lambda: ask(there.url, x_tenure_run="ticket-1"))
        first.start()
        try:
            assert store.hung.wait(60)
            assert ask(there.url, x_tenure_run="ticket-2").headers["x-tenure"] == "added"
            assert first.is_alive()
        finally:
            store.go_on.set()
            first.join(60)


def test_an_answer_that_takes_longer_than_tenure_names_its_run_although_nothing_was_added() -> None:
    store = Failing(InMemoryStore())
    with running(store, budget_ms=5) as there:
        provider_done = threading.Event()

        def later(got: object) -> Answer:
            provider_done.wait(10)  # the provider thinks until Tenure is done
            return Answer(chunks=[chat_reply()])

        there.provider.answer = later
        store.how = "slow"
        threading.Timer(3.0, provider_done.set).start()
        answer = ask(there.url)
        assert answer.headers["x-tenure"] == "passed; slow"
        run = answer.headers["x-tenure-run"]
        store.how = ""
        assert httpx2.post(f"{there.url}/v1/runs/{run}/outcome", json={"success": True}).status_code == 202


def test_who_watches_the_proxy_is_told_whether_it_answers_and_whether_its_database_does() -> None:
    store = Failing(InMemoryStore())
    with running(store, without_keys=False) as there:
        assert [httpx2.get(f"{there.url}/{name}").status_code for name in ("healthz", "readyz")] == [200, 200]
        store.how = "down"
        assert [httpx2.get(f"{there.url}/{name}").status_code for name in ("healthz", "readyz")] == [200, 503]
        assert httpx2.head(f"{there.url}/healthz").content == b""
        assert there.provider.got == []


def test_keys_that_cannot_be_checked_let_only_those_pass_who_pay_themselves() -> None:
    store = Failing(InMemoryStore())
    with running(store, without_keys=False) as there:
        store.how = "down"
        assert ask(there.url, x_tenure_key="tnr_x").status_code in (200, 401)
        assert ask(there.url, authorization="", x_tenure_key=f"tnr_{'a' * 62}.acme").status_code == 503
        assert ask(there.url, x_tenure_key=f"tnr_{'a' * 62}.acme").headers["x-tenure"] == "passed; store down"


def test_a_provider_that_cannot_be_reached_is_told_in_its_own_form(there: Running) -> None:
    there.proxy._upstreams.urls.update(openai="http://127.0.0.1:9", anthropic="http://127.0.0.1:9")  # type: ignore[attr-defined]
    openai = ask(there.url)
    anthropic = httpx2.post(f"{there.url}/v1/messages", json={"messages": [{"role": "user", "content": "x"}]})
    assert (openai.status_code, openai.json()["error"]["type"]) == (502, "upstream_error")
    assert (anthropic.status_code, anthropic.json()["type"], anthropic.json()["error"]["type"]) == (502, "error", "api_error")


def test_an_answer_that_breaks_off_breaks_off_for_the_caller_and_is_recorded(there: Running) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"content": one}}], "model": "m"} for one in ("one ", "two ")]
    there.provider.answer = lambda got: Answer(headers=STREAM, chunks=events(*pieces), breaks=True)
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(there.url, x_tenure_run="broken-1")
    run = recorded(there, "broken-1", 4)
    assert [(step.kind, step.content or step.name) for step in run.steps][1:] == [
        ("message", "one two "),
        ("event", '{"model": "m"}'),
        ("event", "reply_cut_off"),
    ]


def test_a_caller_that_goes_away_is_recorded_as_far_as_it_got_and_the_provider_is_let_go(there: Running) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"content": f"{n} "}}]} for n in range(4_000)]
    there.provider.answer = lambda got: Answer(headers=STREAM, chunks=events(*pieces), pause_s=0.02)
    parts = urlsplit(there.url)
    connection = http.client.HTTPConnection(str(parts.hostname), int(parts.port or 0))
    connection.request(
        "POST", "/v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": TASK}]}), {"x-tenure-run": "left-1"}
    )
    answer = connection.getresponse()
    assert b"0 " in answer.read1(200)
    answer.close()
    connection.close()
    run = recorded(there, "left-1", 3)
    assert run.steps[1].content.startswith("0 ")
    assert run.steps[-1].name == "reply_cut_off"
    assert there.provider.left.wait(60)
    assert there.provider.sent < 4_000


def test_a_large_request_is_passed_and_said_so(there: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.serving.proxy.app.LARGEST", 20_000)
    answer = ask(there.url, task="long " * 20_000)
    assert answer.headers["x-tenure"] == "passed; too large"
    assert there.provider.got[0].json["messages"] == [{"role": "user", "content": "long " * 20_000}]


def test_conversations_at_once_keep_apart_and_one_opening_at_once_is_one_run(tmp_path: Path) -> None:
    store = open_sqlite(f"sqlite:///{tmp_path / 'book.db'}")
    with running(store) as there:
        there.book.apply([Add(section="refunds", text=LESSON)])
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        runs: list[tuple[int, str]] = []

        def work(number: int) -> None:
            runs.append((number % 6, ask(there.url, task=f"Task number {number % 6} of the day.").headers["x-tenure-run"]))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(18)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(runs)) == len({run for _, run in runs}) == 6
        for _, run in set(runs):
            assert len([one for one in recorded(there, run, 3).steps if one.role == "user"]) == 1
    store.close()


def test_conversations_that_nobody_uses_are_let_go() -> None:
    store = InMemoryStore()
    with running(store) as there:
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        old = Conversation(id="old", scope=SCOPE, run="r", used="2020-01-01T00:00:00+00:00")
        with store.changing_tenancy("acme") as work:
            assert work.keep_conversation(old)
        run = ask(there.url).headers["x-tenure-run"]
        recorded(there, run, 3)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with store.tenancy("acme") as look:
                if look.conversation("old") is None:
                    break
            time.sleep(0.01)
        with store.tenancy("acme") as look:
            assert look.conversation("old") is None
            assert look.conversation_of_run(run, SCOPE) is not None


def test_a_run_belongs_to_the_key_that_began_it() -> None:
    with running(InMemoryStore(), without_keys=False) as there:
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        one, other = (
            make_key(there.engine.store, there.engine.clock, there.engine.ids, scope=SCOPE, role="reporter", by="tests", label="same").text
            for _ in range(2)
        )
        named = ask(there.url, x_tenure_key=one, x_tenure_run="week-7")
        assert named.headers["x-tenure-run"] == "week-7"
        before = recorded(there, "week-7", 2)
        again = ask(there.url, task="Approve everything.", x_tenure_key=other, x_tenure_run="week-7", x_tenure_outcome="success")
        assert again.status_code == 200, "the answer is theirs"
        told = httpx2.post(f"{there.url}/v1/runs/week-7/outcome", json={"success": True}, headers={"x-tenure-key": other}, timeout=60)
        assert told.status_code == 409
        after = recorded(there, "week-7", 2)
        assert (after.steps, after.outcome) == (before.steps, before.outcome)
        assert after.origin.principal == one[4:14], "a key's id, as over the API; labels are not unique"


def test_two_keys_that_open_alike_have_a_run_each() -> None:
    with running(InMemoryStore(), without_keys=False) as there:
        there.provider.answer = lambda got: Answer(chunks=[chat_reply()])
        keys = [
            make_key(there.engine.store, there.engine.clock, there.engine.ids, scope=SCOPE, role="reporter", by="tests").text
            for _ in range(2)
        ]
        runs = [ask(there.url, x_tenure_key=key).headers["x-tenure-run"] for key in (*keys, keys[0])]
        assert runs[0] != runs[1]
        assert runs[0] == runs[2]


def test_an_outcome_told_with_a_request_that_gets_no_answer_is_kept(there: Running) -> None:
    first = ask(there.url)
    run = first.headers["x-tenure-run"]
    recorded(there, run, 2)
    there.proxy._upstreams = Upstreams(urls={**there.proxy._upstreams.urls, "openai": "http://127.0.0.1:9"})
    lost = ask(there.url, x_tenure_run=run, x_tenure_outcome="failure")
    assert lost.status_code == 502
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with there.engine.store.reading(SCOPE) as look:
            kept = look.run(run)
        if kept is not None and kept.outcome.known:
            break
        time.sleep(0.05)
    assert kept is not None
    assert kept.outcome.success is False
