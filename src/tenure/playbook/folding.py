"""In which order the deltas of a ledger count, so that installations that hold the same ones read the same.

A scope that was never shared is the fold of its deltas as they came. Once ledgers were put together, their order of arrival
differs from place to place; the order of their ids does not, and in it each comes after all that its author had seen. Of
deltas that share an id or a key, the first in this order counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenure.playbook.apply import fold_in, put_in
from tenure.playbook.delta import Delta
from tenure.playbook.state import Playbook


class Folded(NamedTuple):
    """A playbook, and the places of the deltas that left a trace in it, in the order in which they were given."""

    playbook: Playbook
    effective: list[bool]


def folding_key(version: int, delta: str, digest: str, merged: int) -> tuple[bool, str, str, int]:
    """What deltas are sorted by before they are folded.

    Args:
        version: arrival number.
        delta: its id.
        digest: of its link; decides between two of one id.
        merged: up to this arrival number the order of ids holds.
    """
    return (False, delta, digest, 0) if version <= merged else (True, "", "", version)


def fold(deltas: Iterable[Delta]) -> Folded:
    """The playbook that deltas make in this order."""
    book, effective = Playbook(), list[bool]()
    for delta in deltas:
        change = fold_in(book, delta)
        effective.append(change.effective)
        if change.effective:
            book = put_in(book, delta, change)
    return Folded(book, effective)
