"""What a comparison with a model may use in all.

It is kept in the folder of the comparison, so that all its processes share it, and who goes on later counts from where it
stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tenure.errors import UserError
from tenure.opening import StoredSpending, open_store
from tenure.ports import LanguageModel, Usage
from tenure.providers.metering import Caps, MeteredModel, Priced
from tenure.system import SystemClock

SCOPE = "local/bench"
FILE = "spending.db"
RETRIES = 3
SECONDS_PER_CALL = 300.0

ASK_FOR_CAP = (
    "A comparison with a model costs money. Say how much it may cost in all: --max-usd 5, or where the model has no price "
    "--max-calls N or --max-tokens N. What to expect, without asking the model: --dry-run"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Which model is asked, and what it may use in all, the reset twins of arms included.

    Attributes:
        model: its name, `PROVIDER:MODEL`.
        base_url: of its server; empty takes the provider's.
        usd, calls, tokens: caps; none is no cap of that kind.
    """

    model: str
    base_url: str = ""
    usd: Decimal | None = None
    calls: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.usd is None and self.calls is None and self.tokens is None:
            raise UserError(ASK_FOR_CAP)
        for option, cap in (("--max-usd", self.usd), ("--max-calls", self.calls), ("--max-tokens", self.tokens)):
            if cap is not None and not cap > 0:
                raise UserError(f"{option} is {cap}; it must be more than 0.")

    @property
    def caps(self) -> Caps:
        """For the meter."""
        return Caps(
            usd_per_scope=self.usd,
            calls_per_scope=self.calls,
            tokens_per_scope=self.tokens,
            seconds_per_call=SECONDS_PER_CALL,
            retries=RETRIES,
        )

    def check_price(self, model: LanguageModel) -> None:
        """Refuse a cap in dollars that could not be kept.

        Raises:
            UserError: there is one, and the price of the model is not known.
        """
        if self.usd is not None and (not isinstance(model, Priced) or model.price_usd(1000, 1000) is None):
            raise UserError(
                f"The price of '{self.model}' is not known, so --max-usd could not be kept. "
                "Give --max-calls N or --max-tokens N in its place."
            )


@contextmanager
def metered(spending: Spending, folder: Path, model: LanguageModel | None = None) -> Iterator[MeteredModel]:
    """The model with its caps, whose ledger is in a folder that all processes of a comparison share.

    Args:
        spending: which model, and what it may use.
        folder: of the comparison, made if it is not there.
        model: takes the place of the one that is named.

    Raises:
        UserError: the model cannot be opened, or a cap in dollars could not be kept.
    """
    opened = model if model is not None else open_named(spending)
    spending.check_price(opened)
    folder.mkdir(parents=True, exist_ok=True)
    clock = SystemClock()
    with closing(open_store(f"sqlite:///{folder / FILE}", clock)) as store:
        meter = MeteredModel(opened, spending.caps, StoredSpending(store), scope=SCOPE, clock=clock)
        try:
            yield meter
        finally:
            if model is None:
                meter.close()


def open_named(spending: Spending) -> LanguageModel:
    """The model by its name. Its requests are tried again by the meter, so that each is booked by itself."""
    from tenure.providers.models import open_model

    return open_model(spending.model, base_url=spending.base_url or None, timeout_s=SECONDS_PER_CALL, max_retries=0)


def spent(folder: Path) -> Usage:
    """What was used in a folder's comparison so far."""
    if not (folder / FILE).exists():
        return Usage()
    with closing(open_store(f"sqlite:///{folder / FILE}", SystemClock())) as store:
        return store.spent(SCOPE, None)
