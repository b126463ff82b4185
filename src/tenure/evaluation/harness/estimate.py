"""What a comparison with a model will take, before anything is spent: a rehearsal with a stand-in for the model.

The stand-in gives well-formed replies of a usual length, so that every arm makes the calls that it would make and its memory
grows as it would; prompts are measured by the estimate of tokens. One order is rehearsed, of at most `REHEARSED` instances;
what lies beyond follows the straight line through what was seen, up to the window. Tokens that a provider reads from its cache
are counted in full. What cannot be foreseen is assumed as said at `RIGHT_SHARE` and `REPLY_TOKENS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random
from statistics import fmean
from typing import Any

from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.ports import Task, Trained
from tenure.evaluation.harness.runner import kit_of
from tenure.ports import Prompt, Reply, Usage
from tenure.providers.prices import price_usd
from tenure.providers.scripted import reply_to
from tenure.ranking import estimate_tokens

REHEARSED = 120
"""Instances of the order that are rehearsed."""

RIGHT_SHARE = 0.6
"""Share of questions that the stand-in answers as told; wrong answers make some methods ask again."""

REPLY_TOKENS: Mapping[str, int] = {"generate": 180, "reflect": 220, "revise": 120, "curate": 160, "summarise": 1_500}
"""Tokens of one reply, by what is asked for: round figures for a model that keeps to its instructions; reasoning models take more."""

SHEET_TOKENS = 1_500
"""Tokens of a sheet that is rewritten whole: recorded sheets of two models have up to 1,534 words, most of them half as many."""

MOST_TOKENS = 120_000
"""Tokens of one prompt at most, where a line is followed beyond what was rehearsed."""

_WORDS = ("amount", "tag", "note", "lease", "debt", "share", "rate", "period", "fair", "value", "issued", "cost", "asset", "plan")


class Rehearsal:
    """Stands in for a model: replies in the form that each prompt asks for, of a usual length, each another.

    Args:
        answers: of the questions, by their text.
        wrong: an answer that no question has.
    """

    name = "rehearsal"

    def __init__(self, answers: Mapping[str, str], wrong: str) -> None:
        self._answers, self._wrong, self._made = answers, wrong, 0
        self.usage = Usage()

    def complete(self, prompt: Prompt) -> Reply:
        """A reply that every role can read."""
        self._made += 1
        text = self._text(prompt)
        reply = reply_to(prompt, text, model=self.name)
        self.usage += reply.usage
        return reply

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """A rehearsal costs nothing."""
        return Decimal(0)

    def _text(self, prompt: Prompt) -> str:
        if "```python" in prompt.system:
            return f"{self._filled(60)}\n\n```python\nprint('step')\n```"
        if "<sheet>" in prompt.system:
            return f"<sheet>\n{self._filled(SHEET_TOKENS)}\n</sheet>"
        if prompt.purpose == "summarise":
            return self._filled(REPLY_TOKENS["summarise"])
        if prompt.purpose == "generate":
            return json.dumps({"reasoning": self._filled(REPLY_TOKENS["generate"] - 30), "used": [1], "answer": self._answer(prompt.user)})
        words = self._filled(REPLY_TOKENS.get(prompt.purpose, 160) - 90)
        if prompt.purpose == "revise":
            return json.dumps({"verdict": "too_general", "evidence": self._filled(40), "lesson": words, "text": words})
        if prompt.purpose == "curate":
            added = {"type": "ADD", "op": "ADD", "section": "strategies", "content": words, "text": words, "from": [0]}
            return json.dumps({"reasoning": self._filled(30), "operations": [added], "operation": "ADD"})
        insight = {"text": words, "kind": "domain_rule", "applies_when": self._filled(15), "steps": [0, 1]}
        said = {"key_insight": self._filled(40), "root_cause": self._filled(30), "tags": [], "success": True, "lesson": words}
        return json.dumps({**said, "insights": [insight], "items": [{"title": "t", "content": words}], "facts": [self._filled(25)] * 2})

    def _answer(self, user: str) -> str:
        question = user.rpartition("# Question\n\n")[2]
        known = self._answers.get(question, self._wrong)
        return known if Random(f"{question}:{self._made}").random() < RIGHT_SHARE else self._wrong

    def _filled(self, tokens: int) -> str:
        """About so many tokens of words, the same for no two replies."""
        drawn = Random(f"rehearsal:{self._made}:{tokens}")
        words: list[str] = [f"case {self._made}"]
        count = estimate_tokens(words[0])
        while count < tokens:
            word = drawn.choice(_WORDS)
            words.append(word)
            count += 1
        return " ".join(words)


def rehearse(task: Task, arm: str, *, seed: int) -> list[Usage]:
    """What the model calls of an arm use at each instance of the first order; what training uses comes before the first."""
    listed = ARMS[arm]
    stream, training = list(task.stream(0)[:REHEARSED]), list(task.training(0)) if listed.epochs else []
    both = [*training, *stream]
    model = Rehearsal({one.query.prompt: one.truth for one in both}, (*both[0].query.options, "0")[0])
    made = listed.maker(with_model=True)(kit_of(task, model, both, order=0, seed=seed))
    if isinstance(made, Trained):
        made.train([one.query for one in training])
    else:
        for instance in training * listed.epochs:
            made.observe(task.observe(instance, made.respond(instance.query), 0))
    used = [model.usage]
    for instance in stream:
        before = model.usage
        response = made.respond(instance.query)
        if not listed.frozen:
            made.observe(task.observe(instance, response, 0))
        used.append(
            Usage(
                calls=model.usage.calls - before.calls,
                input_tokens=model.usage.input_tokens - before.input_tokens,
                output_tokens=model.usage.output_tokens - before.output_tokens,
            )
        )
    return used


def expected(used: Sequence[Usage], *, instances: int) -> Usage:
    """What a whole order uses, from what training and the beginning of the order used."""
    training, seen = used[0], used[1:]
    total = {"calls": training.calls, "input_tokens": training.input_tokens, "output_tokens": training.output_tokens}
    most = MOST_TOKENS * fmean(one.calls for one in seen)
    for measure in total:
        values: list[int] = [getattr(one, measure) for one in seen[:instances]]
        total[measure] += sum(values) + _beyond(values, instances - len(values), most if measure == "input_tokens" else None)
    return Usage(calls=total["calls"], input_tokens=total["input_tokens"], output_tokens=total["output_tokens"])


def _beyond(values: Sequence[int], more: int, most: float | None) -> int:
    """Sum of the next so many values: at their mean, or where there is a most, along the line through both their halves."""
    if more <= 0:
        return 0
    if most is None:
        return round(fmean(values) * more)
    half = max(1, len(values) // 2)
    early, late = fmean(values[:half]), fmean(values[-half:])
    slope = max(0.0, late - early) / half
    return round(sum(min(late + slope * (half / 2 + place), most) for place in range(more)))


def estimate(
    task: Task, arms: Sequence[str], *, model: str, orders: int, seed: int, tell: Callable[[float, str], None] | None = None
) -> dict[str, Any]:
    """What a comparison with a model is expected to take.

    Args:
        task: what is asked.
        arms: names, each with a form that can run here.
        model: name, for the price.
        orders: how many.
        seed: of the comparison.
        tell: told how far it is.

    Returns:
        For JSON: `arms` (calls, tokens in and out, `usd` or none, by name; all orders together), `twins` (what the arms that are
        reset before each instance ask, once for all), `total`, and `assumed`.
    """
    instances = len(task.stream(0))
    found: dict[str, Usage] = {}
    for place, arm in enumerate(arms):
        if tell is not None:
            tell(place / len(arms), f"{arm} rehearsed")
        found[arm] = _times(expected(rehearse(task, arm, seed=seed), instances=instances), orders)
    twins = found["none"] if "none" in found else _times(expected(rehearse(task, "none", seed=seed), instances=instances), orders)
    total = sum((*found.values(), twins), Usage())
    return {
        "arms": {arm: _priced(used, model) for arm, used in found.items()},
        "twins": _priced(twins, model),
        "total": _priced(total, model),
        "assumed": {
            "right_share": RIGHT_SHARE,
            "reply_tokens": {**REPLY_TOKENS, "sheet": SHEET_TOKENS},
            "rehearsed": min(REHEARSED, instances),
            "instances": instances,
            "usd_per_million_in": _price_of_million(model, 1_000_000, 0),
            "usd_per_million_out": _price_of_million(model, 0, 1_000_000),
        },
    }


def _times(used: Usage, orders: int) -> Usage:
    return sum([used] * orders, Usage())


def _priced(used: Usage, model: str) -> dict[str, Any]:
    """Each call is priced as a mean one: some prices depend on the size of a prompt."""
    calls = max(1, used.calls)
    one = price_usd(model, round(used.input_tokens / calls), round(used.output_tokens / calls))
    usd = None if one is None else round(float(one) * used.calls, 2)
    return {"calls": used.calls, "input_tokens": used.input_tokens, "output_tokens": used.output_tokens, "usd": usd}


def _price_of_million(model: str, inputs: int, outputs: int) -> float | None:
    one = price_usd(model, inputs // 1000, outputs // 1000)
    return None if one is None else round(float(one) * 1000, 4)
