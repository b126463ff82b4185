"""Names of scopes: what is one, whose it is, and what it inherits from.

A scope is a path such as `acme/finance/recon`. Its first part is the tenant, a hard wall: nothing is
ever read across it. Reads inherit from the scopes above, inside the wall; writes hit one scope.
"""

from __future__ import annotations

import unicodedata

from tenure.errors import ScopeError

LONGEST = 200
"""Characters in a scope, at most."""

NARROWING = ("@model=", "@conversation=")
"""How the optional last parts begin: a scope for one model, for one conversation."""

_ZERO_WIDTH_JOINERS = "\u200c\u200d"  # parts of words in Persian and Indic scripts, and of emoji


def check_scope(scope: str | None) -> str:
    """The scope, unchanged, if it is one.

    Args:
        scope: parts separated by `/`, `LONGEST` characters at most. No part is empty, is `.` or `..`,
            begins or ends with white space, or holds a control character. Parts that begin with
            `@model=` or `@conversation=` come last and name something.

    Raises:
        ScopeError: it is missing or malformed; the message says what, which and what next.
    """
    if not scope:
        raise ScopeError("A scope is needed, such as local/myproject. Name one with --scope or TENURE_SCOPE.")
    if len(scope) > LONGEST:
        raise ScopeError(f"Scope '{scope[:40]}...' has {len(scope)} characters; {LONGEST} is the most. Shorten its parts.")
    hidden = next((c for c in scope if _is_hidden(c)), None)
    if hidden is not None:
        raise ScopeError(f"Scope {scope!a} holds the invisible character U+{ord(hidden):04X}. Leave it out.")
    narrowed = ""
    for part in scope.split("/"):
        problem = _problem(part)
        if not problem and narrowed and not part.startswith(NARROWING):
            problem = f"has '{part}' after '{narrowed}', which ends a scope; a name with a '/' in it needs another sign there"
        if problem:
            raise ScopeError(f"Scope '{scope}' {problem}. Write it like acme/finance/recon.")
        narrowed = part if part.startswith(NARROWING) else ""
    if scope.startswith(NARROWING):
        raise ScopeError(f"Scope '{scope}' has no tenant before '{scope.partition('/')[0]}'. Write it like acme/{scope}.")
    return scope


def parents(scope: str) -> tuple[str, ...]:
    """The scopes this one inherits from, nearest first; never beyond its tenant.

    `acme/finance/recon` inherits from `acme/finance` and `acme`; `acme` from none.

    Raises:
        ScopeError: it is not a scope.
    """
    parts = check_scope(scope).split("/")
    return tuple("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))


def tenant(scope: str) -> str:
    """The first part of a scope: whose it is.

    Raises:
        ScopeError: it is not a scope.
    """
    return check_scope(scope).partition("/")[0]


def check_tenant(name: str) -> str:
    """A tenant's name, unchanged, if it is one.

    Raises:
        ScopeError: it is missing or malformed, or a scope below a tenant.
    """
    if "/" in check_scope(name):
        raise ScopeError(f"'{name}' is a scope of the tenant '{tenant(name)}', not a tenant. Name the tenant alone.")
    return name


def _problem(part: str) -> str:
    """What is wrong with one part, as the end of a sentence; empty if it is sound."""
    if not part:
        return "has an empty part: a '/' at its start or end, or two in a row"
    if part in (".", ".."):
        return f"has the part '{part}', which names a folder, not a scope"
    if part != part.strip():
        return f"has the part '{part}' with white space at its edge"
    if part in NARROWING:
        return f"has the part '{part}' without a name behind it"
    return ""


def _is_hidden(character: str) -> bool:
    """Whether a character cannot be seen, or cannot be stored: two names that look alike must be one."""
    if character.isascii():
        return not character.isprintable()
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _ZERO_WIDTH_JOINERS
