"""Whether the database of a server can be used."""

from __future__ import annotations

from tenure.ports import Store


def check_ready(store: Store) -> None:
    """Ask the database for next to nothing.

    Raises:
        StoreError: it cannot be reached, or has not the form that this version knows.
    """
    with store.tenancy("local") as look:
        look.audited(limit=1)
