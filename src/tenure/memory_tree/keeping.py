"""What a store keeps of a memory: raw entries, nodes and the small files of the first layer. A part of the Store port."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.nodes import Node
from tenure.memory_tree.periods import Kind, Period
from tenure.memory_tree.topics import Topic


class MemoryReading(Protocol):
    """A look at the memory of one scope."""

    def entries(self, *, day: str = "", limit: int | None = None) -> Sequence[Entry]:
        """Raw entries of a day, or of all days, in order; with a limit only the newest."""
        ...

    def sessions_on(self, day: str, names: Collection[str]) -> Mapping[int, tuple[Entry, ...]]:
        """The sessions of some names on a day by their place in it, from 1, each in order. Entries without a session are of ''."""
        ...

    def memory_topics(self) -> Sequence[Topic]:
        """Topics of all months as they were last built, those of a name several times."""
        ...

    def memory_days(self) -> Sequence[str]:
        """Days that have entries, in order."""
        ...

    def node(self, period: Period) -> Node | None:
        """A node as it was last built."""
        ...

    def nodes(self, kind: Kind) -> Sequence[Node]:
        """All nodes of a kind, in order."""
        ...

    def stale_periods(self) -> Sequence[Period]:
        """What entries arrived in since it was last built: days, then weeks, then months, each in order."""
        ...

    def memory_file(self, layer: str, name: str = "") -> str:
        """A text of a layer, such as the scratchpad or a plan; empty if there is none."""
        ...

    def memory_files(self, layer: str) -> Sequence[str]:
        """Names of a layer's texts, sorted."""
        ...

    def memory_texts(self) -> Mapping[tuple[str, str], str]:
        """The texts of all layers by layer and name, sorted; those that Tenure notes for itself too."""
        ...

    def check_memory(self) -> Sequence[str]:
        """What of the memory does not fit together in the store itself, a sentence each; empty if all does.

        Looked at are the text index, which has a row for each entry and no other, and the days of nodes, which have entries.
        Cost follows the number of entries.
        """
        ...


class MemoryWriting(MemoryReading, Protocol):
    """Changes to the memory of one scope, in its transaction."""

    def keep_entries(self, entries: Sequence[Entry]) -> int:
        """Keep entries and mark what has to be built anew; how many were new. One whose id or event is known is left out."""
        ...

    def drop_entries(self, ids: Collection[str]) -> int:
        """Take entries out for good, with their words in the index, and mark what has to be built anew; how many there were.

        No byte of them is left once the store was scrubbed. Nodes stay as they are until they are built or dropped.
        """
        ...

    def mark_stale(self, periods: Sequence[Period]) -> None:
        """Have nodes built anew when the memory is compacted next."""
        ...

    def refile(self, days: Mapping[str, str]) -> None:
        """File entries, named by their ids, in other days. What has to be built anew is for the caller to know."""
        ...

    def keep_node(self, node: Node) -> None:
        """Keep a node in place of the one before; it is no longer stale."""
        ...

    def drop_node(self, period: Period) -> None:
        """Remove a node, and what is said of its being stale."""
        ...

    def put_memory_file(self, layer: str, name: str, text: str) -> None:
        """Write a text of a layer; an empty one removes it."""
        ...
