"""What chance leaves out of a session, where hold-outs or gradual release are on. Loads the engine, and so takes half a second."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tenure.learning.holdouts import Handwritten, draw_lessons, drawing_for
from tenure.opening import open_store
from tenure.settings import read_settings


def draw(database: Path | None, scope: str, run: str, task: str, ids: list[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """Ids of the lessons to leave out, and all that chance decided, to be kept with the run.

    Args:
        database: its file.
        scope: with its tenant.
        run: id of the run as the reader of the host's logs gives it; the same run is always treated alike.
        task: the prompt; empty at the start of a session.
        ids: lessons that would be shown.
    """
    store = open_store(f"sqlite:///{database}")
    try:
        with store.reading(scope) as reading:
            drawing = drawing_for(read_settings(reading.setting), run=run, task=task, hands=Handwritten())
            if drawing is None:
                return [], []
            named = reading.named(ids)
            draws = draw_lessons(reading, [named[one] for one in ids if one in named], drawing)
    finally:
        store.close()
    return [one.lesson for one in draws if one.withheld], [asdict(one) for one in draws]
