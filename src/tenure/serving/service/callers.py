"""Who asks, and whether they may: API keys looked up, checked, made and revoked.

A scope that a key does not open reads as one that is not there: a caller learns nothing of what lies beyond.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tenure.errors import ScopeError, UserError
from tenure.governance.access import NAME_BYTES, ROLES, SECRET_BYTES, Act, ApiKey, Role, key_text, read_key
from tenure.ports import AuditEntry, Clock, IdSource, Store
from tenure.serving.service.problems import Problem
from tenure.stores.scopes import check_scope, check_tenant, tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request.

    Attributes:
        key: the API key it came with.
        request: id of the request.
    """

    key: ApiKey
    request: str = ""

    @property
    def tenant(self) -> str:
        """Whose request it is."""
        return self.key.tenant

    @property
    def author(self) -> str:
        """How deltas name them; decisions by people carry `person:` before the name of their key."""
        return f"key:{self.key.id}" if not self.key.allows("review") else f"person:{self.key.label or self.key.id}"

    def check(self, act: Act) -> None:
        """Make sure that the key may do this.

        Raises:
            Problem: 403, it may not.
        """
        if not self.key.allows(act):
            raise Problem(
                403, "forbidden", f"This needs a key that may {act}; yours is a {self.key.role}. Ask an admin of the tenant for another."
            )

    def scope(self, named: str | None, act: Act) -> str:
        """The scope that a request means, if the key may do this there; its own scope where none is named.

        Raises:
            Problem: 403, its role may not; 404, the key does not open the scope, or there is none of the name.
        """
        self.check(act)
        if not named:
            return self.key.scope
        try:
            scope = check_scope(named)
        except ScopeError as exc:
            raise Problem(422, "scope", str(exc)) from None
        if not self.key.opens(scope):
            raise Problem(404, "scope", f"Your key opens no scope '{scope}'. It opens '{self.key.scope}' and those below it.")
        return scope


NO_KEY = "The request carries no API key. Send one as 'Authorization: Bearer tnr_...'; make one: tenure keys create"
UNKNOWN_KEY = "The API key is unknown, expired or revoked. Send one as 'Authorization: Bearer tnr_...'; make one: tenure keys create"


def identify(store: Store, presented: str, clock: Clock, *, request: str = "") -> Caller:
    """Who presents a key.

    Args:
        store: where keys are kept.
        presented: what stands behind `Bearer`.
        clock: to see whether it expired.
        request: id of the request.

    Raises:
        Problem: 401, no key, or one that is not valid; an unknown, a wrong, an expired and a revoked one are told apart for nobody.
    """
    found = read_key(presented)
    if found is None:
        raise Problem(401, "key", UNKNOWN_KEY if presented else NO_KEY)
    try:
        with store.tenancy(found.tenant) as look:
            kept = look.api_key(found.id)
    except ScopeError:
        kept = None
    if kept is None or not found.fits(kept) or kept.state(clock.now().astimezone(UTC).isoformat()) != "valid":
        raise Problem(401, "key", UNKNOWN_KEY)
    return Caller(key=kept, request=request)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """A key that was just made. Its text is shown this once; only a digest of its secret is kept."""

    key: ApiKey
    text: str


def make_key(
    store: Store,
    clock: Clock,
    ids: IdSource,
    *,
    scope: str,
    role: Role,
    by: str,
    label: str = "",
    days: int | None = None,
    rate: int = 0,
    request: str = "",
) -> MadeKey:
    """Make an API key; durable on return, and in the audit.

    Args:
        store, clock, ids: of the service.
        scope: it opens this scope and those below it.
        role: what it may do (see `governance.access`).
        by: who makes it.
        label: what a person calls it.
        days: after which it expires; none for never.
        rate: requests per minute; 0 takes the server's own limit.
        request: id of the request.

    Raises:
        ScopeError: the scope is malformed.
        UserError: no such role, or a number out of its range.
    """
    whose = check_tenant(tenant(scope))
    if role not in ROLES:
        raise UserError(f"'{role}' is not a role. Roles: {', '.join(ROLES)}.")
    if days is not None and not 1 <= days <= 36_500:
        raise UserError(f"A key cannot expire after {days} days; 1 to 36500 are possible.")
    if not 0 <= rate <= 1_000_000:
        raise UserError(f"A key cannot have a limit of {rate} requests a minute; 1 to 1000000 are possible, 0 takes the server's.")
    if len(label) > 100 or not label.isprintable():
        raise UserError("A label is one line of at most 100 characters that can be seen.")
    now = clock.now().astimezone(UTC)
    text = key_text(whose, secrets.token_bytes(NAME_BYTES + SECRET_BYTES))
    presented = read_key(text)
    assert presented is not None, "a key that was just made can be read"
    key = ApiKey(
        id=presented.id,
        label=label,
        tenant=whose,
        scope=scope,
        role=role,
        digest=presented.digest,
        created=now.isoformat(),
        by=by,
        expires="" if days is None else (now + timedelta(days=days)).isoformat(),
        rate=rate,
    )
    with store.changing_tenancy(whose) as work:
        work.put_api_key(key)
        work.audit(audited(ids, now, by, "keys.create", scope=scope, subject=key.id, request=request))
    return MadeKey(key=key, text=text)


def revoke_key(store: Store, clock: Clock, ids: IdSource, *, tenant: str, key_id: str, by: str, request: str = "") -> ApiKey | None:
    """Revoke a key; durable on return, and in the audit. The next request with it is refused. None if there is none of the id."""
    now = clock.now().astimezone(UTC)
    with store.changing_tenancy(tenant) as work:
        key = work.api_key(key_id)
        if key is None or key.revoked:
            return key
        key = replace(key, revoked=now.isoformat())
        work.put_api_key(key)
        work.audit(audited(ids, now, by, "keys.revoke", scope=key.scope, subject=key.id, request=request))
    return key


def key_json(key: ApiKey, at: str) -> dict[str, Any]:
    """A key as it is told: everything but the digest of its secret."""
    told = {name: value for name, value in asdict(key).items() if name != "digest"}
    return {**told, "state": key.state(at)}


def audited(
    ids: IdSource,
    now: datetime,
    who: str,
    act: str,
    *,
    scope: str = "",
    subject: str = "",
    outcome: str = "done",
    request: str = "",
) -> AuditEntry:
    """An entry for the audit."""
    return AuditEntry(
        id=ids.next(), at=now.isoformat(), who=who, act=act, scope=scope, subject=subject[:200], outcome=outcome, request=request
    )
