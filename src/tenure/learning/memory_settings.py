"""What of a scope's settings shapes its memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from tenure.errors import UserError
from tenure.memory_tree.caps import Caps
from tenure.memory_tree.type_rules import TypeRule, read_type_rules
from tenure.ports import Reading
from tenure.settings import SETTINGS

TREE_VERSION = "2"
"""Of how nodes are built. It goes up when the same entries give other nodes: trees are then built anew when they are next compacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """The settings `memory.*` of a scope.

    Attributes:
        zone: in which days begin.
        caps: how long nodes and root may be.
        rules: that give notes a type.
        summaries: `fixed`, `always` or `extractive`: when a model is asked.
        attempts: how often a model may fail on a summary before it is given up.
    """

    zone: ZoneInfo
    caps: Caps
    rules: tuple[TypeRule, ...]
    summaries: str
    attempts: int

    @property
    def zone_name(self) -> str:
        """As it was set."""
        return self.zone.key

    @property
    def shown_zone(self) -> tzinfo:
        """The zone in which times are shown."""
        return UTC if self.zone.key == "UTC" else self.zone

    @property
    def fingerprint(self) -> str:
        """Equal for settings by which the same entries give the same nodes. The root is built when it is read."""
        caps = self.caps
        parts = (caps.day_lines, caps.week_lines, caps.month_lines, caps.node_tokens, caps.copy_tokens)
        return " ".join((TREE_VERSION, self.zone.key, self.summaries, *map(str, parts)))


def memory_settings(look: Reading) -> MemorySettings:
    """The settings of a scope's memory.

    Raises:
        UserError: the zone is not known on this machine.
    """

    def text(name: str) -> str:
        own = look.setting(name)
        return SETTINGS[name].default if own is None else own

    return MemorySettings(
        zone=zone_of(text("memory.zone")),
        caps=Caps(
            day_lines=int(text("memory.day_lines")),
            week_lines=int(text("memory.week_lines")),
            month_lines=int(text("memory.month_lines")),
            node_tokens=int(text("memory.node_tokens")),
            copy_tokens=int(text("memory.copy_tokens")),
            root_tokens=int(text("memory.root_tokens")),
        ),
        rules=read_type_rules(text("memory.types")),
        summaries=text("memory.summaries"),
        attempts=int(text("learn.attempts")),
    )


def zone_of(name: str) -> ZoneInfo:
    """A zone by its name.

    Raises:
        UserError: this machine knows none of that name.
    """
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError) as exc:
        raise UserError(f"'{name}' is no zone that this machine knows. Zones have names such as Europe/Berlin or UTC.") from exc
