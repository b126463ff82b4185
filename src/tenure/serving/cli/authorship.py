"""Which change wrote which words of a lesson."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tenure.playbook.delta import Add, Merge, Update

if TYPE_CHECKING:
    from tenure.learning.history import Blame

_WORDS = re.compile(r"\s*\S+\s*")


def text_by_version(text: str, changes: Sequence[Blame]) -> list[tuple[str, int | None]]:
    """A text in pieces, each with the version that wrote it; joined, they are the text again.

    A word belongs to the first change since which it has stood there unchanged. Words that no
    change explains, such as those of a merged lesson's text, have none.

    Args:
        text: as it is now.
        changes: those that touched the lesson, oldest first.
    """
    words: list[str] = []
    owners: list[int | None] = []
    for change in changes:
        for operation in change.operations:
            written = operation.text if isinstance(operation, Add | Update | Merge) else None
            if written is not None:
                words, owners = _rewritten(words, owners, _WORDS.findall(written) or [written], change.entry.version)
    final = _WORDS.findall(text) or [text]
    _, owners = _rewritten(words, owners, final, None)
    pieces: list[tuple[str, int | None]] = []
    for word, owner in zip(final, owners, strict=True):
        if pieces and pieces[-1][1] == owner:
            pieces[-1] = (pieces[-1][0] + word, owner)
        else:
            pieces.append((word, owner))
    return pieces


def _rewritten(old: list[str], owners: list[int | None], new: list[str], version: int | None) -> tuple[list[str], list[int | None]]:
    matcher = difflib.SequenceMatcher(a=[word.strip() for word in old], b=[word.strip() for word in new], autojunk=False)
    kept: list[int | None] = [version] * len(new)
    for block in matcher.get_matching_blocks():
        kept[block.b : block.b + block.size] = owners[block.a : block.a + block.size]
    return new, kept
