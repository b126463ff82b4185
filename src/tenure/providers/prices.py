"""What tokens of a model cost, from a price list that is part of the installation: no key, no network."""

from __future__ import annotations

from decimal import Decimal

from tenure.errors import MissingExtra


def price_usd(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
    """What so many tokens cost, in US dollars; none if the list has no such model.

    Args:
        model: `PROVIDER:MODEL`.
        input_tokens, output_tokens: none of them from a cache.

    Raises:
        MissingExtra: the list is not installed.
    """
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError as exc:
        raise MissingExtra("The price list of models", extra="models") from exc
    provider, _, name = model.partition(":")
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return calc_price(usage, name, provider_id=provider.partition("-")[0]).total_price
    except (LookupError, ValueError):
        return None
