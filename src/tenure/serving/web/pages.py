"""How a page comes about: its template with what every page has, its headers, and errors as pages in words."""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException

from tenure.errors import TenureError
from tenure.learning.review import held_changes
from tenure.logs import event, without_words
from tenure.serving.cli.output import counted, money
from tenure.serving.service.problems import Problem, problem_of
from tenure.serving.web import visible
from tenure.serving.web.visitors import SAID, SignInNeeded, Visitor, say, theme_of, was_said
from tenure.version import VERSION

_log = logging.getLogger("tenure.pages")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Of every page. Nothing is loaded from elsewhere, nothing written in a page runs or styles, nobody frames it."""

MENU = (
    ("Overview", "/"),
    ("Playbook", "/playbook"),
    ("Review", "/review"),
    ("Runs", "/runs"),
    ("Ledger", "/ledger"),
    ("Memory", "/memory"),
    ("Settings", "/settings"),
    ("Keys", "/keys"),
)

TITLES = {401: "Sign in", 403: "Not allowed", 404: "Not found", 409: "Changed meanwhile", 422: "That cannot be used", 503: "Not now"}


class PageRoute(APIRoute):
    """A route whose reply has the headers of a page, and whose errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        answer = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                reply = await answer(request)
            except SignInNeeded:
                where = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
                to = "/sign-in" if request.method != "GET" or where == "/" else f"/sign-in?next={quote(where)}"
                reply = JSONResponse({"signed_in": False}, 401) if request.url.path == "/live" else RedirectResponse(to, 303)
            except Exception as exc:  # noqa: BLE001  # each is told, and those that nobody foresaw are logged
                reply = error_page(request, exc)
            return guarded(reply)

        return answered


def guarded(reply: Response) -> Response:
    """A reply with the headers of a page."""
    for name, value in HEADERS.items():
        reply.headers.setdefault(name, value)
    reply.headers.setdefault("Cache-Control", "no-store")
    return reply


def error_page(request: Request, exc: Exception) -> Response:
    """An error in words: what, which value, what next."""
    if isinstance(exc, TenureError):
        exc = problem_of(exc)
    if isinstance(exc, Problem):
        status, told, headers = exc.status, exc.detail, dict(exc.headers or {})
    elif isinstance(exc, RequestValidationError):
        wrong = exc.errors()[0]
        status, headers = 422, {}
        told = f"'{wrong['loc'][-1]}' cannot be used: {str(wrong['msg']).lower()}. Go back and correct it."
    elif isinstance(exc, HTTPException):
        status, told, headers = exc.status_code, f"There is no page {request.url.path[:200]}.", {}
    else:
        number = getattr(request.state, "request", "")
        event(_log, "page.failed", logging.ERROR, said=f"page {number} failed: {without_words(exc)}", failure=exc, request=number)
        status, told, headers = 500, "This is a fault in Tenure. The server's log says more, under the id of this request.", {}
    text = (
        environment()
        .get_template("error.html")
        .render(
            {
                **_everywhere(request),
                "title": TITLES.get(status, "Something went wrong"),
                "told": told,
                "status": status,
                "id": str(getattr(request.state, "request", "")),
            }
        )
    )
    return guarded(HTMLResponse(text, status_code=status, headers=headers))


def page(request: Request, visitor: Visitor, template: str, *, title: str, code: int = 200, **values: object) -> HTMLResponse:
    """A page.

    Args:
        request: it answers.
        visitor: who looks.
        template: its name.
        title: its heading.
        code: status of HTTP.
        values: what the template shows.
    """
    said, careful = was_said(request, visitor)
    path = request.url.path
    known = {
        **_everywhere(request),
        "visitor": visitor,
        "to": visitor.to,
        "token": visitor.token,
        "title": title,
        "menu": [(name, to, path == to or (to != "/" and path.startswith((to, _BELOW.get(to, to))))) for name, to in MENU],
        "waiting": _waiting(visitor),
        "said": said,
        "careful": careful,
        "back": f"{path}?{request.url.query}" if request.url.query else path,
        "at": visitor.book.clock.now(),
        "live": False,
    }
    text = environment().get_template(template).render({**known, **values})
    reply = HTMLResponse(text.encode("utf-8", "replace"), status_code=code)
    if said:
        reply.delete_cookie(SAID, path="/", httponly=True, samesite="strict")
    return reply


_BELOW = {"/playbook": "/lessons/"}
"""Pages that stand under an entry of the menu, and have another address."""


def go_on(request: Request, visitor: Visitor, path: str, sentence: str = "", *, careful: bool = False) -> Response:
    """To another page, which says a sentence."""
    reply = RedirectResponse(path, 303)
    if sentence:
        say(request, reply, visitor, sentence, careful=careful)
    return reply


def _waiting(visitor: Visitor) -> int:
    """How many changes wait for a review: it stands in the menu of every page."""
    with visitor.book.store.reading(visitor.scope) as reading:
        return len(held_changes(reading))


def _everywhere(request: Request) -> dict[str, object]:
    return {"theme": theme_of(request), "version": VERSION, "stamp": stamp()}


@functools.cache
def stamp() -> str:
    """Stands in the addresses of style and script, and changes with them."""
    folder = files("tenure.serving.web") / "static"
    parts = sorted((one.name, one.read_bytes()) for one in folder.iterdir())
    return hashlib.sha256(b"".join(name.encode() + body for name, body in parts)).hexdigest()[:12]


@functools.cache
def environment() -> Environment:
    """Templates: everything in them is escaped, and a name that nobody gave is an error."""
    made = Environment(
        loader=PackageLoader("tenure.serving.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {
        "shown": visible.shown,
        "short": visible.shortened,
        "marked": visible.with_marks,
        "number": lambda value: f"{value:,}",
        "share": lambda value: f"{value:.0%}",
        "money": money,
        "counted": counted,
        "moment": moment,
        "to_edit": visible.without_hidden,
        "hides": visible.holds_hidden,
        "pieces": lambda pair: visible.compared(*pair),
    }
    return made


def moment(at: str) -> Markup:
    """A moment to the minute, in UTC; the browser shows it in its own zone if it can."""
    try:
        found = datetime.fromisoformat(at)
    except (ValueError, TypeError):
        return visible.shortened(at, 40)
    return Markup('<time datetime="{}">{}</time>').format(found.isoformat(), found.strftime("%Y-%m-%d %H:%M"))
