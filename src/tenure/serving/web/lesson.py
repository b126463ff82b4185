"""One lesson: what it says and said, what it rests on, what runs and replay say of it; and changing it, by a delta."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from tenure.learning.history import Blame, blame, find_lesson
from tenure.learning.holdouts import trial_of
from tenure.learning.observing import observations
from tenure.playbook.delta import Add, Merge, Operation, Pin, Restore, Retire, Tally, Update
from tenure.playbook.evidence import track_record
from tenure.playbook.lessons import Lesson
from tenure.playbook.revision import read_revision
from tenure.playbook.shelf_life import ageing
from tenure.serving.cli.authorship import text_by_version
from tenure.serving.cli.grades import grades_told
from tenure.serving.cli.history import told, why
from tenure.serving.cli.holdouts import trial_told
from tenure.serving.cli.review_screens import quoted
from tenure.serving.cli.tables import recorded, revision_told, tallied
from tenure.serving.service.problems import Problem
from tenure.serving.web.overview import mark_of
from tenure.serving.web.pages import go_on, page
from tenure.serving.web.playbook import Row, row_of
from tenure.serving.web.visitors import Changing, Seen, Visitor
from tenure.settings import read_settings

MOST_SHOWN = 30
"""Runs and grades that are listed, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A delta that touched a lesson.

    Attributes:
        blame: it, with its operations.
        told: what each did, but for writing the text.
        why: its cause and note.
        texts: the texts before and after, where it changed them.
        counts_only: whether it counted, and changed nothing else.
    """

    blame: Blame
    told: Sequence[str]
    why: str
    texts: tuple[str, str] | None
    counts_only: bool


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/lessons/{id:path}")
    def lesson(request: Request, visitor: Seen, id: str) -> Response:
        now = visitor.book.clock.now()
        with visitor.book.store.reading(visitor.scope) as reading:
            found = find_lesson(reading, id)
            seen = observations(reading, found)
            grades = reading.grades([found.id])
            trial = trial_of(reading, found)
            changes = blame(reading, found.id)
            runs = {one.run: reading.run(one.run) for one in found.evidence}
            row: Row = row_of(reading, found, visitor.scope, now)
            age = ageing(found, read_settings(reading.setting).shelf_lives, now)
            mark = mark_of(reading, visitor)
        revision = read_revision(found.revision)
        return page(
            request,
            visitor,
            "lesson.html",
            title=f"Lesson {found.id}",
            live=mark,
            lesson=found,
            row=row,
            counts=tallied(found.tallies) or "none yet",
            record=recorded(track_record(seen, at=now)) if seen else "",
            seen=seen[:MOST_SHOWN],
            seen_in_all=len(seen),
            grades=list(reversed(grades))[:MOST_SHOWN],
            graded=grades_told(row.belief, grades),
            trial=trial_told(trial) if trial is not None else "",
            shelf=age.said,
            revision=revision_told(revision) if revision is not None else "",
            evidence=[(one, quoted(runs[one.run], one.step), runs[one.run] is not None) for one in found.evidence],
            words=[(text, version) for text, version in text_by_version(found.text, changes)],
            changes=list(reversed(_changes(changes))),
            digest=_digest(found),
        )

    @router.post("/lessons/{id:path}/pin")
    def pin(request: Request, visitor: Changing, id: str, pinned: Annotated[str, Form(max_length=3)] = "yes") -> Response:
        return _changed(
            request, visitor, id, lambda one: [Pin(one.id, pinned == "yes")], "Pinned." if pinned == "yes" else "The pin is gone."
        )

    @router.post("/lessons/{id:path}/retire")
    def retire(request: Request, visitor: Changing, id: str, reason: Annotated[str, Form(max_length=1_000)] = "") -> Response:
        return _changed(request, visitor, id, lambda one: [Retire(one.id, reason.strip())], "Retired. It can be restored.")

    @router.post("/lessons/{id:path}/restore")
    def restore(request: Request, visitor: Changing, id: str) -> Response:
        return _changed(request, visitor, id, lambda one: [Restore(one.id)], "Back in use.")

    @router.post("/lessons/{id:path}/edit")
    def edit(
        request: Request,
        visitor: Changing,
        id: str,
        text: Annotated[str, Form(max_length=20_000)] = "",
        applies_when: Annotated[str, Form(max_length=4_000)] = "",
        digest: Annotated[str, Form(max_length=64)] = "",
    ) -> Response:
        said, when = (one.replace("\r\n", "\n").strip() for one in (text, applies_when))
        if not said:
            raise Problem(422, "value", "The text is empty. To take the lesson out of use, retire it.")

        def edited(one: Lesson) -> Sequence[Operation]:
            if digest != _digest(one):
                raise Problem(
                    409, "changed", "Somebody changed this lesson since you opened its page. Open it again, and write your text anew."
                )
            return [Update(one.id, text=said, applies_when=when)] if (said, when) != (one.text, one.applies_when) else []

        return _changed(request, visitor, id, edited, "Changed. You are its author now.")


def _changed(request: Request, visitor: Visitor, id: str, operations: Callable[[Lesson], Sequence[Operation]], sentence: str) -> Response:
    """Change a lesson by a delta of the visitor's."""
    visitor.check("review", "deltas.apply", id)
    with visitor.book.store.reading(visitor.scope) as reading:
        found = find_lesson(reading, id)
    wanted = operations(found)
    back = visitor.to(f"/lessons/{found.id}")
    if not wanted:
        return go_on(request, visitor, back, "Nothing was changed.")
    with visitor.noting("deltas.apply", found.id) as noted:
        admitted = visitor.book.apply(wanted, author=visitor.author)
        left = [receipt.reason for receipt in admitted.receipts if receipt.status == "skipped"]
        noted.outcome = "; ".join(left) or "done"
    if left:
        return go_on(request, visitor, back, f"Nothing was changed: {'; '.join(left)}.", careful=True)
    warned = " ".join(admitted.warnings)
    return go_on(request, visitor, back, f"{sentence} This is version {admitted.version}. {warned}".strip(), careful=bool(warned))


def _changes(found: Sequence[Blame]) -> list[Change]:
    """The deltas that touched a lesson, with how each changed its text; oldest first."""
    made: list[Change] = []
    text = ""
    for one in found:
        texts = [op.text for op in one.operations if isinstance(op, Add | Update | Merge) and op.text is not None]
        after = texts[-1] if texts else text
        made.append(
            Change(
                blame=one,
                told=[told(op) for op in map(_without_text, one.operations) if op is not None],
                why=why(one.entry.delta),
                texts=(text, after) if after != text else None,
                counts_only=all(isinstance(op, Tally) for op in one.operations),
            )
        )
        text = after
    return made


def _without_text(op: Operation) -> Operation | None:
    """An operation without the text it writes, which its diff shows; none if nothing is left of it."""
    if isinstance(op, Add):
        return None
    rest = replace(op, text=None) if isinstance(op, Update) else op
    return None if rest == Update(getattr(op, "id", "")) else rest


def _digest(lesson: Lesson) -> str:
    """Stands for what a lesson says, so that nobody writes over what they did not see."""
    return hashlib.sha256(repr((lesson.text, lesson.applies_when)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
