"""The agent of the task `formula` on the public questions: online from nothing by quarters of the stream, and after 500 training questions.

`without_memory` is the same agent that is handed no case. It has no language ability: these figures are not to be compared
with those of models.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.tasks.formula import EXACT, read_questions
from tenure.evaluation.tasks.formula_agent import Case, answer_of, condition_of, propose, question_of

SEED = 0
"""Of the order."""


def measure(*, full: bool) -> dict[str, Any]:
    """Shares of right answers, 0 to 1."""
    train, asked = data("finance/formula_train*.jsonl"), data("finance/formula_val*.jsonl")
    if train is None or asked is None:
        return {"skipped": "the Formula questions are not at hand (TENURE_DATA)"}
    known, stream = _cases(train), _cases(asked)
    if not full:
        known, stream = known[:20], stream[:20]
    Random(0).shuffle(stream)
    right = [_right(case, stream[:place]) for place, case in enumerate(stream)]
    quarter = len(right) // 4
    return {
        "online": round(sum(right) / len(right), 3),
        **{f"online_quarter_{n + 1}": round(sum(right[n * quarter : (n + 1) * quarter]) / quarter, 3) for n in range(4)},
        "after_training": round(sum(_right(case, known) for case in stream) / len(stream), 3),
        "without_memory": round(sum(_right(case, []) for case in stream) / len(stream), 3),
        "asked": len(stream),
        "training": len(known),
    }


def _right(case: Case, known: list[Case]) -> bool:
    answer = propose(case.question, known, (), condition=case.condition)
    return answer is not None and abs(float(answer) - case.answer) <= EXACT


def _cases(path: Path) -> list[Case]:
    found: list[Case] = []
    for _, prompt, target in read_questions(path):
        answer = answer_of(target)
        assert answer is not None  # read_questions leaves others out
        found.append(Case(condition=condition_of(prompt), question=question_of(prompt), answer=answer))
    return found
