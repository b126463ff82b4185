"""API keys and the audit, for admins."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC
from typing import Annotated, Any

from fastapi import Depends, Path, Response
from pydantic import ConfigDict, Field

from tenure.governance.access import Role
from tenure.ports import AuditEntry
from tenure.serving.service.api import Body, router, told
from tenure.serving.service.callers import key_json, make_key, revoke_key
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.paging import After, Limit, page, read_cursor
from tenure.serving.service.problems import Problem, answered

ROUTER = router("administration")

_KEY = {
    "id": "k3rj2v7a4q",
    "label": "ci",
    "tenant": "acme",
    "scope": "acme/finance",
    "role": "reporter",
    "created": "2026-03-15T10:00:00+00:00",
    "by": "cli",
    "expires": "",
    "revoked": "",
    "rate": 0,
    "state": "valid",
}
_ENTRY = {"id": "01K5", "at": "2026-03-15T10:00:00+00:00", "who": "k3rj2v7a4q", "act": "keys.create", "outcome": "done"}

KeyId = Annotated[str, Path(min_length=1, max_length=100, description="Id of a key.")]


class KeyBody(Body):
    """A key to be made. It opens the request's scope and those below it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"role": "reporter", "label": "ci", "days": 90}]})

    role: Role
    label: str = Field(default="", max_length=100)
    days: Annotated[int, Field(ge=1, le=36_500)] | None = Field(default=None, description="Days until it expires; none for never.")
    rate: Annotated[int, Field(ge=0, le=1_000_000)] = Field(default=0, description="Requests a minute; 0 takes the server's limit.")


@ROUTER.post(
    "/keys",
    status_code=201,
    summary="Make a key",
    responses=told("The key. Its text is shown this once.", {"key": "tnr_...", **_KEY}, status=201),
)
def create_key(to: Annotated[Doing, Depends(May("administer", "keys.create", once=True))], body: KeyBody) -> Response:
    """Make a key for the scope. Only a digest of it is kept: who loses it makes another.

    A reply to an `Idempotency-Key` that is given again does not show the key: it would have to be kept for that.
    """

    def work() -> dict[str, Any]:
        made = make_key(
            to.engine.store,
            to.engine.clock,
            to.engine.ids,
            scope=to.scope,
            role=body.role,
            by=to.caller.key.id,
            label=body.label,
            days=body.days,
            rate=body.rate,
            request=to.caller.request,
        )
        return {"key": made.text, **key_json(made.key, _now(to))}

    return to.reply(work, status=201, subject=body.label, secret=("key",), noted=False)


@ROUTER.get(
    "/keys", summary="List keys", responses=told("Keys of the scope and those below it, oldest first.", {"items": [_KEY], "next": None})
)
def list_keys(to: Annotated[Doing, Depends(May("administer", "keys.list"))], limit: Limit = 50, after: After = "") -> Response:
    """The keys that open this scope or one below it, revoked and expired ones too."""
    of = ("keys", to.scope)
    before = read_cursor(after, *of)
    with to.engine.store.tenancy(to.caller.tenant) as look:
        keys = [key for key in look.api_keys() if _within(key.scope, to.scope)]
    now = _now(to)
    return answered(page(keys, *of, after=before, limit=limit, name=lambda key: key.id, told=lambda key: key_json(key, now)))


@ROUTER.delete("/keys/{id}", summary="Revoke a key", responses=told("The key, revoked.", {**_KEY, "state": "revoked"}))
def delete_key(to: Annotated[Doing, Depends(May("administer", "keys.revoke", once=True))], id: KeyId) -> Response:
    """Revoke a key: the next request with it is refused. Revoking it again changes nothing."""

    def work() -> dict[str, Any]:
        with to.engine.store.tenancy(to.caller.tenant) as look:
            there = look.api_key(id)
        if there is None or not _within(there.scope, to.scope):
            raise Problem(404, "key", f"There is no key '{id[:40]}' for scope '{to.scope}' or below it. Keys: GET /v1/keys")
        key = revoke_key(
            to.engine.store, to.engine.clock, to.engine.ids,
            tenant=to.caller.tenant, key_id=id, by=to.caller.key.id, request=to.caller.request,
        )  # fmt: skip
        assert key is not None, "keys are never removed"
        return key_json(key, _now(to))

    return to.reply(work, subject=id, noted=False)


@ROUTER.get(
    "/audit", summary="The audit", responses=told("Acts of administration and review, newest first.", {"items": [_ENTRY], "next": None})
)
def list_audit(to: Annotated[Doing, Depends(May("administer", "audit.list"))], limit: Limit = 50, after: After = "") -> Response:
    """Who did what in this scope and those below it, and what was refused. An admin of the whole tenant sees all of it."""
    of = ("audit", to.scope)
    before = read_cursor(after, *of)
    found: list[AuditEntry] = []
    with to.engine.store.tenancy(to.caller.tenant) as look:
        while len(found) <= limit:
            some = look.audited(before=before, limit=500)
            found += [entry for entry in some if _within(entry.scope or to.caller.tenant, to.scope)]
            if len(some) < 500:
                break
            before = some[-1].id
    return answered(page(found, *of, after="", limit=limit, name=lambda entry: entry.id, told=asdict, more=len(found) > limit))


def _within(scope: str, top: str) -> bool:
    return scope == top or scope.startswith(f"{top}/")


def _now(to: Doing) -> str:
    return to.engine.clock.now().astimezone(UTC).isoformat()
