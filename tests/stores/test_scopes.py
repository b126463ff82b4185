"""Names of scopes: what is one, whose it is, what it inherits from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import ScopeError
from tenure.stores.scopes import LONGEST, check_scope, parents, tenant

SOUND = [
    "local",
    "local/myproject",
    "acme/finance/recon",
    "acme/a-b",
    "acme/a b",
    "acme/@scope/package",
    "acme/多币种",
    "acme/emoji 👩\u200d👧",
    "acme/finance/@model=openai:gpt-4o",
    "acme/@model=m/@conversation=17",
    "a" * LONGEST,
]

MALFORMED = {
    "": "A scope is needed, such as local/myproject",
    "/": "empty part",
    "/acme": "empty part",
    "acme/": "empty part",
    "acme//recon": "empty part",
    "acme/../other": "the part '..'",
    "acme/.": "the part '.'",
    "acme/ recon": "white space",
    "acme /recon": "white space",
    "acme/\n": "U+000A",
    "acme/a\x00b": "U+0000",
    "acme/a\u200bb": "U+200B",
    "acme/\u202eb": "U+202E",
    "acme/\ud800": "U+D800",
    "acme/a\u2028b": "U+2028",
    "acme/@model=": "without a name",
    "acme/@model=a/b": "after '@model=a'",
    "@model=a": "no tenant",
    "a" * (LONGEST + 1): f"{LONGEST} is the most",
}


@pytest.mark.parametrize("scope", SOUND)
def test_a_sound_scope_stays_as_it_is(scope: str) -> None:
    assert check_scope(scope) == scope


@pytest.mark.parametrize("scope", MALFORMED, ids=ascii)
def test_a_malformed_scope_is_an_error_that_says_what_is_wrong(scope: str) -> None:
    with pytest.raises(ScopeError) as raised:
        check_scope(scope)
    assert MALFORMED[scope] in str(raised.value)
    # A message must be printable wherever it is shown.
    str(raised.value).encode("utf-8")


def test_a_missing_scope_is_an_error_everywhere() -> None:
    for ask in (check_scope, parents, tenant):
        with pytest.raises(ScopeError, match="A scope is needed, such as local/myproject"):
            ask("")
    with pytest.raises(ScopeError, match="A scope is needed"):
        check_scope(None)


def test_inheritance_goes_up_to_the_tenant_and_no_further() -> None:
    assert parents("acme/finance/recon") == ("acme/finance", "acme")
    assert parents("acme/finance/@model=m") == ("acme/finance", "acme")
    assert parents("acme") == ()


def test_names_that_share_letters_share_nothing_else() -> None:
    assert "x/a" not in parents("x/a-b")
    assert parents("x/a/b") == ("x/a", "x")
    assert tenant("acme2/x") != tenant("acme/x")


@given(st.text(max_size=30))
def test_any_text_is_a_scope_or_a_scope_error(text: str) -> None:
    try:
        scope = check_scope(text)
    except ScopeError:
        return
    assert {tenant(parent) for parent in parents(scope)} <= {tenant(scope)}
    assert all(scope.startswith(parent + "/") for parent in parents(scope))
    assert len(parents(scope)) == scope.count("/")
