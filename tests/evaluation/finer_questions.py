"""Made-up questions in FiNER's form: each tag has words of its own among words that all share."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

OWN = {
    "DebtInstrumentFaceAmount": "notes principal issued senior unsecured indenture",
    "OperatingLeaseCost": "lease rent expense premises landlord rental",
    "Goodwill": "acquisition goodwill purchase allocation acquired reporting",
    "ShareBasedCompensation": "stock options awards employees vesting granted",
    "InterestExpense": "interest borrowings accrued charged coupon lender",
    "Revenues": "sales customers revenue products sold segment",
}
SHARED = "the company recorded an amount of million during the year ended in its statements".split()


def write_questions(path: Path, batches: int = 60, seed: int = 0) -> Path:
    """A file of batches of four questions; the path."""
    drawn = Random(seed)
    tags = list(OWN)
    others = [f"OtherTag{number}" for number in range(20)]
    lines = []
    for _ in range(batches):
        questions, targets = [], []
        for place in range(1, 5):
            tag = drawn.choice(tags)
            figure = f"{drawn.randint(1, 999)}.{drawn.randint(0, 9)}"
            words = [*drawn.sample(SHARED, 6), *drawn.sample(OWN[tag].split(), 3)]
            drawn.shuffle(words)
            sentence = " ".join([*words[:4], figure, *words[4:]])
            questions.append(f'{place}. What is best tag for entity "{figure}" in sentence: "{sentence}"')
            targets.append(tag)
        context = f"You are an expert.  Here is a list of US GAAP tags options: ,{','.join([*tags, *others])}. Answer.\n" + "\n".join(
            questions
        )
        lines.append(json.dumps({"context": context, "target": ",".join(targets)}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
