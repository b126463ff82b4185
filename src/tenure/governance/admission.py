"""Stand-in until the rules land."""
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """PLACEHOLDER"""

    action: str = "pass"
    reason: str = ""


def admit(operation: object, *, author_trusted: bool, basis: str, protected: bool = False) -> Decision:
    """PLACEHOLDER"""
    return Decision(action="hold" if basis == "untrusted" or protected else "pass", reason="")
