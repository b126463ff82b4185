"""`tenure bench run prompt-cache` on a real playbook: the share of all prompt tokens sent that a prefix cache could reuse."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.prompt_cache import run_prompt_cache

SEED = 0
"""Of revisions, retirements and counts."""


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures."""
    path = data("playbooks/*.txt")
    if path is None:
        return {"skipped": "no playbook is at hand (TENURE_DATA)"}
    if full:
        return run_prompt_cache(path)
    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder) / path.name
        short.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:40]), encoding="utf-8")
        return run_prompt_cache(short)
