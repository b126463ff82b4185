"""Which change wrote which words of a lesson."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenure.playbook.delta import Add, Merge, Update

if TYPE_CHECKING:
    from tenure.learning.history import Blame

MOST_WORDS = 4_000
"""Longer texts are attributed whole: comparing them word by word would take seconds."""

_WORD = re.compile(r"\s*\S+\s*")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text as one change left it: its words, and the version that wrote each."""

    words: tuple[str, ...]
    versions: tuple[int | None, ...]


def text_by_version(text: str, changes: Sequence[Blame]) -> list[tuple[str, int | None]]:
    """A text in pieces, each with the version that wrote it; joined, they are the text again.

    A word belongs to the first change since which it has stood there. Each text is compared with
    the earlier one it is most like, because the changes of lessons that were merged are among them.

    Args:
        text: as it is now.
        changes: those that touched the lesson, oldest first.

    Returns:
        Pieces in order; one that no change explains has no version.
    """
    drafts: list[_Draft] = []
    for change in changes:
        for operation in change.operations:
            if isinstance(operation, Add | Update | Merge) and operation.text is not None:
                words = _words(operation.text)
                if all(_bare(words) != _bare(draft.words) for draft in drafts):
                    drafts.append(_after(drafts, words, change.entry.version))
    final = _after(drafts, _words(text), None)
    pieces: list[tuple[str, int | None]] = []
    for word, version in zip(final.words, final.versions, strict=True):
        if pieces and pieces[-1][1] == version:
            pieces[-1] = (pieces[-1][0] + word, version)
        else:
            pieces.append((word, version))
    return pieces


def _after(drafts: Sequence[_Draft], words: tuple[str, ...], version: int | None) -> _Draft:
    """A text whose words keep the versions they have in the draft it is most like."""
    versions: list[int | None] = [version] * len(words)
    matchers = [difflib.SequenceMatcher(a=_bare(draft.words), b=_bare(words), autojunk=False) for draft in drafts]
    if matchers:
        best = max(range(len(drafts)), key=lambda place: (matchers[place].ratio(), place))
        for block in matchers[best].get_matching_blocks():
            versions[block.b : block.b + block.size] = drafts[best].versions[block.a : block.a + block.size]
    return _Draft(words, tuple(versions))


def _words(text: str) -> tuple[str, ...]:
    words = tuple(_WORD.findall(text))
    return words if words and len(words) <= MOST_WORDS else (text,)


def _bare(words: Sequence[str]) -> list[str]:
    return [word.strip() for word in words]
