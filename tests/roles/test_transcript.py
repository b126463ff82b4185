"""A run fits the budget it is given, loses its middle first, and says what is missing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.run import Run, Step, Task
from tenure.ranking import estimate_tokens
from tenure.roles.transcript import shortened, transcribe
from tests.roles.example_run import RUN

ARGUMENTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(st.none() | st.integers() | st.text(max_size=300), lambda inner: st.lists(inner, max_size=4), max_leaves=6),
    max_size=3,
)
STEPS = st.builds(
    Step,
    kind=st.sampled_from(["message", "thought", "tool_call", "tool_result", "event"]),
    role=st.sampled_from(["user", "assistant", "tool", ""]),
    name=st.text(max_size=6),
    arguments=ARGUMENTS,
    content=st.text(max_size=60) | st.text(min_size=1, max_size=3).map(lambda text: text * 900),
    error=st.just("") | st.text(max_size=40),
)


def run_of(*steps: Step) -> Run:
    return Run(id="r", task=Task(text="t"), steps=steps)


@given(st.lists(STEPS, max_size=25), st.integers(60, 3000))
def test_a_transcript_keeps_to_its_budget_and_accounts_for_every_step(steps: list[Step], budget: int) -> None:
    transcript = transcribe(run_of(*steps), budget_tokens=budget)
    assert transcript.tokens == sum(map(estimate_tokens, transcript.lines)) <= budget
    read: list[dict[str, Any]] = [json.loads(line) for line in transcript.lines]
    accounted: list[int] = []
    for line in read:
        if "step" in line:
            accounted.append(line["step"])
        else:
            numbers = [int(word) for word in line["left_out"].split() if word.isdigit()]
            accounted.extend(range(numbers[0], numbers[-1] + 1))
    assert accounted == list(range(len(steps)))
    assert {line["step"] for line in read if "step" in line} == transcript.shown


def test_a_run_that_fits_is_whole() -> None:
    transcript = transcribe(RUN, budget_tokens=4000)
    assert transcript.shown == frozenset(range(len(RUN.steps)))
    assert json.loads(transcript.lines[1]) == {
        "step": 1,
        "kind": "tool_call",
        "name": "refund",
        "arguments": {"order": "17", "amount": "12,50"},
    }


def test_errors_persons_and_ends_stay_longest() -> None:
    steps = [Step(kind="thought", content=f"thought {number} " + "word " * 60) for number in range(40)]
    steps[0] = Step(kind="message", role="user", content="do it")
    steps[20] = Step(kind="tool_result", name="book", error="no such flight")
    steps[25] = Step(kind="message", role="user", content="no, the other one")
    shown = transcribe(run_of(*steps), budget_tokens=900).shown
    assert {0, 20, 25, 37, 38, 39} <= shown < frozenset(range(40))
    assert {19, 21} <= shown, "what led to the error and what followed it"


def test_an_error_repeated_as_the_content_is_shown_once() -> None:
    (line,) = transcribe(run_of(Step(kind="tool_result", name="x", content="Error: no\n", error="Error: no")), budget_tokens=500).lines
    assert json.loads(line) == {"step": 0, "kind": "tool_result", "name": "x", "error": "Error: no"}


@given(st.text(max_size=500), st.integers(1, 100))
def test_a_shortened_text_keeps_both_ends_and_says_how_much_is_gone(text: str, longest: int) -> None:
    short = shortened(text, longest)
    if len(text) <= longest:
        assert short == text
    else:
        assert f" [... {len(text) - longest} characters left out ...] " in short
        assert short[:1] == text[:1] or longest == 1
        assert short[-1:] == text[-1:]


def test_huge_arguments_are_trimmed() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = {"a": [deep]}
    wide = {f"key {number}": list(range(1000)) for number in range(500)}
    for arguments in ({"deep": deep}, wide, {"long": "y" * 1_000_000}):
        transcript = transcribe(run_of(Step(kind="tool_call", name="x", arguments=arguments)), budget_tokens=100_000)
        assert len(transcript.lines[0]) < 20_000
        assert "left out" in transcript.lines[0]
