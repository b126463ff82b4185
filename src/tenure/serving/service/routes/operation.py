"""Whether the service is well, for those who run it. No key is needed, and nothing of anybody is told."""

from __future__ import annotations

import hmac
import logging
import os

from fastapi import APIRouter, Request, Response

from tenure.errors import TenureError
from tenure.logs import event
from tenure.serving.service.api import PROBLEMS, told
from tenure.serving.service.doing import Engined
from tenure.serving.service.gate import LOOPBACK
from tenure.serving.service.problems import Problem, answered
from tenure.serving.service.readiness import check_ready
from tenure.telemetry import exposition
from tenure.version import VERSION

ROUTER = APIRouter(tags=["operation"], responses=PROBLEMS)

_log = logging.getLogger("tenure.service")

METRICS_TOKEN = "TENURE_METRICS_TOKEN"
"""The variable with the token that whoever scrapes metrics shows. Without it only this machine may."""


@ROUTER.get("/healthz", summary="Whether the process answers", responses=told("It does.", {"status": "ok", "version": VERSION}))
def healthy() -> Response:
    """Whether the process answers; the database is not asked."""
    return answered({"status": "ok", "version": VERSION})


@ROUTER.get("/readyz", summary="Whether requests can be served", responses=told("They can.", {"status": "ready", "version": VERSION}))
def ready(engine: Engined) -> Response:
    """Whether the database can be reached and has the form that this version knows."""
    try:
        check_ready(engine.store)
    except TenureError as exc:
        event(_log, "store.failed", logging.ERROR, said=f"not ready: {exc}", failure=exc)
        raise Problem(503, "store", "The database cannot be used now. The server's log says why.", headers={"Retry-After": "5"}) from None
    return answered({"status": "ready", "version": VERSION})


@ROUTER.get("/metrics", include_in_schema=False)  # the operator's, and no part of the API
def metrics(request: Request) -> Response:
    """Metrics of this process as Prometheus reads them, where the server was started with `--metrics`. They name no tenant.

    Only this machine may ask, or whoever shows the token of the variable TENURE_METRICS_TOKEN as `Authorization: Bearer TOKEN`.
    """
    token = os.environ.get(METRICS_TOKEN, "")
    shown = request.headers.get("authorization", "").removeprefix("Bearer ")
    here = request.client is not None and request.client.host in LOOPBACK and "x-forwarded-for" not in request.headers
    if not (hmac.compare_digest(token.encode(), shown.encode("latin-1", "replace")) if token else here):
        who = (
            f"Send the token of the server's {METRICS_TOKEN}: 'Authorization: Bearer TOKEN'."
            if token
            else "Ask from the server's own machine."
        )
        raise Problem(403, "operator", f"Metrics are the operator's affair, and no API key opens them. {who}")
    told_now = exposition()
    if told_now is None:
        raise Problem(404, "metrics", "This server keeps no metrics. Start it with --metrics.")
    text, media = told_now
    return Response(text, media_type=None, headers={"content-type": media})
