"""The routes of the API, a module for each subject."""

from __future__ import annotations

from tenure.serving.service.routes import contexts, keys, operation, playbooks, runs

ROUTERS = tuple(module.ROUTER for module in (runs, contexts, playbooks, keys, operation))
