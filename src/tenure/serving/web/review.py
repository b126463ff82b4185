"""The review queue: what waits, what it would change and rests on; approved, edited or rejected, alone or as a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from tenure.errors import UserError
from tenure.learning.review import Decided, Ruling, conflicts_in, decide, find_held, held_changes, refusal_of
from tenure.learning.taking_back import find_batch, undo_review
from tenure.playbook.delta import OPERATION_NAMES
from tenure.ports import HeldChange, Reading
from tenure.serving.cli.output import counted
from tenure.serving.cli.review import CLOSED, Filter
from tenure.serving.cli.review_screens import Line, effects, quoted, said, stranger_step, would_change
from tenure.serving.service.problems import Problem
from tenure.serving.web.overview import mark_of
from tenure.serving.web.pages import go_on, page
from tenure.serving.web.visitors import Changing, Seen, Visitor

A_PAGE = 20
"""Changes on one page, each with its diff and evidence."""

NEWEST = 50
"""Decisions that are listed."""

STATES = {"approve": "approved", "reject": "rejected"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A place that a change rests on.

    Attributes:
        run, step, role: where, and what it shows; a step below 0 is the run as a whole.
        text: what stands there.
        foreign: whether it is a stranger's words.
        kept: whether the run is kept.
    """

    run: str
    step: int
    role: str
    text: str
    foreign: bool
    kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A change that waits, as a page shows it.

    Attributes:
        change: it.
        number: in the whole list, from 1.
        operation: its name.
        said: it, in one line.
        lines: what it would change in the playbook as it is now.
        differs: the text before and after, where it rewrites one.
        quotes: what it rests on.
        refused: why admission would refuse it today; empty if it would not.
        editable: whether it has a text.
        applies_when: under which conditions it would hold.
    """

    change: HeldChange
    number: int
    operation: str
    said: str
    lines: Sequence[Line]
    differs: tuple[str, str] | None
    quotes: Sequence[Quote]
    refused: str
    editable: bool
    applies_when: str


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/review")
    def queue(
        request: Request,
        visitor: Seen,
        q: Annotated[str, Query(max_length=400)] = "",
        by: Annotated[str, Query(max_length=20)] = "",
        first: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    ) -> Response:
        asked = _filter(by, q)
        with visitor.book.store.reading(visitor.scope) as reading:
            held = held_changes(reading)
            chosen = [(place, one) for place, one in enumerate(held, 1) if asked.takes(one, reading)]
            screens = [screen_of(reading, change, place) for place, change in chosen[first - 1 : first - 1 + A_PAGE]]
            conflicts = conflicts_in(reading) if first == 1 and not asked.given else ()
            texts = {one: lesson.text for one, lesson in reading.named([one for each in conflicts for one in each.ids]).items()}
            mark = mark_of(reading, visitor)
            try:
                batch = find_batch(reading)
            except UserError:
                batch = None
        return page(
            request,
            visitor,
            "review.html",
            title="Review",
            live=mark,
            screens=screens,
            in_all=len(held),
            chosen=len(chosen),
            first=first,
            following=first + A_PAGE if first - 1 + A_PAGE < len(chosen) else 0,
            conflicts=conflicts,
            texts=texts,
            q=q,
            by=by,
            filters=FILTERS,
            batch=batch,
        )

    @router.get("/review/decided")
    def decided(request: Request, visitor: Seen, state: Annotated[str, Query(max_length=20)] = "") -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            found = [change for one in CLOSED if one == (state or one) for change in reading.held(state=one)]
            found.sort(key=lambda change: (change.batch, change.at, change.id), reverse=True)
            some = found[:NEWEST]
            versions = {one: reading.version_of(one) for one in {change.batch for change in some} - {""}}
            mark = mark_of(reading, visitor)
        return page(
            request,
            visitor,
            "decided.html",
            title="Decided",
            live=mark,
            changes=[(one, said(one.operation), versions.get(one.batch)) for one in some],
            in_all=len(found),
            state=state if state in CLOSED else "",
            states=CLOSED,
        )

    @router.get("/review/{id:path}")
    def one(request: Request, visitor: Seen, id: str) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            held = held_changes(reading)
            change = find_held(reading, id, waiting=held)
            place = [other.id for other in held].index(change.id)
            screen = screen_of(reading, change, place + 1)
        return page(
            request,
            visitor,
            "change.html",
            title=f"Change {screen.number} of {len(held)}",
            screen_of=screen,
            before=held[place - 1].id if place else "",
            after=held[place + 1].id if place + 1 < len(held) else "",
        )

    @router.post("/review/decide")
    def batch(
        request: Request,
        visitor: Changing,
        verb: Annotated[str, Form(max_length=20)] = "",
        ids: Annotated[list[str], Form()] = [],  # noqa: B006  # FastAPI copies it
        note: Annotated[str, Form(max_length=1_000)] = "",
        anyway: Annotated[str, Form(max_length=3)] = "",
    ) -> Response:
        state = STATES.get(verb)
        back = visitor.to("/review")
        if state is None:
            return go_on(
                request, visitor, back, "Nothing was decided. Press the button that says what you want: approve or reject.", careful=True
            )
        if not ids:
            return go_on(request, visitor, back, "No change was chosen. Tick those that you decide.", careful=True)
        return _decided(request, visitor, ids, state, note=note.strip(), anyway=anyway == "yes")

    @router.post("/review/undo")
    def undo(request: Request, visitor: Changing, batch: Annotated[str, Form(max_length=40)] = "") -> Response:
        visitor.check("review", "review.undo", batch)
        book = visitor.book
        with visitor.noting("review.undo", batch), book.store.writing(visitor.scope) as work:
            done = undo_review(work, batch, ids=book.ids, at=book.clock.now(), author=visitor.author)
        again = f"{counted(len(done.reopened), 'change')} {'waits' if len(done.reopened) == 1 else 'wait'} again"
        left = " ".join(f"{sentence}." for sentence in done.left)
        sentence = f"Took back version {done.at_version}, as version {done.version}: {again}. {left}".strip()
        return go_on(request, visitor, visitor.to("/review"), sentence, careful=bool(left))

    @router.post("/review/{id:path}/edit")
    def edit(
        request: Request,
        visitor: Changing,
        id: str,
        text: Annotated[str, Form(max_length=20_000)] = "",
        applies_when: Annotated[str, Form(max_length=4_000)] = "",
        note: Annotated[str, Form(max_length=1_000)] = "",
    ) -> Response:
        said_now, when = (one.replace("\r\n", "\n").strip() for one in (text, applies_when))
        if not said_now:
            raise Problem(422, "value", "The text is empty. To leave the lesson out, reject the change.")
        return _decided(request, visitor, [id], "edited", note=note.strip(), text=said_now, applies_when=when)


FILTERS = {"origin": "words from", "reason": "reason", "author": "proposed by", "section": "section", "run": "run"}
"""What the queue can be narrowed by, and what it is called."""


def screen_of(reading: Reading, change: HeldChange, number: int) -> Screen:
    """A change that waits, as a page shows it."""
    lines = would_change(reading, change)
    gone, new = ([one for one in lines if one.mark == mark and not one.field] for mark in "-+")
    editable = getattr(change.operation, "text", None) is not None
    return Screen(
        change=change,
        number=number,
        operation=OPERATION_NAMES[type(change.operation)],
        said=said(change.operation),
        lines=lines,
        differs=(gone[0].text, new[0].text) if len(gone) == len(new) == 1 else None,
        quotes=_quotes(reading, change),
        refused=refusal_of(change),
        editable=editable,
        applies_when=_conditions(reading, change),
    )


def _conditions(reading: Reading, change: HeldChange) -> str:
    """The conditions that a change gives its lesson, or leaves it."""
    given = getattr(change.operation, "applies_when", None)
    lesson = reading.lesson(getattr(change.operation, "id", None) or "") if given is None else None
    return given or (lesson.applies_when if lesson is not None else "")


def _quotes(reading: Reading, change: HeldChange) -> list[Quote]:
    places = [(one.run, one.step, one.role) for one in getattr(change.operation, "evidence", ())]
    source = reading.run(change.run) if change.run else None
    stranger = stranger_step(reading, source, change)
    if stranger >= 0 and all((run, step) != (change.run, stranger) for run, step, _ in places):
        places.append((change.run, stranger, "a stranger's words"))
    runs = {run: reading.run(run) for run, _, _ in places}
    return [
        Quote(
            run=run,
            step=step,
            role=role,
            text=quoted(runs[run], step),
            foreign=run == change.run and step == stranger >= 0,
            kept=runs[run] is not None,
        )
        for run, step, role in places
    ]


def _filter(by: str, wanted: str) -> Filter:
    if not wanted.strip():
        return Filter()
    named = by if by in FILTERS else "reason"
    return Filter(**{named: wanted.strip()})


def _decided(
    request: Request,
    visitor: Visitor,
    ids: Sequence[str],
    state: str,
    *,
    note: str,
    text: str | None = None,
    applies_when: str | None = None,
    anyway: bool = False,
) -> Response:
    """Carry out what the visitor decided, as one delta."""
    visitor.check("review", "review.decide")
    book = visitor.book
    with visitor.noting("review.decide", ", ".join(ids)) as noted, book.store.writing(visitor.scope) as work:
        waiting = {one.id: one for one in held_changes(work)}
        gone = [one for one in ids if one not in waiting]
        rulings = [
            Ruling(change=waiting[one], state=state, text=text, applies_when=applies_when, note=note)
            for one in dict.fromkeys(ids)
            if one in waiting
        ]
        done = decide(work, rulings, ids=book.ids, at=book.clock.now(), author=visitor.author, anyway=anyway) if rulings else Decided()
        noted.outcome = "done" if rulings else "failed: change"
    sentence, careful = _told(rulings, done, gone)
    return go_on(request, visitor, visitor.to("/review"), sentence, careful=careful)


def _told(rulings: Sequence[Ruling], done: Decided, gone: Sequence[str]) -> tuple[str, bool]:
    """What came of a batch, in sentences; and whether there is something to look at."""
    left = [receipt.reason for receipt in done.receipts if receipt.status == "skipped"]
    carried = len(done.receipts) - len(left)
    parts: list[str] = []
    if carried and rulings:
        what = effects([one.change.operation for one in rulings]) if rulings[0].state != "rejected" and not left else ""
        parts.append(f"{counted(carried, 'change')} {rulings[0].state}, as version {done.version}{f': {what}' if what else ''}.")
    if left:
        parts.append(f"{counted(len(left), 'change')} could not be carried out: {'; '.join(dict.fromkeys(left))}.")
    if gone:
        parts.append(f"{counted(len(gone), 'change')} {'waits' if len(gone) == 1 else 'wait'} no more: decided meanwhile.")
    parts += [f"{warning}." for warning in done.warnings]
    return " ".join(parts) or "Nothing was changed.", bool(left or gone or done.warnings)
