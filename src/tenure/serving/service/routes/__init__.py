"""The routes of the API, a module for each subject."""

from __future__ import annotations

from tenure.serving.service.routes import (
    contexts,
    deltas,
    figures,
    ingest,
    keys,
    memory,
    operation,
    playbooks,
    removal,
    reviews,
    runs,
    spans,
)

_ROOMS = (ingest, runs, spans, contexts, playbooks, deltas, reviews, memory, removal, figures, keys, operation)

ROUTERS = tuple(module.ROUTER for module in _ROOMS)
