"""A small finance desk: invoices in several currencies, two dates with two rates, rows that were deleted softly.

Every Monday the same task: total last week's open invoices in EUR and post the total. The desk
accepts or rejects each call, and locks the week after the second rejected call, as a real close
would end in somebody's manual work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

FIRST_MONDAY = date(2026, 1, 5)
USUAL_ROWS, MONTH_END_ROWS = 5, 14
"""Invoices in a week; every fourth one closes a month and has more."""

STRIKES = 2
"""Rejected calls after which a week is locked."""

_RATES = {"EUR": Decimal("1"), "USD": Decimal("0.92"), "GBP": Decimal("1.17"), "CHF": Decimal("1.04"), "JPY": Decimal("0.0061")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """One row of the invoice table.

    Attributes:
        number: such as `INV-2041`.
        currency: ISO code.
        amount: in that currency, as it stands on the invoice.
        invoice_date, payment_date: the two dates; each has its own rate.
        deleted_at: when the row was deleted softly; none for a row that counts.
    """

    number: str
    currency: str
    amount: Decimal
    invoice_date: date
    payment_date: date
    deleted_at: date | None = None


@dataclass(slots=True)
class Desk:
    """The desk in one week.

    Attributes:
        week: 1 to 12.
        monday: the day of the task.
        invoices: the table.
        strikes: calls rejected so far.
        posted: the total that was accepted; none until then.
    """

    week: int
    monday: date
    invoices: tuple[Invoice, ...]
    strikes: int = 0
    posted: Decimal | None = None
    _converted: dict[str, Decimal] = field(default_factory=dict[str, Decimal])

    @property
    def locked(self) -> bool:
        """Whether the week is closed to further calls."""
        return self.strikes >= STRIKES

    @property
    def task(self) -> str:
        """What is asked, in the same words every week."""
        return f"Monday close: total last week's open invoices in EUR and post the total for week {self.week}."

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
        """Carry out a tool call.

        Returns:
            What it gave back, and the error if it was rejected; one of the two is empty.
        """
        if self.locked:
            return "", "the week is locked; the close goes to manual work"
        methods = {"list_invoices": self._list, "convert_invoice": self._convert, "post_total": self._post}
        method = methods.get(tool)
        result, error = method(dict(arguments)) if method is not None else ("", f"unknown tool {tool}; there are {', '.join(methods)}")
        self.strikes += bool(error)
        return result, error

    def _list(self, arguments: dict[str, Any]) -> tuple[str, str]:
        rows = self.invoices if arguments.get("rows") == "all" else tuple(row for row in self.invoices if row.deleted_at is None)
        deleted = next((row for row in rows if row.deleted_at is not None), None)
        if deleted is not None:
            return "", f"row {deleted.number} is soft-deleted (deleted_at {deleted.deleted_at}); it must not be totalled"
        return ", ".join(row.number for row in rows), ""

    def _convert(self, arguments: dict[str, Any]) -> tuple[str, str]:
        row = next((row for row in self.invoices if row.number == arguments.get("invoice")), None)
        if row is None:
            return "", f"invoice {arguments.get('invoice')} not found"
        if arguments.get("rate_on") != "invoice_date" and row.currency != "EUR":
            return "", f"invoice {row.number} cannot be converted at the rate of {row.payment_date}, its payment date"
        self._converted[row.number] = round(row.amount * rate(row.currency, row.invoice_date), 2)
        return str(self._converted[row.number]), ""

    def _post(self, arguments: dict[str, Any]) -> tuple[str, str]:
        if arguments.get("posting_date") != str(self.period_end):
            return "", f"posting date {arguments.get('posting_date')} lies outside the closed period, which ended on {self.period_end}"
        wanted = sum((self._value(row) for row in self.invoices if row.deleted_at is None), Decimal(0))
        if Decimal(str(arguments.get("total", "0"))) != wanted:
            return "", f"total {arguments.get('total')} does not match the control total"
        self.posted = wanted
        return f"posted {wanted} EUR for week {self.week}", ""

    def _value(self, row: Invoice) -> Decimal:
        return round(row.amount * rate(row.currency, row.invoice_date), 2)

    @property
    def period_end(self) -> date:
        """The Sunday before the task's Monday."""
        return self.monday - timedelta(days=1)


def open_desk(week: int, *, seed: int = 7) -> Desk:
    """The desk of a week; the same for everybody who gives the same numbers."""
    dice = Random(seed * 1000 + week)
    monday = FIRST_MONDAY + timedelta(weeks=week - 1)
    rows: list[Invoice] = []
    most = MONTH_END_ROWS if week % 4 == 0 else USUAL_ROWS
    currencies = ["EUR", *(dice.choice(["USD", "GBP", "CHF", "JPY"]) for _ in range(most - 2)), "EUR"]
    for place, currency in enumerate(currencies):
        issued = monday - timedelta(days=dice.randint(2, 7))
        rows.append(
            Invoice(
                number=f"INV-{2000 + week * 20 + place}",
                currency=currency,
                amount=Decimal(dice.randint(5_000, 90_000)) / (1 if currency == "JPY" else 100),
                invoice_date=issued,
                payment_date=issued + timedelta(days=dice.randint(10, 40)),
                deleted_at=monday - timedelta(days=1) if place == len(currencies) - 1 else None,
            )
        )
    return Desk(week=week, monday=monday, invoices=tuple(rows))


def rate(currency: str, day: date) -> Decimal:
    """EUR for one unit of a currency on a day. It moves a little from day to day, so that dates matter."""
    if currency == "EUR":
        return Decimal(1)
    drift = Decimal(((day.toordinal() * 37 + len(currency) * 11 + ord(currency[0])) % 61) - 30) / 1000
    return round(_RATES[currency] * (1 + drift), 6)


TOOLS = """list_invoices(rows="all" or "open"): numbers of last week's invoices.
convert_invoice(invoice, rate_on="payment_date" or "invoice_date"): an invoice's amount in EUR.
post_total(week, total, posting_date): post the total of the week."""
"""What an agent is told about the tools."""
