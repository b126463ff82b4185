"""A small recording of a memory that is rewritten whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

ITEMS = (
    ("Gear ratio (Reference: Q1)", "Divide the teeth of the driven gear by 12 teeth of the driver."),
    ("Pulley strain (Reference: Q2)", "Count the rope sections that carry the load; 4 sections quarter the force."),
    ("Lever balance (Reference: Q3)", "Multiply each weight by its arm; 30 kg at 2 m balances 20 kg at 3 m."),
    ("Spring stretch (Reference: Q4)", "Stretch is force over stiffness k_0, so 50 N on 200 N/m gives 0.25 m."),
)
QUESTIONS = (
    "What ratio do two meshing gears have?",
    "How strong must one pull at a pulley block?",
    "Where does the lever balance two loads?",
    "How far is the loaded spring stretched?",
)


def item(name: str, example: str, count: int = 1) -> str:
    return f"<memory_item>\n<description>\n{name}\n</description>\n<example>\n{example}\n</example>\n** Count: {count}\n</memory_item>"


def write(path: Path, sheets: Sequence[Sequence[str]], *, questions: Sequence[str] = QUESTIONS) -> Path:
    """A recording with these items in its sheets."""
    lines = [
        {
            "step": at,
            "question": questions[(at - 1) % len(questions)],
            "target": str(at),
            "answer": str(at % 2 or at),
            "sheet": "\n\n".join(some),
        }
        for at, some in enumerate(sheets, 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def forgetful(path: Path) -> Path:
    """Each sheet holds the newest item alone."""
    return write(path, [[item(*one)] for one in ITEMS])
