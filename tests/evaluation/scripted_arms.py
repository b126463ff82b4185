"""What the tests of arms with a model share: a scripted model behind a small agent, with a ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tenure.evaluation.harness.ports import Arm, Kit, Observation, Query, Response
from tenure.evaluation.harness.recording import RecordedModel
from tenure.evaluation.tasks.model_agent import ModelAgent
from tenure.ports import Reply, Usage
from tenure.providers.scripted import ScriptedModel
from tenure.ranking import estimate_tokens

RIGHT = "red"


class Scripted:
    """A model that gives these replies in turn, and the kit that arms are made with.

    Attributes:
        model: with the prompts that it was asked.
        recorded: around it, with the ledger.
    """

    def __init__(self, folder: Path, replies: Sequence[str | Reply]) -> None:
        self.model = ScriptedModel(replies)
        self.recorded = RecordedModel(self.model, folder / "calls.jsonl")
        self.kit = Kit(
            agent=ModelAgent(self.recorded, about="Name the colour.", read=lambda text: text.strip() or None),
            writer=None,  # type: ignore[arg-type]  # arms with a model have no use for one
            model=self.recorded,
            usage=lambda: self.recorded.usage,
            feedback=lambda query, response: told(response),
        )

    @property
    def purposes(self) -> list[str]:
        """What each call was for."""
        return [prompt.purpose for prompt in self.model.prompts]

    def user(self, place: int) -> str:
        """What the model was shown in one call."""
        return self.model.prompts[place].user

    def check_ledger(self) -> None:
        """Every call is counted, with the tokens of its prompt and its reply."""
        assert self.model.left == 0, "replies that nobody asked for"
        replies = [json.loads(line)["reply"]["text"] for line in self.recorded._path.read_text(encoding="utf-8").splitlines()]
        assert self.kit.usage() == Usage(
            calls=len(self.model.prompts),
            input_tokens=sum(estimate_tokens(one.system) + estimate_tokens(one.user) for one in self.model.prompts),
            output_tokens=sum(map(estimate_tokens, replies)),
        )


def asked(place: int, text: str = "crimson apple basket") -> Query:
    """One question."""
    return Query(id=f"q{place}", index=place, prompt=f"Which colour? {text}", text=text)


def told(response: Response) -> Observation:
    """What an arm is told of an answer."""
    right = response.answer == RIGHT
    return Observation(text=f"{'Right' if right else 'Wrong'}: it is {RIGHT}.", label=RIGHT, score=float(right))


def step(arm: Arm, place: int, text: str = "crimson apple basket") -> Response:
    """One instance: answer, and take in what came of it."""
    response = arm.respond(asked(place, text))
    arm.observe(told(response))
    return response


def answer(text: str, *used: int) -> str:
    """An agent's reply."""
    return json.dumps({"reasoning": f"because of {text}", "used": list(used), "answer": text})
