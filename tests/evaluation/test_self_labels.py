"""A memory that takes its own answers for labels: how often it is wrong is measured, and true labels do better."""

from __future__ import annotations

import json
from pathlib import Path

from tenure.evaluation.self_labels import run_self_labels

TAGS = "Assets,Debt,Cash,Rent,Sales"


def questions(path: Path) -> Path:
    """Sixty questions whose words point to the tag, a word in three misleading."""
    tags = TAGS.split(",")
    lines = []
    for number in range(60):
        tag = tags[number % 5]
        hint = tags[(number // 5) % 5] if number % 3 == 0 else tag
        text = f'1. What is best tag for entity "{number}" in sentence: "the {hint.lower()} of unit{number % 7} came to {number} in all"'
        lines.append(json.dumps({"context": f"tags options: ,{TAGS}\n{text}", "target": tag}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_error_of_self_labels_is_measured_and_true_labels_do_no_worse(tmp_path: Path) -> None:
    found = run_self_labels(questions(tmp_path / "finer.jsonl"), orders=2)
    assert found["self_label_error"] == round(1 - found["self_labels"], 4)
    assert 0 < found["self_label_error"] < 1
    assert found["labels"] >= found["self_labels"]
    assert found["loss"] == round(found["frozen"] - found["self_labels"], 4)
    assert set(found["by_order"]) == {"0", "1"}
