"""Names of scopes and tenants that come up for the first time: of two that look alike, one would be taken for the other.

A letter with an accent can be written as one character or as two. Both were kept apart, as two tenants or scopes, so what is
there stays under its name, and only new names have to be in the one form (NFC) that keyboards give.
"""

from __future__ import annotations

import unicodedata

from tenure.errors import ScopeError
from tenure.ports import Store
from tenure.stores.scopes import check_scope, tenant


def check_new(store: Store, scope: str) -> None:
    """Make sure that a scope, or a tenant alone, may be written to; costs nothing unless its name is in an uncommon form.

    Args:
        store: outside of a transaction.
        scope: its name.

    Raises:
        ScopeError: its name is not in NFC, beyond what is kept under such a name already.
    """
    usual = unicodedata.normalize("NFC", check_scope(scope))
    if usual == scope:
        return
    known = _kept(store, scope)
    parts = scope.split("/")
    for length in range(len(parts), 0, -1):
        there = "/".join(parts[:length])
        if there in known and unicodedata.is_normalized("NFC", "/".join(parts[length:])):
            return
    raise ScopeError(
        f"Scope {scope!a} is not in the Unicode form NFC, so that another could look like it. Write it as '{usual}' ({usual!a})."
    )


def _kept(store: Store, scope: str) -> set[str]:
    """What has something kept in it, and all above that."""
    whose = tenant(scope)
    with store.tenancy(whose) as look:
        names = {key.scope for key in look.api_keys()}
    with store.reading(scope) as reading:
        names.update([scope] if reading.settings_kept() else [])
    names.update(store.scopes(whose))
    return {"/".join(name.split("/")[:length]) for name in names for length in range(1, name.count("/") + 2)}
