"""The agent of the task formula: what it reads as numbers, the expressions it finds, what it induces and keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.errors import UnreadableInput
from tenure.evaluation.harness.ports import Item
from tenure.evaluation.tasks.formula import Formula, FormulaAgent, case_of
from tenure.evaluation.tasks.formula_agent import Case, condition_of, learn, propose, question_of, read_lesson
from tenure.evaluation.tasks.formula_grammar import Expression, read_expression, solutions, work_out
from tenure.evaluation.tasks.formula_numbers import numbers_of

EXPRESSIONS = st.recursive(
    st.builds(lambda place: Expression("role", place=place), st.integers(0, 3)),
    lambda part: st.one_of(
        st.builds(lambda sign, one, two: Expression(sign, (one, two)), st.sampled_from("+-*/^"), part, part),
        st.builds(lambda sign, one: Expression(sign, (one,)), st.sampled_from(["grown", "lost"]), part),
    ),
    max_leaves=5,
)


@given(EXPRESSIONS)
def test_an_expression_reads_as_it_is_written(one: Expression) -> None:
    assert read_expression(str(one)) == one


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(2, 40), min_size=1, max_size=3, unique=True), st.integers(1, 500))
def test_every_solution_makes_the_answer_when_it_is_carried_out(amounts: list[int], answer: int) -> None:
    for one in solutions(tuple(map(float, amounts)), float(answer)):
        value = work_out(one.expression, [float(amounts[place]) for place in one.places])
        assert value is not None
        assert value == pytest.approx(answer, abs=0.0051)


@pytest.mark.parametrize("text", ["a + b", "__import__('os')", "(a + b", "(a % b)", "", "a)"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        read_expression(text)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("sales of $1.2 million and costs of $800,000", [1.2e6, 8e5]),
        ("a rate of 5% over two years, compounded monthly", [0.05, 2.0, 12.0]),
        ("a return (R_1) of -3.5 percent", [-0.035]),
        ("no figure at all", []),
    ],
)
def test_numbers_are_read_with_sign_scale_and_percent(question: str, values: list[float]) -> None:
    assert [one.value for one in numbers_of(question)] == pytest.approx(values)


def gear(driven: int, driver: int, *, turned: bool = False) -> str:
    said = [f"the driven gear has {driven} teeth", f"the driver has {driver} teeth"]
    return f"If {' and '.join(said[::-1] if turned else said)}, what is the ratio?"


CASES = [
    Case(condition="Gear", question=gear(36, 12), answer=3.0),
    Case(condition="Gear", question=gear(50, 20, turned=True), answer=2.5),
    Case(condition="Gear", question=gear(84, 24), answer=3.5),
]


def test_an_expression_is_induced_with_which_number_is_which() -> None:
    assert propose(gear(90, 40), CASES, (), condition="Gear") == "2.25"
    assert propose(gear(90, 40, turned=True), CASES, (), condition="Gear") == "2.25"


def test_without_a_case_or_lesson_under_the_condition_there_is_no_answer() -> None:
    assert propose(gear(90, 40), CASES, (), condition="Pulley") is None
    assert propose(gear(90, 40), (), (), condition="Gear") is None


def test_a_lesson_says_alone_what_its_cases_said_and_is_learned_once() -> None:
    lesson = learn(CASES[2], CASES[:2], ())
    assert lesson is not None
    assert (str(lesson.expression), lesson.verified, lesson.tried) == ("(a / b)", 3, 3)
    read = read_lesson(lesson.text)
    assert read is not None
    assert propose(gear(90, 40, turned=True), (), [read], condition="Gear") == "2.25"
    assert learn(Case(condition="Gear", question=gear(60, 12), answer=5.0), CASES, [lesson]) is None
    assert learn(Case(condition="Gear", question="no number", answer=5.0), (), ()) is None


def questions(path: Path, count: int = 24) -> Path:
    """Questions of one formula in the form of the public files."""
    lines = [
        {
            "context": "Use formula Gear to answer the question. Answer with a numerical answer. Formula: stated here. "
            f'Question: "{gear(12 * (number + 3), 12, turned=number % 2 == 1)}". Answer:',
            "target": f"{number + 3}.0",
        }
        for number in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_the_task_hands_out_questions_and_scores_by_two_decimals(tmp_path: Path) -> None:
    task = Formula(questions(tmp_path / "formula.jsonl"), train=4)
    stream, before = task.stream(0), task.training(0)
    assert (len(stream), len(before)) == (20, 4)
    assert {one.query.id for one in stream}.isdisjoint(one.query.id for one in before)
    agent = FormulaAgent()
    items = [Item(text=f"{one.query.text} -> {one.truth}", says=one.truth) for one in before]
    scores = [task.score(one, agent.act(one.query, items)) for one in stream]
    assert sum(getattr(score, "value", 0.0) for score in scores) >= 18
    assert agent.act(stream[0].query, ()).answer is None


def test_cases_are_read_from_the_forms_in_which_memories_hand_them() -> None:
    raw = case_of(Item(text="Gear: 36 and 12? -> 3.0", says="3.0"), "Gear")
    note = case_of(Item(text='Where it reads like "Gear: 36 and 12?", the answer is 3.0.', says="3.0"), "Gear")
    assert raw == note == Case(condition="Gear", question="36 and 12?", answer=3.0)
    assert case_of(Item(text="Gear: 36 and 12? -> unknown", says="unknown"), "Gear") is None


def test_condition_and_question_are_told_apart() -> None:
    prompt = 'Use formula Gear to answer the question. Formula: x. Question: "How far?". Answer:'
    assert (condition_of(prompt), question_of(prompt)) == ("Gear", '"How far?".')


def test_a_file_without_questions_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(UnreadableInput, match="holds 0 questions"):
        Formula(path)
