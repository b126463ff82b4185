"""Counts what models use, and stops before a cap is passed.

A call is let through only if the caps would hold even if it used all it may. That much is booked before the
call and corrected after it, in one ledger that all processes of a database share, so that threads and processes
that ask at the same moment cannot pass a cap together. Failures that pass are tried again here, each attempt
booked by itself, a bounded number of times and within a bounded time per run.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Protocol, runtime_checkable

from tenure.errors import ModelError, SettingError, SpendCapReached, UserError
from tenure.ports import Clock, LanguageModel, Prompt, Reply, Usage
from tenure.ranking import estimate_tokens
from tenure.telemetry import model_call

LONGEST_WAIT_S = 60.0
"""A provider that asks to wait longer than this is given up on, so that a learner does not hang."""

RUNS_REMEMBERED = 10_000
"""Runs whose use a meter keeps in mind, the newest."""

_NOTHING = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits on what models may use; none is no limit.

    Attributes:
        calls_per_run, calls_per_day, calls_per_scope: requests, retries included.
        tokens_per_run, tokens_per_day, tokens_per_scope: input and output together.
        usd_per_run, usd_per_day, usd_per_scope: US dollars.
        seconds_per_run: for all calls of a run together, waits between them included.
        seconds_per_call: for one request.
        retries: further requests after one that failed for a passing reason.

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
    seconds_per_run: float | None = None
    seconds_per_call: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        names = [f"{what}_per_{period}" for what in ("calls", "tokens", "usd") for period in ("run", "day", "scope")]
        for name in (*names, "seconds_per_run", "seconds_per_call", "retries"):
            cap = getattr(self, name)
            if cap is not None and (Decimal(cap).is_nan() or cap < 0):
                raise SettingError(f"The cap spend.{name} is {cap}; it must be 0 or more, or none for no limit.")

    @property
    def in_money(self) -> bool:
        """Whether any cap is in dollars, so that prices must be known."""
        return any(cap is not None for cap in (self.usd_per_run, self.usd_per_day, self.usd_per_scope))


class SpendLedger(Protocol):
    """Keeps what scopes used, beyond the life of a process. Safe to use from several threads and processes."""

    def spent(self, scope: str, day: date | None) -> Usage:
        """What a scope used on a day (UTC), or ever if `day` is none."""
        ...

    def book(self, scope: str, usage: Usage, decide: Callable[[Mapping[date, Usage]], date]) -> date:
        """Add to what a scope used on the day that `decide` names, given what it used by day; nothing if that raises.

        No other booking comes between the look and the addition.
        """
        ...

    def record(self, scope: str, day: date, usage: Usage) -> None:
        """Add to what a scope used on a day; numbers below 0 take away what was booked too much."""
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

    def book(self, scope: str, usage: Usage, decide: Callable[[Mapping[date, Usage]], date]) -> date:
        """See `SpendLedger`."""
        with self._lock:
            day = decide({at: used for (held, at), used in self._days.items() if held == scope})
            self._days[scope, day] = self._days.get((scope, day), _NOTHING) + usage
        return day

    def record(self, scope: str, day: date, usage: Usage) -> None:
        """See `SpendLedger`."""
        with self._lock:
            self._days[scope, day] = self._days.get((scope, day), _NOTHING) + usage


@dataclass(slots=True)
class _Run:
    """What calls for one run used, may still use while they are under way, and took."""

    used: Usage = _NOTHING
    under_way: Usage = _NOTHING
    seconds: float = 0.0


@dataclass(slots=True)
class _Account:
    """What was used through a meter, under one lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    by_purpose: dict[str, Usage] = field(default_factory=dict)
    by_run: dict[tuple[str, str], _Run] = field(default_factory=dict)

    def of(self, run: tuple[str, str]) -> _Run:
        """The account of a run; those not touched longest are let go. The lock is held."""
        found = self.by_run.pop(run, None) or _Run()
        self.by_run[run] = found
        while len(self.by_run) > RUNS_REMEMBERED:
            del self.by_run[next(iter(self.by_run))]
        return found


class MeteredModel:
    """A language model with a meter and caps. Safe to share between threads, and its caps between processes.

    Calls through the object itself count as one run, `''`; `for_run` gives a view that shares
    everything but the caps per run. By how much a cap can be passed: calls, not at all; tokens and money, by
    what the provider counts beyond the estimate for the one call after which it is reached, in each process and
    thread that has one under way. A process that is killed during a call leaves all it might have used booked.
    """

    def __init__(
        self,
        model: LanguageModel,
        caps: Caps | Callable[[str], Caps],
        ledger: SpendLedger,
        *,
        scope: str,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """A meter around a model.

        Args:
            model: is asked for what the caps allow. Where it tries again by itself, those requests are counted when it
                is done, and are not held back by caps.
            caps: what it may use, or a function that tells it for a scope, asked before each call.
            ledger: what the scope used before, and where to record what it uses now.
            scope: whose spending this is, where `for_run` names no other.
            clock: tells which day it is.
            sleep: waits so many seconds before a request is sent again.
            elapsed: seconds of a clock that only goes forward, for limits in time.

        Raises:
            SettingError: a cap is in dollars and the model's price is not known.
        """
        self._model, self._ledger, self._scope, self._clock = model, ledger, scope, clock
        self._sleep, self._elapsed = sleep, elapsed
        self._caps_of: Callable[[str], Caps] = (lambda _: caps) if isinstance(caps, Caps) else caps
        self._run, self._account = "", _Account()
        if self._caps_of(scope).in_money and _price(model, 1000, 1000) is None:
            raise SettingError(
                f"A cap in dollars is set, but the price of '{model.name}' is not known, so it could not be kept. "
                "Cap tokens or calls instead: tenure config set spend.tokens_per_day N"
            )

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def for_run(self, run: str, *, scope: str = "") -> MeteredModel:
        """The same meter for the calls that learning from one run makes; its caps per run begin at what that run used so far.

        Args:
            run: its id.
            scope: whose spending it is; empty takes the meter's own.
        """
        view = object.__new__(MeteredModel)
        view.__dict__.update(self.__dict__)
        view._run, view._scope = run, scope or self._scope
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
        """The model's reply, counted. Failures that pass are tried again, after 1, 2, 4 ... seconds or as the provider asks.

        Raises:
            SpendCapReached: a cap would be passed if the next request used all it may; it was not made.
            ModelError: the call failed. The requests it took are counted.
        """
        attempt, sent, unanswered = 0, 0, 0
        while True:
            attempt += 1
            caps = self._caps_of(self._scope)
            try:
                reply = self._once(prompt, caps)
                return reply if not sent else replace(reply, usage=replace(reply.usage, calls=reply.usage.calls + sent))
            except SpendCapReached as exc:
                exc.calls += sent
                raise
            except ModelError as exc:
                sent, unanswered = sent + max(1, exc.calls), unanswered + exc.unanswered
                wait_s = max(0.0, exc.wait_s) if exc.wait_s is not None else min(2.0 ** (attempt - 1), LONGEST_WAIT_S)
                if not exc.passing or attempt > caps.retries or wait_s > LONGEST_WAIT_S:
                    if attempt > 1:
                        raise ModelError(f"{exc} (after {attempt} attempts)", calls=sent, unanswered=unanswered) from exc
                    raise
                self._wait(wait_s, caps, exc, sent)

    def _wait(self, wait_s: float, caps: Caps, failure: ModelError, sent: int) -> None:
        """Wait, unless the time that the run may take would be over by then."""
        with self._account.lock:
            own = self._account.of(self._key)
            if caps.seconds_per_run is not None and own.seconds + wait_s >= caps.seconds_per_run:
                raise ModelError(
                    f"{failure}. It was not asked again: all calls of a run may take {caps.seconds_per_run:g} s together. "
                    "Raise it: tenure config set spend.seconds_per_run N",
                    calls=sent,
                ) from failure
            own.seconds += wait_s
        self._sleep(wait_s)

    @property
    def _key(self) -> tuple[str, str]:
        return self._scope, self._run

    def _once(self, prompt: Prompt, caps: Caps) -> Reply:
        """One request, booked before and counted after it."""
        with self._set_aside(self._most(prompt), caps) as call:
            limits = [limit for limit in (prompt.within_s, caps.seconds_per_call, self._left_s(caps)) if limit is not None]
            began = self._elapsed()
            try:
                with model_call(self.name, purpose=prompt.purpose) as told:
                    reply = self._model.complete(replace(prompt, within_s=min(limits) if limits else None))
                    call.used = used = self._used(reply, prompt)
                    told.note(input_tokens=used.input_tokens, output_tokens=used.output_tokens, cached_tokens=used.cached_tokens)
                    told.note(reason=reply.finish_reason)
            except UserError:
                call.used = Usage()  # refused before anything was sent
                raise
            except ModelError as exc:
                calls = max(1, exc.calls)
                lost = call.most if exc.unanswered else _NOTHING
                call.used = replace(sum([lost] * max(0, exc.unanswered - 1), lost), calls=calls)
                raise
            finally:
                with self._account.lock:
                    self._account.of(self._key).seconds += max(0.0, self._elapsed() - began)
                    known = self._account.by_purpose.get(prompt.purpose, _NOTHING)
                    self._account.by_purpose[prompt.purpose] = known + call.used
        return replace(reply, usage=call.used)

    def _most(self, prompt: Prompt) -> Usage:
        """What a request can use at most, by estimate."""
        inputs = _at_least(prompt.system) + _at_least(prompt.user)
        return Usage(calls=1, input_tokens=inputs, output_tokens=prompt.max_tokens, cost_usd=self.price_usd(inputs, prompt.max_tokens))

    def _used(self, reply: Reply, prompt: Prompt) -> Usage:
        """What a request used; the estimate where the provider does not count."""
        used = reply.usage
        # Some servers count nothing, or what cannot be; a number below 0 would give back what others spent.
        inputs, outputs = max(0, used.input_tokens), max(0, used.output_tokens)
        if not inputs or (not outputs and reply.text):
            inputs = inputs or _at_least(prompt.system) + _at_least(prompt.user)
            outputs = outputs or _at_least(reply.text)
            used = replace(used, cost_usd=None)
        cost = used.cost_usd if used.cost_usd is not None and used.cost_usd >= 0 else self.price_usd(inputs, outputs)
        return replace(used, calls=max(1, used.calls), input_tokens=inputs, output_tokens=outputs, cost_usd=cost)

    @contextmanager
    def _set_aside(self, most: Usage, caps: Caps) -> Iterator[_Call]:
        """Book what a request may use, and in its place, when it is over, what it used.

        Raises:
            SpendCapReached: a cap would be passed.
        """
        call = _Call(most=most, used=most)
        account = self._account
        with account.lock:
            own = account.of(self._key)
            if caps.seconds_per_run is not None and own.seconds >= caps.seconds_per_run:
                raise SpendCapReached(what="seconds", cap=f"{caps.seconds_per_run:g}", spent=f"{own.seconds:.0f}", period="run")
            _check(caps, "run", own.used + own.under_way, most)
            own.under_way += most
        # What a call costs whose price is not known is written when it is over, so that one that was refused leaves no doubt.
        booked = most if most.cost_usd is not None else replace(most, cost_usd=Decimal(0))
        try:
            day = self._ledger.book(self._scope, booked, lambda days: self._day_for(days, most, caps))
        except BaseException:
            with account.lock:
                own.under_way = _less(own.under_way, most)
            raise
        try:
            yield call
        finally:
            with account.lock:
                own.under_way, own.used = _less(own.under_way, most), own.used + call.used
            self._ledger.record(self._scope, day, _less(call.used, booked))

    def _day_for(self, days: Mapping[date, Usage], most: Usage, caps: Caps) -> date:
        """The day on which a request is booked.

        Raises:
            SpendCapReached: a cap of the day or the scope would be passed.
        """
        today = day_of(self._clock.now().astimezone(UTC).date(), days)
        _check(caps, "day", days.get(today, _NOTHING), most)
        _check(caps, "scope", sum(days.values(), _NOTHING), most)
        return today

    def _left_s(self, caps: Caps) -> float | None:
        if caps.seconds_per_run is None:
            return None
        with self._account.lock:
            return max(0.001, caps.seconds_per_run - self._account.of(self._key).seconds)


@dataclass(slots=True)
class _Call:
    """A request under way: what it may use, and what it used."""

    most: Usage
    used: Usage


def day_of(today: date, days: Mapping[date, Usage]) -> date:
    """The day on which spending is booked: today, or the day after where something was booked on that already.

    A clock that is set back over midnight would open a day anew whose cap was used up. One that was wrong by more than
    a day is not believed afterwards, or all spending would be of that day until it came.
    """
    tomorrow = today + timedelta(days=1)
    return tomorrow if tomorrow in days else today


def _less(one: Usage, other: Usage) -> Usage:
    """What is left of a use without another; a cost is known only if both are."""
    known = one.cost_usd is not None and other.cost_usd is not None
    return Usage(
        calls=one.calls - other.calls,
        input_tokens=one.input_tokens - other.input_tokens,
        output_tokens=one.output_tokens - other.output_tokens,
        cached_tokens=one.cached_tokens - other.cached_tokens,
        cost_usd=(one.cost_usd or Decimal(0)) - (other.cost_usd or Decimal(0)) if known else None,
    )


def _check(caps: Caps, period: str, spent: Usage, most: Usage) -> None:
    measures: dict[str, Callable[[Usage], int | Decimal | None]] = {
        "calls": lambda usage: usage.calls,
        "tokens": lambda usage: usage.input_tokens + usage.output_tokens,
        "usd": lambda usage: usage.cost_usd,
    }
    for what, measure in measures.items():
        cap = getattr(caps, f"{what}_per_{period}")
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
