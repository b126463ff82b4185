"""Dynamic Cheatsheet, with a model (arXiv 2504.07952; suzgunmirac/dynamic-cheatsheet, MIT).

Cumulative: the sheet stands before the agent; then one curator call sees sheet, question and answer, and writes the whole
sheet anew inside a tag, within 2,000 to 2,500 words, each item with a description, an example and a count of uses. With
retrieval and synthesis: the three most similar past questions with their answers go to the curator, which writes the sheet
for the next question before it is answered. Where the tag is missing the old sheet stays, as in the source. Calls an
instance: two. The source is told no labels; `labels` has the curator see the feedback that other arms see.
"""

from __future__ import annotations

import re

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.likeness import Likeness
from tenure.evaluation.model_arms.asking import Asking, experience, tokens_of

MOST_TOKENS = 6_000
SIMILAR = 3
_SHEET = re.compile(r"<sheet>\s*(?P<sheet>.*?)\s*</sheet>", re.DOTALL)


class SheetByModel:
    """A sheet that a curator rewrites whole after each instance.

    Args:
        kit: of the comparison, with a model.
        labels: whether the curator is told the feedback.
    """

    def __init__(self, kit: Kit, *, labels: bool = True) -> None:
        self._kit, self._labels, self.asking = kit, labels, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """An empty sheet."""
        self.sheet = ""
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the whole sheet before the agent."""
        response = self._kit.agent.act(query, [Item(text=self.sheet)] if self.sheet else [])
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Have the sheet written anew."""
        assert self._asked is not None
        told = observation if self._labels else Observation(text="")
        parts = {"Sheet so far": self.sheet or "Empty.", "Question and answer": [experience(*self._asked, told)]}
        self.sheet = _sheet_of(self.asking.text("cheatsheet", parts, purpose="curate", max_tokens=MOST_TOKENS), self.asking) or self.sheet

    def memory_tokens(self) -> int:
        """Of the sheet."""
        return tokens_of([self.sheet])


class SynthesisedSheetByModel:
    """A sheet that a curator writes for each question, from the sheet before it and the most similar past questions.

    Nothing is synthesised while there is no past question.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit, self.asking = kit, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """No past and no sheet."""
        self.sheet = ""
        self._like = Likeness()
        self._past: dict[str, dict[str, object]] = {}
        self._asked: tuple[Query, Response] | None = None

    def respond(self, query: Query) -> Response:
        """Have the sheet made, and answer by it."""
        if self._past:
            near = [self._past[name] for name, _ in self._like.nearest(query.text, SIMILAR)]
            parts = {"Sheet so far": self.sheet or "Empty.", "Similar past questions": near, "Next question": query.prompt}
            written = self.asking.text("cheatsheet_synthesis", parts, purpose="curate", max_tokens=MOST_TOKENS)
            self.sheet = _sheet_of(written, self.asking) or self.sheet
        response = self._kit.agent.act(query, [Item(text=self.sheet)] if self.sheet else [])
        self._asked = (query, response)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Keep the question with its answer and what was told of it."""
        assert self._asked is not None
        query, response = self._asked
        name = f"{query.id}@{query.index}"
        self._past[name] = experience(query, response, observation)
        self._like.put(name, query.text)

    def memory_tokens(self) -> int:
        """Of sheet and past questions."""
        return tokens_of([self.sheet, *map(str, self._past.values())])


def _sheet_of(written: str | None, asking: Asking) -> str:
    """What stands inside the tag, the last one if there are several; empty where there is none."""
    found = _SHEET.findall(written or "")
    if written is not None and not found:
        asking.unread.append("curate: it holds no sheet")
    return found[-1] if found else ""
