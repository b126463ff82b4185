"""`tenure spend`: what models used, what the caps leave, and which runs were learned from without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted, local_time, money, one_line
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenure.ports import Usage
    from tenure.providers.metering import Caps
    from tenure.wiring import Tenure

MEASURES = ("calls", "tokens", "usd")

LIMITS: Mapping[str, str] = {
    "run": "a cap per run was reached",
    "day": "a cap per day was reached",
    "scope": "a cap per scope was reached",
    "pause": "the model had failed too often in a row",
    "model": "the model gave no answer that could be used",
}
"""What stood in the way of a model, in words (see `postponed.Limit`)."""


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(app, "spend", spend, "tenure spend", "tenure spend --json", "tenure spend --all    # every run that waits for a model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What models used for a scope, beside its caps.

    Attributes:
        day: of today's figures, ISO 8601, in UTC.
        today, ever: what was used, calls under way counted as all they may use.
        caps: what may be used.
    """

    day: str
    today: Usage
    ever: Usage
    caps: Caps

    def rows(self) -> list[tuple[str, str, Usage]]:
        """Name, period and use of what is capped over time."""
        return [("today", "day", self.today), ("ever", "scope", self.ever)]

    def left(self, period: str, what: str) -> int | Decimal | None:
        """What a cap leaves; none if there is no such cap, or if what was used is not known."""
        cap = getattr(self.caps, f"{what}_per_{period}")
        used = used_of(self.today if period == "day" else self.ever, what)
        return None if cap is None or used is None else max(type(cap)(0), cap - used)


def used_of(usage: Usage, what: str) -> int | Decimal | None:
    """A measure of what was used: `calls`, `tokens` or `usd`."""
    return {"calls": usage.calls, "tokens": usage.input_tokens + usage.output_tokens, "usd": usage.cost_usd}[what]


def spending_of(book: Tenure) -> Spending:
    """What models used for a playbook's scope so far."""
    from tenure.opening import spend_caps

    today = book.clock.now().astimezone(UTC).date()
    # What was booked on the next day already, by a clock that is set back since, is what the cap goes by.
    later = book.store.spent(book.scope, (today + timedelta(days=1)).isoformat())
    day = today + timedelta(days=1) if later.calls else today
    return Spending(
        day=day.isoformat(),
        today=book.store.spent(book.scope, day.isoformat()),
        ever=book.store.spent(book.scope),
        caps=spend_caps(book.settings()),
    )


def said_of(spending: Spending) -> str:
    """Today's spending and what it leaves, in a line."""
    used = spending.today
    said = f"{counted(used.calls, 'model call')}, {used.input_tokens + used.output_tokens:,} tokens, {money(used.cost_usd)}"
    left = [
        amount(what, spending.left(period, what)) + (" of the scope" if period == "scope" else "")
        for period in ("day", "scope")
        for what in MEASURES
        if spending.left(period, what) is not None
    ]
    return f"{said}; left: {', '.join(left)}" if left else said


def amount(what: str, number: int | Decimal | None) -> str:
    """A number of a measure, in words."""
    if number is None:
        return "unknown"
    return money(Decimal(number)) if what == "usd" else f"{number:,} {what if number != 1 else what[:-1]}"


def spending_json(spending: Spending) -> dict[str, Any]:
    """Spending for programs; a cap or rest of null is none, or cannot be known."""
    from tenure.serving.wire import usage_json

    def plain(number: int | Decimal | None) -> int | float | None:
        return float(number) if isinstance(number, Decimal) else number

    caps = {f"{what}_per_{period}": plain(getattr(spending.caps, f"{what}_per_{period}")) for period in _PERIODS for what in MEASURES}
    left = {f"{what}_per_{period}": plain(spending.left(period, what)) for period in ("day", "scope") for what in MEASURES}
    return {"day": spending.day, "today": usage_json(spending.today), "ever": usage_json(spending.ever), "caps": caps, "left": left}


def spend(
    request: Request, all_: Annotated[bool, typer.Option("--all", help="List every run that waits, not the first ten.")] = False
) -> int:
    """Say what models used, what caps leave, and which runs wait.

    A run is learned from by plain code where a cap is reached or the model fails; the model's part waits and is made up
    by `tenure learn --pending`. Caps are settings: see `tenure config`, names with spend.
    """
    with request.reading() as book, book.store.reading(book.scope) as reading:
        spending = spending_of(book)
        waiting = list(reading.postponed())
        most = book.settings().whole("learn.attempts")
    given_up = [one for one in waiting if one.attempts >= most]
    terminal = request.terminal
    if request.as_json:
        runs = [
            {
                "run": one.run,
                "limit": one.limit,
                "reason": one.reason,
                "attempts": one.attempts,
                "given_up": one.attempts >= most,
                "at": one.at,
            }
            for one in waiting
        ]
        terminal.document({"scope": book.scope, **spending_json(spending), "postponed": runs})
        return OK
    columns = [
        Column(title=""),
        *(Column(title=name, right=True) for name in ("calls", "tokens", "cost")),
        Column(title="left", wraps=True),
    ]
    terminal.table(columns, [_period_row(spending, *row) for row in spending.rows()])
    caps = spending.caps
    run = [amount(what, cap) for what in MEASURES if (cap := getattr(caps, f"{what}_per_run")) is not None]
    terminal.say(
        f"A run may use {', '.join(run)} and {caps.seconds_per_run:g} s; a request {caps.seconds_per_call:g} s, "
        f"tried again {counted(caps.retries, 'time')} at most. Change a cap: {request.command('config set spend.NAME VALUE')}"
    )
    if waiting:
        terminal.text("\n")
        shown = waiting if all_ else waiting[:10]
        rows: list[Sequence[Cell]] = [
            (one.run, local_time(one.at), f"{one.attempts}", [(LIMITS[one.limit], ""), (f"\n{one_line(one.reason, 300)}", "dim")])
            for one in shown
        ]
        terminal.table(
            [Column(title="run"), Column(title="put off"), Column(title="attempts", right=True), Column(title="why", wraps=True)], rows
        )
        if len(shown) < len(waiting):
            terminal.say(f"and {len(waiting) - len(shown):,} more. See all: {request.command('spend --all')}")
        if len(given_up) < len(waiting):
            terminal.say(
                f"{counted(len(waiting) - len(given_up), 'run')} of these can be reflected on later: {request.command('learn --pending')}"
            )
        if given_up:
            again = request.command(f"config set learn.attempts {most + 3}")
            terminal.say(f"{counted(len(given_up), 'run')} were given up after {counted(most, 'attempt')}. To try again: {again}")
    return OK


_PERIODS = ("run", "day", "scope")


def _period_row(spending: Spending, name: str, period: str, used: Usage) -> Sequence[Cell]:
    left = []
    for what in MEASURES:
        cap = getattr(spending.caps, f"{what}_per_{period}")
        if cap is not None:
            left.append(f"{amount(what, spending.left(period, what))} of {amount(what, cap)}")
    return (name, f"{used.calls:,}", f"{used.input_tokens + used.output_tokens:,}", money(used.cost_usd), ", ".join(left) or "no cap")
