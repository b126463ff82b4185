"""Deltas: changes by hand, the ledger, what differs between versions, and going back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query, Response
from pydantic import ConfigDict, Field

from tenure.errors import UnknownVersion
from tenure.governance.redaction import redact_value
from tenure.learning.history import compare, find_version
from tenure.playbook.delta import OPERATION_NAMES, Operation
from tenure.playbook.operations_json import operation_from_json
from tenure.ports import Admitted
from tenure.serving.service.api import Body, router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.paging import After, Limit, page, read_cursor
from tenure.serving.service.problems import Problem, answered
from tenure.serving.service.routes.playbooks import etag_of
from tenure.serving.wire import difference_json, entry_json, receipt_json

ROUTER = router("deltas")

MOST_OPERATIONS = 1_000

IfMatch = Annotated[
    str,
    Header(
        max_length=200, description="ETag of the playbook that this was meant for; 412 if it changed meanwhile. `*` or nothing takes any."
    ),
]

_ADMITTED = {"version": 8, "receipts": [{"op": "ADD", "status": "applied", "reason": "", "id": "tr-7k2m9q"}], "warnings": []}
_ENTRY = {
    "version": 8,
    "id": "01K5",
    "author": "person:ada",
    "cause": "hand",
    "at": "2026-03-15T10:00:00+00:00",
    "operations": [{"op": "ADD"}],
}


class DeltaBody(Body):
    """Operations, carried out together."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"operations": [{"op": "ADD", "section": "invoices", "text": "Write amounts with a point."}], "note": "as told"}]
        }
    )

    operations: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_OPERATIONS)]
    note: str = Field(default="", max_length=2_000, description="For people who read the ledger.")


class RollbackBody(Body):
    """Where to go back to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": "-1"}]})

    version: Annotated[str | int, Field(description="Arrival number of a delta, its id, or `-N` for N before the newest.")]


@ROUTER.post("/deltas", summary="Change the playbook", responses=told("A receipt per operation.", _ADMITTED))
def apply_delta(
    to: Annotated[Doing, Depends(May("review", "deltas.apply", once=True))], body: DeltaBody, if_match: IfMatch = ""
) -> Response:
    """Carry out operations as one delta, which a rollback takes back. What cannot be done is skipped, and its receipt says why."""
    operations = _operations(body.operations)
    expects = _expected(if_match)

    def work() -> dict[str, Any]:
        admitted = to.book.apply(operations, author=to.caller.author, note=body.note, expects=expects)
        return _admitted(admitted, operations)

    return to.reply(work, subject=f"{len(operations)} operations")


@ROUTER.get("/deltas", summary="The ledger", responses=told("Deltas, newest first.", {"items": [_ENTRY], "next": None}))
def list_deltas(to: Annotated[Doing, Depends(May("read", "deltas.list"))], limit: Limit = 50, after: After = "") -> Response:
    """Every delta of the scope with its author, its cause and its operations, newest first."""
    of = ("deltas", to.scope)
    before = read_cursor(after, *of, counts=True)
    with to.book.store.reading(to.scope) as look:
        until = min(int(before) - 1, look.version()) if before else look.version()
        entries = look.ledger(until=until, newest_first=True, limit=limit + 1) if until > 0 else []
    return answered(
        page(
            entries,
            *of,
            after="",
            limit=limit,
            name=lambda one: str(one.version),
            told=lambda one: redact_value(entry_json(one)),
            more=len(entries) > limit,
        )
    )


@ROUTER.get("/deltas/{version}", summary="One delta", responses=told("The delta.", _ENTRY))
def show_delta(
    to: Annotated[Doing, Depends(May("read", "deltas.show"))],
    version: Annotated[str, Path(max_length=60, description="Arrival number, id, or `-N` for N before the newest.")],
) -> Response:
    """A delta as it stands in the ledger."""
    with to.book.store.reading(to.scope) as look:
        number = find_version(look, version)
        found = look.ledger(after=number - 1, until=number) if number > 0 else []
        if not found:
            raise UnknownVersion(version, scope=to.scope, newest=look.version())
    return answered(redact_value(entry_json(found[0])))


@ROUTER.get(
    "/diff",
    summary="What differs between two versions",
    responses=told(
        "Lessons that differ.", {"before": 3, "after": 8, "lessons": [{"id": "tr-7k2m9q", "change": "added", "before": None, "after": {}}]}
    ),
)
def show_difference(
    to: Annotated[Doing, Depends(May("read", "deltas.diff"))],
    before: Annotated[str, Query(min_length=1, max_length=60, description="Version, delta id, or `-N`.")],
    after: Annotated[str, Query(max_length=60, description="Likewise; empty for now.")] = "",
) -> Response:
    """How lessons differ between two versions, by id."""
    with to.book.store.reading(to.scope) as look:
        first, last = find_version(look, before), find_version(look, after) if after else look.version()
        found = compare(look.playbook(first), look.playbook(last))
    return answered({"before": first, "after": last, "lessons": [redact_value(difference_json(one)) for one in found]})


@ROUTER.post("/rollback", summary="Go back to a version", responses=told("A receipt per operation of the delta that goes back.", _ADMITTED))
def roll_back(
    to: Annotated[Doing, Depends(May("review", "deltas.rollback", once=True))], body: RollbackBody, if_match: IfMatch = ""
) -> Response:
    """Bring the playbook back to an earlier version, by a delta that stands in the ledger like any other and can be taken back."""
    expects = _expected(if_match)

    def work() -> dict[str, Any]:
        admitted = to.book.rollback(str(body.version), author=to.caller.author, expects=expects)
        with to.book.store.reading(to.scope) as look:
            made = look.ledger(after=admitted.version - 1, until=admitted.version) if admitted.version else []
        return _admitted(admitted, made[0].delta.operations if made else ())

    return to.reply(work, subject=f"version {body.version}")


@ROUTER.get(
    "/ledger/verify",
    summary="Prove the ledger",
    responses=told(
        "Whether the chain is whole.", {"ok": True, "deltas": 8, "writers": {"01K5": {"links": 8, "head": "9f2c51"}}, "broken": []}
    ),
)
def verify_ledger(to: Annotated[Doing, Depends(May("read", "ledger.verify"))]) -> Response:
    """Whether the hash chain of the scope is whole, with the first break of each writer. Cost follows the ledger."""
    found = to.book.check_ledger()
    writers = {writer: {"links": links, "head": head} for writer, (links, head) in found.writers.items()}
    return answered({"ok": found.ok, "deltas": found.entries, "writers": writers, "broken": [asdict(one) for one in found.broken]})


def _operations(given: Sequence[Mapping[str, Any]]) -> list[Operation]:
    read: list[Operation] = []
    for place, one in enumerate(given):
        operation = operation_from_json(one)
        if isinstance(operation, str):
            raise Problem(422, "operation", f"operations[{place}]: {operation}.")
        read.append(operation)
    return read


def _expected(if_match: str) -> int | None:
    if if_match.strip() in ("", "*"):
        return None
    found = re.fullmatch(r'"(\d{1,18})"', if_match.strip())
    if found is None:
        raise Problem(422, "etag", f"If-Match is no ETag of a playbook. Write it as GET /v1/playbook gave it, such as {etag_of(7)}.")
    return int(found[1])


def _admitted(admitted: Admitted, operations: Sequence[Operation]) -> dict[str, Any]:
    pairs = zip(admitted.receipts, operations, strict=False)
    receipts = [receipt_json(receipt, OPERATION_NAMES[type(op)]) for receipt, op in pairs]
    return {"version": admitted.version, "receipts": receipts, "warnings": list(admitted.warnings)}
