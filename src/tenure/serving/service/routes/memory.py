"""The long-term memory: entries written down, found again, and the tree above them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Response
from pydantic import ConfigDict, Field

from tenure.errors import UserError
from tenure.governance.redaction import redact_value
from tenure.learning.resting import names_origin
from tenure.serving.service.api import Body, router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.problems import Problem, answered

ROUTER = router("memory")

_ENTRY = {"kept": True, "id": "01K5", "day": "2026-03-15"}
_FOUND = {
    "topics": [],
    "nodes": ["2026-03-15"],
    "found": [{"where": "2026-03-15#1", "age": "today", "text": "..."}],
    "note": "",
    "today": "2026-03-15",
}


class EntryBody(Body):
    """Something to be written down."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "We ship on Fridays.", "topic": "releases", "type": "project"}]})

    text: Annotated[str, Field(min_length=1, max_length=200_000)]
    type: Literal["", "user", "feedback", "project", "reference", "log"] = ""
    topic: Annotated[str, Field(max_length=300)] = ""
    session: Annotated[str, Field(max_length=300)] = ""
    role: Annotated[str, Field(max_length=300)] = ""
    at: Annotated[str, Field(max_length=60, description="ISO 8601 with offset; empty for now.")] = ""
    done: bool = Field(default=False, description="Of a project: that its topic is finished.")
    event: Annotated[str, Field(max_length=300, description="Id of the event; told again, it is not kept again.")] = ""


class QuestionBody(Body):
    """What to look for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "when do we ship", "budget": 2000}]})

    query: Annotated[str, Field(min_length=1, max_length=50_000)]
    budget: Annotated[int, Field(ge=1, le=1_000_000, description="Tokens of what is found.")] = 3_000


@ROUTER.post("/memory/entries", status_code=201, summary="Write an entry", responses=told("It is on disk.", _ENTRY, status=201))
def write_entry(to: Annotated[Doing, Depends(May("report", "memory.write", once=True))], body: EntryBody) -> Response:
    """Write something down. It can be recalled from now on; `kept` is false for an event that was told before."""
    at = None
    if body.at:
        try:
            at = datetime.fromisoformat(body.at)
        except ValueError:
            raise Problem(422, "value", f"at is '{body.at[:60]}'; it is a moment such as 2026-03-15T10:00:00+00:00.") from None
        if at.tzinfo is None:
            raise Problem(422, "value", f"at is '{body.at[:60]}', which has no offset. Write it as 2026-03-15T10:00:00+00:00.")

    def work() -> dict[str, Any]:
        name = to.origin.name
        revoked = next((one for one in sorted(to.book.revoked_origins) if names_origin(name, one)), "")
        if revoked:
            raise UserError(f"Nothing was written down: origin '{revoked}' is revoked in scope '{to.scope}'.")
        kept = to.book.memory.log(
            body.text,
            type=body.type,
            topic=body.topic,
            session=body.session,
            role=body.role,
            at=at,
            done=body.done,
            event=body.event,
            origin=name,
        )
        return {"kept": kept is not None, "id": kept.id if kept is not None else None, "day": kept.day if kept is not None else None}

    return to.reply(work, status=201)


@ROUTER.post("/memory/recall", summary="Find something again", responses=told("What was found, with ages.", _FOUND))
def recall(to: Annotated[Doing, Depends(May("read", "memory.recall"))], body: QuestionBody) -> Response:
    """What the memory holds for a question: topics, days, and pieces of the raw log within a budget of tokens."""
    found = to.book.memory.recall(body.query, budget=body.budget)
    return answered(redact_value(asdict(found)))


@ROUTER.get("/memory/root", summary="The root of the tree", responses=told("The text that is always loaded.", {"text": "..."}))
def show_root(to: Annotated[Doing, Depends(May("read", "memory.root"))]) -> Response:
    """The short index of topics, brought up to date."""
    if to.caller.key.allows("report"):  # who only reads sees the tree as it was last built
        to.book.memory.compact(ask=False)
    return answered({"text": to.book.memory.root()})


@ROUTER.get(
    "/memory/topics", summary="Topics", responses=told("Topics, newest first.", {"items": [{"name": "releases", "type": "project"}]})
)
def list_topics(to: Annotated[Doing, Depends(May("read", "memory.topics"))]) -> Response:
    """What the entries are about."""
    return answered({"items": [redact_value(asdict(one)) for one in to.book.memory.topics()]})


@ROUTER.get(
    "/memory/nodes/{name}", summary="A day, week or month", responses=told("The node.", {"name": "2026-03-15", "node": {"text": "..."}})
)
def show_node(
    to: Annotated[Doing, Depends(May("read", "memory.node"))],
    name: Annotated[str, Path(max_length=60, description="Such as `2026-03-15`, `2026-W11` or `2026-03`.", examples=["2026-03"])],
) -> Response:
    """A day, week or month of the memory as it was last built."""
    node = to.book.memory.node(name)
    if node is None:
        raise Problem(404, "node", f"Nothing is kept in '{name[:60]}' of scope '{to.scope}', or its tree was not built since.")
    return answered({"name": name, "node": redact_value(asdict(node))})
