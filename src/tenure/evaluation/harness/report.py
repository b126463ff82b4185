"""The page of a comparison: one HTML file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

PAGE = "report.html"


def write_report(result: Mapping[str, Any], folder: Path) -> Path:
    """Write the page of a comparison into a folder; the file."""
    path = folder / PAGE
    path.write_text(f"<!doctype html><pre>{escape(json.dumps(result, indent=1))}</pre>\n", encoding="utf-8")
    return path
