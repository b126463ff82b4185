"""`tenure bench run recall-memaware` with the default embedder, and with keywords alone (`keywords`)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.recall_memaware import run_recall_memaware
from tenure.providers.embedding import open_embedder

SEED = 0
"""Of the turns drawn at random."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures; those of keywords alone in a group."""
    sessions, questions = data("memaware/sessions"), data("memaware/questions*.json")
    if sessions is None or questions is None:
        return {"skipped": "sessions and questions are not at hand (TENURE_DATA)"}
    if not full:
        with tempfile.TemporaryDirectory() as folder:
            days, few = Path(folder) / "sessions", Path(folder) / "questions.json"
            days.mkdir()
            for day in sorted(sessions.glob("*.md"))[:3]:
                (days / day.name).write_bytes(day.read_bytes())
            few.write_text(json.dumps(json.loads(questions.read_text(encoding="utf-8"))[:5]), encoding="utf-8")
            return run_recall_memaware(days, few)
    found = run_recall_memaware(sessions, questions, embedder=open_embedder())
    found["keywords"] = run_recall_memaware(sessions, questions)
    return found
