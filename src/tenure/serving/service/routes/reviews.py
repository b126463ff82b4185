"""The review queue: what waits for a person, and what the person decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Response
from pydantic import ConfigDict, Field

from tenure.governance.redaction import redact_value
from tenure.learning.review import Decided, Ruling, conflicts_in, decide, held_changes
from tenure.serving.service.api import Body, router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.paging import After, Limit, page, read_cursor
from tenure.serving.service.problems import Problem, answered
from tenure.serving.wire import held_json

ROUTER = router("review")

_HELD = {"number": 1, "id": "01K5", "operation": {"op": "ADD"}, "reason": "by an agent", "author": "agent:api", "state": "open"}
_DECIDED = {"batch": "01K5", "version": 9, "receipts": [{"change": "01K5", "status": "applied", "reason": ""}], "warnings": []}

State = Literal["approved", "edited", "rejected"]


class RulingBody(Body):
    """What is decided of one held change."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"state": "approved"}]})

    state: State
    text: str | None = Field(default=None, max_length=20_000, description="For `edited`: what it is to say.")
    applies_when: str | None = Field(default=None, max_length=20_000, description="For `edited`: under which condition.")
    note: str = Field(default="", max_length=2_000, description="Why, for those who read the ledger.")
    anyway: bool = Field(default=False, description="Approve also what admission would refuse today.")


class NamedRuling(RulingBody):
    """What is decided of one of several held changes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"change": "01K5ZQ0A1B2C3D4E5F6G7H8J9K", "state": "rejected"}]})

    change: Annotated[str, Field(min_length=1, max_length=300, description="Its id.")]


class BatchBody(Body):
    """What is decided of several held changes at once: one delta, which one step takes back."""

    decisions: Annotated[list[NamedRuling], Field(min_length=1, max_length=500)]


class UndoBody(Body):
    """The batch to take back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"batch": ""}]})

    batch: str = Field(default="", max_length=60, description="Its id or version; empty for the newest that stands.")


@ROUTER.get(
    "/review",
    summary="What waits for a person",
    responses=told("Held changes, oldest first, and lessons that contradict.", {"items": [_HELD], "next": None, "conflicts": []}),
)
def list_held(to: Annotated[Doing, Depends(May("review", "review.list"))], limit: Limit = 50, after: After = "") -> Response:
    """Changes that wait for a decision. Nobody has vouched for their words."""
    of = ("review", to.scope)
    before = read_cursor(after, *of)
    with to.book.store.reading(to.scope) as look:
        held = held_changes(look)
        conflicts = conflicts_in(look) if not before else ()
    numbered = list(enumerate(held, 1))
    listed = page(
        numbered, *of, after=before, limit=limit, name=lambda one: one[1].id, told=lambda one: redact_value(held_json(one[1], one[0]))
    )
    return answered({**listed, "conflicts": [{"ids": list(one.ids), "reason": one.reason} for one in conflicts]})


@ROUTER.post("/review", summary="Decide a batch", responses=told("A receipt per decision.", _DECIDED))
def decide_batch(to: Annotated[Doing, Depends(May("review", "review.decide", once=True))], body: BatchBody) -> Response:
    """Approve, edit or reject held changes, as one delta. None is decided if one of the ids is that of no held change."""
    names = ", ".join(one.change for one in body.decisions)
    return to.reply(lambda: _decide(to, body.decisions), subject=names)


@ROUTER.post(
    "/review/undo",
    summary="Take a batch back",
    responses=told("What waits again.", {"batch": "01K5", "version": 10, "reopened": ["01K5"], "left": []}),
)
def undo_batch(to: Annotated[Doing, Depends(May("review", "review.undo", once=True))], body: UndoBody) -> Response:
    """Take back all that was decided in a batch; its changes wait again, and what others changed since stays."""

    def work() -> dict[str, Any]:
        undone = to.book.undo_review(body.batch, author=to.caller.author)
        return {"batch": undone.batch, "version": undone.version, "reopened": list(undone.reopened), "left": list(undone.left)}

    return to.reply(work, subject=body.batch)


@ROUTER.post("/review/changes/{change:name}", summary="Decide one", responses=told("Its receipt.", _DECIDED))
def decide_one(
    to: Annotated[Doing, Depends(May("review", "review.decide", once=True))],
    change: Annotated[str, Path(min_length=1, max_length=300, description="Id of a held change.")],
    body: RulingBody,
) -> Response:
    """Approve, edit or reject a held change."""
    return to.reply(lambda: _decide(to, [NamedRuling(change=change, **body.model_dump())]), subject=change)


def _decide(to: Doing, decisions: Sequence[NamedRuling]) -> dict[str, Any]:
    with to.book.store.writing(to.scope) as work:
        waiting = {change.id: change for change in held_changes(work)}
        rulings: dict[str, Ruling] = {}
        for one in decisions:
            held = waiting.get(one.change)
            if held is None:
                raise Problem(
                    404, "change", f"No change '{one.change[:80]}' waits in scope '{to.scope}'. Nothing was decided. See: GET /v1/review"
                )
            if one.change in rulings:
                raise Problem(422, "change", f"Change '{one.change[:80]}' is decided twice in this batch. Nothing was decided.")
            if one.state != "edited" and (one.text is not None or one.applies_when is not None):
                raise Problem(422, "change", "Other words belong to a decision of state 'edited'. Nothing was decided.")
            rulings[one.change] = Ruling(change=held, state=one.state, text=one.text, applies_when=one.applies_when, note=one.note)
        done: Decided = decide(
            work,
            list(rulings.values()),
            ids=to.engine.ids,
            at=to.engine.clock.now(),
            author=to.caller.author,
            anyway=all(one.anyway for one in decisions if one.state == "approved"),
        )
    receipts = [
        {"change": change, "status": receipt.status, "reason": receipt.reason}
        for change, receipt in zip(rulings, done.receipts, strict=True)
    ]
    return {"batch": done.batch, "version": done.version, "receipts": receipts, "warnings": list(done.warnings)}
