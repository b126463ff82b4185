"""Models for tests: they answer in turn or by rule, and say clearly when they cannot."""

from __future__ import annotations

import pytest

from tenure.errors import ModelError, UserError
from tenure.ports import LanguageModel, Prompt, Reply, Usage
from tenure.providers.scripted import RuleModel, ScriptedModel

PROMPT = Prompt(system="be brief", user="what is it?", purpose="reflect")


def test_both_are_language_models() -> None:
    assert isinstance(ScriptedModel([]), LanguageModel)
    assert isinstance(RuleModel(lambda _: ""), LanguageModel)


def test_replies_come_in_turn_and_prompts_are_kept() -> None:
    whole = Reply(text="b", finish_reason="length", usage=Usage(calls=1, input_tokens=7))
    model = ScriptedModel(["a", whole, ModelError("down")])
    assert model.complete(PROMPT).text == "a"
    assert model.complete(PROMPT) == whole
    assert model.left == 1
    with pytest.raises(ModelError, match="down"):
        model.complete(PROMPT)
    assert model.prompts == [PROMPT] * 3


def test_a_script_that_runs_out_says_for_what_it_was_asked() -> None:
    model = ScriptedModel(["a"])
    model.complete(PROMPT)
    with pytest.raises(UserError, match=r"given 1 replies and is asked for number 2 \(purpose 'reflect'\)"):
        model.complete(PROMPT)


def test_a_text_is_counted_as_a_provider_would() -> None:
    usage = ScriptedModel(["four words of reply"]).complete(PROMPT).usage
    assert (usage.calls, usage.input_tokens > 3, usage.output_tokens > 3) == (1, True, True)


def test_a_rule_answers_by_the_prompt() -> None:
    model = RuleModel(lambda prompt: prompt.user.upper())
    assert model.complete(PROMPT).text == "WHAT IS IT?"
