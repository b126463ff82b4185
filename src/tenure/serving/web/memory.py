"""The long-term memory: its root, the tree of months, weeks and days, sessions of the raw log, texts, and recall."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tenure.errors import UserError
from tenure.memory_tree.periods import read_period
from tenure.memory_tree.topics import topic_line
from tenure.serving.cli.memory import TEXTS
from tenure.serving.service.problems import Problem
from tenure.serving.web.overview import mark_of
from tenure.serving.web.pages import page
from tenure.serving.web.visitors import Seen

MOST_TOPICS = 200


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/memory")
    def tree(request: Request, visitor: Seen, q: Annotated[str, Query(max_length=2_000)] = "") -> Response:
        memory = visitor.book.memory
        with visitor.book.store.reading(visitor.scope) as reading:
            counts, stale = reading.counts(), len(reading.stale_periods())
            months = [one.period.key for one in reading.nodes("month")][::-1]
            weeks = [one.period.key for one in reading.nodes("week")][::-1]
            days = list(reading.memory_days())[::-1]
            texts = [(layer, name) for layer in TEXTS for name in reading.memory_files(layer)]
            mark = mark_of(reading, visitor)
        topics, today = memory.topics(), memory.today()
        return page(
            request,
            visitor,
            "memory.html",
            title="Memory",
            live=mark,
            root=memory.root(),
            counts=counts,
            stale=stale,
            months=months[:36],
            weeks=weeks[:26],
            days=days[:60],
            days_in_all=len(days),
            texts=texts,
            topics=[topic_line(one, today).removeprefix("- ") for one in topics[:MOST_TOPICS]],
            topics_in_all=len(topics),
            q=q,
            found=memory.recall(q) if q.strip() else None,
        )

    @router.get("/memory/{where:path}")
    def place(request: Request, visitor: Seen, where: str) -> Response:
        memory = visitor.book.memory
        layer, _, name = where.partition("/")
        if layer in TEXTS:
            text = memory.read(layer, name=name)
            if not text:
                raise _nothing(where)
            return page(request, visitor, "node.html", title=where[:120], text=text, node=None, entries=(), sessions=0, within=())
        if "~" in where:  # a `#` would end the address
            return page(
                request,
                visitor,
                "node.html",
                title=where.replace("~", "#"),
                text="",
                node=None,
                entries=memory.session(where.replace("~", "#")),
                sessions=0,
                within=(),
            )
        node = memory.node(where)
        if node is None:
            raise _nothing(where)
        period = read_period(where)
        with visitor.book.store.reading(visitor.scope) as reading:
            sessions = len({one.session for one in reading.entries(day=period.key)}) if period.kind == "day" else 0
            held = set(reading.memory_days())
        within = [day for day in period.days if day in held] if period.kind != "day" else []
        return page(request, visitor, "node.html", title=where, text=node.text, node=node, entries=(), sessions=sessions, within=within)


def _nothing(where: str) -> UserError | Problem:
    return Problem(404, "unknown", f"Nothing is kept in '{where[:80]}', or it was not compacted yet. See what is: the page Memory.")
