"""API keys and the audit: who may come in, and who did what."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from tenure.errors import UserError
from tenure.governance.access import ROLES, Role
from tenure.serving.service.callers import MadeKey, make_key, revoke_key
from tenure.serving.service.problems import Problem
from tenure.serving.web.pages import go_on, page
from tenure.serving.web.visitors import Changing, Seen, Visitor

A_PAGE = 100
"""Entries of the audit on one page."""

MEANING = {
    "reader": "reads",
    "reporter": "also reports runs and outcomes, and writes memory",
    "reviewer": "also decides on changes and edits lessons",
    "admin": "also makes keys, changes settings and forgets",
}


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/keys")
    def keys(request: Request, visitor: Seen) -> Response:
        return _keys(request, visitor)

    @router.post("/keys")
    def make(
        request: Request,
        visitor: Changing,
        label: Annotated[str, Form(max_length=400)] = "",
        role: Annotated[str, Form(max_length=20)] = "reader",
        opens: Annotated[str, Form(max_length=400)] = "",
        days: Annotated[str, Form(max_length=10)] = "",
        rate: Annotated[str, Form(max_length=10)] = "",
    ) -> Response:
        visitor.check("administer", "keys.create")
        book = visitor.book
        try:
            scope = visitor.caller.scope(opens.strip() or visitor.caller.key.scope, "administer")
            made = make_key(
                book.store,
                book.clock,
                book.ids,
                scope=scope,
                role=_role(role),
                by=visitor.caller.key.id,
                label=label.strip(),
                days=_whole(days, "days") if days.strip() else None,
                rate=_whole(rate, "requests a minute") if rate.strip() else 0,
                request=visitor.caller.request,
            )
        except (UserError, Problem) as exc:
            return _keys(request, visitor, wrong=exc.detail if isinstance(exc, Problem) else str(exc), status=422)
        return _keys(request, visitor, made=made)  # no redirect: the key is in this reply and nowhere else

    @router.post("/keys/{id}/revoke")
    def revoke(request: Request, visitor: Changing, id: str) -> Response:
        visitor.check("administer", "keys.revoke", id)
        book, whose = visitor.book, visitor.caller.key
        with book.store.tenancy(visitor.caller.tenant) as look:
            key = look.api_key(id)
        if key is None or not whose.opens(key.scope):
            raise Problem(404, "unknown", f"There is no key '{id[:40]}' here. See what there is: the page Keys.")
        revoke_key(book.store, book.clock, book.ids, tenant=visitor.caller.tenant, key_id=id, by=whose.id, request=visitor.caller.request)
        own = " It was yours: you have to sign in with another." if id == whose.id else ""
        return go_on(request, visitor, visitor.to("/keys"), f"The key '{key.label or id}' is revoked.{own}")

    @router.get("/audit")
    def audit(request: Request, visitor: Seen, before: Annotated[str, Query(max_length=60)] = "") -> Response:
        visitor.caller.check("administer")
        with visitor.book.store.tenancy(visitor.caller.tenant) as look:
            found = list(look.audited(before=before, limit=A_PAGE + 1))
            names = {one.id: one.label for one in look.api_keys()}
        whose = visitor.caller.key
        entries = [one for one in found[:A_PAGE] if whose.opens(one.scope or whose.tenant)]
        return page(
            request,
            visitor,
            "audit.html",
            title="Audit",
            entries=entries,
            names=names,
            before=before,
            following=found[A_PAGE - 1].id if len(found) > A_PAGE else "",
        )


def _keys(request: Request, visitor: Visitor, *, made: MadeKey | None = None, wrong: str = "", status: int = 200) -> Response:
    """Keys of the tenant that the visitor's key reaches; for admins alone."""
    visitor.caller.check("administer")
    at = visitor.book.clock.now().isoformat()
    with visitor.book.store.tenancy(visitor.caller.tenant) as look:
        found = [one for one in look.api_keys() if visitor.caller.key.opens(one.scope)]
    return page(
        request,
        visitor,
        "keys.html",
        title="Keys",
        code=status,
        keys=[(one, one.state(at)) for one in reversed(found)],
        made=made,
        wrong=wrong,
        roles=[(role, MEANING[role]) for role in ROLES],
    )


def _role(named: str) -> Role:
    for role in ROLES:
        if role == named:
            return role
    raise UserError(f"'{named}' is not a role. Roles: {', '.join(ROLES)}.")


def _whole(text: str, what: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise UserError(f"'{text}' is no number of {what}.") from None
