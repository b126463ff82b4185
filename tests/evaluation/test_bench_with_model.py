"""Comparisons with a model, end to end: tasks, caps, records, what is foreseen. The model is scripted, or a chat server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tenure import UserError
from tenure.errors import ModelError
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.comparison import compare, foresee
from tenure.evaluation.harness.estimate import _beyond
from tenure.evaluation.harness.sample import Scored, Unscorable
from tenure.evaluation.harness.spending import Spending
from tenure.evaluation.tasks.tau_recurrence import TauRecurrence, covers, passages
from tenure.ports import LanguageModel, Prompt, Reply
from tenure.providers.scripted import RuleModel
from tests.evaluation.finer_questions import OWN, write_questions

CAP = Spending(model="scripted:rule", calls=10_000)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_questions(tmp_path_factory.mktemp("finer") / "questions.jsonl")


@pytest.fixture
def formulas(tmp_path: Path) -> Path:
    path = tmp_path / "formulas.jsonl"
    lines = [
        {
            "context": f"Use formula Working Capital to answer the question. It is assets less debts. Question: Assets are {place + 9}, "
            f"debts are {place}. Answer:",
            "target": "9.0",
        }
        for place in range(24)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs of which each second one meets the same error of a tool."""
    path = tmp_path / "runs.jsonl"
    lines = []
    for place in range(8):
        error = {"error": "payment method not found in profile"} if place % 2 else {"content": "done"}
        steps = [
            {"kind": "message", "role": "user", "content": f"Book flight {place}"},
            {"kind": "tool_call", "name": "book_reservation", "call_id": "a", "arguments": {"payment": f"card-{place}"}},
            {"kind": "tool_result", "name": "book_reservation", "call_id": "a", **error},
        ]
        outcome = {"success": not place % 2, "signal": "environment"}
        lines.append({"id": f"r{place}", "task": {"text": f"Book flight {place}"}, "steps": steps, "outcome": outcome})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def knowing(prompt: Prompt) -> str:
    """A model that tags by the notes before it: the first tag of a note that shares a word of its kind with the question."""
    if prompt.purpose != "generate":
        return json.dumps({"lesson": "x", "operations": [], "items": [], "facts": [], "insights": [], "tags": [], "key_insight": "k"})
    notes, _, question = prompt.user.rpartition("# Question")
    kind = max(OWN, key=lambda tag: sum(word in question for word in OWN[tag].split()))
    return json.dumps({"reasoning": "r", "used": [], "answer": kind if kind in notes else "OtherTag1"})


# -- tasks ----------------------------------------------------------------------------------------


def test_finer_is_answered_by_a_model_and_told_so(questions: Path, tmp_path: Path) -> None:
    options = {"instances": 12}
    found = compare(
        "finer",
        data=questions,
        arms=["none", "similar-cases"],
        orders=2,
        options=options,
        spending=CAP,
        model=RuleModel(knowing),
        out=tmp_path,
    )
    assert (found["model"], found["agent"], found["shown"]["similar-cases"]) == ("scripted:rule", "scripted:rule", "similar-cases")
    assert found["arms"]["none"]["score"] == 0.0
    assert found["arms"]["similar-cases"]["score"] > 0.2
    assert found["arms"]["similar-cases"]["calls"] == 12
    assert found["arms"]["similar-cases"]["tokens"] > found["arms"]["none"]["tokens"] > 0
    assert "transparent" not in found["said"]
    assert "--model scripted:rule --max-calls 10000" in found["command"]
    assert found["spent"]["calls"] == 2 * (12 + 12 + 12), "the reset twins of both arms ask the same, and once"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "scripted:rule" in page


def test_replies_without_an_answer_are_counted_apart(questions: Path, tmp_path: Path) -> None:
    model = RuleModel(lambda prompt: "I {" if "lease" in prompt.user else '{"answer": "Goodwill"}')
    found = compare("finer", data=questions, arms=["none"], orders=1, options={"instances": 40}, spending=CAP, model=model, out=tmp_path)
    assert 0 < found["arms"]["none"]["unscorable"] < 40


def test_formula_is_answered_by_a_model(formulas: Path, tmp_path: Path) -> None:
    def reply(prompt: Prompt) -> str:
        if prompt.purpose != "generate":
            return "none"
        return "It is beyond me" if "debts are 3." in prompt.user.rpartition("# Question")[2] else '{"answer": 9}'

    found = compare("formula", data=formulas, arms=["none"], orders=1, spending=CAP, model=RuleModel(reply), out=tmp_path)
    assert (found["arms"]["none"]["score"], found["arms"]["none"]["unscorable"]) == (1.0, 1)


def test_recorded_runs_teach_what_warns_of_the_error_that_comes_again(runs: Path, tmp_path: Path) -> None:
    def reply(prompt: Prompt) -> str:
        if "payment method not found" not in prompt.user:
            return json.dumps({"lesson": "All went well.", "insights": [], "tags": []})
        said = "Before book_reservation, look up which payment method the profile holds: others are not found."
        insight = {"text": said, "applies_when": "booking a flight", "kind": "tool_rule", "steps": [1, 2]}
        return json.dumps({"lesson": said, "insights": [insight], "tags": [], "verdict": "confirmed"})

    arms = ["none", "reharness", "tenure"]
    found = compare("tau-recurrence", data=runs, arms=arms, orders=1, spending=CAP, model=RuleModel(reply), out=tmp_path)
    scores = {arm: one["score"] for arm, one in found["arms"].items()}
    assert scores == {"none": 0.0, "reharness": 1.0, "tenure": 1.0}
    assert {one["unscorable"] for one in found["arms"].values()} == {5}, "only three of eight runs have an error that came before"
    assert found["arms"]["none"]["calls"] == 0
    assert found["spent"]["calls"] == sum(one["calls"] for one in found["arms"].values()), "a reset arm before a recording asks nothing"


def test_the_score_of_a_recorded_run_is_the_share_of_its_known_errors_within_the_budget(runs: Path) -> None:
    from tenure.evaluation.harness.ports import Response

    task = TauRecurrence(runs, budget=30)
    again = [one for one in task.stream(0) if json.loads(one.truth)]
    assert [one.query.id for one in again] == ["r3", "r5", "r7"]
    warned = "book_reservation: payment method not found in profile"
    assert task.score(again[0], Response(answer=None, memory=(warned,))) == Scored(1.0)
    assert task.score(again[0], Response(answer=None, memory=("word " * 40, warned))) == Scored(0.0), "beyond the budget"
    assert isinstance(task.score(task.stream(0)[0], Response(answer=None, memory=(warned,))), Unscorable)
    assert "payment method not found" in task.observe(again[0], Response(answer=None), 0).text


def test_a_passage_covers_an_error_where_it_names_tool_and_half_of_its_words() -> None:
    error = "payment method card-77 not found in profile"
    assert covers("Call book_reservation with a payment method of the profile.", "book_reservation", error)
    assert not covers("Use a payment method of the profile.", "book_reservation", error), "the tool is not named"
    assert not covers("book_reservation may fail.", "book_reservation", error)
    assert passages(["one\ntwo", "three"], 100) == ["one two", "two three", "three "]


def test_tasks_that_need_a_model_say_so(runs: Path) -> None:
    with pytest.raises(UserError, match="needs a model: --model PROVIDER:MODEL"):
        compare("tau-recurrence", data=runs)


# -- caps and records -----------------------------------------------------------------------------


def test_a_model_needs_a_cap_that_can_be_kept(questions: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--max-usd 5"):
        Spending(model="openai:gpt-4o")
    with pytest.raises(UserError, match="--max-calls is 0"):
        Spending(model="openai:gpt-4o", calls=0)

    class Unpriced:
        name = "own:model"

        def complete(self, prompt: Prompt) -> Reply:
            raise AssertionError("nothing may be asked")

    with pytest.raises(UserError, match=r"price of 'own:model' is not known.*--max-calls N"):
        compare("finer", data=questions, spending=Spending(model="own:model", usd=Decimal(5)), model=Unpriced(), out=tmp_path)


def test_at_its_cap_it_stops_and_a_higher_one_goes_on_without_asking_twice(questions: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def reply(prompt: Prompt) -> str:
        asked.append(prompt.user)
        return knowing(prompt)

    def run(calls: int) -> dict[str, Any]:
        return compare(
            "finer",
            data=questions,
            arms=["none", "overwrite"],
            orders=1,
            options={"instances": 10},
            spending=Spending(model="scripted:rule", calls=calls),
            model=RuleModel(reply),
            out=tmp_path,
        )

    with pytest.raises(UserError, match=r"none, order 1, stopped: the cap of 15 calls .* 15 spent.*higher cap goes on"):
        run(15)
    assert len(asked) == 15
    with pytest.raises(UserError, match="overwrite, order 1, stopped: the cap of 30 calls"):
        run(30)
    assert len(asked) == 30
    found = run(100)
    assert found["spent"]["calls"] == len(asked) == 10 + 10 + 20
    assert found["arms"]["overwrite"]["calls"] == 20, "replies given back are counted as calls of the arm"


@pytest.mark.parametrize("arm", ["none", "ace", "tenure"])
def test_a_model_that_fails_stops_every_arm_even_one_that_could_go_on(arm: str, questions: Path, tmp_path: Path) -> None:
    class Failing:
        name = "own:failing"
        made = 0

        def complete(self, prompt: Prompt) -> Reply:
            self.made += 1
            if self.made > 3:
                raise ModelError("The key is wrong.", calls=1)
            return Reply(text=knowing(prompt))

    model: LanguageModel = Failing()
    with pytest.raises(ModelError, match=rf"{arm}, order 1, stopped: The key is wrong\. Replies so far are kept"):
        compare(
            "finer",
            data=questions,
            arms=[arm],
            orders=1,
            options={"instances": 10},
            spending=Spending(model="own:failing", calls=99),
            model=model,
            out=tmp_path,
        )


def test_offline_arms_learn_from_training_and_gepa_is_skipped_where_it_cannot_run(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ARMS, "gepa", _without_its_package())
    options = {"instances": 6, "train": 4}
    arms = ["none", "ace-offline", "gepa"]
    found = compare("finer", data=questions, arms=arms, orders=1, options=options, spending=CAP, model=RuleModel(knowing), out=tmp_path)
    assert list(found["arms"]) == ["none", "ace-offline"]
    assert "gepa" in found["skipped"]["gepa"]
    assert found["arms"]["ace-offline"]["calls"] == 6, "frozen during the stream; training is in what was spent"
    assert found["spent"]["calls"] > 6 + 6 + 6


def _without_its_package() -> object:
    from dataclasses import replace

    return replace(ARMS["gepa"], lacks=lambda: "the package gepa is not installed")


def test_answers_that_a_method_asks_for_while_it_learns_are_counted(questions: Path, tmp_path: Path) -> None:
    options = {"instances": 4}
    arms = ["none", "ace"]
    model = RuleModel(lambda prompt: '{"answer": "Wrong", "key_insight": "k", "operations": []}')
    found = compare("finer", data=questions, arms=arms, orders=1, options=options, spending=CAP, model=model, out=tmp_path)
    assert {arm: one["rollouts"] for arm, one in found["arms"].items()} == {"none": 4, "ace": 4 * 3}


# -- what is foreseen -----------------------------------------------------------------------------


def test_what_is_foreseen_is_what_a_model_of_that_kind_takes(questions: Path, tmp_path: Path) -> None:
    from tenure.evaluation.harness.estimate import Rehearsal
    from tenure.evaluation.tasks.finer import Finer

    options = {"instances": 12}
    arms = ["none", "ace", "reharness"]
    expected = foresee("finer", model="openai:gpt-4o-mini", data=questions, arms=arms, orders=1, options=options)
    answers = {one.query.prompt: one.truth for one in Finer(questions).stream(0)}
    found = compare(
        "finer", data=questions, arms=arms, orders=1, options=options, spending=CAP, model=Rehearsal(answers, "OtherTag1"), out=tmp_path
    )
    for arm in arms:
        calls = expected["arms"][arm]["calls"]
        assert calls == pytest.approx(found["arms"][arm]["calls"], rel=0.3)
        tokens = (expected["arms"][arm]["input_tokens"] + expected["arms"][arm]["output_tokens"]) / 12
        assert tokens == pytest.approx(found["arms"][arm]["tokens"], rel=0.3)
    assert expected["twins"]["calls"] == 12
    assert expected["total"]["calls"] == sum(one["calls"] for one in expected["arms"].values()) + 12


def test_prices_come_from_the_list_and_an_unknown_one_is_none(questions: Path) -> None:
    pytest.importorskip("genai_prices", reason="needs the extra models")
    options = {"instances": 4}
    known = foresee("finer", model="openai:gpt-4o-mini", data=questions, arms=["none"], orders=1, options=options)
    total, assumed = known["total"], known["assumed"]
    millions = (total["input_tokens"] * assumed["usd_per_million_in"] + total["output_tokens"] * assumed["usd_per_million_out"]) / 1e6
    assert total["usd"] == pytest.approx(millions, abs=0.01)
    unknown = foresee("finer", model="openai:no-such-model", data=questions, arms=["none"], orders=1, options=options)
    assert unknown["total"]["usd"] is None


def test_beyond_what_was_rehearsed_prompts_grow_on_up_to_the_window() -> None:
    grows = list(range(0, 1000, 10))
    assert _beyond(grows, 100, 1e9) == pytest.approx(sum(range(1000, 2000, 10)), rel=0.02)
    assert _beyond(grows, 100, 500.0) == 50_000
    assert _beyond([3, 5], 10, None) == 40
    assert _beyond(grows, 0, None) == 0


# -- by a server ----------------------------------------------------------------------------------


@pytest.fixture
def served() -> Callable[[dict[str, object]], tuple[int, object]]:
    from tests.providers.chat_server import completion

    def rule(body: dict[str, object]) -> tuple[int, object]:
        messages = body["messages"]
        assert isinstance(messages, list)
        prompt = Prompt(
            system=str(messages[0]["content"]), user=str(messages[-1]["content"]), purpose=_purpose(str(messages[0]["content"]))
        )
        return 200, completion(knowing(prompt), cached=5)

    return rule


def _purpose(system: str) -> str:
    return "generate" if "You tag numbers" in system else "reflect"


def test_processes_that_ask_a_server_share_one_cap(questions: Path, tmp_path: Path, served: Callable[..., tuple[int, object]]) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra models")
    from tests.providers.chat_server import chat_server

    with chat_server((200, {})) as server:
        server.rule = served
        options = {"instances": 4}

        def run(spending: Spending, workers: int) -> dict[str, Any]:
            return compare(
                "finer", data=questions, arms=["none"], orders=2, options=options, spending=spending, out=tmp_path, workers=workers
            )

        with pytest.raises(UserError, match="the cap of 9 calls would be passed by the next call, 9 spent"):
            run(Spending(model="openai:tiny", base_url=server.url, calls=9), 2)
        assert len(server.bodies) == 9
        found = run(Spending(model="openai:tiny", base_url=server.url, calls=500), 1)
    assert found["arms"]["none"]["calls"] == 4
    assert found["arms"]["none"]["tokens"] == 15
    assert 0.3 < found["arms"]["none"]["cached_share"] < 0.5, "5 tokens of each prompt of 12 came from the server's cache"
    assert found["arms"]["none"]["usd"] is None, "a server of one's own has no known price"
    assert found["spent"]["calls"] == len(server.bodies) == 2 * (4 + 4)
