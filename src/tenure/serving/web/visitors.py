"""Who looks at a page: signed in with an API key, or at a loopback server that asks for none; and whether a form is theirs.

Signing in gives a cookie with a random id, of which the store has only the digest. The key behind it is looked at on every
request, so that what ends the key ends the session. A form carries a token that follows from the id, and comes from our own pages.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import Annotated
from urllib.parse import quote, unquote, urlencode, urlsplit

from fastapi import Depends, Form, Query, Request, Response

from tenure.errors import ScopeError
from tenure.governance.access import Act
from tenure.ports import WebSession
from tenure.serving.cli.request import person
from tenure.serving.service.access import Access
from tenure.serving.service.callers import Caller, audited
from tenure.serving.service.doing import Noted, engine_of, note, noting
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem
from tenure.wiring import Tenure

SESSION_HOURS = 12
"""After which one has to sign in again."""

COOKIE, SECURE_COOKIE = "tenure", "__Host-tenure"
"""Of a session; the second where the connection is encrypted: browsers then see to it that no other host sets it."""

SAID = "tenure-said"
"""Cookie with a sentence for the next page."""

THEME = "tenure-theme"
THEMES = ("auto", "light", "dark")


class SignInNeeded(Exception):
    """Nobody is signed in, or not any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who looks at a page.

    Attributes:
        caller: with their key.
        scope: that the page is about.
        home: the scope that addresses need not name.
        engine: what does what they ask for.
        token: stands in every form.
        signed_in: whether they can sign out.
    """

    caller: Caller
    scope: str
    home: str
    engine: Engine
    token: str
    signed_in: bool

    @property
    def book(self) -> Tenure:
        """The playbook of the scope."""
        return self.engine.book(self.scope)

    def to(self, path: str, **query: object) -> str:
        """The address of a page, in the scope at hand unless another is named."""
        named = {"scope": self.scope, **{name: value for name, value in query.items() if value not in ("", None)}}
        if named["scope"] == self.home:
            del named["scope"]
        place = quote(path.encode("utf-8", "replace"), safe="/~")
        return f"{place}?{urlencode(named, doseq=True, errors='replace')}" if named else place

    def may(self, act: Act) -> bool:
        """Whether their key lets them do this."""
        return self.caller.key.allows(act)

    @property
    def author(self) -> str:
        """How deltas name them."""
        return self.caller.author

    def check(self, act: Act, name: str, subject: str = "") -> None:
        """Make sure that they may do this; an attempt that is refused stands in the audit under its name.

        Raises:
            Problem: 403, they may not.
        """
        if not self.may(act):
            self.note(name, subject, "refused: forbidden")
        self.caller.check(act)

    def note(self, name: str, subject: str = "", outcome: str = "done") -> None:
        """Put into the audit what was refused to them, under the name that the API has for it."""
        note(self.engine, self.caller, name, scope=self.scope, subject=subject, outcome=outcome)

    def noting(self, name: str, subject: str = "") -> AbstractContextManager[Noted]:
        """Something that they do: it stands in the audit from before it is done, under the name that the API has for it."""
        return noting(self.engine, self.caller, name, scope=self.scope, subject=subject)


def visitor_of(request: Request, scope: Annotated[str, Query(max_length=400)] = "") -> Visitor:
    """Who sent a request, and the scope that it is about.

    Raises:
        SignInNeeded: nobody is signed in.
        Problem: their key does not open the scope.
    """
    engine = engine_of(request)
    if without_keys(request):
        caller = _everybody(request)
        home = engine.scope if caller.key.opens(engine.scope) else caller.key.scope
        secret = str(request.app.state.page_secret)
    else:
        caller, secret = _signed_in(request)
        home = caller.key.scope
    named = caller.scope(scope or home, "read")
    return Visitor(caller=caller, scope=named, home=home, engine=engine, token=_token(secret), signed_in=not without_keys(request))


Seen = Annotated[Visitor, Depends(visitor_of)]


def changing_visitor(request: Request, visitor: Seen, token: Annotated[str, Form(max_length=200)] = "") -> Visitor:
    """Who sent a form, once it is certain that it is one of our own pages'.

    Raises:
        Problem: 403, it is not.
    """
    if not from_our_pages(request) or not hmac.compare_digest(token.encode(), visitor.token.encode()):
        raise Problem(403, "form", "This form did not come from a page of yours that is still valid. Open the page again, and repeat it.")
    return visitor


Changing = Annotated[Visitor, Depends(changing_visitor)]


def without_keys(request: Request) -> bool:
    """Whether the server asks for no keys. It then answers this machine alone (see `gate.check_local`)."""
    access: Access = request.app.state.access
    return access.without_keys


def from_our_pages(request: Request) -> bool:
    """Whether a browser says that a request comes from a page of this very host."""
    site = request.headers.get("sec-fetch-site", "")
    origin = request.headers.get("origin", "")
    if site and site not in ("same-origin", "none"):
        return False
    if origin:
        return origin != "null" and _host_of(origin) == request.headers.get("host", "")
    return bool(site)


def sign_in(request: Request, presented: str) -> Response:
    """Sign somebody in with a key; the caller says where the reply leads.

    Raises:
        Problem: 401, it is no valid key; 429, too many wrong ones came from there.
    """
    engine = engine_of(request)
    access: Access = request.app.state.access
    address = request.client.host if request.client is not None else ""
    caller, _ = access.caller(presented.strip(), address=address, request=str(request.state.request))
    now = engine.clock.now().astimezone(UTC)
    made = secrets.token_urlsafe(32)
    session = WebSession(
        digest=_digest(made), key=caller.key.id, created=now.isoformat(), expires=(now + timedelta(hours=SESSION_HOURS)).isoformat()
    )
    with engine.store.changing_tenancy(caller.tenant) as work:
        work.drop_web_sessions(before=now.isoformat())
        work.put_web_session(session)
        work.audit(audited(engine.ids, now, caller.key.id, "pages.sign_in", scope=caller.key.scope, request=caller.request))
    reply = Response(status_code=303)
    _set_cookie(request, reply, _cookie_name(request), f"{made}.{quote(caller.tenant, safe='')}", seconds=SESSION_HOURS * 3600)
    return reply


def sign_out(request: Request, reply: Response) -> None:
    """End the session that a request belongs to, for good."""
    named, whose = _cookie(request)
    if named:
        with engine_of(request).store.changing_tenancy(whose) as work:
            work.drop_web_session(_digest(named))
    reply.delete_cookie(_cookie_name(request), path="/", secure=_encrypted(request), httponly=True, samesite="strict")


def say(request: Request, reply: Response, visitor: Visitor, sentence: str, *, careful: bool = False) -> None:
    """Have the next page say a sentence."""
    body = base64.urlsafe_b64encode(json.dumps({"said": sentence[:1_500], "careful": careful}).encode()).decode()
    _set_cookie(request, reply, SAID, f"{body}.{_signature(visitor.token, body)}", seconds=60)


def was_said(request: Request, visitor: Visitor) -> tuple[str, bool]:
    """The sentence that this page is to say, and whether it is a warning; empty if there is none."""
    body, _, signature = request.cookies.get(SAID, "").rpartition(".")
    if not body or not hmac.compare_digest(signature.encode(), _signature(visitor.token, body).encode()):
        return "", False
    told = json.loads(base64.urlsafe_b64decode(body))
    return str(told["said"]), bool(told["careful"])


def theme_of(request: Request) -> str:
    """Light, dark, or as the system has it."""
    named = request.cookies.get(THEME, "auto")
    return named if named in THEMES else "auto"


def keep_theme(request: Request, reply: Response, theme: str) -> None:
    """Remember light, dark, or as the system has it."""
    _set_cookie(request, reply, THEME, theme if theme in THEMES else "auto", seconds=365 * 86_400)


def inside(address: str) -> str:
    """A path on this server, to go on at; the start where it leads elsewhere."""
    harmless = address.startswith("/") and not address.startswith(("//", "/\\")) and not _host_of(address) and address.isprintable()
    return address if harmless else "/"


def _host_of(address: str) -> str | None:
    """The host and port of an address, empty where it names none; none if it cannot be read."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return None


def _signed_in(request: Request) -> tuple[Caller, str]:
    named, whose = _cookie(request)
    if not named:
        raise SignInNeeded
    engine = engine_of(request)
    at = engine.clock.now().astimezone(UTC).isoformat()
    try:
        with engine.store.tenancy(whose) as look:
            session = look.web_session(_digest(named))
            key = look.api_key(session.key) if session is not None and session.expires > at else None
    except ScopeError:
        raise SignInNeeded from None
    if key is None or key.state(at) != "valid":
        raise SignInNeeded
    return Caller(key=key, request=str(request.state.request)), named


def _cookie(request: Request) -> tuple[str, str]:
    """The id of a session and its tenant; empty if there is none."""
    named, dot, whose = request.cookies.get(_cookie_name(request), "").partition(".")
    return (named, unquote(whose)) if dot and 20 <= len(named) <= 100 and len(whose) <= 1_000 else ("", "")


def _everybody(request: Request) -> Caller:
    """Who looks where there are no keys: whoever sits at this machine, by their name."""
    access: Access = request.app.state.access
    caller, _ = access.caller("", request=str(request.state.request))
    return replace(caller, key=replace(caller.key, label=person().removeprefix("person:")))


def _set_cookie(request: Request, reply: Response, name: str, value: str, *, seconds: int) -> None:
    reply.set_cookie(name, value, max_age=seconds, path="/", secure=_encrypted(request), httponly=True, samesite="strict")


def _cookie_name(request: Request) -> str:
    return SECURE_COOKIE if _encrypted(request) else COOKIE


def _encrypted(request: Request) -> bool:
    return request.url.scheme == "https"


def _digest(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()


def _token(secret: str) -> str:
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def _signature(token: str, body: str) -> str:
    return hmac.new(token.encode(), body.encode(), hashlib.sha256).hexdigest()
