"""The adapter for Continual Learning Bench, against a small double of its interface."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import pytest

from tenure import UserError
from tenure.evaluation.continual_learning_bench import ArmSystem, SystemArm, TheirForms, system_class
from tenure.evaluation.harness.ports import Observation, Query
from tenure.providers.scripted import ScriptedModel

pydantic = pytest.importorskip("pydantic", reason="needs the extra models")


class Bid(pydantic.BaseModel):  # type: ignore[name-defined,misc]  # the module is optional
    """An action."""

    amount: int


@dataclass
class TheirObservation:
    content: str
    instance_complete: bool = True
    metadata: dict[str, Any] | None = None


@dataclass
class TheirQuery:
    prompt: str
    response_schema: Any
    feedback: TheirObservation | None = None
    instance_id: str | None = None
    instance_index: int | None = None
    metadata: dict[str, Any] | None = None


@dataclass
class TheirResponse:
    action: Any
    metadata: dict[str, Any] | None = None


class TheirSystem(ABC):
    """What the bench asks of a system."""

    supports_baseline = True
    parallel_safe = True

    @abstractmethod
    def respond(self, query: TheirQuery) -> TheirResponse: ...

    def observe(self, observation: TheirObservation, next_query: TheirQuery | None = None) -> None:
        return None

    @abstractmethod
    def reset(self) -> None: ...

    @property
    @abstractmethod
    def name(self) -> str: ...


def query(place: int, prompt: str) -> TheirQuery:
    return TheirQuery(prompt=prompt, response_schema=Bid, instance_id=f"i{place}", instance_index=place)


def system(model: ScriptedModel, arm: str = "overwrite", **more: Any) -> Any:
    return system_class(TheirSystem, TheirResponse, arm=arm)(model=model, max_calls=20, **more)


def test_an_arm_is_a_system_of_the_bench_and_learns_when_an_instance_is_over() -> None:
    model = ScriptedModel(['{"amount": 5}', '{"amount": 7}', "Bid seven.", '{"amount": 7}'])
    made = system(model)
    assert issubclass(type(made), TheirSystem)
    assert (made.name, made.supports_baseline, made.parallel_safe) == ("overwrite", True, True)
    first = made.respond(query(0, "Bid on lot 1."))
    assert isinstance(first, TheirResponse)
    assert first.action == Bid(amount=5)
    made.observe(TheirObservation("Too low.", instance_complete=False))
    made.respond(query(0, "Bid again."))
    assert 'You answered: {"amount":5}' in model.prompts[1].user
    assert "What came of it: Too low." in model.prompts[1].user
    assert [prompt.purpose for prompt in model.prompts] == ["generate", "generate"], "nothing is learned within an instance"
    made.observe(TheirObservation("Sold.", metadata={"reward": 1.0}))
    assert model.prompts[2].purpose == "summarise"
    assert "Sold." in model.prompts[2].user
    assert '"score": 1.0' in model.prompts[2].user
    last: Any = made.respond(query(1, "Bid on lot 2."))
    assert "Bid seven." in model.prompts[3].user
    assert "lot 1" not in model.prompts[3].user.replace("Bid seven.", ""), "turns of an instance end with it"
    assert last.metadata["calls"] == 1
    assert made.get_run_artifacts()["calls"] == 4


def test_a_stateless_system_and_a_reset_one_remember_nothing() -> None:
    model = ScriptedModel(['{"amount": 5}', "Bid seven.", '{"amount": 7}', "More.", '{"amount": 7}'])
    made = system(model, stateless=True)
    made.respond(query(0, "Bid."))
    made.observe(TheirObservation("Sold."))
    made.respond(query(1, "Bid."))
    assert "Notes" not in model.prompts[2].user
    made.observe(TheirObservation("Sold."))
    made.reset()
    made.respond(query(2, "Bid."))
    assert "Notes" not in model.prompts[4].user


def test_an_action_of_another_form_is_an_error_for_the_bench_to_rule_on() -> None:
    with pytest.raises(RuntimeError, match="no action of Bid"):
        system(ScriptedModel(['{"amount": "many"}'])).respond(query(0, "Bid."))
    with pytest.raises(RuntimeError, match="no JSON object"):
        system(ScriptedModel(["seven"])).respond(query(0, "Bid."))


def test_an_arm_is_named_and_a_cap_is_given() -> None:
    with pytest.raises(UserError, match="--max-usd"):
        ArmSystem(TheirResponse, "tenure", model=ScriptedModel([]))
    with pytest.raises(UserError, match="no arm that learns online"):
        ArmSystem(TheirResponse, "ace-offline", model=ScriptedModel([]), max_calls=1)


class Echo(TheirSystem):
    """Answers what it was last told."""

    name = "echo"

    def __init__(self) -> None:
        self.last = "nothing"
        self.asked: list[TheirQuery] = []

    def respond(self, query: TheirQuery) -> TheirResponse:
        self.asked.append(query)
        return TheirResponse(action=query.response_schema(answer=self.last))

    def observe(self, observation: TheirObservation, next_query: TheirQuery | None = None) -> None:
        self.last = observation.content

    def reset(self) -> None:
        self.last = "nothing"


def test_a_system_of_the_bench_is_an_arm() -> None:
    echo = Echo()
    arm = SystemArm(echo, TheirForms(query=TheirQuery, observation=TheirObservation))
    asked = Query(id="q", index=3, prompt="Which?", text="which", options=("red", "blue"))
    assert arm.respond(asked).answer == "nothing"
    assert (echo.asked[0].prompt, echo.asked[0].instance_id, echo.asked[0].instance_index) == ("Which?\n\nOne of: red, blue", "q", 3)
    assert json.loads(json.dumps(echo.asked[0].response_schema.model_json_schema()))["required"] == ["answer"]
    arm.observe(Observation(text="red", label="red", score=0.0), asked)
    assert arm.respond(asked).answer == "red"
    arm.reset()
    assert arm.respond(asked).answer == "nothing"
