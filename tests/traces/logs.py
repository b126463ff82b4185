"""Short logs, written record by record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tenure.playbook.run import Run, Step
from tenure.traces import ReadReport, read_runs


def read_lines(path: Path, records: Iterable[Any], *, format: str | None = None) -> tuple[list[Run], ReadReport]:
    """The runs in a JSONL file of these records, and what the reader reported."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    report = ReadReport()
    return list(read_runs(path, format=format, report=report)), report


def told(steps: Iterable[Step]) -> list[tuple[str, str]]:
    """What happened, in short: kind (role for messages, name for events) and content."""
    return [(step.role if step.kind == "message" else step.name if step.kind == "event" else step.kind, step.content) for step in steps]
