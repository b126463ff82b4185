"""`tenure bench run recall-locomo` with the default embedder, with keywords alone (`keywords`), and with each other local embedder."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.recall_locomo import run_recall_locomo
from tenure.providers.embedding import LOCAL, bundled, open_embedder

SEED = None
"""Nothing is drawn."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures; those of another way to search in a group of its name."""
    path = data("locomo/*.json")
    if path is None:
        return {"skipped": "the conversations are not at hand (TENURE_DATA)"}
    if not full:
        with tempfile.TemporaryDirectory() as folder:
            short = Path(folder) / path.name
            first = json.loads(path.read_text(encoding="utf-8"))[0]
            short.write_text(json.dumps([{**first, "qa": first["qa"][:20]}]), encoding="utf-8")
            return run_recall_locomo(short)
    found = run_recall_locomo(path, embedder=open_embedder())
    found["keywords"] = run_recall_locomo(path)
    for embedder in LOCAL.values():
        if embedder.installed and embedder is not bundled():
            found[embedder.name] = run_recall_locomo(path, embedder=embedder)
    return found
