"""The overview: how a scope stands, how its runs ended, what it cost; and what tells open pages that something changed."""

from __future__ import annotations

import hashlib

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from tenure.ports import Reading
from tenure.serving.cli.history import in_words
from tenure.serving.cli.spend import spending_of
from tenure.serving.web import figures
from tenure.serving.web.pages import page
from tenure.serving.web.visitors import Seen, Visitor

NEWEST = 8
"""Changes and runs that are named."""


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/")
    def overview(request: Request, visitor: Seen) -> Response:
        book = visitor.book
        now = book.clock.now()
        days = figures.days_of(now)
        with book.store.reading(visitor.scope) as reading:
            counts, version = reading.counts(), reading.version()
            entries = list(reading.ledger(newest_first=True, limit=NEWEST))
            runs = list(reading.outlines(limit=figures.RUNS_READ))
            unlearned, postponed = len(reading.unlearned(limit=10_000)), len(reading.postponed(limit=10_000))
            mark = mark_of(reading, visitor)
        spending = spending_of(book)
        spent = {day: book.store.spent(visitor.scope, day) for day in days}
        charts = (
            figures.learning_curve(runs),
            figures.outcomes_by_day(runs, now.date()),
            figures.cost_by_day(spent),
            figures.cache_by_day(spent),
        )
        return page(
            request,
            visitor,
            "overview.html",
            title="Overview",
            live=mark,
            counts=counts,
            newest=version,
            entries=[(one, in_words(one)) for one in entries],
            runs=runs[:NEWEST],
            unlearned=unlearned,
            postponed=postponed,
            spending=spending,
            cache=figures.cache_share(spending.ever),
            charts=charts,
            read=min(len(runs), figures.RUNS_READ),
        )

    @router.get("/live")
    def live(visitor: Seen) -> Response:
        with visitor.book.store.reading(visitor.scope) as reading:
            return JSONResponse({"mark": mark_of(reading, visitor)})


def mark_of(reading: Reading, visitor: Visitor) -> str:
    """What differs once anything of a scope that pages show has changed."""
    spent = visitor.book.store.spent(visitor.scope)
    parts = (reading.version(), sorted(reading.counts().items()), spent.calls, spent.input_tokens)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
