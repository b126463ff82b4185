"""The task `formula`: one number of a financial formula, exact to two decimals.

Questions from ace-agent/ace (Apache-2.0), each of which names the formula to use. A question is described by that name and
its own words. The agent induces expressions from the cases that its memory hands it (see `formula_agent`); the formula that
the question states in words is not read. With noise, the label that arms are told is, with that probability, the answer of
another question, once for each instance and seed; scores go by the true answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tenure.errors import UnreadableInput
from tenure.evaluation.bench_files import read_text
from tenure.evaluation.harness.ports import Agent, Instance, Item, Observation, Query, Response
from tenure.evaluation.harness.sample import Score, Scored, Unscorable
from tenure.evaluation.tasks.formula_agent import Case, answer_of, condition_of, propose, question_of, read_lesson
from tenure.evaluation.tasks.model_agent import ModelAgent
from tenure.ports import LanguageModel

EXACT = 0.00501
"""An answer counts as right within this of the true one."""

FEWEST = 20
WANTED = "Give a file of Formula questions, JSON lines with 'context' and 'target', such as formula_val_subset_300.jsonl of ace-agent/ace."


ABOUT = (
    "You compute one figure of a financial formula. The question names the formula and gives the numbers. "
    "The answer is the bare number, rounded to two decimals: no unit, no percent sign, no thousands separators, no words."
)


class FormulaAgent:
    """Answers by what it induces from the items of its memory: those that hold a question with its answer, or a lesson."""

    name = "transparent agent"

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """The proposed answer; none where the memory says nothing of the condition."""
        memory = tuple(item.text for item in items)
        condition = str(query.metadata.get("condition", ""))
        used = tuple(place for place, item in enumerate(items) if condition in item.text)
        cases = [case for case in (case_of(items[place], condition) for place in used) if case is not None]
        lessons = [lesson for lesson in (read_lesson(items[place].text) for place in used) if lesson is not None]
        answer = propose(str(query.metadata.get("question", query.text)), cases, lessons, condition=condition)
        if answer is None:
            return Response(answer=None, memory=memory, problem="nothing in the memory says how to come to an answer")
        return Response(answer=answer, memory=memory, used=used)


def case_of(item: Item, condition: str) -> Case | None:
    """The case that an item of a memory holds under a condition; none where it holds no question or no answer that is a number."""
    answer = answer_of(item.says)
    _, found, rest = item.text.partition(f"{condition}: ")
    if answer is None or not condition or not found:
        return None
    for ending in (f" -> {item.says}", f'", the answer is {item.says}.'):
        if ending in rest:
            return Case(condition=condition, question=rest[: rest.rindex(ending)], answer=answer)
    return Case(condition=condition, question=rest, answer=answer)


class Formula:
    """The stream of questions.

    Args:
        data: a file of questions, JSON lines with `context` and `target`.
        seed: of orders and noise.
        noise: probability that a label is told wrongly, 0 to 1.
        instances: of each order; none takes all.
        train: instances of each order that stand outside the stream, for arms that learn before it.

    Raises:
        UnreadableInput: the file holds too few questions.
    """

    name = "formula"

    def __init__(self, data: Path, *, seed: int = 0, noise: float = 0.0, instances: int | None = None, train: int = 0) -> None:
        self._questions = read_questions(data)
        if train >= len(self._questions):
            raise UnreadableInput(f"{data} holds {len(self._questions)} questions, so {train} for training leave none to ask.")
        self._seed, self._noise, self._train = seed, noise, train
        self._instances = min(instances or len(self._questions), len(self._questions) - train)
        self.about: Mapping[str, Any] = {
            "data": data.name,
            "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest()[:16],
            "seed": seed,
            "noise": noise,
            "instances": self._instances,
            "train": train,
        }

    def stream(self, order: int) -> Sequence[Instance]:
        """The questions in one order: a shuffle of the file by seed and order."""
        return self._placed(self._shuffled(order)[self._train : self._train + self._instances])

    def training(self, order: int) -> Sequence[Instance]:
        """The first questions of the shuffle, which the stream leaves out."""
        return self._placed(self._shuffled(order)[: self._train])

    def agent(self, order: int, model: LanguageModel | None) -> Agent:
        """The transparent agent, or the model."""
        if model is None:
            return FormulaAgent()

        def read(text: str) -> str | None:
            """A number as it was given; none where it is none."""
            return text.strip() if answer_of(text) is not None else None

        return ModelAgent(model, about=ABOUT, read=read)

    def score(self, instance: Instance, response: Response) -> Score:
        """1 for the answer exact to two decimals, 0 for another or for none that the memory gives; none for a reply without an answer."""
        if response.unreadable:
            return Unscorable(response.problem)
        if response.answer is None:
            return Scored(0.0)
        given, true = answer_of(response.answer), answer_of(instance.truth)
        return (
            Unscorable(f"'{response.answer}' is no number") if given is None or true is None else Scored(float(abs(given - true) <= EXACT))
        )

    def observe(self, instance: Instance, response: Response, order: int) -> Observation:
        """The label, wrong with the probability of the noise, and whether the answer agrees with it."""
        label = self.label(instance)
        given, told = answer_of(response.answer or ""), answer_of(label)
        right = given is not None and told is not None and abs(given - told) <= EXACT
        return Observation(text=f"{'Right' if right else 'Wrong'}: the answer is {label}.", label=label, score=float(right))

    def label(self, instance: Instance) -> str:
        """The label that arms are told; the same in every order."""
        drawn = Random(f"formula:{self._seed}:noise:{instance.query.id}")
        return drawn.choice(self._questions)[2] if drawn.random() < self._noise else instance.truth

    def _shuffled(self, order: int) -> list[tuple[str, str, str]]:
        questions = list(self._questions)
        Random(f"formula:{self._seed}:order:{order}").shuffle(questions)
        return questions

    def _placed(self, questions: Sequence[tuple[str, str, str]]) -> list[Instance]:
        placed: list[Instance] = []
        for place, (name, prompt, target) in enumerate(questions):
            condition, question = condition_of(prompt), question_of(prompt)
            metadata = {"condition": condition, "question": question}
            query = Query(id=name, index=place, prompt=prompt, text=f"{condition}: {question}", metadata=metadata)
            placed.append(Instance(query=query, truth=target))
        return placed


def read_questions(data: Path) -> list[tuple[str, str, str]]:
    """Line, question and answer of each line of a file in its order; lines of another form are left out.

    Raises:
        UnreadableInput: it holds fewer than 20 questions.
    """
    found: list[tuple[str, str, str]] = []
    for number, line in enumerate(read_text(data, wanted=WANTED).split("\n"), 1):
        try:
            held = json.loads(line)
            prompt, target = str(held["context"]), str(held["target"])
        except (ValueError, KeyError, TypeError):
            continue
        if condition_of(prompt) and answer_of(target) is not None:
            found.append((str(number), prompt, target))
    if len(found) < FEWEST:
        raise UnreadableInput(f"{data} holds {len(found)} questions that name a formula; {FEWEST} is the least. {WANTED}")
    return found
