"""Counts what models use, and stops before a cap is passed.

A call is let through only if the caps would hold even if it used all it may; while it runs, that
much is set aside, so that threads that ask at the same moment cannot pass a cap together.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from decimal import Decimal
from typing import Protocol, runtime_checkable

from tenure.errors import ModelError, SettingError, SpendCapReached
from tenure.ports import Clock, LanguageModel, Prompt, Reply, Usage
from tenure.ranking import estimate_tokens

_NOTHING = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits on what models may use; none is no limit.

    Attributes:
        calls_per_run, calls_per_day, calls_per_scope: requests.
        tokens_per_run, tokens_per_day, tokens_per_scope: input and output together.
        usd_per_run, usd_per_day, usd_per_scope: US dollars.

    A run is one run that is learned from (`MeteredModel.for_run`), a day is a day in UTC of one
    scope, and a scope is all it ever used.
    """

    calls_per_run: int | None = None
    calls_per_day: int | None = None
    calls_per_scope: int | None = None
    tokens_per_run: int | None = None
    tokens_per_day: int | None = None
    tokens_per_scope: int | None = None
    usd_per_run: Decimal | None = None
    usd_per_day: Decimal | None = None
    usd_per_scope: Decimal | None = None

    def __post_init__(self) -> None:
        for what in ("calls", "tokens", "usd"):
            for period in ("run", "day", "scope"):
                cap = getattr(self, f"{what}_per_{period}")
                if cap is not None and (Decimal(cap).is_nan() or cap < 0):
                    raise SettingError(f"The cap spend.{what}_per_{period} is {cap}; it must be 0 or more, or none for no limit.")

    @property
    def in_money(self) -> bool:
        """Whether any cap is in dollars, so that prices must be known."""
        return any(cap is not None for cap in (self.usd_per_run, self.usd_per_day, self.usd_per_scope))


class SpendLedger(Protocol):
    """Keeps what scopes used, beyond the life of a process. Safe to use from several threads."""

    def spent(self, scope: str, day: date | None) -> Usage:
        """What a scope used on a day (UTC), or ever if `day` is none."""
        ...

    def record(self, scope: str, day: date, usage: Usage) -> None:
        """Add to what a scope used on a day."""
        ...


@runtime_checkable
class Priced(Protocol):
    """A model whose price is known without calling it."""

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """What so many tokens cost, in US dollars; none if the price is not known."""
        ...


class InMemorySpendLedger:
    """A spend ledger that forgets when the process ends."""

    def __init__(self) -> None:
        self._days: dict[tuple[str, date], Usage] = {}
        self._lock = threading.Lock()

    def spent(self, scope: str, day: date | None) -> Usage:
        """See `SpendLedger`."""
        with self._lock:
            found = [usage for (held, at), usage in self._days.items() if held == scope and day in (None, at)]
        return sum(found, _NOTHING)

    def record(self, scope: str, day: date, usage: Usage) -> None:
        """See `SpendLedger`."""
        with self._lock:
            self._days[scope, day] = self._days.get((scope, day), _NOTHING) + usage


@dataclass(slots=True)
class _Account:
    """What is used and what is set aside for calls under way, under one lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    by_purpose: dict[str, Usage] = field(default_factory=dict)
    by_run: dict[str, Usage] = field(default_factory=dict)
    under_way: dict[str, list[Usage]] = field(default_factory=dict)


class MeteredModel:
    """A language model with a meter and caps. Safe to share between threads.

    Calls through the object itself count as one run, `''`; `for_run` gives a view that shares
    everything but the caps per run.
    """

    def __init__(self, model: LanguageModel, caps: Caps, ledger: SpendLedger, *, scope: str, clock: Clock) -> None:
        """A meter around a model.

        Args:
            model: is asked for what the caps allow.
            caps: what it may use.
            ledger: what the scope used before, and where to record what it uses now.
            scope: whose spending this is.
            clock: tells which day it is.

        Raises:
            SettingError: a cap is in dollars and the model's price is not known.
        """
        self._model, self._caps, self._ledger, self._scope, self._clock = model, caps, ledger, scope, clock
        self._run, self._account = "", _Account()
        if caps.in_money and _price(model, 1000, 1000) is None:
            raise SettingError(
                f"A cap in dollars is set, but the price of '{model.name}' is not known, so it could not be kept. "
                "Cap tokens or calls instead: tenure config set spend.tokens_per_day N"
            )

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def for_run(self, run: str) -> MeteredModel:
        """The same meter for the calls that learning from one run makes; its caps per run begin at what that run used so far."""
        view = object.__new__(MeteredModel)
        view.__dict__.update(self.__dict__)
        view._run = run
        return view

    def usage(self) -> Mapping[str, Usage]:
        """What was used through this meter, by purpose (`generate`, `reflect`, `curate`)."""
        with self._account.lock:
            return dict(self._account.by_purpose)

    @property
    def total(self) -> Usage:
        """What was used through this meter in all."""
        return sum(self.usage().values(), _NOTHING)

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """What so many tokens cost, in US dollars; none if the price is not known."""
        return _price(self._model, input_tokens, output_tokens)

    def close(self) -> None:
        """Release the model's connections, where it has some."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()

    def complete(self, prompt: Prompt) -> Reply:
        """The model's reply, counted.

        Raises:
            SpendCapReached: a cap would be passed if the call used all it may; it was not made.
            ModelError: the call failed. The requests it took are counted.
        """
        most = self._most(prompt)
        today = self._clock.now().astimezone(UTC).date()
        with self._set_aside(most, today):
            try:
                reply = self._model.complete(prompt)
            except ModelError as exc:
                self._count(prompt.purpose, today, Usage(calls=max(1, exc.calls)))
                raise
            self._count(prompt.purpose, today, self._used(reply, prompt))
        return reply

    def _most(self, prompt: Prompt) -> Usage:
        """What a call can use at most, by estimate."""
        inputs = _at_least(prompt.system) + _at_least(prompt.user)
        return Usage(calls=1, input_tokens=inputs, output_tokens=prompt.max_tokens, cost_usd=self.price_usd(inputs, prompt.max_tokens))

    def _used(self, reply: Reply, prompt: Prompt) -> Usage:
        """What a call used; the estimate where the provider does not count."""
        used = reply.usage
        if not used.input_tokens and not used.output_tokens:
            inputs, outputs = _at_least(prompt.system) + _at_least(prompt.user), _at_least(reply.text)
            used = replace(used, input_tokens=inputs, output_tokens=outputs, cost_usd=None)
        if used.cost_usd is None:
            used = replace(used, cost_usd=self.price_usd(used.input_tokens, used.output_tokens))
        return used if used.calls else replace(used, calls=1)

    @contextmanager
    def _set_aside(self, most: Usage, today: date) -> Iterator[None]:
        account = self._account
        with account.lock:
            under_way = [usage for usages in account.under_way.values() for usage in usages]
            own = account.under_way.get(self._run, [])
            self._check("run", sum(own, account.by_run.get(self._run, _NOTHING)), most)
            # Read under the lock: a call that ends meanwhile is in the ledger or still set aside, never neither.
            if self._capped("day"):
                self._check("day", sum(under_way, self._ledger.spent(self._scope, today)), most)
            if self._capped("scope"):
                self._check("scope", sum(under_way, self._ledger.spent(self._scope, None)), most)
            account.under_way.setdefault(self._run, []).append(most)
        try:
            yield
        finally:
            with account.lock:
                account.under_way[self._run].remove(most)
                if not account.under_way[self._run]:
                    del account.under_way[self._run]

    def _count(self, purpose: str, today: date, used: Usage) -> None:
        self._ledger.record(self._scope, today, used)
        account = self._account
        with account.lock:
            account.by_purpose[purpose] = account.by_purpose.get(purpose, _NOTHING) + used
            account.by_run[self._run] = account.by_run.get(self._run, _NOTHING) + used

    def _capped(self, period: str) -> bool:
        return any(getattr(self._caps, f"{what}_per_{period}") is not None for what in ("calls", "tokens", "usd"))

    def _check(self, period: str, spent: Usage, most: Usage) -> None:
        measures: dict[str, Callable[[Usage], int | Decimal | None]] = {
            "calls": lambda usage: usage.calls,
            "tokens": lambda usage: usage.input_tokens + usage.output_tokens,
            "usd": lambda usage: usage.cost_usd,
        }
        for what, measure in measures.items():
            cap = getattr(self._caps, f"{what}_per_{period}")
            if cap is None:
                continue
            before, next_call = measure(spent), measure(most)
            if before is None or next_call is None:
                # Earlier calls had no known price (a model of one's own, say): nobody can tell whether the cap holds.
                raise SpendCapReached(what=what, cap=str(cap), spent="an unknown amount was", period=period)
            if before + next_call > cap:
                raise SpendCapReached(what=what, cap=str(cap), spent=str(before), period=period)


def _price(model: LanguageModel, input_tokens: int, output_tokens: int) -> Decimal | None:
    return model.price_usd(input_tokens, output_tokens) if isinstance(model, Priced) else None


def _at_least(text: str) -> int:
    """Tokens of a text, rather too many than too few."""
    return max(estimate_tokens(text), math.ceil(len(text) / 4))
