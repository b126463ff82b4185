"""Walls: nothing of another tenant, or of a scope that a key does not open, in any reply of many mixed calls."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tenure.governance.access import ROLES, Role
from tests.serving.service.services import Service

SCOPES = {
    "north": ("north/finance", "north/people"),
    "south": ("south/finance", "south/people"),
    "east": ("east/finance", "east/people"),
}
"""Tenants and their scopes. Scopes have the same names on purpose, as have runs, lessons and keys of idempotency."""

WORDS = "amount invoice ledger accrual rounding currency export period journal voucher".split()

CALLS = 600
"""By default; with `-m full` 25 times as many."""


@dataclass(slots=True)
class World:
    """Callers of three tenants who do the same things, each with marked texts, and what they learn of ids."""

    service: Service
    chance: random.Random
    ids: dict[str, list[str]] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    calls: int = 0

    def mark(self, scope: str) -> str:
        """What stands in every text of a scope, and nowhere else."""
        return f"zq{scope.replace('/', 'x')}qz"

    def text(self, scope: str) -> str:
        """A text of a scope."""
        return f"{' '.join(self.chance.sample(WORDS, 4))} {self.mark(scope)} {self.chance.randrange(30)}"

    def known(self, scope: str, kind: str) -> str:
        """An id: of this scope, or, as often, of another one."""
        theirs = [one for where, ids in self.ids.items() if where.endswith(kind) for one in ids]
        mine = self.ids.get(f"{scope} {kind}", [])
        return self.chance.choice(mine if mine and self.chance.random() < 0.5 else theirs or ["r1"])

    def learn(self, scope: str, kind: str, *ids: object) -> None:
        """Remember ids that a reply told."""
        self.ids.setdefault(f"{scope} {kind}", []).extend(str(one) for one in ids if one)

    def look(self, scope: str, reply: str, sent: str) -> None:
        """Find what is not this scope's in a reply. What the caller sent is theirs to see again."""
        for scopes in SCOPES.values():
            for other in scopes:
                if other != scope and self.mark(other) in reply and self.mark(other) not in sent:
                    self.leaks.append(f"{scope} saw {other}: {sent[:200]} -> {reply[:300]}")


def request(world: World, scope: str, role: Role) -> tuple[str, str, Any, str]:
    """A call that chance picks: method, path, body, and the kind of ids that the reply tells."""
    c = world.chance
    text = world.text(scope)
    run, lesson = world.known(scope, "run"), world.known(scope, "lesson")
    add = {"op": "ADD", "section": "s", "text": text, "status": c.choice(["active", "held"])}
    asks = {"task": text}
    step = {"kind": "tool_result", "name": "book", "error": f"{c.choice(WORDS)} refused {world.mark(scope)}"}
    picked: list[tuple[str, str, Any, str]] = [
        ("POST", "/v1/runs", {"id": f"r{c.randrange(40)}", "task": text, "steps": [step], "outcome": {"success": c.random() < 0.5}}, "run"),
        ("POST", "/v1/context", asks, "run"),
        ("POST", f"/v1/runs/{run}/outcome", {"success": True, "feedback": text}, ""),
        ("GET", f"/v1/runs?limit={c.randrange(1, 9)}", None, ""),
        ("GET", f"/v1/runs/{run}", None, ""),
        ("GET", f"/v1/runs/{run}/steps", None, ""),
        ("GET", f"/v1/lessons?status=all&search={c.choice(WORDS)}", None, "lesson"),
        ("GET", "/v1/lessons?status=all&limit=5", None, "lesson"),
        ("GET", f"/v1/lessons/{lesson}", None, ""),
        ("GET", "/v1/playbook", None, ""),
        ("GET", "/v1/playbook/text", None, ""),
        ("POST", "/v1/deltas", {"operations": [add], "note": text}, "lesson"),
        ("POST", "/v1/deltas", {"operations": [{"op": "UPDATE", "id": lesson, "text": text}]}, ""),
        ("GET", f"/v1/deltas?limit={c.randrange(1, 5)}", None, ""),
        ("GET", f"/v1/deltas/{c.randrange(1, 9)}", None, ""),
        ("GET", "/v1/diff?before=0", None, ""),
        ("GET", "/v1/review", None, "change"),
        ("POST", f"/v1/review/changes/{world.known(scope, 'change')}", {"state": c.choice(["approved", "rejected"]), "note": text}, ""),
        ("POST", "/v1/memory/entries", {"text": text, "topic": world.mark(scope), "event": f"e{c.randrange(20)}"}, ""),
        ("POST", "/v1/memory/recall", {"query": f"{c.choice(WORDS)} zq"}, ""),
        ("GET", "/v1/memory/root", None, ""),
        ("GET", "/v1/memory/topics", None, ""),
        ("GET", "/v1/metrics", None, ""),
        ("GET", "/v1/origins", None, ""),
        ("GET", "/v1/settings", None, ""),
        ("GET", "/v1/keys", None, ""),
        ("GET", "/v1/audit", None, ""),
        ("POST", "/v1/forget", {"subjects": [world.mark(c.choice(SCOPES[c.choice(sorted(SCOPES))]))]}, ""),
        ("POST", "/v1/origins/revoke", {"origin": "x/api", "dry_run": True}, ""),
    ]
    method, path, body, kind = c.choice(picked)
    if c.random() < 0.2:  # with a word for a scope that is not the key's
        other = c.choice([one for scopes in SCOPES.values() for one in scopes])
        path += f"{'&' if '?' in path else '?'}scope={other}"
    return method, path, body, kind


def call(world: World, tenant: str) -> None:
    """One call of a tenant, its reply looked at."""
    scope = world.chance.choice(SCOPES[tenant])
    role = world.chance.choice(ROLES) if world.chance.random() < 0.3 else "admin"
    method, path, body, kind = request(world, scope, role)
    headers = {"idempotency-key": f"i{world.chance.randrange(200)}"} if world.chance.random() < 0.2 else {}
    reply = world.service(method, path, body, scope=scope, role=role, headers=headers)
    world.calls += 1
    assert reply.status_code < 500, (method, path, body, reply.text)
    told = "\n".join((reply.text, *(f"{name}: {value}" for name, value in reply.headers.items())))
    world.look(scope, told, f"{path} {json.dumps(body)}")
    named = path.partition("scope=")[2]
    if named and named != scope:
        assert reply.status_code in (403, 404, 422), (method, path, reply.text)
        return
    if reply.is_success and reply.headers["content-type"] == "application/json":
        data = reply.json()
        rows = data.get("items", [data])
        if kind == "run":
            world.learn(scope, "run", data.get("id"), data.get("run"))
            if method == "POST" and path.startswith("/v1/runs") and reply.status_code == 202 and "idempotent-replayed" not in reply.headers:
                world.counts.setdefault(scope, 0)
        elif kind in ("lesson", "change"):
            world.learn(scope, kind, *(row.get("id") for row in rows), *(one.get("id") for one in data.get("receipts", ())))


@pytest.mark.parametrize("calls", [CALLS, pytest.param(25 * CALLS, marks=[pytest.mark.full, pytest.mark.timeout(3_000)])])
def test_no_caller_sees_a_row_a_count_or_an_error_of_another(service: Service, calls: int) -> None:
    world = World(service, random.Random(calls))
    for _ in range(calls):
        call(world, world.chance.choice(sorted(SCOPES)))
    service.learned()
    for _ in range(calls // 8):
        call(world, world.chance.choice(sorted(SCOPES)))
    assert world.leaks == []
    assert all(world.ids.get(f"{scope} {kind}") for scopes in SCOPES.values() for scope in scopes for kind in ("run", "lesson")), (
        "too few were made"
    )
    for scopes in SCOPES.values():  # counts are those of the rows that the caller sees
        for scope in scopes:
            counted = service("GET", "/v1/metrics", scope=scope).json()["counts"]
            assert counted["runs"] == len(all_items(service, "/v1/runs?limit=200", scope))
            assert counted["lessons"] == len(all_items(service, "/v1/lessons?status=all&limit=200", scope))
            mine = {text["id"] for text in all_items(service, "/v1/keys?limit=200", scope)}
            assert {entry["who"] for entry in all_items(service, "/v1/audit?limit=200", scope)} <= {*mine, "tests"}


def all_items(service: Service, path: str, scope: str) -> list[Any]:
    """All pages of a list."""
    found: list[Any] = []
    after = ""
    while True:
        page = service("GET", f"{path}&after={after}", scope=scope).json()
        found += page["items"]
        if not page["next"]:
            return found
        after = page["next"]


def test_a_scope_that_is_not_opened_reads_as_one_that_is_not_there(service: Service) -> None:
    service("POST", "/v1/runs", {"id": "secret", "task": "hidden"}, scope="west/board")
    for path in ("/v1/runs", "/v1/runs/secret", "/v1/playbook", "/v1/metrics", "/v1/keys", "/v1/audit", "/v1/lessons/x"):
        replies = [service("GET", f"{path}?scope={other}", scope="west/desk") for other in ("west/board", "west/nowhere", "alien/board")]
        told = {
            reply.text.replace(reply.headers["x-request-id"], "").replace(other, "")
            for reply, other in zip(replies, ("west/board", "west/nowhere", "alien/board"), strict=True)
        }
        assert {reply.status_code for reply in replies} == {404}
        assert len(told) == 1, told


def test_a_wrong_secret_and_an_unknown_tenant_are_told_apart_for_nobody(service: Service) -> None:
    key = service.key("west/board", "admin")
    body, _, tenant = key.partition(".")
    wrong = [f"{body[:-1]}{'a' if body[-1] != 'a' else 'b'}.{tenant}", f"{body}.nowhere", f"{body}.south", "tnr_"]
    replies = [service("GET", "/v1/runs", key=one) for one in wrong]
    assert {reply.status_code for reply in replies} == {401}
    assert len({reply.text.replace(reply.headers["x-request-id"], "") for reply in replies}) == 1
    none = service("GET", "/v1/runs", key="")
    assert (none.status_code, "carries no API key" in none.json()["detail"]) == (401, True)


def test_the_walls_hold_for_mcp(service: Service) -> None:
    """The same tenants over MCP: contexts, reports and memory hold nothing of others, and a session belongs to its key."""
    from tests.serving.service.mcp_calls import call_tool, initialise

    chance = random.Random(3)
    world = World(service, chance)
    callers = [(scope, service.key(scope, "reporter")) for scopes in SCOPES.values() for scope in scopes]
    for scope, key in callers:
        service("POST", "/v1/deltas", {"operations": [{"op": "ADD", "section": "s", "text": world.text(scope)}]}, scope=scope)
        session = initialise(service, key)
        for _ in range(6):
            task = f"{' '.join(chance.sample(WORDS, 3))} {world.mark(scope)}"
            shown = call_tool(service, key, session, "context", {"task": task})
            world.look(scope, json.dumps(shown), task)
            run = shown["structuredContent"]["run"]
            done = call_tool(service, key, session, "report_outcome", {"run": run, "success": True, "feedback": task})
            assert not done.get("isError"), done
            call_tool(service, key, session, "checkpoint", {"request": task, "outcome": "done", "event_id": f"e{chance.randrange(3)}"})
            world.look(scope, json.dumps(call_tool(service, key, session, "recall", {"query": f"{chance.choice(WORDS)} zq"})), "")
            world.look(scope, json.dumps(call_tool(service, key, session, "review_list", {})), "")
        for _, other in callers:
            if other != key:
                assert call_tool(service, other, session, "context", {"task": "x"}, expect=404) == {}
    assert world.leaks == []


def test_the_net_catches_what_it_is_to_catch() -> None:
    world = World(None, random.Random(0))  # type: ignore[arg-type]
    world.look("north/finance", f"... {world.mark('south/finance')} ...", "GET /v1/runs")
    world.look("north/finance", f"... {world.mark('north/people')} ...", "GET /v1/runs")
    world.look("north/finance", f"... {world.mark('north/finance')} ...", "GET /v1/runs")
    assert len(world.leaks) == 2
