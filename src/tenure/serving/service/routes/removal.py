"""Taking things out: for good, or out of use."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Response
from pydantic import ConfigDict, Field

from tenure.learning.forgetting import Forgetting
from tenure.learning.revoking import Revocation
from tenure.serving.service.api import Body, router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.problems import answered

ROUTER = router("removal")

_FORGOTTEN = {
    "scope": "acme/finance",
    "dry_run": True,
    "counts": {"runs": 1},
    "runs": ["week-2"],
    "version": None,
    "scrubbed": None,
    "copies": [],
}
_REVOKED = {"origin": "k3rj2v7a4q/api", "dry_run": True, "runs": ["week-2"], "lessons": [], "weakened": [], "version": None}

Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=1_000)]], Field(max_length=200)]


class ForgetBody(Body):
    """What to forget. Without `dry_run: false` it is only said what would go."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"runs": ["week-2"], "dry_run": True}]})

    runs: Names = Field(default_factory=list)
    subjects: Names = Field(default_factory=list, description="Names, addresses, numbers.")
    origins: Names = Field(default_factory=list)
    everything: bool = Field(default=False, description="All that the scope holds.")
    dry_run: bool = True


class OriginBody(Body):
    """An origin, with every document below it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"origin": "k3rj2v7a4q/api", "reason": "the key leaked"}]})

    origin: Annotated[str, Field(min_length=1, max_length=1_000)]
    reason: str = Field(default="", max_length=2_000)
    dry_run: bool = Field(default=False, description="Only say what would be out of use.")


class LiftBody(Body):
    """A revoked origin that is to count again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"origin": "k3rj2v7a4q/api"}]})

    origin: Annotated[str, Field(min_length=1, max_length=1_000)]


@ROUTER.post("/forget", summary="Forget for good", responses=told("What would go, or went.", _FORGOTTEN))
def forget(to: Annotated[Doing, Depends(May("administer", "forget", once=True))], body: ForgetBody) -> Response:
    """Take out for good what runs, subjects, origins or all of the scope left, from texts and from the bytes of the files.

    It cannot be undone, so it is tried first: `dry_run` is true unless you say otherwise. A tombstone in the ledger says who did
    it and how much, but not what. `copies` names where texts of it may stand that nothing here reaches, such as logs and stored
    responses of model providers, write-ahead logs and backups.
    """

    def work() -> dict[str, Any]:
        done = to.book.forget(
            runs=body.runs,
            subjects=body.subjects,
            origins=body.origins,
            scope=body.everything,
            dry_run=body.dry_run,
            author=to.caller.author,
        )
        return _forgotten(to.scope, done, body.dry_run)

    return to.reply(work, subject="" if body.dry_run else "for good")


@ROUTER.get(
    "/origins",
    summary="Origins",
    responses=told("Whose runs there are.", {"items": [{"origin": "k3rj2v7a4q/api", "runs": 3, "revoked": False}]}),
)
def list_origins(to: Annotated[Doing, Depends(May("read", "origins.list"))]) -> Response:
    """Where the kept runs came from, how many of each, and which are revoked."""
    with to.book.store.reading(to.scope) as look:
        origins = look.origins()
    revoked = to.book.revoked_origins
    return answered({"items": [{"origin": name, "runs": runs, "revoked": name in revoked} for name, runs in origins.items()]})


@ROUTER.post("/origins/revoke", summary="Revoke an origin", responses=told("What is out of use, or would be.", _REVOKED))
def revoke(to: Annotated[Doing, Depends(May("review", "origins.revoke", once=True))], body: OriginBody) -> Response:
    """Take out of use, at once, what rests on an origin alone. It can be brought back."""

    def work() -> dict[str, Any]:
        done = to.book.revoke_origin(body.origin, reason=body.reason, dry_run=body.dry_run, author=to.caller.author)
        return {**_revoked(done), "dry_run": body.dry_run}

    return to.reply(work, subject=body.origin)


@ROUTER.post("/origins/lift", summary="Let an origin count again", responses=told("What is back.", _REVOKED))
def lift(to: Annotated[Doing, Depends(May("review", "origins.lift", once=True))], body: LiftBody) -> Response:
    """Let a revoked origin count again."""
    return to.reply(
        lambda: {**_revoked(to.book.lift_revocation(body.origin, author=to.caller.author)), "dry_run": False}, subject=body.origin
    )


def _forgotten(scope: str, done: Forgetting, dry_run: bool) -> dict[str, Any]:
    return {
        "scope": scope,
        "dry_run": dry_run,
        "kind": done.kind,
        "counts": dict(done.counts),
        "runs": list(done.runs),
        "lessons": [lesson.id for lesson in done.lessons],
        "weakened": [lesson.id for lesson in done.weakened],
        "held": list(done.held),
        "entries": list(done.entries),
        "settings": list(done.settings),
        "version": done.version,
        "scrubbed": {"done": done.scrubbed.done, "elsewhere": len(done.scrubbed.elsewhere)} if done.scrubbed is not None else None,
        "copies": [*done.copies, *(done.scrubbed.beyond if done.scrubbed is not None else ())],
    }


def _revoked(done: Revocation) -> dict[str, Any]:
    return {
        "origin": done.origin,
        "names": list(done.names),
        "runs": list(done.runs),
        "lessons": [lesson.id for lesson in done.lessons],
        "weakened": [lesson.id for lesson in done.weakened],
        "observations": done.observations,
        "held": list(done.held),
        "entries": list(done.entries),
        "version": done.version,
    }
