"""A block of lessons inside a person's instruction file, such as AGENTS.md or CLAUDE.md.

Between two comments stands what Tenure wrote; every other byte of the file is left alone. The first
comment names the scope and a digest of the block, so that a block edited by hand is known and never
overwritten unasked. Order and membership follow from the lessons alone: what has not changed writes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tenure.playbook.lessons import Lesson, short_ids
from tenure.playbook.render import INTRODUCTION, brief_of, choose_core, defused, lesson_block

BEGIN = "<!-- tenure:begin"
"""How the first line of a block begins; scope and digest follow."""

END = "<!-- tenure:end -->"
"""The last line of a block."""

_BEGIN = re.compile(r"[ \t]*<!-- tenure:begin scope=(\S+) digest=([0-9a-f]{16}) gap=([0-2]) .*-->[ \t]*")
_ANY_BEGIN = re.compile(r"[ \t]*<!-- tenure:begin\b.*")
_END = re.compile(r"[ \t]*<!-- tenure:end -->[ \t]*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_COMMENT = re.compile(r"<(?=!--)|(?<=--)>")

Change = Literal["created", "added", "replaced", "unchanged", "removed", "absent"]


class BlockError(ValueError):
    """The marks of a block in a file are broken, or what stands between them was edited by hand."""


class EditedBlock(BlockError):
    """What stands between the marks is not what Tenure wrote there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A file's text with its block.

    Attributes:
        text: the whole text.
        change: what became of the block.
        lessons: how many stand in it.
        left_out: lessons that did not fit.
    """

    text: str
    change: Change
    lessons: int = 0
    left_out: int = 0


def place_block(
    text: str | None, lessons: Sequence[Lesson], *, scope: str, tokens: int, overwrite: bool = False, clean: Callable[[str], str] = str
) -> Placed:
    """A file's text with the block of a scope as the lessons now have it.

    Args:
        text: of the file, with its line breaks as they are; none if there is no file.
        lessons: live ones, in any order.
        scope: whose block it is; those of other scopes are left alone.
        tokens: cap on the block, estimated.
        overwrite: replace a block that was edited by hand, too.
        clean: what takes secrets out of a lesson.

    Raises:
        EditedBlock: the block was edited by hand.
        BlockError: a mark stands without its other one, or the scope has two blocks.
    """
    chosen, left_out = _chosen(lessons, tokens)
    old = text or ""
    found = _find(old, scope)
    common = _line_break(old)
    if found is None:
        if not chosen:
            return Placed(text=old, change="absent")
        gap = _gap(old, common)
        block = _block(chosen, scope, gap, clean).replace("\n", common)
        return Placed(
            text=f"{old}{common * gap}{block}", change="added" if text is not None else "created", lessons=len(chosen), left_out=left_out
        )
    block = _block(chosen, scope, found.gap, clean).replace("\n", common)
    if old[found.start : found.end].rstrip("\r\n") == block.rstrip("\r\n"):
        return Placed(text=old, change="unchanged", lessons=len(chosen), left_out=left_out)
    _check_untouched(found, overwrite)
    closed = old[found.start : found.end].endswith(("\n", "\r"))
    new = block if closed else block.removesuffix(common)
    return Placed(text=f"{old[: found.start]}{new}{old[found.end :]}", change="replaced", lessons=len(chosen), left_out=left_out)


def without_block(text: str, *, scope: str, overwrite: bool = False) -> Placed:
    """A file's text without the block of a scope, and without the line breaks that were put before it.

    Raises:
        BlockError: as for `place_block`.
    """
    found = _find(text, scope)
    if found is None:
        return Placed(text=text, change="absent")
    _check_untouched(found, overwrite)
    head, rest = text[: found.start], text[found.end :]
    common = _line_break(text)
    for _ in range(found.gap):
        head = head.removesuffix(common)
    return Placed(text=head + rest, change="removed")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A block in a text.

    Attributes:
        start, end: where it stands, in characters.
        digest: of the inner lines as they were written.
        gap: line breaks that were put before it.
        inner: its inner lines.
        line: the line it begins on, from 1.
    """

    start: int
    end: int
    digest: str
    gap: int
    inner: str
    line: int


def _find(text: str, scope: str) -> _Found | None:
    blocks: list[_Found] = []
    opened: tuple[int, int, re.Match[str] | None] | None = None
    place, inner = 0, list[str]()
    for number, line in enumerate(_LINE.findall(text), 1):
        bare = line.rstrip("\r\n").removeprefix("\ufeff")
        if _ANY_BEGIN.fullmatch(bare):
            if opened is not None:
                raise BlockError(
                    f"line {number}: a block begins inside the one of line {opened[1]}. Mend the marks `{BEGIN} ...` and `{END}`"
                )
            opened, inner = (place, number, _BEGIN.fullmatch(bare)), []
        elif _END.fullmatch(bare):
            if opened is None:
                raise BlockError(f"line {number}: `{END}` stands without a beginning. Take it out, or put the first mark back")
            start, first, begun = opened
            if begun is None:
                raise BlockError(f"line {first}: the mark of the block was changed. Take the whole block out; it is written again")
            if begun[1] == scope:
                blocks.append(
                    _Found(start=start, end=place + len(line), digest=begun[2], gap=int(begun[3]), inner="".join(inner), line=first)
                )
            opened = None
        elif opened is not None:
            inner.append(line)
        place += len(line)
    if opened is not None:
        raise BlockError(f"line {opened[1]}: the block that begins here has no end. Put `{END}` where it ends")
    if len(blocks) > 1:
        raise BlockError(f"lines {blocks[0].line} and {blocks[1].line}: there are two blocks of scope '{scope}'. Take one of them out")
    return blocks[0] if blocks else None


def _check_untouched(found: _Found, overwrite: bool) -> None:
    if not overwrite and _digest(found.inner) != found.digest:
        raise EditedBlock(f"line {found.line}: the block was edited by hand")


def _chosen(lessons: Sequence[Lesson], tokens: int) -> tuple[list[Lesson], int]:
    live = [lesson for lesson in lessons if lesson.live]
    # Without a moment nothing fades: two exports of the same lessons are the same bytes, whenever they are made.
    kept = set(choose_core([brief_of(lesson) for lesson in live], tokens))
    chosen = sorted((lesson for lesson in live if lesson.id in kept), key=lambda one: (one.section, one.created, one.id))
    return chosen, len(live) - len(chosen)


def _block(lessons: Sequence[Lesson], scope: str, gap: int, clean: Callable[[str], str]) -> str:
    ids = short_ids([lesson.id for lesson in lessons])
    lines = [INTRODUCTION] if lessons else []
    section = None
    for lesson in lessons:
        if lesson.section != section:
            lines += ["", f"### {_plain(clean(defused(lesson.section)))}", ""]
            section = lesson.section
        lines.append(_plain(clean(lesson_block(lesson, ids[lesson.id]))))
    inner = "".join(f"{line}\n" for line in lines)
    mark = f"{BEGIN} scope={scope} digest={_digest(inner)} gap={gap} (by tenure export; edits between the marks are noticed) -->"
    return f"{mark}\n{inner}{END}\n"


def _gap(text: str, line_break: str) -> int:
    """Line breaks to put between a text and a block, so that an empty line stands there."""
    if not text or text.endswith(line_break * 2):
        return 0
    return 1 if text.endswith(line_break) else 2


def _plain(text: str) -> str:
    """A text that neither opens nor closes a comment."""
    return _COMMENT.sub(lambda found: "&lt;" if found[0] == "<" else "&gt;", text)


def _digest(inner: str) -> str:
    """Of the lines between the marks, however they are broken."""
    plain = inner.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _line_break(text: str) -> str:
    """The line break that most lines of a text have."""
    counts = dict.fromkeys(("\n", "\r\n", "\r"), 0)
    for line in _LINE.findall(text):
        for mark in ("\r\n", "\n", "\r"):
            if line.endswith(mark):
                counts[mark] += 1
                break
    return max(counts, key=lambda mark: counts[mark])
