"""Signing in and out, the scope that pages are about, and light or dark."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from tenure.serving.service.doing import engine_of
from tenure.serving.service.problems import Problem
from tenure.serving.web.pages import environment, page, stamp
from tenure.serving.web.visitors import (
    Changing,
    Seen,
    from_our_pages,
    inside,
    keep_theme,
    sign_in,
    sign_out,
    theme_of,
    without_keys,
)
from tenure.version import VERSION

MOST_SCOPES = 500
"""Named on one page."""


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/sign-in")
    def form(request: Request, next: Annotated[str, Query(max_length=2_000)] = "/") -> Response:
        if without_keys(request):
            return RedirectResponse(inside(next), 303)
        return _form(request, next)

    @router.post("/sign-in")
    def signed_in(
        request: Request, key: Annotated[str, Form(max_length=2_000)] = "", next: Annotated[str, Form(max_length=2_000)] = "/"
    ) -> Response:
        if not from_our_pages(request):
            raise Problem(403, "form", "This form did not come from the page of this server. Open /sign-in, and repeat it.")
        try:
            reply = sign_in(request, key)
        except Problem as exc:
            if exc.status != 401:
                raise
            wrong = "Paste a key: it begins with tnr_." if not key.strip() else "The key is unknown, expired or revoked."
            return _form(request, next, wrong=wrong, status=403)
        reply.headers["location"] = inside(next)
        return reply

    @router.post("/sign-out")
    def signed_out(request: Request, visitor: Changing) -> Response:
        reply = RedirectResponse("/sign-in", 303)
        sign_out(request, reply)
        return reply

    @router.post("/theme")
    def theme(
        request: Request,
        visitor: Changing,
        theme: Annotated[str, Form(max_length=20)] = "auto",
        back: Annotated[str, Form(max_length=2_000)] = "/",
    ) -> Response:
        reply = RedirectResponse(inside(back), 303)
        keep_theme(request, reply, theme)
        return reply

    @router.get("/scopes")
    def scopes(request: Request, visitor: Seen, wanted: Annotated[str, Query(max_length=400)] = "") -> Response:
        problem = ""
        if wanted.strip():
            try:
                return RedirectResponse(visitor.to("/", scope=visitor.caller.scope(wanted.strip(), "read")), 303)
            except Problem as exc:
                problem = exc.detail
        whose = visitor.caller.key
        known = [one for one in engine_of(request).store.scopes(visitor.caller.tenant) if whose.opens(one)]
        return page(
            request,
            visitor,
            "scopes.html",
            title="Scopes",
            scopes=known[:MOST_SCOPES],
            more=max(0, len(known) - MOST_SCOPES),
            wanted=wanted,
            problem=problem,
        )


def _form(request: Request, next: str, *, wrong: str = "", status: int = 200) -> Response:
    values = {"theme": theme_of(request), "version": VERSION, "stamp": stamp(), "next": inside(next), "wrong": wrong}
    return HTMLResponse(environment().get_template("sign_in.html").render(values), status_code=status)
