"""Who sends a request to the proxy, by their Tenure key, and in which scope they act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tenure.errors import ScopeError
from tenure.governance.access import read_key
from tenure.serving.service.callers import Caller, identify
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem
from tenure.stores.scopes import check_scope
from tenure.wiring import scoped

Identify = Callable[[str, str], Caller]
"""Who presents a key (first) from an address (second); raises `Problem` if it is none that is valid."""

WRONG_KEY = "The Tenure key in the header x-tenure-key is unknown, expired or revoked. Make another: tenure keys create"
NO_KEY = "This proxy needs a Tenure key in the header x-tenure-key, beside the provider's own key. Make one: tenure keys create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Who may go on.

    Attributes:
        scope: whose lessons are shown, and where the run is recorded.
        principal: who it is, as runs name their origin.
    """

    scope: str
    principal: str


class Door:
    """Lets callers in. Threads share it.

    Args:
        engine: where keys are kept.
        without_keys: whether everybody is let in, into any scope. Only for proxies that nobody else can reach.
        scope: where requests without keys act if they name no scope.
        who: tells callers by their keys; none looks them up, without any limit.
    """

    def __init__(self, engine: Engine, *, without_keys: bool = False, scope: str = "local/default", who: Identify | None = None) -> None:
        self._scope, self.without_keys = scope, without_keys
        self._who = who or (lambda presented, address: identify(engine.store, presented, engine.clock))

    def admit(self, headers: Mapping[str, str], address: str = "") -> Admitted:
        """Who sends a request.

        Args:
            headers: of the request, their names in lower case.
            address: where it came from.

        Raises:
            Problem: 401, no valid key; 403, 404 or 422, its key does not open the scope that is named.
            StoreError: the database cannot be used.
        """
        named = headers.get("x-tenure-scope", "").strip()
        if self.without_keys:
            try:
                return Admitted(scope=check_scope(scoped(named)) if named else self._scope, principal="local")
            except ScopeError as exc:
                raise Problem(422, "scope", str(exc)) from None
        presented = headers.get("x-tenure-key", "").strip()
        if not presented:
            raise Problem(401, "key", NO_KEY)
        try:
            caller = self._who(presented, address)
        except Problem as exc:
            if exc.kind != "key":
                raise
            raise Problem(exc.status, exc.kind, WRONG_KEY) from None  # the provider's key stands where the service has its own
        return Admitted(scope=caller.scope(named, "report"), principal=caller.key.id)

    def claimed(self, headers: Mapping[str, str]) -> str:
        """The tenant that a request says it is of, where nobody could look yet whether its key is right; empty for none."""
        named = headers.get("x-tenure-scope", "").strip() or self._scope
        if self.without_keys:
            return scoped(named).partition("/")[0]
        presented = read_key(headers.get("x-tenure-key", "").strip())
        return presented.tenant if presented is not None else ""
