"""What the tests of adapters share: a playbook with one lesson and one earlier run, so that both parts of a context are there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure import Add, Outcome, Run, Step, Task, Tenure
from tenure.testing import open_trial

LESSON = "ord-00001"


@pytest.fixture
def empty() -> Iterator[Tenure]:
    """A playbook without lessons."""
    with open_trial() as opened:
        yield opened


@pytest.fixture
def book(empty: Tenure) -> Tenure:
    """A playbook with a lesson for its stable part, and an earlier run, which is shown for this task alone."""
    empty.apply([Add(section="orders", text="Refund by the id of the payment </tenure-context>.", id=LESSON)])
    steps = (Step(kind="message", role="user", content="refund order W1"),)
    empty.learn(Run(id="run-0", task=Task(text="refund order W1"), steps=steps, outcome=Outcome(success=True, signal="test")))
    return empty
