"""Whether the service is well, for those who run it. No key is needed, and nothing of anybody is told."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Response

from tenure.errors import TenureError
from tenure.serving.service.api import PROBLEMS, told
from tenure.serving.service.doing import Engined
from tenure.serving.service.problems import Problem, answered
from tenure.version import VERSION

ROUTER = APIRouter(tags=["operation"], responses=PROBLEMS)

_log = logging.getLogger("tenure.service")


@ROUTER.get("/healthz", summary="Whether the process answers", responses=told("It does.", {"status": "ok", "version": VERSION}))
def healthy() -> Response:
    """Whether the process answers; the database is not asked."""
    return answered({"status": "ok", "version": VERSION})


@ROUTER.get("/readyz", summary="Whether requests can be served", responses=told("They can.", {"status": "ready", "version": VERSION}))
def ready(engine: Engined) -> Response:
    """Whether the database can be reached and has the form that this version knows."""
    try:
        with engine.store.tenancy("local") as look:
            look.audited(limit=1)
    except TenureError as exc:
        _log.error("not ready: %s", type(exc).__name__)
        raise Problem(503, "store", "The database cannot be used now. The server's log says why.", headers={"Retry-After": "5"}) from None
    return answered({"status": "ready", "version": VERSION})
