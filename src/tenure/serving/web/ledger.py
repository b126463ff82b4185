"""The ledger: every change, the playbook as it was after any of them, how two versions differ, and going back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from tenure.learning.history import Difference, compare, compare_tables, find_version
from tenure.playbook.lessons import Lesson
from tenure.serving.cli.history import in_words, tally, told, undone
from tenure.serving.service.problems import Problem
from tenure.serving.web.overview import mark_of
from tenure.serving.web.pages import go_on, page
from tenure.serving.web.visitors import Changing, Seen

A_PAGE = 50
"""Changes on one page."""

MOST_SHOWN = 200
"""Operations of one change, differences, and lessons of an earlier playbook that are shown."""

FIELDS = (("text", "Text"), ("applies_when", "Applies when"), ("status", "Status"), ("pinned", "Pinned"), ("merged", "Merged from"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a lesson differs, as a page shows it.

    Attributes:
        difference: it.
        lesson: as it is after, else as it was.
        fields: name, value before and value after of what changed.
    """

    difference: Difference
    lesson: Lesson | None
    fields: Sequence[tuple[str, str, str]]


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/ledger")
    def ledger(request: Request, visitor: Seen, before: Annotated[int | None, Query(ge=1, le=2**53)] = None) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            until = before - 1 if before is not None else None
            entries = list(reading.ledger(newest_first=True, limit=A_PAGE, until=until)) if until != 0 else []
            newest = reading.version()
            mark = mark_of(reading, visitor)
        return page(
            request,
            visitor,
            "ledger.html",
            title="Ledger",
            live=mark,
            entries=[(one, in_words(one)) for one in entries],
            newest=newest,
            before=before,
            following=entries[-1].version if entries and entries[-1].version > 1 else None,
        )

    @router.get("/ledger/{version}")
    def change(request: Request, visitor: Seen, version: int) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            newest = reading.version()
            found = find_version(reading, str(version))
            if not found:
                raise Problem(404, "unknown", f"Version 0 is the empty playbook; changes have the numbers 1 to {newest}.")
            entry = reading.ledger(after=found - 1, until=found)[0]
            shown = _shown(compare(reading.playbook(found - 1), reading.playbook(found)))
        return page(
            request,
            visitor,
            "version.html",
            title=f"Version {found}",
            entry=entry,
            operations=[told(one) for one in entry.delta.operations[:MOST_SHOWN]],
            operations_in_all=len(entry.delta.operations),
            differences=shown[:MOST_SHOWN],
            differences_in_all=len(shown),
            newest=newest,
        )

    @router.get("/ledger/{version}/playbook")
    def then(request: Request, visitor: Seen, version: int) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            found, newest = find_version(reading, str(version)), reading.version()
            lessons = sorted(reading.playbook(found).lessons, key=lambda one: (one.section, one.id))
            entry = reading.ledger(after=found - 1, until=found)[0] if found else None
        return page(
            request,
            visitor,
            "then.html",
            title=f"Playbook at version {found}",
            version=found,
            newest=newest,
            entry=entry,
            lessons=lessons[:MOST_SHOWN],
            in_all=len(lessons),
        )

    @router.get("/compare")
    def compared(
        request: Request,
        visitor: Seen,
        older: Annotated[str, Query(max_length=60)] = "-1",
        newer: Annotated[str, Query(max_length=60)] = "",
    ) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            newest = reading.version()
            first = find_version(reading, older) if newest else 0
            last = find_version(reading, newer) if newer.strip() else newest
            books = (reading.playbook(first), reading.playbook(last))
        found, numbers = compare(*books), compare_tables(*books)
        shown = _shown(found)
        return page(
            request,
            visitor,
            "compare.html",
            title=f"From version {first} to {last}",
            first=first,
            last=last,
            newest=newest,
            differences=shown[:MOST_SHOWN],
            differences_in_all=len(shown),
            tables=numbers,
            tally=tally(found, numbers),
        )

    @router.get("/rollback/{version}")
    def foreseen(request: Request, visitor: Seen, version: int) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            goal, newest = find_version(reading, str(version)), reading.version()
            found, numbers = undone(reading, goal, visitor.book.ids.next(reading.newest_delta_id()))
        shown = _shown(found)
        return page(
            request,
            visitor,
            "rollback.html",
            title=f"Go back to version {goal}",
            goal=goal,
            newest=newest,
            differences=shown[:MOST_SHOWN],
            differences_in_all=len(shown),
            tables=numbers,
            tally=tally(found, numbers),
            nothing=not found and not numbers,
        )

    @router.post("/rollback/{version}")
    def rollback(request: Request, visitor: Changing, version: int, newest: Annotated[int, Form()] = -1) -> Response:
        visitor.check("review", "deltas.rollback", str(version))
        with visitor.book.store.reading(visitor.scope) as reading:
            now = reading.version()
        if now != newest:
            raise Problem(
                409, "changed", f"The playbook is at version {now}; you were shown what would change from version {newest}. Look again."
            )
        with visitor.noting("deltas.rollback", str(version)):
            admitted = visitor.book.rollback(version, author=visitor.author, expects=newest)
        sentence = f"Went back to version {version}. This is version {admitted.version}; go back to {newest} to undo it."
        return go_on(request, visitor, visitor.to("/ledger"), sentence)


def _shown(found: Sequence[Difference]) -> list[Shown]:
    made: list[Shown] = []
    for one in found:
        if one.change == "counted":
            continue
        before, after = one.before, one.after
        fields: list[tuple[str, str, str]] = []
        if before is not None and after is not None and one.change == "changed":
            pairs = ((title, _said(getattr(before, name)), _said(getattr(after, name))) for name, title in FIELDS)
            fields = [(title, old, new) for title, old, new in pairs if old != new]
        made.append(Shown(difference=one, lesson=after if after is not None else before, fields=fields))
    return made


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
