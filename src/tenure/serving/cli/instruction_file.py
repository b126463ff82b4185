"""`tenure export --to FILE`: a block of lessons in a file that agents read by themselves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.errors import UserError
from tenure.serving.cli.files import replace_file
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import OK, Request

if TYPE_CHECKING:
    from tenure.playbook.managed_block import Placed

SAID = {
    "created": "Wrote {lessons} to {file}, which is new.",
    "added": "Put a block of {lessons} into {file}. All else in it is as it was.",
    "replaced": "Wrote the block in {file} anew: {lessons}. All else in it is as it was.",
    "unchanged": "{file} has them already: {lessons}. Nothing was written.",
    "removed": "Took the block out of {file}. All else in it is as it was.",
    "absent": "{file} has no block of this scope, and there is {none}. Nothing was written.",
}


def export_block(request: Request, target: Path, *, tokens: int, remove: bool, force: bool) -> int:
    """Bring the block of the scope in a file up to date, or take it out.

    Args:
        request: what was asked.
        target: the file; made if it is not there and there is a lesson to write.
        tokens: cap on the block.
        remove: take the block out.
        force: also replace a block that was edited by hand.
    """
    from tenure.governance.redaction import redact
    from tenure.playbook.managed_block import BlockError, EditedBlock, place_block, without_block

    raw = _read(target)
    text = raw.decode("utf-8", "surrogateescape") if raw is not None else None
    with request.reading() as book:
        scope = book.scope
        with book.store.reading(scope) as reading:
            lessons = reading.lessons()
    try:
        if remove:
            placed = without_block(text or "", scope=scope, overwrite=force)
        else:
            placed = place_block(text, lessons, scope=scope, tokens=tokens, overwrite=force, clean=lambda said: redact(said).text)
    except EditedBlock as exc:
        raise UserError(
            f"{target}, {exc}. What was written there would be lost. Move it out of the block, or replace it all the same: --force"
        ) from exc
    except BlockError as exc:
        raise UserError(f"{target}, {exc}. Nothing was written.") from exc
    if placed.change not in ("unchanged", "absent"):
        replace_file(target, placed.text, errors="surrogateescape")
    _tell(request, target, placed, scope, remove=remove)
    return OK


def _read(target: Path) -> bytes | None:
    """A file's bytes; none if there is no such file."""
    if os.path.isdir(target):
        raise UserError(f"'{target}' is a folder. Name a file in it, such as {target / 'AGENTS.md'}")
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise UserError(f"File '{target}' cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc


def _tell(request: Request, target: Path, placed: Placed, scope: str, *, remove: bool) -> None:
    if request.as_json:
        request.terminal.document(
            {"file": str(target), "change": placed.change, "lessons": placed.lessons, "left_out": placed.left_out, "scope": scope}
        )
        return
    none = "nothing to take out" if remove else "no lesson to write yet"
    request.terminal.say(SAID[placed.change].format(lessons=counted(placed.lessons, "lesson"), file=target, none=none))
    if placed.left_out:
        request.terminal.say(f"{counted(placed.left_out, 'lesson')} did not fit; the most useful went in. More room: --budget TOKENS")
