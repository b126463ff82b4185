"""What the labels of similar cases say together of a task.

A few cases have room in a context, and one label can be wrong. So beside them a context tells how the labels of all
similar cases divide, where some of them agree: each has a vote, by how much its task resembles this one and by how
reliable its label is. The vote is the weighted nearest-neighbour rule (Dudani 1976). Text of lessons cannot add
such votes up, and neither can a reader who is shown three cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from tenure.governance.redaction import redact
from tenure.playbook.render import defused
from tenure.ports import Reading, TokenCounter

SHARPNESS = 2.0
"""Power of the likeness in a vote. At 1 many distant cases outvote the near ones; from 3 on one wrong label next to the task decides."""

MOST_ANSWERS = 4
"""Answers that are told."""

LEAST_AGREEING = 2
"""Cases with one label below which nothing is told: the case itself says as much."""

LONGEST_ANSWER = 200
"""Characters of a label that can come again; longer ones are texts of their own."""

HEADING = "## what the right answers of similar cases were"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One label of similar cases.

    Attributes:
        answer: the label.
        share: of the votes, above 0 and at most 1.
        cases: how many cases have it.
    """

    answer: str
    share: float
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """What similar cases say of a task.

    Attributes:
        text: for the prompt; empty if they say nothing.
        answers: the best first.
    """

    text: str = ""
    answers: tuple[Answer, ...] = ()


def foretell(reading: Reading, likeness: Mapping[str, float], room: int, count: TokenCounter) -> Foretold:
    """How the labels of similar cases divide, where at least two of them agree and it fits the room.

    Only labels of honest signals and trusted origins vote.

    Args:
        reading: the scope.
        likeness: of kept runs' tasks to the task, 0 to 1, by run id.
        room: tokens there are for it.
        count: counts tokens.
    """
    votes: defaultdict[str, float] = defaultdict(float)
    cases: defaultdict[str, int] = defaultdict(int)
    for run, case in reading.labels_of([run for run, like in likeness.items() if like > 0]).items():
        if case.counts and 0 < len(case.answer) <= LONGEST_ANSWER:
            votes[case.answer] += case.reliability * likeness[run] ** SHARPNESS
            cases[case.answer] += 1
    total = sum(votes.values())
    if not total or max(cases.values()) < LEAST_AGREEING:
        return Foretold()
    best = sorted(votes, key=lambda answer: (-votes[answer], answer))[:MOST_ANSWERS]
    answers = tuple(Answer(answer=answer, share=round(votes[answer] / total, 4), cases=cases[answer]) for answer in best)
    while answers:
        text = f"{HEADING}\n{''.join(map(_line, answers))}"
        if count(text) <= room:
            return Foretold(text=text, answers=answers)
        answers = answers[:-1]
    return Foretold()


def _line(one: Answer) -> str:
    said = " ".join(defused(redact(one.answer).text).split())
    return f"- {said}: {one.cases} case{'s' if one.cases > 1 else ''}, {one.share:.0%} by likeness\n"
