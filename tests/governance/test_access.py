"""API keys: what stands in one, what each role may, and which scopes one opens."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.governance.access import ACTS, NAME_BYTES, ROLES, SECRET_BYTES, ApiKey, key_text, read_key
from tenure.governance.redaction import redact

CHANCE = bytes(range(NAME_BYTES + SECRET_BYTES))


def kept(**changed: object) -> ApiKey:
    found = read_key(key_text("acme", CHANCE))
    assert found is not None
    values: dict[str, object] = {
        "id": found.id,
        "label": "agents",
        "tenant": "acme",
        "scope": "acme/finance",
        "role": "reporter",
        "digest": found.digest,
        "created": "2026-03-15T10:00:00+00:00",
        "by": "cli",
        **changed,
    }
    return ApiKey(**values)  # type: ignore[arg-type]


@given(st.text(min_size=1, max_size=40), st.binary(min_size=NAME_BYTES + SECRET_BYTES, max_size=NAME_BYTES + SECRET_BYTES))
def test_a_key_says_its_tenant_and_fits_in_a_header(tenant: str, chance: bytes) -> None:
    tenant = re.sub("[\ud800-\udfff]", "", tenant) or "a"
    text = key_text(tenant, chance)
    found = read_key(text)
    assert text.isascii()
    assert text.isprintable()
    assert " " not in text
    assert found is not None
    assert found.tenant == tenant


@given(st.text(max_size=120))
def test_any_other_text_is_no_key(text: str) -> None:
    assert read_key(text) is None
    assert read_key("tnr_" + text) is None or len(text) > 62


def test_only_the_right_secret_fits() -> None:
    right, wrong = read_key(key_text("acme", CHANCE)), read_key(key_text("acme", CHANCE[:-1] + b"\0"))
    other = read_key(key_text("globex", CHANCE))
    assert right is not None
    assert wrong is not None
    assert other is not None
    assert right.fits(kept())
    assert wrong.id == right.id
    assert not wrong.fits(kept())
    assert not other.fits(kept())


def test_the_secret_stands_nowhere_but_in_the_key() -> None:
    text = key_text("acme", CHANCE)
    secret = text[14:66]
    assert secret not in repr(read_key(text)) + repr(kept())
    assert secret not in redact(f"curl -H 'Authorization: Bearer {text}'").text


@pytest.mark.parametrize(
    ("role", "may"),
    [("reader", ACTS[:1]), ("reporter", ACTS[:2]), ("reviewer", ACTS[:3]), ("admin", ACTS)],
)
def test_each_role_may_what_those_before_it_may(role: str, may: tuple[str, ...]) -> None:
    assert role in ROLES
    assert tuple(act for act in ACTS if kept(role=role).allows(act)) == may


@pytest.mark.parametrize(
    ("scope", "opens"),
    [
        ("acme/finance", True),
        ("acme/finance/recon", True),
        ("acme/finance2", False),
        ("acme", False),
        ("globex/finance", False),
        ("", False),
    ],
)
def test_a_key_opens_its_scope_and_those_below(scope: str, opens: bool) -> None:
    assert kept().opens(scope) is opens


def test_a_key_ends() -> None:
    at = "2026-03-15T10:00:00+00:00"
    assert kept().state(at) == "valid"
    assert kept(expires="2026-03-15T10:00:00+00:00").state(at) == "expired"
    assert kept(expires="2026-03-15T10:00:01+00:00").state(at) == "valid"
    assert kept(revoked="2026-03-14").state(at) == "revoked"
