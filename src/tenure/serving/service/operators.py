"""Settings that are the affair of whoever runs a server, and of no tenant: by whichever way they are asked for."""

from __future__ import annotations

OPERATORS = ("model", "base_url", "embedder", "embedder_base_url", "redact.names", "spend.")
"""They, or beginnings of their names: they decide where the server's own keys go and what they cost."""


def operators(name: str) -> bool:
    """Whether a setting is the operator's affair."""
    return any(name == one or (one.endswith(".") and name.startswith(one)) for one in OPERATORS)
