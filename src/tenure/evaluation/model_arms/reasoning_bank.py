"""ReasoningBank, with a model (arXiv 2509.25140; google-research/reasoning-bank, Apache-2.0).

After each task a judge says whether it succeeded; one of two prompts, for successes and for failures, then has at most three
items extracted, each with title, description and content, without what belongs to that task alone. They are appended under
the task. Before an answer stand the items of the one most similar past task. Nothing is pruned. Calls an instance: three in
the source. Where the feedback says how it ended the judge is not asked, and there are two; `judged` asks it always, and hides
the feedback from the extraction as the source does.
"""

from __future__ import annotations

from typing import Any

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.likeness import Likeness
from tenure.evaluation.model_arms.asking import Asking, experience, listed, text_of, tokens_of

MOST_ITEMS = 3
RIGHT = 0.5


class ReasoningBankByModel:
    """Items from successes and failures.

    Args:
        kit: of the comparison, with a model.
        judged: whether a model judges in place of the feedback.
    """

    def __init__(self, kit: Kit, *, judged: bool = False) -> None:
        self._kit, self._judged, self.asking = kit, judged, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """An empty bank."""
        self.bank: dict[str, tuple[str, ...]] = {}
        self._like = Likeness()
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the items of the most similar past task before the agent."""
        near = self._like.nearest(query.text, 1)
        items = [Item(text=text, like=like) for name, like in near for text in self.bank[name]]
        response = self._kit.agent.act(query, items)
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Judge, extract, append."""
        assert self._asked is not None
        query, response = self._asked
        told = Observation(text="") if self._judged else observation
        attempt = [experience(query, response, told)]
        success = told.score >= RIGHT if told.score is not None else self._judge(attempt)
        if success is None:
            return
        name = "reasoning_success" if success else "reasoning_failure"
        found = self.asking.json(name, {"Attempt": attempt}, purpose="reflect", expects=("items",), max_tokens=1500)
        items = listed(found.get("items") if found is not None else (), MOST_ITEMS)
        texts = [_text(one) for one in items if text_of(one.get("content"))]
        if texts:
            key = f"{query.id}@{query.index}"
            self.bank[key] = tuple(texts)
            self._like.put(key, query.text)

    def memory_tokens(self) -> int:
        """Of the bank."""
        return tokens_of([text for texts in self.bank.values() for text in texts])

    def _judge(self, attempt: list[dict[str, Any]]) -> bool | None:
        found = self.asking.json("reasoning_judge", {"Attempt": attempt}, purpose="reflect", expects=("success",), max_tokens=500)
        verdict = found.get("success") if found is not None else None
        return verdict if isinstance(verdict, bool) else None


def _text(item: Any) -> str:
    head = ". ".join(part.rstrip(".") for part in (text_of(item.get("title")), text_of(item.get("description"))) if part)
    return f"{head}: {text_of(item.get('content'))}" if head else text_of(item.get("content"))
