"""The contract of each route: what it does, and what it says of wrong requests."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from sqlalchemy import event

from tenure.serving.service.paging import _list_name
from tenure.stores.sqlite import open_sqlite
from tests.serving.proxy.servers import served
from tests.serving.service.services import RUN, Service

ADD = {"operations": [{"op": "ADD", "section": "invoices", "text": "Convert each line at the invoice-date rate before summing."}]}


def problem(reply: Any, status: int, kind: str) -> str:
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    body = reply.json()
    assert (body["status"], body["type"].rpartition("/")[2]) == (status, kind), body
    assert body["request"] == reply.headers["x-request-id"]
    return str(body["detail"])


def test_a_run_is_kept_learned_from_and_found(service: Service) -> None:
    reply = service("POST", "/v1/runs", RUN, scope="t1/a")
    assert (reply.status_code, reply.json()["id"]) == (202, "week-2")
    service.learned()
    run = service("GET", "/v1/runs/week-2", scope="t1/a").json()
    assert (run["state"], run["outcome"]["success"], run["steps"]) == ("learned", False, 2)
    assert [op["op"] for delta in run["learned"] for op in delta["operations"]] == ["ADD"]
    lessons = service("GET", "/v1/lessons?search=amount", scope="t1/a").json()["items"]
    assert len(lessons) == 1
    shown = service("GET", f"/v1/lessons/{lessons[0]['id']}", scope="t1/a").json()
    assert shown["lesson"]["evidence"][0]["run"] == "week-2"
    assert shown["history"][0]["version"] == 1
    steps = service("GET", "/v1/runs/week-2/steps?limit=1", scope="t1/a").json()
    assert steps["items"][0]["kind"] == "tool_call"
    more = service("GET", f"/v1/runs/week-2/steps?limit=1&after={steps['next']}", scope="t1/a").json()
    assert (more["items"][0]["error"], more["next"]) == ("amount must be a decimal number with a point", None)
    assert more["items"][0]["origin"].endswith("(untrusted)")


@pytest.mark.parametrize("name", ["team/42", "../../x", "a/steps", "a?b#c", "a\r\nx: y", "\u202e"])
def test_a_run_is_found_under_any_name(service: Service, name: str) -> None:
    assert service("POST", "/v1/runs", {**RUN, "id": name, "outcome": {}}, scope="t1/odd").status_code == 202
    place = quote(name, safe="")
    assert service("POST", f"/v1/runs/{place}/outcome", {"success": True}, scope="t1/odd").json()["id"] == name
    assert len(service("GET", f"/v1/runs/{place}/steps", scope="t1/odd").json()["items"]) == 2
    if not name.endswith("/steps"):
        assert service("GET", f"/v1/runs/{place}", scope="t1/odd").json()["id"] == name


def test_a_run_that_began_with_a_context_tells_what_it_was_shown(service: Service) -> None:
    assert service("POST", "/v1/deltas", ADD, scope="t2/a").status_code == 200
    context = service("POST", "/v1/context", {"task": "sum the invoice lines"}, scope="t2/a", role="reporter").json()
    assert "invoice-date rate" in context["text"]
    (lesson,) = context["lessons"]
    run = context["run"]
    assert service("GET", f"/v1/runs/{run}", scope="t2/a").json()["state"] == "unfinished"
    end = {"success": True, "signal": "test", "cited": [lesson[:8], "nothing"]}
    reply = service("POST", f"/v1/runs/{run}/outcome", end, scope="t2/a", role="reporter")
    assert (reply.status_code, reply.json()["not_lessons"]) == (202, ["nothing"])
    service.learned()
    tallies = service("GET", f"/v1/lessons/{lesson}", scope="t2/a").json()["lesson"]["tallies"]
    assert (tallies["shown"], tallies["cited"], tallies["helpful"]) == (1, 1, 1)
    again = service("POST", f"/v1/runs/{run}/outcome", end, scope="t2/a")
    assert again.status_code == 202
    problem(service("POST", f"/v1/runs/{run}/outcome", {"success": False}, scope="t2/a"), 409, "outcome")
    problem(service("POST", "/v1/runs/nowhere/outcome", {"success": False}, scope="t2/a"), 404, "run")


def test_a_reader_is_shown_the_same_and_nothing_is_kept(service: Service) -> None:
    service("POST", "/v1/deltas", ADD, scope="t3/a")
    context = service("POST", "/v1/context", {"task": "sum the invoice lines"}, scope="t3/a", role="reader").json()
    assert "invoice-date rate" in context["text"]
    assert context["run"] == ""
    assert service("GET", "/v1/runs", scope="t3/a").json() == {"items": [], "next": None}


def test_a_first_verdict_on_a_run_without_one_counts(service: Service) -> None:
    service("POST", "/v1/deltas", ADD, scope="t4/a")
    lesson = service("GET", "/v1/lessons", scope="t4/a").json()["items"][0]["id"]
    service(
        "POST", "/v1/runs", {**RUN, "outcome": {}, "ended": "2026-03-15T10:00:00+00:00", "shown": [lesson], "cited": [lesson]}, scope="t4/a"
    )
    service.learned()
    assert service("POST", "/v1/runs/week-2/outcome", {"success": True, "signal": "test"}, scope="t4/a").status_code == 202
    service.learned()
    assert service("GET", f"/v1/lessons/{lesson}", scope="t4/a").json()["lesson"]["tallies"]["helpful"] == 1


def test_pages_of_a_list_hold_each_item_once(service: Service) -> None:
    for number in range(7):
        assert service("POST", "/v1/runs", {**RUN, "id": f"r{number}"}, scope="t5/a").status_code == 202
    seen, after, pages = [], "", 0
    while True:
        page = service("GET", f"/v1/runs?limit=3&after={after}", scope="t5/a").json()
        seen += [run["id"] for run in page["items"]]
        pages += 1
        if page["next"] is None:
            break
        after = page["next"]
    assert (seen, pages) == ([f"r{number}" for number in reversed(range(7))], 3)
    cursor = service("GET", "/v1/runs?limit=3", scope="t5/a").json()["next"]
    for wrong in ("x", cursor[:-3], cursor + "A", "W10"):
        problem(service("GET", f"/v1/runs?after={wrong}", scope="t5/a"), 422, "cursor")
    for path, place in (("deltas", "9" * 30), ("deltas", "x"), ("audit", "\ud800")):
        forged = base64.urlsafe_b64encode(json.dumps([_list_name((path, "t5/a")), place]).encode()).decode()
        problem(service("GET", f"/v1/{path}?after={forged}", scope="t5/a"), 422, "cursor")
    beyond = base64.urlsafe_b64encode(json.dumps([_list_name(("deltas", "t5/a")), "9" * 15]).encode()).decode()
    assert service("GET", f"/v1/deltas?after={beyond}", scope="t5/a").status_code == 200
    problem(service("GET", f"/v1/lessons?after={cursor}", scope="t5/a"), 422, "cursor")
    problem(service("GET", f"/v1/runs?after={cursor}&outcome=success", scope="t5/a"), 422, "cursor")


def test_a_list_of_runs_reads_no_step_and_goes_on_behind_what_was_forgotten(service: Service) -> None:
    for number in range(5):
        success = number != 2
        reported = {**RUN, "id": f"r{number}", "outcome": {"success": success, "signal": "test", "feedback": f"said {number}"}}
        assert service("POST", "/v1/runs", reported, scope="t5/b").status_code == 202
    service.learned()
    said: list[str] = []

    def note(*told: Any) -> None:
        said.append(str(told[2]))

    engine = service.engine.store._engine  # type: ignore[attr-defined]
    event.listen(engine, "before_cursor_execute", note)
    try:
        page = service("GET", "/v1/runs?limit=2", scope="t5/b").json()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert any("FROM runs" in one or "FROM tenure.runs" in one for one in said)
    assert not [one for one in said if "FROM steps" in one or "FROM tenure.steps" in one], "the steps of runs were read for a list"
    assert [(run["id"], run["steps"], run["outcome"]["feedback"]) for run in page["items"]] == [("r4", 2, "said 4"), ("r3", 2, "said 3")]
    service("POST", "/v1/forget", {"runs": ["r3"], "dry_run": False}, scope="t5/b")
    left = service("GET", f"/v1/runs?limit=2&after={page['next']}", scope="t5/b").json()
    assert [run["id"] for run in left["items"]] == ["r2", "r1"]
    failed = service("GET", "/v1/runs?limit=1&outcome=failure", scope="t5/b").json()
    assert ([run["id"] for run in failed["items"]], failed["next"]) == (["r2"], None)


def test_a_version_is_an_etag(service: Service) -> None:
    applied = service("POST", "/v1/deltas", ADD, scope="t6/a", headers={"if-match": '"0"'})
    assert applied.json()["receipts"][0]["status"] == "applied"
    shown = service("GET", "/v1/playbook", scope="t6/a")
    assert (shown.headers["etag"], shown.json()["version"], len(shown.json()["lessons"])) == ('"1"', 1, 1)
    for path in ("/v1/playbook", "/v1/playbook/text", "/v1/lessons"):
        same = service("GET", path, scope="t6/a", headers={"if-none-match": 'W/"9", "1"'})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", '"1"')
    changed = service("POST", "/v1/deltas", ADD, scope="t6/a", headers={"if-match": '"0"'})
    assert "is at version 1, not 0" in problem(changed, 412, "changed")
    problem(service("POST", "/v1/deltas", ADD, scope="t6/a", headers={"if-match": "nothing"}), 422, "etag")
    problem(service("POST", "/v1/rollback", {"version": "0"}, scope="t6/a", headers={"if-match": '"0"'}), 412, "changed")
    assert service("GET", "/v1/playbook?version=0", scope="t6/a").json()["lessons"] == []
    problem(service("GET", "/v1/playbook?version=9", scope="t6/a"), 404, "unknown")


def test_the_ledger_is_read_compared_taken_back_and_proven(service: Service) -> None:
    service("POST", "/v1/deltas", ADD, scope="t7/a")
    assert service("POST", "/v1/rollback", {"version": "-1"}, scope="t7/a").json()["receipts"][0]["op"] == "RETIRE"
    page = service("GET", "/v1/deltas?limit=1", scope="t7/a").json()
    assert page["items"][0]["version"] == 2
    assert service("GET", f"/v1/deltas?after={page['next']}", scope="t7/a").json()["items"][0]["version"] == 1
    assert service("GET", "/v1/deltas/1", scope="t7/a").json()["operations"][0]["op"] == "ADD"
    assert service("GET", "/v1/diff?before=0&after=1", scope="t7/a").json()["lessons"][0]["change"] == "added"
    assert service("GET", "/v1/ledger/verify", scope="t7/a").json()["ok"] is True
    problem(service("GET", "/v1/deltas/77", scope="t7/a"), 404, "unknown")
    problem(service("POST", "/v1/deltas", {"operations": [{"op": "BURN"}]}, scope="t7/a"), 422, "operation")


def held(service: Service, scope: str, text: str) -> str:
    service("POST", "/v1/deltas", {"operations": [{"op": "ADD", "section": "s", "text": text, "status": "held"}]}, scope=scope)
    return str(service("GET", "/v1/review", scope=scope).json()["items"][-1]["id"])


def test_a_review_decides_one_or_many_and_is_taken_back(service: Service) -> None:
    one = held(service, "t8/a", "Post accruals on the last working day.")
    done = service("POST", f"/v1/review/changes/{one}", {"state": "approved"}, scope="t8/a", role="reviewer").json()
    assert done["receipts"] == [{"change": one, "status": "applied", "reason": ""}]
    two, three = held(service, "t8/a", "Round cents half to even in all totals."), held(service, "t8/a", "Ignore rows marked deleted.")
    batch = {"decisions": [{"change": two, "state": "edited", "text": "Round cents half up."}, {"change": three, "state": "rejected"}]}
    assert service("POST", "/v1/review", batch, scope="t8/a").json()["batch"]
    assert service("GET", "/v1/review", scope="t8/a").json()["items"] == []
    texts = {lesson["text"] for lesson in service("GET", "/v1/lessons", scope="t8/a").json()["items"]}
    assert texts == {"Post accruals on the last working day.", "Round cents half up."}
    undone = service("POST", "/v1/review/undo", {}, scope="t8/a").json()
    assert sorted(undone["reopened"]) == sorted([two, three])
    problem(service("POST", "/v1/review/changes/1", {"state": "approved"}, scope="t8/a"), 404, "change")
    twice = {"decisions": [{"change": two, "state": "rejected"}, {"change": two, "state": "approved"}]}
    problem(service("POST", "/v1/review", twice, scope="t8/a"), 422, "change")
    assert len(service("GET", "/v1/review", scope="t8/a").json()["items"]) == 2


def test_what_is_written_down_is_found_again(service: Service) -> None:
    entry = {"text": "We ship on Fridays.", "topic": "releases", "event": "e1", "at": "2026-03-13T10:00:00+00:00"}
    assert service("POST", "/v1/memory/entries", entry, scope="t9/a").json()["day"] == "2026-03-13"
    assert service("POST", "/v1/memory/entries", entry, scope="t9/a").json()["kept"] is False
    assert "Fridays" in service("POST", "/v1/memory/recall", {"query": "when do we ship"}, scope="t9/a").text
    assert "releases" in service("GET", "/v1/memory/root", scope="t9/a").json()["text"]
    assert service("GET", "/v1/memory/topics", scope="t9/a").json()["items"][0]["name"] == "releases"
    assert "Fridays" in service("GET", "/v1/memory/nodes/2026-03", scope="t9/a").text
    problem(service("GET", "/v1/memory/nodes/2020-01", scope="t9/a"), 404, "node")
    for at in ("soon", "2026-03-13T10:00:00"):
        problem(service("POST", "/v1/memory/entries", {**entry, "at": at}, scope="t9/a"), 422, "value")


def test_forgetting_is_tried_first_and_leaves_no_reply_to_give_again(service: Service) -> None:
    service("POST", "/v1/runs", {**RUN, "task": "about Mrs Zabriskie"}, scope="t10/a")
    service.learned()
    once = {"idempotency-key": "c1"}
    assert "Zabriskie" in service("POST", "/v1/context", {"task": "Mrs Zabriskie"}, scope="t10/a", headers=once).text
    tried = service("POST", "/v1/forget", {"subjects": ["Zabriskie"]}, scope="t10/a").json()
    assert (tried["dry_run"], tried["version"]) == (True, None)
    done = service("POST", "/v1/forget", {"subjects": ["Zabriskie"], "dry_run": False}, scope="t10/a").json()
    assert done["scrubbed"]["done"] is True
    assert "Zabriskie" not in service("POST", "/v1/context", {"task": "Mrs Z"}, scope="t10/a").text
    again = service("POST", "/v1/context", {"task": "Mrs Zabriskie"}, scope="t10/a", headers=once)
    assert "idempotent-replayed" not in again.headers
    problem(service("POST", "/v1/forget", {}, scope="t10/a"), 422, "value")


def test_an_origin_is_revoked_and_counts_again(service: Service) -> None:
    service("POST", "/v1/runs", RUN, scope="t11/a")
    service.learned()
    (origin,) = service("GET", "/v1/origins", scope="t11/a").json()["items"]
    done = service("POST", "/v1/origins/revoke", {"origin": origin["origin"]}, scope="t11/a").json()
    assert (done["runs"], len(done["lessons"])) == (["week-2"], 1)
    problem(service("POST", "/v1/runs", {**RUN, "id": "next"}, scope="t11/a"), 422, "run")
    assert service("GET", "/v1/lessons", scope="t11/a").json()["items"] == []
    assert service("POST", "/v1/origins/lift", {"origin": origin["origin"]}, scope="t11/a").status_code == 200
    assert len(service("GET", "/v1/lessons", scope="t11/a").json()["items"]) == 1


def test_settings_are_read_set_and_taken_back_but_for_those_of_the_operator(service: Service) -> None:
    assert service("PUT", "/v1/settings/learn.enabled", {"value": "off"}, scope="t12/a").json()["source"] == "scope"
    assert service("POST", "/v1/runs", RUN, scope="t12/a").json()["state"] == "kept"
    assert service("DELETE", "/v1/settings/learn.enabled", scope="t12/a").json()["value"] == "on"
    for name in ("model", "base_url", "embedder", "embedder_base_url", "redact.names", "spend.usd_per_day"):
        problem(service("PUT", f"/v1/settings/{name}", {"value": "1"}, scope="t12/a"), 403, "operator")
    listed = {one["name"]: one for one in service("GET", "/v1/settings", scope="t12/a").json()["items"]}
    assert (listed["base_url"]["value"], listed["base_url"]["operators"]) == (None, True)
    problem(service("PUT", "/v1/settings/nothing", {"value": "1"}, scope="t12/a"), 404, "setting")
    problem(service("PUT", "/v1/settings/learn.rounds", {"value": "many"}, scope="t12/a"), 422, "value")
    assert service("GET", "/v1/metrics", scope="t12/a").json()["counts"]["runs"] == 1
    assert service("GET", "/v1/spend", scope="t12/a").json()["ever"]["calls"] == 0


def test_a_key_is_shown_once_and_revoked_at_once(service: Service) -> None:
    made = service("POST", "/v1/keys?scope=t13/a/deep", {"role": "reader", "days": 3}, scope="t13/a", headers={"idempotency-key": "k"})
    again = service("POST", "/v1/keys?scope=t13/a/deep", {"role": "reader", "days": 3}, scope="t13/a", headers={"idempotency-key": "k"})
    assert (made.status_code, again.json()["id"], again.json()["key"]) == (201, made.json()["id"], None)
    key = made.json()["key"]
    assert service("GET", "/v1/metrics", key=key).json()["scope"] == "t13/a/deep"
    problem(service("GET", "/v1/metrics?scope=t13/a", key=key), 404, "scope")
    listed = service("GET", "/v1/keys", scope="t13/a")
    assert [one["id"] for one in listed.json()["items"]][-1] == made.json()["id"]
    assert "digest" not in listed.text
    assert service("DELETE", f"/v1/keys/{made.json()['id']}", scope="t13/a").json()["state"] == "revoked"
    problem(service("GET", "/v1/metrics", key=key), 401, "key")
    problem(service("DELETE", "/v1/keys/nothing", scope="t13/a"), 404, "key")


def test_acts_stand_in_the_audit_with_their_outcome_refused_ones_too(service: Service) -> None:
    service("POST", "/v1/deltas", ADD, scope="t14/a", role="reviewer")
    service("POST", "/v1/deltas", ADD, scope="t14/a", role="reporter")
    service("POST", "/v1/forget", {"runs": ["none"]}, scope="t14/a")
    service("PUT", "/v1/settings/learn.enabled", {"value": "off"}, scope="t14/a")
    entries = service("GET", "/v1/audit", scope="t14").json()["items"]
    told = [(one["act"], one["outcome"]) for one in entries if one["act"] != "keys.create"]
    assert told == [("settings.set", "done"), ("forget", "failed: value"), ("deltas.apply", "refused: forbidden"), ("deltas.apply", "done")]
    seen = service("GET", "/v1/audit", scope="t14/a").json()["items"]
    assert [one["id"] for one in seen if one["act"] != "keys.create"] == [one["id"] for one in entries if one["act"] != "keys.create"]
    page = service("GET", "/v1/audit?limit=2", scope="t14").json()
    rest = service("GET", f"/v1/audit?limit=200&after={page['next']}", scope="t14").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == [one["id"] for one in entries]


@pytest.mark.parametrize(("named", "where"), [("t15/a/b", "t15/a/b"), ("t15/z", "t15/a"), ("//", "t15/a"), ("", "t15/a")])
def test_a_refused_act_stands_in_the_audit_under_a_scope_that_its_key_opens(service: Service, named: str, where: str) -> None:
    assert service("POST", f"/v1/deltas?scope={named}", ADD, scope="t15/a", role="reporter").status_code == 403
    newest = service("GET", "/v1/audit?limit=9", scope="t15").json()["items"]
    assert next(one["scope"] for one in newest if one["outcome"] == "refused: forbidden") == where


DIES = """
import os, sys
from tenure.serving.service.callers import Caller, make_key
from tenure.serving.service.doing import Doing
from tenure.serving.service.engine import Engine
from tenure.stores.sqlite import open_sqlite
from tenure.wiring import Tenure

engine = Engine(Tenure(open_sqlite(sys.argv[1]), "t15/a", embedder="none"))
made = make_key(engine.store, engine.clock, engine.ids, scope="t15/a", role="admin", by="tests")
Doing(engine, Caller(key=made.key), "t15/a", "settings.set", noted=True).reply(lambda: os._exit(9), subject="refine.every")
"""


def test_an_act_within_which_the_process_dies_stands_in_the_audit(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'service.db'}"
    assert subprocess.run([sys.executable, "-c", DIES, url], check=False).returncode == 9
    store = open_sqlite(url)
    with store.tenancy("t15") as look:
        newest = look.audited()[0]
    store.close()
    assert (newest.act, newest.subject, newest.outcome) == ("settings.set", "refine.every", "begun")


def test_a_request_that_is_sent_again_is_done_once(service: Service) -> None:
    once = {"idempotency-key": "run-1"}
    body = {"task": "without an id", "steps": []}
    first = service("POST", "/v1/runs", body, scope="t15/a", headers=once)
    again = service("POST", "/v1/runs", body, scope="t15/a", headers=once)
    assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true")
    assert len(service("GET", "/v1/runs", scope="t15/a").json()["items"]) == 1
    problem(service("POST", "/v1/runs", {**body, "task": "other"}, scope="t15/a", headers=once), 422, "idempotency")
    other = service("POST", "/v1/runs", {**body, "task": "of another key"}, scope="t15/a", role="reporter", headers=once)
    assert other.status_code == 202
    refused = service("POST", "/v1/runs/none/outcome", {"success": True}, scope="t15/a", headers={"idempotency-key": "o"})
    assert refused.status_code == 404
    service("POST", "/v1/runs", {**RUN, "id": "none", "outcome": {}}, scope="t15/a")
    assert service("POST", "/v1/runs/none/outcome", {"success": True}, scope="t15/a", headers={"idempotency-key": "o"}).status_code == 202


def test_two_requests_with_one_key_at_once_are_done_once(service: Service) -> None:
    service.key("t16/a")
    replies: list[Any] = []

    def send() -> None:
        replies.append(service("POST", "/v1/deltas", ADD, scope="t16/a", headers={"idempotency-key": "x"}))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert service("GET", "/v1/metrics", scope="t16/a").json()["version"] == 1


def test_a_stream_tells_the_fate_of_each_line(service: Service) -> None:
    lines = [json.dumps({**RUN, "id": f"s{number}"}) for number in range(120)]
    lines[3], lines[60] = "{no json", '{"task": 7}'
    lines.insert(10, "")
    lines.append(json.dumps({**RUN, "id": "long", "task": "x" * 2_000_001}))
    headers = {"content-type": "application/x-ndjson"}
    reply = service("POST", "/v1/runs:stream", scope="t17/a", headers=headers, content="\n".join(lines).encode())
    told = [json.loads(line) for line in reply.text.splitlines()]
    assert told[-1] == {"lines": 122, "kept": 118, "refused": 3}
    assert {one["line"] for one in told[:-1] if not one["kept"]} == {4, 62, 122}
    assert service("GET", "/v1/metrics", scope="t17/a").json()["counts"]["runs"] == 118
    problem(service("POST", "/v1/runs:stream", {"task": "x"}, scope="t17/a"), 415, "media")
    service.learned()
    assert service("GET", "/v1/runs/s119", scope="t17/a").json()["state"] == "learned"


@pytest.mark.parametrize(
    ("content", "media", "status", "kind"),
    [
        (b'{"task": NaN}', "application/json", 400, "json"),
        (b'{"task": 1e999}', "application/json", 422, "request"),
        (b"[" * 100_000, "application/json", 400, "json"),
        (
            b'{"task": "a", "steps": [{"kind": "tool_call", "arguments": ' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}]}",
            "application/json",
            400,
            "json",
        ),
        (b"\xff\xfe", "application/json", 400, "json"),
        (b"task=a", "application/x-www-form-urlencoded", 415, "media"),
        (b'{"task": "a", "taks": "b"}', "application/json", 422, "request"),
        (b"", "application/json", 422, "request"),
        (b'{"task": "' + b"x" * 2_000_001 + b'"}', "application/json", 413, "size"),
        (b'{"task": "a", "outcome": {"success": true, "score": 0.1}}', "application/json", 422, "outcome"),
    ],
    ids=["nan", "infinite", "deep", "deep arguments", "not utf-8", "form", "unknown field", "empty", "too large", "contradiction"],
)
def test_a_body_that_cannot_be_used_is_a_problem(service: Service, content: bytes, media: str, status: int, kind: str) -> None:
    problem(service("POST", "/v1/runs", scope="t18/a", content=content, headers={"content-type": media}), status, kind)


def test_a_stream_ends_where_its_key_was_revoked(service: Service) -> None:
    key = service.key("t16/a", "reporter", label="to be revoked")

    def kept() -> int:
        return int(service("GET", "/v1/metrics", scope="t16/a").json()["counts"]["runs"])

    def lines() -> Iterator[bytes]:
        for number in range(150):
            if number == 60:
                until = time.monotonic() + 60
                while kept() < 50:  # the first portion: the server knows who sends by then
                    assert time.monotonic() < until
                    time.sleep(0.02)
                assert service("DELETE", f"/v1/keys/{key[4:14]}", scope="t16/a").status_code == 200
            yield json.dumps({**RUN, "id": f"s{number}"}).encode() + b"\n"

    with served(service.app, lifespan="off") as there:
        headers = {"authorization": f"Bearer {key}", "content-type": "application/x-ndjson"}
        told = httpx2.post(f"{there}/v1/runs:stream", content=lines(), headers=headers, timeout=90).text.splitlines()
    last = json.loads(told[-1])
    assert "Your key was revoked" in last["stopped"]
    assert (last["kept"], len(told) - 1, kept()) == (50, 50, 50), "nothing is kept after it"


def test_a_body_without_a_length_is_bounded_too(service: Service) -> None:
    headers = {"authorization": f"Bearer {service.key('t18/a')}", "content-type": "application/json"}
    reply = service.client.post("/v1/runs", content=(b"x" * 100_000 for _ in range(30)), headers=headers)
    problem(reply, 413, "size")


def test_half_characters_are_replaced_and_nul_is_no_fault(service: Service) -> None:
    content = b'{"id": "half", "task": "a \\ud800 b \\u0000 c", "steps": [{"kind": "message", "content": "\\udfff"}]}'
    reply = service("POST", "/v1/runs", scope="t19/a", content=content, headers={"content-type": "application/json"})
    assert reply.status_code in (202, 422)
    assert service("GET", "/v1/runs", scope="t19/a").status_code == 200
    for path in ("/v1/runs/%00", "/v1/lessons/%00", "/v1/lessons?search=%00", "/v1/deltas/%00", "/v1/memory/nodes/%00", "/v1/keys/x%00"):
        method = "DELETE" if "keys" in path else "GET"
        assert service(method, path, scope="t19/a").status_code in (200, 404, 422), path


def test_what_is_not_there_is_a_problem_too(service: Service) -> None:
    assert "GET /v1/nothing" in problem(service("GET", "/v1/nothing"), 404, "http")
    problem(service("PATCH", "/v1/runs"), 405, "http")
    problem(service.client.get("/v1/runs"), 401, "key")
    problem(service("GET", "/v1/runs", key="tnr_wrong"), 401, "key")
    problem(service("POST", "/v1/runs", content=b"{", key="", headers={"content-type": "application/json"}), 401, "key")
    problem(service("GET", "/v1/runs?scope=a//b"), 422, "scope")
    assert service.client.get("/healthz").json()["status"] == "ok"
    assert service.client.get("/readyz").json()["status"] == "ready"
