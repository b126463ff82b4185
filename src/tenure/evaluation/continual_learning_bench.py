"""Continual Learning Bench: our arms behind its interface, and its systems behind ours.

Source: arXiv 2606.05661; pgasawa/continual-learning-bench, Apache-2.0.

Its `src/interface.py`, as of May 2026, asks a system for `respond(query) -> response`, `observe(observation, next_query)`,
`reset()` and `name`. A query has `prompt`, `response_schema` (a pydantic class), `instance_id`, `instance_index` and `metadata`;
a response has `action`, an instance of that class; an observation has `content`, `instance_complete` and `metadata`. Systems are
found by folder. One file there, `src/systems/tenure/system.py`, puts an arm on its list:

    from tenure.evaluation.continual_learning_bench import system_class
    from ...interface import ContinualLearningSystem, Response
    from ...registry import register_system

    TenureSystem = register_system("tenure")(system_class(ContinualLearningSystem, Response, arm="tenure"))

An instance may take several turns there. What was said in it so far stands before the next turn, and the arm learns once, when
it is over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tenure.errors import MalformedReply, UserError
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.ports import Arm, Item, Kit, Observation, Query, Response
from tenure.evaluation.harness.spending import SCOPE, Spending, open_named
from tenure.evaluation.model_arms.asking import instructions
from tenure.evaluation.writer import TransparentWriter
from tenure.ports import LanguageModel, Prompt, Usage
from tenure.providers.metering import InMemorySpendLedger, MeteredModel
from tenure.roles.asking import data_block
from tenure.roles.replies import read_json
from tenure.system import SystemClock

MOST_TOKENS = 4_000

SCHEMA = "schema"
"""Key of a query's response schema, in its metadata."""


class SchemaAgent:
    """Answers with an object of the schema that a query asks for.

    Args:
        model: is asked once a turn.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Of the model."""
        return self._model.name

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """The object as JSON, or none with the reason."""
        schema = query.metadata[SCHEMA]
        notes = data_block({"note": number, "text": item.text} for number, item in enumerate(items, 1))
        described = json.dumps(schema.model_json_schema(), ensure_ascii=False)
        parts = (["# Notes", notes] if items else []) + ["# Form of the answer", described, "# Task", query.prompt]
        reply = self._model.complete(
            Prompt(system=instructions("clbench"), user="\n\n".join(parts), purpose="generate", max_tokens=MOST_TOKENS)
        )
        memory = tuple(item.text for item in items)
        try:
            action = schema.model_validate(read_json(reply, expects=tuple(schema.model_fields)))
        except (MalformedReply, ValueError) as exc:  # pydantic's error for a value of another form is a ValueError
            reason = exc.reason if isinstance(exc, MalformedReply) else " ".join(str(exc).split())[:400]
            return Response(answer=None, memory=memory, problem=reason, said=reply.text, unreadable=True)
        return Response(answer=action.model_dump_json(), memory=memory, said=reply.text)


class ArmSystem:
    """An arm as a system of the bench.

    Args:
        make_response: makes its response of `action` and `metadata`.
        arm: name of the arm.
        model: `PROVIDER:MODEL`, or an object that answers prompts.
        base_url: of an OpenAI-compatible server; empty takes the provider's.
        max_usd, max_calls, max_tokens: what the model may use in all; one of them is needed.
        stateless: forgets after each instance, as the bench's baseline.
        name: in the bench's results; empty takes the arm's.

    Raises:
        UserError: there is no such arm, it learns from a training set, or there is no cap.
    """

    supports_baseline = True
    parallel_safe = True

    def __init__(
        self,
        make_response: Callable[..., Any],
        arm: str,
        *,
        model: str | LanguageModel,
        base_url: str = "",
        max_usd: float | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        stateless: bool = False,
        name: str = "",
    ) -> None:
        if arm not in ARMS or ARMS[arm].epochs:
            usable = ", ".join(one for one, listed in ARMS.items() if not listed.epochs)
            raise UserError(f"'{arm}' is no arm that learns online. There are: {usable}")
        money = Decimal(str(max_usd)) if max_usd is not None else None
        asked = model if isinstance(model, str) else model.name
        spending = Spending(model=asked, base_url=base_url, usd=money, calls=max_calls, tokens=max_tokens)
        opened = open_named(spending) if isinstance(model, str) else model
        spending.check_price(opened)
        self._meter = MeteredModel(opened, spending.caps, InMemorySpendLedger(), scope=SCOPE, clock=SystemClock())
        kit = Kit(agent=SchemaAgent(self._meter), writer=TransparentWriter(), model=self._meter, usage=lambda: self._meter.total)
        self._arm: Arm = ARMS[arm].maker(with_model=True)(kit)
        self._make_response, self._stateless, self._name = make_response, stateless, name or arm
        self._turns: list[str] = []
        self._first: Any = None

    @property
    def name(self) -> str:
        """In the bench's results."""
        return self._name

    @property
    def usage(self) -> Usage:
        """What the model used so far."""
        return self._meter.total

    def respond(self, query: Any) -> Any:
        """Its response to one turn.

        Raises:
            RuntimeError: no action of the schema can be read in the reply; the bench has its rule for that.
        """
        first = self._first = self._first or query
        asked = Query(
            id=str(query.instance_id or ""),
            index=int(query.instance_index or 0),
            prompt="\n\n".join((*self._turns, str(query.prompt))),
            text=str(first.prompt),
            metadata={SCHEMA: query.response_schema},
        )
        before = self.usage
        response = self._arm.respond(asked)
        if response.answer is None:
            raise RuntimeError(f"The reply holds no action of {query.response_schema.__name__}: {response.problem}")
        self._turns += [str(query.prompt), f"You answered: {response.answer}"]
        used = self.usage
        metadata = {
            "model": self._meter.name,
            "calls": used.calls - before.calls,
            "memory_tokens": getattr(self._arm, "memory_tokens", lambda: None)(),
            "usd_so_far": None if used.cost_usd is None else float(used.cost_usd),
        }
        return self._make_response(action=query.response_schema.model_validate_json(response.answer), metadata=metadata)

    def observe(self, observation: Any, next_query: Any = None) -> None:
        """Take in what came of a turn; learn where the instance is over."""
        metadata = observation.metadata or {}
        if not bool(metadata.get("instance_complete", True) and observation.instance_complete):
            self._turns.append(f"What came of it: {observation.content}")
            return
        score = next((metadata[key] for key in ("reward", "score") if _is_share(metadata.get(key))), None)
        if self._first is not None:
            self._arm.observe(Observation(text=str(observation.content), score=None if score is None else float(score)))
        self._turns, self._first = [], None
        if self._stateless:
            self._arm.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._turns, self._first = [], None
        self._arm.reset()

    def get_run_artifacts(self) -> dict[str, Any]:
        """What the model used."""
        used = self.usage
        return {"calls": used.calls, "input_tokens": used.input_tokens, "output_tokens": used.output_tokens}


def system_class(base: type, response: Callable[..., Any], *, arm: str) -> type:
    """The class of an arm for the bench's registry.

    Args:
        base: its `ContinualLearningSystem`.
        response: its `Response`.
        arm: name of the arm.

    Returns:
        A class whose options are those of `ArmSystem` from `model` on.
    """

    def made(self: ArmSystem, model: str | LanguageModel, **options: Any) -> None:
        ArmSystem.__init__(self, response, arm, model=model, **options)

    return type(f"{arm.title().replace('-', '')}System", (ArmSystem, base), {"__init__": made, "__doc__": f"The arm '{arm}' of Tenure."})


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirForms:
    """The bench's own classes that its systems are handed.

    Attributes:
        query: its `Query`.
        observation: its `Observation`.
    """

    query: Callable[..., Any]
    observation: Callable[..., Any]


class SystemArm:
    """A system of the bench as one of our arms. It brings its own model, so that its calls are in no ledger of ours.

    Args:
        system: made with its own options.
        forms: the classes that it is handed.
    """

    def __init__(self, system: Any, forms: TheirForms) -> None:
        from pydantic import create_model

        self._system, self._forms = system, forms
        self._schema = create_model("Answer", answer=(str, ...))

    def respond(self, query: Query) -> Response:
        """Its answer."""
        return self._response(self._system.respond(self._query(query)))

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Have it take in what came of its answer."""
        metadata = {"label": observation.label, "score": observation.score}
        told = self._forms.observation(content=observation.text, instance_complete=observation.complete, metadata=metadata)
        self._system.observe(told, self._query(next_query) if next_query is not None else None)

    def reset(self) -> None:
        """Have it forget everything."""
        self._system.reset()

    def _query(self, query: Query) -> Any:
        options = f"\n\nOne of: {', '.join(query.options)}" if query.options else ""
        return self._forms.query(
            prompt=f"{query.prompt}{options}",
            response_schema=self._schema,
            instance_id=query.id,
            instance_index=query.index,
            metadata=dict(query.metadata),
        )

    def _response(self, response: Any) -> Response:
        answer = str(getattr(response.action, "answer", "")).strip()
        return Response(answer=answer or None, problem="" if answer else "the system gave no answer", unreadable=not answer, said=answer)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0
