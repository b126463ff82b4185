"""The door of the service: whose key a request carries, how often it may come, and how often a wrong key may be tried."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from tenure.governance.access import ApiKey, read_key
from tenure.serving.service.callers import Caller, identify
from tenure.serving.service.engine import Engine
from tenure.serving.service.limits import Buckets
from tenure.serving.service.problems import Problem

RATE = 6_000
"""Requests a minute of one key, where it has no limit of its own: a hundred a second."""

FAILURES = 60
"""Wrong keys a minute from one address; after that it is not looked up whether they are right."""

_KNOWN = 10_000

LOCAL = ApiKey(id="local", label="local", tenant="local", scope="local", role="admin", digest="", created="", by="--without-keys")
"""Who everybody is where there are no keys."""


class Access:
    """Says who sends a request. Threads share it.

    Args:
        engine: where keys are kept.
        rate: requests a minute of a key without a limit of its own; 0 for no limit.
        failures: wrong keys a minute from one address; 0 for no limit.
        without_keys: whether everybody is an admin of the tenant `local`. Only for servers that nobody else can reach.
        seconds: for tests.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        rate: int = RATE,
        failures: int = FAILURES,
        without_keys: bool = False,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._rate, self._failures, self.without_keys = engine, rate, failures, without_keys
        self._buckets = Buckets(seconds)
        self._known: OrderedDict[str, None] = OrderedDict()
        self._turn = threading.Lock()

    def caller(self, presented: str, *, address: str = "", request: str = "") -> tuple[Caller, dict[str, str]]:
        """Who presents a key, and what the reply's headers say of their limit.

        Args:
            presented: the key.
            address: where the request came from.
            request: its id.

        Raises:
            Problem: 401, none or no valid key; 429, too many requests, or too many wrong keys from there.
        """
        if self.without_keys:
            return Caller(key=LOCAL, request=request), {}
        if self._failures and address and not self._seen(presented):
            left = self._buckets.take(f"failed {address}", self._failures, tokens=0)
            if not left.granted:
                raise Problem(429, "failures", "Too many wrong keys came from your address. Wait, and check the key.", headers=left.headers)
        try:
            caller = identify(self._engine.store, presented, self._engine.clock, request=request)
        except Problem:
            if self._failures and address:
                self._buckets.take(f"failed {address}", self._failures)
            raise
        self._remember(caller)
        rate = caller.key.rate or self._rate
        if not rate:
            return caller, {}
        taken = self._buckets.take(f"key {caller.tenant} {caller.key.id}", rate)
        if not taken.granted:
            raise Problem(
                429, "rate", f"Your key may send {rate} requests a minute. Wait {taken.headers['Retry-After']} s.", headers=taken.headers
            )
        return caller, taken.headers

    def _seen(self, presented: str) -> bool:
        found = read_key(presented)
        with self._turn:
            return found is not None and f"{found.tenant} {found.id} {found.digest}" in self._known

    def _remember(self, caller: Caller) -> None:
        with self._turn:
            self._known[f"{caller.tenant} {caller.key.id} {caller.key.digest}"] = None
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)


def presented_key(headers: Mapping[str, str]) -> str:
    """The key that headers carry: `Authorization: Bearer tnr_...` or `X-API-Key`; empty if none."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
