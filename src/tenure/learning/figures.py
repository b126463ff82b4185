"""Numbers and inventories by hand or by code: what `Tenure` offers for aggregates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from tenure.errors import UserError
from tenure.playbook.aggregates import Aggregate, Number
from tenure.playbook.delta import Delta, Observe, Operation, Receipt, Revoke
from tenure.ports import Admitted, Store


class FigureKeeping(ABC):
    """Aggregates of a scope: exact figures of observations that stay, and can be revoked."""

    scope: str

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where all of it is kept."""

    @abstractmethod
    def apply(
        self, operations: Sequence[Operation] | Delta, *, author: str = "person:api", cause: str = "hand", note: str = ""
    ) -> Admitted:
        """Change the playbook by hand."""

    def observe(
        self,
        section: str,
        name: str,
        value: Number,
        *,
        key: str = "",
        unit: str = "",
        show: Sequence[str] = (),
        run: str = "",
        step: int = -1,
        mark: str = "",
        origin: str = "",
        at: datetime | str | None = None,
        author: str = "person:api",
    ) -> Receipt:
        """Add a number to an aggregate: `book.observe("bids", "price paid", "120.50", key="bidder A", unit="EUR")`.

        Args:
            section, name: the aggregate; both are made at their first number.
            value: an exact decimal: a text, an int or a Decimal; of a float its shortest text counts.
            key: the row, such as a bidder; empty for a table of one row.
            unit: of the value; other units get rows of their own.
            show: columns of the table, such as `["count", "mean", "last 5"]`; empty leaves them.
            run, step: where it was observed; the same value observed there again counts once.
            mark: a name for this observation, so that telling it again corrects it.
            origin: name of the origin it came from.
            at: when it was observed; none takes now.
            author: who says so.

        Returns:
            The receipt; its id names the observation.
        """
        moment = at.isoformat() if isinstance(at, datetime) else at or ""
        made = Observe(section, name, cast(str, value), unit, key, tuple(show), run=run, step=step, mark=mark, origin=origin, at=moment)
        return self.apply([made], author=author).receipts[0]

    def revoke(
        self,
        *,
        ids: Sequence[str] = (),
        origin: str = "",
        run: str = "",
        reason: str = "",
        revoked: bool = True,
        author: str = "person:api",
    ) -> Admitted:
        """Take observations out of their aggregates: some ids, or all of an origin or run. They stay, and can be put back.

        Args:
            ids: observations, as receipts and `tenure show NAME` tell them.
            origin, run: all observations that came from there; of both, those that came from both.
            reason: why, for people.
            revoked: false puts them back.
            author: who asked for it.

        Raises:
            UserError: nothing is named.
        """
        if not ids and not origin and not run:
            raise UserError("Nothing is named. Give ids, an origin or a run: book.revoke(origin='local/web')")
        named = (ids,) if isinstance(ids, str) else tuple(ids)
        if origin or run:
            with self.store.reading(self.scope) as reading:
                found = reading.observations(origin=origin, run=run)
            named += tuple(one.id for one in found if one.revoked is not revoked)
        if not named:
            return Admitted(receipts=())
        return self.apply([Revoke(named, revoked, reason)], author=author)

    def aggregates(self) -> Sequence[Aggregate]:
        """The tables of numbers and inventories, with exact figures; 1,000 rows of each at most."""
        with self.store.reading(self.scope) as reading:
            return reading.aggregates(most_rows=1_000)
