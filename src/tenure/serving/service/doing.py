"""One request of the API while it is done: who asks, what for and where; done once however often it is sent; and in the audit."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from tenure.errors import ScopeError, StoreError, TenureError
from tenure.governance.access import Act
from tenure.playbook.run import Origin
from tenure.ports import BEGUN, KeptReply
from tenure.serving.service.access import Access, presented_key
from tenure.serving.service.callers import Caller, audited
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem, answered, problem_of
from tenure.stores.scopes import check_scope
from tenure.wiring import Tenure

DEEPEST = 60
"""Levels of a body's JSON."""

REPLIES_KEPT = timedelta(days=1)
"""How long an idempotency key is good for."""

ANOTHER_AT_IT_S = 60.0
"""Seconds after which a request that kept no reply is taken for dead."""

WAIT_S = 10.0
"""Seconds that a request waits for its twin."""

CHANNEL = "api"

SCOPE = Query(
    max_length=400,
    description="Scope, such as `acme/finance`; without it the key's own. A scope that the key does not open reads as none.",
    examples=["acme/finance"],
)


def engine_of(request: Request) -> Engine:
    """The engine behind the app that got a request."""
    engine: Engine = request.app.state.engine
    return engine


def caller_of(request: Request) -> Caller:
    """Who sent a request, by its API key.

    Raises:
        Problem: 401, none or no valid one; 429, too many requests.
    """
    there: Caller | None = getattr(request.state, "caller", None)
    if there is not None:
        return there
    access: Access = request.app.state.access
    address = request.client.host if request.client is not None else ""
    caller, headers = access.caller(presented_key(request.headers), address=address, request=str(request.state.request))
    request.state.headers, request.state.caller = headers, caller
    return caller


Engined = Annotated[Engine, Depends(engine_of)]
Called = Annotated[Caller, Depends(caller_of)]


class Doing:
    """A request that may be done.

    Attributes:
        caller: who asks.
        scope: where.
        engine: what does it.
    """

    def __init__(self, engine: Engine, caller: Caller, scope: str, name: str, *, noted: bool, sent: str = "", once: str = "") -> None:
        self.engine, self.caller, self.scope = engine, caller, scope
        self._name, self._noted, self._sent, self._once = name, noted, sent, once

    @property
    def book(self) -> Tenure:
        """The playbook of the scope."""
        return self.engine.book(self.scope)

    @property
    def origin(self) -> Origin:
        """Where what this request brings comes from: its key, by this way."""
        return Origin(principal=self.caller.key.id, channel=CHANNEL)

    def still_valid(self) -> bool:
        """Whether the caller's key is still valid: what goes on for long looks again now and then.

        Raises:
            StoreError: the database cannot be used.
        """
        whose = self.caller.key
        if not whose.digest:  # everybody's, where there are no keys
            return True
        with self.engine.store.tenancy(self.caller.tenant) as look:
            kept = look.api_key(whose.id)
        return kept is not None and kept.state(self._now().isoformat()) == "valid"

    @property
    def once_id(self) -> str:
        """A name that stays the same when the request is sent again with its idempotency key; empty without one."""
        return self._reply_key() if self._once else ""

    def reply(
        self,
        work: Callable[[], Mapping[str, Any]],
        *,
        status: int = 200,
        subject: str = "",
        headers: Mapping[str, str] | None = None,
        secret: Sequence[str] = (),
        noted: bool = True,
    ) -> Response:
        """Do it and answer: once for an idempotency key, and with an entry in the audit where acts like this have one.

        Args:
            work: does it; durable on return. Gives the reply's JSON.
            status: of the reply.
            subject: what it is done to, for the audit.
            headers: of the reply.
            secret: fields of the reply that are not kept to be given again.
            noted: false where the work writes its success into the audit itself, in the same transaction.
        """
        if not self._once:
            return answered(self._noting(work, subject, noted), status=status, headers=headers)
        key = self._reply_key()
        kept = self._claimed(key)
        if kept is not None:
            return Response(
                kept.body.encode("utf-8"),
                status_code=kept.status,
                headers={**(headers or {}), "Idempotent-Replayed": "true"},
                media_type="application/json",
            )
        try:
            data = self._noting(work, subject, noted)
        except BaseException:
            with suppress(TenureError), self.engine.store.changing_tenancy(self.caller.tenant) as change:
                change.drop_reply(key)
            raise
        made = answered(data, status=status, headers=headers)
        with self.engine.store.changing_tenancy(self.caller.tenant) as change:
            safe = answered({name: None if name in secret else value for name, value in data.items()})
            change.keep_reply(self._kept(key, status, bytes(safe.body).decode("utf-8")))
        return made

    def _noting(self, work: Callable[[], Mapping[str, Any]], subject: str, noted: bool) -> Mapping[str, Any]:
        if not self._noted:
            return work()
        if noted:
            with noting(self.engine, self.caller, self._name, scope=self.scope, subject=subject):
                return work()
        try:
            return work()
        except (Problem, TenureError) as exc:
            note(self.engine, self.caller, self._name, scope=self.scope, subject=subject, outcome=failed(exc))
            raise

    def _reply_key(self) -> str:
        return hashlib.sha256(f"{self.caller.key.id}\0{self._once}".encode()).hexdigest()

    def _kept(self, key: str, status: int, body: str) -> KeptReply:
        return KeptReply(key=key, request=self._sent, status=status, body=body, at=self._now().isoformat())

    def _now(self) -> datetime:
        return self.engine.clock.now().astimezone(UTC)

    def _claimed(self, key: str) -> KeptReply | None:
        """The reply that was given before; none if this request is the one to do it."""
        until = time.monotonic() + WAIT_S
        while True:
            with self.engine.store.changing_tenancy(self.caller.tenant) as change:
                now = self._now()
                change.drop_replies(before=(now - REPLIES_KEPT).isoformat())
                there = change.kept_reply(key)
                dead = there is not None and there.status == 0 and there.at < (now - timedelta(seconds=ANOTHER_AT_IT_S)).isoformat()
                if there is None or dead:
                    change.keep_reply(self._kept(key, 0, ""))
                    return None
            if there.request != self._sent:
                raise Problem(
                    422, "idempotency", "This Idempotency-Key came with another request before. Make a new one for a new request."
                )
            if there.status:
                return there
            if time.monotonic() > until:
                raise Problem(
                    409, "idempotency", "A request with this Idempotency-Key is being done. Try again.", headers={"Retry-After": "2"}
                )
            time.sleep(0.05)


def note(engine: Engine, caller: Caller, act: str, *, scope: str = "", subject: str = "", outcome: str = "done") -> str:
    """Write an act into the audit; durable on return. Gives the entry's id."""
    entry = audited(
        engine.ids,
        engine.clock.now().astimezone(UTC),
        caller.key.id,
        act,
        scope=scope,
        subject=subject,
        outcome=outcome,
        request=caller.request,
    )
    with engine.store.changing_tenancy(caller.tenant) as work:
        work.audit(entry)
    return entry.id


@dataclass(slots=True)
class Noted:
    """An act that stands in the audit.

    Attributes:
        outcome: as it is told once the act is over.
    """

    outcome: str = "done"


@contextmanager
def noting(engine: Engine, caller: Caller, act: str, *, scope: str = "", subject: str = "") -> Iterator[Noted]:
    """An act that stands in the audit from before it is done, so that none is without an entry even if the process dies within it.

    Raises:
        StoreError: the entry cannot be written; then the act is not begun either.
    """
    entry = note(engine, caller, act, scope=scope, subject=subject, outcome=BEGUN)

    def settle(outcome: str) -> None:
        with suppress(StoreError), engine.store.changing_tenancy(caller.tenant) as work:  # else it stands as begun, and the act as it is
            work.settle_audit(entry, outcome)

    noted = Noted()
    try:
        yield noted
    except Exception as exc:
        settle(failed(exc))
        raise
    settle(noted.outcome)


def failed(exc: Exception) -> str:
    """The outcome of an act that failed, for the audit."""
    kind = exc.kind if isinstance(exc, Problem) else problem_of(exc).kind if isinstance(exc, TenureError) else "fault"
    return f"failed: {kind}"


class May:
    """The dependency that a route states what it is for by: who may do it, and under which name it stands in the audit.

    Args:
        act: what the caller's role must allow.
        name: such as `deltas.apply`; acts of review and administration stand in the audit under it, refused ones too.
        once: whether the request changes something, so that an `Idempotency-Key` is heeded.
    """

    def __init__(self, act: Act, name: str, *, once: bool = False) -> None:
        self.act, self.name, self.once = act, name, once
        self.noted = once and act in ("review", "administer")

    async def __call__(
        self,
        request: Request,
        caller: Called,
        engine: Engined,
        scope: Annotated[str | None, SCOPE] = None,
    ) -> Doing:
        """The request, checked."""
        try:
            where = caller.scope(scope, self.act)
        except Problem as exc:
            if self.noted:
                await run_in_threadpool(note, engine, caller, self.name, scope=_told_where(caller, scope), outcome=f"refused: {exc.kind}")
            raise
        once = request.headers.get("idempotency-key", "") if self.once else ""
        if len(once) > 200 or not once.isprintable():
            raise Problem(422, "idempotency", "An Idempotency-Key has at most 200 characters that can be seen.")
        sent = ""
        if once:
            digest = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\0".encode("utf-8", "surrogatepass"))
            digest.update(await request.body())
            sent = digest.hexdigest()
        return Doing(engine, caller, where, self.name, noted=self.noted, sent=sent, once=once)


def _told_where(caller: Caller, named: str | None) -> str:
    """Under which scope what was refused stands in the audit: the one that was named, or the key's own if that opens no such scope."""
    with suppress(ScopeError):
        if named and caller.key.opens(check_scope(named)):
            return named
    return caller.key.scope


IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": 200},
    "description": "Sent again with the same key, a request is not done again: the reply of the first is given. Kept for a day.",
}
