"""How long the nodes of a memory tree and its root may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenure.errors import UserError
from tenure.memory_tree.periods import Kind

LEAST: Mapping[str, int] = {"node_tokens": 200, "copy_tokens": 200, "root_tokens": 400, "root_lines": 20}
"""The least that caps may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How long nodes may be.

    Attributes:
        day_lines, week_lines, month_lines: from so many lines of raw text a node is a summary.
        node_tokens: of a summary.
        copy_tokens: of a copy; what is longer becomes a summary however few its lines are.
        root_tokens, root_lines: of the root.
    """

    day_lines: int = 200
    week_lines: int = 300
    month_lines: int = 500
    node_tokens: int = 1_500
    copy_tokens: int = 6_000
    root_tokens: int = 3_000
    root_lines: int = 100

    def __post_init__(self) -> None:
        for name in ("day_lines", "week_lines", "month_lines"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}. It is a number of lines from 1.")
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise UserError(f"{name} is {getattr(self, name)}. Below {least} nothing can be said.")

    def lines(self, kind: Kind) -> int:
        """From how many lines a node of a kind is a summary."""
        return {"day": self.day_lines, "week": self.week_lines, "month": self.month_lines}[kind]
