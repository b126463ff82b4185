"""Who may do what, over every route that there is."""

from __future__ import annotations

from typing import get_args

import pytest

from tenure.governance.access import ACTS, ROLES, Role
from tests.serving.service.services import Service, routes_of

WHAT_FOR = {
    ("DELETE", "/v1/keys/{id}"): "administer",
    ("DELETE", "/v1/settings/{name}"): "administer",
    ("GET", "/healthz"): "",
    ("GET", "/readyz"): "",
    ("GET", "/v1/audit"): "administer",
    ("GET", "/v1/deltas"): "read",
    ("GET", "/v1/deltas/{version}"): "read",
    ("GET", "/v1/diff"): "read",
    ("GET", "/v1/keys"): "administer",
    ("GET", "/v1/ledger/verify"): "read",
    ("GET", "/v1/lessons"): "read",
    ("GET", "/v1/lessons/{id}"): "read",
    ("GET", "/v1/memory/nodes/{name}"): "read",
    ("GET", "/v1/memory/root"): "read",
    ("GET", "/v1/memory/topics"): "read",
    ("GET", "/v1/metrics"): "read",
    ("GET", "/v1/origins"): "read",
    ("GET", "/v1/playbook"): "read",
    ("GET", "/v1/playbook/text"): "read",
    ("GET", "/v1/review"): "review",
    ("GET", "/v1/runs"): "read",
    ("GET", "/v1/runs/{id}"): "read",
    ("GET", "/v1/runs/{id}/steps"): "read",
    ("GET", "/v1/settings"): "read",
    ("GET", "/v1/spend"): "read",
    ("POST", "/v1/context"): "read",
    ("POST", "/v1/deltas"): "review",
    ("POST", "/v1/forget"): "administer",
    ("POST", "/v1/keys"): "administer",
    ("POST", "/v1/memory/entries"): "report",
    ("POST", "/v1/memory/recall"): "read",
    ("POST", "/v1/origins/lift"): "review",
    ("POST", "/v1/origins/revoke"): "review",
    ("POST", "/v1/review"): "review",
    ("POST", "/v1/review/changes/{change}"): "review",
    ("POST", "/v1/review/undo"): "review",
    ("POST", "/v1/rollback"): "review",
    ("POST", "/v1/runs"): "report",
    ("POST", "/v1/runs/{id}/outcome"): "report",
    ("POST", "/v1/runs:stream"): "report",
    ("POST", "/v1/traces"): "report",
    ("PUT", "/v1/settings/{name}"): "administer",
}
"""Every route, and what a key must be allowed for it. A route that is missing here fails the test."""


def test_every_route_says_who_may_use_it(service: Service) -> None:
    assert {(method, path): act for method, path, act in routes_of(service.app)} == WHAT_FOR
    assert set(WHAT_FOR.values()) <= {"", *ACTS}


@pytest.mark.parametrize("role", get_args(Role))
def test_a_role_may_do_what_it_may_and_nothing_else(service: Service, role: Role) -> None:
    allowed = {"", *ACTS[: ROLES.index(role) + 1]}
    for (method, path), act in WHAT_FOR.items():
        named = path.replace("{id}", "x").replace("{name}", "x").replace("{version}", "0").replace("{change}", "x")
        reply = service(method, named, {} if method in ("POST", "PUT") else None, scope=f"perm/{role}", role=role)
        if act in allowed:
            assert reply.status_code not in (401, 403), (method, path, reply.text)
        else:
            assert reply.status_code == 403, (method, path, reply.text)
            assert f"a key that may {act}; yours is a {role}" in reply.json()["detail"]


def test_without_a_key_there_is_nothing(service: Service) -> None:
    for (method, path), act in WHAT_FOR.items():
        for key in ("", "tnr_wrong", service.key("acme/finance", "admin")[:-1] + "x"):
            reply = service.client.request(method, path, headers={"authorization": f"Bearer {key}"} if key else {}, content=b"{")
            assert (reply.status_code == 401) == bool(act), (method, path, reply.status_code)
