"""The chains of one installation as a tree: where a copy of its database went on by itself, a chain has branches.

Every branch has a name that follows from the tree alone, so two installations that hold the same links call them the same,
in whatever order they came. The trunk keeps the installation's id and ends where it forks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tenure.governance.ledger import BRANCH


class Place(NamedTuple):
    """Where a link stands: its number, the digest of the link before it, and its own."""

    seq: int
    previous: str
    digest: str


def branch_names(writer: str, links: Iterable[Place]) -> dict[str, str]:
    """The name of the branch that each link stands in, by its digest.

    Args:
        writer: the installation that the chain began with.
        links: all of its links; each after the one that it follows, which is among them.
    """
    following: defaultdict[str, list[str]] = defaultdict(list)
    order = sorted(links)
    for link in order:
        following[link.previous].append(link.digest)
    names = {"": writer}
    for link in order:
        alone = len(following[link.previous]) == 1
        names[link.digest] = names[link.previous] if alone else f"{writer}{BRANCH}{link.digest[:16]}"
    del names[""]
    return names


def in_order(links: Iterable[tuple[str, Place, str]]) -> list[str]:
    """Digests of links in the order of their deltas' ids, each after the one that it follows.

    Args:
        links: writer, place and id of the delta of each.
    """
    greatest: dict[str, str] = {}
    keyed: list[tuple[str, int, str, str]] = []
    for writer, place, delta in sorted(links, key=lambda one: one[1]):
        greatest[place.digest] = max(delta, greatest.get(place.previous, ""))
        keyed.append((greatest[place.digest], place.seq, writer, place.digest))
    return [digest for *_, digest in sorted(keyed)]
